"""The steps of annotation adaptation, over a system of nothing but dictionaries: order, data, rounds, interrupts.

A sentence is one word, its annotation one label. A model knows the label of each word it has seen; a transfer model
knows, of each guide label, the label that it went with last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Event
from typing import Any

import numpy as np
import pytest

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError
from tagweave.learning.loop import FitOutcome
from tagweave.learning.run import Run
from tagweave.training.cascades.system import FitStep, KBest, Parallel
from tagweave.training.cascades.transform import PredictSelf, fit_iterated, fit_transformed

UNKNOWN = "-"


def corpus(guideline: str, **labels: str) -> Corpus:
    """A sentence of one word for each keyword."""
    return Corpus(tuple(Sentence((word,), {guideline: ((label,),)}) for word, label in labels.items()), guideline)


def label_of(sentence: Sentence, guideline: str) -> str:
    (candidates,) = sentence.layers[guideline]
    assert candidates is not None
    return candidates[0]


@dataclass
class Model:
    name: str
    labels: dict[str, str]
    outcome: FitOutcome


@dataclass
class Dictionaries:
    """The toy; `told` are the steps with the pairs that each was trained on."""

    told: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    scores_by_step: dict[str, float] = field(default_factory=dict)
    stop_at: str = ""
    devs: dict[str, Any] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    steps: list[FitStep] = field(default_factory=list)

    @property
    def run(self) -> Run:
        return Run(tell=self.lines.append)

    def _model(self, step: FitStep, labels: dict[str, str], dev: Any) -> Model:
        self.steps.append(step)
        if step.what == self.stop_at:
            raise KeyboardInterrupt
        self.told.append((step.what, labels))
        self.devs[step.what] = dev
        return Model(step.what, labels, FitOutcome(np.zeros(0), score=self.scores_by_step.get(step.what)))

    def train(self, corpora: Sequence[Corpus], dev: Corpus | None, step: FitStep) -> Model:
        assert len({each.guideline for each in corpora}) == 1
        labels = {s.forms[0]: label_of(s, each.guideline) for each in corpora for s in each}
        return self._model(step, labels, dev)

    def train_transfer(self, parallel: Sequence[Parallel[str]], dev: Parallel[str] | None, step: FitStep) -> Model:
        pairs = {
            guide: label_of(sentence, each.corpus.guideline)
            for each in parallel
            for sentence, guide in zip(each.corpus, each.guides, strict=True)
            if guide != UNKNOWN
        }
        return self._model(step, pairs, dev)

    def annotate(self, model: Model, corpus: Corpus) -> list[str]:
        return [model.labels.get(sentence.forms[0], UNKNOWN) for sentence in corpus]

    def own_annotations(self, model: Model, corpus: Corpus) -> list[str]:
        return [label_of(sentence, corpus.guideline) for sentence in corpus]

    def transform(self, transfer: Model, text: Parallel[str]) -> list[str]:
        return [transfer.labels.get(guide, UNKNOWN) for guide in text.guides]

    def candidates(self, transfer: Model, text: Parallel[str], k: int) -> list[KBest[str]]:
        """The best one, and one that always leads back."""
        return [
            KBest([best, f"back:{guide}"][:k], np.array([-1.0, -3.0])[:k])
            for best, guide in zip(self.transform(transfer, text), text.guides, strict=True)
        ]

    def scores(self, transfer: Model, corpus: Corpus, guides: Sequence[Sequence[str]]) -> list[np.ndarray]:
        return [
            np.array([0.0 if guide == f"back:{label_of(s, corpus.guideline)}" else -4.0 for guide in own])
            for s, own in zip(corpus, guides, strict=True)
        ]

    def annotated(self, corpus: Corpus, annotations: Sequence[str], guideline: str) -> Corpus:
        pairs = zip(corpus, annotations, strict=True)
        return Corpus(tuple(Sentence(s.forms, {guideline: ((label,),)}) for s, label in pairs), guideline)

    def relabelled(self, transfer: Model, text: Parallel[str], guideline: str) -> Corpus:
        return self.annotated(text.corpus, self.transform(transfer, text), guideline)


TARGET = corpus("T", a="A", b="B")
SOURCE = corpus("S", a="x", b="y", c="x", d="y", e="z")
DEV = corpus("T", c="A")
PLAIN = PredictSelf((0.0,))


def names(system: Dictionaries) -> list[str]:
    return [name for name, _ in system.told]


# Model 2


def test_model_2_relabels_the_source_and_merges_it() -> None:
    system = Dictionaries()
    final = fit_transformed(system, [TARGET], [SOURCE], DEV)
    assert system.lines[1] == "2/3 transfer model, S to T (after 0 s)"
    assert [tuple(step) for step in system.steps] == [
        (1, 3, "source model of S", False),
        (2, 3, "transfer model, S to T", False),
        (3, 3, "final model of T", True),
    ]
    assert system.told[1][1] == {"x": "A", "y": "B"}
    assert final.labels == {"a": "A", "b": "B", "c": "A", "d": "B", "e": UNKNOWN}
    assert system.devs["final model of T"] is DEV
    assert system.devs["transfer model, S to T"] == Parallel(DEV, ["x"])
    assert system.devs["source model of S"] is None


def test_every_source_guideline_has_models_of_its_own() -> None:
    other, more = corpus("U", a="1", b="2", f="1"), corpus("S", g="y")
    source_dev = corpus("U", a="1")
    system = Dictionaries()
    final = fit_transformed(system, [TARGET], [SOURCE, other, more], source_devs=[source_dev])
    assert names(system) == [
        "source model of S",
        "transfer model, S to T",
        "source model of U",
        "transfer model, U to T",
        "final model of T",
    ]
    assert system.told[0][1] == {"a": "x", "b": "y", "c": "x", "d": "y", "e": "z", "g": "y"}
    assert system.told[3][1] == {"1": "A", "2": "B"}
    assert {word: final.labels[word] for word in "cdfg"} == {"c": "A", "d": "B", "f": "A", "g": "B"}
    assert system.devs["source model of U"] is source_dev


def test_corpora_must_be_of_two_guidelines() -> None:
    with pytest.raises(CorpusError, match="found no corpus"):
        fit_transformed(Dictionaries(), [TARGET], [])
    with pytest.raises(CorpusError, match="found no corpus"):
        fit_iterated(Dictionaries(), [], [SOURCE], DEV)
    with pytest.raises(CorpusError, match="expected another guideline than that of the source"):
        fit_transformed(Dictionaries(), [TARGET], [SOURCE, corpus("T", c="A")])


# Model 3


def test_one_round_without_a_way_back_is_model_2() -> None:
    second, third = Dictionaries(), Dictionaries()
    final = fit_transformed(second, [TARGET], [SOURCE], DEV)
    iterated = fit_iterated(third, [TARGET], [SOURCE], DEV, PLAIN, rounds=1)
    assert iterated.model.labels == final.labels
    assert names(third) == [
        "target model of T",
        "source model of S",
        "round 1: transfer model, S to T",
        "round 1: transfer model, T to S",
        "round 1: final model of T",
    ]


def test_what_a_round_transforms_guides_the_next() -> None:
    """The first guide of `b`, unknown to the source model, is no evidence; after the way back it is that of `B`."""
    source = corpus("S", a="x", c="y", d="y")
    target = corpus("T", a="A", b="B", c="B")
    system = Dictionaries(scores_by_step={"round 1: final model of T": 0.1, "round 2: final model of T": 0.2})
    fit_iterated(system, [target], [source], DEV, PLAIN, rounds=2)
    told = dict(system.told)
    assert told["source model of S"] == {"a": "x", "c": "y", "d": "y"}
    assert system.devs["round 1: transfer model, S to T"].guides == [told["source model of S"]["c"]]
    assert system.devs["round 2: transfer model, S to T"].guides == ["x"]  # of A, as the way back has it
    assert told["round 2: transfer model, T to S"] == {"A": "x", "B": "y"}


@pytest.mark.parametrize(
    ("scores", "best", "tried"), [((1, 2, 2, 9), 2, 3), ((3, 2, 9, 9), 1, 2), ((1, 2, 3, 4), 4, 4)]
)
def test_it_stops_when_a_round_is_no_better(scores: tuple[float, ...], best: int, tried: int) -> None:
    system = Dictionaries(scores_by_step={f"round {n}: final model of T": s for n, s in enumerate(scores, 1)})
    found = fit_iterated(system, [TARGET], [SOURCE], DEV, PLAIN, rounds=4)
    assert found.model.name == f"round {best}: final model of T"
    assert (found.best.number, found.best.score) == (best, scores[best - 1])
    assert [each.number for each in found.rounds] == list(range(1, tried + 1))
    assert not found.interrupted


def test_the_share_of_the_way_back_that_is_best_is_kept_in_every_round() -> None:
    scores = {
        "round 1: final model of T, way back 0": 1,
        "round 1: final model of T, way back 0.5": 2,
        "round 2: final model of T, way back 0": 4,
        "round 2: final model of T, way back 0.5": 3,
    }
    system = Dictionaries(scores_by_step=scores)
    found = fit_iterated(system, [TARGET], [SOURCE], DEV, PredictSelf((0.0, 0.5)), rounds=2)
    assert [(n, share) for n, share, _ in found.rounds] == [(1, 0), (1, 0.5), (2, 0), (2, 0.5)]
    assert (found.best.number, found.best.share) == (2, 0)
    told = dict(system.told)
    assert told["round 1: final model of T, way back 0"]["c"] == "A"
    assert told["round 1: final model of T, way back 0.5"]["c"] == "back:x"  # -0.5 - 2 < -1.5
    assert "back:x" in told["round 2: transfer model, T to S"]  # the guides of the better share


def test_equal_transformations_are_not_trained_on_twice() -> None:
    system = Dictionaries()
    found = fit_iterated(system, [TARGET], [SOURCE], DEV, PredictSelf((0.1, 0.2, 0.5)), rounds=1)
    assert [name for name in names(system) if "final" in name] == [
        "round 1: final model of T, way back 0.1",
        "round 1: final model of T, way back 0.5",
    ]
    assert len(found.rounds) == 3


def test_filtering_drops_what_does_not_lead_back() -> None:
    system = Dictionaries()
    found = fit_iterated(system, [TARGET], [SOURCE], DEV, PredictSelf(filter=True), rounds=1)
    back = dict(system.told)["round 1: transfer model, T to S"]
    assert back == {"A": "x", "B": "y"}
    assert set(found.model.labels) == {"a", "b", "c", "d"}  # not e: nothing is known of z
    untouched = fit_iterated(Dictionaries(), [TARGET], [SOURCE], DEV, PLAIN, rounds=1)
    assert set(untouched.model.labels) == {"a", "b", "c", "d", "e"}


def test_an_interrupt_keeps_the_best_round() -> None:
    system = Dictionaries(scores_by_step={"round 1: final model of T": 1.0}, stop_at="round 2: transfer model, T to S")
    found = fit_iterated(system, [TARGET], [SOURCE], DEV, PLAIN, 5)
    assert found.interrupted
    assert found.model.name == "round 1: final model of T"
    with pytest.raises(KeyboardInterrupt):
        fit_iterated(Dictionaries(stop_at="round 1: final model of T"), [TARGET], [SOURCE], DEV, PLAIN, 5)


def test_steps_are_counted() -> None:
    system = Dictionaries(scores_by_step={"round 1: final model of T": 1})
    more = corpus("U", a="1", b="2")
    fit_iterated(system, [TARGET], [SOURCE, more], DEV, PLAIN, 3)
    steps = system.steps
    assert [step.number for step in steps] == list(range(1, len(steps) + 1))
    assert {step.of for step in steps} == {1 + 2 + 3 * (2 * 2 + 1)}
    assert not any(step.last for step in steps)


def test_a_round_is_needed() -> None:
    with pytest.raises(ValueError, match="expected 1 or more"):
        fit_iterated(Dictionaries(), [TARGET], [SOURCE], DEV, rounds=0)


def test_a_cancelled_run_keeps_the_best_round() -> None:
    is_cancelled = Event()

    class Cancelled(Dictionaries):
        @property
        def run(self) -> Run:
            return Run(cancel=is_cancelled.is_set)

        def train(self, corpora: Sequence[Corpus], dev: Corpus | None, step: FitStep) -> Model:
            if "final" in step.what:
                is_cancelled.set()
            return super().train(corpora, dev, step)

    found = fit_iterated(Cancelled(), [TARGET], [SOURCE], DEV, PLAIN, 5)
    assert found.interrupted and found.model.name == "round 1: final model of T"
    with pytest.raises(KeyboardInterrupt):
        fit_transformed(Cancelled(), [TARGET], [SOURCE])
