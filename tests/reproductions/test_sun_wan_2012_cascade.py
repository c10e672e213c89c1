"""The trainings of the reproduction of sun-wan-2012: what is kept of them, shared, and learned from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reproductions.lab.cache import Cache
from reproductions.lab.tagged_words import (
    answer,
    answered_words,
    character_labels,
    tagged_counts,
)
from reproductions.lab.twice import Twice
from reproductions.sun_wan_2012.cascade import Cascade
from reproductions.sun_wan_2012.methods import (
    BOTH_AGAIN,
    GUIDED,
    GUIDED_GIVEN,
    PIECES,
    PIECES_AGAIN,
    PIECES_GIVEN,
    PIECES_ON_AGAIN,
    Method,
    sampled,
)
from reproductions.sun_wan_2012.pair import Pair
from reproductions.sun_wan_2012.parallel import halves
from reproductions.sun_wan_2012.settings import PARTS, RECIPE
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.labels.coding import as_layer
from tagweave.learning.run import Run, Schedule
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.training.fit import Fitted
from tagweave.training.guided import fit_stages
from tagweave.training.recipe import Recipe
from tagweave.training.subword import Stacking, fit_stack

SEED = 1
STACKS = (PIECES, PIECES_ON_AGAIN, PIECES_AGAIN, BOTH_AGAIN)
SAMPLED = tuple(replace(sampled(method), times=0.3) for method in STACKS[1:])  # the sample corpora are of one size


@pytest.fixture(scope="module")
def sample() -> Pair:
    return PARTS["stacking"](None)[0].draw(0)


@pytest.fixture(scope="module")
def cascade(sample: Pair, cache: Cache) -> Cascade:
    return Cascade(sample, SEED, cache)


# answers

words = st.lists(st.text("甲乙丙A", min_size=1, max_size=4), max_size=6).map(tuple)
tags = st.sampled_from(["NN", "名詞-一般", "a/b", "X"])


@st.composite
def tagged(draw: st.DrawFn) -> Sentence:
    forms = draw(words)
    return Sentence(forms, {"g": as_layer(draw(st.lists(tags, min_size=len(forms), max_size=len(forms))))})


@given(st.lists(tagged(), max_size=4))
def test_answers_are_read_back(sentences: list[Sentence]) -> None:
    corpus = Corpus(tuple(sentences), "g")
    lines = [answer(sentence, "g") for sentence in corpus]
    again = answered_words(corpus, lines, "h")
    assert [sentence.forms for sentence in again] == [sentence.forms for sentence in corpus]
    assert [sentence.layers["h"] for sentence in again] == [sentence.layers["g"] for sentence in corpus]
    assert not any(character in line for line in lines for character in "甲乙丙")


@given(st.lists(tagged(), min_size=1, max_size=4), st.lists(tagged(), min_size=1, max_size=4))
def test_counts_are_those_of_sets_of_spans(sentences: list[Sentence], others: list[Sentence]) -> None:
    """Against spans with tags as sets."""
    pairs = [(a, b) for a, b in zip(sentences, others, strict=False) if len("".join(a.forms)) == len("".join(b.forms))]
    gold = Corpus(tuple(a for a, _ in pairs if len(a)), "g")
    lines = [answer(b, "g") for a, b in pairs if len(a)]
    if not len(gold):
        return

    def spans(sentence: Sentence) -> set[tuple[int, int, Any]]:
        starts = [len("".join(sentence.forms[:i])) for i in range(len(sentence))]
        layer = sentence.layers["g"]
        return {(a, a + len(form), tag) for a, form, tag in zip(starts, sentence.forms, layer, strict=True)}

    found = [spans(sentence) for sentence in answered_words(gold, lines, "g")]
    wanted = [spans(sentence) for sentence in gold]
    expected = [[len(a & b), len(a), len(b)] for a, b in zip(wanted, found, strict=True)]
    assert tagged_counts(gold, lines).tolist() == expected


# the trainings, against the fits of the package


def found_by(model: ChainModel, gold: Corpus) -> list[str]:
    tagger = ChainPredictor(model)
    text = [Sentence(tuple("".join(sentence.forms))) for sentence in gold]
    return [answer(tagger.words(sentence), gold.guideline) for sentence in tagger.tag(text)]


def recipe_of(pair: Pair) -> Recipe:
    return replace(pair.recipe, settings={**pair.recipe.settings, "seed": SEED})


def check(method: Method, fitted: Fitted, cascade: Cascade) -> None:
    result, gold = cascade.result(method), cascade.pair.gold
    assert {part: result[part] for part in gold} == {part: found_by(fitted.model, gold[part]) for part in gold}
    assert result["weights"] == len(fitted.model.weights)


@pytest.mark.parametrize("method", STACKS + SAMPLED, ids=lambda method: method.name)
def test_stacks_are_those_of_fit_stack(method: Method, cascade: Cascade, sample: Pair) -> None:
    """Put together from what is in the cache, they say what a whole cascade of models says."""
    stacking = Stacking(sample.folds, method.characters, method.pieces, method.times, SEED)
    corpora = [sample.target], [sample.source]
    check(method, fit_stack(*corpora, recipe_of(sample), stacking, None, Run(sample.schedule)), cascade)


def test_feature_stacking_is_that_of_fit_stages(cascade: Cascade, sample: Pair) -> None:
    fitted = fit_stages([sample.target], [sample.source], recipe_of(sample), None, Run(sample.schedule))
    check(GUIDED, fitted, cascade)


# a text that is annotated twice


def twice(first: Sequence[Sequence[str]], second: Sequence[Sequence[str]]) -> tuple[Corpus, Corpus]:
    corpora = (
        tuple(Sentence(tuple(forms), {name: as_layer(["X"] * len(forms))}) for forms in sentences)
        for name, sentences in (("a", first), ("b", second))
    )
    return tuple(Corpus(each, name) for each, name in zip(corpora, "ab", strict=True))  # type: ignore[return-value]


@given(st.integers(2, 30), st.integers(0, 99))
def test_each_guideline_sees_its_own_half(count: int, seed: int) -> None:
    texts = [[chr(0x4E00 + i)] for i in range(count)]
    both, test = Twice.of(*twice(texts, texts)), Twice.of(*twice([["试"]], [["试"]]))
    pair = halves(both, test, seed, RECIPE, Schedule(1), 2)
    source, target = ([s.forms[0] for s in corpus] for corpus in (pair.source, pair.target))
    assert sorted([*source, *target]) == [forms[0] for forms in texts]
    assert abs(len(source) - len(target)) <= 1
    assert (pair.source.guideline, pair.target.guideline) == ("a", "b")
    assert (pair.given, dict(pair.gold)) == (test.first, {"test": test.second})


def test_given_annotation_is_seen(cache: Cache) -> None:
    """The model is the same; of its own kind of words it is told nothing."""
    pair = PARTS["gold"](None)[0].draw(0)
    own = Cascade(pair, 0, cache)
    for predicted, told in ((GUIDED, GUIDED_GIVEN), (PIECES, PIECES_GIVEN)):
        result = own.result(told)
        assert result == own.result(predicted)
        assert result["given"] != result["test"]
    shown = own._source_column("given")["pd"]
    assert pair.given is not None
    assert shown == character_labels(pair.given, pair.recipe.task)
    assert own._target_column("given", False) == own._target_column("test", False)
