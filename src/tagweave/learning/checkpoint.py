"""A trainer's state on disk, so that training can resume after an interrupt or a crash.

It is many times the size of a model, so it is written every half a minute, not after every iteration: a process that is
killed loses no more. An interrupted one loses only its iteration, since the state before that is kept in memory.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from tagweave.corpus.errors import InputError
from tagweave.corpus.whole_file import whole_file
from tagweave.features.digest import digest_of
from tagweave.features.rules import check_arrays, flag, mapping_of, nullable, number, record, text, whole
from tagweave.learning.trainer import Floats, State, StateRules

INTERVAL = 30.0
"""Seconds from one writing to the next."""

_HEAD = record(
    {
        "run": text,
        "numbers": mapping_of(number()),
        "iteration": whole(0, 1 << 31),
        "loss": number(-1e300, 1e300),
        "converged": flag,
        "best": record({"score": nullable(number()), "wait": whole(0, 1 << 31)}),
    }
)


class CheckpointError(InputError):
    """A checkpoint that cannot be read, or that belongs to another training run."""


def save_checkpoint(path: Path, state: State, best: dict[str, Any], run: str) -> None:
    """Write a state and the best weights so far beside `path`, then rename.

    Args:
        path: the file.
        state: the trainer's state.
        best: `weights` (an array or `None`), and scalars that describe them.
        run: identifies the training run; a checkpoint of another run is refused.

    Raises:
        OSError: it cannot be written; an older checkpoint is kept.
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
    data["digest"] = digest_of(data, arrays)
    try:
        with whole_file(path) as part:
            save_file(arrays, part, {"tagweave": json.dumps(data)})
    except SafetensorError as error:
        raise OSError(f"{path}: the checkpoint cannot be written ({error})") from error


@dataclass
class TimedCheckpoint:
    """The checkpoint of a training under way.

    Attributes:
        path, run: as in `save_checkpoint`.
        clock: the time in seconds.
    """

    path: Path
    run: str
    clock: Callable[[], float]
    _written: float = field(init=False)
    _latest: tuple[State, dict[str, Any]] | None = field(init=False, default=None)
    _copies: dict[str, Floats] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._written = self.clock()

    def keep(self, state: State, best: dict[str, Any]) -> None:
        """Write the state after an iteration if it is time to, else keep a copy of it. Raises as `save_checkpoint`."""
        self._latest = state, best  # whole until the next iteration begins, whatever interrupts this
        if self.clock() - self._written >= INTERVAL:
            self.write()
        else:
            copies = {name: self._copied(name, array) for name, array in state.arrays.items()}
            self._latest = replace(state, arrays=copies, numbers=dict(state.numbers)), dict(best)

    def write(self) -> None:
        """Write the last state unless it has been written. Raises as `save_checkpoint`."""
        if self._latest is not None:
            save_checkpoint(self.path, *self._latest, self.run)
            self._latest, self._written = None, self.clock()

    def _copied(self, name: str, array: Floats) -> Floats:
        copy = self._copies.get(name)
        if copy is None or (copy.shape, copy.dtype) != (array.shape, array.dtype):
            copy = self._copies[name] = np.empty_like(array)
        np.copyto(copy, array)
        return copy


def load_checkpoint(path: Path, run: str, rules: StateRules) -> tuple[State, dict[str, Any]]:
    """The state and the best weights that `save_checkpoint` wrote.

    Args:
        path: the file.
        run: as in `save_checkpoint`.
        rules: requirements on the state, which kernels do not check.

    Raises:
        CheckpointError: the file cannot be read, or belongs to another run.
    """
    try:
        with safe_open(path, "numpy") as file:
            data = json.loads((file.metadata() or {})["tagweave"])
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dict
        if data.pop("digest") != digest_of(data, arrays):
            raise ValueError("its digest does not match its content")
        _HEAD(data, "")
        if data["run"] != run:
            raise CheckpointError(f"{path}: a checkpoint of another training run; delete it to start anew")
        return _assemble(data, arrays, rules)
    except CheckpointError:
        raise
    except (SafetensorError, OSError, LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise CheckpointError(
            f"{path}: not a checkpoint, or a damaged one ({error!r}); delete it to start anew"
        ) from error


def _assemble(data: dict[str, Any], arrays: dict[str, Any], rules: StateRules) -> tuple[State, dict[str, Any]]:
    record(rules.numbers)(data["numbers"], "numbers")
    needed = {f"state.{name}": rule for name, rule in rules.arrays.items()}
    if data["best"]["score"] is not None:
        needed["best.weights"] = rules.arrays["weights"]
    check_arrays(arrays, needed)
    own = {name: arrays[f"state.{name}"] for name in rules.arrays}
    state = State(own, data["numbers"], data["iteration"], float(data["loss"]), data["converged"])
    return state, {**data["best"], "weights": arrays.get("best.weights")}
