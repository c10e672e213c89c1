"""Taggers: labels, completions, probabilities and rankings, by enumeration and by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from problems import TEXTS, Problem, bundles, plain
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Layer, Location, Sentence
from tagweave.errors import CorpusError
from tagweave.labels.space import LabelSpace, View
from tagweave.labels.transition_scheme import TransitionScheme
from tagweave.models import chain_predictor
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.ranking import RankedLabels

SEED = st.integers(0, 10_000)


def tagger_of(problem: Problem, threads: int = 1, coding: str = "") -> ChainPredictor:
    return ChainPredictor(ChainModel(problem.parameters, problem.encoder, problem.weights, coding=coding), threads)


def with_candidates(problem: Problem, seed: int, guideline: str = "tag") -> list[Sentence]:
    """The problem's sentences with random sets in a layer, and the problem under the same evidence."""
    rng, names = np.random.default_rng(seed), problem.parameters.space.view(guideline).names
    sentences, allow = [], []
    for sentence in problem.sentences:
        layer: list[Any] = []
        for _ in sentence.forms:
            chosen = rng.permutation(names)[: rng.integers(1, len(names) + 1)].tolist()
            layer.append(None if rng.random() < 0.3 else tuple(chosen))
            allow.append(problem.sets.of_candidates(guideline, layer[-1]))
        sentences.append(sentence.with_layer(guideline, layer))
    problem.masks = problem.sets.masks
    problem.encoded = problem.encoded.with_evidence(np.array(allow, np.int32))
    return sentences


def gold(sentence: Sentence, guideline: str = "tag") -> tuple[str, ...]:
    layer = sentence.layers[guideline]
    assert all(each is not None and len(each) == 1 for each in layer)
    return tuple(each[0] for each in layer if each)


def score_of(problem: Problem, chain: naive.Chain, names: tuple[str, ...]) -> float:
    return chain.log_weight(tuple(problem.parameters.space.names.index(name) for name in names))


# Tagging


@settings(max_examples=25)
@given(TEXTS, SEED, st.integers(1, 2))
def test_tag_takes_the_best_sequence(texts: Any, seed: int, threads: int) -> None:
    problem = Problem(texts, plain(), seed)
    found = list(tagger_of(problem, threads).tag(problem.sentences))
    for before, after, chain in zip(problem.sentences, found, problem.chains(False), strict=True):
        assert replace(after, layers={}) == before
        if chain is not None:
            assert score_of(problem, chain, gold(after)) == pytest.approx(naive.k_best(chain, 1)[0][0])


@settings(max_examples=25)
@given(TEXTS, SEED)
def test_complete_takes_the_best_sequence_that_is_allowed(texts: Any, seed: int) -> None:
    problem = Problem(texts, plain(), seed)
    sentences = with_candidates(problem, seed)
    done = tagger_of(problem).complete(Corpus(tuple(sentences), "tag"))
    for before, after, chain in zip(sentences, done, problem.chains(True), strict=True):
        labels = gold(after)
        assert all(each is None or label in each for each, label in zip(before.layers["tag"], labels, strict=True))
        if chain is not None:
            assert score_of(problem, chain, labels) == pytest.approx(naive.k_best(chain, 1)[0][0])


@settings(max_examples=25)
@given(TEXTS, SEED, st.booleans())
def test_probabilities(texts: Any, seed: int, restricted: bool) -> None:
    problem = Problem(texts, plain(), seed)
    sentences = with_candidates(problem, seed)
    tables = tagger_of(problem).probabilities(sentences, "tag" if restricted else None)
    for table, chain in zip(tables, problem.chains(restricted), strict=True):
        if chain is None:
            assert table.shape == (0, 4)
        else:
            np.testing.assert_allclose(table, naive.state_marginals(chain), rtol=1e-7, atol=1e-10)


