"""Fits of parsers that are stopped at any moment and resumed give the models of those that were not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tagged import Impatient

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.features.arc_templates import ArcTemplates
from tagweave.learning.learners import adagrad
from tagweave.learning.run import Run, Schedule
from tagweave.models.tree import TreeModel
from tagweave.training.cascades.guided import fit_guided
from tagweave.training.fit.fit import fit
from tagweave.training.fit.problem import Fitted
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import Task
from treebank import treebank, with_evidence

ITERATIONS = 4
TEMPLATES = ArcTemplates(("h.upos[0] m.upos[0]", "h.form[0] m.upos[0]", "m.form[0] m.upos[-1]"))
LEARNERS = ("adagrad", "perceptron", "sgd", "lbfgs")


def recipe_of(learner: str, **more: int) -> Recipe:
    return Recipe(Task("parse"), TEMPLATES, learner, {"rate": 0.1} if learner == "sgd" else {}, bits=8, **more)


def halved(given: Sentence) -> Sentence:
    """With the head of every second token."""
    return with_evidence(given, *(c if at % 2 else None for at, c in enumerate(given.heads["head"])))


def corpus(*sentences: Sentence) -> Corpus:
    return Corpus(sentences, "head")


FULL, PARTIAL = corpus(*treebank(8)), corpus(*map(halved, treebank(8)))
DEV = corpus(*treebank(6, seed=4))


def arrays(model: TreeModel) -> list[bytes]:
    assert model.weights.any()
    assert model.labels is not None
    guide = [] if model.guide is None else arrays(model.guide)
    return [model.weights.tobytes(), model.labels.weights.tobytes(), *guide]


def assert_same(one: Fitted, other: Fitted) -> None:
    assert arrays(one.model) == arrays(other.model)
    assert one.model.labels is not None
    assert other.model.labels is not None
    assert one.model.labels.names == other.model.labels.names
    assert (one.outcome.score, one.outcome.iterations) == (other.outcome.score, other.outcome.iterations)
    assert one.notes == other.notes


@pytest.mark.parametrize(
    ("learner", "train", "dev"), [*zip(LEARNERS, [FULL, PARTIAL, FULL, PARTIAL], [DEV, None, None, DEV], strict=True)]
)
def test_stopped_and_resumed(learner: str, train: Corpus, dev: Corpus | None, tmp_path: Path) -> None:
    recipe = recipe_of(learner)
    whole = fit([train], recipe, dev, Run(Schedule(ITERATIONS)))
    for stop in range(1, ITERATIONS + 1):
        schedule = Schedule(ITERATIONS, checkpoint=tmp_path / f"{stop}", identity="run")
        stopped = fit([train], recipe, dev, Run(schedule, Impatient(stop)))
        if not stopped.outcome.interrupted:
            assert_same(stopped, whole)
            break
        assert stopped.outcome.iterations == stop
        assert stopped.model.labels is not None
        assert_same(fit([train], recipe, dev, Run(replace(schedule, resume=True))), whole)


def test_a_guided_parser_is_resumed(tmp_path: Path) -> None:
    recipe = recipe_of("adagrad")
    source = replace(FULL.map(_renamed), guideline="other")
    guide = fit([source], recipe, run=Run(Schedule(2))).model
    whole = fit_guided([PARTIAL], guide, recipe, DEV, Run(Schedule(ITERATIONS)))
    schedule = Schedule(ITERATIONS, checkpoint=tmp_path / "state", identity="run")
    assert fit_guided([PARTIAL], guide, recipe, DEV, Run(schedule, Impatient(2))).outcome.interrupted
    again = fit_guided([PARTIAL], guide, recipe, DEV, Run(replace(schedule, resume=True)))
    assert_same(again, whole)
    assert again.model.guide is guide


def _renamed(sentence: Sentence) -> Sentence:
    return replace(sentence, heads={"other": sentence.heads["head"]})


def test_stopped_while_relations_are_learnt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The heads are there, and the relations as far as they have come; what is resumed has all of both."""
    recipe = recipe_of("perceptron")
    whole = fit([FULL], recipe, run=Run(Schedule(ITERATIONS)))
    schedule, steps = Schedule(ITERATIONS, checkpoint=tmp_path / "state", identity="run"), []
    step = adagrad.AdaGrad.step  # of relations alone: the heads are the perceptron's

    def stopping(*arguments: object) -> None:
        steps.append(1)
        if len(steps) == 3:
            raise KeyboardInterrupt
        step(*arguments)

    monkeypatch.setattr(adagrad.AdaGrad, "step", stopping)
    stopped = fit([FULL], recipe, run=Run(schedule))
    monkeypatch.undo()
    assert len(steps) == 3
    assert stopped.outcome.interrupted
    assert stopped.outcome.iterations == whole.outcome.iterations
    assert arrays(stopped.model)[0] == arrays(whole.model)[0]
    assert arrays(stopped.model)[1] != arrays(whole.model)[1]
    assert_same(fit([FULL], recipe, run=Run(replace(schedule, resume=True))), whole)


def test_stopped_before_anything_is_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopping(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(adagrad.AdaGrad, "step", stopping)
    stopped = fit([FULL], recipe_of("adagrad"), run=Run(Schedule(2)))
    assert (stopped.outcome.iterations, stopped.outcome.interrupted) == (0, True)
    assert stopped.model.labels is None


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("learner", LEARNERS)
def test_the_same_seed_and_threads_give_the_same_model(learner: str, threads: int) -> None:
    one, two = (fit([FULL, PARTIAL], recipe_of(learner, threads=threads), DEV, Run(Schedule(3))) for _ in range(2))
    assert_same(one, two)


def test_another_seed_gives_another_model() -> None:
    recipes = [replace(recipe_of("adagrad"), settings={"seed": seed, "batch": 1}) for seed in (0, 1)]
    one, two = (fit([FULL], recipe, run=Run(Schedule(2))) for recipe in recipes)
    assert arrays(one.model)[0] != arrays(two.model)[0]
