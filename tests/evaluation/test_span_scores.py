"""Scores of spans, against seqeval, and what of a partial gold standard is scored, against all that it allows."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities, precision_recall_fscore_support

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.corpus.spans import Span
from tagweave.errors import CorpusError
from tagweave.evaluation.score import Score
from tagweave.evaluation.spans import SpanCodes, span_scores, spans_of_training


def corpus(*rows: str, covered: tuple[str, ...] | None = None) -> Corpus:
    """`O B-X|B-Y ?`: a sentence of tokens named by their position."""
    sentences = []
    for row in rows:
        layer = tuple(None if label == "?" else tuple(label.split("|")) for label in row.split())
        sentences.append(Sentence(tuple(f"w{at}" for at in range(len(layer))), {"tag": layer}))
    return Corpus(tuple(sentences), covered=covered)


def labels_of(letters: str) -> st.SearchStrategy[str]:
    """Labels of these letters, with types, without, and with an empty one."""
    kinds = st.sampled_from(["-PER", "-PER", "-LOC", "-a-b", "", "-"])
    return st.just("O") | st.tuples(st.sampled_from(letters), kinds).map("".join)


def pairs(letters: tuple[str, str]) -> st.SearchStrategy[list[list[tuple[str, str]]]]:
    """Sentences of tokens with the label of the gold standard and that of the system, which is often the same."""
    gold, system = map(labels_of, letters)
    token = gold.map(lambda label: (label, label)) | st.tuples(gold, system)
    return st.lists(st.lists(token, min_size=1, max_size=9), min_size=1, max_size=20)


@settings(max_examples=40)
@given(st.tuples(*[st.sampled_from(("BI", "BIES", "IE", "S"))] * 2).flatmap(pairs))
def test_scores_are_those_of_seqeval(sentences: list[list[tuple[str, str]]]) -> None:
    rows = [[[token[side] for token in sentence] for sentence in sentences] for side in (0, 1)]
    scores = span_scores(*(corpus(*map(" ".join, side)) for side in rows))
    for counts, one, other in zip(scores.counts.tolist(), *rows, strict=True):
        ours, theirs = set(get_entities(one)), set(get_entities(other))
        assert counts == [len(ours & theirs), len(ours), len(theirs)]
    assume(scores.labels)
    found = [[each.precision, each.recall, each.f, each.gold] for each in scores.labels.values()]
    expected = precision_recall_fscore_support(*rows, average=None, zero_division=0)
    assert np.nan_to_num(np.array(found)) == pytest.approx(np.array(expected).T, abs=1e-15)
    for average, ours in (("micro", scores.spans), ("macro", scores.macro)):
        theirs = precision_recall_fscore_support(*rows, average=average, zero_division=0)[:3]
        assert np.nan_to_num((ours.precision, ours.recall, ours.f)) == pytest.approx(theirs)


CANDIDATES = (
    *("?", "?", "O", "B-X", "I-X", "B-Y", "B-X|B-Y", "I-X|I-Y"),
    *("B-X|O", "I-X|O", "B-*", "I-*", "!O", "B-*|I-X|O"),
)
IOB2 = ("O", "B-X", "I-X", "B-Y", "I-Y")
Boundaries = tuple[int, int]


def meant(candidates: str) -> set[str]:
    names = candidates.split("|")
    if "?" in names:
        return set(IOB2)
    if "!O" in names:
        return set(IOB2[1:])
    return {label for label in IOB2 for name in names if label == name or (name[1:] == "-*" and label[0] == name[0])}


def readings(row: list[str]) -> list[set[tuple[str, int, int]]]:
    """The spans of each sequence in IOB2 that evidence allows; an unknown token continues no span that is sure."""
    found = []
    for labels in product(*map(meant, row)):
        continues = [label[0] == "I" for label in labels]
        follows = [not at or labels[at - 1][1:] == label[1:] for at, label in enumerate(labels)]
        closed = [at and row[at] == "?" and "O" not in meant(row[at - 1]) for at in range(len(row))]
        if not any(
            i and (not at or not f or c) for at, (i, f, c) in enumerate(zip(continues, follows, closed, strict=True))
        ):
            found.append(set(get_entities(list(labels))))
    return found


@settings(max_examples=50)
@given(
    st.integers(1, 5).flatmap(
        lambda n: st.tuples(*[st.lists(st.sampled_from(x), min_size=n, max_size=n) for x in (CANDIDATES, IOB2)])
    )
)
def test_what_is_scored_is_certain_and_what_is_wrong_is_excluded(rows: tuple[list[str], list[str]]) -> None:
    row, labels = rows
    allowed = readings(row)
    assume(allowed)
    codes = SpanCodes.of(corpus(" ".join(row), "B-X B-Y"), corpus(" ".join(labels), "O O"))
    verdict, types = codes.verdict(), codes.types
    certain = zip(*(each.tolist() for each in verdict.gold), strict=True)
    for start, stop, mask in list(certain)[:-2]:
        true = [{kind for kind, a, b in reading if (a, b) == (start, stop - 1)} for reading in allowed]
        assert all(true) and set().union(*true) <= {kind for kind, sure in zip(types, mask, strict=True) if sure}
    found = [
        (types[kind], start, stop - 1) for start, stop, kind in zip(*(x.tolist() for x in verdict.system), strict=True)
    ]
    assert set(found) == set(get_entities(labels))
    right = set(verdict.system_match.tolist())
    for at, (span, scored) in enumerate(zip(found, verdict.scored.tolist(), strict=True)):
        if scored and at not in right:
            assert not any(span in reading for reading in allowed)


@pytest.mark.parametrize(
    ("gold", "system", "expected", "unscored"),
    [
        ("B-X I-X ? ?", "B-X I-X B-Y O", Score(1, 1, 1), 1),  # nothing is known of the third token
        ("B-X I-X ? ?", "B-X I-X I-X O", Score(0, 1, 1), 0),  # an unknown token ends a span
        ("B-X ? S-Y ?", "B-X O S-Y O", Score(1, 1, 1), 1),  # but not in BIOES
        ("? I-X O", "B-X I-X O", Score(0, 0, 0), 1),  # the left end is unknown
        ("? O ?", "B-X I-X O", Score(0, 0, 1), 0),
        ("B-X|B-Y I-X|I-Y O", "B-Y I-Y O", Score(1, 1, 1), 0),  # either type
        ("B-X|B-Y I-X|I-Y O", "B-Z I-Z O", Score(0, 1, 1), 0),
        ("B-* I-* O", "B-Z I-Z O", Score(1, 1, 1), 0),  # any type
        ("B-X B-*|I-X|O O", "B-X I-X O", Score(0, 0, 0), 1),  # the right end is unknown
        ("B-X B-*|I-X|O O", "O O O", Score(0, 0, 0), 0),
        ("? B-X ?", "B-X|B-Y B-X ?", Score(1, 1, 1), 0),  # what a system leaves open is in no span
        ("O B-X ?", "O B-X I-X", Score(0, 0, 0), 1),  # tokens were left out, so the span may go on
        ("B-X ? ? I-X", "B-X O B-X I-X", Score(0, 0, 0), 2),
    ],
)
def test_a_partial_gold_standard(gold: str, system: str, expected: Score, unscored: int) -> None:
    scores = span_scores(corpus(gold), corpus(system))
    assert (scores.spans, scores.unscored) == (expected, unscored)


def test_types_that_nobody_looked_for_are_unscored() -> None:
    gold = corpus("B-X O O", covered=("B-X", "I-X"))
    assert span_scores(gold, corpus("B-X O B-Y")).spans == Score(1, 1, 1)
    assert span_scores(gold, corpus("O O B-X")).spans == Score(0, 1, 1)


def overlaps(gold: list[tuple[str, int, int]], system: list[tuple[str, int, int]], typed: bool) -> tuple[int, int]:
    """The most pairs that overlap, one with one, and how many of them are exact: all choices are tried."""
    if not gold:
        return 0, 0
    (kind, start, stop), *rest = gold
    best = overlaps(rest, system, typed)
    for other in system:
        if other[1] <= stop and start <= other[2] and (not typed or kind == other[0]):
            count, exact = overlaps(rest, [each for each in system if each != other], typed)
            best = max(best, (count + 1, exact + (other[1:] == (start, stop))))
    return best


@given(st.tuples(*[st.lists(st.sampled_from(IOB2), min_size=9, max_size=9)] * 2))
def test_spans_that_overlap_are_paired_one_with_one(rows: tuple[list[str], list[str]]) -> None:
    gold, system = (get_entities(row) for row in rows)
    scores = span_scores(*(corpus(" ".join(row)) for row in rows))
    count, exact = overlaps(gold, system, typed=False)
    partial = scores.partial
    sizes = len(gold), len(system)
    assert (partial.exact, partial.overlapping, partial.gold, partial.system) == (exact, count - exact, *sizes)
    assert scores.type_only == Score(overlaps(gold, system, typed=True)[0], *sizes)
    assert partial.right == exact + (count - exact) / 2


def test_confusions_are_of_types_within_the_right_boundaries() -> None:
    scores = span_scores(corpus("B-X I-X O B-Y", "B-X"), corpus("B-Y I-Y O B-X", "B-Y"))
    assert [(each.gold, each.system, each.count) for each in scores.confusions] == [("X", "Y", 2), ("Y", "X", 1)]
    assert (scores.partial.f, scores.spans.f, scores.macro.f) == (1.0, 0.0, 0.0)


def test_an_ambiguous_gold_span_counts_in_no_table_of_types() -> None:
    gold, system = corpus("B-X|B-Y O B-X B-X|B-Y", "O"), corpus("B-X O B-X B-Z", "O")
    scores = span_scores(gold, system)
    assert scores == span_scores(gold, system)
    assert scores.labels == {"X": Score(1, 1, 1), "Z": Score(0, 0, 1)}
    assert (scores.spans, scores.ambiguous) == (Score(2, 3, 3), 2)


def test_unseen_are_spans_whose_words_were_no_span_in_training() -> None:
    training = spans_of_training(corpus("B-X I-X O B-Y", "O O ? B-Z ?"), "tag")
    assert training == {("w0", "w1"), ("w3",)}
    scores = span_scores(corpus("B-Y I-Y B-X", "O B-X O"), corpus("B-Y I-Y B-X", "O B-Y O"), training)
    assert scores.unseen == Score(1, 2, 2)
    assert scores.spans == Score(2, 3, 3)
    assert spans_of_training(corpus("NN VB"), "tag") is None


def test_a_label_of_another_form_is_refused_with_its_line() -> None:
    with pytest.raises(CorpusError, match="found the label 'NN', expected O, or B, I, E or S"):
        span_scores(corpus("B-X O"), corpus("B-X NN"))


def test_a_span_that_the_gold_standard_rejects_is_wrong() -> None:
    open_ = corpus("? ? ? B-LOC", "? ? ?")
    spans = {"tag": (Span(0, 2, "PER"), Span(2, 3, "*"))}, {"tag": (Span(1, 2, "LOC"),)}
    gold = open_.with_sentences(replace(each, rejected=own) for each, own in zip(open_, spans, strict=True))
    system = corpus("B-PER I-PER B-ORG B-LOC", "B-LOC B-LOC I-LOC")
    assert span_scores(open_, system).spans == Score(1, 1, 1)
    assert span_scores(gold, system).spans == Score(1, 1, 3)
    assert span_scores(gold, corpus("O B-PER O O", "O B-LOC O")).spans == Score(0, 1, 1)
