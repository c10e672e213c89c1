"""Predictors of chain models: tagging, completing, probabilities, ranking, words."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from problems import Problem, bundles, plain
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Location, Sentence
from tagweave.errors import CorpusError
from tagweave.labels.space import LabelSpace
from tagweave.labels.transition_scheme import TransitionScheme
from tagweave.models import chain_predictor
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor

TEXTS = [["a", "B", "Aa"], [], ["abbc", "a"]]
SEGMENTS = LabelSpace.plain("seg", "BMES")
SPACES = {"plain": plain(), "bundles": bundles(), "segments": SEGMENTS}


def tagger(kind: str, seed: int = 1, threads: int = 1) -> tuple[ChainPredictor, Problem]:
    scheme = TransitionScheme.of("BMES", "BMES") if kind == "segments" else None
    problem = Problem(TEXTS, SPACES[kind], seed, scheme=scheme)
    return ChainPredictor(ChainModel(problem.parameters, problem.encoder, problem.weights), threads), problem


def sequences(problem: Problem, number: int, layer: tuple[tuple[str, ...] | None, ...], guideline: str) -> dict:
    """The log weights of the label sequences of a sentence that a layer allows."""
    view = problem.parameters.space.view(guideline)
    chain = problem.chains(False)[number]
    assert chain is not None
    return {
        labels: weight
        for labels, weight in naive.log_weights(chain).items()
        if all(c is None or view.names[view.projection[y]] in c for y, c in zip(labels, layer, strict=True))
    }


LAYERS = st.lists(st.none() | st.lists(st.integers(0, 9), min_size=1, max_size=3, unique=True), min_size=3, max_size=3)


@pytest.mark.parametrize("kind", sorted(SPACES))
@pytest.mark.parametrize("threads", [1, 2])
def test_tagging_gives_the_best_sequence(kind: str, threads: int) -> None:
    tool, problem = tagger(kind, threads=threads)
    tagged = list(tool.tag(iter(problem.sentences)))
    assert [sentence.forms for sentence in tagged] == [tuple(text) for text in TEXTS]
    assert tagged[1].layers[tool.guideline] == ()
    names = tool.labels
    for number in (0, 2):
        unknown = (None,) * len(TEXTS[number])
        weights = sequences(problem, number, unknown, tool.guideline)
        best = max(weights, key=lambda labels: weights[labels])
        assert tagged[number].layers[tool.guideline] == tuple((names[y],) for y in best)


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    tool, problem = tagger("bundles")
    whole = list(tool.tag(problem.sentences * 3))
    monkeypatch.setattr(chain_predictor, "_BLOCK", 2)
    assert list(tool.tag(iter(problem.sentences * 3))) == whole
    assert list(tool.tag([])) == []


@settings(max_examples=40)
@given(st.sampled_from(["joint", "ctb", "pd"]), LAYERS, st.integers(0, 20))
def test_completing_keeps_given_labels(guideline: str, picks: list[list[int] | None], seed: int) -> None:
    tool, problem = tagger("bundles", seed)
    view = problem.parameters.space.view(guideline)
    layer = tuple(pick and tuple(dict.fromkeys(view.names[i % len(view.names)] for i in pick)) for pick in picks)
    corpus = Corpus((Sentence(tuple(TEXTS[0]), {guideline: layer}),), guideline)
    (done,) = tool.complete(corpus)
    weights = sequences(problem, 0, layer, guideline)
    best = max(weights, key=lambda labels: weights[labels])
    assert done.layers[guideline] == tuple((view.names[view.projection[y]],) for y in best)


def test_completing_a_contradiction_is_an_error_with_a_location() -> None:
    tool, _ = tagger("segments")
    sentence = Sentence(("a", "B"), {"seg": (("B",), ("B",))}, location=Location("x.txt", 4))
    with pytest.raises(CorpusError, match=r"x\.txt:4: found labels that exclude one another"):
        tool.complete(Corpus((Sentence(("a",)), sentence), "seg"))
    with pytest.raises(CorpusError, match=r"x\.txt:4"):
        tool.probabilities([Sentence(("a",)), sentence], "seg")
    with pytest.raises(CorpusError, match=r"x\.txt:4"):
        tool.k_best(sentence, 2, "seg")


@pytest.mark.parametrize("kind", sorted(SPACES))
def test_probabilities(kind: str) -> None:
    tool, problem = tagger(kind)
    found = tool.probabilities(problem.sentences)
    for number, chain in enumerate(problem.chains(False)):
        if chain is None:
            assert found[number].shape == (0, len(tool.labels))
        else:
            np.testing.assert_allclose(found[number], naive.state_marginals(chain), atol=1e-10)
    assert tool.probabilities([]) == []


def test_probabilities_given_a_layer() -> None:
    tool, problem = tagger("bundles")
    layer = (("N", "D"), None, ("V",))
    (found,) = tool.probabilities([Sentence(tuple(TEXTS[0]), {"ctb": layer})], "ctb")
    weights = sequences(problem, 0, layer, "ctb")
    total = math.fsum(math.exp(weight) for weight in weights.values())
    for t, y in product(range(3), range(5)):
        expected = math.fsum(math.exp(weight) for labels, weight in weights.items() if labels[t] == y) / total
        assert found[t, y] == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("layer", [None, (("N", "D"), None, ("V",))])
def test_the_k_best_with_their_probabilities(layer: tuple[tuple[str, ...] | None, ...] | None) -> None:
    tool, problem = tagger("bundles")
    sentence = Sentence(tuple(TEXTS[0]), {"ctb": layer} if layer else {})
    weights = sequences(problem, 0, layer or (None,) * 3, "ctb")
    total = math.fsum(math.exp(weight) for weight in weights.values())
    ranked = sorted(weights, key=lambda labels: -weights[labels])[:4]
    found = tool.k_best(sentence, 4, "ctb" if layer else None)
    assert [item.labels for item in found] == [tuple(tool.labels[y] for y in labels) for labels in ranked]
    expected = [math.exp(weights[labels]) / total for labels in ranked]
    np.testing.assert_allclose([item.probability for item in found], expected, rtol=1e-9)


def test_all_sequences_of_a_sentence_have_probability_one() -> None:
    tool, _ = tagger("segments")
    found = tool.k_best(Sentence(tuple("aBa")), 99)
    assert {"".join(item.labels) for item in found} == {"SSS", "BES", "SBE", "BME"}
    assert sum(item.probability for item in found) == pytest.approx(1)


def test_words() -> None:
    tool, _ = tagger("segments")
    layer = tuple((letter,) for letter in "BMESBE")
    words = tool.words(Sentence(tuple("abcdef"), {"seg": layer}, location=Location("f", 2)))
    assert words.forms == ("abc", "d", "ef")
    assert words.layers == {}
    assert words.location == Location("f", 2)
    for unclear in (None, ("B", "S")):
        with pytest.raises(CorpusError, match="a position without one label"):
            tool.words(Sentence(("a",), {"seg": (unclear,)}))
    with pytest.raises(CorpusError, match="a position without one label"):
        tool.words(Sentence(("a",)))


# Guidelines


@pytest.mark.parametrize("guideline", ["ctb", "pd"])
def test_a_guideline_that_is_asked_for(guideline: str) -> None:
    joint, problem = tagger("bundles")
    side = ChainPredictor(joint.model, guideline=guideline)
    view = problem.parameters.space.view(guideline)
    assert (side.guideline, side.guidelines, side.labels) == (guideline, (guideline,), view.names)
    number = problem.parameters.space.names.index
    for whole, part in zip(joint.tag(problem.sentences), side.tag(problem.sentences), strict=True):
        labels = [number(candidates[0]) for candidates in whole.layers["joint"]]
        assert part.layers == {guideline: tuple((view.names[view.projection[y]],) for y in labels)}


def test_layers_of_several_guidelines_are_of_one_label_sequence() -> None:
    joint, problem = tagger("bundles")
    both = ChainPredictor(joint.model, 2, "pd", ("ctb", "pd"))
    assert both.guidelines == ("pd", "ctb")
    corpus = Corpus(tuple(problem.sentences), "ctb")
    for one, two, three in zip(
        joint.tag(problem.sentences), both.tag(problem.sentences), both.complete(corpus), strict=True
    ):
        assert two.layers == three.layers
        assert list(two.layers) == ["pd", "ctb"]
        pairs = zip(two.layers["ctb"], two.layers["pd"], strict=True)
        assert [f"{a[0]}+{b[0]}" for a, b in pairs] == [c[0] for c in one.layers["joint"]]


def test_a_corpus_of_a_guideline_that_is_no_view_is_taken_as_the_taggers() -> None:
    joint, _ = tagger("bundles")
    sentence = Sentence(tuple(TEXTS[0]), {"mine": (("vn",), None, ("d",)), "ctb": (("D",),) * 3})
    (done,) = ChainPredictor(joint.model, guideline="pd").complete(Corpus((sentence,), "mine"))
    assert (done.layers["mine"][0], done.layers["mine"][2]) == (("vn",), ("d",))


def test_probabilities_of_a_side_are_sums_over_its_bundles(monkeypatch: pytest.MonkeyPatch) -> None:
    joint, problem = tagger("bundles")
    view = problem.parameters.space.view("pd")
    side = ChainPredictor(joint.model, guideline="pd")
    whole = side.probabilities(problem.sentences)
    for bundled, projected in zip(joint.probabilities(problem.sentences), whole, strict=True):
        summed = np.stack([bundled[:, view.projection == tag].sum(axis=1) for tag in range(len(view.names))], axis=1)
        np.testing.assert_allclose(projected, summed, atol=1e-12)
    monkeypatch.setattr(chain_predictor, "_CELLS", 1)  # one sentence at a time
    for one, other in zip(side.probabilities(problem.sentences), whole, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_a_guideline_that_the_model_does_not_have() -> None:
    joint, _ = tagger("bundles")
    for arguments in (("brown",), ("ctb", ("brown",))):
        with pytest.raises(KeyError, match="no guideline 'brown' in this label space, only joint, ctb, pd"):
            ChainPredictor(joint.model, 1, *arguments)
