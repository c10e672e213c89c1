"""The frequencies of samples agree with enumeration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import naive
import naive_trees
from problems import Problem, plain
from tagweave.corpus.sentence import Arc
from tagweave.features.arc_templates import ArcTemplates
from tagweave.labels.sets import LabelRows
from tagweave.models.arc_scorer import ArcFeatures
from tagweave.models.chain import ChainModel
from tagweave.models.tree import TreeModel
from tagweave.structures.chain import Chain
from tagweave.structures.lockstep import Batch
from tagweave.structures.tree import tree_structure
from treebank import sentence, with_evidence

N = 2000


def assert_as_often(samples: Any, expected: Mapping[tuple[int, ...], float]) -> None:
    """Every output is within five standard deviations of its expected count."""
    counts = Counter(map(tuple, samples.tolist()))
    assert counts.keys() <= {output for output, p in expected.items() if p > 0}
    for output, p in expected.items():
        assert abs(counts[output] - N * p) <= 5 * np.sqrt(N * p * (1 - p)) + 1e-9


@pytest.mark.parametrize("restricted", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_label_sequences(seed: int, restricted: bool) -> None:
    problem = Problem([["a", "B", "Aa"]], plain(3), seed)
    model = ChainModel(problem.parameters, problem.encoder, problem.weights)
    (chain,) = problem.chains(restricted)
    assert chain is not None
    evidence = problem.encoded.evidence.under(LabelRows(problem.masks.astype(float)) if restricted else None)
    given = model.scoring.scores(problem.encoded, 0, 1), Batch.of(evidence)
    samples = Chain().samples(*given, N, seed)
    assert_as_often(samples, naive.distribution(chain))
    assert (Chain().samples(*given, N, seed) == samples).all()


@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("single_root", [False, True])
def test_trees(single_root: bool, projective: bool) -> None:
    features = ArcFeatures(ArcTemplates(("h.form[0] m.form[0]", "h.upos[0] m.upos[1]")), 64)
    weights = np.random.default_rng(1).normal(size=features.size)
    model = TreeModel(features, weights)
    given = with_evidence(sentence("DNV", [2, 3, 0]), (Arc(2, None), Arc(3, None)), None, None)
    encoded = model.encode([given], "head")
    batch = model.parameters.batch(encoded, 0, 1)
    arc_scores = model.scoring.scores(batch)
    scores = naive_trees.tree_scores(arc_scores.reshape(4, 4).tolist(), projective, single_root)
    allowed = {heads: score for heads, score in scores.items() if heads[0] in (2, 3)}
    total = sum(np.exp(score) for score in allowed.values())
    samples = tree_structure(single_root, projective).samples(arc_scores, batch, N, 0)
    assert_as_often(samples, {heads: np.exp(s) / total for heads, s in allowed.items()})
