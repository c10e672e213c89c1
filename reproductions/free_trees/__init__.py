"""Parsers of trees whose arcs cross, by the trees that they are trained on and choose from."""
