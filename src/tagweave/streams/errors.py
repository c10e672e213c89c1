"""The error of a stream that cannot be."""

from __future__ import annotations


class StreamError(ValueError):
    """A model, an input, an output and options that do not go together; options are named as on the command line."""
