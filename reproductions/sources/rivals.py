"""Runs other packages in a Python of their own."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.sources.answers import Answers

RIVALS = {"skweak": "skweak, HMM", "DawidSkene": "crowd-kit, Dawid-Skene", "MACE": "crowd-kit, MACE"}
"""What `rival_aggregation` calls each, and its name in tables."""
VERSIONS = "skweak==0.3.3 crowd-kit==1.4.2"


class RivalResult(NamedTuple):
    """Probabilities float64[N, Y], and the CPU seconds of fitting and predicting."""

    probabilities: NDArray[np.float64]
    seconds: float


def rival_result(python: Path, method: str, answers: Answers) -> RivalResult:
    """What another package makes of answers.

    Args:
        python: the interpreter of an environment with `VERSIONS`.
        method: one of `RIVALS`.
        answers: one label for each position and source.

    Raises:
        CalledProcessError: it failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.npz", Path(folder) / "out.npz"
        arrays = {name: getattr(answers, name) for name in ("sentence_ptr", "position", "source", "label")}
        np.savez(source, labels=np.array(answers.labels), **arrays)
        script = Path(__file__).with_name("rival_aggregation.py")
        subprocess.run([python, script, method, source, target], check=True, capture_output=True)
        with np.load(target) as found:
            return RivalResult(found["probabilities"], float(found["seconds"]))
