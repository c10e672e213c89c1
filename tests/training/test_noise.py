"""Labels of TRAIN that are wrong by habit, learnt from development data."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tagweave as tw
from benchmarks import scores as benchmark
from tagweave.corpus.candidates import Soft
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.learning.loop import FitOutcome
from tagweave.training import roles
from tagweave.training import train as carrying_out
from tagweave.training.cascades import noise
from tagweave.training.cascades.noise import Habits, as_evidence
from tagweave.training.fit.problem import Fitted
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import Task
from tagweave.training.plan import Source

LABELS = ("B-LOC", "I-LOC", "B-PER", "I-PER", "O")


def habits() -> Habits:
    return Habits(LABELS, np.array([[60.0, 40, 0], [0, 900, 0], [10, 5, 85]]))


def test_what_is_said_tells_what_may_be_true() -> None:
    found = habits().likelihoods()
    outside = dict(zip(LABELS, found["O"], strict=True))
    assert outside["B-LOC"] == outside["I-LOC"] == pytest.approx(40 / 105)
    assert outside["B-PER"] == pytest.approx(5 / 105) and outside["O"] == 1
    place = dict(zip(LABELS, found["B-LOC"], strict=True))
    assert place["B-PER"] == place["I-PER"] == pytest.approx(10 / 105 / 2)
    assert place["I-LOC"] == place["O"] == 0  # a right type has a right letter, and `O` is never said to be one


def test_missed_are_tokens_inside_spans_said_to_be_outside() -> None:
    assert habits().missed == pytest.approx(45 / 200)


def test_evidence_is_in_iob2_and_leaves_strange_labels() -> None:
    sentence = Sentence(tuple("abc"), {"tag": (("S-LOC",), ("O",), ("S-ORG",))})
    (corpus,) = as_evidence([Corpus((sentence,), "tag")], habits())
    first, second, third = corpus[0].layers["tag"]
    assert first[0] == "B-LOC" and "B-PER" in first and "B-LOC" in second and third == ("B-ORG",)


def test_what_is_said_with_a_probability_is_each_label_with_its_share() -> None:
    said = (Soft(("B-LOC", "O"), (0.7, 0.3)), ("B-LOC",))
    (corpus,) = as_evidence([Corpus((Sentence(("a", "b"), {"tag": said}),), "tag")], habits())
    first, second = (dict(each.numbered()) for each in corpus[0].layers["tag"])
    chance = {"B-LOC": 0.7 * 65 / 105 + 0.3 * 40 / 105, "O": 0.3}
    assert first["O"] / first["B-LOC"] == pytest.approx(chance["O"] / chance["B-LOC"])
    assert "O" not in second


def names(seed: int, size: int, missed: float) -> Corpus:
    """Names are words in capitals after `to`; annotators miss some."""
    random = np.random.default_rng(seed)
    sentences = []
    for _ in range(size):
        words, labels = [], []
        for _ in range(4):
            is_name = random.random() < 0.4
            words += ["to", "".join(random.choice(list("ABCDE"), 4))] if is_name else ["he", random.choice(list("xyz"))]
            labels += ["O", "B-LOC" if is_name and random.random() >= missed else "O"]
        sentences.append(Sentence(tuple(words), {"tag": tuple((each,) for each in labels)}))
    return Corpus(tuple(sentences), "tag")


@pytest.fixture
def fixed_roles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Development data stay what they are: names are so easy that they teach everything."""
    monkeypatch.setattr(carrying_out, "taught_by_dev", lambda *_: None)


@pytest.mark.usefixtures("fixed_roles")
def test_a_second_model_finds_names_that_annotators_missed(capsys: pytest.CaptureFixture[str]) -> None:
    train, dev = names(0, 80, 0.55), names(1, 40, 0.0)
    usual = tw.train(train, dev=dev, task="spans", iterations=6)
    said = capsys.readouterr().err
    assert "a second model learns how far" in said
    plain = tw.train(train, dev=dev, task="spans", iterations=6, span_confidence=1.0)
    assert "a second model" not in capsys.readouterr().err
    assert usual.about["dev_score"] > plain.about["dev_score"] + 0.1
    uncertain = Soft(("B-LOC", "O"), (0.9, 0.1))
    rows = [[uncertain if label == ("B-LOC",) else label for label in each.layers["tag"]] for each in train]
    train = train.with_sentences(each.with_layer("tag", row) for each, row in zip(train, rows, strict=True))
    soft = tw.train(train, dev=dev, task="spans", iterations=6)
    assert "a second model learns how far" in capsys.readouterr().err
    assert soft.about["dev_score"] > plain.about["dev_score"] + 0.1
    ends = Sentence(("a", "b"), {"tag": (("S-LOC",), Soft(("S-LOC", "O"), (0.9, 0.1)))})
    tw.train(train.with_sentences([ends] * 9), dev=dev, task="spans", iterations=1)
    assert "a second model" not in capsys.readouterr().err


