"""Lexicons and gazetteers as columns of features, and what a model stores of them.

A value of a gazetteer's column is the place (B, I, E or S) of a token in the longest phrase that covers it, with the
sorted types of the phrase: `B-Chemical`, `S-Chemical|Disease`, or `S-*` if the type is unknown. Of equally long phrases
the first one counts. The columns of a lexicon say where its words occur in a sentence of characters (liu-2014, 5.1.3,
after Sun and Xu 2011): the alternative to partial annotation made from the same words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.gazetteer import Gazetteer, parse
from tagweave.features.columns import FormColumns
from tagweave.features.rules import BYTES, ArrayRule, Arrays, read_texts, refuse, text_array
from tagweave.features.subwords import ARRAYS as SUBWORDS
from tagweave.features.subwords import Subwords
from tagweave.features.word_vectors import ARRAYS as VECTORS
from tagweave.features.word_vectors import WordVectors

if TYPE_CHECKING:
    from tagweave.corpus.sentence import Sentence
    from tagweave.kernels.trie import PhraseTrie, Trie

GAZETTEER_COLUMNS = ("gazetteer", "gazetteer_folded")
"""The phrases as they are written; and with upper and lower case alike, and all digits."""

LOOKED_UP = ("lexicon.words", "gazetteer.entries", "clusters.words")
"""The arrays of a model: words, lines of a gazetteer, and bit strings with the words of their clusters after tabs."""
_CLUSTER = re.compile("[01]+(\t[^\t]+)+")
_PLACES = "BIES"
_BLOCK = 4096  # sentences matched at a time
LEXICON_COLUMNS = ("lexicon_begins", "lexicon_inside", "lexicon_ends")
"""The length of the longest word that begins at a character, is around it on both sides, or ends at it."""
_LONGEST = 5  # longer words count as five characters long
_BREAK = ord("\n")


class GazetteerColumns:
    """A gazetteer, and the values of its columns in sentences of words."""

    def __init__(self, gazetteer: Gazetteer = Gazetteer()) -> None:  # noqa: B008 - immutable
        self.gazetteer = gazetteer

    def numbers(self, sentences: Sequence[Sentence], column: str) -> NDArray[np.int32]:
        """Return int32[N]: for each token the entry of the table `codes` of a column."""
        blocks = range(0, len(sentences), _BLOCK)
        numbers = [self._finders[column].numbers(sentences[low : low + _BLOCK]) for low in blocks]
        return np.concatenate([np.zeros(0, np.int32), *numbers])

    def codes(self, column: str) -> NDArray[np.uint64]:
        """Return the code of each value of a column; 0, absent, for the first."""
        return self._finders[column].codes

    def texts(self, column: str) -> list[str]:
        """Return each value of a column; "" for the first."""
        return self._finders[column].texts

    @cached_property
    def _finders(self) -> dict[str, _Finder]:
        return {column: _Finder(self.gazetteer, column == "gazetteer_folded") for column in GAZETTEER_COLUMNS}


class _Finder:
    """One column: places and types of phrases."""

    def __init__(self, gazetteer: Gazetteer, folded: bool) -> None:
        self._gazetteer, self._folded = gazetteer, folded

    @cached_property
    def _trie(self) -> PhraseTrie:
        from tagweave.kernels.trie import PhraseTrie

        return PhraseTrie(self._gazetteer.phrases, folded=self._folded)

    @cached_property
    def _types(self) -> tuple[NDArray[np.int32], list[str]]:
        """Return the number of the types of each entry, and the types as text."""
        types = self._gazetteer.types_of(self._trie.entry.tolist(), self._trie.size)
        numbers: dict[str, int] = {}
        texts = ("|".join(sorted(names)) if names else "*" for names in types)
        of_entry = np.fromiter((numbers.setdefault(text, len(numbers)) for text in texts), np.int32, len(types))
        return of_entry, list(numbers)

    @cached_property
    def texts(self) -> list[str]:
        return ["", *(f"{place}-{types}" for types in self._types[1] for place in _PLACES)]

    @cached_property
    def codes(self) -> NDArray[np.uint64]:
        return FormColumns(self.texts).form()

    def numbers(self, sentences: Sequence[Sentence]) -> NDArray[np.int32]:
        from tagweave.kernels.trie import NONE, cover, pieces_of_tokens

        total = sum(map(len, sentences))
        first, last, entry = np.zeros(total, np.int64), np.zeros(total, np.int64), np.full(total, NONE, np.int32)
        pieces = pieces_of_tokens([sentence.forms for sentence in sentences], self._folded)
        spans = pieces.of_tokens(self._trie.occurrences(pieces))
        cover(*spans, first, last, entry)
        token = np.arange(total)
        begins, ends = token == first, token == last
        place = np.where(begins, np.where(ends, 3, 0), np.where(ends, 2, 1))
        is_covered = entry >= 0
        numbers = np.zeros(total, np.int32)
        numbers[is_covered] = 1 + len(_PLACES) * self._types[0][entry[is_covered]] + place[is_covered]
        return numbers


class LexiconColumns:
    """The words of a lexicon, sorted, without words of one character or with a line break, and their occurrences.

    All occurrences count, overlapping ones too. As in matching, no word begins or ends inside a run of digits or of
    letters that have case.
    """

    def __init__(self, words: Iterable[str] = ()) -> None:
        self.words = tuple(sorted({word for word in words if len(word) > 1 and "\n" not in word}))

    def lengths(self, points: NDArray[np.uint32], sentence_ptr: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return int32[3, N]: per column of `LEXICON_COLUMNS` and character, the length of the longest word, else 0."""
        from tagweave.kernels.trie import longest

        inner = sentence_ptr[1:-1]
        text = np.insert(points, inner, _BREAK)  # so that no word or run of letters crosses sentences
        spans = self._trie.occurrences(text)
        lengths = np.zeros((len(LEXICON_COLUMNS), len(text)), np.int32)
        longest(spans.start, spans.stop, _LONGEST, lengths)
        return np.delete(lengths, inner + np.arange(len(inner)), axis=1)

    def codes(self) -> NDArray[np.uint64]:
        """Return the code of every length; 0, absent, for length 0."""
        return np.arange(_LONGEST + 1, dtype=np.uint64)

    @cached_property
    def _trie(self) -> Trie:
        from tagweave.kernels.trie import Trie

        return Trie(self.words, range(len(self.words)))


