"""Sentences, corpora, and one file per format."""
