"""Attachment scores: what counts as right, what is not scored, and by what it is broken down."""

from __future__ import annotations

import math
from io import StringIO

import pytest
from rich.console import Console

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Arc, Sentence
from tagweave.errors import CorpusError
from tagweave.evaluation.attachment import Relations, attachment, is_punctuation
from tagweave.evaluation.report import evaluate
from treebank import sentence, treebank, with_evidence


def corpus(*sentences: Sentence) -> Corpus:
    return Corpus(tuple(sentences), "head")


GOLD = sentence("DNVP", [2, 3, 0, 3])


def test_heads_relations_and_whole_trees() -> None:
    other = with_evidence(GOLD, (Arc(2, "det"),), (Arc(4, "obj"),), (Arc(0, "strange"),), (Arc(3, "punct"),))
    scores = attachment(corpus(GOLD, GOLD), corpus(other, GOLD))
    assert (scores.heads.right, scores.heads.gold, scores.heads.system) == (7, 8, 8)
    assert (scores.arcs.right, scores.arcs.gold) == (6, 8)
    assert (scores.trees.right, scores.trees.total) == (1, 2)
    assert scores.head_counts.tolist() == [[3, 4, 4], [4, 4, 4]]
    assert scores.relations["obj"].to_json() == {"value": 0.5, "right": 1, "total": 2}
    assert (scores.tags["N < V"].right, scores.tags["V < ROOT"].total) == (1, 2)


def test_a_head_of_several_candidate_tags_counts_as_none() -> None:
    gold = Sentence(GOLD.forms, {"upos": (("D",), ("N", "V"), ("V",), ("P",))}, heads=GOLD.heads)
    assert set(attachment(corpus(gold), corpus(GOLD)).tags) == {"D < _", "_ < V", "V < ROOT", "P < V"}


def test_punctuation_can_be_left_out() -> None:
    wrong = with_evidence(GOLD, *GOLD.heads["head"][:3], (Arc(1, "punct"),))
    assert attachment(corpus(GOLD), corpus(wrong)).heads.f == 0.75
    without = attachment(corpus(GOLD), corpus(wrong), punctuation=False)
    assert (without.heads.right, without.heads.gold, without.heads.system, without.trees.value) == (3, 3, 3, 1.0)


@pytest.mark.parametrize(("form", "expected"), [("。", True), ("...", True), ("a.", False), ("$", False), ("", False)])
def test_what_punctuation_is(form: str, expected: bool) -> None:
    assert is_punctuation(form) is expected


def test_gold_that_is_not_full() -> None:
    gold = with_evidence(GOLD, None, (Arc(3, "obj"), Arc(1, "det")), (Arc(0, None),), (Arc(None, "punct"),))
    right = attachment(corpus(gold), corpus(with_evidence(GOLD, None, (Arc(1, "det"),), (Arc(0, "x"),), None)))
    assert (right.heads.right, right.heads.gold, right.unscored) == (2, 2, 2)
    assert (right.arcs.right, right.arcs.gold) == (1, 1)  # the relation of the root is unknown
    mixed = attachment(corpus(gold), corpus(with_evidence(GOLD, None, (Arc(1, "obj"),), (Arc(0, "x"),), None)))
    assert (mixed.heads.right, mixed.arcs.right) == (2, 0)  # a head of one candidate, a relation of the other


@pytest.mark.parametrize(("relations", "right"), [("universal", 3), ("full", 2)])
def test_subtypes_count_only_where_they_are_asked_for(relations: Relations, right: int) -> None:
    gold = with_evidence(GOLD, (Arc(2, "det"),), (Arc(3, "nsubj:pass"),), (Arc(0, "root"),), (Arc(3, "punct"),))
    other = with_evidence(GOLD, (Arc(2, "det"),), (Arc(3, "nsubj"),), (Arc(0, "root"),), (Arc(3, "p"),))
    scores = attachment(corpus(gold), corpus(other), relations=relations)
    assert scores.arcs.right == right
    assert set(scores.relations) == {"det", "root", "punct", "nsubj" if relations == "universal" else "nsubj:pass"}


def test_nothing_to_score_is_undefined() -> None:
    unknown = with_evidence(GOLD, None, None, None, None)
    scores = attachment(corpus(unknown), corpus(GOLD))
    assert math.isnan(scores.heads.f)
    assert scores.to_json()["uas"]["value"] is None
    assert scores.trees.total == 0


def test_other_tokens_and_missing_layers() -> None:
    with pytest.raises(CorpusError, match="expected"):
        attachment(corpus(GOLD), corpus(sentence("DNV", [2, 3, 0])))
    with pytest.raises(CorpusError, match="found no heads"):
        attachment(corpus(GOLD), corpus(Sentence(GOLD.forms)))


def test_systems_are_compared() -> None:
    gold = treebank(30)
    broken = [
        with_evidence(each, *(tuple(Arc(1 if m > 1 else 2, "x") for _ in "x") for m in range(1, len(each) + 1)))
        for each in gold
    ]
    report = evaluate(corpus(*gold), {"good": corpus(*gold), "bad": corpus(*broken)})
    assert report.to_json()["systems"]["good"]["uas"]["value"] == 1
    assert [(each.second, each.metric) for each in report.comparisons] == [("bad", "UAS"), ("bad", "LAS")]
    assert all(max(each.randomisation, each.wilcoxon) < 0.01 for each in report.comparisons)
    assert set(report.to_json()["systems"]["bad"]) >= {"uas", "las", "exact", "relations", "tags"}
    stream = StringIO()
    report.render(Console(file=stream, width=100))
    assert "UAS" in stream.getvalue()
    assert "100.00" in stream.getvalue()


@pytest.mark.parametrize(
    ("heads", "crosses"),
    [([2, 3, 0, 3], False), ([3, 4, 0, 3], True), ([3, 4, None, None], True), ([3, None, 0, 3], False)],
)
def test_gold_trees_whose_arcs_cross_are_counted(heads: list[int | None], crosses: bool) -> None:
    gold = with_evidence(GOLD, *(None if head is None else (Arc(head, "x"),) for head in heads))
    assert attachment(corpus(gold, GOLD), corpus(GOLD, GOLD)).to_json()["crossing"] == crosses
