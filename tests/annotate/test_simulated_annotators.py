"""Simulated annotators do what their numbers say, and two and two more of them come to what is expected."""

from __future__ import annotations

from collections import Counter
from itertools import product

import made_spans as spans
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_tasks import GUIDELINE, NN, hire, make_task, make_tasks

from reproductions.lab.simulated_annotators import (
    Simulated,
    StoreDesk,
    answer_chances,
    even,
    expected_shares,
    work_all,
)
from tagweave.annotate.rules import Rule, aggregate
from tagweave.annotate.store import Store
from tagweave.annotate.task import Purpose, Status, label


@given(st.lists(st.floats(0.01, 1), min_size=2, max_size=4))
def test_expected_shares_by_counting_all_four_answers(weights: list[float]) -> None:
    """A twin: every way in which four people may answer, through the rule itself."""
    chances = {label(str(number)): weight / sum(weights) for number, weight in enumerate(weights)}
    shares = Counter[str]()
    for answers in product(chances, repeat=4):
        outcome = aggregate(answers, Rule())
        name = {2: "two", 4: "four"}[outcome.wanted] if outcome.status is Status.AGREED else "dropped"
        shares[name] += chances[answers[0]] * chances[answers[1]] * chances[answers[2]] * chances[answers[3]]
    assert expected_shares([chances])._asdict() == pytest.approx(
        {name: shares[name] for name in ("two", "four", "dropped")}
    )


def test_eight_annotators_come_to_what_is_expected(store: Store) -> None:
    store.add_tasks(make_tasks(range(60)))
    desks = [StoreDesk(store, person) for person in hire(store, 8)]
    answers = work_all([Simulated(desk, lambda _: NN, even(0.8), seed) for seed, desk in enumerate(desks)])
    counts = store.counts()
    assert counts.get((Purpose.REAL, Status.OPEN)) is None
    judgements = [*store.judgements()]
    assert len(judgements) == answers
    at_two = sum(slots == 2 for slots in Counter(each.task.id for each in judgements).values())
    expected = expected_shares([answer_chances(make_task(0), NN, 0.8)])
    assert at_two / 60 == pytest.approx(expected.two, abs=0.2)
    assert len(store.outcomes(GUIDELINE)) / 60 == pytest.approx(expected.two + expected.four, abs=0.2)
    by_annotator = Counter(each.annotator for each in judgements)
    assert min(by_annotator.values()) > answers / 16


class TestSpans:
    def test_a_mistake_is_one_span(self) -> None:
        chances = answer_chances(spans.make_task(0), spans.all_of(spans.ADA, spans.LONDON), 0.8)
        assert chances == pytest.approx(
            {
                spans.all_of(spans.ADA, spans.LONDON): 0.8,
                spans.all_of(spans.ADA, spans.LONDON_ORG): 0.2 / 3,  # one too many, in place of another
                spans.all_of(spans.LONDON): 0.2 / 3,
                spans.all_of(spans.ADA): 0.2 / 3,
            }
        )
