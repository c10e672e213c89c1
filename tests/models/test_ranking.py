"""The k best tag sequences, entropies of spans and probabilities of words, against all label sequences, written out."""

from __future__ import annotations

import math
import random
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from problems import TEXTS, Problem, bundles, plain
from tagweave.corpus.sentence import Layer, Sentence
from tagweave.evidence.layers import allowed_sets
from tagweave.features.encoded import Encoded
from tagweave.labels.coding import to_words
from tagweave.labels.sets import LabelSets
from tagweave.labels.space import LabelSpace, View
from tagweave.labels.spans import SpanArrays, SpanRules
from tagweave.labels.transition_scheme import TransitionScheme
from tagweave.models import batches, word_rows
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.ranking import chunk_probabilities, ranked, span_entropies, word_probabilities
from tagweave.structures.chain import Chain

SEED = st.integers(0, 2**16)
TEXT = st.lists(st.sampled_from(["a", "B", "Aa"]), min_size=1, max_size=4)
MANY = bundles(tuple(product("NVD", "nvd")))


def model_of(problem: Problem) -> ChainModel:
    return ChainModel(problem.parameters, problem.encoder, problem.weights)


def one(problem: Problem, layers: dict[str, Layer] | None = None) -> tuple[Encoded, LabelSets]:
    """The first sentence of a problem, encoded, under the evidence of layers."""
    sets = LabelSets(problem.parameters.space)
    sentence = Sentence(problem.sentences[0].forms, layers or {})
    allow = allowed_sets([sentence], sets, problem.parameters.scheme)
    return problem.encoder.encode([sentence]).with_evidence(allow), sets


def tag_sequences(problem: Problem, view: View, layers: dict[str, Layer] | None = None) -> dict[tuple[str, ...], list]:
    """For every tag sequence that layers allow, the log weights of the label sequences that project to it."""
    (chain, *_) = problem.chains(False)
    assert chain is not None
    found: dict[tuple[str, ...], list] = {}
    for labels, weight in naive.log_weights(chain).items():
        if all(allows(problem.parameters.space.view(name), layer, labels) for name, layer in (layers or {}).items()):
            found.setdefault(tuple(view.names[view.projection[y]] for y in labels), []).append(weight)
    return found


def allows(view: View, layer: Layer, labels: tuple[int, ...]) -> bool:
    return all(c is None or view.names[view.projection[y]] in c for y, c in zip(labels, layer, strict=True))


@settings(max_examples=20)
@given(TEXT, SEED, st.sampled_from(["joint", "ctb", "pd"]), st.integers(1, 12), st.booleans())
def test_the_best_tag_sequences_with_the_sums_of_their_label_sequences(
    text: list[str], seed: int, guideline: str, k: int, given_other: bool
) -> None:
    problem = Problem([text], MANY if len(text) < 4 else bundles(), seed)
    view, rng = problem.parameters.space.view(guideline), random.Random(seed)
    tags = problem.parameters.space.view("pd").names
    layer = tuple(tuple(rng.sample(tags, 2)) if rng.random() < 0.7 else None for _ in text)
    layers: dict[str, Layer] = {"pd": layer} if given_other else {}
    found = ranked(model_of(problem), *one(problem, layers), view, k)
    every = tag_sequences(problem, view, layers)
    total = math.fsum(math.exp(weight) for weights in every.values() for weight in weights)
    expected = {tags: math.fsum(map(math.exp, weights)) / total for tags, weights in every.items()}
    assert len(found) == min(k, len(expected)) == len({each.labels for each in found})
    for each in found:
        assert each.probability == pytest.approx(expected[each.labels], rel=1e-6, abs=1e-12)
    probabilities = [each.probability for each in found]
    assert probabilities == sorted(probabilities, reverse=True)
    best = sorted((max(weights) for weights in every.values()), reverse=True)[: len(found)]
    assert sorted((max(every[each.labels]) for each in found), reverse=True) == pytest.approx(best)


@pytest.mark.parametrize("seed", range(5))
def test_a_mapping_of_one_tag_to_one_is_the_chain_of_tags(seed: int) -> None:
    """A view in which every label has its own tag, in another order, takes the other way and ends the same."""
    problem = Problem([["a", "B", "Aa"]], plain(), seed)
    space = problem.parameters.space
    turned = View("turned", tuple(reversed(space.names)), np.arange(len(space))[::-1].astype(np.int32))
    straight, again = (ranked(model_of(problem), *one(problem), view, 6) for view in (space.views[0], turned))
    assert [each.labels for each in straight] == [each.labels for each in again]
    assert [each.probability for each in straight] == pytest.approx([each.probability for each in again])


