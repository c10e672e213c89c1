"""HTML made of elements. Text from corpora becomes part of it only through `html`, which escapes it."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from tagweave.display.style import STYLE


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def html(content: str) -> Html:
    """The content as HTML: escaped, unless it is HTML already; halves of surrogate pairs are spelled out."""
    if isinstance(content, Html):
        return content
    return Html(escape(content.encode("utf-8", "backslashreplace").decode("utf-8")))


def element(name: str, *content: str, **attributes: str | float) -> Html:
    """An element. In names of attributes, `_` stands for a hyphen, and at the end for nothing (`class_`)."""
    named = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html(str(value))}"' for key, value in attributes.items() if value != ""
    )
    return Html(f"<{name}{named}>{joined(content)}</{name}>")


def joined(parts: Iterable[str], between: str = "") -> Html:
    """Parts one after the other."""
    return Html(html(between).join(map(html, parts)))


def picture(*content: str) -> str:
    """A whole picture: the content, with the style that it needs."""
    return str(element("div", Html(f"<style>{STYLE}</style>"), *content, class_="tagweave"))


def word(form: str, **attributes: str | float) -> Html:
    """A token, whose direction of writing is its own."""
    return element("bdi", form, **attributes)
