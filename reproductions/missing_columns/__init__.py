"""Parsers of text whose tags and FEATS are missing."""
