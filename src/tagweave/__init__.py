"""Train one tagger, segmenter or parser from corpora that are incomplete, ambiguous, or disagree."""

__version__ = "0.1.0"
