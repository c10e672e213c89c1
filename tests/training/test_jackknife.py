"""Jackknifing: folds, the labels of each by a model of the others, and corpora of characters that carry a column."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from tagged import tagged

from pairwise import pairwise
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError
from tagweave.labels.coding import CODINGS
from tagweave.learning.run import Run, Schedule
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.training.cascades import jackknife
from tagweave.training.cascades.guided import fit_guided
from tagweave.training.cascades.jackknife import Member, in_characters, jackknifed, members
from tagweave.training.fit.fit import fit
from tagweave.training.fit.problem import fit_problem
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import Task

SHORT = Schedule(iterations=3)
SMALL = Recipe()


def corpus(*texts: str, guideline: str = "g", path: str = "") -> Corpus:
    return tagged(guideline, *texts, path=path)


TEXTS = ("ab/N cde/V f/O", "ab/V f/N", "cde/O ab/N cde/V", "f/V ab/N", "f/O cde/N", "ab/N f/V")
WORDS = corpus(*TEXTS)


def column(done: Corpus, guideline: str = "g") -> list[tuple[str, ...]]:
    return [sentence.columns[f"guide:{guideline}"] for sentence in done]


# Folds


@pytest.mark.parametrize("folds", [2, 3, 5, 9])
def test_folds_share_the_sentences_out(folds: int) -> None:
    corpora = [WORDS, corpus(*TEXTS[:3])]
    found = members(corpora, folds, 0)
    assert sorted(at for fold in found for at in fold) == [Member(c, s) for c, n in ((0, 6), (1, 3)) for s in range(n)]
    assert {len(fold) for fold in found} <= {9 // folds, -(-9 // folds)}
    assert found == [sorted(fold) for fold in found] == members(corpora, folds, 0)


def test_folds_depend_on_the_seed_alone() -> None:
    found = {str(members([WORDS], 3, seed)) for seed in range(5)}
    assert len(found) > 1
    others = WORDS.map(lambda sentence: replace(sentence, weight=2.0))
    assert members([others], 3, 4) == members([WORDS], 3, 4)


@pytest.mark.parametrize("folds", [-1, 0, 1, 7])
def test_folds_that_there_cannot_be(folds: int) -> None:
    with pytest.raises(ValueError, match=f"found {folds} folds, expected 2 to 6, the number of sentences"):
        jackknifed([WORDS], SMALL, folds)


# Labels


def test_each_fold_is_labelled_by_a_model_of_the_others() -> None:
    corpora = [replace(corpus(*TEXTS[:4]), weight=2.0), corpus(*TEXTS[4:], "new/? f/?")]
    done = jackknifed(corpora, SMALL, 3, 1, run=Run(SHORT))
    for held_out in members(corpora, 3, 1):
        others = [
            each.with_sentences(sentence for s, sentence in enumerate(each) if Member(c, s) not in held_out)
            for c, each in enumerate(corpora)
        ]
        tagger = ChainPredictor(fit(others, SMALL, run=Run(SHORT)).model)
        for at in held_out:
            (tagged,) = tagger.tag([corpora[at.corpus][at.sentence]])
            expected = tuple(candidates[0] for candidates in tagged.layers["g"] if candidates)
            assert column(done[at.corpus])[at.sentence] == expected


def test_nothing_else_of_the_corpora_changes() -> None:
    corpora = [replace(WORDS, weight=3.0, path="p", covered=("N",)), corpus("ab/? f/N|V")]
    corpora[1] = corpora[1].map(lambda sentence: sentence.with_column("lemma", sentence.forms))
    done = jackknifed(corpora, SMALL, 2, run=Run(SHORT))
    without = [
        each.map(lambda s: replace(s, columns={name: c for name, c in s.columns.items() if name != "guide:g"}))
        for each in done
    ]
    assert without == corpora


def test_the_annotation_of_a_sentence_has_no_part_in_its_own_labels() -> None:
    plain = column(jackknifed([WORDS], SMALL, 3, run=Run(SHORT))[0])
    for at in range(len(WORDS)):
        lie = WORDS[at].with_layer("g", (("O",),) * len(WORDS[at]))
        told = replace(WORDS, sentences=(*WORDS.sentences[:at], lie, *WORDS.sentences[at + 1 :]))
        assert column(jackknifed([told], SMALL, 3, run=Run(SHORT))[0])[at] == plain[at]


def test_a_checkpoint_is_not_touched(tmp_path: Any) -> None:
    schedule = replace(SHORT, checkpoint=tmp_path / "checkpoint", identity="r", resume=True)
    (tmp_path / "checkpoint").write_text("of the fit that follows")
    assert jackknifed([WORDS], SMALL, 2, run=Run(schedule)) == jackknifed([WORDS], SMALL, 2, run=Run(SHORT))
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("checkpoint", "of the fit that follows")]


def test_folds_at_the_same_time_give_what_they_give_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = replace(SMALL, threads=3)
    together = jackknifed([WORDS], recipe, 3, run=Run(SHORT))
    monkeypatch.setattr(jackknife, "ThreadPoolExecutor", lambda threads: ThreadPoolExecutor(1))
    assert jackknifed([WORDS], recipe, 3, run=Run(SHORT)) == together


def test_an_interrupt_ends_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    fits: list[int] = []

    def interrupted(*arguments: Any, **more: Any) -> Any:
        fits.append(1)
        fitted = fit_problem(*arguments, **more)
        fitted.outcome.interrupted = True
        return fitted

    monkeypatch.setattr(jackknife, "fit_problem", interrupted)
    with pytest.raises(KeyboardInterrupt):
        jackknifed([WORDS], SMALL, 2, run=Run(SHORT))
    assert fits == [1]


@pytest.mark.parametrize(
    ("corpora", "found"),
    [
        ([], "found no corpus"),
        ([corpus("ab/? f/?", "f/? ab/?", path="f")], "f: found no label in layer 'g'"),
        ([corpus("ab/N f/N"), corpus("ab/N f/N", guideline="h")], "found corpora of the guidelines g, h"),
    ],
)
def test_nothing_to_learn_the_labels_from(corpora: list[Corpus], found: str) -> None:
    with pytest.raises(CorpusError, match=found):
        jackknifed(corpora, SMALL, 2, run=Run(SHORT))


# Characters

MIXED = Corpus(
    (
        Sentence(("ab", "c", "def"), {"g": (("N", "V"), None, ("V",))}, weight=2.0, confidence=(1.0, 0.5, 0.25)),
        Sentence(("f",), {"g": (("O",),)}),
        Sentence(("ab", "f"), {"g": (("N",), ("O", "V"))}),
    ),
    "g",
    path="f",
    weight=0.5,
)


@pytest.mark.parametrize(
    ("guideline", "covered", "coding", "task"),
    pairwise(["g", "tag", "segmentation"], [None, ("N",)], CODINGS, ["segment", "segtag"]),
)
def test_words_in_characters_are_the_same_to_a_task(task: str, coding: str, covered: Any, guideline: str) -> None:
    renamed = MIXED.map(lambda sentence: replace(sentence, layers={guideline: sentence.layers["g"]}))
    words = replace(renamed, guideline=guideline, covered=covered)
    characters = in_characters(words)
    assert characters.unit == "character"
    assert in_characters(characters) is characters
    assert Task(task, coding).prepare(characters) == Task(task, coding).prepare(words)


@pytest.mark.parametrize("task", ["segment", "segtag"])
def test_characters_carry_the_column_through_a_fit(task: str) -> None:
    recipe = Recipe(Task(task))
    (done,) = jackknifed([WORDS], recipe, 3, run=Run(SHORT))
    assert done.unit == "character"
    assert [sentence.forms for sentence in done] == [tuple("".join(s.forms)) for s in WORDS]
    prepared = recipe.task.prepare(done)
    assert column(prepared) == column(done)
    assert [s.layers for s in prepared] == [s.layers for s in recipe.task.prepare(WORDS)]
    letters = {label.partition("-")[0] for labels in column(done) for label in labels}
    assert letters <= set("BMES")
    assert len(letters) > 1


@pytest.mark.parametrize("task", ["tag", "segtag"])
def test_the_column_stands_in_for_a_guide_that_knows_the_text(task: str) -> None:
    """Text under both guidelines: the guide has seen it, so training reads the column and not the guide."""
    recipe = Recipe(Task(task))
    guide = fit([WORDS], recipe, run=Run(SHORT)).model
    (done,) = jackknifed([WORDS], recipe, 3, run=Run(SHORT))
    target = replace(done, guideline="h")
    if task == "tag":
        target = target.map(lambda s: s.with_layer("h", tuple((f"{c[0]}h",) for c in s.layers["g"] if c)))
    silent = replace(guide, weights=guide.weights * 0)
    fitted = [fit_guided([target], each, recipe, run=Run(SHORT)).model for each in (guide, silent)]
    assert (fitted[0].weights == fitted[1].weights).all()
    bare = target.map(lambda s: replace(s, columns={}))
    asked = fit_guided([bare], guide, recipe, run=Run(SHORT)).model
    assert asked.weights.shape != fitted[0].weights.shape or (asked.weights != fitted[0].weights).any()
