"""Files of word vectors, and models that score words by them."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import tagweave as tw
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError, PlanError
from tagweave.features.vector_files import read_vectors
from tagweave.features.word_vectors import WordVectors
from tagweave.learning.run import Silence

GLOVE = "ann 3 0\n. . 0 4\noslo -3 0\n"


def written(path: Path, text: str) -> str:
    path.write_text(text, "utf-8")
    return str(path)


@pytest.mark.parametrize("first", ["", "3 2\n"])
def test_words_and_numbers(tmp_path: Path, first: str) -> None:
    vectors = read_vectors(written(tmp_path / "v.txt", first + GLOVE))
    assert vectors.words == ("ann", ". .", "oslo")
    scale = np.sqrt((9 + 16 + 9) / 3) / 4
    assert np.allclose(vectors.table * scale, [[3, 0], [0, 4], [-3, 0]], atol=1e-2)
    numbers, of_forms = vectors.of_forms(["Ann", "ann", "x", "oslo"])
    assert numbers.tolist() == [0, 1, 3]
    assert np.array_equal(of_forms, vectors.table[[0, 0, 2]])
    assert (
        vectors.coverage(["Ann", "x", "ann", "oslo"]) == "3 word vectors of 2 numbers, for 75.0% of the tokens of TRAIN"
    )


def test_a_table_with_its_words(tmp_path: Path) -> None:
    table = np.array([[3, 0], [0, 4], [-3, 0]], np.float32)
    np.save(tmp_path / "v.npy", table)
    with pytest.raises(CorpusError, match=r"found no file .*v.txt, expected the words of the table"):
        read_vectors(str(tmp_path / "v.npy"))
    (tmp_path / "v.txt").write_text("ann\nbo\n", encoding="utf-8")
    with pytest.raises(CorpusError, match=r"v.txt: found 2 different words, expected 3, one for each row"):
        read_vectors(str(tmp_path / "v.npy"))
    (tmp_path / "v.txt").write_text("ann\n. .\noslo\n", encoding="utf-8")
    vectors = read_vectors(str(tmp_path / "v.npy"))
    assert np.array_equal(vectors.table, read_vectors(written(tmp_path / "w.txt", GLOVE)).table)


def test_pickles_are_refused(tmp_path: Path) -> None:
    (tmp_path / "v.kv").write_bytes(pickle.dumps({"ann": [3, 0]}))
    with pytest.raises(CorpusError, match=r"found a pickle, which can run code, expected vectors as text"):
        read_vectors(str(tmp_path / "v.kv"))
    np.save(tmp_path / "v.npy", np.array([{}], object), allow_pickle=True)
    with pytest.raises(CorpusError, match=r"v\.npy: found no table"):
        read_vectors(str(tmp_path / "v.npy"))


def test_vectors_of_a_pipeline_of_spacy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spacy = pytest.importorskip("spacy", reason="spacy is not installed")
    monkeypatch.setattr(spacy.util, "is_package", lambda name: name == "xx_some")
    monkeypatch.setattr(spacy.util, "get_package_path", lambda name: tmp_path)
    with pytest.raises(PlanError, match="found no package xx_other, expected a pipeline of spaCy"):
        read_vectors("spacy:xx_other")
    with pytest.raises(PlanError, match="found no vectors in xx_some"):
        read_vectors("spacy:xx_some")
    vocabulary = spacy.blank("xx").vocab
    for line in GLOVE.splitlines():
        word, *numbers = line.rsplit(" ", 2)
        vocabulary.set_vector(word, np.array(numbers, np.float32))
    (tmp_path / "xx_some-1.0").mkdir()
    vocabulary.to_disk(tmp_path / "xx_some-1.0" / "vocab")
    vectors = read_vectors("spacy:xx_some")
    assert sorted(vectors.words) == [". .", "ann", "oslo"]
    expected = read_vectors(written(tmp_path / "v.txt", GLOVE))
    assert np.array_equal(vectors.of_forms(["ann", ". ."])[1], expected.of_forms(["ann", ". ."])[1])


def test_pieces_of_words_as_fasttext_has_them(tmp_path: Path) -> None:
    fasttext = pytest.importorskip("fasttext", reason="fasttext is not installed")
    (tmp_path / "text").write_text("der große Otter schläft und die kleine Otter singt\n" * 30, encoding="utf-8")
    model = fasttext.train_unsupervised(
        str(tmp_path / "text"), dim=5, minCount=1, minn=1, maxn=4, bucket=50, epoch=1, thread=1, verbose=0
    )
    model.save_model(str(tmp_path / "v.bin"))
    vectors = read_vectors(str(tmp_path / "v.bin"))
    forms = ["Otter", "große", "größer", "xyz"]
    numbers, of_forms = vectors.of_forms(forms)
    expected = np.stack([model.get_word_vector(form) for form in forms])
    assert numbers.tolist() == [0, 1, 2, 3]
    assert np.allclose(of_forms / of_forms[0, 0] * expected[0, 0], expected, atol=1e-2 * np.abs(expected).max())
    closed = vectors.only(["größer", "Otter", "größer"])
    assert closed.words == ("größer", "Otter") and closed.lengths == (0, 0)
    assert np.allclose(closed.table, of_forms[[2, 0]], atol=4e-3)
    loaded = WordVectors.of_arrays(vectors.arrays())
    assert loaded is not None and np.array_equal(loaded.of_forms(forms)[1], of_forms)


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
        read_vectors(written(tmp_path / "v.txt", text))


def binary(*vectors: tuple[bytes, list[float]], count: int | None = None, after: bytes = b"\n") -> bytes:
    sizes = f"{len(vectors) if count is None else count} 2\n".encode()
    return sizes + b"".join(word + b" " + np.array(each, "<f4").tobytes() + after for word, each in vectors)


@pytest.mark.parametrize("after", [b"", b"\n"])
def test_binary_files(tmp_path: Path, after: bytes) -> None:
    (tmp_path / "v.bin").write_bytes(
        binary((b"ann", [3, 0]), ("für".encode(), [0, 4]), (b"oslo", [-3, 0]), after=after)
    )
    vectors = read_vectors(str(tmp_path / "v.bin"))
    assert vectors.words == ("ann", "für", "oslo")
    assert np.array_equal(vectors.table, read_vectors(written(tmp_path / "v.txt", GLOVE)).table)


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
        (b"\xba\x16\x4f\x2f" + bytes(99), "a damaged model of fastText"),
    ],
)
def test_no_binary_vectors(tmp_path: Path, data: bytes, problem: str) -> None:
    (tmp_path / "v.bin").write_bytes(data)
    with pytest.raises(CorpusError, match=problem):
        read_vectors(str(tmp_path / "v.bin"))


@pytest.mark.parametrize("learner", ["adagrad", "perceptron", "lbfgs"])
def test_a_model_knows_words_that_its_corpus_does_not_have(tmp_path: Path, learner: str) -> None:
    text = "\n".join(f"{kind}{i} {i % 3 + 1} {5 if kind == 'n' else -5}" for i in range(9) for kind in "nv")
    encoder = "static:" + written(tmp_path / "v.txt", text)
    pairs = [(f"n{i}", f"v{i}") for i in range(5)]
    pairs += [(second, first) for first, second in pairs]
    labelled = (Sentence(pair, {"tag": tuple((form[0].upper(),) for form in pair)}) for pair in pairs * 3)
    corpus = Corpus(tuple(labelled), "tag")
    model = tw.train(corpus, encoder=encoder, templates=["form[0]"], learner=learner, iterations=9, callback=Silence())
    model.save(str(tmp_path / "m.model"))
    (tmp_path / "v.txt").unlink()
    loaded = tw.load_model(str(tmp_path / "m.model"))
    sentences = [["v7", "n8"], ["N6", "v6"]]
    assert loaded.tag(sentences) == [["V", "N"], ["N", "V"]]
    assert loaded.tag(sentences * 1000) == [["V", "N"], ["N", "V"]] * 1000  # by the rows of words
    assert np.array_equal(loaded.trained.weights, model.trained.weights)


def test_a_model_of_a_closed_domain_stores_the_vectors_of_its_words(tmp_path: Path) -> None:
    path = written(tmp_path / "v.txt", GLOVE)
    corpus = Corpus((Sentence(("Ann", "sings"), {"tag": (("N",), ("V",))}),), "tag")
    options = {"iterations": 1, "callback": Silence()}
    model = tw.train(corpus, encoder=f"static:{path}", stored_vectors="corpora", **options)
    assert model.trained.encoder.lookups.vectors.words == ("Ann",)
    with pytest.raises(PlanError, match=r"found `stored_vectors` without word vectors"):
        tw.train(corpus, stored_vectors="corpora", **options)
    with pytest.raises(PlanError, match="found 'static:' as `encoder`, expected a file of word vectors"):
        tw.train(corpus, encoder="static:", **options)
