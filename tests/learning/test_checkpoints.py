"""Checkpoints: what is written is read; what is damaged, foreign or cut short is an error of its own kind."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file

from tagweave.features.rules import ArrayRule, NotNegative, Number, Whole
from tagweave.learning import loop
from tagweave.learning.loop import CheckpointError, load_checkpoint, save_checkpoint
from tagweave.learning.trainer import StateRules, TrainerState

FLOATS = st.floats(-1e18, 1e18)
RUN = "run 1"
FLOAT32, FLOAT64 = ("float32",), ("float64",)


def state(**changes: Any) -> TrainerState:
    arrays = {"weights": np.arange(6, dtype=np.float32), "history": np.ones((2, 3)), "past": np.array([np.inf, 1.5])}
    return TrainerState(
        **({"arrays": arrays, "numbers": {"pairs": 3, "rate": 0.1}, "iteration": 4, "loss": 1.25} | changes)
    )


RULES = StateRules(
    {
        "weights": ArrayRule(FLOAT32, (6,), -1e18, 1e18),
        "history": ArrayRule(FLOAT64, (2, 3), -1e18, 1e18),
        "past": ArrayRule(FLOAT64, (2,)),
    },
    {"pairs": Whole, "rate": NotNegative},
)
BEST = {"weights": np.arange(6, dtype=np.float32) / 2, "score": 0.75, "wait": 2}
NOTHING = {"weights": None, "score": None, "wait": 0}


@settings(max_examples=20)
@given(
    st.dictionaries(st.text("abc", min_size=1), FLOATS),
    st.integers(0, 1000),
    FLOATS,
    st.booleans(),
    st.sampled_from([BEST, NOTHING]),
)
def test_round_trip(numbers: dict[str, float], iteration: int, loss: float, converged: bool, best: Any) -> None:
    given_state = state(numbers=numbers, iteration=iteration, loss=loss, converged=converged)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state"
        save_checkpoint(path, given_state, best, RUN)
        rules = replace(RULES, numbers=dict.fromkeys(numbers, Number))
        loaded, loaded_best = load_checkpoint(path, RUN, rules)
        assert [each.name for each in Path(folder).iterdir()] == ["state"]
    assert loaded.arrays.keys() == given_state.arrays.keys()
    for name, array in given_state.arrays.items():
        assert loaded.arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(loaded.arrays[name], array)
    assert (loaded.numbers, loaded.iteration, loaded.converged) == (numbers, iteration, converged)
    assert loaded.loss == loss
    assert (loaded_best["score"], loaded_best["wait"]) == (best["score"], best["wait"])
    np.testing.assert_array_equal(loaded_best["weights"], best["weights"])


def test_of_another_run(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "state", state(), BEST, RUN)
    with pytest.raises(CheckpointError, match="another training run; delete it"):
        load_checkpoint(tmp_path / "state", "run 2", RULES)


def test_cut_short_anywhere(tmp_path: Path) -> None:
    path = tmp_path / "state"
    save_checkpoint(path, state(), BEST, RUN)
    whole = path.read_bytes()
    for length in range(0, len(whole), max(1, len(whole) // 40)):
        path.write_bytes(whole[:length])
        with pytest.raises(CheckpointError, match=r"damaged|another"):
            load_checkpoint(path, RUN, RULES)


def test_every_damaged_byte_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "state"
    save_checkpoint(path, state(), BEST, RUN)
    whole, rng = path.read_bytes(), np.random.default_rng(0)
    for at in range(len(whole)):
        damaged = bytearray(whole)
        damaged[at] ^= int(rng.integers(1, 256))
        path.write_bytes(bytes(damaged))
        try:
            loaded, _ = load_checkpoint(path, RUN, RULES)
        except CheckpointError:
            continue
        # what is left are bytes that say nothing, such as blanks of the header's padding
        np.testing.assert_array_equal(loaded.arrays["history"], state().arrays["history"])
        np.testing.assert_array_equal(loaded.weights, state().weights)
        assert (loaded.numbers, loaded.iteration, loaded.loss) == (state().numbers, 4, 1.25)


WITHOUT_PARTS = '{"run": "run 1", "numbers": {}}'


@pytest.mark.parametrize("text", [None, "{", "[]", "{}", WITHOUT_PARTS])
def test_foreign_files(text: str | None, tmp_path: Path) -> None:
    save_file({"weights": np.zeros(3)}, tmp_path / "state", {"x": "y"} if text is None else {"tagweave": text})
    with pytest.raises(CheckpointError, match="not a checkpoint"):
        load_checkpoint(tmp_path / "state", RUN, RULES)


@pytest.mark.parametrize(
    "changes",
    [
        {"arrays": {"weights": np.zeros(0, np.float32)}},
        {"arrays": {"weights": np.full(6, np.nan, np.float32)}},
        {"arrays": {"weights": np.zeros(6)}},
        {"arrays": {"more": np.zeros(6)}},
        {"numbers": {"pairs": -1, "rate": 0.1}},
        {"numbers": {"pairs": 1.5, "rate": 0.1}},
        {"numbers": {"pairs": 3}},
        {"iteration": -1},
        {"loss": float("nan")},
        {"converged": 1},
    ],
    ids=str,
)
def test_a_state_from_which_a_trainer_cannot_resume(changes: dict[str, Any], tmp_path: Path) -> None:
    arrays = {**state().arrays, **changes.pop("arrays", {})}
    save_checkpoint(tmp_path / "state", state(arrays=arrays, **changes), BEST, RUN)
    with pytest.raises(CheckpointError, match="damaged one"):
        load_checkpoint(tmp_path / "state", RUN, RULES)


def test_text_and_a_folder(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no checkpoint at all, but long enough to have a header\n" * 3)
    for path in (tmp_path / "text", tmp_path):
        with pytest.raises(CheckpointError, match="delete it to start anew"):
            load_checkpoint(path, RUN, RULES)


def test_failing_to_write_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "state"
    save_checkpoint(path, state(), BEST, RUN)
    before = path.read_bytes()

    def full(arrays: Any, file: Path, metadata: Any) -> None:
        Path(file).write_bytes(b"half")
        raise loop.SafetensorError("no space left on device")

    monkeypatch.setattr(loop, "save_file", full)
    with pytest.raises(OSError, match="cannot be written"):
        save_checkpoint(path, state(iteration=5), BEST, RUN)
    assert [each.name for each in tmp_path.iterdir()] == ["state"]
    assert path.read_bytes() == before