@dataclass(frozen=True, kw_only=True)
class Lookups:
    """What the templates of a model look up; a model stores it as lists of texts."""

    words: tuple[str, ...] = ()  # the words of lexicons, for templates over `LEXICON_COLUMNS`
    # phrases and their types, for templates over `GAZETTEER_COLUMNS`
    gazetteer: Gazetteer = field(default_factory=Gazetteer)
    # words and the bit strings of their clusters, for templates over `CLUSTER_COLUMNS`
    clusters: Mapping[str, str] = field(default_factory=dict)
    subwords: Subwords | None = None  # the pieces of words that a network reads beside features; `None`: no network
    # whose numbers are features with values, and whose clusters templates look up if no others are there
    vectors: WordVectors | None = None

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Lookups:
        words, entries, lines = (read_texts(arrays[name], name) if name in arrays else [] for name in LOOKED_UP)
        clusters: dict[str, str] = {}
        for line in lines:
            if not _CLUSTER.fullmatch(line):
                refuse(line, LOOKED_UP[2], "a bit string and words between tabs")
            bits, *members = line.split("\t")
            clusters.update(dict.fromkeys(members, bits))
        return cls(
            words=tuple(words),
            gazetteer=parse(entries),
            clusters=clusters,
            subwords=Subwords.of_arrays(arrays),
            vectors=WordVectors.of_arrays(arrays),
        )

    @property
    def has_clusters(self) -> bool:
        return bool(self.clusters) or (self.vectors is not None and len(self.vectors.paths) > 0)

    def bits(self, form: str) -> str:
        """Return the bit string of the cluster of a form, "" without."""
        return self.clusters.get(form, "") if self.clusters or self.vectors is None else self.vectors.bits(form)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of a model, without those that would be empty."""
        clusters: dict[str, list[str]] = {}
        for word, bits in self.clusters.items():
            clusters.setdefault(bits, [bits]).append(word)
        lines = ["\t".join(clusters[bits]) for bits in sorted(clusters)]
        texts = LexiconColumns(self.words).words, sorted(self.gazetteer.lines()), lines
        arrays = {name: text_array(content) for name, content in zip(LOOKED_UP, texts, strict=True) if content}
        for rows in (self.subwords, self.vectors):
            arrays |= rows.arrays() if rows else {}
        return arrays


def rules_of(arrays: Arrays) -> dict[str, ArrayRule]:
    """Return the rules for those of the arrays of a model that are of lookups."""
    rules = dict.fromkeys((*LOOKED_UP, *SUBWORDS), ArrayRule(BYTES, (None,))) | VECTORS
    return {name: rule for name, rule in rules.items() if name in arrays}


NOTHING = Lookups()
"""For templates that look nothing up."""
