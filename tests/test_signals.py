"""Signals that end a process: no training goes on after one, wherever it arrives."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator

import numpy as np
import pytest

from tagweave.learning.learners.adagrad import AdaGrad
from tagweave.learning.loop import train
from tagweave.learning.run import Run
from tagweave.signals import ending_in_order, is_ending


class Deleted:
    """An object during whose deletion SIGTERM arrives."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGTERM)


@pytest.fixture(params=[signal.default_int_handler, signal.SIG_IGN], ids=["foreground", "background"])
def usual(request: pytest.FixtureRequest) -> Iterator[object]:
    """What Ctrl-C does before: shells have it ignored for commands in the background."""
    before = signal.signal(signal.SIGINT, request.param)
    yield request.param
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_that_python_drops_is_raised_again(usual: object) -> None:
    with ending_in_order() as received:
        if usual is signal.SIG_IGN:
            signal.raise_signal(signal.SIGINT)
        Deleted()
        with pytest.raises(KeyboardInterrupt):
            time.sleep(5)
        assert received[0] == signal.SIGTERM
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL  # a second one ends the process


@pytest.mark.parametrize("usual", [signal.default_int_handler], indirect=True)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_no_training_begins_after_a_signal_that_somebody_swallowed(number: int, usual: object) -> None:
    with ending_in_order():
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
        assert is_ending()
        outcome = train(AdaGrad(), None, np.zeros(3), Run())
        assert (outcome.interrupted, outcome.iterations) == (True, 0)
        assert Run().phase("second").aside().cancel()
    assert not is_ending()
    assert not Run().cancel()
