"""Scorers written outside the package, in plain NumPy, learn through the loss alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tagweave.corpus.sentence import Arc, Sentence
from tagweave.corpus.spans import Span
from tagweave.evidence.layers import allowed_sets, rejected_spans
from tagweave.evidence.sequences import Evidence, pointers
from tagweave.evidence.trees import ArcEvidence, RelationEvidence
from tagweave.labels.sets import LabelSets
from tagweave.labels.space import LabelSpace, View
from tagweave.structures.chain import Chain, ChainScores, best_labels
from tagweave.structures.lockstep import TransitionScores
from tagweave.structures.loss import loss
from tagweave.structures.terms import LabelShare, RejectedSpans
from tagweave.structures.tree import Independent, Tree, tree_structure

WORDS = ("the", "old", "dog", "saw", "Ann")
RATE, STEPS = 0.5, 60


class Scorer:
    """Weights of words, and of labels by themselves: scores of label sequences, and steps along their gradient."""

    def __init__(self, sentences: list[Sentence], labels: int) -> None:
        self.ptr = pointers(np.array([len(each) for each in sentences]))
        words = [WORDS.index(form) for sentence in sentences for form in sentence.forms]
        self.X = np.eye(len(WORDS))[words]
        self.W, self.T = np.zeros((len(WORDS), labels)), np.zeros((labels, labels))
        self.ends = np.zeros((2, labels))

    def scores(self) -> ChainScores:
        return ChainScores(self.X @ self.W, TransitionScores.of_scores(self.T, *self.ends))

    def train(self, names: tuple[str, ...], evidence: Evidence, *terms: Any) -> list[float]:
        losses, chain = [], Chain(terms=[RejectedSpans(names)])
        for _ in range(STEPS):
            by_sentence, d = loss(chain, self.scores(), evidence, terms)
            losses.append(float(by_sentence.sum()))
            self.W -= RATE * self.X.T @ d.emission
            self.T -= RATE * d.transition
            self.ends -= RATE * np.stack([d.start, d.end])
        return losses

    def best(self) -> NDArray[np.int32]:
        return best_labels(self.scores(), self.ptr)


def evidence_of(sentences: list[Sentence], space: LabelSpace) -> Evidence:
    sets = LabelSets(space)
    numbers = allowed_sets(sentences, sets)
    unknown = Evidence.unknown(pointers(np.array([len(each) for each in sentences])))
    return replace(unknown, sets=numbers, rows=sets.rows, rejected=rejected_spans(sentences, space))


def tagged(text: str, layer: str = "tag") -> Sentence:
    """`word/A|B` for candidates, `word` for an unknown tag."""
    pairs = [each.partition("/")[::2] for each in text.split()]
    return Sentence(
        tuple(form for form, _ in pairs), {layer: tuple(tuple(t.split("|")) if t else None for _, t in pairs)}
    )


def test_tags_from_partial_and_ambiguous_annotation() -> None:
    sentences = [tagged("the/D old/A dog/N saw/N|V Ann"), tagged("Ann/N saw/V the"), tagged("dog saw")]
    space = LabelSpace.plain("tag", ("D", "A", "N", "V"))
    scorer = Scorer(sentences, 4)
    losses = scorer.train(space.names, evidence_of(sentences, space))
    assert losses[-1] < 0.05 * losses[0]
    assert [space.names[y] for y in scorer.best()[:8]] == ["D", "A", "N", "V", "N", "N", "V", "D"]


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_spans_alone_with_the_share_of_their_tokens(weight: float) -> None:
    """Nothing says that words are outside spans but the share of three tokens in ten."""
    space = LabelSpace.plain("tag", ("B-PER", "I-PER", "O"))
    sentences = [tagged("Ann/B-PER saw the old dog"), tagged("the dog saw Ann/B-PER Ann/I-PER")]
    scorer = Scorer(sentences, 3)
    share = LabelShare(np.array([True, True, False]), 0.3, 0.02, weight)
    evidence = evidence_of(sentences, space)
    scorer.train(space.names, evidence, share)
    inside = float(np.isin(scorer.best(), [0, 1]).mean())
    assert inside == pytest.approx(0.3) if weight else inside > 0.3
    losses, d = loss(Chain(terms=[RejectedSpans(space.names)]), scorer.scores(), evidence, [share])
    step, at = 1e-5, (3, 1)
    moved = []
    for sign in (1, -1):
        scorer.W[at] += sign * step
        moved.append(loss(Chain(terms=[RejectedSpans(space.names)]), scorer.scores(), evidence, [share])[0].sum())
        scorer.W[at] -= sign * step
    assert (scorer.X.T @ d.emission)[at] == pytest.approx((moved[0] - moved[1]) / (2 * step), abs=1e-5)
    assert losses.shape == (2,)


def test_rejected_spans_are_not_found() -> None:
    space = LabelSpace.plain("tag", ("B-PER", "I-PER", "O"))
    text = tagged("Ann saw Ann")
    sentences = [tagged("Ann/B-PER saw/O"), replace(text, rejected={"tag": (Span(2, 3, "PER"),)})]
    scorer = Scorer(sentences, 3)
    scorer.X = np.hstack([scorer.X, np.eye(5)])  # the places of words
    scorer.W = np.zeros((10, 3))
    scorer.train(space.names, evidence_of(sentences, space))
    assert space.names[scorer.best()[4]] != "B-PER"


def test_bundles_learn_from_the_tags_of_either_guideline() -> None:
    """The label of a token is a pair of tags, of which its corpus tells one."""
    pairs = (("N", "n"), ("N", "m"), ("V", "v"))
    views = [
        View(guideline, tuple(sorted({pair[side] for pair in pairs})), np.array(projection, np.int32))
        for side, (guideline, projection) in enumerate((("one", [0, 0, 1]), ("two", [1, 0, 2])))
    ]
    names = tuple("+".join(pair) for pair in pairs)
    space = LabelSpace(names, (View("joint", names, np.arange(3, dtype=np.int32)), *views))
    sentences = [tagged("dog/N saw/V Ann/N", "one"), tagged("Ann/m saw/v dog/n", "two"), tagged("Ann dog", "two")]
    scorer = Scorer(sentences, 3)
    losses = scorer.train(space.names, evidence_of(sentences, space))
    assert losses[-1] < 0.1 * losses[0]
    found = [names[y] for y in scorer.best()]
    assert [label[0] for label in found[:3]] == ["N", "V", "N"]
    assert found[3:6] == ["N+m", "V+v", "N+n"]


def trees() -> list[Sentence]:
    heads = {"the old dog saw Ann": (3, 3, 4, 0, 4), "Ann saw the dog": (2, 0, None, None), "dog saw": (None, None)}
    return [
        Sentence(tuple(text.split()), heads={"head": tuple(None if h is None else (Arc(h, None),) for h in layer)})
        for text, layer in heads.items()
    ]


@pytest.mark.parametrize("projective", [True, False])
def test_heads_from_partial_trees(projective: bool) -> None:
    """The score of an arc is that of its pair of words; those of siblings stay 0."""
    sentences, tree = trees(), tree_structure(True, projective)
    evidence = ArcEvidence.of_layer(sentences, "head")
    words = [np.array([0, *(1 + WORDS.index(form) for form in each.forms)]) for each in sentences]
    cells = np.concatenate([np.repeat(w * 6, len(w)) + np.tile(w, len(w)) for w in words])
    W = np.zeros(36, np.float32)
    batch = tree.batch(evidence, W[cells])
    losses = []
    for _ in range(STEPS):
        by_sentence, d = loss(tree, W[cells], batch)
        losses.append(by_sentence.sum())
        np.subtract.at(W, cells, RATE * d)
    assert losses[-1] < 0.1 * losses[0]
    assert by_sentence[2] == 0
    assert tree.best(W[cells], batch).tolist() == [3, 3, 4, 0, 4, 2, 0, 4, 2, 2, 0]


def test_pairs_of_siblings_have_scores_behind_the_arcs() -> None:
    evidence = ArcEvidence.of_layer(trees()[:1], "head")
    arcs = int(evidence.cells[-1])
    scores = np.zeros(arcs + 5 * 6 * 7 // 3, np.float32)
    losses, d = loss(Tree(), scores, evidence)
    assert d.shape == scores.shape
    assert d[arcs:].any()
    np.testing.assert_allclose(losses, loss(Tree(), scores[:arcs], evidence)[0])


def test_relations_of_known_arcs() -> None:
    X, allowed = np.eye(3), np.array([[1, 0, 0], [0, 1, 1], [1, 1, 1]], bool)
    evidence, W = RelationEvidence(allowed, np.zeros(3), np.ones(3), np.zeros(3, bool)), np.zeros((3, 3))
    for _ in range(STEPS):
        losses, d = loss(Independent(), X @ W, evidence)
        W -= RATE * X.T @ d
    assert losses.max() < 0.1
    assert losses[2] == 0
    assert W[0].argmax() == 0
    assert W[1].argmin() == 0
