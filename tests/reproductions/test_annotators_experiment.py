"""The experiment on simulated annotators: it asks for the hardest tokens, finds its numbers, counts, and writes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from reproductions.annotators.page import lines
from reproductions.annotators.room import Room, RoomDesk
from reproductions.annotators.study import Kind, hardest, main, read_data, simulate
from reproductions.lab.simulated_annotators import Simulated, StoreDesk, even, work_all
from tagweave.annotate.reliability import PosteriorRule
from tagweave.annotate.store import Store
from tagweave.annotate.task import AnnotationTask, Answer, Candidate, Settings, label
from tagweave.corpus.sentence import Location, Sentence
from tagweave.learning.run import Run, Schedule

EASY = PosteriorRule(0.9)
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


def test_what_is_counted_adds_up(tmp_path: Path) -> None:
    found = simulate(known(60), Kind("often", {}, even(0.6)), 8, str(tmp_path), 0)
    assert found["two"] + found["four"] + found["dropped"] == pytest.approx(1.0)
    assert found["agreement"] == pytest.approx(found["answers"] / 60 * -0.5 + 2.0)  # two more answers for who differ
    kept = found["two"] * found["right_two"] + found["four"] * found["right_four"]
    assert found["right"] == pytest.approx(kept / (1 - found["dropped"]))
    assert found["right"] > found["right_alone"]


def test_the_command_writes_a_page_of_its_numbers(tmp_path: Path) -> None:
    main(["--quick", "--out", str(tmp_path)])
    summary = json.loads((tmp_path / "data" / "annotators.json").read_text(encoding="utf-8"))
    page = (tmp_path / "annotators.md").read_text(encoding="utf-8")
    assert page == "".join(f"{line}\n" for line in lines(summary))
    assert "| the paper's people | 91.0 | 5.6 | 3.4 |" in page
    assert [kind["expected"]["two"] for kind in summary["kinds"]] == pytest.approx([0.91] * 3, abs=1e-4)
    for kind in summary["kinds"]:
        assert f"{100 * kind['runs'][0]['two']:.1f} (expected {100 * kind['expected']['two']:.1f})" in page


def test_a_room_asks_as_the_store_does(tmp_path: Path) -> None:
    """With one task at a time to choose from, both ask the same."""
    tasks = [(replace(task, uncertainty=n / 100), right) for n, (task, right) in enumerate(known(40))]
    right = {task.sentence.location: answer for task, answer in tasks}
    for settings in (Settings(window=1, gold_share=0.0), Settings(posterior=EASY, window=1, gold_share=0.0)):
        store = Store.open(f"sqlite:///{tmp_path}/{settings.posterior is None}.db", settings, seed=0)
        store.add_labels(tasks[0][0].guideline, {"NN": ""})
        store.add_tasks(task for task, _ in tasks)
        room = Room([task for task, _ in tasks], settings, 3, 0)
        stored = [StoreDesk(store, store.add_annotator(f"annotator {n}").id) for n in range(3)]
        counts = [
            work_all([Simulated(desk, lambda t: right[t.sentence.location], even(0.8), n) for n, desk in enumerate(of)])
            for of in (stored, [RoomDesk(room, n) for n in range(3)])
        ]
        assert counts[0] == counts[1]
        store.close()
