"""The dashboard: agreement by hand and beside the textbook; and what its plot draws where."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from browsing import new_store, signed_in
from hypothesis import given
from hypothesis import strategies as st
from made_tasks import JJ, NN, VV

from tagweave.annotate.dashboard import (
    HEIGHT,
    WIDTH,
    krippendorffs_alpha,
    of_all,
    of_first,
    plot,
    raw_agreement,
)
from tagweave.annotate.intake import version_of
from tagweave.annotate.page_request import Progress
from tagweave.annotate.rules import Rule
from tagweave.annotate.store import ModelVersion, Vote
from tagweave.annotate.task import CANNOT_TELL, Answer

_ANSWERS = st.sampled_from([NN, VV, JJ, CANNOT_TELL])


def votes_of(*tasks: dict[str, Answer]) -> list[Vote]:
    """Who said what, by task; slots in the order of the names."""
    return [
        Vote(number, name, slot, answer)
        for number, answers in enumerate(tasks)
        for slot, (name, answer) in enumerate(answers.items())
    ]


def test_raw_agreement_is_of_pairs() -> None:
    votes = votes_of({"a": NN, "b": NN}, {"a": NN, "b": VV, "c": VV}, {"c": NN})
    assert of_all(votes, raw_agreement) == 2 / 4
    assert of_all(of_first(votes, Rule()), raw_agreement) == 1 / 2
    assert of_all(votes[-1:], raw_agreement) is None


def test_those_who_were_asked_first_are_told_by_their_slots() -> None:
    votes = [Vote(1, "a", 0, NN), Vote(1, "b", 1, VV), Vote(1, "c", 2, VV), Vote(1, "d", 3, VV), Vote(2, "a", None, NN)]
    assert of_first(votes, Rule()) == votes[:2]
    assert of_first(votes, Rule(1, 2, 2)) == votes[:1]


@given(st.lists(st.lists(_ANSWERS, max_size=4), max_size=12))
def test_alpha_by_counting_pairs(tasks: list[list[Answer]]) -> None:
    """alpha = 1 - observed / expected disagreement, over pairs of answers of a task, and of all answers."""
    votes = votes_of(*({str(name): answer for name, answer in enumerate(answers)} for answers in tasks))
    compared = [answers for answers in tasks if len(answers) > 1]
    together = [answer for answers in compared for answer in answers]
    found = krippendorffs_alpha(votes)
    if len({*together}) < 2:
        assert found is None
        return

    def differing(answers: list[Answer]) -> int:
        return sum(one != other for one in answers for other in answers)

    observed = sum(differing(answers) / (len(answers) - 1) for answers in compared) / len(together)
    expected = differing(together) / (len(together) * (len(together) - 1))
    assert found == pytest.approx(1 - observed / expected, abs=1e-9)


def models(*pairs: tuple[float, float | None]) -> list[ModelVersion]:
    """Models of so many minutes and of this accuracy."""
    return [ModelVersion(n, "m", 0.0, 0, minutes, accuracy) for n, (minutes, accuracy) in enumerate(pairs, 1)]


def test_points_stand_where_their_numbers_are() -> None:
    found = plot(models((0, 0.80), (30, 0.85), (60, 0.90)))
    assert [text for _, text in found.minutes] == ["0", "10", "20", "30", "40", "50", "60"]
    assert [text for _, text in found.accuracies] == ["80", "82", "84", "86", "88", "90"]
    assert [x for x, *_ in found.points] == [found.left, (found.left + found.right) / 2, found.right]
    assert [y for _, y, _ in found.points] == [found.bottom, (found.bottom + found.top) / 2, found.top]


def test_a_model_without_accuracy_is_left_out() -> None:
    found = plot(models((0, None), (3, 0.5), (1, 0.25)))
    assert [model.version for *_, model in found.points] == [3, 2]  # by minutes
    assert plot(models((0, None))) is None
    assert plot([]) is None


@given(st.lists(st.tuples(st.floats(0, 1e5), st.floats(0, 1)), min_size=1, max_size=9))
def test_everything_is_inside_and_ticks_are_few_and_differ(pairs: list[tuple[float, float]]) -> None:
    found = plot(models(*pairs))
    assert 0 < found.left < found.right <= WIDTH
    assert 0 < found.top < found.bottom <= HEIGHT
    for x, y, _ in found.points:
        assert found.left <= x <= found.right
        assert found.top <= y <= found.bottom
    for ticks in (found.minutes, found.accuracies):
        assert 2 <= len({text for _, text in ticks}) == len(ticks) <= 8
        low, high = float(ticks[0][1]), float(ticks[-1][1])
        for at, text in ticks:  # the number and the place say the same
            share = (at - ticks[0][0]) / (ticks[-1][0] - ticks[0][0])
            assert share == pytest.approx((float(text) - low) / (high - low), abs=0.02)


def test_the_dashboard_draws_it(tmp_path: Path) -> None:
    store = new_store(tmp_path, 0)
    store.add_model("english-ewt-2.13.model", 0, 3.25, None)  # no correction, whatever its name
    curator = signed_in(store, "cur", "curator")
    assert "<svg" not in curator.look("/dashboard")
    for minutes, accuracy in ((12.5, 0.8125), (20.0, 0.9)):
        store.add_model("later", 0, minutes, accuracy)
    store.add_model("later-0.1.model", 30, 21.5, None)  # a correction
    page = curator.look("/dashboard")
    drawn = re.search(r"<svg.*?</svg>", page, re.DOTALL)
    assert drawn
    assert re.findall("<circle.*<title>(.*)</title>", drawn[0]) == [
        "Version 2: 0.812 after 12.5 minutes",
        "Version 3: 0.900 after 20.0 minutes",
    ]
    assert "21.5" not in page and "3.2" in page
    assert re.search(r"accuracy; the axis begins at \d+%</text>", drawn[0])
    assert "style=" not in drawn[0]  # the policy forbids it
    store.close()


def test_it_knows_the_measure_and_the_options(tmp_path: Path) -> None:
    for name, progress, shown in (
        ("a", Progress(), ("Start <code>tagweave annotate serve</code> with <code>--train</code>", "--dev FILE")),
        ("b", Progress("F of spans", 50), ("trained after 50 new judgements. Start", "F of spans of models")),
        ("c", Progress("F of words", 50, "d.txt"), ('measured on <span dir="auto">d.txt</span> yet', "F of words")),
    ):
        (folder := tmp_path / name).mkdir()
        store = new_store(folder, 0)
        page = signed_in(store, "cur", "curator", progress=progress).look("/dashboard")
        assert [text for text in shown if text not in page] == []
        assert "Accuracy" not in page or progress.measure == "accuracy"
        store.close()


def test_the_first_model_is_measured_later_if_it_was_not(tmp_path: Path) -> None:
    store = new_store(tmp_path, 0)
    assert version_of(store, "first") == 1  # as an import of tasks adds it
    assert version_of(store, "first", lambda: 0.75) == 1
    assert version_of(store, "first", lambda: 0.5) == 1
    assert [each.accuracy for each in store.models()] == [0.75]
    store.close()