@settings(max_examples=20)
@given(st.lists(st.sampled_from(["a", "B", "Aa"]), min_size=1, max_size=4), SEED, st.booleans(), st.integers(1, 9))
def test_k_best(text: list[str], seed: int, restricted: bool, k: int) -> None:
    problem = Problem([text], plain(3), seed)
    (sentence,) = with_candidates(problem, seed)
    found = tagger_of(problem).k_best(sentence, k, "tag" if restricted else None)
    (chain,) = problem.chains(restricted)
    assert chain is not None
    names = problem.parameters.space.names
    expected = [
        RankedLabels(tuple(names[label] for label in labels), naive.posterior(chain, labels))
        for _, labels in naive.k_best(chain, k)
    ]
    assert [each.probability for each in found] == pytest.approx([each.probability for each in expected])
    for each in found:
        assert naive.posterior(chain, tuple(names.index(n) for n in each.labels)) == pytest.approx(each.probability)


def test_nothing_to_tag() -> None:
    tagger = tagger_of(Problem([["a"]], plain(), 0))
    assert list(tagger.tag([])) == []
    assert tagger.probabilities([]) == []
    assert tagger.probabilities([], "tag") == []
    assert tagger.complete(Corpus((), "tag")).sentences == ()
    assert [s.layers["tag"] for s in tagger.tag([Sentence(())])] == [()]
    assert tagger.k_best(Sentence(()), 2) == [RankedLabels((), 1.0)]


# Streams


def test_a_stream_is_tagged_block_by_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain_predictor, "BLOCK", 3)
    problem = Problem([["a", "B"], ["Aa"], [], ["abbc", "a", "a"]], plain(), 2)
    tagger, read = tagger_of(problem), 0

    def stream() -> Any:
        nonlocal read
        while True:
            yield problem.sentences[read % 4]
            read += 1

    found = list(islice(tagger.tag(stream()), 7))
    assert read <= 9
    monkeypatch.undo()
    whole = list(tagger.tag([problem.sentences[at % 4] for at in range(7)]))
    assert found == whole


