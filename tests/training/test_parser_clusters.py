"""Parsers that look at clusters of words, from a file or of word vectors."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tagweave as tw
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Arc, Sentence
from tagweave.errors import PlanError
from tagweave.features.word_vectors import WordVectors
from tagweave.learning.run import Silence
from tagweave.models.storage import ModelFileError

NOUNS, VERBS = (tuple(f"{letter}{i}" for i in range(6)) for letter in "nv")
QUICK: dict[str, Any] = {"task": "parse", "callback": Silence()}


def corpus(first: int, last: int) -> Corpus:
    """Sentences of a noun and a verb, its head; only the forms tell which is which."""
    layer, sentences = (("X",), ("X",)), []
    for noun, verb in product(NOUNS[first:last], VERBS[first:last]):
        sentences.append(Sentence((noun, verb), {"upos": layer}, heads={"head": ((Arc(2, "obj"),), (Arc(0, "root"),))}))
        sentences.append(Sentence((verb, noun), {"upos": layer}, heads={"head": ((Arc(0, "root"),), (Arc(1, "obj"),))}))
    return Corpus(tuple(sentences), "head")


@pytest.fixture
def options(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    if request.param == "clusters":
        lines = [f"{bits * 12}\t{word}\t1" for bits, words in (("0", NOUNS), ("1", VERBS)) for word in words]
        (tmp_path / "bits").write_text("\n".join(lines) + "\n", "utf-8")
        return {"clusters": str(tmp_path / "bits")}
    np.save(tmp_path / "v.npy", np.repeat(np.array([[3, 0], [0, 3]], np.float32), len(NOUNS), axis=0))
    (tmp_path / "v.txt").write_text("\n".join((*NOUNS, *VERBS)) + "\n", "utf-8")
    return {"encoder": f"static:{tmp_path / 'v.npy'}"}


@pytest.mark.parametrize("options", ["clusters", "encoder"], indirect=True)
def test_parsers_know_words_that_their_treebank_does_not_have(options: dict[str, str], tmp_path: Path) -> None:
    model = tw.train(corpus(0, 3), iterations=5, **QUICK, **options)
    model.save(tmp_path / "m.model")
    parser = tw.load_model(tmp_path / "m.model")
    expected = corpus(3, 6)
    bare = [Sentence(sentence.forms, sentence.layers) for sentence in expected]
    assert [sentence.heads["head"] for sentence in parser.parse(bare)] == [s.heads["head"] for s in expected]
    assert "vectors.table" not in parser.trained.arrays() or not parser.trained.arrays()["vectors.table"].size
    plain = tw.train(corpus(0, 3), iterations=1, **QUICK)
    assert not any("cluster" in text for text in plain.trained.parameters.templates.texts)
    with pytest.raises(PlanError, match=r"found word clusters, expected .* as m\.cluster_6\[0\]"):
        tw.train(corpus(0, 3), templates=["m.form[0]"], **QUICK, **options)


@pytest.mark.parametrize("options", ["encoder"], indirect=True)
def test_what_parsers_refuse(options: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PlanError, match="with the task parse, expected features or static:FILE"):
        tw.train(corpus(0, 1), encoder="features+some", **QUICK)
    with pytest.raises(PlanError, match="found word vectors and `clusters` with the task parse"):
        tw.train(corpus(0, 1), clusters="bits", **QUICK, **options)
    with pytest.raises(PlanError, match="found templates over cluster_2, expected clusters for them"):
        tw.train(corpus(0, 1), templates=["m.cluster_2[0]"], **QUICK)
    model = tw.train(corpus(0, 1), iterations=1, **QUICK, **options)
    arrays = model.trained.lookups.vectors.arrays()
    monkeypatch.setattr(WordVectors, "arrays", lambda _: arrays | {"vectors.paths": arrays["vectors.paths"][:0]})
    model.save(tmp_path / "m.model")
    with pytest.raises(ModelFileError, match=r"at vectors\.table, expected"):
        tw.load_model(tmp_path / "m.model")
