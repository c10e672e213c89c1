"""Tasks, answers and settings that make no sense are refused, with a word on what is expected."""

from __future__ import annotations

import pytest
from made_tasks import CANDIDATES, NN, make_task

from tagweave.annotate.aggregation import Rule
from tagweave.annotate.task import CANNOT_TELL, NOT_A_WORD, WORD, AnnotationTask, Answer, Kind, Purpose, label
from tagweave.corpus.sentence import Sentence

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


def test_answers_are_shown_by_their_label_or_kind() -> None:
    assert [str(each) for each in (label("NN"), WORD, NOT_A_WORD, CANNOT_TELL)] == [
        "NN",
        "word",
        "not a word",
        "can't tell",
    ]


@pytest.mark.parametrize("numbers", [(0, 2, 2), (2, -1, 2), (2, 2, 2), (2, 2, 5), (1, 0, 0)])
def test_a_rule_that_two_answers_could_meet_or_none_is_refused(numbers: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="more than half of all"):
        Rule(*numbers)
