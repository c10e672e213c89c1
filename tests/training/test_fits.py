"""Fits: the labels of a model, what a sentence and a position weigh, and how development data are scored."""

from __future__ import annotations

import resource
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Arc, Layer, Location, Sentence
from tagweave.errors import CorpusError
from tagweave.kernels.mistakes import StepRule
from tagweave.learning.loop import TrainingError
from tagweave.learning.run import Iteration, Run, Schedule
from tagweave.models import memory
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.training.fit.chain_problem import dev_score, label_space
from tagweave.training.fit.fit import fit, prepare
from tagweave.training.fit.problem import fit_problem, return_freed_memory
from tagweave.training.fit.recipe import FEATURE_LEARNERS, Recipe
from tagweave.training.fit.task import Task

SHORT = Schedule(iterations=4)


def sentence(text: str, **more: Any) -> Sentence:
    pairs = [token.rsplit("/", 1) for token in text.split()]
    layer: Layer = tuple(None if tag == "?" else tuple(tag.split("|")) for _, tag in pairs)
    return Sentence(tuple(form for form, _ in pairs), {"g": layer}, **more)


def corpus(*texts: str, **more: Any) -> Corpus:
    return Corpus(
        tuple(sentence(text, location=Location("f", n)) for n, text in enumerate(texts, 1)), "g", path="f", **more
    )


TRAIN = corpus("a/N b/V c/O", "b/N|V a/N", "c/? d/V", "a/V", "d/O b/N c/V")
DEV = corpus("a/N b/V", "d/O c/V a/?")


# Label spaces


def test_labels_are_those_that_are_named() -> None:
    assert label_space(TRAIN.sentences, "g").names == ("N", "O", "V")
    assert label_space([sentence("a/!N b/Z c/B-*")], "g").names == ("Z",)


@pytest.mark.parametrize(
    ("corpora", "found"),
    [
        ([], "found no corpus"),
        ([corpus()], "f: found no sentence"),
        ([corpus("a/? b/?")], "f: found no label in layer 'g'"),
        ([corpus("a/!N")], "f: found only wildcards in layer 'g'"),
        ([Corpus((Sentence(("a",), {"h": (("N",),)}),), "g", path="f")], "f: found no label in layer 'g'"),
        ([TRAIN, replace(TRAIN, guideline="h")], "found corpora of the guidelines g, h, expected one guideline"),
        ([corpus("a/N", "b/!Q")], "f:2: found label '!Q' is not one of the 1 of g"),
    ],
)
def test_nothing_to_learn_from(corpora: list[Corpus], found: str) -> None:
    with pytest.raises(CorpusError, match=found):
        fit(corpora, Recipe())


def test_a_space_of_characters_can_label_every_sentence() -> None:
    words = Corpus((Sentence(("ab", "cde")), Sentence(("ab",))), "g")
    fitted = fit([words], Recipe(Task("segment")), run=Run(SHORT))
    assert ChainPredictor(fitted.model).labels == ("B", "E", "M", "S")
    (tagged,) = ChainPredictor(fitted.model).tag([Sentence(("a",))])
    assert tagged.layers["g"] == (("S",),)


# Weights


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_weight_2_is_the_sentence_twice(precision: str) -> None:
    recipe = Recipe(learner="lbfgs", precision=precision)
    rows = TRAIN.sentences
    twice = replace(TRAIN, sentences=(*rows, rows[1], rows[3]))
    weighted = replace(TRAIN, sentences=tuple(replace(s, weight=2) if i in (1, 3) else s for i, s in enumerate(rows)))
    corpora = [
        TRAIN.with_sentences([rows[0], rows[2], rows[4]]),
        replace(TRAIN, sentences=(rows[1], rows[3]), weight=2),
    ]
    found = [fit(each, recipe, run=Run(SHORT)) for each in ([twice], [weighted])]
    tolerance = 1e-8 if precision == "float64" else 1e-2
    np.testing.assert_allclose(found[0].model.weights, found[1].model.weights, rtol=tolerance, atol=tolerance)
    told = [[each.loss for each in fitted.outcome.history] for fitted in (*found, fit(corpora, recipe, run=Run(SHORT)))]
    np.testing.assert_allclose(told[0], told[1], rtol=tolerance)
    np.testing.assert_allclose(told[0], told[2], rtol=tolerance)
    plain = fit([TRAIN], recipe, run=Run(SHORT))
    assert abs(plain.outcome.history[0].loss - told[0][0]) > 1e-3


