"""Label spaces: the labels of one guideline, or which tags of several guidelines go together."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from tagweave.display.colours import heat
from tagweave.display.markup import Html, element, joined

if TYPE_CHECKING:
    from tagweave.labels.space import LabelSpace, View

_TAGS = 60  # of a side


def label_space(space: LabelSpace) -> Html:
    """A label space: a list of its labels, or a table of pairs for every two of its guidelines."""
    sides = space.sides
    if len(sides) == 1:
        names = sides[0].names
        listed = " ".join(names[:_TAGS]) + (f" ... {len(names) - _TAGS:,} more" if len(names) > _TAGS else "")
        return element("div", element("b", sides[0].guideline), f": {len(names):,} labels: {listed}")
    sizes = " x ".join(f"{len(side.names)} of {side.guideline}" for side in sides)
    title = element("div", element("b", f"{len(space):,} bundles"), f" of {sizes}")
    return joined([title, *(_pairs(one, other) for one, other in combinations(sides, 2))])


def _pairs(one: View, other: View) -> Html:
    """The tags of one guideline against those of another, with a mark where both are in a bundle."""
    if max(len(one.names), len(other.names)) > _TAGS:
        return element("div", f"{one.guideline} and {other.guideline}: too many tags for a picture", class_="quiet")
    together = set(zip(one.projection.tolist(), other.projection.tolist(), strict=True))
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
