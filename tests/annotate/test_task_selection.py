"""Which tokens and which occurrences of words are asked for: against marginals and entropies one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagweave.annotate import selection
from tagweave.annotate.questions import Asked
from tagweave.annotate.selection import (
    WORD_STRATEGIES,
    Occurrences,
    distinct,
    least_certain,
    most_uncertain,
    occurrences,
    priorities,
    rankings,
    token_tasks,
    word_uncertainties,
)
from tagweave.annotate.task import AnnotationTask, Candidate, Purpose, Status
from tagweave.corpus import sample
from tagweave.corpus.load import load
from tagweave.corpus.sentence import Sentence
from tagweave.learning.run import Run, Schedule
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.ranking import span_entropies
from tagweave.training.fit.fit import fit
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import Task

CTB = load(str(sample.path("ctb.txt")), unnamed="ctb")


@pytest.fixture(scope="module")
def segmenter():
    train = CTB.with_sentences(CTB.sentences[:60])
    return ChainPredictor(fit([train], Recipe(Task("segment")), run=Run(Schedule(2))).model)


@pytest.fixture
def raw():
    return [Sentence(sentence.forms, location=sentence.location) for sentence in CTB.sentences[80:110]]


def places(found):
    return list(zip(found.sentence.tolist(), found.position.tolist(), strict=True))


def asked(*tasks):
    """Tasks as a store has them."""
    return [Asked(number, task, Status.OPEN, None, None) for number, task in enumerate(tasks)]


def by_hand(tagger, sentences):
    """Per place, the probabilities of all labels, the best first."""
    tables = tagger.probabilities(sentences)
    return {
        (s, t): sorted(zip(row.tolist(), tagger.labels, strict=True), reverse=True)
        for s, table in enumerate(tables)
        for t, row in enumerate(table)
    }


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 1.0])
def test_the_least_certain_come_first(tagger, raw, share):
    known = by_hand(tagger, raw)
    found = least_certain(tagger, raw, share)
    assert len(found.sentence) == round(share * len(known))
    assert len({*places(found)}) == len(found.sentence)
    best = sorted(table[0][0] for table in known.values())
    np.testing.assert_allclose(found.uncertainty, 1 - np.array(best[: len(found.uncertainty)]), atol=1e-6)
    np.testing.assert_allclose([known[place][0][0] for place in places(found)], 1 - found.uncertainty, atol=1e-6)


def test_candidates_are_the_most_probable_labels(tagger, raw):
    known = by_hand(tagger, raw)
    found = least_certain(tagger, raw)
    for place, task in zip(places(found), token_tasks(found, raw, tagger, model=3), strict=True):
        assert (task.sentence, task.start, task.stop) == (raw[place[0]], place[1], place[1] + 1)
        expected = [Candidate(label, pytest.approx(p, abs=1e-4)) for p, label in known[place][:3]]
        assert list(task.candidates) == expected[: 2 if known[place][2][0] < 0.01 else 3]
        assert (task.purpose, task.guideline, task.model) == (Purpose.REAL, "ctb", 3)
        assert 0 <= task.uncertainty <= 1


def test_the_order_is_a_function_of_the_seed(tagger, raw):
    twice = raw[:10] * 2  # every token has an equally certain twin
    orders = [places(least_certain(tagger, twice, 1.0, seed=seed)) for seed in (0, 0, 1, 2)]
    assert orders[0] == orders[1]
    assert orders[0] != orders[2] != orders[3]
    firsts = {order[0][0] // 10 for order in (places(least_certain(tagger, twice, 1.0, seed=s)) for s in range(20))}
    assert firsts == {0, 1}


def test_what_is_known_is_not_asked_and_tells_of_its_neighbours(tagger, raw):
    plain = least_certain(tagger, raw, 1.0)
    sentence, position = places(plain)[0]
    others = [place for place in places(plain) if place[0] == sentence and place[1] != position]
    surprising = by_hand(tagger, raw)[sentence, position][-1][1]
    layer = [None] * len(raw[sentence])
    layer[position] = (surprising,)
    annotated = [*raw]
    annotated[sentence] = raw[sentence].with_layer("ctb", layer)
    found = least_certain(tagger, annotated, 1.0, layer="ctb")
    assert {*places(plain)} - {*places(found)} == {(sentence, position)}
    before, after = (np.array([f.uncertainty[places(f).index(each)] for each in others]) for f in (plain, found))
    assert np.abs(before - after).max() > 1e-3


def test_an_ambiguous_position_is_asked_among_its_labels(tagger, raw):
    allowed = ("NN", "VV")
    annotated = [raw[0].with_layer("ctb", [allowed, *[("NN",)] * (len(raw[0]) - 1)])]
    found = least_certain(tagger, annotated, 1.0, layer="ctb")
    assert places(found) == [(0, 0)]
    assert {c.label for c in next(token_tasks(found, annotated, tagger)).candidates} == {*allowed}


def test_nothing_to_ask(tagger):
    assert len(least_certain(tagger, []).sentence) == 0
    assert len(least_certain(tagger, [], layer="ctb").sentence) == 0
    assert rankings(tagger, []) == []


@pytest.mark.parametrize("share", [-0.1, 1.1])
def test_a_share_is_a_share(tagger, share):
    with pytest.raises(ValueError, match="expected 0 to 1"):
        least_certain(tagger, [], share)


def test_characters_are_not_asked_one_by_one(segmenter, raw):
    with pytest.raises(ValueError, match="words of a list are asked"):
        least_certain(segmenter, raw)


def test_a_newer_model_ranks_the_same_tasks(tagger, raw):
    found = least_certain(tagger, raw, 0.3)
    copies = [replace(each, sentence=replace(each.sentence)) for each in token_tasks(found, raw, tagger)]
    tasks = asked(*copies)
    other = ChainPredictor(fit([CTB], Recipe(), run=Run(Schedule(1))).model)
    known = by_hand(other, raw)
    ranked = rankings(other, tasks[::-1])
    assert [each.id for each in ranked] == [each.id for each in tasks][::-1]
    for ranking, place in zip(ranked[::-1], places(found), strict=True):
        assert ranking.candidates[0][:2] == (known[place][0][1], pytest.approx(known[place][0][0], abs=1e-4))
        assert 0 <= ranking.uncertainty <= 1


@given(st.lists(st.floats(0.01, 1), min_size=2, max_size=5))
def test_who_comes_first_is_drawn_in_proportion_to_uncertainty(uncertainty):
    rng, doubts = np.random.default_rng(0), np.array(uncertainty)
    firsts = [int(priorities(doubts, rng).argmax()) for _ in range(2000)]
    shares = np.bincount(firsts, minlength=len(uncertainty)) / 2000
    np.testing.assert_allclose(shares, doubts / doubts.sum(), atol=0.06)


def test_no_doubt_is_asked_last():
    found = priorities(np.array([0.5, 0.0, -1e-7, 1e-6], np.float32), np.random.default_rng(0))
    assert (found[[1, 2]] == 0).all()
    assert (found[[0, 3]] > 0).all()


def test_words_of_a_concordance_are_not_ranked_by_labels(tagger, raw):
    task = AnnotationTask(raw[0], 0, 1, "ctb", purpose=Purpose.CONCORDANCE)
    assert rankings(tagger, asked(task)) == []


ALPHABET = "甲乙丙aB1"
TEXTS = st.lists(st.text(ALPHABET, max_size=8), max_size=6)
WORDS = st.lists(st.text(ALPHABET, min_size=1, max_size=3), max_size=6, unique=True)


def characters(texts: Sequence[str]) -> list[Sentence]:
    return [Sentence(tuple(text)) for text in texts]


def in_run(text: str, at: int) -> bool:
    return 0 < at < len(text) and all(c.isascii() for c in text[at - 1 : at + 1])


def found_by_hand(texts: Sequence[str], words: Sequence[str]) -> list[tuple[int, int, int, int]]:
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
    assert tuples(found) == found_by_hand(texts, words)


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
    return [Sentence(s.forms) for s in Task("segment").prepare(CTB.with_sentences(CTB.sentences[:12])).sentences]


WORDS_OF_SAMPLE = ("昨天", "我们", "学校", "的", "今天", "老师", "图书馆", "一个")


def test_entropy_is_that_of_one_span_at_a_time(model: ChainModel, sentences: list[Sentence]) -> None:
    found = occurrences(sentences, WORDS_OF_SAMPLE)
    assert len(found.start) > 3
    encoded = model.encoder.encode(sentences)
    offsets = encoded.sentence_ptr[found.sentence]
    spans = zip(found.sentence.tolist(), (found.start - offsets).tolist(), (found.stop - offsets).tolist(), strict=True)
    expected = [span_entropies(model, encoded.take(np.array([s])), *np.array([[a], [b]])).item() for s, a, b in spans]
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


def test_what_is_wrong_is_told(model: ChainModel, sentences: list[Sentence]) -> None:
    with pytest.raises(ValueError, match="unknown strategy 'best', expected one of entropy, marginal, random"):
        most_uncertain(model, sentences, WORDS_OF_SAMPLE, "best")
    with pytest.raises(ValueError, match="context of -1 characters"):
        most_uncertain(model, sentences, WORDS_OF_SAMPLE, context=-1)


@pytest.mark.parametrize(("texts", "words"), [([], ["甲"]), (["", ""], ["甲"]), (["乙"], ["甲"]), (["甲"], [])])
def test_nothing_found(model: ChainModel, texts: list[str], words: list[str]) -> None:
    for strategy in WORD_STRATEGIES:
        assert len(most_uncertain(model, characters(texts), words, strategy).uncertainty) == 0
