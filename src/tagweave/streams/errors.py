"""The error for a stream that cannot be opened or written."""

from __future__ import annotations


class StreamError(ValueError):
    """Model, input, output and options do not go together; options are named as on the command line."""
