"""A corpus file as training loads it."""

from __future__ import annotations

from tagweave.training.corpora import LoadedSource, loaded, opened
from tagweave.training.plan import Source


def loaded_file(argument: str, task: str, form: str | None = None, weight: float = 1.0) -> LoadedSource:
    """Load the corpus that an argument names for a task."""
    source = Source.of(argument, form, weight)
    return loaded(source, opened(source), task)
