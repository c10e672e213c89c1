"""What a trained model of every structure is to those that store it."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

from tagweave.models.parts import Arrays


class Model(Protocol):
    """Labels, scorer, weights, structure, and what it tells of itself; `about["plan"]` is how it was trained."""

    kind: ClassVar[str]

    @property
    def about(self) -> dict[str, Any]:
        """What is known of its making."""
        ...

    def to_json(self) -> dict[str, Any]:
        """A plain description of all but the arrays; `kind` is part of it."""
        ...

    def arrays(self) -> Arrays:
        """What a file keeps beside the description, by name."""
        ...
