"""Word vectors that were trained before: a word has the same vector in every sentence.

The numbers of a token's vector are features with values beside its templates, so every learner and method takes them.
A model stores the vectors, so it knows words that its corpora do not have. Files: `vector_files`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.features.rules import BYTES, ArrayRule, read_texts, refuse, text_array
from tagweave.features.vector_clusters import paths_of

ARRAYS = {
    "vectors.words": ArrayRule(BYTES, (None,)),
    "vectors.table": ArrayRule(("float16",), (None, None), -6e4, 6e4),
    "vectors.n_grams": ArrayRule(("int64",), (3,), 0, 1 << 40),  # lengths, at least and at most; rows
    "vectors.paths": ArrayRule(("uint16",), (None,)),
}
_LENGTH = 4.0
"""Of a vector, the root of the mean square: the longer, the further the same step of a weight moves scores. On dev of
seven English corpora with GloVe, spans and tags of 200 to 14,000 sentences, 3 to 6 were best. 1 lost 0.4 points of F on
all of CoNLL-2003, and 4.5 on its first 1,000 entities."""
_LONGEST_GRAM = 100  # characters
_OFFSET_BASIS, _PRIME, _MODULUS = 2166136261, 16777619, 1 << 32  # of FNV-1a


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Vectors of words and, as fastText has them, of the n-grams of words.

    Attributes:
        words: the words of the first rows of the table.
        table: float16[words + buckets, H]. The other rows are of n-grams, by their hash.
        lengths: how many characters an n-gram has, at least and at most; 0 and 0 without n-grams.
        paths: uint16[words], for each word a 1 and the bits of its cluster, 0 without a cluster; or empty.
    """

    words: tuple[str, ...]
    table: NDArray[np.float16]
    lengths: tuple[int, int] = (0, 0)
    paths: NDArray[np.uint16] = field(default_factory=lambda: np.zeros(0, np.uint16))

    @classmethod
    def scaled(cls, words: Iterable[str], table: NDArray[Any], lengths: tuple[int, int] = (0, 0)) -> WordVectors:
        """Return vectors of the usual length in float16: what training sees is what the model stores."""
        distinct = tuple(words)
        squares = np.einsum("rh,rh->r", table[: len(distinct)], table[: len(distinct)], dtype=np.float64)
        scale = np.sqrt(squares.mean()) / _LENGTH or 1
        return cls(distinct, (table / np.float32(scale)).astype(np.float16), lengths)

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> WordVectors | None:
        """Return the vectors in the arrays of a model, `None` without any."""
        if arrays.keys().isdisjoint(ARRAYS):
            return None
        if missing := ARRAYS.keys() - arrays.keys():
            refuse(sorted(arrays), "the names of arrays", f"one {min(missing)}")
        texts, table, n_grams, paths = (arrays[name] for name in ARRAYS)
        words = tuple(read_texts(texts, "vectors.words"))
        shortest, longest, buckets = n_grams.tolist()
        if not (table.shape[1] or len(paths)) or len(table) != len(words) + buckets:
            refuse(
                table.shape, "vectors.table", f"a row for each of {len(words)} words and {buckets} hashes of n-grams"
            )
        if (buckets > 0) != (0 < shortest <= longest <= _LONGEST_GRAM):
            refuse(n_grams.tolist(), "vectors.n_grams", "two lengths and how many hashes, or three times 0")
        if len(paths) not in (0, len(words)):
            refuse(len(paths), "vectors.paths", f"one for each of {len(words)} words, or none")
        return cls(words, table, (shortest, longest), paths)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of a model."""
        n_grams = np.array([*self.lengths, len(self.table) - len(self.words)], np.int64)
        return dict(zip(ARRAYS, (text_array(self.words), self.table, n_grams, self.paths), strict=True))

    @property
    def width(self) -> int:
        return int(self.table.shape[1])

    def clustered(self) -> WordVectors:
        """Return the vectors with the clusters of their words."""
        return replace(self, paths=paths_of(self.table[: len(self.words)]))

    def without_numbers(self) -> WordVectors:
        """Return the words and their clusters alone, with vectors of no number."""
        return replace(self, table=self.table[: len(self.words), :0], lengths=(0, 0))

    def bits(self, form: str) -> str:
        """Return the bit string of the cluster of a form, else of its lower case; "" without."""
        row = self._row(form)
        return f"{self.paths[row]:b}"[1:] if row >= 0 else ""

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {word: row for row, word in enumerate(self.words)}

    def _row(self, form: str) -> int:
        return self._rows.get(form, self._rows.get(form.lower(), -1))

    def of_forms(self, forms: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the numbers of the forms that have a vector, rising, and their vectors float64[n, H].

        A form that is no word has the vector of its lower case, else the mean of its n-grams, else none.
        """
        at = np.fromiter(map(self._row, forms), np.int64, len(forms))
        vectors = np.where((at >= 0)[:, None], self.table[at], np.float16(0)).astype(np.float64)
        has_vector = at >= 0
        if self.lengths[1]:
            for number in np.flatnonzero(at < 0).tolist():
                if grams := list(self._n_grams(forms[number])):
                    vectors[number] = self.table[grams].mean(axis=0, dtype=np.float64)
                    has_vector[number] = True
        numbers = np.flatnonzero(has_vector)
        return numbers, vectors[numbers]

    def coverage(self, forms: Iterable[str]) -> str:
        """Return a line about the vectors, and how many of the tokens have one."""
        counts = Counter(forms)
        distinct = list(counts)
        covered = sum(counts[distinct[number]] for number in self.of_forms(distinct)[0].tolist())
        share = covered / max(1, counts.total())
        numbers = f" of {self.width} numbers" if self.width else ""
        clusters = ", and clusters of these" if len(self.paths) else ""
        return f"{len(self.words):,} word vectors{numbers}{clusters}, for {share:.1%} of the tokens of TRAIN"

    def _n_grams(self, word: str) -> Iterator[int]:
        """Yield the rows of the n-grams of `<word>`, as fastText does (Bojanowski et al. 2017, section 3.2)."""
        shortest, longest = self.lengths
        buckets = len(self.table) - len(self.words)
        framed = f"<{word}>"
        for start in range(len(framed)):
            for stop in range(start + shortest, min(start + longest, len(framed)) + 1):
                if stop - start > 1 or 0 < start < len(framed) - 1:
                    yield len(self.words) + _hash(framed[start:stop]) % buckets

    def only(self, forms: Iterable[str]) -> WordVectors:
        """Return the vectors of these forms alone, for a model of a closed domain."""
        distinct = tuple(dict.fromkeys(forms))
        numbers, vectors = self.of_forms(distinct)
        words = tuple(distinct[number] for number in numbers)
        paths = self.paths[:0]
        if len(self.paths):  # a word whose vector is of n-grams has no cluster
            paths = np.append(self.paths, np.uint16(0))[[self._row(word) for word in words]]
        return WordVectors(words, vectors.astype(np.float16), paths=paths)


def _hash(text: str) -> int:
    """Return the 32 bits of FNV-1a over the bytes of UTF-8, which fastText takes as signed ones."""
    value = _OFFSET_BASIS
    for byte in text.encode():
        signed = byte if byte < 128 else byte | 0xFFFFFF00
        value = (value ^ signed) * _PRIME % _MODULUS
    return value
