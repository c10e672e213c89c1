"""The contract of `test_contract.py`, for trees: what is unknown never becomes an arc, whatever learns.

Every learner meets every kind of evidence; a new learner comes into the suite by being in its register.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from itertools import cycle, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import naive_trees
from pairwise import pairwise
from tagweave.corpus.candidates import Soft
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats import FORMATS
from tagweave.corpus.load import load, save
from tagweave.corpus.sentence import Arc, ArcCandidates, Location, Sentence
from tagweave.errors import CorpusError
from tagweave.evidence.trees import RelationEvidence
from tagweave.features.arc_templates import ArcTemplates
from tagweave.features.encoded_arcs import EncodedArcs, encode_arcs
from tagweave.kernels.mistakes import StepRule
from tagweave.labels.sets import Reading
from tagweave.learning.run import Run, Schedule
from tagweave.models.arc_scorer import ArcFeatures, LabelObjective
from tagweave.models.tree import TreeModel, TreePredictor
from tagweave.models.tree_objective import TreeObjective
from tagweave.structures.tree import allowed_cells
from tagweave.training.cascades.guided import fit_guided, merged
from tagweave.training.cascades.transform import fit_transformed
from tagweave.training.cascades.tree_system import TreeSystem
from tagweave.training.fit.fit import fit
from tagweave.training.fit.problem import Fitted
from tagweave.training.fit.recipe import FEATURE_LEARNERS, Recipe
from tagweave.training.fit.task import Task
from treebank import treebank

MISTAKE_DRIVEN = [name for name, learner in FEATURE_LEARNERS.items() if learner.mistake_driven]
SHORT = Schedule(iterations=3)
TEMPLATES = ArcTemplates(("h.upos[0] m.upos[0]", "m.form[0]", "h.form[0] m.form[0]", "h.upos[0] b.upos[0] m.upos[0]"))
FEATURES = ArcFeatures(TEMPLATES, 256)


# Evidence of every kind


def changed(change: Any) -> Corpus:
    """The treebank, with what `change` makes of arc `at` (0 is the first) of a sentence of n tokens."""

    def step(number: int, given: Sentence) -> Sentence:
        arcs = [(candidates or ())[0] for candidates in given.heads["head"]]
        layer = tuple(change(arc, at, len(given)) for at, arc in enumerate(arcs))
        return replace(given, heads={"head": layer}, location=Location("train", number))

    return Corpus(tuple(step(n, each) for n, each in enumerate(treebank(6, seed=5), 1)), "head", path="train")


def several(arc: Arc, at: int, n: int) -> ArcCandidates:
    """Another head, and a relation of its own, beside every third arc."""
    other = Arc((at + 2) % (n + 1), "other")
    return (arc,) if at % 3 or other.head in (at + 1, arc.head) else (arc, other)


def numbered(arc: Arc, at: int, n: int) -> ArcCandidates:
    """A probability for each of several arcs."""
    both = several(arc, at, n) or ()
    return both if len(both) == 1 else Soft(both, (0.75, 0.25))


EVIDENCE = {
    "full": changed(lambda arc, at, n: (arc,)),
    "partial": changed(lambda arc, at, n: (arc,) if at % 2 else None),
    "ambiguous": changed(several),
    "heads": changed(lambda arc, at, n: (Arc(arc.head, None),) if at % 3 else (arc,)),
    "relations": changed(lambda arc, at, n: (Arc(None, arc.relation),) if at % 2 else (arc,)),
    "posteriors": changed(numbered),
    "likelihoods": changed(lambda arc, at, n: numbered(arc, at, n) if at % 2 == 0 else None),
}
NUMBERS = ("posteriors", "likelihoods")
"""Evidence of these kinds has numbers, which the perceptron refuses."""


def unknown(*names: str, new: bool = False) -> Corpus:
    """Text of which no head is known, the same or of new words: without the layer, and with one that says nothing."""
    text = [replace(s, forms=tuple(f"{f}{at}" for at, f in enumerate(s.forms))) if new else s for s in treebank(4, 9)]
    bare = [replace(s, heads={}) for s in text]
    empty = [replace(s, heads={name: (None,) * len(s) for name in names or ("head",)}) for s in text]
    return Corpus((*bare, *empty), (names or ("head",))[0])


def recipe_of(learner: str = "adagrad", kind: str = "full", projective: bool = True) -> Recipe:
    settings = {"rate": 0.1} if learner == "sgd" else {}
    reading: Reading = "likelihood" if kind == "likelihoods" else "posterior"
    return Recipe(Task("parse"), TEMPLATES, learner, settings, bits=8, projective=projective, soft_labels=reading)


def encoded_evidence(sentences: Sequence[Sentence], kind: str) -> EncodedArcs:
    return encode_arcs(sentences, TEMPLATES, "head", reading=recipe_of(kind=kind).soft_labels)


def arrays(model: TreeModel) -> list[Any]:
    labels = [] if model.labels is None else [model.labels.weights]
    return [model.weights, *labels, *([] if model.guide is None else arrays(model.guide))]


def assert_same(one: Fitted, other: Fitted) -> None:
    assert one.model.weights.any()
    assert [each.tobytes() for each in arrays(one.model)] == [each.tobytes() for each in arrays(other.model)]
    told = [[(each.number, each.loss) for each in fitted.outcome.history] for fitted in (one, other)]
    assert told[0] == told[1]
    assert one.model.single_root == other.model.single_root


@cache
def fitted(kind: str, learner: str = "adagrad", projective: bool = True) -> Fitted:
    return fit([EVIDENCE[kind]], recipe_of(learner, kind, projective), run=Run(SHORT))


def sampled(learners: Iterable[str]) -> list[tuple[str, str, bool]]:
    """Kinds of evidence with learners that take them, and whether trees are projective."""
    return pairwise(EVIDENCE, learners, (True, False), where=_takes)


def _takes(kind: str, learner: str, _: bool) -> bool:
    return kind not in NUMBERS or learner not in MISTAKE_DRIVEN


ALL = pytest.mark.parametrize(("kind", "learner", "projective"), sampled(FEATURE_LEARNERS))
STRUCTURES = pytest.mark.parametrize("projective", [True, False])


# A sentence of which nothing is known


@STRUCTURES
@pytest.mark.parametrize("single_root", [True, False])
def test_it_has_no_loss_no_gradient_and_makes_no_mistake(single_root: bool, projective: bool) -> None:
    nothing = encode_arcs(unknown().sentences, TEMPLATES, "head")
    objective = TreeObjective(FEATURES, nothing, single_root, projective=projective)
    weights = np.random.default_rng(0).normal(size=objective.size).astype(np.float32)
    loss, whole = objective.loss_and_gradient(weights)
    assert (len(objective), loss) == (0, 0.0)
    assert not whole.any()
    objective.encoded = nothing  # also if it were not left out
    before, gradient, sums = weights.copy(), np.zeros_like(weights), np.zeros(objective.size)
    loss, whole = objective.loss_and_gradient(weights)
    assert loss == pytest.approx(0, abs=1e-5)
    np.testing.assert_allclose(whole, 0, atol=1e-5)
    assert not objective.add_mistakes(weights, 0, len(nothing), gradient, nothing.evidence.weights).any()
    assert objective.correct(weights, sums, 0, len(nothing), 1, 1, StepRule()) == 0
    assert not gradient.any()
    assert not sums.any()
    assert (weights == before).all()


@STRUCTURES
@pytest.mark.parametrize("kind", EVIDENCE)
def test_beside_others_its_loss_is_exactly_nothing(kind: str, projective: bool) -> None:
    sentences = [*EVIDENCE[kind], *unknown()]
    alone, beside = (
        TreeObjective(FEATURES, encoded_evidence(each, kind), projective=projective)
        for each in (EVIDENCE[kind].sentences, sentences)
    )
    weights = np.random.default_rng(1).normal(size=alone.size).astype(np.float32)
    assert alone.loss_and_gradient(weights)[0] == beside.loss_and_gradient(weights)[0] > 0
    assert len(alone) == len(beside) > 0


@ALL
def test_it_changes_nothing_bit_for_bit(kind: str, learner: str, projective: bool) -> None:
    more = [EVIDENCE[kind], unknown(), unknown(new=True)]
    recipe = recipe_of(learner, kind, projective)
    assert_same(fitted(kind, learner, projective), fit(more, recipe, run=Run(SHORT)))


@pytest.mark.parametrize("kind", NUMBERS)
def test_the_perceptron_refuses_numbers(kind: str) -> None:
    with pytest.raises(CorpusError, match=r"train: .*a learner that follows a gradient"):
        fitted(kind, "perceptron")


def test_relations_that_are_unknown_have_no_loss() -> None:
    features, allowed = np.zeros((3, 2), np.int32), np.ones((3, 4), bool)
    objective = LabelObjective(features, RelationEvidence(allowed, np.zeros(3), np.ones(3), np.zeros(3, bool)), 4)
    weights = np.random.default_rng(2).normal(size=objective.size).astype(np.float32)
    loss, gradient = objective.loss_and_gradient(weights)
    assert (len(objective), loss) == (0, 0)
    assert not gradient.any()


# Evidence is never left


@ALL
def test_parses_stay_within_the_evidence(kind: str, learner: str, projective: bool) -> None:
    corpus, rng = EVIDENCE[kind], np.random.default_rng(0)
    model = fitted(kind, learner, projective).model
    assert TreePredictor(model).projective == projective
    wild = replace(model, weights=rng.normal(scale=3, size=len(model.weights)).astype(np.float32))
    for each, found in product((model, wild), (True, False)):
        for given, done in zip(corpus, TreePredictor(each, projective=found).complete(corpus), strict=True):
            tree = []
            for candidates, chosen in zip(given.heads["head"], done.heads["head"], strict=True):
                (arc,) = chosen or ()
                tree.append(arc.head)
                assert candidates is None or any(
                    c.head in (None, arc.head) and c.relation in (None, arc.relation) for c in candidates
                )
            assert naive_trees.is_tree(tree)
            assert naive_trees.is_projective(tree) or not found
        encoded = each.encode(corpus.sentences, "head")
        probabilities, _ = each.marginals(encoded, True)
        allowed = allowed_cells(each.parameters.batch(encoded, 0, len(encoded)))
        assert not probabilities[allowed == 0].any()


# What is unknown stays unknown on its way to the objective


@pytest.mark.parametrize("kind", EVIDENCE)
def test_evidence_reaches_the_objective_as_it_was(kind: str) -> None:
    corpus = EVIDENCE[kind]
    encoded = encoded_evidence(corpus.sentences, kind)
    cells, allowed = encoded.evidence.cells, allowed_cells(FEATURES.batch(encoded, 0, len(encoded)))
    excluded = 0
    for s, sentence in enumerate(corpus):
        n = len(sentence)
        table = allowed[cells[s] : cells[s + 1]].reshape(n + 1, n + 1)
        for m, candidates in enumerate(sentence.heads["head"], 1):
            heads = {arc.head for arc in candidates or (Arc(None, None),)}
            expected = set(range(n + 1)) - {m} if None in heads else heads
            found = set(np.flatnonzero(table[:, m]).tolist()) - {m}  # nothing reads the diagonal
            assert found == expected
            excluded += len(expected) < n
    assert excluded
    assert encoded.evidence.informative().all()


@pytest.mark.parametrize("kind", EVIDENCE)
def test_only_relations_that_are_named_are_relations(kind: str) -> None:
    labels = fitted(kind).model.labels
    named = {a.relation for s in EVIDENCE[kind] for c in s.heads["head"] for a in c or ()} - {None}
    assert labels is not None
    assert set(labels.names) == named


# Nobody sees which candidate is first


@pytest.mark.parametrize(("learner", "projective"), list(zip(FEATURE_LEARNERS, cycle((True, False)), strict=False)))
def test_the_order_of_candidates_changes_nothing(learner: str, projective: bool) -> None:
    def turned(given: Sentence) -> Sentence:
        return replace(given, heads={"head": tuple(each and each[::-1] for each in given.heads["head"])})

    corpus = EVIDENCE["ambiguous"]
    assert corpus.map(turned) != corpus
    recipe = recipe_of(learner, projective=projective)
    assert_same(fitted("ambiguous", learner, projective), fit([corpus.map(turned)], recipe, run=Run(SHORT)))


# Formats


@pytest.mark.parametrize("extension", [form.extensions[0] for form in FORMATS.values() if form.heads == "head"])
@pytest.mark.parametrize("kind", EVIDENCE)
def test_formats_with_heads_keep_evidence(kind: str, extension: str, tmp_path: Path) -> None:
    corpus, path = EVIDENCE[kind], str(tmp_path / f"corpus{extension}")
    save(corpus, path)
    found = load(f"{path}#head")
    assert [each.heads["head"] for each in found] == [each.heads["head"] for each in corpus]


# Another guideline


def renamed(corpus: Corpus, guideline: str) -> Corpus:
    return replace(
        corpus.map(lambda s: replace(s, heads={guideline: s.heads["head"]} if s.heads else {})), guideline=guideline
    )


@pytest.mark.parametrize(
    ("kind", "learner", "projective"),
    [(kind, "adagrad" if kind in NUMBERS or at % 2 else "perceptron", at % 3 == 0) for at, kind in enumerate(EVIDENCE)],
)
def test_a_treebank_that_is_relabelled_tells_nothing_where_it_knows_nothing(
    kind: str, learner: str, projective: bool
) -> None:
    """And the target neither, whatever evidence both have."""
    system, own, nothing = TreeSystem(recipe_of(learner, kind, projective), Run(SHORT)), EVIDENCE[kind], unknown()
    sources = [renamed(EVIDENCE["partial"], "ud")]
    one = fit_transformed(system, [own], sources)
    assert_same(one, fit_transformed(system, [own, nothing], [*sources, renamed(nothing, "ud")]))


@pytest.mark.parametrize("kind", EVIDENCE)
def test_a_guided_parser_learns_nothing_from_unknown_sentences(kind: str) -> None:
    guide = fit([renamed(EVIDENCE["full"], "ud")], recipe_of(), run=Run(SHORT)).model
    one, other = (
        fit_guided(corpora, guide, recipe_of(kind=kind), run=Run(SHORT))
        for corpora in ([EVIDENCE[kind]], [EVIDENCE[kind], unknown()])
    )
    assert_same(one, other)


@pytest.mark.parametrize("kind", EVIDENCE)
def test_merging_adds_what_is_known_alone(kind: str) -> None:
    sources = [renamed(EVIDENCE["partial"], "ud")]
    one, other = (
        fit(merged([EVIDENCE[kind]], each), recipe_of(kind=kind), run=Run(SHORT))
        for each in (sources, [*sources, renamed(unknown(), "ud")])
    )
    assert_same(one, other)
