"""Guided models whose guides are bettered in rounds: which steps there are, what they see, what they are good
for."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from typing import Any

import invented
import pytest

from tagweave.conversion import convert, convert_trees
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError
from tagweave.features.arc_templates import ArcTemplates
from tagweave.learning.run import Run, Schedule, Silence
from tagweave.training.cascades.chain_system import ChainSystem
from tagweave.training.cascades.guided import fit_stages
from tagweave.training.cascades.guided_rounds import fit_guided_in_rounds
from tagweave.training.cascades.system import FitStep, Parallel
from tagweave.training.cascades.tree_system import TreeSystem
from tagweave.training.fit.problem import Fitted
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import Task

TEMPLATES = ArcTemplates(("h.upos[0] m.upos[0]", "m.form[0]", "h.form[0]"))
CONTENT, FUNCTION = invented.treebank(60)
UNSEEN_CONTENT, UNSEEN_FUNCTION = invented.treebank(30, seed=1)


def system_of(**more: Any) -> TreeSystem:
    recipe = Recipe(Task("parse"), TEMPLATES, settings={"seed": 0}, bits=12)
    return TreeSystem(recipe, Run(Schedule(iterations=3), **more))


def steps_of(lines: list[str]) -> list[str]:
    """What is trained, of the lines that a run is told."""
    return [match[1] for line in lines if (match := re.match(r"\d+/\d+ (.*) \(after", line))]


def part(corpus: Corpus, start: int, stop: int) -> Corpus:
    return corpus.with_sentences(corpus.sentences[start:stop])


TARGET, DEV, SOURCE = part(FUNCTION, 0, 25), part(FUNCTION, 25, 35), part(CONTENT, 35, 60)


def converted(fitted: Fitted) -> float:
    """The share of right heads in the conversion of unseen gold trees."""
    found = convert_trees(fitted.model, UNSEEN_CONTENT)
    pairs = [
        (one, other)
        for a, b in zip(found, UNSEEN_FUNCTION, strict=True)
        for one, other in zip(a.heads["function"], b.heads["function"], strict=True)
    ]
    return sum(one and other and one[0].head == other[0].head for one, other in pairs) / len(pairs)


@pytest.mark.parametrize("with_dev", [True, False])
def test_steps_alternate_and_the_last_is_the_target(with_dev: bool) -> None:
    for rounds, transfers in ((2, ["function to content"]), (3, ["content to function", "function to content"])):
        lines: list[str] = []
        dev = DEV if with_dev else None
        fitted = fit_guided_in_rounds(system_of(tell=lines.append), [TARGET], [SOURCE], dev, rounds)
        assert steps_of(lines) == [
            "source model of content",
            "target model of function",
            *(f"round {number}: transfer model, {each}" for number, each in enumerate(transfers, 1)),
            f"round {rounds}: guided model of function",
        ]
        assert sum(f"/{rounds + 2} " in line for line in lines) == rounds + 2
        assert fitted.model.guideline == "function"
        assert fitted.model.guide is not None
        assert fitted.model.guide.guideline == "content"
        assert (fitted.outcome.score is not None) == with_dev


def test_it_converts_well() -> None:
    fitted = fit_guided_in_rounds(system_of(), [TARGET], [SOURCE], DEV)
    assert converted(fitted) > 0.9
    assert fitted.outcome.score is not None
    assert fitted.outcome.score > 0.9


def test_what_guides_is_made_of_gold_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """The text is the target's as it was; what is open in its trees is filled in before they are transformed."""
    given: list[Parallel[Any]] = []

    def recorded(system: TreeSystem, guide: Fitted, parallel: Any, dev: Any, step: FitStep) -> Fitted:
        given.extend(parallel)
        return guide

    monkeypatch.setattr(TreeSystem, "train_guided", recorded)

    def opened(sentence: Sentence) -> Sentence:
        return replace(sentence, heads={"function": (None, *sentence.heads["function"][1:])})

    for corpus in (TARGET, TARGET.map(opened)):
        fit_guided_in_rounds(system_of(), [corpus], [SOURCE])
        shown = given.pop()
        assert shown.corpus == corpus
        assert [len(tree) for tree in shown.guides] == [len(sentence) for sentence in corpus]
        gold = [[arcs[0].head for arcs in s.heads["content"] if arcs] for s in part(CONTENT, 0, 25)]
        pairs = [
            (arc.head, head)
            for tree, own in zip(shown.guides, gold, strict=True)
            for arc, head in zip(tree, own, strict=True)
        ]
        assert sum(a == b for a, b in pairs) > 0.85 * len(pairs)


def test_a_step_that_is_stopped_stops_all() -> None:
    class Stopping(Silence):
        def iteration(self, *_: Any) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit_guided_in_rounds(system_of(callback=Stopping()), [TARGET], [SOURCE])


def test_what_cannot_be_done_is_refused() -> None:
    with pytest.raises(ValueError, match="found 1 rounds, expected 2 or more"):
        fit_guided_in_rounds(system_of(), [TARGET], [SOURCE], rounds=1)
    with pytest.raises(CorpusError, match="guideline"):
        fit_guided_in_rounds(system_of(), [TARGET], [replace(TARGET)])


# Taggers


def tagged(name: str, sentences: int, seed: int) -> Corpus:
    """Words whose tags nobody can tell from the words; but `n` stands where the other guideline has `N`."""
    rng, found = random.Random(seed), []
    for _ in range(sentences):
        forms, tags = zip(*((rng.choice("abc"), rng.choice("NV")) for _ in range(5)), strict=True)
        layers = {"upper": tuple((tag,) for tag in tags), "lower": tuple((tag.lower(),) for tag in tags)}
        found.append(Sentence(forms, {name: layers[name]} if name in layers else layers))
    return Corpus(tuple(found), name)


def test_a_tagger_that_learned_from_right_labels_trusts_those_that_it_is_given() -> None:
    target, source, both = tagged("lower", 60, 1), tagged("upper", 60, 2), tagged("both", 30, 3)
    given = replace(both.map(lambda sentence: sentence.with_layers_of(["upper"])), guideline="upper")

    def right(fitted: Fitted) -> float:
        pairs = zip(convert(fitted.model, given, "lower"), both, strict=True)
        same = [a == b for x, y in pairs for a, b in zip(x.layers["lower"], y.layers["lower"], strict=True)]
        return sum(same) / len(same)

    lines: list[str] = []
    system = ChainSystem(Recipe(), Run(Schedule(iterations=6), tell=lines.append))
    guide = system.train([source], None, FitStep(1, 2, "guide"))
    labels = [tuple(c[0].upper() for c in sentence.layers["lower"] if c) for sentence in target]
    fitted = system.train_guided(guide, [Parallel(target, labels)], None, FitStep(2, 2, "stacked", last=True))
    assert right(fitted) == 1
    assert right(fit_stages([target], [source], Recipe(), None, system.run)) < 0.8
    rounds = fit_guided_in_rounds(system, [target], [source], tagged("lower", 10, 4))
    assert rounds.outcome.score is not None
    assert steps_of(lines)[2:] == [
        "round 1: transfer model, lower to upper",
        "round 2: guided model of lower",
    ]
