"""The names of the kinds of models, after their structures: in plans, in model files, in methods."""

from __future__ import annotations

CHAIN = "chain"
"""Sequences of labels."""
TREE = "tree"
"""Dependency trees."""