def test_the_second_model_is_taken_only_where_it_is_better(monkeypatch: pytest.MonkeyPatch) -> None:
    labels = ("B-LOC", "O")
    known = Habits(labels, np.array([[60.0, 40], [0, 900]]))
    for name, value in (("ChainPredictor", None), ("habits", known), ("_is_learnable", True)):
        monkeypatch.setattr(noise, name, lambda *_, value=value: value)
    corpora, dev = [names(0, 2, 0.0)], names(1, 2, 0.0)
    first = Fitted("first", FitOutcome(np.zeros(0), score=0.5))
    for score, expected in ((0.4, "first"), (0.5, "first"), (0.6, "second")):
        second = Fitted("second", FitOutcome(np.zeros(0), score=score))
        monkeypatch.setattr(noise, "fit", lambda *_, second=second: second)
        assert noise.corrected(corpora, Recipe(Task("spans")), dev, first).model == expected


def test_right_labels_need_no_second_model(capsys: pytest.CaptureFixture[str]) -> None:
    tw.train(names(0, 80, 0.0), dev=names(1, 40, 0.0), task="spans", iterations=6)
    assert "a second model" not in capsys.readouterr().err


def test_train_is_small_where_unseen_text_of_it_is_missed_as_often(capsys: pytest.CaptureFixture[str]) -> None:
    """A name is a word in capitals; `to` is no hint, so a model that has not seen the word misses it."""

    def corpus(seed: int, size: int, marked: float) -> Corpus:
        random = np.random.default_rng(seed)
        words = [("x", "".join(random.choice(list("abcdefgh"), 5)), random.random() < 0.4) for _ in range(4 * size)]
        labels = [("B-LOC" if is_name and random.random() < marked else "O") for _, _, is_name in words]
        forms = [f"Q{word}" if is_name and random.random() < 0.5 else word for _, word, is_name in words]
        rows = zip(forms, labels, strict=True)
        pairs = [Sentence((form, "."), {"tag": ((label,), ("O",))}) for form, label in rows]
        return Corpus(tuple(pairs), "tag")

    dev = corpus(1, 60, 1.0)
    for marked, is_small in ((1.0, True), (0.4, False)):
        tw.train(corpus(0, 60, marked), dev=dev, task="spans", iterations=6)
        said = capsys.readouterr().err
        assert ("TRAIN is small, and not wrong" in said) == is_small
        assert ("a second model learns how far" in said) != is_small


def wrong_names() -> Corpus:
    """Where the words before names are marked, no likelihood of a label says where names are."""
    train = names(0, 80, 0.0)
    before = [[*each.layers["tag"][1:], ("O",)] for each in train]
    return train.with_sentences(each.with_layer("tag", row) for each, row in zip(train, before, strict=True))


