"""The names of the tasks of chain models, and what their tokens are. Imports nothing, since `--help` asks too."""

from __future__ import annotations

SPANS = "spans"
"""The task whose labels code spans of words."""
OF_CHARACTERS = ("segment", "segtag")
"""The tasks whose tokens are characters."""
OF_WORDS = ("tag", SPANS)
"""The tasks whose tokens are words."""