def test_sequences_that_the_coding_forbids_are_no_candidates() -> None:
    names = ("B", "M", "E", "S")
    scheme = TransitionScheme.of("BMES", names)
    # letters as one sees them from a guideline that tells only whether a word ends
    side = View("ends", ("no", "yes"), np.array([0, 0, 1, 1], np.int32))
    joint = View("letters", names, np.arange(4, dtype=np.int32))
    problem = Problem([["a", "B", "Aa"]], LabelSpace(names, (side, joint)), 3, scheme=scheme)
    found = ranked(model_of(problem), *one(problem), side, 99)
    assert {each.labels for each in found} == {(*start, "yes") for start in product(("no", "yes"), repeat=2)}
    assert sum(each.probability for each in found) == pytest.approx(1)


def test_no_sequence_that_the_evidence_allows() -> None:
    names = ("B", "M", "E", "S")
    joint = View("letters", names, np.arange(4, dtype=np.int32))
    side = View("ends", ("no", "yes"), np.array([0, 0, 1, 1], np.int32))
    scheme = TransitionScheme.of("BMES", names)
    problem = Problem([["a", "B"]], LabelSpace(names, (side, joint)), 3, scheme=scheme)
    for view in (side, joint):
        assert ranked(model_of(problem), *one(problem, {"letters": (("B",), ("B",))}), view, 3) == []


@pytest.mark.parametrize("guideline", ["joint", "ctb"])
def test_an_empty_sentence_and_a_number_too_small(guideline: str) -> None:
    problem = Problem([[], ["a"]], bundles(), 1)
    view = problem.parameters.space.view(guideline)
    (empty,) = ranked(model_of(problem), *one(problem), view, 3)
    assert (empty.labels, empty.probability) == ((), 1.0)
    with pytest.raises(ValueError, match="found k = 0, expected 1 or more"):
        ranked(model_of(problem), *one(problem), view, 0)


def test_ties_are_broken_the_same_way_every_time() -> None:
    problem = Problem([["a", "B"]], MANY, 1)
    problem.weights[:] = 0
    view = problem.parameters.space.view("ctb")
    runs = {tuple(each.labels for each in ranked(model_of(problem), *one(problem), view, 5)) for _ in range(3)}
    assert len(runs) == 1


LABELS = {
    "BMES": ("B", "M", "E", "S"),
    "BI": ("B", "I"),
    "boundary": ("-", "|"),
    "tagged": ("B-n", "B-v", "E-n", "E-v", "M-n", "M-v", "S-n", "S-v"),
}


def all_spans(problem: Problem) -> tuple[Any, Any, list[tuple[int, int, int]]]:
    """Every span of every sentence, by rising start: its tokens of all, and as (sentence, start, stop)."""
    ptr = problem.encoded.sentence_ptr.tolist()
    lengths = [len(sentence) for sentence in problem.sentences]
    own = [(s, a, b) for s, n in enumerate(lengths) for a in range(n) for b in range(a + 1, n + 1)]
    start, stop = (np.array([ptr[span[0]] + span[side] for span in own], np.int64) for side in (1, 2))
    return start, stop, own


def segmenting(texts: list[list[str]], name: str, seed: int, scale: float = 1.0) -> tuple[Problem, ChainModel]:
    coding = "BMES" if name == "tagged" else name
    space = LabelSpace.plain("tag", LABELS[name])
    problem = Problem(texts, space, seed, scheme=TransitionScheme.of(coding, space.names))
    problem.weights *= scale
    return problem, ChainModel(problem.parameters, problem.encoder, problem.weights, "segment", coding)


def is_word(labels: tuple[int, ...], names: tuple[str, ...], start: int, stop: int) -> bool:
    words, _ = to_words("x" * len(labels), [names[label] for label in labels])
    ends = np.cumsum([0, *map(len, words)]).tolist()
    return (start, stop) in list(pairwise(ends))


