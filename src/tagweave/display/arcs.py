"""The arcs of one tree: boxes with round corners, over one another by the words that they span."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from tagweave.display.evidence import numbered, with_number
from tagweave.display.markup import Html, element, joined

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tagweave.corpus.sentence import HeadLayer
    from tagweave.display.tree_layout import Layout

_LEVEL, _FIRST, _ROUND, _APART = 20.0, 12.0, 6.0, 5.0


class _Drawn(NamedTuple):
    """An arc to draw: the token, its head (0: the root; `None`: unknown), what is written at it, how many there are."""

    token: int
    head: int | None
    label: str
    several: bool

    @property
    def ends(self) -> tuple[int, int]:
        return min(self.token, self.head or self.token), max(self.token, self.head or self.token)


@dataclass(frozen=True, eq=False)
class Row:
    """The arcs of a layer of heads, on one side of the words."""

    name: str
    heads: HeadLayer
    places: Layout
    down: bool = False

    @cached_property
    def arcs(self) -> list[_Drawn]:
        """All arcs, the shortest first."""
        found = [arc for at, arcs in enumerate(self.heads, 1) for arc in _of_token(at, arcs)]
        return sorted(found, key=lambda arc: arc.ends[1] - arc.ends[0])

    @cached_property
    def levels(self) -> list[int]:
        """How high each arc goes: above all shorter ones between its ends."""
        levels: list[int] = []
        for number, arc in enumerate(self.arcs):
            left, right = arc.ends
            under = [
                levels[other]
                for other, (start, stop) in enumerate(each.ends for each in self.arcs[:number])
                if start < right and stop > left and left != right
            ]
            levels.append(max(under, default=-1) + 1)
        return levels

    @property
    def height(self) -> float:
        """Of all arcs, with the texts above them."""
        return self.top + (_LEVEL if any(arc.head == 0 for arc in self.arcs) else 0) + 16

    @cached_property
    def top(self) -> float:
        """Of the highest arc between words."""
        return max((_FIRST + _LEVEL * level for level in self.levels), default=_FIRST)


def _of_token(at: int, arcs: tuple[tuple[int | None, str | None], ...] | None) -> Iterator[_Drawn]:
    if arcs is None:
        yield _Drawn(at, None, "?", False)
        return
    pairs: list[tuple[tuple[int | None, str | None], float | None]] = numbered(arcs)  # type: ignore[arg-type, assignment]
    for (head, relation), number in pairs:
        unknown = "?" if head is None else ""
        label = relation or unknown or ("root" if head == 0 else "")
        yield _Drawn(at, head, with_number(label, number), len(pairs) > 1)


def drawn(row: Row, base: float, other: HeadLayer | None = None) -> Html:
    """The arcs of a row whose words begin at the height `base`; arcs that `other` does not have are bold."""
    sign = 1 if row.down else -1
    parts = []
    for arc, level in zip(row.arcs, row.levels, strict=True):
        differs = other is not None and row.heads[arc.token - 1] not in (None, other[arc.token - 1])
        kinds = ("several" if arc.several else "", "other" if differs else "", "unknown" if arc.head is None else "")
        shape = _box(row, arc, base, sign, level) if arc.head else _stub(row, arc, base, sign)
        parts.append(element("g", *shape, class_=" ".join(filter(None, kinds))))
    return joined(parts)


def _box(row: Row, arc: _Drawn, base: float, sign: int, level: int) -> list[Html]:
    """From the side of the head, over the words between, to the middle of the token."""
    head = arc.head or 0
    to = row.places.centres[arc.token - 1]
    right = 1 if to > row.places.centres[head - 1] else -1
    start = row.places.centres[head - 1] + right * _APART
    end = to - right * (_APART - 3)
    top = base + sign * (_FIRST + _LEVEL * level)
    turn = top - sign * _ROUND
    path = (
        f"M{start:.1f} {base:.1f}V{turn:.1f}Q{start:.1f} {top:.1f} {start + right * _ROUND:.1f} {top:.1f}"
        f"H{end - right * _ROUND:.1f}Q{end:.1f} {top:.1f} {end:.1f} {turn:.1f}V{base + sign * 4:.1f}"
    )
    return [element("path", d=path), _tip(end, base, sign), _label(arc, (start + end) / 2, top, sign)]


def _stub(row: Row, arc: _Drawn, base: float, sign: int) -> list[Html]:
    """The arc from the root, from above all others; or at the word, what is known without a head."""
    x = row.places.centres[arc.token - 1]
    if arc.head is None:
        return [_label(arc, x, base, sign)]
    top = base + sign * (row.top + _LEVEL)
    line = element("path", d=f"M{x:.1f} {top:.1f}V{base + sign * 4:.1f}")
    return [line, _tip(x, base, sign), _label(arc, x, top, sign)]


def _tip(x: float, base: float, sign: int) -> Html:
    y = base + sign * 5
    return element("path", d=f"M{x:.1f} {base:.1f}L{x - 3:.1f} {y:.1f}H{x + 3:.1f}Z", class_="tip")


def _label(arc: _Drawn, x: float, top: float, sign: int) -> Html:
    y = top - 3 if sign < 0 else top + 11
    return element("text", arc.label, x=f"{x:.1f}", y=f"{y:.1f}", class_="relation")
