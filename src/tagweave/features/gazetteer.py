"""The columns of a gazetteer: where its phrases occur among the words of a sentence, and what types they have.

A value is the place of a token in the longest phrase that covers it, B, I, E or S as in BIOES, and the types of the
phrase, sorted: `B-Chemical`, `S-Chemical|Disease`, or `S-*` if the type is unknown. Of equally long phrases the first
one counts. A token in no phrase has no value.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.gazetteer import Gazetteer, parse
from tagweave.features.columns import FormColumns
from tagweave.features.rules import read_texts

if TYPE_CHECKING:
    from tagweave.corpus.sentence import Sentence
    from tagweave.kernels.phrases import PhraseTrie

GAZETTEER_COLUMNS = ("gazetteer", "gazetteer_folded")
"""The phrases as they are written; and with upper and lower case alike, and all digits."""

ARRAY = "gazetteer.entries"
"""The name of the array of a model."""
_PLACES = "BIES"
_BLOCK = 4096  # sentences matched at a time


class GazetteerColumns:
    """A gazetteer, and the values of its columns in sentences of words.

    Args:
        gazetteer: phrases and their types.
    """

    def __init__(self, gazetteer: Gazetteer = Gazetteer()) -> None:  # noqa: B008 - immutable
        self.gazetteer = gazetteer

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> GazetteerColumns:
        """The gazetteer of a stored model, from what `arrays` returned.

        Raises:
            ValueError, RecursionError: the array does not hold entries.
        """
        return cls(parse(read_texts(arrays[ARRAY], ARRAY)) if ARRAY in arrays else Gazetteer())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays stored with a model; empty without phrases."""
        lines = sorted(self.gazetteer.lines())
        return {ARRAY: np.frombuffer(json.dumps(lines).encode(), np.uint8)} if lines else {}

    def numbers(self, sentences: Sequence[Sentence], column: str) -> NDArray[np.int32]:
        """int32[N]: for each token the entry of the table `codes`.

        Args:
            sentences: N tokens in all.
            column: one of `GAZETTEER_COLUMNS`.
        """
        blocks = range(0, len(sentences), _BLOCK)
        numbers = [self._finders[column].numbers(sentences[low : low + _BLOCK]) for low in blocks]
        return np.concatenate([np.zeros(0, np.int32), *numbers])

    def codes(self, column: str) -> NDArray[np.uint64]:
        """The code of each value of a column; 0, absent, for the first."""
        return self._finders[column].codes

    @cached_property
    def _finders(self) -> dict[str, _Finder]:
        return {column: _Finder(self.gazetteer, column == "gazetteer_folded") for column in GAZETTEER_COLUMNS}


class _Finder:
    """One column: places and types of phrases."""

    def __init__(self, gazetteer: Gazetteer, folded: bool) -> None:
        self._gazetteer, self._folded = gazetteer, folded

    @cached_property
    def _trie(self) -> PhraseTrie:
        from tagweave.kernels.phrases import PhraseTrie

        return PhraseTrie(self._gazetteer.phrases, folded=self._folded)

    @cached_property
    def _types(self) -> tuple[NDArray[np.int32], list[str]]:
        """The number of the types of each entry, and the types as text."""
        types = self._gazetteer.types_of(self._trie.entry.tolist(), self._trie.size)
        numbers: dict[str, int] = {}
        texts = ("|".join(sorted(names)) if names else "*" for names in types)
        of_entry = np.fromiter((numbers.setdefault(text, len(numbers)) for text in texts), np.int32, len(types))
        return of_entry, list(numbers)

    @cached_property
    def codes(self) -> NDArray[np.uint64]:
        """As `GazetteerColumns.codes`."""
        return FormColumns(["", *(f"{place}-{types}" for types in self._types[1] for place in _PLACES)]).form()

    def numbers(self, sentences: Sequence[Sentence]) -> NDArray[np.int32]:
        """As `GazetteerColumns.numbers`."""
        from tagweave.kernels.matching import NONE, cover
        from tagweave.kernels.phrases import pieces_of_tokens

        total = sum(map(len, sentences))
        first, last, entry = np.zeros(total, np.int64), np.zeros(total, np.int64), np.full(total, NONE, np.int32)
        pieces = pieces_of_tokens([sentence.forms for sentence in sentences], self._folded)
        spans = pieces.of_tokens(self._trie.occurrences(pieces))
        cover(*spans, first, last, entry)
        token = np.arange(total)
        begins, ends = token == first, token == last
        place = np.where(begins, np.where(ends, 3, 0), np.where(ends, 2, 1))
        known = entry >= 0
        numbers = np.zeros(total, np.int32)
        numbers[known] = 1 + len(_PLACES) * self._types[0][entry[known]] + place[known]
        return numbers
