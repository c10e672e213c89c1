"""Texts with spans by offsets, as other tools write and read them: documents in, sentences of tokens out, and back."""

TOOL_NAMES = ("doccano", "label-studio", "prodigy", "answers", "brat", "datasets", "spacy")
"""The tools, in the order of the list in `exchange.exports`; here, for the help of commands need not load that."""
