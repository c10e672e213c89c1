"""Reports of several layers: which are scored, which are only named."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Arc, Sentence
from tagweave.errors import CorpusError
from tagweave.evaluation.accuracy import Accuracy
from tagweave.evaluation.attachment import Attachment
from tagweave.evaluation.report import evaluate_layers
from tagweave.evaluation.words import WordScores
from treebank import sentence, with_evidence

GOLD = sentence("DNV", [2, 3, 0]).with_layer("xpos", (("x",), None, ("z",)))


def corpus(*sentences: Sentence, guideline: str = "upos") -> Corpus:
    return Corpus(sentences, guideline)


def parsed(*heads: int) -> Sentence:
    return with_evidence(GOLD, *((Arc(head, "dep"),) for head in heads))


def test_what_was_copied_is_named_and_what_differs_is_scored() -> None:
    report = evaluate_layers(corpus(GOLD), {"one": corpus(parsed(2, 3, 0)), "two": corpus(parsed(3, 3, 0))})
    assert (list(report.reports), report.copied, report.absent) == (["head"], ("upos", "xpos"), ())
    scores = report.reports["head"].systems
    assert isinstance(scores["two"], Attachment)
    assert scores["two"].heads.right == 2
    assert [each.metric for each in report.reports["head"].comparisons] == ["UAS", "LAS"]
    stream = io.StringIO()
    report.render(Console(file=stream, width=100))
    assert "not scored: upos, xpos: the same in all systems as in the gold standard" in stream.getvalue()
    assert "accuracy" not in stream.getvalue()
    assert list(report.to_json()["layers"]) == ["head"]


def test_a_layer_in_which_one_system_differs_is_scored_for_all() -> None:
    other = GOLD.with_layer("upos", (("D",), ("V",), ("V",)))
    report = evaluate_layers(corpus(GOLD), {"one": corpus(GOLD), "two": corpus(other)})
    assert (list(report.reports), report.copied) == (["upos"], ("xpos", "head"))
    found = report.reports["upos"].systems
    assert [each.tokens.right for each in found.values() if isinstance(each, Accuracy)] == [3, 2]
    same = evaluate_layers(corpus(GOLD), {"one": corpus(GOLD)})
    assert (list(same.reports), same.copied) == (["upos", "xpos", "head"], ())


def test_a_layer_that_no_system_has_is_named() -> None:
    bare = Sentence(GOLD.forms, {"upos": (("V",), ("N",), ("V",))})
    report = evaluate_layers(corpus(GOLD), {"one": corpus(bare)})
    assert (list(report.reports), report.absent) == (["upos"], ("xpos", "head"))
    unknown = GOLD.with_layer("xpos", (None,) * 3)
    assert evaluate_layers(corpus(unknown), {"one": corpus(bare)}).absent == ("head",)


def test_the_own_guideline_may_have_another_name() -> None:
    other = Sentence(GOLD.forms, {"tag": (("V",), ("N",), ("V",))})
    report = evaluate_layers(corpus(GOLD), {"one": corpus(other, guideline="tag")})
    scores = report.reports["upos"].systems["one"]
    assert isinstance(scores, Accuracy)
    assert scores.tokens.right == 2


def test_words_that_differ_are_scored_as_words() -> None:
    whole = Sentence(("".join(GOLD.forms[:2]), GOLD.forms[2]))
    report = evaluate_layers(corpus(GOLD), {"one": corpus(whole)})
    assert isinstance(report.reports["upos"].systems["one"], WordScores)


def test_a_system_of_other_text_is_refused() -> None:
    with pytest.raises(CorpusError, match="expected"):
        evaluate_layers(corpus(GOLD), {"one": corpus(sentence("DN", [2, 0]))})
