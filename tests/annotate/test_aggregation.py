"""Tasks and rules: what is refused, and outcomes by examples and by counting all cases."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_tasks import CANDIDATES, JJ, NN, VV, make_task

from tagweave.annotate.rules import Rule, TaskOutcome, aggregate
from tagweave.annotate.task import (
    CANNOT_TELL,
    NOT_A_WORD,
    AnnotationTask,
    Answer,
    Kind,
    Purpose,
    Status,
)
from tagweave.corpus.sentence import Sentence

_PAPER = Rule()
_ANSWERS = st.sampled_from([NN, VV, JJ, NOT_A_WORD, CANNOT_TELL])


@pytest.mark.parametrize(
    ("answers", "status", "agreed", "wanted"),
    [
        ([], Status.OPEN, None, 2),
        ([NN], Status.OPEN, None, 2),
        ([None, NN], Status.OPEN, None, 2),
        ([NN, NN], Status.AGREED, NN, 2),
        ([NOT_A_WORD, NOT_A_WORD], Status.AGREED, NOT_A_WORD, 2),
        ([CANNOT_TELL, CANNOT_TELL], Status.DROPPED, None, 2),
        ([NN, VV], Status.OPEN, None, 4),
        ([NN, VV, VV], Status.OPEN, None, 4),
        ([NN, VV, None, VV], Status.OPEN, None, 4),
        ([NN, VV, VV, VV], Status.AGREED, VV, 4),
        ([NN, VV, NN, NN], Status.AGREED, NN, 4),
        ([NN, VV, NN, VV], Status.DROPPED, None, 4),
        ([NN, VV, JJ, NN], Status.DROPPED, None, 4),
        ([NN, CANNOT_TELL, CANNOT_TELL, CANNOT_TELL], Status.DROPPED, None, 4),
        ([NN, NN, VV, VV], Status.AGREED, NN, 2),
    ],
)
def test_the_rule_of_the_paper(answers: list[Answer | None], status: Status, agreed: Answer, wanted: int) -> None:
    assert aggregate(answers, _PAPER) == TaskOutcome(status, agreed, wanted)


@st.composite
def _rules(draw: st.DrawFn) -> Rule:
    first, more = draw(st.integers(1, 4)), draw(st.integers(0, 3))
    everybody = first + more
    return Rule(first, more, draw(st.integers(everybody // 2 + 1, everybody)))


@given(_rules(), st.lists(_ANSWERS, min_size=7, max_size=7))
def test_any_rule_by_counting(rule: Rule, answers: list[Answer]) -> None:
    """A twin that is told in other words: who was needed, and what most of them say."""
    first, everybody = answers[: rule.first], answers[: rule.first + rule.more]
    needed = first if all(each == first[0] for each in first) else everybody
    most = max(set(needed), key=needed.count)
    is_agreed = needed is first or needed.count(most) >= rule.majority
    found = aggregate(needed, rule)
    assert found.wanted == len(needed) or not rule.more
    assert (found.status is Status.AGREED) == (is_agreed and most != CANNOT_TELL)
    assert found.answer == (most if found.status is Status.AGREED else None)
    assert found.status is not Status.OPEN
    assert found == aggregate(answers, rule)  # what nobody was asked for changes nothing


@given(_rules(), st.lists(st.none() | _ANSWERS, max_size=7))
def test_a_task_is_open_until_all_who_are_wanted_have_answered(rule: Rule, answers: list[Answer | None]) -> None:
    found = aggregate(answers, rule)
    missing = found.wanted - sum(each is not None for each in answers[: found.wanted])
    assert (found.status is Status.OPEN) == (missing > 0)
    assert found.wanted in {rule.first, rule.first + rule.more}


_SENTENCE = Sentence(("一", "天", "早上"))


@pytest.mark.parametrize(("start", "stop"), [(0, 0), (2, 1), (-1, 1), (2, 4), (3, 4)])
def test_a_focus_is_inside_its_sentence(start: int, stop: int) -> None:
    with pytest.raises(ValueError, match=f"the span {start} .. {stop}, expected one inside a sentence of 3 tokens"):
        AnnotationTask(_SENTENCE, start, stop, "ctb", CANDIDATES)


@pytest.mark.parametrize("purpose", Purpose)
def test_gold_is_there_exactly_where_the_answer_is_known(purpose: Purpose) -> None:
    knows = purpose in {Purpose.GOLD, Purpose.TRAINING}
    assert make_task(0, purpose, NN if knows else None).gold == (NN if knows else None)
    with pytest.raises(ValueError, match="found gold"):
        make_task(0, purpose, None if knows else NN)


@pytest.mark.parametrize(
    ("kind", "name"), [(Kind.LABEL, None), (Kind.LABEL, ""), (Kind.WORD, "NN"), (Kind.CANNOT_TELL, "x")]
)
def test_a_label_is_there_exactly_where_the_answer_is_one(kind: Kind, name: str | None) -> None:
    with pytest.raises(ValueError, match="found the label"):
        Answer(kind, name)


@pytest.mark.parametrize("numbers", [(0, 2, 2), (2, -1, 2), (2, 2, 2), (2, 2, 5), (1, 0, 0)])
def test_a_rule_that_two_answers_could_meet_or_none_is_refused(numbers: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="more than half of all"):
        Rule(*numbers)
