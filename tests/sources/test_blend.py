"""The blend of two models: what it believes beforehand, which silence it hears, and few sources with habits."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from crowds import SPANS, of_sources, random_answers

import tagweave as tw
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.sources.answers import Answers
from tagweave.sources.estimate import IndependentLabels, LabelChain, from_votes, in_turns
from tagweave.sources.methods import METHODS, aggregate, guessing_prior, sequential_prior
from tagweave.sources.reliability import log_likelihood_rows, prior_term, updated

LABELS = ("B-X", "O", "I-X")
TAGS = ("N", "V")


def answers_of(rows, sources, size, labels=LABELS, length=5):
    position, source, label = np.array(rows, np.int32).T
    return Answers.of_rows(labels, list(sources), np.arange(0, size + 1, length), position, source, label)


def named(random, size):
    """A fifth of the positions are names, labelled 0; everything else 1."""
    return np.where(random.random(size) < 0.2, 0, 1)


def test_a_source_knows_the_label_or_guesses_as_it_answers_on_the_whole():
    answers = answers_of([(0, 0, 0), (1, 0, 1), (2, 0, 1), (3, 0, 1), (0, 1, 1)], "ab", 5, TAGS)
    counts = guessing_prior(answers).counts
    assert counts.shape == (2, 1, 2, 2)
    for (label, truth), guess in zip(product(range(2), repeat=2), (0.25, 0.25, 0.75, 0.75), strict=True):
        expected = (10 + 0.03 * (1, 3)[truth]) * (0.9 * (label == truth) + 0.1 * guess)
        assert counts[0, 0, label, truth] == pytest.approx(expected, rel=0.02)


def test_a_source_that_never_marks_a_kind_of_span_tells_nothing_of_it_and_one_of_tags_excludes_it():
    rows = [(0, 0, 0), (1, 0, 1), (2, 0, 1), (3, 0, 1), (0, 1, 1)]
    assert guessing_prior(answers_of(rows, "ab", 5)).counts[1, 0, :, 0] == pytest.approx([0.1, 9.8, 0.1], abs=0.1)
    assert guessing_prior(answers_of(rows, "ab", 5, TAGS)).counts[1, 0, :, 0] == pytest.approx([9, 1], abs=0.1)


def test_priors_of_sources_are_those_of_each_one():
    answers = random_answers(4)
    prior = guessing_prior(answers, {"source1": 0.8})
    found = updated(answers, from_votes(answers), prior)
    assert log_likelihood_rows(answers, found).shape == (answers.positions, 3)
    assert found.is_known.tolist() == [False, True, False]
    for k in (0, 2):
        alone = updated(of_sources(answers, [k]), from_votes(answers), guessing_prior(of_sources(answers, [k])))
        assert np.allclose(alone.counts[0], found.counts[k])
        assert np.allclose(alone.expected[0], found.expected[k])
    own = [prior_term(found.counts[[k]], prior.counts[[k]], 2, False) for k in (0, 2)]
    assert found.prior_term(False) == pytest.approx(sum(own))
    assert np.allclose(found.confusion[1].diagonal(), 0.8, atol=1e-3)


def test_the_blend_is_the_mean_of_two_models_of_which_one_goes_on_from_the_other():
    answers, one = random_answers(8), np.ones(3)
    votes = from_votes(answers, more=1e-9)
    truth = IndependentLabels(one + votes.sum(axis=0), one)
    first = in_turns(answers, truth, guessing_prior(answers), turns=40, start=votes)
    chain, prior = LabelChain.of(answers.sentence_ptr, answers.scheme, 1.0, True), sequential_prior(answers, 10, 1)
    second = in_turns(answers, chain, prior, turns=10, variational=True, start=first.gamma)
    found = METHODS["blend"](answers, {}, lambda line: None)
    mean = np.sqrt(first.gamma * second.gamma)
    assert np.allclose(found.gamma, mean / mean.sum(axis=1, keepdims=True))
    assert not np.allclose(first.gamma, second.gamma, atol=0.01)


@pytest.mark.parametrize("seed", range(3))
def test_turns_under_priors_of_sources_never_lower_the_objective(seed):
    answers, one = random_answers(seed, soft=False), np.ones(3)
    prior = guessing_prior(answers)
    curve = in_turns(answers, IndependentLabels(one, one), prior, turns=30, tolerance=0).objectives
    assert np.diff(curve).min() > -1e-9


def test_votes_stand_where_all_who_answer_agree_and_others_have_what_labels_have_overall():
    answers = answers_of([(0, 0, 0), (1, 0, 1), (1, 1, 1), (2, 0, 1)], "ab", 5, TAGS)
    assert np.allclose(from_votes(answers, more=1e-9), [[1, 0], [0, 1], [0, 1], [0.25, 0.75], [0.25, 0.75]])


def test_a_list_that_never_says_o_leaves_the_labels_of_a_model_where_it_is_silent():
    random = np.random.default_rng(0)
    truth = named(random, 2000)
    model = np.where(random.random(2000) < 0.1, 1, truth)
    listed = np.flatnonzero((truth == 0) & (random.random(2000) < 0.3))
    rows = [(t, 0, model[t]) for t in range(2000)] + [(t, 1, 0) for t in listed]
    answers = answers_of(rows, ("model", "list"), 2000)
    assert (answers.lists, answers.excluders) == ((1,), ())
    silent = np.setdiff1d(np.arange(2000), listed)
    assert np.array_equal(aggregate(answers).best[silent], model[silent])


def test_two_careful_sources_are_not_taken_to_miss_what_a_third_one_marks_too_much():
    """Both careful sources miss a few names, the third one marks things that are none, wherever they stand."""
    random = np.random.default_rng(1)
    truth = named(random, 3000)
    things = (truth == 1) & (random.random(3000) < 0.25)
    rows = [(t, 0, 0 if things[t] else truth[t]) for t in range(3000)]
    for k in (1, 2):
        rows += [(t, k, 1 if random.random() < 0.15 else truth[t]) for t in range(3000)]
    assert (aggregate(answers_of(rows, "abc", 3000)).best == truth).mean() > 0.97


def test_a_list_beside_one_source_does_not_show_that_this_source_invents_what_the_list_lacks():
    """The source misses a few names and invents none, the list has half of them: two answers do not tell, three do."""
    random = np.random.default_rng(4)
    truth = named(random, 700)
    names = np.flatnonzero(truth == 0)
    rows = [(t, 0, 1 if random.random() < 0.15 else truth[t]) for t in range(700)]
    rows += [(t, 1, 0) for t in names if random.random() < 0.5]
    answers = answers_of(rows, ("model", "list"), 700)
    assert answers.overlap() == 0
    assert (aggregate(answers).best == truth).mean() > 0.97
    third = answers_of([*rows, *((t, 2, 0) for t in names)], ("model", "list", "rule"), 700)
    assert third.overlap() == pytest.approx((third.answered == 3).sum() / 700)


def test_sources_that_hardly_meet_keep_their_labels():
    random = np.random.default_rng(2)
    truth = named(random, 1000)
    rows = [(t, 0, 1) for t in np.flatnonzero(truth == 1)]
    rows += [(t, 1 + t % 2, 0) for t in np.flatnonzero(truth == 0)]
    answers = answers_of([*rows, (0, 0, 1), (0, 1, 0)] if truth[0] == 1 else rows, ("plain", "list", "rule"), 1000)
    assert (answers.lists, answers.excluders) == ((1, 2), (0,))
    assert answers.hardly_overlap
    assert (aggregate(answers).best == truth)[1:].all()


def test_lists_alone_are_not_silent_about_anything():
    """Nobody says `O`: what no list has stays open, and tells nothing of what they have."""
    random = np.random.default_rng(3)
    truth = named(random, 1000)
    names = np.flatnonzero(truth == 0)
    rows = [(t, k, 0) for k in range(2) for t in names if random.random() < 0.7]
    answers = answers_of(rows, "ab", 1000)
    assert answers.lists == ()
    labelled = answers.answered > 0
    assert (aggregate(answers).best[labelled] == 0).all()


def test_labels_that_are_no_spans_have_no_outside():
    answers = random_answers(0, ("N", "V", "X"))
    assert (answers.lists, answers.excluders, answers.partial) == ((), (), {})


def test_a_source_marks_only_some_types_if_ten_labels_of_another_would_be_expected():
    labels = ("B-A", "I-A", "B-B", "I-B", "O")
    rows = [(t, 0, 2 * (t % 2)) for t in range(60)] + [(t, k, 0) for k, n in ((1, 40), (2, 5)) for t in range(n)]
    found = answers_of(rows, ("both", "one", "few"), 60, labels).partial
    assert found == {1: ("A",)}


def test_what_sources_do_not_label_is_said_in_one_line():
    said = {"model": "OXOOX", "places": "_X___", "plain": "O_O__"}
    layers = {name: tuple({"_": None, "O": ("O",), "X": ("B-X",)}[each] for each in own) for name, own in said.items()}
    corpus = Corpus((Sentence(tuple("abcde"), layers),))
    found = tw.aggregate(corpus, list(said))
    assert found.note == "never says O: places; says only O: plain"
    assert tw.aggregate(corpus, ["model"], known={"model": 0.9}).note == ""
    assert SPANS[2] == "O"
