"""What can be asked of a chain model, against the enumeration of all label sequences."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import TEXTS, Problem, bundles, plain

import naive
from tagweave.labels.scheme import TransitionScheme
from tagweave.labels.space import LabelSpace
from tagweave.models import objective as objective_module
from tagweave.models.chain import ChainModel

SEED = st.integers(0, 10_000)
SEGMENTS = TransitionScheme.of("BMES", "BMES")


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Problems over plain labels, bundles, or letters under their scheme."""
    texts, seed = draw(TEXTS), draw(SEED)
    kind = draw(st.sampled_from(["plain", "bundles", "scheme"]))
    if kind == "scheme":
        return Problem(texts, LabelSpace.plain("seg", "BMES"), seed, scheme=SEGMENTS)
    return Problem(texts, plain() if kind == "plain" else bundles(), seed, licensed=draw(st.booleans()))


def model_of(problem: Problem) -> ChainModel:
    return ChainModel(problem.structure, problem.encoder, problem.weights)


def twins(problem: Problem, restricted: bool) -> list[tuple[int, slice, naive.Chain]]:
    """The number, tokens and twin of each sentence that is not empty."""
    ptr = problem.encoded.sentence_ptr.tolist()
    return [(s, slice(ptr[s], ptr[s + 1]), chain) for s, chain in enumerate(problem.chains(restricted)) if chain]


@settings(max_examples=80)
@given(problems(), st.booleans(), st.integers(1, 2))
def test_best(problem: Problem, restricted: bool, threads: int) -> None:
    masks = problem.masks if restricted else None
    labels = model_of(problem).best(problem.encoded, masks, threads)
    for _, tokens, chain in twins(problem, restricted):
        best = naive.k_best(chain, 1)
        found = tuple(labels[tokens].tolist())
        if best:
            assert chain.log_weight(found) == pytest.approx(best[0][0], rel=1e-9, abs=1e-9)
        else:
            assert set(found) == {-1}


@settings(max_examples=80)
@given(problems(), st.booleans(), st.integers(1, 2))
def test_marginals_and_log_z(problem: Problem, restricted: bool, threads: int) -> None:
    masks = problem.masks if restricted else None
    gamma, log_z = model_of(problem).marginals(problem.encoded, masks, threads)
    assert gamma.shape == (problem.encoded.tokens, len(problem.structure.space))
    assert log_z[problem.encoded.lengths == 0].tolist() == [0.0] * int((problem.encoded.lengths == 0).sum())
    for s, tokens, chain in twins(problem, restricted):
        expected = naive.log_partition(chain)
        assert log_z[s] == pytest.approx(expected, rel=1e-9, abs=1e-9)
        if expected > -math.inf:
            np.testing.assert_allclose(gamma[tokens], naive.state_marginals(chain), rtol=1e-8, atol=1e-10)


@settings(max_examples=60)
@given(problems(), st.booleans())
def test_pair_marginals(problem: Problem, restricted: bool) -> None:
    size = len(problem.structure.space)
    for s, _, chain in twins(problem, restricted):
        if naive.log_partition(chain) == -math.inf:
            continue
        gamma, pairs = model_of(problem).pair_marginals(problem.encoded, s, problem.masks if restricted else None)
        np.testing.assert_allclose(gamma, naive.state_marginals(chain), rtol=1e-8, atol=1e-10)
        assert not pairs[0].any()
        expected = np.array(naive.pair_marginals(chain)).reshape(-1, size, size)
        np.testing.assert_allclose(pairs[1:], expected, rtol=1e-8, atol=1e-10)


@settings(max_examples=60)
@given(problems(), st.integers(1, 8), st.booleans())
def test_k_best(problem: Problem, k: int, restricted: bool) -> None:
    model = model_of(problem)
    for s, _, chain in twins(problem, restricted):
        labels, totals = model.k_best(problem.encoded, s, k, problem.masks if restricted else None)
        expected = naive.k_best(chain, k)
        np.testing.assert_allclose(totals, [score for score, _ in expected], rtol=1e-9, atol=1e-9)
        assert len(labels) == len(expected)
        for row, total in zip(labels, totals, strict=True):
            assert chain.log_weight(tuple(row.tolist())) == pytest.approx(total, rel=1e-9, abs=1e-9)
            assert model.sequence_score(problem.encoded, s, row) == pytest.approx(total, rel=1e-9, abs=1e-9)


@settings(max_examples=40)
@given(problems())
def test_span_entropy(problem: Problem) -> None:
    for s, _, chain in twins(problem, False):
        if naive.log_partition(chain) == -math.inf:
            continue
        for start in range(len(chain.scores)):
            for stop in range(start + 1, len(chain.scores) + 1):
                entropy = model_of(problem).span_entropy(problem.encoded, s, start, stop)
                assert entropy == pytest.approx(naive.entropy(chain, start, stop), abs=1e-8)


