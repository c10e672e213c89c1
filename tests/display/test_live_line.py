"""Training in a notebook is one line; in a terminal it says what it always did."""

from __future__ import annotations

import pytest

from tagweave.corpus.sample import sample
from tagweave.front.training import train
from tagweave.learning.progress import Lines, NotebookLine, default_progress
from tagweave.learning.run import Iteration

pytest.importorskip("IPython", reason="IPython is not installed")

from notebook_runner import run_cell, shell


class _Recorded:
    def __init__(self) -> None:
        self.shown: list[tuple[float, str, list[str]]] = []

    def show(self, share: float, text: str, notes: list[str]) -> None:
        self.shown.append((share, text, list(notes)))


def test_outside_a_notebook_there_are_lines(capsys: pytest.CaptureFixture[str]) -> None:
    corpus = sample("ctb.txt")
    train(corpus.with_sentences(corpus.sentences[:3]), iterations=2)
    assert "iteration 2/2" in capsys.readouterr().err
    told: list[str] = []
    with default_progress(told.append) as (callback, tell):
        assert isinstance(callback, Lines)
        tell("a note")
    assert told == ["a note"]


def test_in_a_notebook_there_is_one_display_and_its_updates() -> None:
    with shell() as running:
        source = """
            import tagweave as tw
            from tagweave.corpus.sample import sample
            corpus = sample("ctb.txt")
            model = tw.train(corpus.with_sentences(corpus.sentences[:3]), iterations=30)
        """
        output = run_cell(running, source)
    first, *others = output.displays
    assert not first["update"]
    assert all(each["update"] for each in others)
    assert {each["transient"]["display_id"] for each in output.displays} == {first["transient"]["display_id"]}
    assert len(output.displays) < 30, "a few versions a second"
    assert output.displays[-1]["data"]["text/plain"].startswith("iteration 30/30")
    assert "features" in output.html[-1], "the notes"
    assert output.stderr.replace("tagweave: compiling", "") == output.stderr == ""


def test_a_training_that_is_interrupted_leaves_its_last_line() -> None:
    source = """
        from tagweave.learning.run import Iteration
        from tagweave.learning.progress import default_progress
        try:
            with default_progress(print) as (callback, _):
                for number in range(1, 4):
                    callback.iteration(Iteration(number, 1.0, None, False, 0.1), 9)
                raise KeyboardInterrupt
        except KeyboardInterrupt:
            pass
    """
    with shell() as running:
        output = run_cell(running, source)
    assert [each["data"]["text/plain"][:13] for each in output.displays] == ["iteration 1/9", "iteration 3/9"]


def test_lines_wait_until_the_last_is_shown() -> None:
    recorded = _Recorded()
    line = NotebookLine(recorded)  # type: ignore[arg-type]
    line.tell("a note")
    for number in range(1, 101):
        line.iteration(Iteration(number, 1.0, 0.5 + number / 1000, best=True, seconds=0.1), 100)
    line.close()
    line.close()
    assert len(recorded.shown) < 10
    share, text, notes = recorded.shown[-1]
    assert (share, notes) == (1.0, ["a note"])
    assert "100/100" in text
    assert "best 0.6000" in text
    assert len([each for each in recorded.shown if "100/100" in each[1]]) == 1
