"""Trees as arcs over the words; a second tree under them, with differing arcs drawn bold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple
from unicodedata import combining, east_asian_width

from tagweave.display.markup import Html, element, joined, with_number

Arcs = Sequence[tuple[tuple[int | None, str | None], float | None]] | None
"""Candidates for the head (0 is the root) and relation of a word, with their numbers; `None` is unknown."""
Heads = Sequence[Arcs]

_WIDE, _NARROW = 1.0, 0.6  # of the size of the letters
_GAP, _MARGIN = 14.0, 10.0
_WORD, _RELATION = 14.0, 11.0  # sizes of letters, in pixels
_LINE = 24.0  # the height of the line of words
_LEVEL, _FIRST, _ROUND, _APART = 20.0, 12.0, 6.0, 5.0
_TOKENS = 80  # in a picture


def trees(forms: Sequence[str], heads: Mapping[str, Heads]) -> Html:
    """Draw the trees of all layers, two in a picture, the first of them above the words."""
    if len(forms) > _TOKENS:
        return element("div", f"a tree of {len(forms):,} tokens, too wide for a picture", class_="quiet")
    layers = list(heads.items())
    return joined(_pair(forms, dict(layers[at : at + 2])) for at in range(0, len(layers), 2))


def _pair(forms: Sequence[str], layers: Mapping[str, Heads]) -> Html:
    centres, width = _places(forms, layers)
    rows = [_Row(heads, centres, down=number == 1) for number, heads in enumerate(layers.values())]
    top = rows[0].height
    parts = [_drawn(rows[0], top)]
    if len(rows) == 2:
        parts.append(_drawn(rows[1], top + _LINE, rows[0].heads))
    words = [element("text", form, x=x, y=top + 16) for form, x in zip(forms, centres, strict=True)]
    size = {"width": width, "height": _LINE + sum(row.height for row in rows)}
    title = element("title", f"dependencies: {', '.join(layers)}")
    svg = element("svg", title, *words, *parts, **size, role="img", xmlns="http://www.w3.org/2000/svg")
    caption = " above, ".join(layers) + (" below; what differs is bold" if len(rows) == 2 else "")
    return joined([element("div", caption, class_="quiet"), element("div", svg, class_="wide", dir="ltr")])


def _text_width(text: str, size: float) -> float:
    """Estimate the width of a text: fonts differ, and a picture that is not yet shown cannot be measured."""
    widths = (0 if combining(each) else _WIDE if east_asian_width(each) in "WF" else _NARROW for each in text)
    return size * sum(widths)


def _places(forms: Sequence[str], layers: Mapping[str, Heads]) -> tuple[list[float], float]:
    """Return the centres of words, with room for the relations between neighbours, and the width of everything."""
    between = [34.0] * len(forms)  # least distances from the word before
    for heads in layers.values():
        for token, arcs in enumerate(heads, 1):
            for (head, relation), _ in arcs or ():
                if head and abs(head - token) == 1:
                    right = max(head, token) - 1
                    between[right] = max(between[right], _text_width(relation or "", _RELATION) + 18)
    centres: list[float] = []
    at = _MARGIN
    for number, form in enumerate(forms):
        half = _text_width(form, _WORD) / 2
        least = at + half + (_GAP if number else 0)
        at = max(least, centres[-1] + between[number]) if centres else max(least, 20.0)
        centres.append(round(at, 1))
        at += half
    return centres, round(at + 20 + _MARGIN, 1)


class _Drawn(NamedTuple):
    """An arc to draw: the token, its head (`None` is unknown), the text at it, and whether there are several."""

    token: int
    head: int | None
    label: str
    several: bool

    @property
    def ends(self) -> tuple[int, int]:
        return min(self.token, self.head or self.token), max(self.token, self.head or self.token)


@dataclass(frozen=True, eq=False)
class _Row:
    """The arcs of a layer of heads, above or below the words."""

    heads: Heads
    centres: Sequence[float]
    down: bool = False

    @cached_property
    def arcs(self) -> list[_Drawn]:
        found = []
        for at, arcs in enumerate(self.heads, 1):
            if arcs is None:
                found.append(_Drawn(at, None, "?", False))
            for (head, relation), number in arcs or ():
                label = relation or ("?" if head is None else "root" if head == 0 else "")
                found.append(_Drawn(at, head, with_number(label, number), len(arcs or ()) > 1))
        return sorted(found, key=lambda arc: arc.ends[1] - arc.ends[0])

    @cached_property
    def levels(self) -> list[int]:
        """Return the level of each arc: above all shorter ones between its ends."""
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
        return self.top + (_LEVEL if any(arc.head == 0 for arc in self.arcs) else 0) + 16

    @cached_property
    def top(self) -> float:
        return max((_FIRST + _LEVEL * level for level in self.levels), default=_FIRST)


def _drawn(row: _Row, base: float, other: Heads | None = None) -> Html:
    """Draw the arcs of a row whose words begin at the height `base`; arcs that `other` does not have are bold."""
    sign = 1 if row.down else -1
    parts = []
    for arc, level in zip(row.arcs, row.levels, strict=True):
        differs = other is not None and row.heads[arc.token - 1] not in (None, other[arc.token - 1])
        kinds = ("several" if arc.several else "", "other" if differs else "", "unknown" if arc.head is None else "")
        shape = _box(row, arc, base, sign, level) if arc.head else _stub(row, arc, base, sign)
        parts.append(element("g", *shape, class_=" ".join(filter(None, kinds))))
    return joined(parts)


def _box(row: _Row, arc: _Drawn, base: float, sign: int, level: int) -> list[Html]:
    """Draw an arc from the side of the head, over the words between, to the middle of the token."""
    head = arc.head or 0
    to = row.centres[arc.token - 1]
    right = 1 if to > row.centres[head - 1] else -1
    start = row.centres[head - 1] + right * _APART
    end = to - right * (_APART - 3)
    top = base + sign * (_FIRST + _LEVEL * level)
    turn = top - sign * _ROUND
    path = (
        f"M{start:.1f} {base:.1f}V{turn:.1f}Q{start:.1f} {top:.1f} {start + right * _ROUND:.1f} {top:.1f}"
        f"H{end - right * _ROUND:.1f}Q{end:.1f} {top:.1f} {end:.1f} {turn:.1f}V{base + sign * 4:.1f}"
    )
    return [element("path", d=path), _tip(end, base, sign), _label(arc, (start + end) / 2, top, sign)]


def _stub(row: _Row, arc: _Drawn, base: float, sign: int) -> list[Html]:
    """Draw the arc from the root, from above all others, or write at the word that its head is unknown."""
    x = row.centres[arc.token - 1]
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