def test_an_empty_sentence_has_one_empty_sequence() -> None:
    problem = Problem([[], ["a"], []], plain(), 0)
    model = model_of(problem)
    labels, totals = model.k_best(problem.encoded, 0, 3)
    assert labels.shape == (1, 0)
    assert totals.tolist() == [0.0]
    assert model.sequence_score(problem.encoded, 0, np.zeros(0, np.int32)) == 0.0
    gamma, pairs = model.pair_marginals(problem.encoded, 2)
    assert (len(gamma), len(pairs)) == (0, 0)
    assert model.best(problem.encoded).shape == (1,)


@pytest.mark.parametrize("threads", [1, 3])
def test_small_chunks_change_nothing(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem([["a", "B", "Aa"], [], ["abbc"], ["B"] * 4] * 5, bundles(), 3)
    model = model_of(problem)
    best, (gamma, log_z) = model.best(problem.encoded), model.marginals(problem.encoded)
    monkeypatch.setattr(objective_module, "_CHUNK_CELLS", 1)
    monkeypatch.setattr(objective_module, "_CHUNK_LANES", 3)
    again, again_log_z = model.marginals(problem.encoded, threads=threads)
    assert model.best(problem.encoded, threads=threads).tolist() == best.tolist()
    np.testing.assert_allclose(again, gamma, rtol=1e-12)
    np.testing.assert_allclose(again_log_z, log_z, rtol=1e-12)


def test_pair_marginals_out_of_range() -> None:
    """Weights so large that the sentence is summed in logarithms."""
    problem = Problem([["a", "B", "Aa"]], LabelSpace.plain("seg", "BMES"), 4, scheme=SEGMENTS)
    problem.weights = problem.weights * 400
    (_, _, chain), size = twins(problem, False)[0], 4
    gamma, pairs = model_of(problem).pair_marginals(problem.encoded, 0)
    np.testing.assert_allclose(gamma, naive.state_marginals(chain), atol=1e-9)
    np.testing.assert_allclose(pairs[1:], np.array(naive.pair_marginals(chain)).reshape(-1, size, size), atol=1e-9)


# The perceptron's view of the objective


def _path(chain: naive.Chain, labels: tuple[int, ...]) -> naive.Chain:
    """The chain in which one sequence has probability 1."""
    shares = [[float(y == label) for y in range(len(chain.start))] for label in labels]
    return naive.Chain(chain.scores, chain.transition, chain.start, chain.end, shares)


def _mistakes(problem: Problem) -> tuple[int, Any]:
    """Features of the best sequence less those of the best allowed one, where the best one is not allowed."""
    gradient, count = np.zeros(problem.structure.size), 0
    numbers = problem.weight_numbers
    for (s, _, free), (_, _, restricted) in zip(twins(problem, False), twins(problem, True), strict=True):
        (_, best), (score, target) = naive.k_best(free, 1)[0], naive.k_best(restricted, 1)[0]
        if restricted.log_weight(best) == score:
            continue
        count += 1
        texts = naive.features(problem.encoder.templates.texts, problem.sentences[s].forms)
        for labels, sign in ((best, 1), (target, -1)):
            problem._add_expectations(gradient, numbers, texts, _path(free, labels), sign)
    return count, gradient


@settings(max_examples=60)
@given(TEXTS, SEED, st.booleans(), st.booleans(), st.sampled_from([plain(), bundles()]))
def test_mistakes(texts: list[list[str]], seed: int, edges: bool, licensed: bool, space: LabelSpace) -> None:
    problem = Problem(texts, space, seed, licensed=licensed, edges=edges)
    objective = problem.objective()
    gradient = np.zeros(problem.structure.size)
    count = objective.add_mistakes(problem.weights, 0, len(objective), gradient)
    expected_count, expected = _mistakes(problem)
    assert count == expected_count
    np.testing.assert_allclose(gradient, expected, atol=1e-9)


@given(TEXTS, SEED)
def test_unknown_sentences_are_no_mistakes(texts: list[list[str]], seed: int) -> None:
    problem = Problem(texts, bundles(), seed)
    problem.encoded = problem.encoded.with_evidence(0 * problem.encoded.allow)
    objective, gradient = problem.objective(), np.zeros(problem.structure.size)
    assert objective.add_mistakes(problem.weights, 0, len(objective), gradient) == 0
    assert not gradient.any()


@settings(max_examples=40)
@given(TEXTS, SEED, st.booleans(), st.sampled_from([plain(), bundles()]), st.data())
def test_touched_weights_cover_the_gradient(
    texts: list[list[str]], seed: int, licensed: bool, space: LabelSpace, data: st.DataObject
) -> None:
    problem = Problem(texts, space, seed, licensed=licensed)
    objective = problem.objective()
    last = data.draw(st.integers(0, len(objective)))
    first = data.draw(st.integers(0, last))
    gradient = np.zeros(problem.structure.size)
    objective.add_batch(problem.weights, first, last, gradient)
    starts, stops = objective.touched(first, last)
    covered = np.zeros(len(gradient), bool)
    for start, stop in zip(starts, stops, strict=True):
        assert 0 <= start <= stop <= len(gradient)
        covered[start:stop] = True
    assert not gradient[~covered].any()
