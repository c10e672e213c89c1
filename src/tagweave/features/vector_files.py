"""Files of word vectors: of GloVe, word2vec, fastText, NumPy and spaCy.

| name | what it is |
| --- | --- |
| `FILE.vec`, `FILE.txt`, any other | text: a word and its numbers on each line, perhaps their sizes on the first |
| `FILE.bin` | binary, of word2vec or fastText; what fastText knows of n-grams is read by its own package |
| `FILE.npy` | a table of NumPy; the words, one on each line, are in `FILE.txt` |
| `spacy:NAME` | the vectors of an installed pipeline of spaCy |
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.files import read_lines
from tagweave.errors import CorpusError, PlanError
from tagweave.features.word_vectors import WordVectors

SPACY = "spacy:"
_FASTTEXT = (793712314).to_bytes(4, "little")
"""Begins a model of fastText."""
_PICKLES = (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")
_LONGEST_WORD = 10_000
Vector = NDArray[np.float32]


def read_vectors(name: str) -> WordVectors:
    """Read word vectors; of a word that occurs twice the first vector counts.

    Raises:
        CorpusError: numbers that are not as many as those before, or a file of another kind.
        PlanError: a package is missing.
        OSError: no such file.
    """
    if name.startswith(SPACY):
        return _of_spacy(name.removeprefix(SPACY))
    with Path(name).open("rb") as file:
        magic = file.read(4)
    if magic[:2] in _PICKLES:
        expected = "vectors as text or binary: save_word2vec_format of KeyedVectors writes them"
        raise CorpusError("a pickle, which can run code", expected, name)
    if magic == _FASTTEXT:
        return _of_fasttext(name)
    if name.endswith(".npy"):
        return _of_table(name)
    vectors: dict[str, Vector] = {}
    for word, vector in (_of_binary if name.endswith(".bin") else _of_text)(name):
        vectors.setdefault(word, vector)
    if not vectors:
        raise CorpusError("no vectors", "a word and its numbers on each line", name)
    return WordVectors.scaled(vectors, np.stack([*vectors.values()]))


def _of_text(path: str) -> Iterator[tuple[str, Vector]]:
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


def _of_binary(path: str) -> Iterator[tuple[str, Vector]]:
    """Yield words and numbers of a file of word2vec: a line of sizes; for each word it, a blank, and float32[H]."""
    with Path(path).open("rb") as stream:
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


def _of_table(path: str) -> WordVectors:
    """Read a table of NumPy, and its words from the file `.txt` beside it."""
    try:
        table = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        raise CorpusError(f"no table: {error}", "numbers [words, H], as numpy.save writes them", path) from None
    if table.ndim != 2 or table.dtype.kind != "f" or not table.size:
        raise CorpusError(f"{table.dtype}{list(table.shape)}", "numbers [words, H]", path)
    beside = str(Path(path).with_suffix(".txt"))
    if not Path(beside).is_file():
        raise CorpusError(f"no file {beside}", "the words of the table, one on each line", path)
    words = list(read_lines(beside))
    if len(set(words)) < len(words) or len(words) != len(table):
        raise CorpusError(f"{len(set(words)):,} different words", f"{len(table):,}, one for each row of {path}", beside)
    if not np.isfinite(table).all():
        raise CorpusError("numbers that are not finite", "finite numbers", path)
    return WordVectors.scaled(words, table)


def _of_fasttext(path: str) -> WordVectors:
    """Read a model of fastText: the vectors of its words, and those of n-grams unless it has none."""
    try:
        import fasttext
    except ModuleNotFoundError:
        expected = "the extra fasttext to read its model, or its vectors as text, the file .vec"
        raise PlanError(f"{path}: found no fasttext, expected {expected}") from None
    try:
        model: Any = fasttext.load_model(path)
        words = model.get_words(on_unicode_error="replace")
        of_words = [model.get_word_vector(word) for word in words]
    except (ValueError, RuntimeError, MemoryError) as error:
        raise CorpusError(f"a damaged model of fastText: {error}", "one as fastText writes it", path) from None
    options = model.f.getArgs()
    buckets = model.get_input_matrix()[len(words) :]
    lengths = (options.minn, options.maxn) if options.maxn and len(buckets) else (0, 0)
    return _distinct(words, np.concatenate([np.stack(of_words), buckets if lengths[1] else buckets[:0]]), lengths, path)


def _of_spacy(name: str) -> WordVectors:
    """Read the vectors of a pipeline of spaCy from its package, without the pipeline."""
    try:
        from spacy.util import get_package_path, is_package
        from spacy.vocab import Vocab
    except ModuleNotFoundError:
        raise PlanError(f"found no spacy, expected it for the vectors {SPACY}{name}: pip install spacy") from None
    if not is_package(name):
        raise PlanError(f"found no package {name}, expected a pipeline of spaCy: python -m spacy download {name}")
    folders = sorted(get_package_path(name).glob("*/vocab"))
    vocabulary = Vocab().from_disk(folders[0]) if folders else Vocab()
    vectors = vocabulary.vectors
    if not vectors.size or not vectors.shape[1]:
        raise PlanError(f"found no vectors in {name}, expected a pipeline that has them, such as en_core_web_md")
    rows = {vocabulary.strings[key]: row for key, row in vectors.key2row.items() if row >= 0}
    return WordVectors.scaled(rows, np.asarray(vectors.data)[[*rows.values()]])


def _distinct(words: Sequence[str], table: NDArray[Any], lengths: tuple[int, int], path: str) -> WordVectors:
    if len(set(words)) < len(words) or not np.isfinite(table).all():
        raise CorpusError("words that occur twice, or numbers that are not finite", "a vector for each word", path)
    return WordVectors.scaled(words, table, lengths)
