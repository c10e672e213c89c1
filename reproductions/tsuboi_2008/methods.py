"""What is compared: which words are asked for, how many are marked, and what becomes of the rest of their sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Method:
    """A point of a curve of Figure 3, or a line that no number of words moves.

    Attributes:
        name: in tables and file names.
        treatment: one of `active.retrain.TREATMENTS`.
        choice: one of `active.strategies.STRATEGIES`; "": no word is asked for.
        size: how many words are marked.
        everything: whether instead all of C1 is segmented.
        features: whether the list is told as features, where its words begin, end and go on.
    """

    name: str
    treatment: str = "marginal"
    choice: str = ""
    size: int = 0
    everything: bool = False
    features: bool = False


@dataclass(frozen=True)
class Curve:
    """A curve of Figure 3: `treatment` and `choice` are those of its points."""

    treatment: str
    choice: str

    @property
    def name(self) -> str:
        """In tables and legends."""
        return f"{self.treatment}, {self.choice}"

    def at(self, size: int) -> Method:
        """Its point at so many words."""
        return Method(f"{self.name}, {size}", self.treatment, self.choice, size)


PROPOSED = Curve("marginal", "entropy")
ARGMAX = Curve("argmax", "entropy")
POINTWISE = Curve("pointwise", "entropy")
RANDOM = Curve("marginal", "random")
RANDOM_ARGMAX = Curve("argmax", "random")
RANDOM_POINTWISE = Curve("pointwise", "random")
UNLIKELY = Curve("marginal", "marginal")
CURVES = (PROPOSED, ARGMAX, POINTWISE, RANDOM, RANDOM_ARGMAX, RANDOM_POINTWISE, UNLIKELY)
"""The six of Figure 3, and one that asks where the model believes least that the word is one."""

SOURCE = Method("A alone")
POINTWISE_SOURCE = Method("A alone, pointwise", "pointwise")
EVERYTHING = Method("A and all of C1", everything=True)
FEATURES = Method("A alone, the list as features", features=True)
ALL_FEATURES = Method("A and all of C1, the list as features", everything=True, features=True)
LINES = (SOURCE, POINTWISE_SOURCE, FEATURES, EVERYTHING, ALL_FEATURES)


def methods(sizes: Sequence[int]) -> tuple[Method, ...]:
    """The lines, and all points of all curves, the smallest sizes first."""
    return (*LINES, *(curve.at(size) for size in sizes for curve in CURVES))
