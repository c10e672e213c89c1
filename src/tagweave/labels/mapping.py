"""Mapping functions: which tags of two guidelines may be bundled (Li et al. 2015, section 3.1).

A mapping is a table of pairs of tags with their counts. Its file is UTF-8 text, a pair a line:

    # FIRST<TAB>SECOND
    TAG<TAB>TAG<TAB>COUNT

The first line may name the two guidelines, as above. Blank lines are skipped, and so are comments, that is, lines that
are `#` or begin with `#` and a space. Tags have no blanks, so no pair looks like a comment: `#<TAB>w` is a pair of the
tag `#`. A missing count means 1.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.errors import CorpusError, InputError
from tagweave.corpus.sentence import Candidates, Sentence
from tagweave.corpus.text_file import read_lines, written
from tagweave.labels.space import is_wildcard
from tagweave.labels.transition_scheme import split_label

CTB_PD = Path(__file__).with_name("data") / "ctb-pd.tsv"
"""The mapping of CTB and PD: the counts of Sun and Wan (2012), Table 1."""

SHIPPED = {"ctb-pd": CTB_PD}
"""The mappings that come with this package."""

_NEAR_NOTHING = 1e-9  # a share that a tag's most frequent pair always reaches
_WORD = re.compile("[^\\s\0\ufeff\ud800-\udfff]+")
_COUNT = re.compile("[1-9][0-9]{0,17}")  # as many digits as an int64 holds


class MappingError(InputError):
    """An invalid mapping, or one that does not fit the guidelines whose tags are to be bundled."""


@dataclass(frozen=True)
class TagMapping:
    """Pairs of tags that may be bundled.

    Attributes:
        first: the name of one guideline; "" if it is unknown.
        second: the name of the other; "" if it is unknown.
        counts: (tag of first, tag of second) -> how often the pair was seen, 1 if that is unknown.

    Raises:
        MappingError: no pair, a count below 1, or two guidelines of the same name.
    """

    first: str
    second: str
    counts: Mapping[tuple[str, str], int]

    def __post_init__(self) -> None:
        if self.first == self.second != "":
            raise MappingError(f"found a mapping of {self.first!r} to itself, expected two guidelines")
        if not self.counts:
            raise MappingError(
                f"found no pair in the mapping of {self.first!r} and {self.second!r}, expected at least one"
            )
        if rare := [pair for pair, count in self.counts.items() if count < 1]:
            raise MappingError(f"found the count {self.counts[rare[0]]} of the pair {rare[0]}, expected 1 or more")

    @property
    def pairs(self) -> frozenset[tuple[str, str]]:
        """All pairs: the relaxed mapping."""
        return frozenset(self.counts)

    def allowed(self, first_tags: Sequence[str], second_tags: Sequence[str]) -> NDArray[np.bool_]:
        """The mapping function m of Li et al. (2015, eq. 3) over two tag sets, bool[first tags, second tags].

        The pairs of the mapping are allowed, and so is any pair with a tag that the mapping does not name (`unnamed`).
        """
        named = self._named(first_tags, second_tags)
        return named | ~named.any(axis=1, keepdims=True) | ~named.any(axis=0)

    def unnamed(self, first_tags: Sequence[str], second_tags: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The tags of either side that the mapping does not pair with a tag of the other."""
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
        """The pairs that make up the share `mass` (0 < mass <= 1) of the counts of either of their tags.

        For every tag of both sides, the most frequent pairs are taken until they reach the share; ties are broken by
        name. The pairs of both sides are united: if only the first side counted, a rare tag of the second (PD's `Ng`
        with CTB's `NN`) would lose all its pairs, and as an unnamed tag it would be possible with every partner. So
        every tag keeps its most frequent partner.

        Raises:
            MappingError: a share outside these bounds.
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
        """The pairs that were seen at least `minimum` times, and for every tag its most frequent pair.

        Without the latter, a rare tag would no longer be named, and would be possible with every tag of the other side:
        on ZX and People's Daily that made 200 bundles of 14 tags.
        """
        best = {pair for side in (0, 1) for pair in self._heaviest(side, _NEAR_NOTHING)}
        return self._keep(best | {pair for pair, count in self.counts.items() if count >= minimum})

    def _keep(self, pairs: Collection[tuple[str, str]]) -> TagMapping:
        return replace(self, counts={pair: count for pair, count in self.counts.items() if pair in pairs})

    def including(self, pairs: Mapping[tuple[str, str], int]) -> TagMapping:
        """The mapping with further pairs and their counts; pairs that it already has keep theirs."""
        return replace(self, counts={**pairs, **self.counts})

    def swapped(self) -> TagMapping:
        """The same mapping with its sides exchanged."""
        return TagMapping(self.second, self.first, {(b, a): count for (a, b), count in self.counts.items()})


def count_pairs(first: str, second: str, sentences: Iterable[Sentence]) -> TagMapping:
    """The automatic mapping of Li et al. (2015, section 3.1): the pairs of labels that occur at the same positions.

    Only positions with one label in each of the two layers count. A wildcard (`B-*`) is not a label.

    Raises:
        CorpusError: there is no such position.
    """
    tokens = annotated_twice(first, second, sentences).items()
    counts = {(a[0], b[0]): count for (a, b), count in tokens if len(a) == len(b) == 1}
    if not counts:
        found = f"no position with one label of {first} and one of {second}"
        raise CorpusError(found, "sentences that are annotated under both guidelines")
    return TagMapping(first, second, counts)


def annotated_twice(
    first: str, second: str, sentences: Iterable[Sentence]
) -> Counter[tuple[tuple[str, ...], tuple[str, ...]]]:
    """How often each pair of candidates occurs at a token, in the layers of two guidelines; wildcards do not count."""
    pairs: Counter[tuple[Candidates, Candidates]] = Counter()
    for sentence in sentences:
        if first in sentence.layers and second in sentence.layers:
            pairs.update(zip(sentence.layers[first], sentence.layers[second], strict=True))
    return Counter({(a, b): count for (a, b), count in pairs.items() if a and b and not any(map(is_wildcard, a + b))})


def shipped(name: str) -> Path:
    """The path of a mapping of `SHIPPED`.

    Raises:
        FileNotFoundError: there is no mapping of that name.
    """
    if name not in SHIPPED:
        raise FileNotFoundError(f"no mapping {name!r} comes with tagweave; there is {', '.join(SHIPPED)}")
    return SHIPPED[name]


def read_mapping(path: str | Path) -> TagMapping:
    """The mapping in a file; its guidelines are "" if the first line does not name them.

    Raises:
        CorpusError: a line that is neither a pair nor a comment, a repeated pair, or no pair at all.
        OSError: the file cannot be read.
    """
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
        raise CorpusError(
            f"the first line {line!r}", "# FIRST<TAB>SECOND, two guidelines without blanks in their names"
        )
    return names[0], names[1]


def _pair(line: str) -> tuple[tuple[str, str], int]:
    fields = line.split("\t")
    if len(fields) not in (2, 3) or not all(map(_WORD.fullmatch, fields[:2])):
        raise CorpusError(repr(line), "TAG<TAB>TAG or TAG<TAB>TAG<TAB>COUNT, tags without blanks")
    if len(fields) == 3 and not _COUNT.fullmatch(fields[2]):
        raise CorpusError(f"the count {fields[2]!r}", "a whole number from 1, of at most 18 digits")
    return (fields[0], fields[1]), int(fields[2]) if len(fields) == 3 else 1


def write_mapping(mapping: TagMapping, path: str | Path) -> None:
    """Write a mapping to a file, sorted by the tags of the first side, the most frequent partners first.

    Raises:
        CorpusError: a tag or guideline that is empty or has blanks, or a count of more than 18 digits; nothing is
            written.
        OSError: the file cannot be written.
    """
    counts = mapping.counts
    rows = sorted(counts, key=lambda pair: (pair[0], -counts[pair], pair[1]))
    lines = ["\t".join((*pair, str(counts[pair]))) for pair in rows]
    header = [f"# {mapping.first}\t{mapping.second}"] if mapping.first or mapping.second else []
    try:
        for line in header:
            _guidelines(line)
        for line in lines:
            _pair(line)
    except CorpusError as error:
        raise CorpusError(error.found, error.expected, str(path)) from None
    with written(str(path)) as stream:
        stream.writelines(f"{line}\n" for line in header + lines)


def over_labels(mapping: TagMapping, sides: Mapping[str, Sequence[str]]) -> TagMapping:
    """A mapping of tags as one of the labels of characters (`B-NN`) that carry them; pairs of labels stay beside it.

    Nothing is required of the letters: words need not begin at the same places under both guidelines.

    Args:
        mapping: of tags, or of labels.
        sides: the labels of every guideline.
    """
    if not {mapping.first, mapping.second} <= sides.keys():
        return mapping
    first, second = (sides[name] for name in (mapping.first, mapping.second))
    tag = {label: split_label(label)[1] for label in (*first, *second)}
    counts = {(a, b): mapping.counts.get((tag[a], tag[b]), 0) for a in first if tag[a] for b in second if tag[b]}
    carried = {pair: count for pair, count in counts.items() if count}
    return replace(mapping, counts={**mapping.counts, **carried})
