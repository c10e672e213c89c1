"""Nothing that a corpus or a model says becomes markup: elements, attributes, styles and scripts are only ours."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from tagweave.corpus.candidates import Soft
from tagweave.corpus.sentence import Arc, Sentence
from tagweave.display.markup import element, html, picture
from tagweave.display.pictures import heat_map

HALF_A_PAIR = "\ud800"
ATTACKS = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</style><script>alert(1)</script>",
    "</title></svg><svg onload=alert(1)>",
    "&lt;script&gt;",
    "<!--",
    "]]>",
    HALF_A_PAIR,
    "\x00\u202e",
    "a;background:url(//evil.example)",
)
_OURS = {
    *("div", "span", "style", "bdi", "b", "small", "mark", "details", "summary", "h1", "h2", "h3", "p", "ul", "li"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}


class _Elements(HTMLParser):
    """The elements and attributes of a picture, as a browser reads them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self.feed(text.encode("utf-8").decode("utf-8"))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data


def check(text: str, attack: str) -> None:
    found = _Elements(text)
    assert set(found.tags) <= _OURS
    assert not [name for name, _ in found.attributes if name.startswith("on") or name in ("src", "href")]
    assert "url(" not in "".join(value for name, value in found.attributes if name == "style")
    assert attack.encode("utf-8", "backslashreplace").decode() in found.text


def _sentence(text: str) -> Sentence:
    forms = (text, "b", text)
    layers = {
        text: ((text,), (text, "B"), Soft((text, "B"), (0.5, 0.5))),
        "spans": ((f"B-{text}", "O"), None, (f"B-{text}",)),
        "strange": (("O",), (f"I-{text}",), (f"B-{text}",)),
    }
    heads = {text: ((Arc(2, text),), (Arc(0, text),), (Arc(None, text), Arc(1, None))), "other": (None,) * 3}
    return Sentence(forms, layers, heads=heads, confidence=(1, 0.5, 0))


@pytest.mark.parametrize("attack", [attack for attack in ATTACKS if attack != HALF_A_PAIR])  # which no label holds
def test_sentences(attack: str) -> None:
    check(_sentence(attack)._repr_html_(), attack)


@pytest.mark.parametrize("attack", ATTACKS)
def test_marginals(attack: str) -> None:
    check(picture(heat_map([attack], [attack, "B"], [[0.5, 0.5]])), attack)


def test_text_becomes_html_once() -> None:
    assert element("b", "a < b & c") == "<b>a &lt; b &amp; c</b>"
    assert element("b", element("i", "<")) == "<b><i>&lt;</i></b>"
    assert html(html("&")) == "&amp;"
    assert element("b", class_="", dir='"') == '<b dir="&quot;"></b>'