def test_development_data_become_train_where_that_is_better(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model is that of the plan that it stores. An interrupt keeps the model that there is."""
    train, dev, test = wrong_names(), names(1, 52, 0.0), names(2, 40, 0.0)
    options: dict[str, Any] = {"task": "spans", "iterations": 2}
    wrong = tw.train(train, iterations=1, task="spans").trained
    monkeypatch.setattr(roles, "_models_of_both", lambda dev, *_: [(wrong, dev)])
    usual = tw.train(train, dev=dev, **options)
    assert "so DEV is TRAIN, and TRAIN is `sources=noisy=FILE`" in capsys.readouterr().err
    plan, scores = usual.about["plan"], usual.about["dev_scores"]
    assert plan["dev"] is None and plan["sources"][0]["guideline"] == "noisy" and plan["target"][0]["size"] == 52
    assert scores["development data as TRAIN"] > scores["labels of TRAIN"] + 0.2
    assert usual.about["calibration"]["tokens"] == dev.tokens()
    noisy = Corpus(tuple(each.renamed({"tag": "noisy"}) for each in train), "noisy")
    by_hand = tw.train(dev, sources=noisy, **options)
    assert usual.about["race"] == by_hand.about["race"]
    assert [usual.tag(each) for each in test] == [by_hand.tag(each) for each in test]

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(roles, "fit_guided", stopped)
    kept = tw.train(train, dev=dev, **options)
    assert kept.about["plan"]["dev"]["size"] == 52 and not kept.about["plan"]["sources"]


def test_development_data_are_more_of_train_where_that_is_better(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of the names are of a kind that TRAIN never marks, and of which parts of development data tell."""

    def corpus(seed: int, size: int, marks_all: bool) -> Corpus:
        random = np.random.default_rng(seed)
        sentences = []
        for _ in range(size):
            kinds = random.integers(4, size=5)
            pairs = [(("to", "at", "he", "it")[kind], "".join(random.choice(list("ABCDE"), 4))) for kind in kinds]
            labels = [("O", "B-LOC" if kind == 0 or (kind == 1 and marks_all) else "O") for kind in kinds]
            layer = tuple((label,) for pair in labels for label in pair)
            sentences.append(Sentence(tuple(word for pair in pairs for word in pair), {"tag": layer}))
        return Corpus(tuple(sentences), "tag")

    train, dev, test = corpus(0, 80, False), corpus(1, 30, True), corpus(2, 60, True)
    options: dict[str, Any] = {"task": "spans", "iterations": 6}
    as_it_is = tw.train(train, dev=dev, span_confidence=1.0, **options)
    monkeypatch.setattr(roles, "_guided_models", lambda *_: [])
    monkeypatch.setattr(roles, "_score", lambda judged: float(len(judged)))
    model = tw.train(train, dev=dev, **options)
    assert "so a model learns from DEV, too" in capsys.readouterr().err
    about = model.about
    assert about["plan"]["dev"]["size"] == 30 and about["dev_score"] is None
    assert about["calibration"]["tokens"] == dev.tokens() and about["calibration"]["before"] > 0.02  # of unseen parts
    scores = [benchmark.score(each, test) for each in (as_it_is, model)]
    assert scores[1] > scores[0] + 10


def test_train_keeps_its_role_where_models_of_parts_are_worse(monkeypatch: pytest.MonkeyPatch) -> None:
    train = wrong_names()
    renamed = Corpus(tuple(each.renamed({"tag": "noisy"}) for each in train), "noisy")
    for name, corpus in (("_models_of_both", train), ("_guided_models", renamed)):
        model = tw.train(corpus, task="spans", iterations=1).trained
        monkeypatch.setattr(roles, name, lambda dev, *_, model=model: [(model, dev)])
    told: list[str] = []
    given: Any = SimpleNamespace(
        dev=names(1, 12, 0.0),
        run=SimpleNamespace(tell=told.append),
        plan=SimpleNamespace(dev=Source("dev.col"), target=[Source("train.col")], folder=""),
        data=SimpleNamespace(target="tag", corpora=[train]),
        index=None,
    )
    fitted: Any = SimpleNamespace(model=model, first=model, outcome=SimpleNamespace(score=0.5))
    assert roles.taught_by_dev(given, fitted) is None
    assert told[0].endswith(
        "labels of TRAIN 0.5000, development data beside TRAIN 0.0000, development data as TRAIN 0.0000"
    )
    given.data.corpora = [train.with_sentences(train.sentences[:12])]
    assert roles.taught_by_dev(given, fitted) is None and len(told) == 1


@pytest.mark.slow
@pytest.mark.usefixtures("fixed_roles")
def test_a_race_compares_plain_models_that_are_not_corrected_and_its_winner_one_that_is() -> None:
    train, dev, theirs = names(0, 80, 0.55), names(1, 40, 0.0), names(2, 80, 0.0)
    source = Corpus(tuple(each.renamed({"tag": "theirs"}) for each in theirs), "theirs")
    about = tw.train(train, [source], dev=dev, task="spans", iterations=4).about
    alone = [
        tw.train(train, dev=dev, task="spans", **options).about["dev_score"]
        for options in ({"iterations": 3, "span_confidence": 1.0, "average_seeds": 1}, {"iterations": 4})
    ]
    assert [about["race"]["single"], about["dev_scores"]["plain"]] == alone and alone[0] < alone[1]
