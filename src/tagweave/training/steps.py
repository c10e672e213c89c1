"""The steps of a training of several models, told one by one."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tagweave.training.run import Run
    from tagweave.training.system import Announce, Step


def step_by_step(run: Run) -> Announce:
    """Tell of every step, with the time that has passed."""
    begin = time.perf_counter()

    def announce(step: Step) -> None:
        run.tell(f"{step.number}/{step.of} {step.what} (after {time.perf_counter() - begin:.0f} s)")

    return announce
