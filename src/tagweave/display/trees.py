"""Trees as arcs over the words; a second tree under them, with what differs drawn bold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tagweave.display.arcs import Row, drawn
from tagweave.display.markup import Html, element, joined
from tagweave.display.tree_layout import layout

if TYPE_CHECKING:
    from tagweave.corpus.sentence import Sentence

_TOKENS = 80  # in a picture


def trees(sentence: Sentence) -> Html:
    """The trees of all layers, two in a picture, the first of them above the words."""
    if len(sentence) > _TOKENS:
        return element("div", f"a tree of {len(sentence):,} tokens, too wide for a picture", class_="quiet")
    names = list(sentence.heads)
    pairs = [names[at : at + 2] for at in range(0, len(names), 2)]
    return joined(_pair(sentence, pair) for pair in pairs)


def _pair(sentence: Sentence, names: list[str]) -> Html:
    places = layout(sentence, names)
    rows = [Row(name, sentence.heads[name], places, down=number == 1) for number, name in enumerate(names)]
    other = rows[0].heads if len(rows) == 2 else None
    top = rows[0].height
    bottom = rows[1].height if other is not None else 0
    parts = [drawn(rows[0], top)]
    if other is not None:
        parts.append(drawn(rows[1], top + places.line, other))
    words = [element("text", form, x=x, y=top + 16) for form, x in zip(sentence.forms, places.centres, strict=True)]
    height = top + places.line + bottom
    title = element("title", f"dependencies: {', '.join(names)}")
    svg = element(
        "svg", title, *words, *parts, width=places.width, height=height, role="img", xmlns="http://www.w3.org/2000/svg"
    )
    caption = " above, ".join(names) + (" below; what differs is bold" if other is not None else "")
    return joined([element("div", caption, class_="quiet"), element("div", svg, class_="wide", dir="ltr")])
