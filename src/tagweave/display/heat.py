"""Marginal probabilities as a heat map: a row for each label, a column for each token."""

from __future__ import annotations

from collections.abc import Sequence

from tagweave.display.colours import heat
from tagweave.display.markup import Html, element, joined, word
from tagweave.display.numbers import LEAST, share

_PROBABLE = 0.02  # the greatest probability of a row that is shown is at least that
_TOKENS, _LABELS = 80, 40


def heat_map(forms: Sequence[str], labels: Sequence[str], rows: Sequence[Sequence[float]]) -> Html:
    """The probabilities `rows` of labels at tokens, without labels that are improbable everywhere."""
    shown = rows[:_TOKENS]
    most = [max((row[at] for row in shown), default=0.0) for at in range(len(labels))]
    probable = [at for at in range(len(labels)) if most[at] >= _PROBABLE]
    kept = sorted(sorted(probable, key=lambda at: -most[at])[:_LABELS])
    head = element("tr", element("th"), *(element("th", word(form), scope="col") for form in forms[:_TOKENS]))
    lines = (
        element("tr", element("th", labels[at], scope="row"), *(_cell(row[at], labels[at]) for row in shown))
        for at in kept
    )
    table = element("table", head, joined(lines), class_="map")
    return joined([element("div", table, class_="wide"), _left_out(len(labels) - len(kept), len(forms) - len(shown))])


def _cell(value: float, label: str) -> Html:
    text = share(value) if value >= LEAST else ""
    return element("td", text, style=f"background:{heat(value)}", title=f"{label} {value:.4f}")


def _left_out(labels: int, tokens: int) -> Html:
    parts = [f"{labels:,} improbable labels"] * bool(labels) + [f"{tokens:,} more tokens"] * bool(tokens)
    return element("div", f"not shown: {', '.join(parts)}", class_="quiet") if parts else Html()