@settings(max_examples=12)
@given(TEXTS, st.integers(1, 4), SEED, st.booleans())
def test_entropies_are_those_of_enumeration(texts: Any, size: int, seed: int, transitions: bool) -> None:
    problem = Problem(texts, plain(size), seed, transitions=transitions)
    model = ChainModel(problem.parameters, problem.encoder, problem.weights)
    start, stop, own = all_spans(problem)
    chains = problem.chains(False)
    expected = [naive.entropy(chains[s], a, b) for s, a, b in own]  # type: ignore[arg-type]
    np.testing.assert_allclose(span_entropies(model, problem.encoded, start, stop), expected, rtol=1e-7, atol=1e-9)


@settings(max_examples=12)
@given(TEXTS, st.sampled_from(sorted(LABELS)), SEED)
def test_probabilities_of_words_are_those_of_enumeration(texts: Any, name: str, seed: int) -> None:
    texts = [text[:3] for text in texts] if name == "tagged" else texts
    problem, model = segmenting(texts, name, seed)
    start, stop, own = all_spans(problem)
    found = [naive.distribution(chain) if chain else {} for chain in problem.chains(False)]
    expected = [sum(p for y, p in found[s].items() if is_word(y, LABELS[name], a, b)) for s, a, b in own]
    probabilities = word_probabilities(model, problem.encoded, start, stop)
    np.testing.assert_allclose(probabilities, expected, rtol=1e-7, atol=1e-9)


CHUNK_LABELS = {
    "IOB1": ("B-X", "B-Y", "I-X", "I-Y", "O"),
    "IOB2": ("B-X", "B-Y", "I-X", "I-Y", "O"),
    "BIOES": ("B-X", "E-X", "I-X", "O", "S-X"),
}


ROLES = bundles(
    (("O", "O"), ("B-X", "B-X"), ("I-X", "I-X"), ("O", "B-Y"), ("O", "I-Y"), ("B-X", "B-Y"), ("I-X", "O"), ("B-X", "O"))
)
"""Labels of two guidelines that mark different spans."""


