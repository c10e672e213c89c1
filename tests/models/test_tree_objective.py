"""The loss of parsers: against the enumeration of all trees, finite differences, and what evidence must mean."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_trees
from forests import tables
from tagweave.corpus.sentence import Arc, Sentence
from tagweave.features.arc_templates import ArcTemplates
from tagweave.features.encoded_arcs import EncodedArcs, encode_arcs
from tagweave.learning.learners.adagrad import AdaGrad
from tagweave.learning.learners.lbfgs import LBFGS
from tagweave.learning.learners.perceptron import AveragedPerceptron
from tagweave.learning.learners.sgd import SGD
from tagweave.learning.loop import train
from tagweave.learning.run import Run, Schedule
from tagweave.models.arc_scorer import ArcFeatures
from tagweave.models.batches import batch_bounds
from tagweave.models.tree import TreeModel
from tagweave.models.tree_objective import TreeObjective
from tagweave.structures.loss import ContradictionError
from treebank import sentence, treebank, with_evidence

_OF_ARCS = ("h.upos[0] m.upos[0]", "h.form[0] m.upos[0]", "h.upos[0]", "m.form[0]", "h.upos[0] b.upos[0] m.upos[0]")
TEMPLATES = ArcTemplates((*_OF_ARCS, "h.upos[0] s.upos[0] m.upos[0]", "s.form[0] m.upos[0]"))
FEATURES = ArcFeatures(TEMPLATES, 64)
_OF_ANY_TREES = ArcFeatures(ArcTemplates(_OF_ARCS), 64)
SEED = st.integers(0, 10_000)
EVIDENCE = st.sampled_from(["full", "partial", "ambiguous", "unknown", "mixed"])


def problem(seed: int, evidence: str, single_root: bool = True, projective: bool = True) -> list[Sentence]:
    """Sentences of up to four words under evidence that a random tree agrees with."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(3):
        n = int(rng.integers(1, 5))
        trees = naive_trees.trees(n, projective, single_root)
        gold = trees[int(rng.integers(len(trees)))]
        given = sentence("".join(rng.choice(list("NVD"), n)), gold)
        own = evidence if evidence != "mixed" else str(rng.choice(["full", "partial", "ambiguous", "unknown"]))
        found.append(with_evidence(given, *(_candidates(own, head, m, n, rng) for m, head in enumerate(gold, 1))))
    return found


def _candidates(evidence: str, head: int, m: int, n: int, rng: Any) -> Any:
    if evidence == "unknown" or (evidence == "partial" and rng.random() < 0.5):
        return None
    others = [h for h in range(n + 1) if h not in (m, head) and rng.random() < 0.4]
    heads = [head, *others] if evidence == "ambiguous" else [head]
    return tuple(Arc(h, None) for h in heads)


def uncertain(sentences: list[Sentence], seed: int) -> list[Sentence]:
    """With a confidence of every token."""
    rng = np.random.default_rng(seed)
    return [replace(each, confidence=tuple(rng.choice([0.3, 0.999, 1.0], len(each)).tolist())) for each in sentences]


def encoded_evidence(sentences: list[Sentence]) -> EncodedArcs:
    encoded = encode_arcs(sentences, TEMPLATES, "head")
    return replace(encoded, evidence=encoded.evidence.with_noise(sentences, "head"))


def features_of(projective: bool) -> ArcFeatures:
    """Pairs of siblings have scores in projective trees only."""
    return FEATURES if projective else _OF_ANY_TREES


def objective(sentences: list[Sentence], projective: bool = True, **options: Any) -> TreeObjective:
    return TreeObjective(features_of(projective), encoded_evidence(sentences), projective=projective, **options)


def random_weights(seed: int = 0, projective: bool = True) -> Any:
    return np.random.default_rng(seed).normal(size=features_of(projective).size).astype(np.float32)


def scores_of(given: Sentence, weights: Any, projective: bool) -> tuple[Any, Any]:
    """Of arcs, and of pairs of siblings."""
    features = features_of(projective)
    batch = features.batch(encode_arcs([given], TEMPLATES), 0, 1)
    return tables(features.scoring(weights).scores(batch), len(given))


def all_trees(given: Sentence, weights: Any, single_root: bool, projective: bool) -> dict[naive_trees.Heads, float]:
    """The scores of all trees of a sentence."""
    arcs, pairs = scores_of(given, weights, projective)
    return naive_trees.tree_scores(arcs.tolist(), projective, single_root, None if pairs is None else pairs.tolist())


def expected_loss(sentences: list[Sentence], weights: Any, single_root: bool, projective: bool) -> float:
    """log Z of all trees less log Z under the evidence, by enumeration."""
    total = 0.0
    for each in sentences:
        trees = all_trees(each, weights, single_root, projective)
        agree = naive_trees.under_evidence(trees, shares(each))
        total += naive_trees.log_partition(trees) - naive_trees.log_partition(agree)
    return total


