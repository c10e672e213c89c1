"""Scores, loss, marginals and decoding of a structure, and the model on disk."""
