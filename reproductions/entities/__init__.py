"""Entities and phrases from complete, partial and distant annotation, and from a gazetteer."""
