"""Rejected spans: the loss and its gradient against the enumeration of all label sequences without them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import naive
from batches import Case
from tagweave.evidence.sequences import Evidence
from tagweave.labels.spans import span_types
from tagweave.labels.transition_scheme import TransitionScheme
from tagweave.structures.chain import Chain
from tagweave.structures.loss import loss
from tagweave.structures.terms import RejectedSpans

LABELS = {
    "BIOES": ("B-X", "E-X", "I-X", "O", "S-X", "S-Y", "B-Y", "I-Y", "E-Y"),
    "IOB2": ("B-X", "B-Y", "I-X", "I-Y", "O"),
}
Spans = list[tuple[int, int, int, str]]
"""Sentence, start, stop, type."""


def case_of(rng: np.random.Generator, coding: str, lengths: list[int], spread: float, open_: bool) -> Case:
    """Sentences under random sets and noise, or, if open, under no evidence."""
    names = LABELS[coding]
    size, n, scheme = len(names), sum(lengths), TransitionScheme.of(coding, names)
    shapes = ((n, size), (size, size), size, size)
    scores, transition, start, end = (rng.normal(0, spread, shape) for shape in shapes)
    transition[~scheme.transition], start[~scheme.start], end[~scheme.end] = -np.inf, -np.inf, -np.inf
    masks = (rng.random((4, size)) < 0.7).astype(float)
    masks[0], masks[:, names.index("O")] = 1, 1
    allow = np.zeros(n, np.int32) if open_ else rng.integers(0, 4, n).astype(np.int32)
    noise = np.zeros(0) if open_ or rng.random() < 0.5 else rng.choice([0.0, 0.3, 1.0], n)
    return Case(lengths, scores, transition, start, end, allow, masks, noise)


def evidence_of(case: Case, names: tuple[str, ...], spans: Spans, weights: list[float]) -> Evidence:
    kinds = span_types(names)
    rows = []
    for sentence, start, stop, kind in sorted(spans):
        earlier = {other[1] for other in spans if other[0] == sentence and other[3] == kind and other[1] < start}
        rows.append((sentence, start, stop, kinds.index(kind), len(earlier)))
    rejected = np.array(rows, np.int32).reshape(-1, 5)
    return replace(case.evidence, rejected=rejected, weights=np.array(weights))


def loss_and_gradient(
    case: Case, names: tuple[str, ...], spans: Spans, weights: list[float], dtype: type = np.float64
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """The loss, and its gradient with respect to emission and transition scores."""
    losses, gradient = loss(
        Chain(terms=[RejectedSpans(names)]), case.scores_as(dtype), evidence_of(case, names, spans, weights)
    )
    return float(losses.sum()), gradient.emission.astype(np.float64), gradient.transition.astype(np.float64)


def spans_of(labels: tuple[str, ...]) -> set[tuple[int, int, str]]:
    """The spans that legal labels of BIOES or IOB2 code."""
    found, start = set(), 0
    for t, label in enumerate(labels):
        following = labels[t + 1] if t + 1 < len(labels) else "O"
        start = t if label[0] in "BS" else start
        if label != "O" and following[0] not in "IE":
            found.add((start, t + 1, label[2:]))
    return found


def without(
    weights: dict[naive.Labels, float], names: tuple[str, ...], spans: set[tuple[int, int, str]]
) -> list[float]:
    return [weight for y, weight in weights.items() if not spans & spans_of(tuple(names[each] for each in y))]


def log_sum(weights: list[float]) -> float:
    top = max(weights)
    return top + math.log(math.fsum(math.exp(weight - top) for weight in weights))


@st.composite
def problems(draw: st.DrawFn, coding: str) -> tuple[Case, Spans, list[float]]:
    """Up to two sentences with up to three rejected spans each, which may overlap or be the same."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    lengths = draw(st.lists(st.integers(1, 4), min_size=1, max_size=2))
    case = case_of(rng, coding, lengths, draw(st.sampled_from([0.5, 3.0])), draw(st.booleans()))
    spans: Spans = []
    for sentence, length in enumerate(lengths):
        for _ in range(draw(st.integers(0, 3))):
            start = draw(st.integers(0, length - 1))
            spans.append((sentence, start, draw(st.integers(start + 1, length)), draw(st.sampled_from("XY"))))
    return case, spans, draw(st.lists(st.sampled_from([0.5, 1.0]), min_size=len(lengths), max_size=len(lengths)))


def twin_loss(case: Case, names: tuple[str, ...], spans: Spans, weights: list[float]) -> float:
    total = 0.0
    for s, (free, limited) in enumerate(zip(case.chains(False), case.chains(True), strict=True)):
        assert free is not None and limited is not None
        left = without(naive.log_weights(limited), names, {each[1:] for each in spans if each[0] == s})
        total += weights[s] * (naive.log_partition(free) - log_sum(left) if left else math.inf)
    return total


@pytest.mark.parametrize("coding", LABELS)
@settings(max_examples=15)
@given(data=st.data())
def test_loss_is_that_of_all_sequences_without_the_spans(coding: str, data: st.DataObject) -> None:
    case, spans, weights = data.draw(problems(coding))
    expected = twin_loss(case, LABELS[coding], spans, weights)
    assume(expected < math.inf)
    for dtype, tolerance in ((np.float64, 1e-9), (np.float32, 2e-4)):
        found, *_ = loss_and_gradient(case, LABELS[coding], spans, weights, dtype)
        assert found == pytest.approx(expected, rel=tolerance, abs=tolerance)


@pytest.mark.parametrize("coding", LABELS)
@settings(max_examples=10)
@given(data=st.data())
def test_gradient_by_differences(coding: str, data: st.DataObject) -> None:
    case, spans, weights = data.draw(problems(coding))
    names, rng, step = LABELS[coding], np.random.default_rng(0), 1e-5
    assume(twin_loss(case, names, spans, weights) < math.inf)
    _, emission, pairs = loss_and_gradient(case, names, spans, weights)
    along = rng.normal(size=case.scores.shape), rng.normal(size=case.transition.shape)
    moved = [
        twin_loss(
            replace(case, scores=case.scores + by * along[0], transition=case.transition + by * along[1]),
            names, spans, weights,
        )
        for by in (step, -step)
    ]  # fmt: skip
    slope = float((emission * along[0]).sum() + (pairs * along[1]).sum())
    assert slope == pytest.approx((moved[0] - moved[1]) / (2 * step), rel=1e-5, abs=1e-6)
    _, rough, rough_pairs = loss_and_gradient(case, names, spans, weights, np.float32)
    np.testing.assert_allclose(rough, emission, atol=2e-3)
    np.testing.assert_allclose(rough_pairs, pairs, atol=5e-3)
