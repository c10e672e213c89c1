"""Files of word vectors, and models that score words by them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tagweave as tw
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError
from tagweave.features.word_vectors import WordVectors
from tagweave.learning.run import Silence

GLOVE = "ann 3 0\n. . 0 4\noslo -3 0\n"


def written(path: Path, text: str) -> str:
    path.write_text(text, "utf-8")
    return str(path)


@pytest.mark.parametrize("first", ["", "3 2\n"])
def test_words_and_numbers(tmp_path: Path, first: str) -> None:
    found = WordVectors.of_file(written(tmp_path / "v.txt", first + GLOVE))
    assert found.words == ("ann", ". .", "oslo")
    scale = np.sqrt((9 + 16 + 9) / 6)
    assert np.allclose(found.table * scale, [[0, 0], [3, 0], [0, 4], [-3, 0]])
    pointers, rows = found.pieces(["Ann", "ann", "x", "oslo"])
    assert pointers.tolist() == [0, 1, 2, 3, 4] and rows.tolist() == [1, 1, 0, 3]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a 1 2\nb 1\n", ":2: found 'b 1', expected a word and 2 numbers"),
        ("a 1 x\n", ":1: found 'a 1 x', expected a word and 2 numbers"),
        ("a nan\n", ":1: found 'a nan'"),
        ("a\n", ":1: found 'a', expected a word and its numbers"),
        ("5 2\n", "found no vectors"),
    ],
)
def test_no_vectors(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(CorpusError, match=problem):
        WordVectors.of_file(written(tmp_path / "v.txt", text))


def binary(*vectors: tuple[bytes, list[float]], count: int | None = None, after: bytes = b"\n") -> bytes:
    sizes = f"{len(vectors) if count is None else count} 2\n".encode()
    return sizes + b"".join(word + b" " + np.array(each, "<f4").tobytes() + after for word, each in vectors)


@pytest.mark.parametrize("after", [b"", b"\n"])
def test_binary_files(tmp_path: Path, after: bytes) -> None:
    (tmp_path / "v.bin").write_bytes(
        binary((b"ann", [3, 0]), ("für".encode(), [0, 4]), (b"oslo", [-3, 0]), after=after)
    )
    found = WordVectors.of_file(str(tmp_path / "v.bin"))
    assert found.words == ("ann", "für", "oslo")
    assert np.array_equal(found.table, WordVectors.of_file(written(tmp_path / "v.txt", GLOVE)).table)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", r"v.bin: found \[\], expected how many words there are, and numbers of each"),
        (b"3 0\n", "expected how many words there are"),
        (b"9" * 5000 + b" 2\n", "expected how many words there are"),
        (binary((b"a", [1, 2]), count=2), "found no word 2, expected 2 words, 2 numbers of each"),
        (binary((b"a", [1, 2]), (b"b", [1, 2]))[:-3], "found no word 2"),
        (b"1 999999999\na 1", "found no word 1"),
        (binary((b"a", [1, float("nan")])), "at word 1: b'a', expected UTF-8, then finite numbers"),
        (binary((b"a\xff", [1, 2])), "at word 1: b'a.xff', expected UTF-8"),
        (binary(count=0), "found no vectors"),
        (b"\xba\x16\x4f\x2f" + bytes(99), "found a model of fastText, expected its vectors as text, the file .vec"),
    ],
)
def test_no_binary_vectors(tmp_path: Path, data: bytes, problem: str) -> None:
    (tmp_path / "v.bin").write_bytes(data)
    with pytest.raises(CorpusError, match=problem):
        WordVectors.of_file(str(tmp_path / "v.bin"))


@pytest.mark.parametrize("encoder", ["static:", "features+static:"])
def test_a_model_knows_words_that_its_corpus_does_not_have(tmp_path: Path, encoder: str) -> None:
    text = "\n".join(f"{kind}{i} {i % 3 + 1} {5 if kind == 'n' else -5}" for i in range(9) for kind in "nv")
    encoder += written(tmp_path / "v.txt", text)
    corpus = Corpus(tuple(Sentence((f"n{i}", f"v{i}"), {"tag": (("N",), ("V",))}) for i in range(5)) * 6, "tag")
    model = tw.train(corpus, encoder=encoder, settings={"rate": 3e-3}, iterations=15, callback=Silence())
    model.save(str(tmp_path / "m.model"))
    (tmp_path / "v.txt").unlink()
    loaded = tw.load_model(str(tmp_path / "m.model"))
    assert loaded.tag([["v7", "n8"], ["N6", "v6"]]) == [["V", "N"], ["N", "V"]]
    assert np.array_equal(loaded.trained.weights, model.trained.weights)
