"""The protocol of stored models."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

from tagweave.models.parts import Arrays


class StoredModel(Protocol):
    """Labels, scorer, weights, structure and facts about the model; `about["plan"]` is how it was trained."""

    kind: ClassVar[str]

    @property
    def about(self) -> dict[str, Any]:
        """Facts about the model and its training."""
        ...

    def to_json(self) -> dict[str, Any]:
        """A plain description of all but the arrays; `kind` is part of it."""
        ...

    def arrays(self) -> Arrays:
        """The arrays of a model file, by name."""
        ...
