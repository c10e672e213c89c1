"""Inference of a chain model, through encoder, emission and recurrence, against enumeration."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from problems import TEXTS, Problem, bundles, plain
from tagweave.labels.space import LabelSpace
from tagweave.labels.transition_scheme import TransitionScheme
from tagweave.models import batches
from tagweave.models.chain import ChainModel

SEED = st.integers(0, 10_000)
SPACES = st.sampled_from([plain(), bundles(), plain(1), plain(2)])
SWITCHES = st.fixed_dictionaries({name: st.booleans() for name in ("observed", "transitions", "edges", "noisy")})


def model_of(problem: Problem) -> ChainModel:
    return ChainModel(problem.parameters, problem.encoder, problem.weights)


def score_of(problem: Problem, sentence: int, labels: Any) -> float:
    return float(model_of(problem).sequence_scores(problem.encoded.take(np.array([sentence])), labels)[0])


def parts(problem: Problem, values: Any) -> list[Any]:
    """Values of all tokens, cut into those of the sentences."""
    return np.split(values, problem.encoded.sentence_ptr[1:-1])


@settings(max_examples=20)
@given(TEXTS, SPACES, SEED, SWITCHES, st.booleans(), st.integers(1, 3))
def test_best(texts: Any, space: Any, seed: int, switches: dict[str, bool], restricted: bool, threads: int) -> None:
    problem = Problem(texts, space, seed, **(switches | {"noisy": False}))
    found = model_of(problem).best(problem.encoded, problem.masks if restricted else None, threads)
    assert found.dtype == np.int32
    for chain, labels in zip(problem.chains(restricted), parts(problem, found), strict=True):
        if chain is not None:
            score, _ = naive.k_best(chain, 1)[0]
            assert chain.log_weight(tuple(labels.tolist())) == pytest.approx(score, rel=1e-9, abs=1e-9)


@settings(max_examples=20)
@given(TEXTS, SPACES, SEED, SWITCHES, st.booleans(), st.integers(1, 3))
def test_marginals(
    texts: Any, space: Any, seed: int, switches: dict[str, bool], restricted: bool, threads: int
) -> None:
    problem = Problem(texts, space, seed, **switches)
    gamma, log_z = model_of(problem).marginals(problem.encoded, problem.masks if restricted else None, threads)
    for chain, rows, total in zip(problem.chains(restricted), parts(problem, gamma), log_z, strict=True):
        if chain is None:
            assert (len(rows), total) == (0, 0.0)
            continue
        assert total == pytest.approx(naive.log_partition(chain), rel=1e-9, abs=1e-9)
        np.testing.assert_allclose(rows, naive.state_marginals(chain), rtol=1e-7, atol=1e-10)


def test_pair_marginals_of_one_token_out_of_range() -> None:
    start = np.array([False, True])
    problem = Problem([["a"]], plain(2), 0, scheme=TransitionScheme(np.ones((2, 2), bool), start, np.ones(2, bool)))
    problem.parameters.split(problem.weights)[0].emission[0::2] = 500  # of the label that no sentence begins with
    gamma, pairs = model_of(problem).pair_marginals(problem.encoded, 0)
    assert gamma.tolist() == [[0, 1]]
    assert pairs.tolist() == [[[0, 0], [0, 0]]]


@settings(max_examples=12)
@given(TEXTS, SPACES, SEED, SWITCHES, st.booleans())
def test_pair_marginals_of_a_sentence(
    texts: Any, space: Any, seed: int, switches: dict[str, bool], restricted: bool
) -> None:
    problem = Problem(texts, space, seed, **switches)
    for s, chain in enumerate(problem.chains(restricted)):
        gamma, pairs = model_of(problem).pair_marginals(problem.encoded, s, problem.masks if restricted else None)
        if chain is None:
            assert pairs.shape == (0, len(space), len(space))
            continue
        np.testing.assert_allclose(gamma, naive.state_marginals(chain), rtol=1e-7, atol=1e-10)
        assert not pairs[0].any()
        np.testing.assert_allclose(pairs[1:], np.reshape(naive.pair_marginals(chain), pairs[1:].shape), atol=1e-9)


@settings(max_examples=12)
@given(TEXTS, SPACES, SEED, SWITCHES, st.booleans(), st.integers(1, 7))
def test_k_best_and_the_score_of_a_sequence(
    texts: Any, space: Any, seed: int, switches: dict[str, bool], restricted: bool, k: int
) -> None:
    problem = Problem(texts, space, seed, **(switches | {"noisy": False}))
    model = model_of(problem)
    for s, chain in enumerate(problem.chains(restricted)):
        labels, scores = model.k_best(problem.encoded, s, k, problem.masks if restricted else None)
        if chain is None:
            assert (labels.shape, scores.tolist()) == ((1, 0), [0.0])
            assert score_of(problem, s, labels[0]) == 0.0
            continue
        expected = naive.k_best(chain, k)
        np.testing.assert_allclose(scores, [score for score, _ in expected], rtol=1e-9, atol=1e-9)
        assert len({tuple(row.tolist()) for row in labels}) == len(expected)
        for row, score in zip(labels, scores, strict=True):
            assert chain.log_weight(tuple(row.tolist())) == pytest.approx(score, rel=1e-9, abs=1e-9)
            assert score_of(problem, s, row) == pytest.approx(score, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("k", [0, -1])
def test_k_is_at_least_1(k: int) -> None:
    problem = Problem([["a"]], plain(), 0)
    with pytest.raises(ValueError, match="expected 1 or more"):
        model_of(problem).k_best(problem.encoded, 0, k)


@settings(max_examples=10)
@given(TEXTS, SEED, st.sampled_from(["BMES", "BIOES"]))
def test_a_scheme_is_never_broken(texts: Any, seed: int, name: str) -> None:
    letters = "BMES" if name == "BMES" else "BIESO"
    scheme = TransitionScheme.of(name, letters)
    problem = Problem(texts, LabelSpace.plain("g", letters), seed, scheme=scheme)
    model = model_of(problem)
    for labels in parts(problem, model.best(problem.encoded)):
        if len(labels):
            assert scheme.start[labels[0]] and scheme.end[labels[-1]]
            assert scheme.transition[labels[:-1], labels[1:]].all()
    gamma, log_z = model.marginals(problem.encoded)
    for chain, rows, total in zip(problem.chains(False), parts(problem, gamma), log_z, strict=True):
        if chain is not None:
            assert total == pytest.approx(naive.log_partition(chain), rel=1e-9, abs=1e-9)
            np.testing.assert_allclose(rows, naive.state_marginals(chain), rtol=1e-7, atol=1e-10)


def test_evidence_that_no_sequence_satisfies() -> None:
    problem = Problem([["a", "a"], ["a"]], LabelSpace.plain("g", "BMES"), 0, scheme=TransitionScheme.of("BMES", "BMES"))
    b, s = (problem.sets.of_labels([at]) for at in (0, 3))
    encoded = problem.encoded.with_evidence(np.array([b, s, s], np.int32))
    model, masks = model_of(problem), problem.sets.masks
    assert model.best(encoded, masks).tolist() == [-1, -1, 3]
    assert np.isfinite(model.marginals(encoded, masks)[1]).tolist() == [False, True]
    labels, scores = model.k_best(encoded, 0, 3, masks)
    assert (len(labels), len(scores)) == (0, 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threads_and_batches_change_nothing(dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    texts = [rng.choice(["a", "B", "abbc", "Aa"], rng.integers(0, 9)).tolist() for _ in range(80)]
    problem = Problem(texts, bundles(), 3)
    model = replace(model_of(problem), weights=problem.weights.astype(dtype))
    whole = model.best(problem.encoded), *model.marginals(problem.encoded, problem.masks)
    monkeypatch.setattr(batches, "_CHUNK_CELLS", 40)
    monkeypatch.setattr(batches, "_CHUNK_SENTENCES", 3)
    tolerance = 1e-9 if dtype is np.float64 else 1e-4
    for threads in (1, 2, 3):
        assert (model.best(problem.encoded, threads=threads) == whole[0]).all()
        gamma, log_z = model.marginals(problem.encoded, problem.masks, threads)
        assert gamma.dtype == dtype
        np.testing.assert_allclose(gamma, whole[1], rtol=tolerance, atol=tolerance)
        np.testing.assert_allclose(log_z, whole[2], rtol=tolerance, atol=tolerance)


def test_no_sentences() -> None:
    problem = Problem([["a"]], plain(), 0)
    model, nothing = model_of(problem), problem.encoder.encode([])
    assert model.best(nothing).shape == (0,)
    gamma, log_z = model.marginals(nothing)
    assert (gamma.shape, log_z.shape) == ((0, 4), (0,))
