"""Entropies of spans and probabilities of words, many at once, against enumeration."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from problems import TEXTS, Problem, plain
from tagweave.labels.coding import to_words
from tagweave.labels.space import LabelSpace
from tagweave.labels.transition_scheme import TransitionScheme
from tagweave.models import batches
from tagweave.models.chain import ChainModel
from tagweave.models.ranking import span_entropies, word_probabilities
from tagweave.structures.chain import Chain

SEED = st.integers(0, 10_000)
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


@settings(max_examples=25)
@given(TEXTS, st.integers(1, 4), SEED, st.booleans())
def test_entropies_are_those_of_enumeration(texts: Any, size: int, seed: int, transitions: bool) -> None:
    problem = Problem(texts, plain(size), seed, transitions=transitions)
    model = ChainModel(problem.parameters, problem.encoder, problem.weights)
    start, stop, own = all_spans(problem)
    chains = problem.chains(False)
    expected = [naive.entropy(chains[s], a, b) for s, a, b in own]  # type: ignore[arg-type]
    np.testing.assert_allclose(span_entropies(model, problem.encoded, start, stop), expected, rtol=1e-7, atol=1e-9)


@settings(max_examples=25)
@given(TEXTS, st.sampled_from(sorted(LABELS)), SEED)
def test_probabilities_of_words_are_those_of_enumeration(texts: Any, name: str, seed: int) -> None:
    texts = [text[:3] for text in texts] if name == "tagged" else texts
    problem, model = segmenting(texts, name, seed)
    start, stop, own = all_spans(problem)
    found = [naive.distribution(chain) if chain else {} for chain in problem.chains(False)]
    expected = [sum(p for y, p in found[s].items() if is_word(y, LABELS[name], a, b)) for s, a, b in own]
    probabilities = word_probabilities(model, problem.encoded, start, stop)
    np.testing.assert_allclose(probabilities, expected, rtol=1e-7, atol=1e-9)


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
