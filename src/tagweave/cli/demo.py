"""`tagweave demo`: what the package does, shown on its sample corpora."""

from __future__ import annotations


def demo() -> None:
    """Train on the sample corpora and show what the package does, in seconds."""
