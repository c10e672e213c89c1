"""Elements of pictures for notebooks: escaped HTML, tints, numbers, and the candidates of a position.

Text becomes part of HTML only through `html`, which escapes it. Tints lie over the colours of the page, so that light
and dark pages both suit; people with any colour vision can tell them apart (Okabe and Ito 2008).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from zlib import crc32

Position = Sequence[tuple[str, float | None]] | None
"""The candidates of a position, the most probable first, with their numbers if they have any; `None` is unknown."""

STYLE = """
.tagweave { color: inherit; font-size: 14px; line-height: 1.45; max-width: 100%; }
.tagweave .quiet { opacity: .72; font-size: .9em; }
.tagweave .sentence { margin: .3em 0 .8em; }
.tagweave .gloss { display: flex; flex-wrap: wrap; row-gap: .5em; }
.tagweave .gloss > span { display: flex; flex-direction: column; padding: 0 .45em; white-space: nowrap; }
.tagweave .gloss > span > * { min-height: 1.6em; }
.tagweave .gloss .names { opacity: .72; }
.tagweave .label { font-size: .85em; min-height: 1.88em !important; }
.tagweave .several { background: rgba(230,159,0,.25); border-radius: 3px; padding: 0 .25em; }
.tagweave .unknown { border: 1px dashed rgba(128,128,128,.8); border-radius: 3px; padding: 0 .4em; opacity: .8; }
.tagweave .running { line-height: 2.1; margin: .2em 0; }
.tagweave mark { color: inherit; border-radius: 4px; padding: .15em .3em; }
.tagweave mark small { font-weight: 600; margin-inline-start: .35em; }
.tagweave .open { border-bottom: 2px dotted rgba(128,128,128,.9); }
.tagweave .perhaps { border-bottom: 2px dotted currentColor; font-style: italic; opacity: .85; }
.tagweave .wide { overflow-x: auto; }
.tagweave pre { line-height: 1.2; overflow-x: auto; margin: .3em 0; font-size: 13px; background: transparent;
  color: inherit; font-family: ui-monospace, monospace; }
.tagweave table { border-collapse: collapse; margin: .4em 0; font-size: .95em; }
.tagweave th, .tagweave td { padding: .2em .5em; text-align: center; border: 1px solid rgba(128,128,128,.25);
  background: transparent; }
