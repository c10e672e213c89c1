"""Parsers that choose among all trees: the best one of them, under any evidence; and sentences too long for any."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_trees
from tagweave.corpus.sentence import Arc, Location, Sentence
from tagweave.errors import CorpusError
from tagweave.features import arc_templates
from tagweave.features.arc_templates import LONGEST, ArcTemplates, check_lengths, of_fit_length
from tagweave.models.arc_scorer import ArcFeatures
from tagweave.models.tree import TreeModel
from tagweave.models.tree_predictor import TreePredictor
from treebank import sentence, with_evidence

TEMPLATES = ArcTemplates(("h.upos[0] m.upos[0]", "h.form[0] m.form[0]", "m.form[0] m.upos[-1]"))


def random_model(seed: int, single_root: bool = True) -> TreeModel:
    features = ArcFeatures(TEMPLATES, 64)
    weights = np.random.default_rng(seed).normal(size=features.size)
    return TreeModel(features, weights, single_root=single_root)


def heads_of(given: Sentence) -> tuple[int, ...]:
    return tuple(arcs[0].head if arcs and arcs[0].head is not None else -1 for arcs in given.heads["head"])


def scores_of(model: TreeModel, given: Sentence) -> Any:
    encoded = model.encode([given])
    return model.scoring.scores(model.parameters.batch(encoded, 0, 1)).reshape(len(given) + 1, -1)


TAGS = st.text("NVDP", min_size=1, max_size=5)


@settings(max_examples=40)
@given(TAGS, st.integers(0, 99), st.booleans(), st.data())
def test_the_best_of_all_trees_that_the_evidence_allows(
    tags: str, seed: int, single_root: bool, data: st.DataObject
) -> None:
    model, n = random_model(seed, single_root), len(tags)
    candidates = st.none() | st.sets(st.integers(0, n), min_size=1, max_size=3)
    allowed = [data.draw(candidates.filter(lambda c, m=m: c is None or c - {m})) for m in range(1, n + 1)]
    layer = [None if c is None else tuple(Arc(h, None) for h in sorted(c - {m})) for m, c in enumerate(allowed, 1)]
    text = with_evidence(sentence(tags, [0] * n), *layer)
    scores = scores_of(model, text)
    for projective in (True, False):
        weights = {
            heads: naive_trees.score(scores, heads)
            for heads in naive_trees.trees(n, projective, single_root)
            if all(c is None or h in c for h, c in zip(heads, allowed, strict=True))
        }
        parser = TreePredictor(model, projective=projective)
        if not weights:
            if all(c is not None and len(c) == 1 for c in layer):
                continue  # a whole tree that is given stays, whatever it is
            with pytest.raises(CorpusError, match="heads that exclude one another"):
                list(parser.complete([text]))
            continue
        (done,) = parser.complete([text])
        assert weights[heads_of(done)] == pytest.approx(max(weights.values()))


# Arcs that cross where no projective tree could be

CROSSED = with_evidence(sentence("NNVN", [0] * 4), (Arc(3, None),), (Arc(4, None),), (Arc(0, None),), None)


def test_given_arcs_may_cross_only_where_trees_may() -> None:
    with pytest.raises(CorpusError, match="expected a projective tree that they allow"):
        list(TreePredictor(random_model(0)).complete([CROSSED]))
    (done,) = TreePredictor(random_model(0), projective=False).complete([CROSSED])
    assert heads_of(done)[:3] == (3, 4, 0)


def test_evidence_that_allows_no_tree_is_named() -> None:
    circle = replace(with_evidence(CROSSED, (Arc(2, None),), (Arc(1, None),), None, None), location=Location("file", 7))
    with pytest.raises(CorpusError, match="file:7: found heads that exclude one another, expected a tree"):
        list(TreePredictor(random_model(0), projective=False).complete([circle]))


# Sentences that are too long


def long_sentence(tokens: int) -> Sentence:
    return replace(sentence("N" * tokens, range(tokens)), location=Location("long.conllu", 12))


def test_a_sentence_that_is_too_long_is_named() -> None:
    expected = r"long.conllu:12: found 1,001 tokens, expected at most 1,000 in a sentence that is parsed"
    assert LONGEST == 1000
    for work in (TreePredictor(random_model(0)).parse, TreePredictor(random_model(0)).complete):
        with pytest.raises(CorpusError, match=expected):
            list(work([long_sentence(LONGEST + 1)]))


def test_the_longest_sentence_is_parsed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(arc_templates, "LONGEST", 30)
    (done,) = TreePredictor(random_model(0)).parse([long_sentence(30)])
    assert naive_trees.is_tree(heads_of(done))
    check_lengths([long_sentence(30), long_sentence(1)])
    with pytest.raises(CorpusError, match="found 31 tokens"):
        check_lengths([long_sentence(1), long_sentence(31)])
    kept = of_fit_length([long_sentence(length) for length in (29, 31, 30)])
    assert [len(each) for each in kept] == [29, 30]
