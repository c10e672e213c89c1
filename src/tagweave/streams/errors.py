"""The error for a stream that cannot be opened or written."""

from __future__ import annotations

from tagweave.corpus.errors import InputError


class StreamError(InputError):
    """Model, input, output and options do not go together; options are named as on the command line."""