def test_weights_of_corpus_and_sentence_multiply() -> None:
    one = replace(TRAIN, sentences=tuple(replace(s, weight=0.5) for s in TRAIN.sentences), weight=6)
    for task in (Task(), Task("segment"), Task("segtag")):
        assert set(prepare([one], Recipe(task)).objective.encoded.evidence.weights.tolist()) == {3.0}


@pytest.mark.parametrize("learner", FEATURE_LEARNERS)
def test_weight_0_is_no_sentence(learner: str) -> None:
    settings = {"rate": 0.1, "c2": 0.0} if learner == "sgd" else {}
    if learner == "lbfgs":
        settings = {"c2": 0.5}
    recipe = Recipe(learner=learner, settings=settings)
    nothing = replace(TRAIN, sentences=(sentence("a/O b/O"), sentence("c/N d/N")), weight=0)
    problem = prepare([nothing, corpus("b/N c/V")], recipe)
    weights = fit_problem(problem, recipe, run=Run(SHORT)).model.weights
    codes = problem.objective.encoded.grams[:1]  # features that the sentences of weight 0 alone have
    assert len(codes)
    parts = problem.model.parameters.split(weights)[0]
    names = problem.model.space.names
    assert parts.start[names.index("O")] <= 0  # never praised
    loss, _ = problem.objective.loss_and_gradient(np.zeros(problem.objective.size, np.float32))
    alone = prepare([corpus("b/N c/V")], recipe, ("O",)).objective
    assert loss == pytest.approx(alone.loss_and_gradient(np.zeros(alone.size, np.float32))[0])
    if learner == "perceptron":
        assert problem.objective.correct(np.zeros_like(weights), np.zeros(len(weights)), 0, 1, 1, 0, StepRule()) == 0


def test_the_perceptron_moves_by_the_weight() -> None:
    recipe = Recipe(learner="perceptron", settings={"batch": 5})
    found = []
    for weight in (1.0, 2.5):
        problem = prepare([replace(TRAIN, weight=weight)], recipe)
        weights, totals = np.zeros(problem.objective.size, np.float32), np.zeros(problem.objective.size)
        problem.objective.correct(weights, totals, 0, len(problem.objective), 5, 3, StepRule())
        np.testing.assert_array_equal(totals, 3 * weights)  # one step, and its number is 3
        found.append(weights)
    assert found[0].any()
    np.testing.assert_array_equal(found[1], 2.5 * found[0])


# Confidence


def loss_of(one: Sentence, features: str = "all") -> tuple[float, Any]:
    # another sentence, so that there is something to learn from whatever `one` says
    problem = prepare(
        [Corpus((one, sentence("a/N b/V b/O"), sentence("c/O")), "g")], Recipe(precision="float64", features=features)
    )
    weights = np.random.default_rng(0).normal(size=problem.objective.size)
    return problem.objective.loss_and_gradient(weights)


def test_full_confidence_is_no_confidence_at_all() -> None:
    plain, told = (loss_of(sentence("a/N b/V c/O", confidence=each)) for each in (None, (1.0, 1.0, 1.0)))
    assert told[0] == pytest.approx(plain[0], rel=1e-12)
    np.testing.assert_allclose(told[1], plain[1], atol=1e-12)


@pytest.mark.parametrize("features", ["all", "observed"])
def test_no_confidence_is_unknown_exactly(features: str) -> None:
    unbelieved = loss_of(sentence("a/N b/V c/O", confidence=(1.0, 0.0, 1.0)), features)
    unknown = loss_of(sentence("a/N b/? c/O"), features)
    assert unbelieved[0] == unknown[0] or unbelieved[0] == pytest.approx(unknown[0], rel=1e-13)
    np.testing.assert_allclose(unbelieved[1], unknown[1], atol=1e-13)


