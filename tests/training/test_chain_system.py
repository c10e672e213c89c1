"""Chain models as a system of annotation adaptation: scores by brute force, evidence kept, what Model 2 is good for."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tagged import tagged

from pairwise import pairwise
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Layer, Sentence
from tagweave.evidence.layers import allowed_sets
from tagweave.features.templates import PRESETS, Templates
from tagweave.labels.sets import LabelSets
from tagweave.learning.run import SILENCE, Callback, Run, Schedule
from tagweave.training.cascades.chain_system import ChainSystem
from tagweave.training.cascades.guided import merged
from tagweave.training.cascades.system import FitStep, Parallel
from tagweave.training.cascades.transform import PredictSelf, fit_iterated, fit_transformed, rankings
from tagweave.training.fit.chain_problem import dev_score
from tagweave.training.fit.fit import fit
from tagweave.training.fit.problem import Fitted
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import Task

SHORT = Schedule(iterations=3)
STEP = FitStep(1, 1, "test", last=True)
LEARNERS = ("adagrad", "perceptron")
TASKS = ("tag", "segment", "segtag")


TARGET = {
    "full": tagged("T", "ab/N cde/V f/O", "ab/V f/N", "cde/O ab/N", "f/V"),
    "partial": tagged("T", "ab/N cde/? f/O", "ab/? f/?", "cde/O ab/N", "f/V"),
    "ambiguous": tagged("T", "ab/N|V cde/V f/O", "ab/V f/N|O", "cde/O ab/N", "f/V"),
    "covered": tagged("T", "ab/N cde/V f/O", "ab/V f/N", "cde/O ab/N", "f/V", covered=("N",)),
}
SOURCE = {
    "full": tagged("S", "ab/n c/v", "f/n abc/n de/v", "cd/n e/o f/v", "ab/o f/n"),
    "partial": tagged("S", "ab/n c/?", "f/n abc/? de/v", "cd/? e/? f/?", "ab/o f/n"),
    "ambiguous": tagged("S", "ab/n|v c/v", "f/n abc/n de/v|o", "cd/n e/o f/v", "ab/o f/n"),
    "covered": tagged("S", "ab/n c/v", "f/n abc/n de/v", "cd/n e/O f/v", "ab/O f/n", covered=("n", "v")),
}


def characters(guideline: str) -> Corpus:
    """Characters of which some boundaries, and some tags, are not known."""
    layer: Layer = (("B",), ("E",), None, ("S", "E"), ("S",))
    tags: Layer = (("n",), ("n",), None, None, ("v",))
    known = Sentence(tuple("abcde"), {"segmentation": layer, "tag": tags})
    full = Sentence(tuple("fab"), {"segmentation": (("S",), ("B",), ("E",)), "tag": (("o",), ("n",), ("n",))})
    return Corpus((known, full, Sentence(tuple("fed"))), guideline, "character")


def recipe_of(task: str = "tag", learner: str = "adagrad", **more: Any) -> Recipe:
    return Recipe(Task(task), learner=learner, settings={"seed": 0}, **more)


def system_of(task: str = "tag", learner: str = "adagrad", **more: Any) -> ChainSystem:
    return ChainSystem(recipe_of(task, learner, **more), Run(SHORT))


def weights(fitted: Fitted) -> Any:
    assert fitted.model.weights.any()
    return fitted.model.weights.tolist()


# Scores, by brute force


@cache
def transfer_of(learner: str) -> tuple[ChainSystem, Fitted, Parallel[tuple[str, ...]]]:
    """A transfer model from T to S, and text of S with guides of T."""
    system = system_of(learner=learner)
    guide = system.train([TARGET["full"]], None, STEP)
    text = Parallel(SOURCE["ambiguous"], system.annotate(guide, SOURCE["ambiguous"]))
    return system, system.train_transfer([text], None, STEP), text


def all_scores(system: ChainSystem, fitted: Fitted, sentence: Sentence) -> dict[tuple[str, ...], float]:
    model = fitted.model
    names = model.space.names
    encoded = model.encoder.encode([sentence])
    return {
        tuple(names[i] for i in labels): model.sequence_scores(encoded, np.array(labels, np.int32))[0]
        for labels in product(range(len(names)), repeat=len(sentence))
    }


def total(scores: list[float], learner: str) -> float:
    return max(scores, default=-np.inf) if learner == "perceptron" else float(np.logaddexp.reduce(scores))


@pytest.mark.parametrize("learner", LEARNERS)
def test_candidates_are_the_best_of_all_sequences(learner: str) -> None:
    system, fitted, text = transfer_of(learner)
    for sentence, guide, found in zip(text.corpus, text.guides, system.candidates(fitted, text, 4), strict=True):
        every = all_scores(system, fitted, sentence.with_column("guide:other", guide))
        best = sorted(every.values(), reverse=True)[:4]
        np.testing.assert_allclose(found.scores, np.array(best) - total([*every.values()], learner), atol=1e-4)
        np.testing.assert_allclose([every[labels] for labels in found.annotations], best, atol=1e-4)
    assert [each.annotations[0] for each in system.candidates(fitted, text, 1)] == system.transform(fitted, text)


@pytest.mark.parametrize("learner", LEARNERS)
def test_scores_are_those_of_the_evidence(learner: str) -> None:
    system, fitted, text = transfer_of(learner)
    guides = [[guide, tuple(reversed(guide)), guide][: 1 + i % 3] for i, guide in enumerate(text.guides)]
    found = system.scores(fitted, text.corpus, guides)
    assert [len(each) for each in found] == [1, 2, 3, 1]
    for sentence, own, scores in zip(text.corpus, guides, found, strict=True):
        layer = sentence.layers["S"]
        for guide, score in zip(own, scores, strict=True):
            every = all_scores(system, fitted, sentence.with_column("guide:other", guide))
            allowed = [
                value
                for labels, value in every.items()
                if all(each is None or label in each for label, each in zip(labels, layer, strict=True))
            ]
            np.testing.assert_allclose(score, total(allowed, learner) - total([*every.values()], learner), atol=1e-4)
            assert score <= 1e-5


@pytest.mark.parametrize("learner", LEARNERS)
def test_reestimation_is_the_formula_over_all_candidates(learner: str) -> None:
    system, back, text = transfer_of(learner)
    source = system.train([SOURCE["full"]], None, STEP)
    parallel = Parallel(TARGET["full"], system.annotate(source, TARGET["full"]))
    there = system.train_transfer([parallel], None, STEP)
    given = system.own_annotations(source, text.corpus)
    found = rankings(system, there, back, text.corpus, given, k=100)
    for sentence, own, ranking in zip(text.corpus, given, found, strict=True):
        forward = all_scores(system, there, sentence.with_column("guide:other", own))
        base = total([*forward.values()], learner)
        alone = text.corpus.with_sentences([sentence])
        backward = {y: float(system.scores(back, alone, [[y]])[0][0]) for y in forward}
        for share in (0.0, 0.3, 0.7, 1.0):
            values = {y: (1 - share) * (score - base) + share * backward[y] for y, score in forward.items()}
            assert values[ranking.best(share)] == pytest.approx(max(values.values()), abs=1e-7)


def test_evidence_that_the_coding_excludes_has_no_score() -> None:
    system = system_of("segment", "perceptron")
    words = tagged("S", "ab/n c/v", "abc/n")
    fitted = system.train_transfer([Parallel(words, [("B", "E", "S"), ("B", "M", "E")])], None, STEP)
    broken = Corpus((Sentence(tuple("abc"), {"segmentation": (("B",), ("S",), ("S",))}),), "S", "character")
    assert system.scores(fitted, broken, [[("B", "E", "S")]])[0].tolist() == [-np.inf]


# The own annotation


@pytest.mark.parametrize("kind", SOURCE)
def test_given_labels_are_kept_and_gaps_are_filled(kind: str) -> None:
    system = system_of()
    own = SOURCE[kind]
    model = system.train([own], None, STEP)
    names = model.model.space.names
    sets = LabelSets(model.model.space)
    numbers = allowed_sets(own.sentences, sets, None, own.covered)  # the table grows
    chosen = [names.index(label) for labels in system.own_annotations(model, own) for label in labels]
    assert sets.masks[numbers, chosen].all()


def test_labels_that_the_model_does_not_know_are_no_error() -> None:
    system = system_of()
    model = system.train([SOURCE["full"]], None, STEP)
    strange = tagged("S", "ab/x c/v", "ab/x|n c/?")
    first, second = system.own_annotations(model, strange)
    assert first == ("x", "v")
    assert set(second) <= {"n", "v", "o"}


def test_what_is_unknown_stays_unknown() -> None:
    system = system_of()
    for kind in ("partial", "covered"):
        own = SOURCE[kind]
        labels = [("N",) * len(sentence) for sentence in own]
        found = system.annotated(own, labels, "T")
        assert (found.guideline, found.covered) == ("T", None)
        for before, after in zip(own, found, strict=True):
            silent = [each is None or (kind == "covered" and "O" in each) for each in before.layers["S"]]
            assert after.layers == {"T": tuple(None if s else ("N",) for s in silent)}
    bare = Corpus((Sentence(("ab", "c")),), "S")
    assert system.annotated(bare, [("N", "V")], "T")[0].layers == {"T": (None, None)}


@pytest.mark.parametrize("coding", ["BMES", "BI", "boundary"])
def test_characters_are_relabelled_in_any_coding(coding: str) -> None:
    system = ChainSystem(Recipe(Task("segment", coding)), Run(SHORT))
    own = SOURCE["full"].with_sentences([SOURCE["full"][1]])  # f abc de
    labels = {
        "BMES": ("B", "E", "S", "S", "B", "E"),
        "BI": ("B", "I", "B", "B", "B", "I"),
        "boundary": ("-", "|", "|", "|", "-", "|"),
    }
    (found,) = system.annotated(own, [labels[coding]], "T")
    assert [each and each[0] for each in found.layers["segmentation"]] == ["B", "E", "S", "S", "B", "E"]
    prepared = system.recipe.task.prepare(system.annotated(own, [labels[coding]], "T"))
    assert [each and each[0] for each in prepared[0].layers["T"]] == [*labels[coding]]


def test_boundaries_and_tags_that_are_unknown_stay_so() -> None:
    system = system_of("segtag")
    own = characters("S")
    labels = [("S-N", "S-N", "S-V", "B-V", "E-V"), ("B-N", "E-N", "S-O"), ("S-N", "S-N", "S-N")]
    found = system.annotated(own, labels, "T")
    assert found[0].layers["segmentation"] == (("S",), ("S",), None, ("B",), ("E",))
    assert found[0].layers["tag"] == (("N",), ("N",), None, None, ("V",))
    assert found[1].layers["segmentation"] == (("B",), ("E",), ("S",))
    assert set(found[2].layers["segmentation"]) == set(found[2].layers["tag"]) == {None}


# Whole cascades


@pytest.mark.parametrize(
    ("learner", "task", "choice"), pairwise(LEARNERS, TASKS, [PredictSelf((0.0, 0.5)), PredictSelf(filter=True)])
)
def test_rounds_repeat_exactly(choice: PredictSelf, task: str, learner: str) -> None:
    preset = PRESETS["jiang-2015"] if task != "tag" else None
    system = system_of(task, learner, templates=preset)
    target, source = TARGET["partial"] if task == "tag" else TARGET["full"], SOURCE["full"]
    runs = [fit_iterated(system, [target], [source], TARGET["full"], choice, 2) for _ in range(2)]
    assert weights(runs[0].model) == weights(runs[1].model)
    assert runs[0].rounds == runs[1].rounds
    assert runs[0].best in runs[0].rounds


def test_a_resumed_cascade_ends_in_the_same_model(tmp_path: Path) -> None:
    """Stopped in the third step; the checkpoints of the steps before it are there."""
    told: list[str] = []

    class Stop:
        def iteration(self, iteration: Any, limit: int) -> None:
            if any(line.startswith("3/") for line in told):
                raise KeyboardInterrupt

    def run(resume: bool, callback: Callback = SILENCE) -> Fitted:
        schedule = replace(SHORT, checkpoint=tmp_path / "m.checkpoint", resume=resume, identity="run")
        system = ChainSystem(recipe_of(), Run(schedule, callback, told.append))
        return fit_iterated(system, [TARGET["full"]], [SOURCE["full"]], TARGET["full"], rounds=2).model

    with pytest.raises(KeyboardInterrupt):
        run(False, Stop())
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"m.checkpoint.step-{n}" for n in (1, 2, 3)]
    resumed = run(True)
    for path in tmp_path.iterdir():
        path.unlink()
    assert weights(resumed) == weights(run(False))


# What it is good for


RULE = {"n": "N", "m": "N", "v": "V", "a": "J"}


@cache
def relabelled_pair() -> tuple[Corpus, Corpus, Corpus]:
    """A small target corpus, a large source corpus and target text of its words: tags of one are a function of the
    other's, and no word tells its tag but by having been seen."""
    rng = np.random.default_rng(0)
    words = [chr(0x4E00 + 7 * i) for i in range(60)]
    tag = {word: "nmva"[i % 4] for i, word in enumerate(words)}

    def texts(sentences: int, of: list[str]) -> list[list[str]]:
        return [[of[i] for i in rng.integers(len(of), size=6)] for _ in range(sentences)]

    def made(guideline: str, texts: list[list[str]]) -> Corpus:
        tags = [[tag[word] if guideline == "S" else RULE[tag[word]] for word in text] for text in texts]
        lines = (" ".join(map("/".join, zip(*pair, strict=True))) for pair in zip(texts, tags, strict=True))
        return tagged(guideline, *lines)

    return made("T", texts(12, words[:12])), made("S", texts(80, words)), made("T", texts(30, words))


@pytest.mark.parametrize("learner", LEARNERS)
def test_model_2_learns_a_relabelling(learner: str) -> None:
    target, source, dev = relabelled_pair()
    recipe = recipe_of(learner=learner, templates=Templates(("form[0]",)))
    system = ChainSystem(recipe, Run(Schedule(iterations=8)))

    def accuracy(fitted: Fitted) -> float:
        return dev_score(fitted.model, dev)(fitted.model.weights)

    alone = accuracy(fit([target], recipe, run=Run(Schedule(8))))
    naive = accuracy(fit(merged([target], [source]), recipe, run=Run(Schedule(8))))
    assert alone < 0.7
    assert naive < 0.7
    assert accuracy(fit_transformed(system, [target], [source])) > 0.9
    assert fit_iterated(system, [target], [source], dev, rounds=2).best.score > 0.9
