"""Training again with what an annotator marked: recipes, treatments, and rounds of more and more words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reproductions.tsuboi_2008.annotator import Annotator
from reproductions.tsuboi_2008.retraining import completed, retrained
from reproductions.tsuboi_2008.rounds import Rounds
from tagweave.annotate.selection import occurrences
from tagweave.corpus import sample
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load
from tagweave.learning.run import Run, Schedule
from tagweave.models.chain import ChainModel
from tagweave.training.fit import fit
from tagweave.training.recipe import Recipe
from tagweave.training.task import Task

WORDS = ("我们", "昨天", "今天", "学校", "老师", "的", "图书馆", "大学", "在")
RECIPE = Recipe(Task("segment"), settings={"seed": 3})


def some(name: str, size: int) -> Corpus:
    corpus = load(f"g={sample.path(name)}")
    return corpus.with_sentences(corpus.sentences[:size])


@pytest.fixture(scope="module")
def source() -> Corpus:
    return some("pd.txt", 30)


@pytest.fixture(scope="module")
def model(source: Corpus) -> ChainModel:
    return fit([source], RECIPE, run=Run(Schedule(2))).model


@pytest.fixture(scope="module")
def annotated() -> Corpus:
    annotator = Annotator.of(some("ctb.txt", 15))
    return annotator.annotated(occurrences(annotator.sentences, WORDS), "g")


@pytest.mark.parametrize("coding", ["BMES", "BI", "boundary"])
def test_what_is_marked_stays_and_the_rest_is_filled_in(source: Corpus, annotated: Corpus, coding: str) -> None:
    recipe = replace(RECIPE, task=Task("segment", coding))
    model = fit([source], recipe, run=Run(Schedule(2))).model
    whole = completed(model, annotated, recipe)
    assert whole.unit == "word" and whole.guideline == "g"
    pairs = list(zip(annotated, Task("segment").prepare(whole), strict=True))
    assert pairs
    for partial, full in pairs:
        assert partial.forms == full.forms
        for allowed, chosen in zip(partial.layers["segmentation"], full.layers["g"], strict=True):
            assert chosen is not None and len(chosen) == 1
            assert allowed is None or chosen[0] in allowed


def test_without_annotation_it_is_the_model_of_the_source(model: ChainModel, source: Corpus) -> None:
    nothing = Corpus((), "g", "character")
    again = retrained("marginal", model, source, nothing, RECIPE, run=Run(Schedule(2)))
    assert (again.weights == model.weights).all()


def test_more_words_are_the_same_words_and_more(model: ChainModel, source: Corpus) -> None:
    rounds = Rounds(model, source, Annotator.of(some("ctb.txt", 15)), WORDS, RECIPE)
    sizes = [rounds.questions("entropy", words) for words in (0, 2, 4, 1000)]
    assert [marked for _, marked in sizes[:3]] == [0, 2, 4]
    assert sizes[0] == (0, 0) and sizes[3] == (len(rounds.ranked("entropy")[1]), rounds.ranked("entropy")[1].sum())
    assert len(rounds.annotated("entropy", 0)) == 0
    few, more = (rounds.annotated("entropy", words).sentences for words in (2, 4))
    known = {s.location: s.layers["segmentation"] for s in more}
    for sentence in few:
        for before, after in zip(sentence.layers["segmentation"], known[sentence.location], strict=True):
            assert before is None or (after is not None and set(after) <= set(before))
    assert rounds.annotated("entropy", 2).guideline == source.guideline
