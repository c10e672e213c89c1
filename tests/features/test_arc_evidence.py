"""What a head layer says of heads and of relations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tagweave.corpus.candidates import Soft
from tagweave.corpus.sentence import Arc, ArcCandidates, Location, Sentence
from tagweave.errors import CorpusError
from tagweave.evidence.layers import token_noise
from tagweave.evidence.trees import (
    ANY,
    SEVERAL,
    ArcEvidence,
    allowed_arcs,
    allowed_labels,
    are_probabilities,
    only_head,
)
from tagweave.labels.sets import Reading

OBJ, IOBJ, OBL = Arc(3, "obj"), Arc(3, "iobj"), Arc(2, "obl")
BOTH = Soft((OBJ, IOBJ, OBL), (0.6, 0.2, 0.2))
ROOT, NAMELESS = (Arc(0, "root"),), Arc(None, "obj")


def table(reading: Reading, *candidates: ArcCandidates, confidence: tuple[float, ...] | None = None) -> np.ndarray:
    """By head and modifier; nothing is said of the root."""
    n = len(candidates)
    where = Location("some.conllu", 7)
    sentence = Sentence(("a",) * n, heads={"head": candidates}, confidence=confidence, location=where)
    heads = np.array([ANY, *map(only_head, candidates)], np.int32)
    return allowed_arcs(sentence, "head", heads, reading).reshape(n + 1, n + 1)


@pytest.mark.parametrize(
    ("candidates", "head"),
    [
        (BOTH, SEVERAL),
        (Soft((OBJ, IOBJ), (0.6, 0.4)), 3),
        (Soft((OBJ, OBL), (1, 0)), 3),
        (Soft((Arc(0, None), OBL), (1, 0)), 0),
        (Soft((NAMELESS,), (1,)), ANY),
        (Soft((NAMELESS, OBL), (0.4, 0.6)), SEVERAL),
        (Soft((NAMELESS, OBL), (0.6, 0.4)), ANY),
        (Soft((NAMELESS, OBL), (0, 0.4)), 2),
    ],
)
def test_the_only_head_of_candidates_with_numbers(candidates: ArcCandidates, head: int) -> None:
    assert only_head(candidates) == head


def test_a_likelihood_of_a_head_is_the_largest_of_its_relations() -> None:
    allowed = table("likelihood", BOTH, ROOT, None)
    np.testing.assert_allclose(allowed[:, 1], [0, 0, 1 / 3, 1])
    np.testing.assert_allclose(allowed[:, 2:], [[1, 1], [0, 1], [0, 1], [0, 0]])
    assert allowed.dtype == np.float32


def test_a_likelihood_of_an_unknown_head_is_one_of_every_head() -> None:
    assert table("likelihood", Soft((NAMELESS, OBL), (0.2, 0.8)), ROOT, None)[:, 1].tolist() == [0.25, 0, 1, 0.25]


def test_a_probability_of_a_head_is_the_sum_of_its_relations() -> None:
    np.testing.assert_allclose(table("posterior", BOTH, ROOT, (Arc(2, None),))[:, 1], [0, 0, 0.2, 0.8], rtol=1e-6)
    rounded = Soft((OBJ, OBL), (0.5, 0.49))
    assert table("posterior", rounded, ROOT, (Arc(2, None),))[:, 1].sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        ([Soft((OBJ, OBL), (0.5, 0.3)), ROOT, ROOT], "the probabilities 0.5, 0.3 of heads of token 1"),
        ([Soft((OBJ,), (0.5,)), ROOT, ROOT], "the probabilities 0.5 of heads of token 1"),
        ([BOTH, ROOT, None], "not of those of token 3"),
        ([BOTH, Soft((NAMELESS,), (1.0,)), ROOT], "not of those of token 2"),
        ([BOTH, ROOT, (Arc(1, None), Arc(2, None))], "not of those of token 3"),
        ([Soft((NAMELESS, OBL), (0.5, 0.5)), ROOT, ROOT], "token 1 that is not named"),
    ],
)
def test_probabilities_are_of_all_heads(candidates: list[ArcCandidates], message: str) -> None:
    with pytest.raises(CorpusError, match=rf"some.conllu:7: .*{message}.*`soft_labels=likelihood`"):
        table("posterior", *candidates)


def test_probabilities_are_certain() -> None:
    with pytest.raises(CorpusError, match=r"some.conllu:7: .*confidence.*`soft_labels=likelihood`"):
        table("posterior", BOTH, ROOT, ROOT, confidence=(1, 1, 0.5))
    table("posterior", BOTH, ROOT, ROOT, confidence=(1, 1, 1))
    table("likelihood", BOTH, ROOT, None, confidence=(1, 1, 0.5))


# Noise

UNSURE = [
    Sentence(("a", "b"), confidence=(1.0, 0.25)),
    Sentence(()),
    Sentence(("c",)),
    Sentence(("d",), confidence=(0.0,)),
]


def test_a_sentence_without_confidence_is_certain() -> None:
    np.testing.assert_array_equal(token_noise(UNSURE), [0, 0.75, 0, 1])


def test_no_confidence_gives_no_noise() -> None:
    assert token_noise([Sentence(("a", "b")), Sentence(())]).shape == (0,)
    assert token_noise([]).shape == (0,)


def test_roots_have_no_noise() -> None:
    evidence = ArcEvidence.of_layer(UNSURE, "head").with_noise(UNSURE, "head")
    np.testing.assert_array_equal(evidence.noise, [0, 0, 0.75, 0, 0, 0, 0, 1])


def test_certain_tokens_need_no_noise() -> None:
    sure = [replace(sentence, confidence=(1.0,) * len(sentence)) for sentence in UNSURE]
    evidence = ArcEvidence.of_layer(sure, "head")
    assert evidence.with_noise(sure, "head") is evidence


# Relations

NAMES = ("iobj", "obj", "obl")
OF_ROOT, ALSO, UNKNOWN = Arc(0, "obj"), Arc(0, "iobj"), Arc(0, None)
BOTH_OF_ROOT = Soft((OF_ROOT, ALSO, OBL), (0.6, 0.2, 0.2))


def row(candidates: ArcCandidates, reading: Reading, head: int = 0) -> list[float]:
    sentence = Sentence(("a",), heads={"head": (candidates,)})
    allowed = allowed_labels([sentence], "head", np.array([head], np.int32), NAMES, reading)
    return [round(each, 3) for each in allowed[0].tolist()]


@pytest.mark.parametrize(
    ("candidates", "likelihood", "posterior"),
    [
        (BOTH_OF_ROOT, [0.333, 1, 0], [0.25, 0.75, 0]),
        (Soft((OF_ROOT, ALSO, UNKNOWN), (0.6, 0.1, 0.3)), [0.5, 1, 0.5], [1, 1, 1]),
        (Soft((UNKNOWN, OBL), (0.6, 0.4)), [1, 1, 1], [1, 1, 1]),
        (Soft((OF_ROOT, Arc(0, "dep")), (0.4, 0.6)), [0, 1, 0], [0, 1, 0]),
        (Soft((Arc(0, "dep"),), (1.0,)), [1, 1, 1], [1, 1, 1]),
        (Soft((Arc(None, "obj"), ALSO), (0.5, 0.25)), [0.5, 1, 0], [0.333, 0.667, 0]),
        ((OF_ROOT, ALSO, OBL), [1, 1, 0], [1, 1, 0]),
        (None, [1, 1, 1], [1, 1, 1]),
    ],
)
def test_numbers_are_those_of_candidates_with_the_head(
    candidates: ArcCandidates, likelihood: list[float], posterior: list[float]
) -> None:
    assert row(candidates, "likelihood") == likelihood
    assert row(candidates, "posterior") == posterior


def test_of_another_head_they_are_others() -> None:
    assert row(BOTH_OF_ROOT, "posterior", 2) == [0, 0, 1]


def test_which_numbers_are_probabilities() -> None:
    allowed = np.array([[0.5, 0.5, 0], [1, 1, 0], [0, 1, 0]])
    assert are_probabilities(allowed, "posterior").tolist() == [True, False, False]
    assert not are_probabilities(allowed, "likelihood").any()
