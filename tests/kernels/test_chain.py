"""Sum-product in lockstep against the enumeration of all label sequences."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batches import EXACT, SINGLE, Case, Sums, cases, check, run
from pairwise import pairwise
from tagweave.kernels import chain, products

COPIES = 300


PRECISIONS = pytest.mark.parametrize(
    ("dtype", "spread", "tolerance"), [(np.float64, 4.0, EXACT), (np.float32, 2.0, SINGLE)], ids=["float64", "float32"]
)


@PRECISIONS
@settings(max_examples=35)
@given(data=st.data(), restricted=st.booleans(), dense=st.booleans())
def test_log_z_and_marginals(
    dtype: type, spread: float, tolerance: dict[str, float], data: st.DataObject, restricted: bool, dense: bool
) -> None:
    case = data.draw(cases(spread))
    check(case, run(case, restricted, dtype, dense), restricted, tolerance)


def _wide(case: Case) -> Case:
    """The case with so many copies of its sentences that a step of them fills tiles."""
    copies = COPIES
    repeat = (copies, 1)
    return Case(
        case.lengths * copies,
        np.tile(case.scores, repeat),
        case.transition,
        case.start,
        case.end,
        np.tile(case.allow, copies),
        case.masks,
        np.tile(case.noise, copies),
    )


@PRECISIONS
@settings(max_examples=25)
@given(data=st.data(), restricted=st.booleans(), dense=st.booleans())
def test_products_large_enough_for_tiles(
    dtype: type, spread: float, tolerance: dict[str, float], data: st.DataObject, restricted: bool, dense: bool
) -> None:
    case = data.draw(cases(spread))
    found, few = run(_wide(case), restricted, dtype, dense), len(case.lengths)
    alone = Sums(found.log_z[:few], found.gamma[:few], found.xi[:few], found.pairs / COPIES)
    check(case, alone, restricted, tolerance)


@settings(max_examples=25)
@given(
    case=cases(free=True, noisy=False),
    gap=st.sampled_from([1e3, 3e3, 1e4]),
    dtype=st.sampled_from([np.float64, np.float32]),
)
def test_evidence_far_below_the_best_label_is_scaled(case: Case, gap: float, dtype: type) -> None:
    """Excluded labels score `gap` more than allowed ones: their potentials alone would be 1, the others 0."""
    lifted = Case(
        case.lengths,
        case.scores + gap * (case.masks[case.allow] == 0),
        case.transition / 4,
        case.start / 4,
        case.end / 4,
        case.allow,
        case.masks,
        case.noise,
    )
    tolerance = EXACT if dtype is np.float64 else {"rtol": 1e-2, "atol": 2e-3}
    check(lifted, run(lifted, True, dtype, True), True, tolerance)
    free = run(lifted, False, dtype, True)
    for log_z, gamma in zip(free.log_z, free.gamma, strict=True):
        assert math.isfinite(log_z)
        np.testing.assert_allclose(gamma.sum(axis=1), 1, rtol=1e-4)


@settings(max_examples=20)
@given(case=cases())
def test_evidence_that_excludes_nothing_changes_no_bit(case: Case) -> None:
    unknown = Case(
        case.lengths, case.scores, case.transition, case.start, case.end, 0 * case.allow, case.masks, case.noise
    )
    free, restricted = (run(unknown, some, np.float64, True) for some in (False, True))
    assert free.log_z == restricted.log_z
    assert all((a == b).all() for a, b in zip(free.gamma, restricted.gamma, strict=True))
    assert (free.pairs == restricted.pairs).all()


@given(case=cases())
def test_count_allowed(case: Case) -> None:
    assert chain.count_allowed(case.allow, case.masks, case.noise) == np.count_nonzero(case.shares())


@given(st.lists(st.integers(0, 6), max_size=8))
def test_lockstep_rows(lengths: list[int]) -> None:
    ptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    order = np.argsort(-np.array(lengths, np.int64), kind="stable")
    order = order[np.array(lengths, np.int64)[order] > 0]
    rows, steps = np.full(sum(lengths), -1, np.int32), np.full(max([0, *lengths]) + 1, -1, np.int64)
    chain.pack(np.array(lengths, np.int64)[order], order, ptr, rows, steps)
    expected = [(t, lane, s) for lane, s in enumerate(order.tolist()) for t in range(lengths[s])]
    for row, (t, lane, s) in enumerate(sorted(expected)):
        assert rows[ptr[s] + t] == row == steps[t] + lane
    assert np.diff(steps).tolist() == [sum(length > t for length in lengths) for t in range(len(steps) - 1)]


def test_multiply() -> None:
    rng = np.random.default_rng(0)
    for dtype, rows, labels in pairwise(
        [np.float64, np.float32], [0, 1, 3, 4, 41], [1, 2, 3, 4, 5, 9, 13, 24, 30, 44, 77, 1031]
    ):
        left, right = rng.random((rows, labels)).astype(dtype), rng.random((labels, labels)).astype(dtype)
        left[rng.random(left.shape) < 0.5] = 0
        out = np.empty((rows, labels), dtype)
        for matrix, transposed in ((right, False), (right.T, True)):
            out[:] = np.nan
            products.multiply(left, products.panels(matrix, transposed), out)
            np.testing.assert_allclose(out, left @ right, rtol=1e-5, err_msg=f"{dtype}, {rows} rows, {labels} labels")


@pytest.mark.parametrize(
    ("dtype", "labels", "steps"),
    pairwise(
        [np.float64, np.float32],
        [4, 5, 9, 24, 30, 44, 77],
        [[0, 70, 140], [0, 80, 150, 151, 152], [0, 1, 2], [0, 5], [0]],
    ),
)
def test_row_products(dtype: type, labels: int, steps: list[int]) -> None:
    rng, rows = np.random.default_rng(labels), steps[-1]
    alpha, beyond = rng.random((2, rows, labels)).astype(dtype)
    pairs, expected = np.ones((labels, labels), dtype), np.ones((labels, labels))
    for first, low, high in zip(steps[:-2], steps[1:-1], steps[2:], strict=True):
        expected -= alpha[first : first + high - low].T.astype(float) @ beyond[low:high]
    products.add_row_products(alpha, beyond, np.array(steps), -1, pairs)
    np.testing.assert_allclose(pairs, expected, rtol=1e-4)


def _every_label(rows: int, labels: int) -> chain.Lists:
    return chain.Lists(np.arange(0, rows * labels + 1, labels), np.tile(np.arange(labels, dtype=np.int32), rows))


@pytest.mark.parametrize(
    ("sign", "lists", "steps"),
    pairwise(
        [1, -1], [chain.ALL, _every_label(30, 5)], [[0, 20, 30], [0, 12, 21, 27, 30], [0, 2, 4, 30], [0, 30], [0]]
    ),
)
def test_add_pairs_adds_the_rows_from_the_second_step_on(sign: int, lists: chain.Lists, steps: list[int]) -> None:
    rng = np.random.default_rng(0)
    alpha, beyond, pairs = rng.random((30, 5)), rng.random((30, 5)), np.ones((5, 5))
    expected = np.ones((5, 5))
    for first, low, high in zip(steps[:-2], steps[1:-1], steps[2:], strict=True):
        expected += sign * alpha[first : first + high - low].T @ beyond[low:high]
    cells = (1, 150) if len(lists.ptr) else (30, 5)
    alpha, beyond = alpha.reshape(cells), beyond.reshape(cells)
    chain.add_pairs(alpha, beyond, np.array(steps), sign, lists, pairs)
    np.testing.assert_allclose(pairs, expected, rtol=1e-12)


def test_weigh_multiplies_the_rows_of_a_sentence() -> None:
    values, steps, weights = np.ones((6, 2)), np.array([0, 3, 5, 6]), np.array([2.0, 0.0, -1.5])
    chain.weigh(values, steps, chain.ALL, weights)
    assert values[:, 0].tolist() == values[:, 1].tolist() == [2, 0, -1.5, 2, 0, 2]
    lists = chain.Lists(np.array([0, 1, 1, 3, 3, 4, 6]), np.array([0, 0, 1, 1, 0, 1], np.int32))
    cells = np.ones((1, 6))
    chain.weigh(cells, steps, lists, weights)
    assert cells.tolist() == [[2, -1.5, -1.5, 0, 2, 2]]


def test_add_rows_goes_back_to_tokens() -> None:
    gamma, difference, rows = np.array([[0.0, 1], [1, 1], [5, 5]]), np.arange(6.0).reshape(3, 2), np.array([2, 0, 1])
    chain.add_rows(gamma, rows.astype(np.int32), chain.ALL, -1, difference)
    assert difference.tolist() == [[-5, -4], [2, 2], [3, 4]]
    lists = chain.Lists(np.array([0, 1, 3, 5]), np.array([1, 1, 0, 0, 1], np.int32))
    chain.add_rows(np.array([[1.0, 1, 1, 5, 5]]), rows.astype(np.int32), lists, 1, difference)
    assert difference.tolist() == [[0, 1], [2, 3], [4, 5]]


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize(("spread", "of_transitions"), [(30, 3), (0, 0)])
def test_long_sentences_neither_vanish_nor_overflow(spread: float, of_transitions: float, dense: bool) -> None:
    """The steps of 3,000 tokens multiply to less than 1e-308, or to 3 ** 3000."""
    rng = np.random.default_rng(0)
    shapes = ((3000, 3), spread), ((3, 3), of_transitions), (3, of_transitions), (3, of_transitions)
    scores, transition, start, end = (rng.normal(0, scale, shape) for shape, scale in shapes)
    unknown = np.zeros(3000, np.int32), np.ones((1, 3)), np.zeros(0)
    found = run(Case([3000], scores, transition, start, end, *unknown), False, np.float64, dense)
    alpha = start + scores[0]
    for row in scores[1:]:
        alpha = np.logaddexp.reduce(alpha[:, None] + transition, axis=0) + row
    assert found.log_z[0] == pytest.approx(np.logaddexp.reduce(alpha + end), rel=1e-12)
    np.testing.assert_allclose(found.gamma[0].sum(axis=1), 1)


def test_a_label_that_no_sequence_reaches_has_marginal_0_whatever_follows() -> None:
    ones, end = np.ones((4, 2), np.float32), np.ones(2, np.float32)
    transition = np.array([[1e-29, 0], [1, 1]], np.float32)  # at float32, what follows the second label overflows
    steps, start = np.arange(5), np.array([1, 0], np.float32)
    alpha, gamma, beyond = (np.zeros((4, 2), np.float32) for _ in range(3))
    shift, scale, log_z = np.zeros(4, np.float32), np.zeros(4, np.float32), np.zeros(1)
    chain.forward(
        ones, shift, steps, transition, products.panels(transition), start, end, chain.ALL, alpha, scale, log_z
    )
    back = products.panels(transition, transposed=True)
    chain.backward(ones, steps, transition, back, end, chain.ALL, alpha, scale, gamma, beyond)
    np.testing.assert_allclose(gamma, [[1, 0]] * 4)