@settings(max_examples=8)
@given(TEXTS, st.sampled_from([*sorted(CHUNK_LABELS), "several"]), SEED, st.sampled_from([1.0, 500.0]))
def test_probabilities_of_chunks_are_those_of_enumeration(texts: Any, scheme: str, seed: int, scale: float) -> None:
    """Under every view: all label sequences count that project to the chunk."""
    texts = [text[:3] for text in texts[:2]]
    if scheme == "several":
        problem = Problem(texts, ROLES, seed)
    else:
        names = CHUNK_LABELS[scheme]
        problem = Problem(texts, LabelSpace.plain("tag", names), seed, scheme=TransitionScheme.of(scheme, names))
    problem.weights *= scale
    model = ChainModel(problem.parameters, problem.encoder, problem.weights, "spans")
    start, stop, own = all_spans(problem)
    ptr = problem.encoded.sentence_ptr
    ends = np.array([ptr[s + 1] for s, _, _ in own], np.int64)
    distributions = [naive.distribution(chain) if chain else {} for chain in problem.chains(False)]
    for view in model.space.views[-2:]:
        names = tuple(view.names[tag] for tag in view.projection)
        rules = SpanRules(names)
        expected, probabilities = list[float](), list[float]()
        for kind in rules.types:
            for s, a, b in own:
                expected.append(sum(p for y, p in distributions[s].items() if (a, b, kind) in chunks_of(y, names)))
        for number in range(len(rules.types)):
            visits: list[Any] = []
            labels = model.best_and_steps(problem.encoded, lambda *each, visits=visits: visits.append(each))
            assert labels.tolist() == model.best(problem.encoded).tolist()
            for tokens, _, steps in visits:
                chunks = SpanArrays(start - tokens.start, stop - tokens.start, np.full(len(own), number))
                probabilities.extend(chunk_probabilities(steps, rules, chunks, ends - tokens.start))
        np.testing.assert_allclose(probabilities, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("temperature", [1.0, 2.0])
@pytest.mark.parametrize("rows", [False, True])
def test_tagged_spans_have_probabilities_under_their_guideline(
    monkeypatch: pytest.MonkeyPatch, rows: bool, temperature: float
) -> None:
    """Labels are those of `tag`; probabilities are of scores at the temperature of the model, also from rows."""
    monkeypatch.setattr(word_rows, "_BEFORE", 0 if rows else 1 << 30)
    monkeypatch.setattr(batches, "_CHUNK_CELLS", 4)
    monkeypatch.setattr(batches, "_CHUNK_SENTENCES", 1)
    problem = Problem([["a", "B", "Aa"], [], ["B"], ["Aa", "a"]] * 2, ROLES, 3)
    about = {"calibration": {"temperature": temperature}}
    model = ChainModel(problem.parameters, problem.encoder, problem.weights, "spans", about=about)
    sentences = problem.sentences
    cooled = Problem([[*each.forms] for each in sentences], ROLES, 3)
    cooled.weights /= temperature
    distributions = [naive.distribution(chain) if chain else {} for chain in cooled.chains(False)]
    for view in ROLES.views[1:]:
        names = tuple(view.names[tag] for tag in view.projection)
        tagger = ChainPredictor(model, 2, view.guideline)
        tagged = list(tagger.tag_spans(sentences))
        assert [each for each, _ in tagged] == list(tagger.tag(sentences))
        assert [[span[:3] for span in each] for _, each in tagged] == [
            [span[:3] for span in each] for _, each in tagger.tag_spans(sentences, probable=False)
        ]
        for (sentence, spans), distribution in zip(tagged, distributions, strict=True):
            labels = tuple(view.names.index(each[0]) for each in sentence.layers[view.guideline] if each)
            assert {span[:3] for span in spans} == chunks_of(labels, view.names)
            for *span, probability in spans:
                expected = sum(p for y, p in distribution.items() if tuple(span) in chunks_of(y, names))
                assert probability == pytest.approx(expected, abs=1e-5)
    assert sum(len(spans) for _, spans in tagged) > 3


def chunks_of(labels: tuple[int, ...], names: tuple[str, ...]) -> set[tuple[int, int, str]]:
    rules = SpanRules(names)
    begins = np.array([True, *[False] * (len(labels) - 1), True])
    found = rules.spans(np.array(labels, np.int64), begins) if labels else ()
    return {(a, b, rules.types[kind]) for a, b, kind in zip(*map(np.ndarray.tolist, found), strict=True)}


def test_scores_out_of_range_are_summed_in_logarithms(monkeypatch: pytest.MonkeyPatch) -> None:
    """Potentials that underflow: without logarithms no sequence would be left."""
    exact: list[int] = []
    sums_of = Chain.sums

    def watched(*arguments: Any) -> Any:
        sums = sums_of(*arguments)
        exact.extend(sums.exact)
        return sums

    monkeypatch.setattr(Chain, "sums", watched)
    for seed in range(20):
        problem, model = segmenting([["a", "B", "Aa"], ["B"]], "BMES", seed, 500.0)
        start, stop, own = all_spans(problem)
        found = [naive.distribution(chain) for chain in problem.chains(False) if chain]
        expected = [sum(p for y, p in found[s].items() if is_word(y, LABELS["BMES"], a, b)) for s, a, b in own]
        np.testing.assert_allclose(word_probabilities(model, problem.encoded, start, stop), expected, atol=1e-6)
        assert np.isfinite(span_entropies(model, problem.encoded, start, stop)).all()
    assert {0, 1} <= set(exact), "sentences of several tokens and of one"


def test_batches_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [["a", "B", "Aa"], [], ["B"], ["Aa", "a"], ["abbc", "a", "a", "B"]] * 3
    problem, model = segmenting(texts, "BMES", 1)
    start, stop, _ = all_spans(problem)
    whole = [ask(model, problem.encoded, start, stop) for ask in (span_entropies, word_probabilities)]
    monkeypatch.setattr(batches, "_CHUNK_CELLS", 4)
    monkeypatch.setattr(batches, "_CHUNK_SENTENCES", 1)
    visits: list[Any] = []
    model.visit_pair_marginals(problem.encoded, lambda *each: visits.append(each))
    assert len(visits) > 5
    for ask, values in zip((span_entropies, word_probabilities), whole, strict=True):
        np.testing.assert_allclose(ask(model, problem.encoded, start, stop), values, rtol=1e-9, atol=1e-12)


def test_no_spans() -> None:
    problem, model = segmenting([["a"], []], "BI", 0)
    none = np.zeros(0, np.int64)
    assert len(span_entropies(model, problem.encoded, none, none)) == 0
    assert len(word_probabilities(model, problem.encoded, none, none)) == 0


def test_labels_that_code_no_words() -> None:
    problem = Problem([["a"]], plain(), 0)
    model = ChainModel(problem.parameters, problem.encoder, problem.weights)
    with pytest.raises(ValueError, match="expected a model that segments"):
        word_probabilities(model, problem.encoded, np.zeros(1, np.int64), np.ones(1, np.int64))
