"""Training in a notebook is one line; in a terminal it says what it always did."""

from __future__ import annotations

import pytest

pytest.importorskip("IPython", reason="IPython is not installed")

from notebook_runner import run_cell, shell


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
