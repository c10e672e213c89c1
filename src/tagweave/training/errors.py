"""What is wrong with a training plan, or with the corpora that it names: for whoever made the plan to mend."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class PlanError(ValueError):
    """A plan that cannot be carried out: values that do not exist or do not go together, or other corpora."""


@contextmanager
def as_plan_error() -> Iterator[None]:
    """Where values of a plan are checked further down: a `ValueError` is a mistake of the plan, and says so."""
    try:
        yield
    except ValueError as error:
        raise PlanError(str(error)) from error
