"""What a model of the user's own features learned, as tables: the strongest weights of each label, and transitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.table import Table
from rich.text import Text

from tagweave.evaluation.tables import Printed, add_row, titled_table


@dataclass(frozen=True)
class WeightTables(Printed):
    """Weights by label: `print` them, or show them in a notebook.

    Attributes:
        labels: the labels.
        features: of each label, its features with their weights, the highest first.
        transitions: weights by (label, next label); others are 0.
        top: how many features of a label are shown, the strongest.
    """

    labels: Sequence[str]
    features: Mapping[str, Sequence[tuple[str, float]]]
    transitions: Mapping[tuple[str, str], float]
    top: int

    @classmethod
    def of(
        cls,
        labels: Sequence[str],
        states: Mapping[tuple[str, str], float],
        transitions: Mapping[tuple[str, str], float],
        top: int,
    ) -> WeightTables:
        """Return tables of weights by (feature, label) and by (label, next label)."""
        by_label: dict[str, list[tuple[str, float]]] = {label: [] for label in labels}
        for (feature, label), weight in states.items():
            by_label[label].append((feature, weight))
        features = {label: sorted(of_label, key=lambda pair: -pair[1]) for label, of_label in by_label.items()}
        return cls(labels, features, transitions, top)

    def rows(self, label: str) -> Iterator[tuple[str, str]]:
        """Yield the weights and features of a label that are shown, and between them how many are not."""
        every = self.features[label]
        strongest = {name for name, _ in sorted(every, key=lambda pair: -abs(pair[1]))[: self.top]}
        for what, of_sign in (
            ("positive", [pair for pair in every if pair[1] > 0]),
            ("negative", [pair for pair in every if pair[1] < 0]),
        ):
            rows = [(f"{weight:+.3f}", name) for name, weight in of_sign if name in strongest]
            rest = [("", f"{len(of_sign) - len(rows):,} more {what}")] if len(of_sign) > len(rows) else []
            yield from rows + rest if what == "positive" else rest + rows

    def content(self) -> Iterator[Text | Table]:
        if self.transitions:
            table = titled_table("from, to", ("", *self.labels), range(1, len(self.labels) + 1))
            for one in self.labels:
                add_row(table, one, *(f"{self.transitions.get((one, other), 0.0):+.3f}" for other in self.labels))
            yield table
        for label in self.labels:
            table = titled_table(label, ("weight", "feature"), {0})
            for weight, name in self.rows(label):
                add_row(table, weight, name)
            yield table
