"""From layers to label sets: a token allows the intersection of its layers, and unknown stays unknown; candidates."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagweave.corpus.sentence import Location, Sentence
from tagweave.errors import CorpusError
from tagweave.evidence.layers import allowed_sets
from tagweave.labels.sets import ALL, LabelSets
from tagweave.labels.space import LabelSpace, View
from tagweave.labels.transition_scheme import TransitionScheme

PAIRS = (("N", "n"), ("N", "vn"), ("V", "v"), ("V", "vn"), ("D", "d"))
CTB, PD = ("D", "N", "V"), ("d", "n", "v", "vn")
SPACE = LabelSpace(
    tuple("+".join(pair) for pair in PAIRS),
    (
        View("ctb", CTB, np.array([CTB.index(a) for a, _ in PAIRS], np.int32)),
        View("pd", PD, np.array([PD.index(b) for _, b in PAIRS], np.int32)),
    ),
)


def candidates(names: tuple[str, ...]) -> st.SearchStrategy[Any]:
    return st.none() | st.lists(st.sampled_from(names), min_size=1, unique=True).map(tuple)


TOKEN = st.tuples(candidates(CTB), candidates(PD))


def allowed(token: tuple[Any, Any]) -> set[int]:
    """The labels whose sides are both allowed."""
    first, second = token
    fits = [(first is None or a in first) and (second is None or b in second) for a, b in PAIRS]
    return {y for y, fit in enumerate(fits) if fit}


@settings(max_examples=80)
@given(st.lists(st.lists(TOKEN.filter(allowed), max_size=5), max_size=4))
def test_a_token_allows_what_all_its_layers_allow(corpus: list[list[tuple[Any, Any]]]) -> None:
    sentences = [
        Sentence(("x",) * len(tokens), {"ctb": tuple(a for a, _ in tokens), "pd": tuple(b for _, b in tokens)})
        for tokens in corpus
    ]
    sets = LabelSets(SPACE)
    numbers = allowed_sets(sentences, sets)
    tokens = [token for tokens in corpus for token in tokens]
    assert numbers.dtype == np.int32
    assert [set(sets.labels(number).tolist()) for number in numbers] == [allowed(token) for token in tokens]
    assert all(number == ALL for number, token in zip(numbers, tokens, strict=True) if token == (None, None))


CONTRADICTIONS = [((a,), (b,)) for a in CTB for b in PD if (a, b) not in PAIRS] + [(("N", "V"), ("d",))]


@pytest.mark.parametrize("token", CONTRADICTIONS)
def test_layers_that_exclude_one_another_are_an_error_with_a_location(token: tuple[Any, Any]) -> None:
    sentence = Sentence(("x",), {"ctb": (token[0],), "pd": (token[1],)}, location=Location("two.txt", 7))
    with pytest.raises(CorpusError, match=r"two\.txt:7: found layers that exclude one another"):
        allowed_sets([sentence], LabelSets(SPACE))


def test_other_layers_and_missing_ones_are_no_evidence() -> None:
    sentences = [Sentence(("x", "y"), {"other": (("Z",), ("Z",))}), Sentence(()), Sentence(("z",))]
    assert allowed_sets(sentences, LabelSets(SPACE)).tolist() == [ALL] * 3
    assert allowed_sets([], LabelSets(SPACE)).tolist() == []


def test_an_unknown_label_is_an_error_with_a_location() -> None:
    sentence = Sentence(("x",), {"pd": (("nz",),)}, location=Location("pd.txt", 2))
    with pytest.raises(CorpusError, match=r"pd\.txt:2: .*'nz'.*expected labels of the model"):
        allowed_sets([sentence], LabelSets(SPACE))


ENTITIES = LabelSpace.plain("ner", ("B-LOC", "I-LOC", "B-PER", "I-PER", "O"))


@pytest.mark.parametrize(
    ("covered", "label", "expected"),
    [
        (None, ("O",), {"O"}),
        (("PER",), ("O",), {"O", "B-LOC", "I-LOC"}),
        (("PER", "LOC"), ("O",), {"O"}),
        ((), ("O",), {"O", "B-LOC", "I-LOC", "B-PER", "I-PER"}),
        (("B-PER", "I-PER"), ("O",), {"O", "B-LOC", "I-LOC"}),
        (("PER",), ("B-PER",), {"B-PER"}),
        (("PER",), ("O", "B-PER"), {"O", "B-PER", "B-LOC", "I-LOC"}),
    ],
)
def test_outside_of_covered_types_is_unknown(covered: Any, label: tuple[str, ...], expected: set[str]) -> None:
    sets = LabelSets(ENTITIES)
    number = int(allowed_sets([Sentence(("x",), {"ner": (label,)})], sets, covered=covered)[0])
    assert {ENTITIES.names[y] for y in sets.labels(number)} == expected
    assert (number == ALL) == (len(expected) == 5)


@pytest.mark.parametrize(
    ("covered", "message"),
    [
        (("PER", "PERS"), r"ner.txt: found the covered type 'PERS', expected one of LOC O PER \(perhaps PER\)"),
        (("B-XYZ",), r"ner.txt: found the covered type 'XYZ', expected one of LOC O PER"),
        (("per",), "ner.txt: found the covered type 'per'"),
    ],
)
def test_an_unknown_covered_label(covered: tuple[str, ...], message: str) -> None:
    sentence = Sentence(("x",), {"ner": (("O",),)}, location=Location("ner.txt", 3))
    with pytest.raises(CorpusError, match=message):
        allowed_sets([sentence], LabelSets(ENTITIES), covered=covered)
    for known in ("E-PER", "LOC", "O"):
        allowed_sets([sentence], LabelSets(ENTITIES), covered=(known,))


SEGMENTS = LabelSpace.plain("seg", ("B", "M", "E", "S"))
SCHEME = TransitionScheme.of("BMES", SEGMENTS.names)


def _coded(sets: LabelSets, numbers: list[int]) -> set[tuple[int, ...]]:
    """The label sequences that the scheme and the sets allow."""
    sequences = product(*(sets.labels(number).tolist() for number in numbers))
    return {
        labels
        for labels in sequences
        if SCHEME.start[labels[0]]
        and SCHEME.end[labels[-1]]
        and all(SCHEME.transition[i, j] for i, j in pairwise(labels))
    }


@settings(max_examples=80)
@given(st.lists(candidates(SEGMENTS.names), min_size=1, max_size=4))
def test_dropping_sets_that_follow_from_the_scheme_keeps_the_allowed_sequences(layer: list[Any]) -> None:
    sets = LabelSets(SEGMENTS)
    sentence = Sentence(("x",) * len(layer), {"seg": tuple(layer)})
    plain = allowed_sets([sentence], sets).tolist()
    with_scheme = allowed_sets([sentence], sets, SCHEME).tolist()
    assert _coded(sets, with_scheme) == _coded(sets, plain)
    assert all(b in (a, ALL) for a, b in zip(plain, with_scheme, strict=True))


def test_the_edges_of_a_text_are_no_evidence() -> None:
    """What every sentence has, a first letter B or S and a last one E or S, must not make it look annotated."""
    layer = (("B", "S"), None, ("E", "S"))
    sentences = [Sentence(tuple("abc"), {"seg": layer}), Sentence(("a",), {"seg": (("S",),)})]
    assert allowed_sets(sentences, LabelSets(SEGMENTS), SCHEME).tolist() == [ALL] * 4
