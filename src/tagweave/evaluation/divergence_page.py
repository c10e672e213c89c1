"""The divergence of two guidelines as tables for a terminal, and as a static page: one file, without scripts.

Words and tags come from corpora, so every text of the page goes through `escape`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from rich.table import Table
from rich.text import Text

from tagweave import __version__
from tagweave.corpus.characters import printable
from tagweave.corpus.describe import Context
from tagweave.display import markup
from tagweave.evaluation.divergence import Divergence, Partner, TreeDivergence
from tagweave.evaluation.tables import add_row, titled_table

_SHARE = 0.01  # partners with a smaller share are left out: expected counts give every tag every partner
_COUNT = 0.5  # pairs with a smaller expected count are left out
_WORDS = 2


def tables(divergence: Divergence | TreeDivergence, pairs: int = 15) -> Iterator[Text | Table]:
    """Yield a summary, and in each direction the partners of every tag and the most frequent unexpected `pairs`."""
    for line in summary(divergence):
        yield Text(printable(line))
    for one in divergence.directions():
        title = f"{one.first} to {one.second}: the {one.what}s that diverge most come first"
        table = titled_table(title, (one.first, "tokens", "bits", f"{one.second}, %"), (1, 2))
        for tag in one.diverging():
            row = one.tags.index(tag)
            partners = "  ".join(f"{p.partner} {100 * p.share:.1f}" for p in _shown(one.partners_of(tag)))
            add_row(table, tag, f"{one.counts[row].sum():,.0f}", f"{one.entropies[row]:.2f}", partners)
        yield table
        if unexpected := _unexpected(one, pairs):
            title = f"{one.first} to {one.second}: other partners than the most frequent one"
            table = titled_table(title, (one.first, one.second, "tokens", "%", "for example"), (2, 3))
            for pair in unexpected:
                words = (str(context) for context in pair.examples[:_WORDS])
                add_row(table, pair.tag, pair.partner, f"{pair.count:,.0f}", f"{100 * pair.share:.1f}", words)
            yield table


def summary(divergence: Divergence | TreeDivergence) -> list[str]:
    """Describe the comparison in sentences, and how well one tag predicts the other."""
    lines = divergence.headlines()
    for each in divergence.directions():
        share = f"{100 * each.predictable:.1f} %"
        lines.append(
            f"From {each.first} to {each.second}: {share} of the tokens have their {each.what}'s usual partner."
        )
    return lines


def _shown(partners: Iterable[Partner]) -> list[Partner]:
    """Return the most frequent partner, and the others that are not too rare."""
    return [each for each in partners if each.usual or (each.share >= _SHARE and each.count >= _COUNT)]


def _unexpected(divergence: Divergence, most: int) -> list[Partner]:
    return [pair for pair in divergence.unexpected() if pair.count >= _COUNT][:most]


_OPEN, _UNEXPECTED = 3, 20  # tags whose details are unfolded, and pairs shown
_BRIEF = (0, 10)  # the same in a notebook

_STYLE = """
.divergence { color: inherit; max-width: 62rem; }
.divergence h1 { font-size: 1.3em; } .divergence h2 { font-size: 1.15em; } .divergence h3 { font-size: 1em; }
.divergence table { border-collapse: collapse; width: 100%; margin: .5rem 0 1rem; font-size: 1em; }
.divergence th, .divergence td { text-align: left; vertical-align: top; padding: .25rem .6rem; background: transparent;
  border-bottom: 1px solid rgba(128,128,128,.4); white-space: normal; }
.divergence th { font-weight: 600; }
.divergence td.number, .divergence th.number { text-align: right; white-space: nowrap;
  font-variant-numeric: tabular-nums; }
