"""Errors of folders of shards."""

from __future__ import annotations

from tagweave.corpus.errors import InputError


class ShardError(InputError):
    """Shards that cannot be found, read or written, or an output folder of other work."""
