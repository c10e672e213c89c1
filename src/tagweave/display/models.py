"""Pictures of label spaces, models, and marginal probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from tagweave.display.markup import LEAST, Html, element, heat, joined, share, word

_TAGS = 60  # of a side
_PROBABLE = 0.02  # labels whose probabilities are all smaller are left out
_TOKENS, _LABELS = 80, 40  # in a heat map


class Side(NamedTuple):
    """A guideline, its tags, and for every label of the space the number of its tag."""

    guideline: str
    names: Sequence[str]
    projection: Sequence[int]


def label_space(size: int, sides: Sequence[Side]) -> Html:
    """Show a space of `size` labels: list those of one guideline, or tabulate pairs for every two guidelines."""
    if len(sides) == 1:
        names = sides[0].names
        listed = " ".join(names[:_TAGS]) + (f" ... {len(names) - _TAGS:,} more" if len(names) > _TAGS else "")
        return element("div", element("b", sides[0].guideline), f": {len(names):,} labels: {listed}")
    sizes = " x ".join(f"{len(side.names)} of {side.guideline}" for side in sides)
    title = element("div", element("b", f"{size:,} bundles"), f" of {sizes}")
    return joined([title, *(_pairs(one, other) for one, other in combinations(sides, 2))])


def _pairs(one: Side, other: Side) -> Html:
    """Tabulate the tags of two guidelines, with a mark where some bundle has both."""
    if max(len(one.names), len(other.names)) > _TAGS:
        return element("div", f"{one.guideline} and {other.guideline}: too many tags for a picture", class_="quiet")
    together = set(zip(one.projection, other.projection, strict=True))
    head = element("th", f"{one.guideline} \\ {other.guideline}")
    columns = (element("th", name, scope="col") for name in other.names)
    rows = (
        element(
            "tr",
            element("th", name, scope="row"),
            *(_cell((i, j) in together, f"{name} and {other.names[j]}") for j in range(len(other.names))),
        )
        for i, name in enumerate(one.names)
    )
    return element("div", element("table", element("tr", head, *columns), joined(rows), class_="map"), class_="wide")


def _cell(allowed: bool, pair: str) -> Html:
    if not allowed:
        return element("td")
    return element("td", "\u25a0", style=f"background:{heat(0.5)}", title=pair)


def heat_map(forms: Sequence[str], labels: Sequence[str], rows: Sequence[Sequence[float]]) -> Html:
    """Show probabilities: a row for each label that is probable somewhere, a column for each token."""
    shown = rows[:_TOKENS]
    most = [max((row[at] for row in shown), default=0.0) for at in range(len(labels))]
    probable = [at for at in range(len(labels)) if most[at] >= _PROBABLE]
    kept = sorted(sorted(probable, key=lambda at: -most[at])[:_LABELS])
    head = element("tr", element("th"), *(element("th", word(form), scope="col") for form in forms[:_TOKENS]))
    lines = (
        element("tr", element("th", labels[at], scope="row"), *(_heat_cell(row[at], labels[at]) for row in shown))
        for at in kept
    )
    table = element("table", head, joined(lines), class_="map")
    return joined([element("div", table, class_="wide"), _left_out(len(labels) - len(kept), len(forms) - len(shown))])


def _heat_cell(value: float, label: str) -> Html:
    text = share(value) if value >= LEAST else ""
    return element("td", text, style=f"background:{heat(value)}", title=f"{label} {value:.4f}")


def _left_out(labels: int, tokens: int) -> Html:
    parts = [f"{labels:,} improbable labels"] * bool(labels) + [f"{tokens:,} more tokens"] * bool(tokens)
    return element("div", f"not shown: {', '.join(parts)}", class_="quiet") if parts else Html()


def model_picture(
    what: str, name: str, guidelines: Sequence[str], labels: Html | None, about: Mapping[str, Any]
) -> Html:
    """Show a model, its labels if it has any (see `label_space`), and facts about its training from `about`."""
    title = element("div", element("b", name), f": {what}, guidelines {', '.join(guidelines)}")
    facts = element("div", "; ".join(_facts(about)), class_="quiet")
    folded = element("details", element("summary", "labels"), labels) if labels is not None else Html()
    return joined([title, facts, folded])


def _facts(about: Mapping[str, Any]) -> list[str]:
    """List known facts; a file may lack any of them, or have something else in their place."""
    plan, score = about.get("plan"), about.get("dev_score")
    facts = [f"{about['iterations']} iterations"] if "iterations" in about else []
    facts += [f"method {plan['method']}"] if isinstance(plan, Mapping) and plan.get("method") else []
    return facts + ([f"dev score {score:.4f}"] if isinstance(score, float) else [])
