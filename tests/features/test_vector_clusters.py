"""Clusters of word vectors, and models that look at them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tagweave as tw
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.features import vector_clusters
from tagweave.features.rules import check_arrays
from tagweave.features.templates import PRESETS
from tagweave.features.vector_clusters import paths_of
from tagweave.features.word_vectors import ARRAYS, WordVectors
from tagweave.learning.run import Silence
from tagweave.models.storage import ModelFileError

WORDS = ("in", "at", "is", "as", "ann", "oslo")
TABLE = np.array([[9, 9, 0], [9, 8, 0], [9, -9, 0], [9, -8, 0], [-9, 0, 5], [-9, 0, -5]], np.float32)
VECTORS = WordVectors.scaled(WORDS, TABLE).clustered()
ALIKE = TABLE[[0, 0, 2, 2, 4, 5]]
IN = WordVectors.scaled(WORDS, ALIKE).clustered().bits("in")


def test_near_words_share_a_prefix() -> None:
    bits = {word: VECTORS.bits(word) for word in WORDS}
    assert {len(path) for path in bits.values()} == {12}
    assert len(set(bits.values())) == len(WORDS)
    assert {bits[word][0] for word in WORDS[:4]} == {"1"} != {bits["ann"][0]}
    assert bits["in"][:2] == bits["at"][:2] != bits["is"][:2] == bits["as"][:2]
    assert (VECTORS.bits("In"), VECTORS.bits("by")) == (bits["in"], "")


def test_words_that_are_not_frequent_follow_the_planes_of_those_that_are(monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.random.default_rng(0).normal(size=(300, 5)).astype(np.float16)
    monkeypatch.setattr(vector_clusters, "_FREQUENT", 200)
    monkeypatch.setattr(vector_clusters, "_BLOCK", 64)
    paths = paths_of(table)
    assert np.array_equal(paths[:200], paths_of(table[:200]))
    assert np.array_equal(paths_of(np.concatenate([table[:200], table[:100]]))[200:], paths[:100])
    assert set((paths >> 12).tolist()) == {1}
    assert np.unique(paths[:200]).size == 200  # all differ, so the tree divides them


def test_words_without_difference_stay_together() -> None:
    assert paths_of(np.ones((3, 2), np.float16)).tolist() == [1 << 12] * 3
    assert paths_of(np.ones((0, 2), np.float16)).tolist() == []


def test_a_model_keeps_the_clusters() -> None:
    stored = WordVectors.of_arrays(VECTORS.arrays())
    assert stored is not None and stored.bits("Oslo") == VECTORS.bits("oslo")
    assert VECTORS.only(["At", "by"]).paths.tolist() == [VECTORS.paths[1]]
    with_grams = replace(VECTORS, table=np.concatenate([VECTORS.table, VECTORS.table]), lengths=(2, 2))
    assert with_grams.only(["at", "new"]).paths.tolist() == [VECTORS.paths[1], 0]
    assert with_grams.only(["new"]).bits("new") == ""


@pytest.mark.parametrize("paths", [VECTORS.paths[1:], VECTORS.paths.astype(np.int16), VECTORS.paths[:, None]])
def test_damaged_clusters_are_refused(paths: Any) -> None:
    arrays = VECTORS.arrays() | {"vectors.paths": paths}
    with pytest.raises(ValueError, match=r"vectors\.paths, expected"):
        check_arrays(arrays, ARRAYS)
        WordVectors.of_arrays(arrays)


def corpus(before: str = "in", after: str = "is", other: str = "x") -> Corpus:
    """Names of places after one word, of people before one; nothing else tells them apart."""
    names = ("Ann", "Oslo")
    spans = [((other, name, after), (("O",), ("B-PER",), ("O",))) for name in names]
    spans += [((before, name, other), (("O",), ("B-LOC",), ("O",))) for name in names]
    return Corpus(tuple(Sentence(forms, {"ner": labels}) for forms, labels in spans * 50), "ner")


@pytest.fixture
def vectors(tmp_path: Path) -> str:
    np.save(tmp_path / "v.npy", ALIKE)
    (tmp_path / "v.txt").write_text("\n".join(WORDS) + "\n", "utf-8")
    return f"static:{tmp_path / 'v.npy'}"


QUICK: dict[str, Any] = {"iterations": 5, "callback": Silence()}


def test_neighbours_of_a_known_cluster_tell_what_a_name_is(
    vectors: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tw.train(corpus(), task="spans", encoder=vectors, iterations=5)
    assert "6 word vectors of 3 numbers, and clusters of these, for" in capsys.readouterr().err
    assert model.plan.templates == (*PRESETS["spans"].texts, *PRESETS["vector-clusters"].texts)
    model.save(tmp_path / "m.model")
    loaded = tw.load_model(tmp_path / "m.model")
    sentences = [list(sentence.forms) for sentence in corpus("at", "as", "y")]
    expected = [["O", "B-PER", "O"]] * 2 + [["O", "B-LOC", "O"]] * 2
    assert loaded.tag(sentences[:4]) == expected
    assert loaded.tag(sentences * 9) == expected * 50 * 9  # by the rows of words


def test_second_passes_and_students_have_clusters(vectors: str, tmp_path: Path) -> None:
    model = tw.train(corpus(), task="spans", encoder=vectors, documents=True, **QUICK)
    model.save(tmp_path / "m.model")
    loaded = tw.load_model(tmp_path / "m.model")
    assert loaded.trained.encoder.encoder.lookups.bits("In") == IN
    student = tw.distill(loaded, corpus(), tell=lambda _: None, encoder=vectors, stored_vectors="corpora", **QUICK)
    assert student.plan.templates == model.plan.templates
    assert student.trained.encoder.lookups.bits("in") == IN
    assert student.trained.encoder.lookups.bits("as") == ""


def test_when_clusters_of_vectors_are_features(vectors: str, tmp_path: Path) -> None:
    def lookups(**options: Any) -> Any:
        return tw.train(corpus(), encoder=vectors, **QUICK, **options).trained.encoder.lookups

    assert not lookups(task="spans", templates=["form[0]"]).has_clusters
    tags = corpus().map(lambda sentence: replace(sentence, layers={"ner": (("A",), ("B",), ("C",))}))
    tagger = tw.train(tags, task="tag", encoder=vectors, **QUICK)
    assert not tagger.trained.encoder.lookups.has_clusters
    asked = tw.train(tags, task="tag", encoder=vectors, templates=["form[0]", "cluster_4[1]"], **QUICK)
    assert asked.trained.encoder.lookups.bits("At") == IN
    (tmp_path / "bits").write_text("01\tin\t1\n", "utf-8")
    of_file = lookups(task="spans", clusters=str(tmp_path / "bits"))
    assert of_file.bits("in") == "01" and not len(of_file.vectors.paths)


def test_a_damaged_model_is_refused(vectors: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = tw.train(corpus(), task="spans", encoder=vectors, **QUICK)
    arrays = VECTORS.arrays() | {"vectors.paths": VECTORS.paths[:0]}
    monkeypatch.setattr(WordVectors, "arrays", lambda _: arrays)
    model.save(tmp_path / "m.model")
    with pytest.raises(ModelFileError, match="templates over cluster_8, cluster_10, expected clusters"):
        tw.load_model(tmp_path / "m.model")
