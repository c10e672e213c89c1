"""Errors in a training plan or in the corpora that it names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tagweave.corpus.errors import InputError


class PlanError(InputError):
    """A plan that cannot be carried out: unknown values, values that do not go together, or unsuitable corpora."""


@contextmanager
def as_plan_error() -> Iterator[None]:
    """Raise a `ValueError` from a check of plan values as a `PlanError`."""
    try:
        yield
    except ValueError as error:
        raise PlanError(str(error)) from error