@pytest.mark.parametrize("block", [1, 2, 5])
def test_completing_block_by_block_changes_nothing(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem([["a", "B"], ["Aa"], [], ["abbc", "a", "a"]] * 3, plain(), 2)
    corpus = Corpus(tuple(with_candidates(problem, 1)), "tag")
    whole = tagger_of(problem).complete(corpus)
    monkeypatch.setattr(chain_predictor, "BLOCK", block)
    assert tagger_of(problem, threads=2).complete(corpus) == whole


# Layers


def test_completing_changes_no_other_layer_and_no_other_field() -> None:
    problem = Problem([["a", "B"]], plain(), 3)
    sentence = Sentence(
        ("a", "B"), {"x": (("1",), None), "tag": (("W",), None)}, {"c": ("p", "q")}, comments=("# k",), weight=2.0
    )
    corpus = Corpus((sentence,), "tag", covered=("W",), path="file", weight=3.0)
    done = tagger_of(problem).complete(corpus)
    assert replace(done, sentences=(), covered=corpus.covered) == replace(corpus, sentences=())
    assert done.covered is None
    assert replace(done[0], layers={}) == replace(sentence, layers={})
    assert done[0].layers["x"] == sentence.layers["x"]
    assert gold(done[0])[0] == "W"


def test_a_corpus_of_another_name_is_evidence_under_its_own() -> None:
    """What counts is the layer that was asked for, in every sentence, whatever else the sentences carry."""
    problem = Problem([["a", "B"], ["Aa"], ["a"]], plain(), 3)
    tagger = tagger_of(problem)
    sentences = (
        Sentence(("a", "B"), {"mine": (("Z",), ("X", "Y"))}),
        Sentence(("Aa",), {"mine": (("Y",),), "tag": (("W",),)}),
        Sentence(("a",), {"tag": (("W",),)}),
    )
    for order in ((0, 1, 2), (1, 0, 2), (2, 1, 0)):
        done = tagger.complete(Corpus(tuple(sentences[at] for at in order), "mine"))
        found = {sentence.forms: sentence for sentence in done}
        assert gold(found["a", "B"], "mine")[0] == "Z"
        assert gold(found["a", "B"], "mine")[1] in "XY"
        assert gold(found["Aa",], "mine") == ("Y",)
        assert found["Aa",].layers["tag"] == (("W",),)
        assert found["a",].layers["mine"] == next(tagger.tag([Sentence(("a",))])).layers["tag"]
    table = tagger.probabilities(sentences[1:], "mine")
    assert table[0][0, tagger.labels.index("Y")] == pytest.approx(1)
    assert (table[1] > 0).all()


def test_covered_labels_leave_outside_open() -> None:
    problem = Problem([["a", "B"]], LabelSpace.plain("tag", ("B-X", "B-Y", "O")), 3)
    problem.weights[:] = 0
    tagger, sentence = tagger_of(problem), Sentence(("a", "B"), {"tag": (("O",), ("B-X",))})
    np.testing.assert_allclose(tagger.probabilities([sentence], "tag", ("X",))[0], [[0, 0.5, 0.5], [1, 0, 0]])
    np.testing.assert_allclose(tagger.probabilities([sentence], "tag")[0], [[0, 0, 1], [1, 0, 0]])
    assert {each.labels for each in tagger.k_best(sentence, 9, "tag", ("X",))} == {("O", "B-X"), ("B-Y", "B-X")}


def test_a_label_that_the_model_does_not_know() -> None:
    tagger = tagger_of(Problem([["a"]], plain(), 0))
    sentence = Sentence(("a",), {"tag": (("Q",),)}, location=Location("file", 3))
    for ask in (
        lambda: tagger.complete(Corpus((sentence,), "tag")),
        lambda: tagger.probabilities([sentence], "tag"),
        lambda: tagger.k_best(sentence, 1, "tag"),
    ):
        with pytest.raises(CorpusError, match=r"file:3: found label 'Q' is not one of the 4 of tag: W X Y Z"):
            ask()
    assert gold(next(tagger.tag([sentence])))[0] in "WXYZ"


# Codings


def segmenter(letters: str = "BMES", seed: int = 0) -> ChainPredictor:
    space = LabelSpace.plain("seg", letters)
    problem = Problem([["a", "B", "a"], ["a"]], space, seed, scheme=TransitionScheme.of("BMES", letters))
    return tagger_of(problem, coding="BMES")


def test_evidence_that_excludes_itself_is_named() -> None:
    tagger = segmenter()
    fine = Sentence(("a", "B"), {"seg": (("B",), None)}, location=Location("file", 1))
    bad = Sentence(("a", "B"), {"seg": (("B",), ("S", "B"))}, location=Location("file", 2))
    message = "file:2: found labels that exclude one another, expected a sequence that they allow"
    assert gold(tagger.complete(Corpus((fine, Sentence(())), "seg"))[0], "seg") == ("B", "E")
    for ask in (
        lambda: tagger.complete(Corpus((fine, Sentence(()), bad, fine), "seg")),
        lambda: tagger.probabilities([fine, Sentence(()), bad, fine], "seg"),
        lambda: tagger.k_best(bad, 3, "seg"),
    ):
        with pytest.raises(CorpusError, match=message):
            ask()


def test_a_coding_without_a_sequence_for_a_sentence_gives_no_label() -> None:
    tagger = segmenter("BE")
    with pytest.raises(CorpusError, match="file:9"):
        list(tagger.tag([Sentence(("a", "a")), Sentence(("a",), location=Location("file", 9))]))


def test_words_from_labels() -> None:
    tagger = segmenter()
    letters: Layer = (("B",), ("M",), ("E",), ("S",))
    found = tagger.words(Sentence(tuple("abcd"), {"seg": letters}, location=Location("file", 1)))
    assert found == Sentence(("abc", "d"), location=Location("file", 1))
    tagged = tagger.words(Sentence(tuple("ab"), {"seg": (("B-N",), ("E-N",))}))
    assert tagged == Sentence(("ab",), {"seg": (("N",),)})
    for layer in (None, ("B", "S")):
        sentence = Sentence(tuple("ab"), {"seg": (("S",), layer)}, location=Location("file", 4))
        with pytest.raises(CorpusError, match="file:4: found a position without one label"):
            tagger.words(sentence)
    with pytest.raises(CorpusError, match="without one label"):
        tagger.words(Sentence(("a",)))


# Bundles


@pytest.mark.parametrize("guideline", ["ctb", "pd"])
@pytest.mark.parametrize("seed", range(4))
def test_bundles_are_projected_to_a_side(guideline: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem([["a", "B", "Aa"], ["abbc"]], bundles(), seed)
    view: View = problem.parameters.space.view(guideline)
    joint = tagger_of(problem)
    side = ChainPredictor(joint.model, guideline=guideline)
    assert (side.guideline, side.labels) == (guideline, view.names)
    number = problem.parameters.space.names.index
    for bundled, projected in zip(joint.tag(problem.sentences), side.tag(problem.sentences), strict=True):
        expected = [view.names[view.projection[number(name)]] for name in gold(bundled, "joint")]
        assert list(gold(projected, guideline)) == expected
    for bundled, projected in zip(
        joint.probabilities(problem.sentences), side.probabilities(problem.sentences), strict=True
    ):
        summed = np.stack([bundled[:, view.projection == tag].sum(axis=1) for tag in range(len(view.names))], axis=1)
        np.testing.assert_allclose(projected, summed, atol=1e-12)
    whole = side.probabilities(problem.sentences)
    monkeypatch.setattr(chain_predictor, "_CELLS", 1)  # one sentence at a time
    for one, other in zip(side.probabilities(problem.sentences), whole, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_probabilities_of_bundles_given_a_layer(seed: int) -> None:
    problem = Problem([["a", "B", "Aa"]], bundles(), seed)
    layer, view = (("N", "D"), None, ("V",)), problem.parameters.space.view("ctb")
    (found,) = tagger_of(problem).probabilities([Sentence(("a", "B", "Aa"), {"ctb": layer})], "ctb")
    (chain,) = problem.chains(False)
    assert chain is not None
    allowed = {
        labels: np.exp(weight)
        for labels, weight in naive.log_weights(chain).items()
        if all(c is None or view.names[view.projection[y]] in c for y, c in zip(labels, layer, strict=True))
    }
    expected = np.zeros((3, 5))
    for labels, share in allowed.items():
        expected[range(3), labels] += share / sum(allowed.values())
    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_layers_of_several_guidelines_are_of_one_label_sequence() -> None:
    problem = Problem([["a", "B", "Aa"], [], ["abbc", "a"]], bundles(), 1)
    joint = tagger_of(problem)
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
    mine = Sentence(("a", "B", "Aa"), {"mine": (("vn",), None, ("d",)), "ctb": (("D",),) * 3})
    (done,) = ChainPredictor(joint.model, guideline="pd").complete(Corpus((mine,), "mine"))
    assert (done.layers["mine"][0], done.layers["mine"][2]) == (("vn",), ("d",))  # no view: as the tagger's
    for arguments in (("brown",), ("ctb", ("brown",))):
        with pytest.raises(KeyError, match="no guideline 'brown' in this label space, only joint, ctb, pd"):
            ChainPredictor(joint.model, 1, *arguments)


@settings(max_examples=20)
@given(TEXTS, SEED, st.sampled_from(["ctb", "pd"]))
def test_a_corpus_of_one_side_is_completed_in_its_tags(texts: Any, seed: int, guideline: str) -> None:
    problem = Problem(texts, bundles(), seed)
    sentences = with_candidates(problem, seed, guideline)
    done = tagger_of(problem).complete(Corpus(tuple(sentences), guideline))
    view, names = problem.parameters.space.view(guideline), problem.parameters.space.names
    for before, after, chain in zip(sentences, done, problem.chains(True), strict=True):
        tags = gold(after, guideline)
        assert all(each is None or tag in each for each, tag in zip(before.layers[guideline], tags, strict=True))
        if chain is not None:
            best = naive.k_best(chain, 1)[0][1]
            assert tags == tuple(view.names[view.projection[label]] for label in best)
    assert len(names) == 5


def test_evidence_of_both_sides_meets() -> None:
    problem = Problem([["a"]], bundles(), 1)
    both = Sentence(("a",), {"ctb": (("V",),), "pd": (("vn",),)}, location=Location("file", 1))
    done = tagger_of(problem).complete(Corpus((both,), "joint"))
    assert gold(done[0], "joint") == ("V+vn",)
    apart = replace(both, layers={"ctb": (("D",),), "pd": (("vn",),)})
    with pytest.raises(CorpusError, match="file:1: found layers that exclude one another"):
        tagger_of(problem).complete(Corpus((apart,), "ctb"))
