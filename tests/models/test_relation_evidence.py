"""What a head layer says of the relations of arcs."""

from __future__ import annotations

import numpy as np
import pytest

from tagweave.corpus.candidates import Soft
from tagweave.corpus.sentence import Arc, ArcCandidates, Sentence
from tagweave.evidence.relations import allowed_labels, are_probabilities
from tagweave.labels.sets import Reading

NAMES = ("iobj", "obj", "obl")
OBJ, IOBJ, OBL, UNKNOWN = Arc(0, "obj"), Arc(0, "iobj"), Arc(2, "obl"), Arc(0, None)
BOTH = Soft((OBJ, IOBJ, OBL), (0.6, 0.2, 0.2))


def row(candidates: ArcCandidates, reading: Reading, head: int = 0) -> list[float]:
    sentence = Sentence(("a",), heads={"head": (candidates,)})
    allowed = allowed_labels([sentence], "head", np.array([head], np.int32), NAMES, reading)
    return [round(each, 3) for each in allowed[0].tolist()]


@pytest.mark.parametrize(
    ("candidates", "likelihood", "posterior"),
    [
        (BOTH, [0.333, 1, 0], [0.25, 0.75, 0]),
        (Soft((OBJ, IOBJ, UNKNOWN), (0.6, 0.1, 0.3)), [0.5, 1, 0.5], [1, 1, 1]),
        (Soft((UNKNOWN, OBL), (0.6, 0.4)), [1, 1, 1], [1, 1, 1]),
        (Soft((OBJ, Arc(0, "dep")), (0.4, 0.6)), [0, 1, 0], [0, 1, 0]),
        (Soft((Arc(0, "dep"),), (1.0,)), [1, 1, 1], [1, 1, 1]),
        (Soft((Arc(None, "obj"), IOBJ), (0.5, 0.25)), [0.5, 1, 0], [0.333, 0.667, 0]),
        ((OBJ, IOBJ, OBL), [1, 1, 0], [1, 1, 0]),
        (None, [1, 1, 1], [1, 1, 1]),
    ],
)
def test_numbers_are_those_of_candidates_with_the_head(
    candidates: ArcCandidates, likelihood: list[float], posterior: list[float]
) -> None:
    assert row(candidates, "likelihood") == likelihood
    assert row(candidates, "posterior") == posterior


def test_of_another_head_they_are_others() -> None:
    assert row(BOTH, "posterior", 2) == [0, 0, 1]


def test_which_numbers_are_probabilities() -> None:
    allowed = np.array([[0.5, 0.5, 0], [1, 1, 0], [0, 1, 0]])
    assert are_probabilities(allowed, "posterior").tolist() == [True, False, False]
    assert not are_probabilities(allowed, "likelihood").any()