@pytest.mark.parametrize("learner", FEATURE_LEARNERS)
def test_a_sentence_that_nobody_believes_changes_nothing(learner: str) -> None:
    settings = {"rate": 0.1} if learner == "sgd" else {}
    recipe = Recipe(learner=learner, settings=settings)
    disbelieved = sentence("a/O b/O c/N", confidence=(0.0, 0.0, 0.0))
    plain = fit([TRAIN, corpus("a/? b/? c/?")], recipe, run=Run(SHORT))
    more = fit([TRAIN, Corpus((disbelieved,), "g")], recipe, run=Run(SHORT))
    np.testing.assert_allclose(more.model.weights, plain.model.weights, rtol=1e-5, atol=1e-6)


def test_an_excluded_label_keeps_its_doubt_as_a_share() -> None:
    """One token, two labels, all weights 0: loss = log 2 - log(1 + noise)."""
    one = sentence("a/N", confidence=(0.75,))
    problem = prepare([Corpus((one, sentence("b/V", weight=0)), "g")], Recipe(precision="float64"))
    loss, _ = problem.objective.loss_and_gradient(np.zeros(problem.objective.size))
    assert loss == pytest.approx(np.log(2) - np.log(1.25))


# Development data


def scored(dev: Corpus, task: Task | None = None, train: Corpus = TRAIN) -> float:
    """The score of a model that is right about its training data."""
    recipe = Recipe(task or Task(), learner="lbfgs", settings={"c2": 0.001}, precision="float64")
    fitted = fit([train], recipe)
    return dev_score(fitted.model, recipe.task.prepare(dev))(fitted.model.weights)


GOLD = corpus("a/N b/V c/O", "b/V a/N", "c/O d/V", "d/V b/V c/O")


@pytest.mark.parametrize(
    ("dev", "score"),
    [
        (GOLD, 1),
        (corpus("a/N b/V c/N d/V"), 0.75),
        (corpus("a/N b/? c/V|N d/!O"), 1),  # only positions with one label count
        (corpus("a/N b/? c/V d/!O"), 0.5),
        (corpus("a/N b/STRANGE"), 0.5),
        (corpus("a/O b/V", covered=("V",)), 1),  # `O` is no label where the others were not looked for
        (corpus("a/O b/V"), 0.5),
    ],
)
def test_words_are_scored_by_accuracy(dev: Corpus, score: float) -> None:
    assert scored(dev, train=GOLD) == score


WORDS = corpus("ab/N c/V", "c/V ab/N ab/N", "ab/N")


@pytest.mark.parametrize("coding", ["BMES", "BI", "boundary"])
@pytest.mark.parametrize("task", ["segment", "segtag"])
def test_characters_are_scored_by_words(task: str, coding: str) -> None:
    assert scored(WORDS, Task(task, coding), WORDS) == 1.0
    half = scored(corpus("a/N b/N c/V"), Task(task, coding), WORDS)  # the words ab c against a b c
    assert half == pytest.approx(2 * 1 / (2 + 3))
    tags = scored(corpus("ab/N c/STRANGE"), Task(task, coding), WORDS)
    assert tags == (1.0 if task == "segment" else 0.5)


def test_characters_that_are_not_all_known_are_scored_one_by_one() -> None:
    dev = Corpus((Sentence(("a", "b", "c"), {"segmentation": (("B",), None, ("B",))}),), "g", "character")
    assert scored(dev, Task("segment"), WORDS) == 0.5
    tagless = corpus("ab/? c/V")  # wildcards: one character has one label, and that is right
    assert scored(tagless, Task("segtag"), WORDS) == 1.0


@pytest.mark.parametrize("dev", [corpus("a/? b/N|V"), corpus("a/!N"), corpus("a/O", covered=("N",))])
def test_development_data_without_one_label(dev: Corpus) -> None:
    with pytest.raises(CorpusError, match="f: found no position with one label, expected development data"):
        fit([TRAIN], Recipe(), dev)


@pytest.mark.parametrize("texts", [["a/N b/N", "c/?"], ["a/N|V b/?", "c/V|N"]])
def test_corpora_that_say_nothing(texts: list[str]) -> None:
    told = r"f: found no evidence: every token allows every label \(N.*\), expected a corpus that tells labels from"
    with pytest.raises(CorpusError, match=told):
        fit([corpus(*texts)], Recipe())
    assert fit([corpus(*texts), corpus("d/V")], Recipe(), run=Run(SHORT)).outcome.iterations == 4


