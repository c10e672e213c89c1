"""One correction: `model.correct(tokens, labels)`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tagweave as tw
from tagweave.corpus.sample import path as sample
from tagweave.errors import CorpusError
from tagweave.kernels.mistakes import StepRule
from tagweave.learning.run import Silence
from tagweave.models import correction

QUICK: dict[str, Any] = {"iterations": 4, "callback": Silence()}


@pytest.fixture(scope="module")
def spans() -> tuple[tw.Corpus, tw.Corpus]:
    """Names after `to`, of letters that also other words have; every tenth sentence has a name elsewhere."""
    random = np.random.default_rng(0)

    def corpus(size: int) -> tw.Corpus:
        pairs = []
        for number in range(size):
            names = ["".join(random.choice(list("abcde"), 3)) for _ in range(3)]
            tokens = ["we", "went", "to", names[0], "by", names[1], "."]
            labels = ["O", "O", "O", "B-LOC", "O", "B-LOC" if number % 10 == 0 else "O", "O"]
            pairs.append((tokens, labels))
        return tw.Corpus(pairs, "ner")

    return corpus(100), corpus(100)


@pytest.fixture(scope="module")
def content(spans: tuple[tw.Corpus, tw.Corpus], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "model"
    tw.train(spans[0], task="spans", **QUICK).save(path)
    return path


def wrong(model: Any, dev: tw.Corpus) -> list[int]:
    return [at for at, s in enumerate(dev) if model.tag(s.forms) != [labels[0] for labels in s.layers["ner"]]]


def test_a_model_is_right_afterwards_and_elsewhere_as_before(content: Path, spans: tuple[tw.Corpus, tw.Corpus]) -> None:
    dev = spans[1]
    before = wrong(tw.load_model(content), dev)
    assert before
    for at in before:
        model = tw.load_model(content)
        tokens, labels = dev[at].forms, [candidates[0] for candidates in dev[at].layers["ner"]]
        model.correct(tokens, labels)
        assert model.tag(tokens) == labels
        assert len(set(wrong(model, dev)) - set(before)) <= 3


def test_frequent_features_move_least(
    content: Path, spans: tuple[tw.Corpus, tw.Corpus], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the step of passive-aggressive learning, all features move as much, and more sentences are hit."""
    tokens, labels = ("we", "went", "to", "abc", "by", "dab", "."), ["O", "O", "O", "O", "O", "B-LOC", "O"]
    careful, plain = tw.load_model(content), tw.load_model(content)
    careful.correct(tokens, labels)
    monkeypatch.setattr(correction, "_RULE", StepRule(1, slack=0))
    plain.correct(tokens, labels)
    assert careful.tag(tokens) == plain.tag(tokens) == labels
    hits = [len(wrong(model, spans[1])) for model in (careful, plain)]
    assert hits[0] < hits[1]


def test_what_is_unknown_or_right_already_stays(content: Path) -> None:
    model = tw.load_model(content)
    tokens = ["we", "went", "to", "abc"]
    trained = model.trained
    model.correct(tokens, [None] * 4)
    model.correct(tokens, [model.tag(tokens)[0], None, {"O", "B-LOC"}, model.tag(tokens)[3]])
    assert model.trained is trained
    model.trained = trained = replace(trained, about={**trained.about, "dev_score": 0.5})
    model.correct(tokens, [None, "B-LOC", None, None])
    assert model.score is None
    assert model.trained is not trained and model.tag(tokens)[1] == "B-LOC"
    assert np.array_equal(trained.weights, tw.load_model(content).trained.weights)


def test_features_of_columns_are_corrected() -> None:
    rows = [tw.Sentence(("it", "runs"), {"tag": (("A",), ("B",))}, columns={"kind": ("x", "y")})]
    model = tw.train(tw.Corpus(tuple(rows * 5)), templates=["user:kind[0]"], **QUICK)
    model.correct(rows[0], ["B", "A"])
    assert model.tag(rows[0]).layers["tag"] == (("B",), ("A",))


def test_a_correction_is_stored(content: Path, tmp_path: Path) -> None:
    model = tw.load_model(content)
    tokens, labels = ["by", "abc"], ["B-LOC", "O"]
    model.correct(tokens, labels)
    model.save(tmp_path / "corrected")
    assert tw.load_model(tmp_path / "corrected").tag(tokens) == labels


def test_evidence_corrects_once(content: Path, spans: tuple[tw.Corpus, tw.Corpus]) -> None:
    """What a model knows is left out, also if it cannot be satisfied; where it is right, its weights stay."""
    model, told = tw.load_model(content).trained, list[str]()
    evidence = tw.Corpus([(s.forms, [labels[0] for labels in s.layers["ner"]]) for s in spans[1]], "ner")
    impossible = tw.Corpus([*evidence, (("to", "abc"), ("O", "B-CITY"))], "ner")
    corrected = correction.corrected_by(model, impossible, told.append)
    assert corrected.weights is not model.weights and len(told) == 1 and "CITY" in told[0]
    assert correction.corrected_by(corrected, impossible, told.append) is corrected
    mistaken = wrong(tw.load_model(content), evidence)
    right = evidence.with_sentences([evidence[at] for at in range(len(evidence)) if at not in mistaken])
    again = correction.corrected_by(model, right, told.append)
    assert again is not model and again.weights is model.weights and len(told) == 1
    assert correction.corrected_by(again, evidence, told.append).weights is not model.weights


def test_requests_for_levels_of_precision_go_on(content: Path, spans: tuple[tw.Corpus, tw.Corpus]) -> None:
    model = tw.load_model(content).trained
    model = replace(model, about={**model.about, "selective": {"of": "spans"}})
    corrected = correction.corrected_by(model, spans[1], [].append)
    assert corrected.weights is not model.weights and corrected.about["selective"] == {"of": "spans"}
    assert "selective" not in correction.corrected(model, spans[1][0], spans[1].guideline).about


def test_segmenters_are_corrected(tmp_path: Path) -> None:
    model = tw.train(sample("ctb.txt"), task="segment", **QUICK)
    words = [*"他昨天", "在图", "书馆", "看书"]
    assert model.cut("".join(words)) != words
    model.correct(words)
    assert model.cut("".join(words)) == words


def test_refusals(content: Path) -> None:
    model = tw.load_model(content)
    with pytest.raises(CorpusError, match="CITY"):
        model.correct(["Oslo"], ["B-CITY"])
    with pytest.raises(ValueError, match="2 labels"):
        model.correct(["Oslo"], ["O", "O"])
    with pytest.raises(TypeError, match="found no labels"):
        model.correct(["Oslo"])
