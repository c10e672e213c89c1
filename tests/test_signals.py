"""Signals that end a process: no training goes on after one, wherever it arrives."""

from __future__ import annotations

import signal
import time

import numpy as np
import pytest

from tagweave.learning.loop import train
from tagweave.learning.online import AdaGrad
from tagweave.learning.run import Run
from tagweave.signals import ending_in_order, is_ending


class Deleted:
    """An object during whose deletion SIGTERM arrives."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGTERM)


def test_an_interrupt_that_python_drops_is_raised_again() -> None:
    with ending_in_order() as received:
        Deleted()
        with pytest.raises(KeyboardInterrupt):
            time.sleep(5)
        assert received[0] == signal.SIGTERM
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL  # a second one ends the process


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_no_training_begins_after_a_signal_that_somebody_swallowed(number: int) -> None:
    with ending_in_order():
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
        assert is_ending()
        outcome = train(AdaGrad(), None, np.zeros(3), Run())
        assert (outcome.interrupted, outcome.iterations) == (True, 0)
        assert Run().phase("second").aside().cancel()
    assert not is_ending()
    assert not Run().cancel()
