"""The columns of a lexicon: where its words occur in a sentence of characters (liu-2014, 5.1.3, after Sun and Xu 2011).

The alternative to partial annotation: instead of learning from raw text in which words were found, a model sees the
words as features, in training and in use, so it stores them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tagweave.features.rules import read_texts

if TYPE_CHECKING:
    from tagweave.kernels.trie import Trie

LEXICON_COLUMNS = ("lexicon_begins", "lexicon_inside", "lexicon_ends")
"""The length of the longest word that begins at a character, is around it on both sides, or ends at it."""

_ARRAY = "lexicon.words"
_LONGEST = 5  # longer words count as five characters long
_BREAK = ord("\n")


class LexiconColumns:
    """The words of a lexicon and their occurrences.

    All occurrences count, overlapping ones too. As in matching, no word begins or ends inside a run of digits or of
    letters that have case.

    Args:
        words: in any order, with or without repeats; words of one character or with a line break are ignored.

    Attributes:
        words: the words in use, sorted.
    """

    def __init__(self, words: Iterable[str] = ()) -> None:
        self.words = tuple(sorted({word for word in words if len(word) > 1 and "\n" not in word}))

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> LexiconColumns:
        """The words of a stored model, from what `arrays` returned.

        Raises:
            ValueError, RecursionError: the array does not hold words.
        """
        return cls(read_texts(arrays[_ARRAY], _ARRAY) if _ARRAY in arrays else ())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays stored with a model; empty without words."""
        return {_ARRAY: np.frombuffer(json.dumps(self.words).encode(), np.uint8)} if self.words else {}

    def lengths(self, points: NDArray[np.uint32], sentence_ptr: NDArray[np.int64]) -> NDArray[np.int32]:
        """int32[3, N]: per column of `LEXICON_COLUMNS` and character, the length of the longest word, 0 without one.

        Args:
            points: uint32[N], the characters.
            sentence_ptr: int64[S + 1], the first character of every sentence.
        """
        from tagweave.kernels.matching import longest

        inner = sentence_ptr[1:-1]
        text = np.insert(points, inner, _BREAK)  # so that no word or run of letters crosses sentences
        spans = self._trie.occurrences(text)
        lengths = np.zeros((len(LEXICON_COLUMNS), len(text)), np.int32)
        longest(spans.start, spans.stop, _LONGEST, lengths)
        return np.delete(lengths, inner + np.arange(len(inner)), axis=1)

    def codes(self) -> NDArray[np.uint64]:
        """The code of every length; 0, absent, for length 0."""
        return np.arange(_LONGEST + 1, dtype=np.uint64)

    @cached_property
    def _trie(self) -> Trie:
        from tagweave.kernels.trie import Trie

        return Trie(self.words, range(len(self.words)))
