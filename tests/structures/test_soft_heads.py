"""Heads with numbers: likelihoods and probabilities against the enumeration of all trees."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_trees
from tagweave.corpus.candidates import Soft
from tagweave.corpus.sentence import Arc, ArcCandidates, Sentence
from tagweave.features.arc_templates import ArcTemplates
from tagweave.features.encoded_arcs import encode_arcs
from tagweave.labels.sets import Reading
from tagweave.models.arc_scorer import ArcBatch, ArcFeatures
from tagweave.structures.loss import loss as loss_of
from tagweave.structures.tree import exclude, tree_structure
from treebank import sentence

FEATURES = ArcFeatures(ArcTemplates(("h.upos[0] m.upos[0]",)), 4)
SIBLINGS = ArcFeatures(ArcTemplates((*FEATURES.templates.texts, "s.upos[0] m.upos[0]")), 4)
WITH_PAIRS = pytest.mark.parametrize("features", [FEATURES, SIBLINGS], ids=["arcs", "siblings"])
SEED = st.integers(0, 2**32)


def batch_of(sentences: list[Sentence], reading: Reading, features: ArcFeatures = FEATURES) -> ArcBatch:
    encoded = encode_arcs(sentences, features.templates, "head", reading=reading)
    encoded = replace(encoded, evidence=encoded.evidence.with_noise(sentences, "head"))
    return features.batch(encoded, 0, len(sentences))


def loss_and_gradient(
    scores: Any, batch: ArcBatch, single_root: bool = True, projective: bool = True
) -> tuple[float, Any]:
    losses, gradient = loss_of(tree_structure(single_root, projective), scores, batch)
    return float(losses.sum()), gradient


def sentence_of(*candidates: ArcCandidates) -> Sentence:
    text = sentence("N" * len(candidates), [0] * len(candidates))
    return replace(text, heads={"head": candidates})


def numbered(numbers: Any) -> ArcCandidates:
    """The heads with positive numbers."""
    heads = np.flatnonzero(numbers).tolist()
    return Soft([Arc(head, None) for head in heads], [float(numbers[head]) for head in heads])


def likelihoods(rng: np.random.Generator, n: int, single_root: bool, projective: bool) -> tuple[Sentence, Any]:
    """A sentence with evidence of every kind that a tree agrees with, and what it leaves of potentials."""
    trees = naive_trees.trees(n, projective, single_root)
    shares, candidates = np.ones((n + 1, n + 1)), []
    confidence = rng.choice([0.7, 1.0], n).tolist()
    for m, gold in enumerate(trees[int(rng.integers(len(trees)))], 1):
        row = np.where(rng.random(n + 1) < 0.5, rng.choice([1, 0.3, 0.01], n + 1), 0)
        row[gold], row[m] = 0.5, 0
        kind = rng.integers(3)
        if kind == 0:
            candidates.append(None)
            continue
        candidates.append(numbered(row) if kind == 1 else tuple(Arc(h, None) for h in np.flatnonzero(row).tolist()))
        given, top = (row, row.max()) if kind == 1 else ((row > 0).astype(float), 1)
        shares[:, m] = np.where(given > 0, given, 1 - confidence[m - 1]) / top
    return replace(sentence_of(*candidates), confidence=tuple(confidence)), shares


@settings(max_examples=15, deadline=None)
@given(SEED, st.booleans(), st.booleans())
def test_likelihoods_multiply_potentials(seed: int, single_root: bool, projective: bool) -> None:
    rng = np.random.default_rng(seed)
    problems = [likelihoods(rng, int(rng.integers(2, 5)), single_root, projective) for _ in range(3)]
    batch = batch_of([each for each, _ in problems], "likelihood")
    scores = rng.normal(0, 2, batch.size)
    loss, gradient = loss_and_gradient(scores, batch, single_root, projective)
    wanted, slopes = 0.0, []
    for (each, shares), first in zip(problems, batch.cells[:-1], strict=True):
        n = len(each)
        table = scores[first : first + (n + 1) ** 2].reshape(n + 1, n + 1)
        trees = naive_trees.tree_scores(table.tolist(), projective, single_root)
        under = naive_trees.under_evidence(trees, shares)
        wanted += naive_trees.log_partition(trees) - naive_trees.log_partition(under)
        slopes.append(np.subtract(naive_trees.marginals(trees, n), naive_trees.marginals(under, n)).reshape(-1))
    assert loss == pytest.approx(wanted, abs=1e-5)
    np.testing.assert_allclose(gradient, np.concatenate(slopes), atol=1e-6)


@given(SEED, st.booleans(), st.booleans())
def test_the_best_tree_counts_likelihoods(seed: int, single_root: bool, projective: bool) -> None:
    rng, n = np.random.default_rng(seed), 3
    gold = naive_trees.trees(n, projective, single_root)[-1]
    numbers = rng.choice([0, 0.01, 0.3, 1], (n + 1, n + 1))
    numbers[gold, np.arange(1, n + 1)] = 0.5
    np.fill_diagonal(numbers, 0)
    batch = batch_of([sentence_of(*(numbered(numbers[:, m]) for m in range(1, n + 1)))], "likelihood")
    scores = rng.normal(0, 2, batch.size).astype(np.float32)
    trees = naive_trees.tree_scores(scores.reshape(n + 1, n + 1).tolist(), projective, single_root)
    under = naive_trees.under_evidence(trees, numbers)
    exclude(scores, batch)
    assert tuple(tree_structure(single_root, projective).best(scores, batch)) == max(under, key=under.__getitem__)


@settings(max_examples=15, deadline=None)
@given(SEED, st.booleans(), st.booleans())
def test_the_loss_of_probabilities_is_that_of_any_distribution_with_them(
    seed: int, single_root: bool, projective: bool
) -> None:
    """Beside sentences with other evidence."""
    rng = np.random.default_rng(seed)
    sentences, wanted, slopes = [sentence_of(None, None)], 0.0, [np.zeros(9)]
    tables, qs = [rng.normal(0, 2, (3, 3))], []
    for n in rng.integers(2, 5, 2).tolist():
        trees = naive_trees.trees(n, projective, single_root)
        q = dict(zip(trees, rng.dirichlet(np.full(len(trees), 0.2)).tolist(), strict=True))
        tables.append(rng.normal(0, 2, (n + 1, n + 1)))
        weights = naive_trees.tree_scores(tables[-1].tolist(), projective, single_root)
        marginals = np.array(naive_trees.marginals({t: float(np.log(p)) for t, p in q.items() if p > 1e-30}, n))
        sentences.append(sentence_of(*(numbered(marginals[:, m]) for m in range(1, n + 1))))
        wanted += naive_trees.expected_loss(weights, q)
        slopes.append(np.subtract(naive_trees.marginals(weights, n), marginals).reshape(-1))
        qs.append(q)
    scores = np.concatenate([table.reshape(-1) for table in tables])
    loss, gradient = loss_and_gradient(scores, batch_of(sentences, "posterior"), single_root, projective)
    assert loss == pytest.approx(wanted, abs=1e-5)
    np.testing.assert_allclose(gradient, np.concatenate(slopes), atol=1e-6)
    assert loss > sum(-sum(p * np.log(p) for p in q.values() if p > 0) for q in qs) - 1e-5  # the entropy of q


SOFT = [
    sentence_of(Soft((Arc(2, None), Arc(0, None)), (0.7, 0.3)), Soft((Arc(0, None), Arc(1, None)), (0.75, 0.25))),
    sentence_of((Arc(2, None),), (Arc(0, None),), Soft((Arc(2, None), Arc(1, None)), (0.6, 0.4))),
]


@pytest.mark.parametrize("reading", ["posterior", "likelihood"])
@pytest.mark.parametrize("count", [1, 2])
@WITH_PAIRS
def test_gradient_by_differences(features: ArcFeatures, reading: Reading, count: int) -> None:
    more = [sentence_of((Arc(2, None), Arc(0, None)), None)] if count == 2 else []
    batch = batch_of(SOFT + more, reading, features)
    scores, step = np.random.default_rng(3).normal(0, 1, batch.size), 1e-5
    _, gradient = loss_and_gradient(scores, batch)
    for at in range(batch.size):
        moved = [loss_and_gradient(scores + sign * step * (np.arange(batch.size) == at), batch)[0] for sign in (1, -1)]
        assert (moved[0] - moved[1]) / (2 * step) == pytest.approx(gradient[at], abs=1e-6)


@pytest.mark.parametrize("reading", ["posterior", "likelihood"])
@WITH_PAIRS
def test_a_certain_number_is_a_known_head(features: ArcFeatures, reading: Reading) -> None:
    heads = (2, 0, 2)
    known = sentence_of(*((Arc(head, None),) for head in heads))
    certain = sentence_of(*(Soft((Arc(h, None), Arc((h + 1) % 2 * 3, None)), (1.0, 0.0)) for h in heads))
    batches = [batch_of([each], reading, features) for each in (known, certain)]
    scores = np.random.default_rng(0).normal(size=batches[0].size)
    one, other = (loss_and_gradient(scores, batch) for batch in batches)
    assert one[0] == pytest.approx(other[0], abs=1e-12)
    np.testing.assert_allclose(one[1], other[1], atol=1e-12)


@pytest.mark.parametrize("confidence", [(0.6, 0.6, 0.6), (0.6, 1.0, 1.0)])
def test_known_heads_with_confidence_beside_probabilities(confidence: tuple[float, ...]) -> None:
    """Every sentence of a batch counts as it does alone."""
    known = sentence_of((Arc(2, None),), (Arc(3, None),), (Arc(0, None),))
    sentences = [SOFT[0], replace(known, confidence=confidence), known]
    batch = batch_of(sentences, "posterior")
    scores = np.random.default_rng(4).normal(size=batch.size)
    loss, gradient = loss_and_gradient(scores, batch)
    parts = [batch_of([each], "posterior") for each in sentences]
    alone = [loss_and_gradient(own, part) for own, part in zip(np.split(scores, batch.cells[1:-1]), parts, strict=True)]
    assert loss == pytest.approx(sum(part for part, _ in alone), abs=1e-6)
    np.testing.assert_allclose(gradient, np.concatenate([part for _, part in alone]), atol=1e-6)


def test_equal_likelihoods_are_a_set() -> None:
    arcs = Arc(2, None), Arc(3, None)
    one, other = (
        batch_of([sentence_of(each, (Arc(0, None),), None)], "likelihood").evidence
        for each in (arcs, Soft(arcs, (0.3, 0.3)))
    )
    assert one.allowed.dtype == other.allowed.dtype == np.uint8
    assert (one.allowed == other.allowed).all()
    assert (one.heads == other.heads).all()
