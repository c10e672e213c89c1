"""Training trees made projective: what is lifted, and what stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_trees
from tagweave.corpus.sentence import Arc
from tagweave.errors import CorpusError
from tagweave.training.tree_problem import crossing, projectivised
from treebank import sentence, with_evidence

CROSSING = sentence("NNVN", [3, 4, 0, 3])


def test_a_crossing_arc_is_lifted() -> None:
    (out,), changed = projectivised([CROSSING], "head")
    assert changed == 1
    assert out.heads["head"][1] == (Arc(3, None),)
    assert [c for at, c in enumerate(out.heads["head"]) if at != 1] == [
        c for at, c in enumerate(CROSSING.heads["head"]) if at != 1
    ]


@given(st.sampled_from(naive_trees.trees(5, False, True)))
def test_every_tree_becomes_projective(heads: tuple[int, ...]) -> None:
    before = sentence("NNNNN", heads)
    (out,), changed = projectivised([before], "head")
    found = [candidates[0].head for candidates in out.heads["head"] if candidates is not None]
    assert naive_trees.is_projective(found)
    assert naive_trees.is_tree(found)
    assert changed == (not naive_trees.is_projective(heads))
    assert (out is before) == (changed == 0)


def test_what_is_not_one_head_stays() -> None:
    several = with_evidence(CROSSING, *CROSSING.heads["head"][:2], (Arc(0, "x"), Arc(4, "y")), None)
    unknown = with_evidence(CROSSING, *CROSSING.heads["head"][:1], None, (Arc(None, "root"),), None)
    assert projectivised([several, unknown], "head") == ([several, unknown], 0)
    assert projectivised([CROSSING], "other") == ([CROSSING], 0)


def test_circles_are_refused() -> None:
    with pytest.raises(CorpusError, match="round in a circle"):
        projectivised([sentence("NN", [2, 1])], "head")


def test_trees_that_cross_are_counted() -> None:
    several = with_evidence(CROSSING, *CROSSING.heads["head"][:2], (Arc(0, "x"), Arc(4, "y")), None)
    unknown = with_evidence(CROSSING, *CROSSING.heads["head"][:1], None, (Arc(None, "root"),), None)
    assert crossing([CROSSING, several, unknown, sentence("NV", [2, 0])], "head") == 2
    assert crossing([CROSSING], "other") == 0
    with pytest.raises(CorpusError, match="heads that go round in a circle"):
        crossing([sentence("NN", [2, 1])], "head")
