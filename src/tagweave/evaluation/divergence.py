"""How far two guidelines diverge, as numbers, as tables for a terminal, and as a static page without scripts.

Words and tags come from corpora, so every text of the page goes through `escape`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from rich.table import Table
from rich.text import Text

from tagweave.corpus.characters import printable
from tagweave.corpus.describe import Context
from tagweave.corpus.files import written
from tagweave.display.markup import page as html_page
from tagweave.evaluation.score import Share
from tagweave.evaluation.tables import add_row, titled_table
from tagweave.version import __version__

Pair = tuple[str, str]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Partner:
    """A tag of one guideline as the partner of a tag of the other."""

    tag: str  # the tag whose partner it is
    partner: str  # the tag of the other guideline
    count: float  # how often both occur at one token; an expected count may be fractional
    share: float  # P(partner | tag)
    reverse: float  # P(tag | partner)
    usual: bool  # whether it is the most frequent partner of the tag
    examples: tuple[Context, ...]  # words that have both, in context, the most typical ones first


@dataclass(frozen=True, eq=False)
class Divergence:
    """How often the tags of two guidelines occur together; or other labels of tokens, such as relations in trees."""

    first: str  # first, second: the guidelines
    second: str
    tags: tuple[str, ...]  # the A tags of the first guideline that occur, sorted by name
    partners: tuple[str, ...]  # the B tags of the second
    counts: Floats  # float64[A, B], how often each pair occurs at one token
    examples: Mapping[Pair, tuple[Context, ...]]  # for each pair, words in context, the most typical ones first
    left_out: int = 0  # the number of tokens without a pair
    expected: bool = False  # whether the counts are expected by a model
    what: str = "tag"  # the word for a tag in messages

    def _repr_html_(self) -> str:
        return fragment(self)

    @cached_property
    def shares(self) -> Floats:
        """float64[A, B]: P(partner | tag); the rows sum to 1."""
        shares: Floats = self.counts / self.counts.sum(axis=1, keepdims=True)
        return shares

    @cached_property
    def entropies(self) -> Floats:
        """float64[A]: the entropy of the partner of each tag, in bits; 0 if it is always the same."""
        p = self.shares
        bits: Floats = -(p * np.log2(np.where(p > 0, p, 1))).sum(axis=1)
        return np.abs(bits)  # no -0

    @property
    def total(self) -> float:
        return float(self.counts.sum())

    @property
    def predictable(self) -> float:
        """The share of tokens whose partner is the most frequent one of their tag; `nan` if there are no tokens."""
        return float(self.counts.max(axis=1, initial=0).sum() / self.total) if self.total else float("nan")

    def directions(self) -> tuple[Divergence, ...]:
        return self, self.swapped()

    def headlines(self) -> list[str]:
        how = "expected by a model" if self.expected else "counted"
        left_out = f"; left out: {self.left_out:,}" if self.left_out else ""
        return [f"Tokens with {self.what}s of {self.first} and {self.second}: {self.total:,.0f}, {how}{left_out}."]

    def swapped(self) -> Divergence:
        """Return the divergence from the side of the second guideline."""
        examples = {(b, a): contexts for (a, b), contexts in self.examples.items()}
        sides = {"first": self.second, "second": self.first, "tags": self.partners, "partners": self.tags}
        return replace(self, **sides, counts=self.counts.T, examples=examples)  # type: ignore[arg-type]

    def diverging(self) -> tuple[str, ...]:
        """Return the tags, sorted by their contribution to uncertainty: frequency times entropy, the greatest first."""
        weight = self.entropies * self.counts.sum(axis=1)
        order = sorted(range(len(self.tags)), key=lambda i: (-weight[i], -self.counts[i].sum(), self.tags[i]))
        return tuple(self.tags[i] for i in order)

    def partners_of(self, tag: str) -> list[Partner]:
        """Return the partners of a tag, the most frequent first, ties sorted by name."""
        row = self.tags.index(tag)
        columns = np.flatnonzero(self.counts[row]).tolist()
        found: list[Partner] = []
        for j in sorted(columns, key=lambda j: (-self.counts[row, j], self.partners[j])):
            partner, count = self.partners[j], float(self.counts[row, j])
            reverse, examples = count / float(self.counts[:, j].sum()), self.examples.get((tag, partner), ())
            found.append(Partner(tag, partner, count, float(self.shares[row, j]), reverse, not found, examples))
        return found

    def unexpected(self) -> list[Partner]:
        """Return the pairs whose partner is not the usual one of the tag, the most frequent first."""
        pairs = chain.from_iterable(self.partners_of(tag)[1:] for tag in self.tags)
        return sorted(pairs, key=lambda pair: (-pair.count, pair.tag, pair.partner))


@dataclass(frozen=True, eq=False)
class TreeDivergence:
    """The divergence of the trees of two guidelines."""

    relations: Divergence  # pairs of relations
    # for either guideline, the positions of its heads in the other's trees, by relation
    heads: tuple[Divergence, Divergence]
    same_heads: Share  # tokens with one head in both trees, and how many of them have the same
    same_arcs: Share  # tokens with one head and relation in both trees, and how many of them have the same
    sentences: int  # the number of sentences with the same tokens in both corpora
    left_out: tuple[int, int]  # the number of sentences of each corpus that the other does not have

    @property
    def first(self) -> str:
        return self.relations.first

    @property
    def second(self) -> str:
        return self.relations.second

    def _repr_html_(self) -> str:
        return fragment(self)

    def directions(self) -> tuple[Divergence, ...]:
        return (self.relations, self.relations.swapped(), *self.heads)

    def headlines(self) -> list[str]:
        one, other = self.left_out
        left_out = f"; left out: {one:,} of {self.first}, {other:,} of {self.second}" if one or other else ""
        return [
            f"Sentences of {self.first} and {self.second} with the same tokens: {self.sentences:,}{left_out}.",
            f"The same head: {_of_tokens(self.same_heads)}. The same head and relation: {_of_tokens(self.same_arcs)}.",
        ]


def _of_tokens(share: Share) -> str:
    return f"{100 * share.value:.1f} % of {share.total:,} tokens" if share.total else "- of 0 tokens"


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
            partners = "  ".join(f"{p.partner} {100 * p.share:.1f}" for p in _frequent(one.partners_of(tag)))
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


def _frequent(partners: Iterable[Partner]) -> list[Partner]:
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
    return html_page(f"{divergence.first} and {divergence.second}", content, __version__, _STYLE, "divergence")


def write_page(divergence: Divergence | TreeDivergence, path: str) -> None:
    """Write the page, as a whole file or not at all. Raises OSError."""
    with written(path) as stream:
        stream.write(page(divergence))


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
    partners = _frequent(divergence.partners_of(tag))
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
