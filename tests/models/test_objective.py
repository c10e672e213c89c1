"""The loss and its gradient: against enumeration, against finite differences, and what must hold of them always."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from problems import TEXTS, Problem, bundles, plain
from tagweave.corpus.candidates import Soft
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.labels.transition_scheme import TransitionScheme
from tagweave.models import batches
from tagweave.models import objective as objective_module
from tagweave.models.batches import BlockObjective
from tagweave.models.objective import ChainObjective
from tagweave.structures.loss import ContradictionError
from tagweave.training.fit.fit import prepare
from tagweave.training.fit.recipe import Recipe

SEED = st.integers(0, 10_000)
SWITCHES = st.fixed_dictionaries(
    {name: st.booleans() for name in ("observed", "transitions", "edges", "observed_transitions", "noisy", "weighted")}
)
SPACES = st.sampled_from([plain(), bundles(), plain(1), plain(2)])


def results(objective: ChainObjective, weights: Any) -> tuple[float, Any]:
    return objective.loss_and_gradient(weights)


def batched(objective: ChainObjective, weights: Any, size: int) -> tuple[float, Any]:
    """The loss and gradient as the sum over batches."""
    gradient = np.zeros_like(weights)
    bounds = range(0, len(objective), size)
    loss = sum(objective.add_batch(weights, a, min(a + size, len(objective)), gradient) for a in bounds)
    return loss, gradient


# Against enumeration


@settings(max_examples=25)
@given(TEXTS, SPACES, SEED, SWITCHES, st.integers(1, 3))
def test_loss_and_gradient(texts: list[list[str]], space: Any, seed: int, switches: dict[str, bool], size: int) -> None:
    problem = Problem(texts, space, seed, **switches)
    objective, expected, slope = problem.objective(), problem.loss(), problem.gradient()
    for loss, gradient in (results(objective, problem.weights), batched(objective, problem.weights, size)):
        assert loss == pytest.approx(expected, rel=1e-9, abs=1e-9)
        np.testing.assert_allclose(gradient, slope, rtol=1e-8, atol=1e-9)


@settings(max_examples=15)
@given(TEXTS, SPACES, SEED, SWITCHES)
def test_sums_out_of_range_count_as_often_as_their_sentence(
    texts: list[list[str]], space: Any, seed: int, switches: dict[str, bool]
) -> None:
    problem = Problem(texts, space, seed, **{**switches, "weighted": True})
    problem.weights *= 300
    loss, gradient = problem.objective().loss_and_gradient(problem.weights)
    assert loss == pytest.approx(problem.loss(), rel=1e-9, abs=1e-6)
    np.testing.assert_allclose(gradient, problem.gradient(), rtol=1e-6, atol=1e-6)


@settings(max_examples=10)
@given(TEXTS, st.sampled_from([plain(), bundles()]), SEED, SWITCHES)
def test_single_precision(texts: list[list[str]], space: Any, seed: int, switches: dict[str, bool]) -> None:
    problem = Problem(texts, space, seed, **switches)
    loss, gradient = problem.objective(dtype=np.float32).loss_and_gradient(problem.weights.astype(np.float32))
    assert gradient.dtype == np.float32
    assert loss == pytest.approx(problem.loss(), rel=1e-4, abs=1e-4)
    np.testing.assert_allclose(gradient, problem.gradient(), rtol=1e-3, atol=1e-4)


@settings(max_examples=10)
@given(TEXTS, SEED, st.sampled_from(["BMES", "BIOES"]), st.booleans())
def test_a_scheme_forbids_in_both_sums(texts: list[list[str]], seed: int, name: str, weighted: bool) -> None:
    labels = "BMES" if name == "BMES" else "BIESO"
    problem = Problem(texts, type(plain()).plain("seg", labels), seed, weighted=weighted)
    problem.parameters = replace(problem.parameters, scheme=TransitionScheme.of(name, tuple(labels)))
    expected = problem.loss()
    if math.isinf(expected):
        with pytest.raises(ContradictionError, match="no label sequence agrees"):
            problem.objective().loss_and_gradient(problem.weights)
        return
    loss, gradient = problem.objective().loss_and_gradient(problem.weights)
    assert loss == pytest.approx(expected, rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(gradient, problem.gradient(), rtol=1e-8, atol=1e-9)


# What must hold always


@settings(max_examples=10)
@given(TEXTS, SPACES, SEED, SWITCHES, st.integers(1, 2))
def test_unknown_sentences_have_no_loss_and_no_gradient(
    texts: list[list[str]], space: Any, seed: int, switches: dict[str, bool], threads: int
) -> None:
    problem = Problem(texts, space, seed, **(switches | {"observed": False}))
    problem.encoded = problem.encoded.with_evidence(0 * problem.encoded.evidence.sets)
    objective = problem.objective(threads)
    for loss, gradient in (results(objective, problem.weights), batched(objective, problem.weights, 2)):
        assert loss == 0.0
        assert not gradient.any()


@settings(max_examples=10)
@given(TEXTS, TEXTS, st.sampled_from([plain(), bundles()]), SEED)
def test_unknown_sentences_change_nothing(
    known: list[list[str]], unknown: list[list[str]], space: Any, seed: int
) -> None:
    problem = Problem(unknown + known + unknown, space, seed)
    before, after = sum(map(len, unknown)), sum(map(len, unknown + known))
    allow = problem.encoded.evidence.sets.copy()
    allow[:before], allow[after:] = 0, 0
    problem.encoded = problem.encoded.with_evidence(allow)
    loss, gradient = problem.objective().loss_and_gradient(problem.weights)
    middle = np.arange(len(unknown), len(unknown + known))
    problem.encoded = problem.encoded.take(middle)
    alone, alone_gradient = problem.objective().loss_and_gradient(problem.weights)
    assert loss == alone
    assert (gradient == alone_gradient).all()


@settings(max_examples=10)
@given(TEXTS, st.sampled_from([plain(), bundles()]), SEED, st.booleans())
def test_gold_labels_give_the_supervised_loss(texts: list[list[str]], space: Any, seed: int, weighted: bool) -> None:
    problem = Problem(texts, space, seed, weighted=weighted)
    gold = np.random.default_rng(seed).integers(0, len(space), problem.encoded.tokens)
    numbers = [problem.sets.of_labels([label]) for label in range(len(space))]
    problem.masks = problem.sets.masks
    problem.encoded = problem.encoded.with_evidence(np.array(numbers, np.int32)[gold])
    expected = 0.0
    for s, (sentence, free) in enumerate(zip(problem.sentences, problem.chains(False), strict=True)):
        if free is not None:
            path = tuple(gold[problem.encoded.sentence_ptr[s] : problem.encoded.sentence_ptr[s + 1]].tolist())
            expected += sentence.weight * (naive.log_partition(free) - free.log_weight(path))
    loss, gradient = problem.objective().loss_and_gradient(problem.weights)
    assert loss == pytest.approx(expected, rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(gradient, problem.gradient(), rtol=1e-8, atol=1e-9)


@settings(max_examples=10)
@given(TEXTS, SEED, SWITCHES)
def test_full_noise_is_no_evidence(texts: list[list[str]], seed: int, switches: dict[str, bool]) -> None:
    problem = Problem(texts, plain(), seed, **switches)
    problem.encoded = problem.encoded.with_evidence(
        problem.encoded.evidence.sets, noise=np.ones(problem.encoded.tokens)
    )
    loss, gradient = problem.objective().loss_and_gradient(problem.weights)
    assert loss == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(gradient, 0, atol=1e-12)


# Threads, order, errors


@pytest.mark.parametrize("space", [plain(), bundles()])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_threads_agree_and_repeat_bit_for_bit(space: Any, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "_CHUNK_CELLS", 40)
    monkeypatch.setattr(batches, "_CHUNK_SENTENCES", 3)
    rng = np.random.default_rng(1)
    texts = [rng.choice(["a", "B", "abbc", "Aa"], rng.integers(0, 9)).tolist() for _ in range(60)]
    problem = Problem(texts, space, 3, weighted=True, noisy=True)
    weights = problem.weights.astype(dtype)
    found = {threads: problem.objective(threads, dtype).loss_and_gradient(weights) for threads in (1, 2, 3)}
    for threads, (loss, gradient) in found.items():
        for _ in range(2):
            again, again_gradient = problem.objective(threads, dtype).loss_and_gradient(weights)
            assert again == loss
            assert (again_gradient == gradient).all()
        tolerance = 1e-10 if dtype is np.float64 else 1e-3
        assert loss == pytest.approx(found[1][0], rel=tolerance)
        np.testing.assert_allclose(gradient, found[1][1], rtol=tolerance, atol=tolerance)


def test_a_large_batch_after_a_pass_in_small_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "_CHUNK_CELLS", 8)
    monkeypatch.setattr(batches, "_CHUNK_SENTENCES", 1)
    problem = Problem([["a", "B"], ["Aa"], ["abbc", "a", "a"]] * 10, plain(), 5)
    objective = problem.objective(threads=2)
    loss, gradient = objective.loss_and_gradient(problem.weights)
    whole, whole_gradient = batched(objective, problem.weights, len(objective))
    again, again_gradient = objective.loss_and_gradient(problem.weights)
    assert again == loss
    assert (again_gradient == gradient).all()
    assert whole == pytest.approx(loss, rel=1e-12)
    np.testing.assert_allclose(whole_gradient, gradient, rtol=1e-9, atol=1e-12)


@settings(max_examples=8)
@given(TEXTS, SEED, st.randoms(use_true_random=False))
def test_the_order_of_sentences_does_not_matter(texts: list[list[str]], seed: int, random: Any) -> None:
    problem = Problem(texts, bundles(), seed, weighted=True)
    objective = problem.objective()
    order = list(range(len(objective)))
    random.shuffle(order)
    loss, gradient = objective.loss_and_gradient(problem.weights)
    shuffled, shuffled_gradient = objective.shuffled(np.array(order, np.int64)).loss_and_gradient(problem.weights)
    assert shuffled == pytest.approx(loss, rel=1e-10, abs=1e-12)
    np.testing.assert_allclose(shuffled_gradient, gradient, rtol=1e-9, atol=1e-10)


def test_an_epoch_is_the_same_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem([["a", "b", "a"]] * 5 + [["b", "c"]] * 6, bundles(), 3, weighted=True)
    objective, order = problem.objective(), np.random.default_rng(0).permutation(11)
    results = []
    for block in (1 << 18, 7):
        monkeypatch.setattr(objective_module, "BLOCK", block)
        monkeypatch.setattr(objective_module, "_ROUND", 2)
        part, gradient = objective.shuffled(order), np.zeros(objective.size)
        assert (type(part) is BlockObjective) == (block == 7)
        losses = [part.add_batch(problem.weights, first, min(first + 2, 11), gradient) for first in range(0, 11, 2)]
        results.append((losses, gradient, [block.tolist() for block in part.touched(4, 6)]))
    assert results[0][0] == results[1][0]
    assert (results[0][1] == results[1][1]).all()
    assert results[0][2] == results[1][2]


@pytest.mark.parametrize("gold", [True, False])
@pytest.mark.parametrize("weight", [1.0, 0.0])
def test_evidence_against_the_scheme_is_a_contradiction(gold: bool, weight: float) -> None:
    space = type(plain()).plain("seg", "BMES")
    problem = Problem([["a", "a"], ["a", "B"]], space, 0, scheme=TransitionScheme.of("BMES", "BMES"))
    number = {text: problem.sets.of_labels(["BMES".index(x) for x in text]) for text in ("B", "M", "E", "BM", "BS")}
    second = ["B", "B"] if gold else ["B", "BS"]
    problem.masks = problem.sets.masks
    sets = np.array([number[x] for x in ["B", "E", *second]], np.int32)
    problem.encoded = problem.encoded.with_evidence(sets, weights=np.array([1.0, weight]))
    with pytest.raises(ContradictionError, match="training sentence 2: no label sequence agrees"):
        problem.objective().loss_and_gradient(problem.weights)
    with pytest.raises(ContradictionError, match="no label sequence agrees"):
        batched(problem.objective(), problem.weights, 2)


# Large spaces: threads share a batch


@settings(max_examples=8)
@given(TEXTS, st.sampled_from([plain(), bundles()]), SEED, SWITCHES, st.integers(2, 3))
def test_threads_that_share_a_batch(
    texts: list[list[str]], space: Any, seed: int, switches: dict[str, bool], threads: int
) -> None:
    problem = Problem(texts, space, seed, **switches)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(objective_module, "_SHARED_WORK", 0)
        objective = problem.objective(threads)
        for _ in range(2):  # the second time with the scratch of the first
            loss, gradient = batched(objective, problem.weights, 4)
            assert loss == pytest.approx(problem.loss(), rel=1e-9, abs=1e-9)
            np.testing.assert_allclose(gradient, problem.gradient(), rtol=1e-8, atol=1e-9)


@settings(max_examples=8)
@given(TEXTS, SEED, SWITCHES, st.integers(0, 2))
def test_a_view_without_weights(texts: list[list[str]], seed: int, switches: dict[str, bool], left_out: int) -> None:
    """Its scores are 0, as those of weights that are all 0, and it takes no gradient."""
    problem = Problem(texts, bundles(), seed, **{**switches, "observed_transitions": False})
    parts = problem.parameters.split(problem.weights)
    for array in (parts[left_out].emission, parts[left_out].transition, parts[left_out].start, parts[left_out].end):
        array[...] = 0
    loss, gradient = problem.objective().loss_and_gradient(problem.weights)
    layouts = tuple(None if i == left_out else layout for i, layout in enumerate(problem.parameters.layouts))
    low, high = problem.parameters.offsets[left_out : left_out + 2]
    others = np.r_[0:low, high : problem.parameters.size]
    problem.parameters = replace(problem.parameters, layouts=layouts)
    assert problem.parameters.size == len(others)
    found, found_gradient = problem.objective().loss_and_gradient(problem.weights[others])
    assert found == pytest.approx(loss)
    np.testing.assert_allclose(found_gradient, gradient[others], atol=1e-12)


# Likelihoods


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("confident", [True, False])
def test_likelihoods_and_confidences_are_those_of_the_formula(seed: int, confident: bool) -> None:
    """loss = log Z - log sum_y exp(score(y)) prod_t l_t(y_t), where an excluded label has l_t = 1 - confidence."""
    rng = np.random.default_rng(seed)
    sentences, rows = [], []
    for length in (1, 2, 3):
        numbers = rng.choice([0, 1e-9, 1 / 3, 0.05, 7], (length, 3))
        numbers[:, 0] = rng.choice([0.3, 1.0], length)
        confidence = [1.0] * length if confident else rng.choice([0.1, 0.6, 1.0], length).tolist()
        layer = tuple(Soft([n for n, each in zip("ABC", row, strict=True) if each], row[row > 0]) for row in numbers)
        forms = tuple(rng.choice(list("xyz"), length).tolist())
        sentences.append(Sentence(forms, {"g": layer}, confidence=tuple(confidence)))
        rows.append(np.where(numbers > 0, numbers, 1 - np.array(confidence)[:, None]))
    problem = prepare([Corpus(tuple(sentences), "g")], Recipe(precision="float64", soft_labels="likelihood"))
    weights, expected = rng.normal(size=problem.objective.size), 0.0
    model = replace(problem.model, weights=weights)
    t = model.scoring.transitions
    for at, shares in enumerate(rows):
        scores = model.scoring.scores(model.encoder.encode(sentences), at, at + 1).emission
        one = naive.Chain(scores, t.score, t.start_score, t.end_score)
        expected += naive.log_partition(one) - naive.log_partition(replace(one, shares=shares))
    loss, gradient = problem.objective.loss_and_gradient(weights)
    assert loss == pytest.approx(expected, rel=1e-12)
    whole, parts = batched(problem.objective, weights, 2)
    assert whole == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(parts, gradient, atol=1e-12)
    at = int(np.abs(gradient).argmax())
    step = np.zeros_like(weights)
    step[at] = 1e-6
    ahead, behind = (problem.objective.loss_and_gradient(weights + sign * step)[0] for sign in (1, -1))
    assert gradient[at] == pytest.approx((ahead - behind) / 2e-6, rel=1e-5)
