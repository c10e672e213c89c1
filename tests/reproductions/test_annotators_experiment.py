"""The experiment on simulated annotators: it asks for the hardest tokens, finds its numbers, counts, and writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reproductions.annotators.page import AT_FOUR, AT_TWO, DROPPED, lines
from reproductions.annotators.study import Kind, expected, hard_tasks, hardest, main, read_data, simulate
from tagweave.annotate.simulated import even, uneven
from tagweave.annotate.task import AnnotationTask, Answer, Candidate, label
from tagweave.corpus.sentence import Location, Sentence
from tagweave.learning.run import Run, Schedule

_CANDIDATES = (Candidate("NN", 0.6), Candidate("VV", 0.3), Candidate("JJ", 0.1))


def known(number: int) -> list[tuple[AnnotationTask, Answer]]:
    """Tasks whose answer is NN."""
    places = [Location("toy.txt", line + 1) for line in range(number)]
    return [
        (AnnotationTask(Sentence(("a",), location=place), 0, 1, "tag", _CANDIDATES), label("NN")) for place in places
    ]


def test_the_least_certain_fifth_is_asked_for_without_its_labels() -> None:
    train, dev, text = read_data(quick=True)
    found, right = hardest(train, dev, text, 60, Run(Schedule(2, 2)))
    assert len(found) == 60
    assert 0 < right < 1
    gold = {sentence.location: sentence.layers[text.guideline] for sentence in text}
    for task, answer in found:
        assert not task.sentence.layers
        assert gold[task.sentence.location][task.start] == (answer.label,)
    assert all(0 < task.uncertainty <= 1 for task, _ in found)  # its place in a draw
    assert max(task.candidates[0].probability for task, _ in found) < 1


def test_hard_tasks_are_found_that_make_the_shares_of_the_paper() -> None:
    tasks = known(200)
    share, accuracy = hard_tasks(tasks)
    shares = expected(tasks, uneven(share, accuracy))
    assert [round(100 * shares[name], 1) for name in ("two", "four", "dropped")] == pytest.approx(
        [AT_TWO, AT_FOUR, DROPPED], abs=0.4
    )


def test_what_is_counted_adds_up(tmp_path: Path) -> None:
    found = simulate(known(60), Kind("often", {}, even(0.6)), 8, str(tmp_path), 0)
    assert found["two"] + found["four"] + found["dropped"] == pytest.approx(1.0)
    assert found["agreement"] == pytest.approx(found["answers"] / 60 * -0.5 + 2.0)  # two more answers for who differ
    kept = found["two"] * found["right_two"] + found["four"] * found["right_four"]
    assert found["right"] == pytest.approx(kept / (1 - found["dropped"]))
    assert found["right"] > found["right_alone"]


def test_the_command_writes_a_page_of_its_numbers(tmp_path: Path) -> None:
    main(["--quick", "--out", str(tmp_path)])
    summary = json.loads((tmp_path / "annotators.json").read_text(encoding="utf-8"))
    page = (tmp_path / "annotators.md").read_text(encoding="utf-8")
    assert page == "".join(f"{line}\n" for line in lines(summary))
    assert "| the paper's people | 91.0 | 5.6 | 3.4 |" in page
    assert [kind["expected"]["two"] for kind in summary["kinds"]] == pytest.approx([0.91] * 3, abs=1e-4)
    for kind in summary["kinds"]:
        assert f"{100 * kind['runs'][0]['two']:.1f} (expected {100 * kind['expected']['two']:.1f})" in page
