"""A trainer's state on disk: written whole or not at all, so that training goes on after a crash."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from tagweave.learning.trainer import State


class CheckpointError(ValueError):
    """A checkpoint that cannot be read, or that belongs to another training run."""


def save_checkpoint(path: Path, state: State, best: dict[str, Any], run: str) -> None:
    """Write a state and the best weights so far beside `path`, then rename.

    Args:
        path: the file.
        state: the trainer's state.
        best: `weights` (an array or `None`), and scalars that describe them.
        run: what identifies the training run: a checkpoint of another is refused.
    """
    arrays = {f"state.{name}": np.ascontiguousarray(array) for name, array in state.arrays.items()}
    scalars = {key: value for key, value in best.items() if key != "weights"}
    if best.get("weights") is not None:
        arrays["best.weights"] = np.ascontiguousarray(best["weights"])
    data = {
        "run": run,
        "numbers": state.numbers,
        "iteration": state.iteration,
        "loss": state.loss,
        "converged": state.converged,
        "best": scalars,
    }
    temporary = path.with_name(f"{path.name}.{os.getpid()}.part")
    save_file(arrays, temporary, {"tagweave": json.dumps(data)})
    temporary.replace(path)


def load_checkpoint(path: Path, run: str) -> tuple[State, dict[str, Any]]:
    """The state and the best weights that `save_checkpoint` wrote.

    Raises:
        CheckpointError: the file cannot be read, or is of another run.
    """
    try:
        with safe_open(path, "numpy") as file:
            data = json.loads((file.metadata() or {})["tagweave"])
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dict
    except (SafetensorError, KeyError, ValueError) as error:
        raise CheckpointError(
            f"{path}: not a checkpoint, or a damaged one ({error}); delete it to start anew"
        ) from error
    if data["run"] != run:
        raise CheckpointError(f"{path}: a checkpoint of another training run; delete it to start anew")
    own = {name.removeprefix("state."): array for name, array in arrays.items() if name.startswith("state.")}
    state = State(own, data["numbers"], data["iteration"], data["loss"], data["converged"])
    return state, {**data["best"], "weights": arrays.get("best.weights")}
