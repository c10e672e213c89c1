"""Labelling functions: from a sentence to the labels that one source gives its tokens."""
