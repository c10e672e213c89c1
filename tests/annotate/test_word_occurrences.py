"""Occurrences of words in sentences, and which of them an annotator is asked for first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagweave.annotate import selection
from tagweave.annotate.selection import (
    WORD_STRATEGIES,
    Occurrences,
    distinct,
    most_uncertain,
    occurrences,
    word_uncertainties,
)
from tagweave.corpus import sample
from tagweave.corpus.load import load
from tagweave.corpus.sentence import Sentence
from tagweave.learning.run import Run, Schedule
from tagweave.models.chain import ChainModel
from tagweave.training.fit import fit
from tagweave.training.recipe import Recipe
from tagweave.training.task import Task

ALPHABET = "甲乙丙aB1"
TEXTS = st.lists(st.text(ALPHABET, max_size=8), max_size=6)
WORDS = st.lists(st.text(ALPHABET, min_size=1, max_size=3), max_size=6, unique=True)


def characters(texts: Sequence[str]) -> list[Sentence]:
    return [Sentence(tuple(text)) for text in texts]


def in_run(text: str, at: int) -> bool:
    return 0 < at < len(text) and all(c.isascii() for c in text[at - 1 : at + 1])


def by_hand(texts: Sequence[str], words: Sequence[str]) -> list[tuple[int, int, int, int]]:
    """(start, stop, sentence, word), by rising start and stop."""
    found, begin = [], 0
    for s, text in enumerate(texts):
        for w, word in enumerate(words):
            for a in range(len(text) - len(word) + 1):
                b = a + len(word)
                if text[a:b] == word and not in_run(text, a) and not in_run(text, b):
                    found.append((begin + a, begin + b, s, w))
        begin += len(text)
    return sorted(found)


def tuples(found: Occurrences) -> list[tuple[int, int, int, int]]:
    lists = (found.start.tolist(), found.stop.tolist(), found.sentence.tolist(), found.word.tolist())
    return list(zip(*lists, strict=True))


@given(TEXTS, WORDS)
def test_every_occurrence_is_found_also_inside_another(texts: list[str], words: list[str]) -> None:
    found = occurrences(characters(texts), words)
    assert tuples(found) == by_hand(texts, words)


@given(TEXTS, WORDS, st.integers(0, 3), st.integers(0, 100))
def test_of_occurrences_alike_the_most_uncertain_stays(texts: list[str], words: list[str], k: int, seed: int) -> None:
    sentences = characters(texts)
    found = occurrences(sentences, words)
    uncertainty = np.random.default_rng(seed).integers(0, 4, len(found.start)).astype(float)
    begins = np.cumsum([0, *map(len, texts)]).tolist()
    kept: dict[tuple[int, str, str], int] = {}
    for i in sorted(range(len(uncertainty)), key=lambda i: -uncertainty[i]):
        start, stop, s, word = tuples(found)[i]
        a, b = start - begins[s], stop - begins[s]
        kept.setdefault((word, texts[s][max(0, a - k) : a], texts[s][b : b + k]), i)
    assert distinct(sentences, found, uncertainty, k).tolist() == list(kept.values())


@pytest.fixture(scope="module")
def model() -> ChainModel:
    corpus = load(str(sample.path("pd.txt")))
    recipe = Recipe(Task("segment"))
    return fit([corpus.with_sentences(corpus.sentences[:40])], recipe, run=Run(Schedule(2))).model


@pytest.fixture(scope="module")
def sentences() -> list[Sentence]:
    corpus = load(str(sample.path("ctb.txt")))
    return [Sentence(s.forms) for s in Task("segment").prepare(corpus.with_sentences(corpus.sentences[:12])).sentences]


WORDS_OF_SAMPLE = ("昨天", "我们", "学校", "的", "今天", "老师", "图书馆", "一个")


def test_entropy_is_that_of_one_span_at_a_time(model: ChainModel, sentences: list[Sentence]) -> None:
    found = occurrences(sentences, WORDS_OF_SAMPLE)
    assert len(found.start) > 3
    encoded = model.encoder.encode(sentences)
    offsets = encoded.sentence_ptr[found.sentence]
    spans = zip(found.sentence.tolist(), (found.start - offsets).tolist(), (found.stop - offsets).tolist(), strict=True)
    expected = [model.span_entropy(encoded, s, a, b) for s, a, b in spans]
    np.testing.assert_allclose(word_uncertainties(model, sentences, found), expected, rtol=1e-4, atol=1e-6)


def test_marginal_is_how_little_the_model_believes_in_the_word(model: ChainModel, sentences: list[Sentence]) -> None:
    found = occurrences(sentences, WORDS_OF_SAMPLE)
    uncertainty = word_uncertainties(model, sentences, found, "marginal")
    assert ((uncertainty >= 0) & (uncertainty <= 1)).all()
    gamma, _ = model.marginals(model.encoder.encode(sentences))
    number = {name: i for i, name in enumerate(model.space.names)}
    begins = np.where(found.stop - found.start == 1, gamma[found.start, number["S"]], gamma[found.start, number["B"]])
    assert (1 - uncertainty <= begins + 1e-5).all()
    single = found.stop - found.start == 1
    assert single.any() and not single.all()
    np.testing.assert_allclose(1 - uncertainty[single], begins[single], atol=1e-5)


@pytest.mark.parametrize("strategy", WORD_STRATEGIES)
def test_blocks_do_not_matter(
    model: ChainModel, sentences: list[Sentence], strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentences = [Sentence(()), *sentences, Sentence(()), Sentence(tuple("好"))]
    found = occurrences(sentences, WORDS_OF_SAMPLE)
    whole = word_uncertainties(model, sentences, found, strategy, seed=1)
    monkeypatch.setattr(selection, "_BLOCK", 2)
    np.testing.assert_allclose(
        word_uncertainties(model, sentences, found, strategy, seed=1), whole, rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("strategy", WORD_STRATEGIES)
def test_doubt_falls_and_the_seed_decides_only_what_is_random(
    model: ChainModel, sentences: list[Sentence], strategy: str
) -> None:
    first, again, other = (most_uncertain(model, sentences, WORDS_OF_SAMPLE, strategy, seed=seed) for seed in (0, 0, 1))
    assert (np.diff(first.uncertainty) <= 0).all()
    assert tuples(first.occurrences) == tuples(again.occurrences)
    assert (tuples(first.occurrences) == tuples(other.occurrences)) == (strategy != "random")
    assert sorted(tuples(first.occurrences)) == sorted(set(tuples(first.occurrences)))


def test_a_sentence_that_comes_twice_is_asked_for_once(model: ChainModel, sentences: list[Sentence]) -> None:
    once, twice = (most_uncertain(model, sentences[:6] * n, WORDS_OF_SAMPLE) for n in (1, 2))
    assert len(once.uncertainty) > 0
    assert tuples(once.occurrences) == tuples(twice.occurrences)


def test_what_is_wrong_is_told(model: ChainModel, sentences: list[Sentence]) -> None:
    with pytest.raises(ValueError, match="unknown strategy 'best', expected one of entropy, marginal, random"):
        most_uncertain(model, sentences, WORDS_OF_SAMPLE, "best")
    with pytest.raises(ValueError, match="context of -1 characters"):
        most_uncertain(model, sentences, WORDS_OF_SAMPLE, context=-1)


@pytest.mark.parametrize(("texts", "words"), [([], ["甲"]), (["", ""], ["甲"]), (["乙"], ["甲"]), (["甲"], [])])
def test_nothing_found(model: ChainModel, texts: list[str], words: list[str]) -> None:
    for strategy in WORD_STRATEGIES:
        assert len(most_uncertain(model, characters(texts), words, strategy).uncertainty) == 0
