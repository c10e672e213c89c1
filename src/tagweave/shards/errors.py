"""Errors of folders of shards."""

from __future__ import annotations


class ShardError(ValueError):
    """Shards that cannot be found, read or written, or an output folder of other work."""
