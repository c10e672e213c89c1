"""Progress is shown live on terminals, in lines elsewhere, and in JSON that is always valid."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest
from rich.console import Console

from tagweave.learning.progress import JsonLines, Lines, console_callback, log_callback, plain_line
from tagweave.learning.run import Iteration

FIRST = Iteration(1, 1234.5678, 0.5, True, 1.25)
SECOND = Iteration(2, 12.0, 0.25, False, 2.5)
WITHOUT = Iteration(3, float("inf"), None, False, 3.0)


@pytest.mark.parametrize(
    ("iteration", "line"),
    [
        (FIRST, "iteration 1/9  loss 1234.57  dev 0.5000 *  1.2 s"),
        (SECOND, "iteration 2/9  loss 12  dev 0.2500  2.5 s"),
        (WITHOUT, "iteration 3/9  loss inf  3.0 s"),
        (replace(WITHOUT, phase="start"), "start, iteration 3/9  loss inf  3.0 s"),
    ],
)
def test_lines(iteration, line):
    stream = io.StringIO()
    Lines(stream).iteration(iteration, 9)
    assert stream.getvalue() == line + "\n" == plain_line(iteration, 9) + "\n"


def test_a_long_iteration_is_reported_at_growing_intervals():
    stream = io.StringIO()
    lines = Lines(stream)
    for seconds in range(1, 50):
        lines.within_iteration(1, seconds / 50, seconds)
    lines.iteration(FIRST, 9)
    lines.within_iteration(2, 0.5, 12)
    reports = [f"{at * 2} % of iteration 1 after {at} s" for at in (10, 20, 40)]
    assert stream.getvalue().splitlines() == [*reports, plain_line(FIRST, 9), "50 % of iteration 2 after 12 s"]


def test_a_console_other_than_a_terminal_gets_lines():
    stream = io.StringIO()
    with console_callback(Console(file=stream)) as callback:
        callback.iteration(FIRST, 9)
        assert stream.getvalue() == plain_line(FIRST, 9) + "\n"


def test_a_terminal_gets_a_bar_with_the_best_score_so_far():
    stream = io.StringIO()
    with console_callback(Console(file=stream, force_terminal=True, width=120)) as callback:
        callback.iteration(FIRST, 9)
        callback.iteration(SECOND, 9)
    text = stream.getvalue()
    assert "2/9" in text and "loss 12  dev 0.2500  best 0.5000" in text
    assert "iteration 1/9" not in text


def test_json_lines_are_json():
    stream = io.StringIO()
    for iteration in (FIRST, WITHOUT):
        JsonLines(stream).iteration(iteration, 9)
    first, last = (json.loads(line, parse_constant=pytest.fail) for line in stream.getvalue().splitlines())
    assert first == {"number": 1, "loss": 1234.5678, "score": 0.5, "best": True, "seconds": 1.25, "phase": ""}
    assert last == {"number": 3, "loss": None, "score": None, "best": False, "seconds": 3.0, "phase": ""}


def test_a_log_can_be_followed_and_resumes_with_training(tmp_path):
    file = tmp_path / "log"
    for resume, expected in ((True, 1), (True, 2), (False, 1)):
        with log_callback(file, resume) as callback:
            callback.iteration(FIRST, 9)
            assert len(file.read_text("utf-8").splitlines()) == expected
