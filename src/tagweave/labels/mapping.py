"""Mappings between the tags of two guidelines, and the bundles of tags that they allow (Li et al. 2015, section 3).

A mapping counts pairs of tags. Its file is UTF-8 text:

    # FIRST<TAB>SECOND
    TAG<TAB>TAG<TAB>COUNT

The first line may name the guidelines, and a missing count means 1. Blank lines are skipped, and so are lines that are
`#` or begin with `#` and a space (`#<TAB>w` is a pair of the tag `#`). A bundle is a label of a coupled model, one tag
of each guideline; a tag stands for all bundles that project to it, so a corpus of one guideline is ordinary evidence.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from operator import getitem
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.files import read_lines
from tagweave.corpus.sentence import Candidates, Sentence
from tagweave.errors import CorpusError, TagweaveError
from tagweave.labels.space import LabelSpace, View, is_wildcard
from tagweave.labels.transition_scheme import split_label

CTB_PD = Path(__file__).with_name("data") / "ctb-pd.tsv"
"""The mapping of CTB and PD: the counts of Sun and Wan (2012), Table 1."""

SHIPPED = {"ctb-pd": CTB_PD}
"""The mappings that come with this package."""

_NEAR_NOTHING = 1e-9  # a share that a tag's most frequent pair always reaches
_WORD = re.compile("[^\\s\0\ufeff\ud800-\udfff]+")
_COUNT = re.compile("[1-9][0-9]{0,17}")  # as many digits as an int64 holds


class MappingError(TagweaveError):
    """An invalid mapping, or one that does not fit the guidelines whose tags are to be bundled."""


@dataclass(frozen=True)
class TagMapping:
    """Pairs of tags that may be bundled."""

    first: str  # the name of one guideline; "" if it is unknown
    second: str
    counts: Mapping[tuple[str, str], int]  # (tag of first, tag of second) -> how often they were seen, 1 if unknown

    def __post_init__(self) -> None:
        if self.first == self.second != "":
            raise MappingError(f"found a mapping of {self.first!r} to itself, expected two guidelines")
        if not self.counts:
            sides = f"{self.first!r} and {self.second!r}"
            raise MappingError(f"found no pair in the mapping of {sides}, expected at least one")
        if rare := [pair for pair, count in self.counts.items() if count < 1]:
            raise MappingError(f"found the count {self.counts[rare[0]]} of the pair {rare[0]}, expected 1 or more")

    @property
    def pairs(self) -> frozenset[tuple[str, str]]:
        """All pairs: the relaxed mapping."""
        return frozenset(self.counts)

    def allowed(self, first_tags: Sequence[str], second_tags: Sequence[str]) -> NDArray[np.bool_]:
        """Return the mapping function m of Li et al. (2015, eq. 3) over two tag sets, bool[first tags, second tags].

        The pairs of the mapping are allowed, and so is any pair with a tag that the mapping does not name (`unnamed`).
        """
        named = self._named(first_tags, second_tags)
        return named | ~named.any(axis=1, keepdims=True) | ~named.any(axis=0)

    def unnamed(self, first_tags: Sequence[str], second_tags: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the tags of either side that the mapping does not pair with a tag of the other."""
        named = self._named(first_tags, second_tags)
        return (
            tuple(first_tags[i] for i in np.flatnonzero(~named.any(axis=1)).tolist()),
            tuple(second_tags[i] for i in np.flatnonzero(~named.any(axis=0)).tolist()),
        )

    def _named(self, first_tags: Sequence[str], second_tags: Sequence[str]) -> NDArray[np.bool_]:
        row, column = ({tag: i for i, tag in enumerate(tags)} for tags in (first_tags, second_tags))
        named = np.zeros((len(first_tags), len(second_tags)), bool)
        for first, second in self.counts:
            if first in row and second in column:
                named[row[first], column[second]] = True
        return named

    def tight(self, mass: float = 0.9) -> TagMapping:
        """Return the pairs that make up the share `mass` (0 < mass <= 1) of the counts of either of their tags.

        For every tag of both sides, the most frequent pairs are taken until they reach the share; ties are broken by
        name. The pairs of both sides are united: if only the first side counted, a rare tag of the second (PD's `Ng`
        with CTB's `NN`) would lose all its pairs, and as an unnamed tag it would be possible with every partner. So
        every tag keeps its most frequent partner.
        """
        if not 0 < mass <= 1:
            raise MappingError(f"found the share {mass}, expected more than 0 and at most 1")
        return self._keep({pair for side in (0, 1) for pair in self._heaviest(side, mass)})

    def _heaviest(self, side: int, mass: float) -> Iterator[tuple[str, str]]:
        pairs_of = defaultdict(list)
        for pair in sorted(self.counts, key=lambda pair: (-self.counts[pair], pair)):
            pairs_of[pair[side]].append(pair)
        for pairs in pairs_of.values():
            total = sum(self.counts[pair] for pair in pairs)
            reached = 0
            for pair in pairs:
                if reached / total >= mass:  # not reached >= mass * total, which may round past a whole number
                    break
                reached += self.counts[pair]
                yield pair

    def at_least(self, minimum: float) -> TagMapping:
        """Return the pairs that were seen at least `minimum` times, and for every tag its most frequent pair.

        Without the latter, a rare tag would no longer be named, and would be possible with every tag of the other side:
        on ZX and People's Daily that made 200 bundles of 14 tags.
        """
        best = {pair for side in (0, 1) for pair in self._heaviest(side, _NEAR_NOTHING)}
        return self._keep(best | {pair for pair, count in self.counts.items() if count >= minimum})

    def _keep(self, pairs: Collection[tuple[str, str]]) -> TagMapping:
        return replace(self, counts={pair: count for pair, count in self.counts.items() if pair in pairs})

    def including(self, pairs: Mapping[tuple[str, str], int]) -> TagMapping:
        """Return the mapping with further pairs and their counts; pairs that it already has keep theirs."""
        return replace(self, counts={**pairs, **self.counts})

    def swapped(self) -> TagMapping:
        return TagMapping(self.second, self.first, {(b, a): count for (a, b), count in self.counts.items()})


