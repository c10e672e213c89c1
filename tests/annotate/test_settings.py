"""Tasks that were put in under one rule, and are handed out under another one: that of who hands them out holds."""

from __future__ import annotations

import pytest
from fixture_types import NewUrl, OpenStore
from made_tasks import NN, VV, hire, make_tasks

from tagweave.annotate.aggregation import Rule, Settings, Status
from tagweave.annotate.store import Store


def answers(store: Store, letters: str) -> Status:
    """What becomes of the task, when people come one after the other and say N or V."""
    status = Status.OPEN
    for person, answer in zip(hire(store, len(letters)), letters, strict=True):
        lease = store.claim(person)
        assert lease is not None, f"no slot for answer {person}"
        status = store.answer(person, lease.task_id, NN if answer == "N" else VV).status
    return status


@pytest.mark.parametrize(
    ("rule", "letters", "status"),
    [
        (Rule(1, 0, 1), "N", Status.AGREED),
        (Rule(3, 0, 2), "NN", Status.OPEN),
        (Rule(3, 0, 2), "NNN", Status.AGREED),
        (Rule(3, 0, 2), "NVN", Status.AGREED),
        (Rule(3, 2, 4), "NVNN", Status.OPEN),
        (Rule(3, 2, 4), "NVNNN", Status.AGREED),
        (Rule(3, 2, 4), "NVNNV", Status.DROPPED),
    ],
)
def test_another_rule_than_the_one_that_tasks_came_in_with(
    open_store: OpenStore, new_url: NewUrl, rule: Rule, letters: str, status: Status
) -> None:
    url = new_url()
    open_store(url=url).add_tasks(make_tasks([0]))
    store = open_store(Settings(rule), url=url)
    assert answers(store, letters) is status
    late = store.add_annotator("late").id
    assert (store.claim(late) is None) == (status is not Status.OPEN)


@pytest.mark.parametrize("numbers", [(0, 4, 3), (1, -1, 1), (2, 2, 2), (2, 2, 5)])
def test_a_rule_that_cannot_be(numbers: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match=f"found {numbers[0]} annotators, {numbers[1]} more"):
        Rule(*numbers)
