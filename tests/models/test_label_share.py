"""The penalty on the expected share of labels: its value, its gradient, and what learners make of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.corpus.spans import Span
from tagweave.learning.run import Run, Schedule
from tagweave.structures.terms import LabelShare, RunningShare
from tagweave.training.cascades.incomplete import ratio_of
from tagweave.training.fit.fit import prepare
from tagweave.training.fit.problem import Problem, fit_problem
from tagweave.training.fit.recipe import EntityRatio, Recipe
from tagweave.training.fit.task import Task

TEXTS = ["we met Anna Bell in Paris today", "Anna saw Nice", "it rained all day in Nice and in Paris", "no names here"]
NAMES = {"Anna": "PER", "Paris": "LOC", "Nice": "LOC"}


def corpus(elsewhere: tuple[str, ...] | None) -> Corpus:
    """Sentences in which names are marked, except in the first."""
    sentences = []
    for number, text in enumerate(TEXTS):
        forms = tuple(text.split())
        spans = [(Span(t, t + 1, NAMES[form]),) for t, form in enumerate(forms) if form in NAMES and number]
        sentences.append(Sentence(forms, weight=1.0 + number % 2).with_spans("tag", spans, elsewhere))
    return Corpus(tuple(sentences))


def problem(ratio: EntityRatio | None, precision: str = "float64", threads: int = 1, **settings: object) -> Problem:
    recipe = Recipe(Task("spans"), precision=precision, threads=threads, ratio=ratio, **settings)  # type: ignore[arg-type]
    return prepare([corpus(None)], recipe)


@pytest.mark.parametrize("target", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("threads", [1, 2])
def test_the_gradient_is_that_of_the_loss(target: float, threads: int) -> None:
    objective = problem(EntityRatio(target, 0.05, 0.7), threads=threads).objective
    rng = np.random.default_rng(0)
    weights, direction = rng.normal(size=(2, objective.size))
    direction /= np.linalg.norm(direction)
    loss, gradient = objective.loss_and_gradient(weights)
    step = 1e-5
    above, below = (objective.loss_and_gradient(weights + sign * step * direction)[0] for sign in (1, -1))
    assert gradient @ direction == pytest.approx((above - below) / (2 * step), rel=1e-6)
    plain, _ = problem(None).objective.loss_and_gradient(weights)
    assert loss > plain


@pytest.mark.parametrize("target", [0.0, 1.0])
@pytest.mark.parametrize("threads", [1, 2])
def test_batches_add_up_to_a_full_pass(target: float, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The share is above or below the target throughout, so every batch has the same slope."""
    monkeypatch.setattr("tagweave.models.objective._SHARED_WORK", 0)
    ratio = EntityRatio(target, 0.05, 0.7)
    weights = np.random.default_rng(0).normal(size=problem(ratio).objective.size)
    loss, gradient = problem(ratio).objective.loss_and_gradient(weights)
    for size in (1, 3, 4):
        objective, total, found = problem(ratio, threads=threads).objective, 0.0, np.zeros_like(gradient)
        for first in range(0, 4, size):
            total += objective.add_batch(weights, first, min(4, first + size), found)
        np.testing.assert_allclose(found, gradient, rtol=1e-5, atol=1e-8)
        if size == 4:  # otherwise every batch pays for the share of those before it
            assert total == pytest.approx(loss, rel=1e-8)


def test_single_precision_gives_the_same_gradient() -> None:
    ratio = EntityRatio(0.0, 0.05, 0.7)
    exact, rough = problem(ratio).objective, problem(ratio, "float32").objective
    weights = np.random.default_rng(0).normal(size=exact.size)
    expected = exact.loss_and_gradient(weights)[1]
    found = rough.loss_and_gradient(weights.astype(np.float32))[1]
    np.testing.assert_allclose(found, expected, atol=2e-4)


def test_within_the_margin_nothing_changes_but_sentences_without_evidence_count() -> None:
    inside = problem(EntityRatio(0.5, 0.5)).objective
    plain = problem(None).objective
    weights = np.random.default_rng(1).normal(size=plain.size)
    assert len(inside) == len(TEXTS) > len(plain)
    np.testing.assert_allclose(inside.loss_and_gradient(weights)[1], plain.loss_and_gradient(weights)[1], atol=1e-9)


def test_the_penalty_is_a_hinge_on_both_sides() -> None:
    share = LabelShare(np.array([True]), 0.2, 0.05, 2.0)
    assert [share.loss(x) for x in (0.1, 0.16, 0.24, 0.3)] == pytest.approx([0.1, 0, 0, 0.1])
    assert [share.slope(x) for x in (0.1, 0.16, 0.24, 0.3)] == [-2, 0, 0, 2]


def test_the_running_share_forgets() -> None:
    running = RunningShare(LabelShare(np.array([True]), 0.2, 0.05, 2.0))
    running.add(10, 20)
    assert running.share == 0.5
    for _ in range(100):
        running.add(0, 1000)
    assert running.share < 0.01


@pytest.mark.parametrize("learner", ["adagrad", "sgd", "lbfgs"])
def test_spans_alone_are_learnt_with_the_share_of_the_text(learner: str) -> None:
    gold = corpus(("O",))
    target = ratio_of(gold)
    recipe = Recipe(Task("spans"), learner=learner, ratio=EntityRatio(target, 0.02, 3.0))
    fitted = fit_problem(prepare([corpus(None)], recipe), recipe, run=Run(Schedule(iterations=30)))
    gamma, _ = fitted.model.marginals(prepare([gold], recipe).objective.encoded)
    weights = np.repeat([1.0, 2.0, 1.0, 2.0], [len(text.split()) for text in TEXTS])
    outside = fitted.model.space.names.index("O")
    assert 1 - np.average(gamma[:, outside], weights=weights) == pytest.approx(target, abs=0.12)


def test_a_ratio_is_for_spans_and_gradients() -> None:
    with pytest.raises(ValueError, match="expected the task spans"):
        Recipe(Task("tag"), ratio=EntityRatio(0.2))
    with pytest.raises(ValueError, match="a learner that follows a gradient"):
        Recipe(Task("spans"), learner="perceptron", ratio=EntityRatio(0.2))


def test_the_share_is_counted_in_complete_annotation() -> None:
    assert ratio_of(corpus(("O",))) == pytest.approx(4 / 22)
    with pytest.raises(ValueError, match="a token without one label"):
        ratio_of(corpus(None))
    with pytest.raises(ValueError, match="no token"):
        ratio_of(replace(corpus(("O",)), sentences=()))