def count_pairs(first: str, second: str, sentences: Iterable[Sentence]) -> TagMapping:
    """Return the automatic mapping of Li et al. (2015, section 3.1): pairs of labels that occur at the same positions.

    Only positions with one label in each of the two layers count. A wildcard (`B-*`) is not a label.
    """
    tokens = annotated_twice(first, second, sentences).items()
    counts = {(a[0], b[0]): count for (a, b), count in tokens if len(a) == len(b) == 1}
    if not counts:
        problem = f"no position with one label of {first} and one of {second}"
        raise CorpusError(problem, "sentences that are annotated under both guidelines")
    return TagMapping(first, second, counts)


def annotated_twice(
    first: str, second: str, sentences: Iterable[Sentence]
) -> Counter[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Count each pair of candidates at a token, in the layers of two guidelines; wildcards do not count."""
    pairs: Counter[tuple[Candidates, Candidates]] = Counter()
    for sentence in sentences:
        if first in sentence.layers and second in sentence.layers:
            pairs.update(zip(sentence.layers[first], sentence.layers[second], strict=True))
    return Counter({(a, b): count for (a, b), count in pairs.items() if a and b and not any(map(is_wildcard, a + b))})


def read_mapping(path: str | Path) -> TagMapping:
    """Read a mapping from a file; its guidelines are "" if the first line does not name them."""
    first, second = "", ""
    counts: dict[tuple[str, str], int] = {}
    for number, line in enumerate(read_lines(str(path)), 1):
        try:
            if number == 1 and line.startswith("# ") and "\t" in line:
                first, second = _guidelines(line)
            elif line.strip() and line != "#" and not line.startswith("# "):
                pair, count = _pair(line)
                if pair in counts:
                    raise CorpusError(f"the pair {pair[0]!r} {pair[1]!r} a second time", "each pair once")
                counts[pair] = count
        except CorpusError as error:
            raise CorpusError(error.found, error.expected, str(path), number) from None
    if not counts:
        raise CorpusError("no pair of tags", "at least one line TAG<TAB>TAG", str(path))
    return TagMapping(first, second, counts)


def _guidelines(line: str) -> tuple[str, str]:
    names = line.removeprefix("# ").split("\t")
    if len(names) != 2 or len(set(names)) != 2 or not all(map(_WORD.fullmatch, names)):
        expected = "# FIRST<TAB>SECOND, two guidelines without blanks in their names"
        raise CorpusError(f"the first line {line!r}", expected)
    return names[0], names[1]


def _pair(line: str) -> tuple[tuple[str, str], int]:
    fields = line.split("\t")
    if len(fields) not in (2, 3) or not all(map(_WORD.fullmatch, fields[:2])):
        raise CorpusError(repr(line), "TAG<TAB>TAG or TAG<TAB>TAG<TAB>COUNT, tags without blanks")
    if len(fields) == 3 and not _COUNT.fullmatch(fields[2]):
        raise CorpusError(f"the count {fields[2]!r}", "a whole number from 1, of at most 18 digits")
    return (fields[0], fields[1]), int(fields[2]) if len(fields) == 3 else 1


def over_labels(mapping: TagMapping, sides: Mapping[str, Sequence[str]], of_spans: bool = False) -> TagMapping:
    """Return a mapping of tags as one of the labels (`B-NN`) that carry them, beside pairs of labels.

    `sides` has the labels of every guideline. Nothing is required of the letters of characters: words need not begin at
    the same places under both guidelines. Tags `of_spans` are types: spans of both guidelines have the same boundaries
    where they meet, and any span may be a span of one guideline alone.
    """
    if not {mapping.first, mapping.second} <= sides.keys():
        return mapping
    first, second = (sides[name] for name in (mapping.first, mapping.second))
    parts = {label: split_label(label) for label in (*first, *second)}
    counts = dict(mapping.counts)
    for pair in product(first, second):
        (letter, kind), (other_letter, other_kind) = (parts[label] for label in pair)
        if not (kind and other_kind):
            if of_spans:
                counts.setdefault(pair, 1)
        elif (kind, other_kind) in mapping.counts and (letter == other_letter or not of_spans):
            counts[pair] = mapping.counts[kind, other_kind]
    return replace(mapping, counts=counts)


SEPARATOR = "&"
"""Separates the tags of a bundle, and the guidelines in the name of the joint view."""

Pairs = Mapping[tuple[int, int], NDArray[np.bool_]]
"""Two sides, in order -> bool[tags, tags], the pairs that may be bundled."""


def bundle(sides: Sequence[tuple[str, Sequence[str]]], mappings: Iterable[TagMapping] = ()) -> LabelSpace:
    """Return the space of the bundles that every mapping allows: a view for each side, in order, and last the joint
    view.

    The labels are sorted by the numbers of their tags, the first side varying slowest. Without mappings they are all
    tuples of tags: the complete mapping of Li et al. (2015, section 3.1).

    Args:
        sides: two or more guidelines, each with its tags.
        mappings: each between two of the sides, in either order. A tag that a mapping does not name stays possible with
            every tag of the other side (`TagMapping.allowed`).
    """
    if len(sides) < 2:
        raise MappingError(f"found {len(sides)} guidelines to bundle, expected two or more")
    if repeated := _repeated(name for name, _ in sides):
        raise MappingError(f"found two guidelines of the name {repeated!r}, expected different names")
    for name, tags in sides:
        if not tags:
            raise MappingError(f"found no tag of {name}, expected at least one")
        if repeated := _repeated(tags):
            raise MappingError(f"found the tag {repeated!r} of {name} twice, expected each tag once")
    rows = _rows([len(tags) for _, tags in sides], _allowed_pairs(sides, mappings))
    for side, (name, tags) in enumerate(sides):  # one mapping never loses a tag; several may exclude all its bundles
        kept = set(rows[:, side].tolist())
        if lost := [tag for i, tag in enumerate(tags) if i not in kept]:
            expected = "mappings that together leave each tag at least one"
            raise MappingError(f"found no bundle for the tags {' '.join(lost)} of {name}, expected {expected}")
    tags_of_sides = [tags for _, tags in sides]
    names = tuple(SEPARATOR.join(map(getitem, tags_of_sides, row)) for row in rows.tolist())
    if repeated := _repeated(names):
        expected = f"tags that a {SEPARATOR!r} tells apart"
        raise MappingError(f"found two bundles that are both written {repeated!r}, expected {expected}")
    views = [View(name, tuple(tags), rows[:, side].copy()) for side, (name, tags) in enumerate(sides)]
    joint = View(SEPARATOR.join(name for name, _ in sides), names, np.arange(len(names), dtype=np.int32))
    return LabelSpace(names, (*views, joint))


def _repeated(names: Iterable[str]) -> str:
    return next((name for name, count in Counter(names).items() if count > 1), "")


def _allowed_pairs(sides: Sequence[tuple[str, Sequence[str]]], mappings: Iterable[TagMapping]) -> Pairs:
    """Return the pairs that the mappings of two sides allow; with several mappings, those that all of them allow."""
    number = {name: side for side, (name, _) in enumerate(sides)}
    pairs: dict[tuple[int, int], NDArray[np.bool_]] = {}
    for mapping in mappings:
        for name in (mapping.first, mapping.second):
            if name not in number:
                problem = f"a mapping of {name!r}" if name else "a mapping that does not name its guidelines"
                raise MappingError(f"found {problem}, expected two of {', '.join(number)}")
        first, second = number[mapping.first], number[mapping.second]
        if first > second:
            first, second, mapping = second, first, mapping.swapped()  # noqa: PLW2901
        allowed = mapping.allowed(sides[first][1], sides[second][1])
        pairs[first, second] = allowed & pairs.get((first, second), np.True_)
    return pairs


def _rows(sizes: Sequence[int], pairs: Pairs) -> NDArray[np.int32]:
    """Return int32[bundles, sides]: the tags of every bundle, rising.

    Sides are added one by one: the combinations so far, times the tags of the next side, minus the forbidden pairs. So
    three tight mappings never build the complete product.
    """
    rows = np.arange(sizes[0], dtype=np.int32)[:, None]
    for side, size in enumerate(sizes[1:], 1):
        tags = np.tile(np.arange(size, dtype=np.int32), len(rows))
        rows = np.column_stack([np.repeat(rows, size, axis=0), tags])
        for (first, second), allowed in pairs.items():
            if second == side:
                rows = rows[allowed[rows[:, first], rows[:, second]]]
    return rows