def expected_slope(given: Sentence, weights: Any, direction: Any, projective: bool) -> float:
    """The derivative of the loss of a sentence in a direction, by enumeration."""
    n, (arcs, pairs) = len(given), scores_of(given, direction, projective)
    trees = all_trees(given, weights, True, projective)
    agree = naive_trees.under_evidence(trees, shares(given))
    slope = float((np.subtract(naive_trees.marginals(trees, n), naive_trees.marginals(agree, n)) * arcs).sum())
    if pairs is not None:
        difference = np.subtract(naive_trees.pair_marginals(trees, n), naive_trees.pair_marginals(agree, n))
        slope += float((difference * pairs).sum())
    return slope


def shares(given: Sentence) -> Any:
    """[n + 1, n + 1], what the evidence leaves of the potential of an arc."""
    n = len(given)
    found = np.ones((n + 1, n + 1))
    for m, (candidates, confidence) in enumerate(
        zip(given.heads["head"], given.confidence or (1.0,) * n, strict=True), 1
    ):
        if candidates is not None:
            found[:, m] = 1 - confidence
            found[[arc.head or 0 for arc in candidates], m] = 1
    return found


@settings(max_examples=40, deadline=None)
@given(SEED, EVIDENCE, st.booleans(), st.booleans(), st.booleans())
def test_the_loss_is_that_of_all_trees(
    seed: int, evidence: str, single_root: bool, is_noisy: bool, projective: bool
) -> None:
    sentences, weights = problem(seed, evidence, single_root, projective), random_weights(seed, projective)
    if is_noisy:
        sentences = uncertain(sentences, seed)
    own = objective(sentences, single_root=single_root, projective=projective)
    loss = own.loss_and_gradient(weights)[0] if len(own) else 0.0
    assert loss == pytest.approx(expected_loss(sentences, weights, single_root, projective), abs=1e-5)


@settings(max_examples=6, deadline=None)
@given(SEED, st.sampled_from(["full", "partial", "ambiguous", "mixed"]), st.booleans(), st.booleans(), st.data())
def test_the_gradient_is_that_of_all_trees(
    seed: int, evidence: str, is_noisy: bool, projective: bool, data: st.DataObject
) -> None:
    sentences, weights = problem(seed, evidence, projective=projective), random_weights(seed, projective)
    sentences = uncertain(sentences, seed) if is_noisy else sentences
    own = objective(sentences, projective=projective)
    own._threshold = 0.0  # arcs of small probability count, too
    loss, gradient = own.loss_and_gradient(weights)
    parts, size = np.zeros_like(gradient), data.draw(st.integers(1, 3))
    bounds = [(a, min(len(own), a + size)) for a in range(0, len(own), size)]
    assert sum(own.add_batch(weights, *bound, parts) for bound in bounds) == pytest.approx(loss)
    np.testing.assert_allclose(parts, gradient, atol=1e-5)
    for at in np.random.default_rng(seed).choice(len(weights), 12, replace=False):
        one = np.zeros_like(weights)
        one[at] = 1
        slope = sum(expected_slope(each, weights, one, projective) for each in sentences)
        assert gradient[at] == pytest.approx(slope, abs=1e-5)


@settings(max_examples=25, deadline=None)
@given(SEED, EVIDENCE, st.booleans())
def test_mistakes_lead_from_the_best_tree_to_the_best_allowed_one(seed: int, evidence: str, projective: bool) -> None:
    sentences, weights = problem(seed, evidence, projective=projective), random_weights(seed, projective)
    own, gradient = objective(sentences, projective=projective), np.zeros_like(weights)
    counts = own.encoded.evidence.weights
    wrong = np.count_nonzero(own.add_mistakes(weights, 0, len(own), gradient, counts)) if len(own) else 0
    gap, expected = 0.0, 0
    for each in sentences:
        model = TreeModel(features_of(projective), weights, projective=projective)
        encoded, trees = encode_arcs([each], TEMPLATES, "head"), all_trees(each, weights, True, projective)
        free, allowed = model.best(encoded), model.best(encoded, True)
        difference = trees[tuple(free.tolist())] - trees[tuple(allowed.tolist())]
        gap, expected = gap + difference, expected + (free != allowed).any()
    assert wrong == expected
    assert weights @ gradient == pytest.approx(gap, abs=1e-4)


@settings(max_examples=20, deadline=None)
@given(SEED, st.sampled_from(["full", "mixed"]))
def test_touched_weights_hold_the_whole_gradient(seed: int, evidence: str) -> None:
    own, weights = objective(problem(seed, evidence)), random_weights(seed)
    if not len(own):
        return

    def marked() -> Any:
        mark = np.zeros(FEATURES.size, bool)
        for start, stop in zip(*own.touched(0, len(own)), strict=True):
            mark[start:stop] = True
        return mark

    before, gradient = marked(), np.zeros(FEATURES.size, np.float32)
    own.add_batch(weights, 0, len(own), gradient)
    after = marked()
    assert not gradient[~after].any()
    assert not (after & ~before).any()
    gradient[:] = 0  # used up: the next batch may touch anything again
    assert (marked() == before).all()