.divergence summary { cursor: pointer; padding: .25rem 0; }
.divergence summary b { display: inline-block; min-width: 4rem; }
.divergence .quiet { opacity: .72; font-size: .9em; }
.divergence .bar { display: inline-block; height: .7em; background: rgba(0,114,178,.6); }
.divergence mark { color: inherit; background: rgba(230,159,0,.35); padding: 0 .15em; }
.divergence .examples { margin: 0; padding: 0; list-style: none; }
.divergence .wide { overflow-x: auto; }
"""
"""Tints lie over the colours around them: a notebook may be dark where the system is light."""


def page(divergence: Divergence | TreeDivergence) -> str:
    """Return a page: a summary, and in each direction unexpected pairs and the partners of every tag, with examples."""
    content = "\n".join(_parts(divergence, _OPEN, _UNEXPECTED))
    return markup.page(f"{divergence.first} and {divergence.second}", content, __version__, _STYLE, "divergence")


def fragment(divergence: Divergence | TreeDivergence) -> str:
    """Return the same as a part of another page, such as a notebook, with the colours and sizes of that page."""
    parts = "\n".join(_parts(divergence, *_BRIEF)).encode("utf-8", "backslashreplace").decode("utf-8")
    return f'<div class="divergence" style="font-size: 14px"><style>{_STYLE}</style>\n{parts}\n</div>\n'


def _parts(divergence: Divergence | TreeDivergence, opened: int, pairs: int) -> Iterator[str]:
    yield _element("h1", f"{divergence.first} and {divergence.second}")
    yield from (_element("p", line) for line in summary(divergence))
    for one in divergence.directions():
        yield _element("h2", f"From {one.first} to {one.second}")
        if unexpected := _unexpected(one, pairs):
            yield _element("h3", "Other partners than the most frequent one")
            yield _html_table((one.first, one.second), (((pair.tag, pair.partner), pair) for pair in unexpected))
        yield _element("h3", f"All {one.what}s, those that diverge most first")
        for number, tag in enumerate(one.diverging()):
            yield _details(one, tag, number < opened)


def _details(divergence: Divergence, tag: str, is_open: bool) -> str:
    row = divergence.tags.index(tag)
    partners = _shown(divergence.partners_of(tag))
    tokens, bits = divergence.counts[row].sum(), divergence.entropies[row]
    brief = ", ".join(f"{partner.partner} {100 * partner.share:.1f} %" for partner in partners)
    figures = f'<span class="quiet">{tokens:,.0f} tokens, {bits:.2f} bits</span>'
    return (
        f"<details{' open' if is_open else ''}><summary>{_element('b', tag)} {escape(brief)} {figures}</summary>\n"
        + _html_table((divergence.second,), (((partner.partner,), partner) for partner in partners))
        + "</details>"
    )


def _html_table(names: Iterable[str], rows: Iterable[tuple[Iterable[str], Partner]]) -> str:
    """Return a table of partners with their figures and words, each after the tags under `names`."""
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
    figures = "".join(f'<th scope="col" class="number">{name}</th>' for name in ("tokens", "%", "back, %"))
    body = "\n".join(f"<tr>{''.join(_element('td', tag) for tag in tags)}{_cells(pair)}</tr>" for tags, pair in rows)
    head = f'<tr>{heads}{figures}<th scope="col">words in context</th></tr>'
    return (
        f'<div class="wide"><table class="pairs">\n<thead>{head}</thead>\n<tbody>\n{body}\n</tbody>\n</table></div>\n'
    )


def _cells(pair: Partner) -> str:
    bar = f'<span class="bar" style="width: {5 * pair.share:.2f}em"></span>'
    figures = (f"{pair.count:,.0f}", f"{bar} {100 * pair.share:.1f}", f"{100 * pair.reverse:.1f}")
    cells = "".join(f'<td class="number">{figure}</td>' for figure in figures)
    return f'{cells}<td><ul class="examples">{"".join(map(_example, pair.examples))}</ul></td>'


def _example(context: Context) -> str:
    left, right = (escape(" ".join(forms)) for forms in (context.left, context.right))
    source = f' title="{escape(context.source)}"' if context.source else ""
    note = f' <span class="quiet">{escape(context.note)}</span>' if context.note else ""
    return f"<li{source}>{left} <mark>{escape(context.word)}</mark> {right}{note}</li>"


def _element(name: str, text: str) -> str:
    return f"<{name}>{escape(text)}</{name}>"
