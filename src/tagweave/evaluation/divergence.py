"""How far two guidelines diverge, as numbers, and as tables for a terminal or a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.table import Table
from rich.text import Text

from tagweave.corpus.characters import printable
from tagweave.corpus.describe import Context
from tagweave.display.markup import Html, element, joined, picture
from tagweave.evaluation.tables import add_row, titled_table

Pair = tuple[str, str]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Partner:
    """A tag of one guideline as the partner of a tag of the other."""

    tag: str  # the tag whose partner it is
    partner: str  # the tag of the other guideline
    count: float  # how often both occur at one token; an expected count may be fractional
    share: float  # P(partner | tag)
    usual: bool  # whether it is the most frequent partner of the tag
    examples: tuple[Context, ...]  # words that have both, in context, the most typical ones first


@dataclass(frozen=True, eq=False)
class Divergence:
    """How often the tags of two guidelines occur together."""

    first: str  # first, second: the guidelines
    second: str
    tags: tuple[str, ...]  # the A tags of the first guideline that occur, sorted by name
    partners: tuple[str, ...]  # the B tags of the second
    counts: Floats  # float64[A, B], how often each pair occurs at one token
    examples: Mapping[Pair, tuple[Context, ...]]  # for each pair, words in context, the most typical ones first
    left_out: int = 0  # the number of tokens without a pair
    expected: bool = False  # whether the counts are expected by a model

    def _repr_html_(self) -> str:
        lines = (element("p", line) for line in summary(self))
        return picture(*lines, *map(_html_table, _sections(self, _PAIRS)))

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
        partners: list[Partner] = []
        for j in sorted(columns, key=lambda j: (-self.counts[row, j], self.partners[j])):
            partner, count = self.partners[j], float(self.counts[row, j])
            examples = self.examples.get((tag, partner), ())
            partners.append(Partner(tag, partner, count, float(self.shares[row, j]), not partners, examples))
        return partners

    def unexpected(self) -> list[Partner]:
        """Return the pairs whose partner is not the usual one of the tag, the most frequent first."""
        pairs = chain.from_iterable(self.partners_of(tag)[1:] for tag in self.tags)
        return sorted(pairs, key=lambda pair: (-pair.count, pair.tag, pair.partner))


_SHARE = 0.01  # partners with a smaller share are left out: expected counts give every tag every partner
_COUNT = 0.5  # pairs with a smaller expected count are left out
_PAIRS = 15  # unexpected ones
_WORDS = 2


class _Section(NamedTuple):
    """A table with its title; a cell is a text, or several lines."""

    title: str
    columns: tuple[str, ...]
    numbers: tuple[int, ...]  # columns of numbers
    rows: list[tuple[str | tuple[str, ...], ...]]


def tables(divergence: Divergence, pairs: int = _PAIRS) -> Iterator[Text | Table]:
    """Yield a summary, and in each direction the partners of every tag and the most frequent unexpected `pairs`."""
    for line in summary(divergence):
        yield Text(printable(line))
    for section in _sections(divergence, pairs):
        table = titled_table(section.title, section.columns, section.numbers)
        for row in section.rows:
            add_row(table, *row)
        yield table


def summary(divergence: Divergence) -> list[str]:
    """Describe the comparison in sentences, and how well one tag predicts the other."""
    how = "expected by a model" if divergence.expected else "counted"
    left_out = f"; left out: {divergence.left_out:,}" if divergence.left_out else ""
    tokens = f"{divergence.total:,.0f}, {how}{left_out}"
    lines = [f"Tokens with tags of {divergence.first} and {divergence.second}: {tokens}."]
    for direction in (divergence, divergence.swapped()):
        share = f"{100 * direction.predictable:.1f} %"
        lines.append(
            f"From {direction.first} to {direction.second}: {share} of the tokens have their tag's usual partner."
        )
    return lines


def _sections(divergence: Divergence, pairs: int) -> Iterator[_Section]:
    for one in (divergence, divergence.swapped()):
        title = f"{one.first} to {one.second}: the tags that diverge most come first"
        section = _Section(title, (one.first, "tokens", "bits", f"{one.second}, %"), (1, 2), [])
        for tag in one.diverging():
            row = one.tags.index(tag)
            partners = "  ".join(f"{p.partner} {100 * p.share:.1f}" for p in _frequent(one.partners_of(tag)))
            section.rows.append((tag, f"{one.counts[row].sum():,.0f}", f"{one.entropies[row]:.2f}", partners))
        yield section
        unexpected = [pair for pair in one.unexpected() if pair.count >= _COUNT][:pairs]
        if unexpected:
            title = f"{one.first} to {one.second}: other partners than the most frequent one"
            section = _Section(title, (one.first, one.second, "tokens", "%", "for example"), (2, 3), [])
            for pair in unexpected:
                words = tuple(str(context) for context in pair.examples[:_WORDS])
                section.rows.append((pair.tag, pair.partner, f"{pair.count:,.0f}", f"{100 * pair.share:.1f}", words))
            yield section


def _html_table(section: _Section) -> Html:
    head = element("tr", *(element("th", column, scope="col") for column in section.columns))
    rows = (element("tr", *(element("td", _cell(cell)) for cell in row)) for row in section.rows)
    return joined([element("p", section.title), element("div", element("table", head, *rows), class_="wide")])


def _cell(cell: str | tuple[str, ...]) -> str:
    return cell if isinstance(cell, str) else joined(cell, Html("<br>"))


def _frequent(partners: Iterable[Partner]) -> list[Partner]:
    """Return the most frequent partner, and the others that are not too rare."""
    return [partner for partner in partners if partner.usual or (partner.share >= _SHARE and partner.count >= _COUNT)]