.tagweave th { font-weight: 600; white-space: nowrap; }
.tagweave th[scope=row] { text-align: end; }
.tagweave td.number { text-align: end; font-variant-numeric: tabular-nums; }
.tagweave td { font-variant-numeric: tabular-nums; }
"""
"""Rules for pictures alone: a notebook has one page for all outputs."""


_BLUE = "0,114,178"
_TINTS = (
    *(f"rgba({color},.35)" for color in (_BLUE, "230,159,0", "0,158,115", "213,94,0", "204,121,167", "86,180,233")),
    "rgba(240,228,66,.25)",  # yellow: any stronger, and light text of a dark page could not be read on it
)
_STRONGEST = 0.65


def of_types(names: Iterable[str]) -> dict[str, str]:
    """Choose a tint for each name: mostly the same in all pictures, and different within one while there are enough."""
    tints: dict[str, str] = {}
    free: list[str] = []
    for name in sorted(set(names)):
        free = free or list(_TINTS)
        wanted = _TINTS[crc32(name.encode("utf-8", "backslashreplace")) % len(_TINTS)]
        chosen = wanted if wanted in free else free[0]
        free.remove(chosen)
        tints[name] = chosen
    return tints


def heat(share: float) -> str:
    """Return the tint of a number from 0 to 1."""
    return f"rgba({_BLUE},{_STRONGEST * share:.3f})"


LEAST = 0.005
"""The smallest number that is not written as 0."""


def share(value: float) -> str:
    """Write a number from 0 to 1 in two digits, without the leading zero."""
    text = f"{value:.2f}"
    return text.removeprefix("0") if value < 1 else text


_MOST_DIGITS = 4


def distinct(values: Sequence[float]) -> list[str]:
    """Write numbers from 0 to 1 in as many digits as tell neighbours apart, two to four."""
    shown = []
    for at, value in enumerate(values):
        beside = [other for other in (*values[max(at - 1, 0) : at], *values[at + 1 : at + 2]) if other != value]
        digits = next(
            (n for n in range(2, _MOST_DIGITS) if all(f"{other:.{n}f}" != f"{value:.{n}f}" for other in beside)),
            _MOST_DIGITS,
        )
        text = f"{value:.{digits}f}"
        shown.append(text.removeprefix("0") if value < 1 and text[0] == "0" else text)
    return shown


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def html(content: str) -> Html:
    """Escape text, unless it is HTML already; halves of surrogate pairs are spelled out."""
    if isinstance(content, Html):
        return content
    return Html(escape(content.encode("utf-8", "backslashreplace").decode("utf-8")))


def element(name: str, *content: str, **attributes: str | float) -> Html:
    """Make an element. In names of attributes, `_` stands for a hyphen, and at the end for nothing (`class_`)."""
    named = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html(str(value))}"' for key, value in attributes.items() if value != ""
    )
    return Html(f"<{name}{named}>{joined(content)}</{name}>")


def joined(parts: Iterable[str], between: str = "") -> Html:
    """Concatenate parts."""
    return Html(html(between).join(map(html, parts)))


def picture(*content: str) -> str:
    """Make a complete picture: the content with its style."""
    return str(element("div", Html(f"<style>{STYLE}</style>"), *content, class_="tagweave"))


_PAGE_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0; }
main { margin: 0 auto; padding: 1rem; max-width: 80rem; }
main.tagweave td { text-align: start; vertical-align: top; }
main.tagweave td:last-child:nth-child(n + 3) { min-width: 18rem; }
"""


def page(title: str, content: str, version: str, style: str = STYLE, class_: str = "tagweave") -> str:
    """Make a whole page of content that is HTML: one file, without scripts, light or dark as its reader prefers."""
    written = element("p", f"Written by tagweave {version}.", class_="quiet")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"{element('title', title)}\n<style>{style}{_PAGE_STYLE}</style>\n</head>\n<body>\n"
        f'<main class="{class_}">\n{content}\n{written}\n</main>\n</body>\n</html>\n'
    )


def word(form: str, **attributes: str | float) -> Html:
    """Mark up a token, which may be written from right to left."""
    return element("bdi", form, **attributes)


def in_context(texts: Iterable[str], between: str) -> Html:
    """Mark up the second of three texts, which the first precedes and the third follows."""
    before, marked, after = map(word, texts)
    return joined([before, element("mark", marked, style=f"background:{heat(0.5)}"), after], between)


_SHOWN = 3  # candidates
_HINT = 60  # candidates in the text that appears under the mouse


def with_number(name: str, number: float | None) -> str:
    """Return a candidate with its number."""
    return name if number is None else f"{name} {share(number)}"


def evidence(candidates: Position) -> Html:
    """Show a position in one line; candidates that do not fit appear under the mouse."""
    if candidates is None:
        return element("span", "?", class_="unknown", title="unknown: any label")
    if len(candidates) == 1 and candidates[0][1] is None:
        return element("span", candidates[0][0])
    several = [with_number(*pair) for pair in candidates]
    shown = several if len(several) <= _SHOWN + 1 else [*several[:_SHOWN], f"+{len(several) - _SHOWN}"]
    return element("span", " | ".join(shown), class_="several", title=hint(several))


def hint(lines: Iterable[str]) -> str:
    """Return candidates as the text that appears under the mouse."""
    several = list(lines)
    return "\n".join(several if len(several) <= _HINT else [*several[:_HINT], f"and {len(several) - _HINT} more"])
