"""Word vectors that were trained before, in place of a network: a word has the same vector in every sentence.

Files are of fastText, GloVe and word2vec, as text: a word and its numbers on each line, and perhaps their sizes on
the first; or, with the suffix `.bin`, the binary ones of word2vec. A model stores all of them, so that it knows words
that its corpora do not have.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.files import read_lines
from tagweave.errors import CorpusError
from tagweave.features.rules import BYTES, FLOATS, ArrayRule, read_texts, refuse, text_array
from tagweave.features.subwords import Subwords

ARRAYS = {"vectors.words": ArrayRule(BYTES, (None,)), "vectors.table": ArrayRule(FLOATS, (None, None), -1e6, 1e6)}
_FASTTEXT = (793712314).to_bytes(4, "little")
"""Begins a model of fastText."""
_LONGEST_WORD = 10_000
_CONFIG = json.dumps({"model_type": "static"})


def encoder_in(arrays: Mapping[str, NDArray[Any]]) -> Subwords | None:
    """Return the pieces that the encoder of a model reads; `None` without one."""
    return WordVectors.of_arrays(arrays) or Subwords.of_arrays(arrays)


@dataclass(frozen=True, eq=False)
class WordVectors(Subwords):
    """A table with a vector for each word: a word is one piece, the number of its row."""

    words: tuple[str, ...] = field(kw_only=True)
    table: NDArray[Any] = field(kw_only=True)  # [1 + words, H]; the first row is that of unknown words, 0

    @classmethod
    def of_file(cls, path: str) -> WordVectors:
        """Read a file; numbers are scaled to a mean square of 1, as in networks.

        Raises:
            CorpusError: numbers that are not as many as those before, or a file of another kind.
            OSError: no such file.
        """
        vectors: dict[str, NDArray[np.float32]] = {}
        for word, vector in (_of_binary if path.endswith(".bin") else _of_text)(path):
            vectors.setdefault(word, vector)
        if not vectors:
            raise CorpusError("no vectors", "a word and its numbers on each line", path)
        rows = [*vectors.values()]
        table = np.stack([np.zeros_like(rows[0]), *rows])
        scale = np.sqrt(np.square(table[1:], dtype=np.float64).mean()) or 1
        return cls(_CONFIG, "", path, words=tuple(vectors), table=(table / scale).astype(np.float32))

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> WordVectors | None:
        if not all(name in arrays for name in ARRAYS):
            return None
        words, table = (arrays[name] for name in ARRAYS)
        vocabulary = tuple(read_texts(words, "vectors.words"))
        if len(table) != 1 + len(vocabulary) or not table.shape[1]:
            refuse(table.shape, "vectors.table", f"a row for each of {len(vocabulary)} words, and one more")
        return cls(_CONFIG, "", words=vocabulary, table=table)

    def arrays(self) -> dict[str, NDArray[Any]]:
        return dict(zip(ARRAYS, (text_array(self.words), self.table), strict=True))

    @cached_property
    def frame(self) -> tuple[list[int], list[int]]:
        return [], []

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {word: row for row, word in enumerate(self.words, 1)}

    def pieces(self, forms: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the row of each form, or of it in lower case, as one piece."""
        rows = self._rows
        numbers = (rows.get(form) or rows.get(form.lower(), 0) for form in forms)
        return np.arange(len(forms) + 1), np.fromiter(numbers, np.int32)


def _of_text(path: str) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Yield the word and the numbers of each line; a first line of two numbers has sizes."""
    size = 0
    for number, line in enumerate(read_lines(path), 1):
        fields = line.rstrip().split(" ")
        if number == 1:
            if len(fields) == 2 and all(field.isdigit() for field in fields):
                size = int(fields[1])
                continue
            size = len(fields) - 1
        try:
            vector = np.array(fields[-size:], np.float32)
        except ValueError:
            vector = np.zeros(0, np.float32)
        if not 0 < size == len(vector) < len(fields) or not np.isfinite(vector).all():
            expected = f"a word and {size} numbers, with blanks between them" if size else "a word and its numbers"
            raise CorpusError(repr(line[:40]), expected, path, number)
        yield " ".join(fields[:-size]), vector


def _of_binary(path: str) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Yield words and numbers of a binary file: a line of sizes; for each word it, a blank, and float32[H]."""
    with Path(path).open("rb") as stream:
        if stream.read(4) == _FASTTEXT:
            raise CorpusError("a model of fastText", "its vectors as text, the file .vec", path)
        stream.seek(0)
        sizes = stream.readline(_LONGEST_WORD).split()
        if len(sizes) != 2 or not all(size.isdigit() and len(size) < 10 for size in sizes) or not int(sizes[1]):
            raise CorpusError(repr(sizes)[:40], "how many words there are, and numbers of each", path)
        count, size = map(int, sizes)
        with mmap(stream.fileno(), 0, access=ACCESS_READ) as data:
            at = stream.tell()
            for number in range(1, count + 1):
                blank = data.find(b" ", at, at + _LONGEST_WORD)
                end = blank + 1 + 4 * size
                if blank < 0 or end > len(data):
                    raise CorpusError(f"no word {number:,}", f"{count:,} words, {size:,} numbers of each", path)
                vector = np.frombuffer(data[blank + 1 : end], "<f4")
                try:
                    word = data[at:blank].lstrip(b"\n").decode("utf-8")
                except UnicodeDecodeError:
                    word = ""
                if not word or not np.isfinite(vector).all():
                    raise CorpusError(
                        f"at word {number:,}: {data[at:blank][:40]!r}", "UTF-8, then finite numbers", path
                    )
                yield word, vector
                at = end