@pytest.mark.parametrize("weight", [2.0, 0.5])
def test_the_weight_of_a_sentence_counts(weight: float) -> None:
    one = treebank(1)[0]
    weights = random_weights()
    single, weighted = (objective([each]).loss_and_gradient(weights) for each in (one, replace(one, weight=weight)))
    assert weighted[0] == pytest.approx(weight * single[0])
    np.testing.assert_allclose(weighted[1], weight * single[1], atol=1e-3)


def test_a_sentence_of_weight_0_is_no_mistake() -> None:
    weights, gradient = random_weights(), np.zeros(FEATURES.size, np.float32)
    given = [sentence("NVNDN", heads) for heads in ([2, 0, 2, 5, 3], [0, 1, 2, 3, 4], [5, 5, 5, 5, 0])]
    counted = objective(given)
    errors = counted.add_mistakes(weights, 0, len(counted), gradient, np.ones(len(counted)))
    assert np.count_nonzero(errors) >= 2  # no more than one is the best tree
    ignored = objective([replace(each, weight=0.0) for each in given])
    assert not ignored.add_mistakes(weights, 0, len(ignored), gradient, np.ones(len(ignored))).any()


def test_threads_share_a_pass() -> None:
    sentences, weights = treebank(300), random_weights()
    one, two = (objective(sentences, threads=threads).loss_and_gradient(weights) for threads in (1, 2))
    assert one[0] == pytest.approx(two[0])
    np.testing.assert_allclose(one[1], two[1], atol=1e-2)


def test_contradictions_are_named() -> None:
    crossing = sentence("NNNN", [3, 4, 0, 3])
    with pytest.raises(ContradictionError, match="no projective tree"):
        objective([with_evidence(crossing, *crossing.heads["head"][:2], None, None)]).loss_and_gradient(
            random_weights()
        )


@pytest.mark.parametrize("heads", [[2, 1, 0], [2, 3, 1], [0, 1, 0], [3, 4, 0, 3]])
def test_known_heads_that_are_no_tree_are_a_contradiction(heads: list[int]) -> None:
    """A circle, with and without a root; two roots; arcs that cross."""
    given = [sentence("NV", [2, 0]), sentence("NNNN"[: len(heads)], heads)]
    with pytest.raises(ContradictionError, match="training sentence 2: no projective tree agrees"):
        objective(given)
    assert len(objective([replace(each, confidence=(0.5,) * len(each)) for each in given])) == 2
    if heads == [0, 1, 0]:
        assert len(objective(given, single_root=False)) == 2
    if heads == [3, 4, 0, 3]:
        assert len(objective(given, projective=False)) == 2
    else:
        with pytest.raises(ContradictionError, match="training sentence 2: no tree agrees"):
            objective(given, projective=False)


def test_where_all_trees_are_possible_arcs_may_cross() -> None:
    crossing = sentence("NNNN", [3, 4, 0, 3])
    partial, circle = (
        with_evidence(crossing, *heads, None, None)
        for heads in (crossing.heads["head"][:2], ((Arc(2, None),), (Arc(1, None),)))
    )
    weights = random_weights(projective=False)
    assert 0 < objective([partial], projective=False).loss_and_gradient(weights)[0] < np.inf
    with pytest.raises(ContradictionError, match="no tree agrees"):
        objective([circle], projective=False).loss_and_gradient(weights)


def test_probabilities_are_those_of_all_trees() -> None:
    given, weights = sentence("DNVN", [2, 3, 0, 3]), random_weights()
    encoded = encode_arcs([given], TEMPLATES, "head")
    marginal, log_z = TreeModel(FEATURES, weights).marginals(encoded)
    trees = all_trees(given, weights, True, True)
    np.testing.assert_allclose(marginal.reshape(5, 5), naive_trees.marginals(trees, 4), atol=1e-6)
    assert log_z[0] == pytest.approx(naive_trees.log_partition(trees))
    under, _ = TreeModel(FEATURES, weights).marginals(encoded, evidence=True)
    assert under.reshape(5, 5)[[2, 3, 0, 3], [1, 2, 3, 4]] == pytest.approx(np.ones(4))


def test_batches_cover_all_sentences() -> None:
    encoded = encode_arcs(treebank(3000), TEMPLATES)
    bounds = list(batch_bounds(encoded))
    assert len(bounds) > 1
    assert [low for low, _ in bounds] == [0, *(high for _, high in bounds[:-1])]
    assert bounds[-1][1] == len(encoded)


@pytest.mark.parametrize("learner", [AdaGrad(rate=0.02), AveragedPerceptron(), SGD(c2=0.01), LBFGS(c2=0.1)])
def test_every_learner_learns_the_treebank(learner: Any) -> None:
    features = ArcFeatures(TEMPLATES, 1 << 10)
    own = TreeObjective(features, encode_arcs(treebank(60), TEMPLATES, "head"))
    weights = train(learner, own, np.zeros(features.size, np.float32), Run(Schedule(iterations=15))).weights
    test = encode_arcs(treebank(40, seed=9), TEMPLATES, "head")
    heads = TreeModel(features, weights).best(test)
    assert (heads == test.evidence.token_heads).mean() > 0.97