def test_development_data_of_another_guideline() -> None:
    with pytest.raises(CorpusError, match="f: found development data of the guideline 'h', expected 'g', of the model"):
        fit([TRAIN], Recipe(), replace(DEV, guideline="h"))
    with pytest.raises(CorpusError, match=r"does not know at 100.0 % of the positions \(Q R\), expected .* of g: N "):
        fit([TRAIN], Recipe(), corpus("a/Q b/R"))


def test_the_best_iteration_is_kept() -> None:
    fitted = fit([TRAIN], Recipe(), DEV, Run(Schedule(iterations=8)))
    scores = [each.score for each in fitted.outcome.history]
    assert fitted.outcome.score == max(score for score in scores if score is not None)
    again = dev_score(fitted.model, DEV)(fitted.model.weights)
    assert again == fitted.outcome.score == fitted.model.about["dev_score"]
    assert fitted.model.about["iterations"] == fitted.outcome.iterations == len(scores)
    assert fitted.model.about["recipe"] == Recipe().to_json()


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
@pytest.mark.parametrize(("learner", "rate"), [("sgd", 1e30), ("adagrad", 1e38)])
def test_a_learner_that_diverges_says_so(learner: str, rate: float) -> None:
    with pytest.raises(TrainingError, match="training diverged in iteration"):
        fit([TRAIN], Recipe(learner=learner, settings={"rate": rate}), run=Run(Schedule(30)))


# Where most positions are unknown


SPARSE = corpus("a/N b/? c/? d/?", "b/? a/? c/O a/? d/?", "c/? d/V a/? b/?")


def test_training_begins_pointwise_where_most_positions_have_not_one_label() -> None:
    problem = prepare([SPARSE], Recipe())
    assert problem.beginning is not None
    assert prepare([TRAIN], Recipe()).beginning is None
    assert prepare([SPARSE], Recipe(transitions=False)).beginning is None
    seen: list[Iteration] = []

    class Watch:
        def iteration(self, iteration: Iteration, limit: int) -> None:
            seen.append(iteration)

    fitted = fit_problem(problem, Recipe(), None, Run(SHORT, Watch()))
    assert [iteration.number for iteration in seen] == [1, 2, 3, 4, 1, 2, 3, 4]
    first = fit_problem(problem.pointwise(), Recipe(), run=Run(SHORT), trainer=Recipe().trainer()).model.weights
    assert np.array_equal(problem.objective.parameters.split(first)[0].transition, np.zeros((3, 3)))
    warm = replace(problem, model=replace(problem.model, weights=first))
    again = fit_problem(warm, Recipe(), run=Run(SHORT), trainer=Recipe().trainer().fine_tuning()).model.weights
    assert np.array_equal(fitted.model.weights, again)


def test_words_taken_for_labels_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of labels take memory by the square; relations of a parser have a weight for each row of features."""
    monkeypatch.setattr(memory, "_LEAST", 1 << 20)
    monkeypatch.setattr(memory, "machine_memory", lambda: 1 << 24)
    text = " ".join(f"w{i}/w{i}" for i in range(300))
    expected = r"f: found 300 labels \('w0', .* expected at most 228 on this machine: .*2 MB.*words taken for labels"
    with pytest.raises(CorpusError, match=expected):
        fit([corpus(text)], Recipe())
    tree = tuple((Arc(i, f"r{i}"),) for i in range(4))
    trees = Corpus((Sentence(("a", "b", "c", "d"), heads={"head": tree}),), "head")
    with pytest.raises(CorpusError, match="found 4 labels"):
        fit([trees], Recipe(Task("parse"), bits=6))


# Memory


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


@pytest.mark.skipif(sys.platform != "linux", reason="glibc is of Linux")
def test_memory_between_pieces_in_use_is_returned_once_freed() -> None:
    pieces = [bytes([1]) * 100_000 for _ in range(1000)]
    before = resident_bytes()
    del pieces[::2]
    return_freed_memory()
    assert before - resident_bytes() > 30_000_000
