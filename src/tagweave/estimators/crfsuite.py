"""The log of a training, and the parts of a model, as python-crfsuite has them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from tagweave.learning.run import Iteration


class LabelScore(NamedTuple):
    """How often a label was predicted rightly (`match`), predicted (`model`), and right (`ref`); 0 / 0 is `None`."""

    match: int
    model: int
    ref: int
    precision: float | None
    recall: float | None
    f1: float | None


class TrainingLog(list[Iteration]):
    """The iterations of a training.

    Attributes:
        iterations: a dict for each: `num`, `loss`, `time` (seconds of this iteration), `feature_norm`,
            `active_features` (weights that are not 0); with development data `scores` by label, `avg_precision`,
            `avg_recall`, `avg_f1` (means over labels), `item_accuracy`, `instance_accuracy` (fractions) and both as
            `_float`.
        featgen_num_features: how many weights there are for pairs of attribute and label and for pairs of labels.
        featgen_seconds, training_seconds: the time before the first iteration, and of all iterations.
        log: a line of text for each iteration.
    """

    def __init__(
        self,
        iterations: Iterable[Iteration] = (),
        details: Iterable[dict[str, Any]] = (),
        featgen_num_features: int | None = None,
        featgen_seconds: float | None = None,
    ) -> None:
        super().__init__(iterations)
        self.iterations = list(details)
        self.featgen_num_features = featgen_num_features
        self.featgen_seconds = featgen_seconds

    @property
    def last_iteration(self) -> dict[str, Any] | None:
        """The last of `iterations`; `None` without any."""
        return self.iterations[-1] if self.iterations else None

    @property
    def training_seconds(self) -> float:
        return self[-1].seconds if self else 0.0

    @property
    def log(self) -> list[str]:
        return [line_of(iteration) for iteration in self]


def line_of(iteration: Iteration) -> str:
    """Show an iteration in a line of text."""
    score = "" if iteration.score is None else f", development score {iteration.score:.4f}"
    return f"iteration {iteration.number}: loss {iteration.loss:.6f}{score}, {iteration.seconds:.1f} s"


def label_scores(gold: list[list[str | None]], found: list[list[str]], labels: list[str]) -> dict[str, Any]:
    """Score labels found against gold, `None` where it does not count, as the log of an iteration has them."""
    pairs = [[(g, f) for g, f in zip(*rows, strict=True) if g is not None] for rows in zip(gold, found, strict=True)]
    every = [pair for row in pairs for pair in row]
    scores = {label: _label_score(every, label) for label in labels}
    right = Fraction(sum(g == f for g, f in every), max(1, len(every)))
    whole = Fraction(sum(all(g == f for g, f in row) for row in pairs), max(1, len(pairs)))
    means = {
        f"avg_{name}": sum(getattr(score, name) or 0.0 for score in scores.values()) / max(1, len(scores))
        for name in ("precision", "recall", "f1")
    }
    accuracies = {"item_accuracy": right, "instance_accuracy": whole}
    return {"scores": scores, **means, **accuracies, **{f"{k}_float": float(v) for k, v in accuracies.items()}}


def _label_score(pairs: list[tuple[str, str]], label: str) -> LabelScore:
    match = sum(g == f == label for g, f in pairs)
    model, ref = sum(f == label for _, f in pairs), sum(g == label for g, _ in pairs)
    return LabelScore(
        match,
        model,
        ref,
        match / model if model else None,
        match / ref if ref else None,
        2 * match / (model + ref) if model + ref else None,
    )


@dataclass(frozen=True)
class ModelInfo:
    """The parts of a model by name, as python-crfsuite's `Tagger.info()` gives them; numbers are text."""

    header: dict[str, str]
    labels: dict[str, str]
    attributes: dict[str, str]
    transitions: dict[tuple[str, str], float]
    state_features: dict[tuple[str, str], float]
