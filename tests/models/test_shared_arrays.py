"""Arrays of models that processes share: the same model, and only as many files as are needed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from test_model_files import MODELS

from tagweave.models import packing
from tagweave.models.storage import load_model, save_model


def test_a_shared_model_is_the_same(tmp_path: Path) -> None:
    for name, make in MODELS.items():
        save_model(make(), tmp_path / name)
        plain = load_model(tmp_path / name)
        for _ in range(2):  # the second one finds what the first one wrote
            shared = load_model(tmp_path / name, folder=tmp_path)
            assert shared.to_json() == plain.to_json()
            for key, array in plain.arrays().items():
                assert array.dtype == shared.arrays()[key].dtype
                assert np.array_equal(array, shared.arrays()[key])
                assert array.flags.writeable == shared.arrays()[key].flags.writeable  # kernels are compiled for one


def test_a_change_stays_with_the_process(tmp_path: Path) -> None:
    save_model(MODELS["dense"](), tmp_path / "model")
    load_model(tmp_path / "model", folder=tmp_path).arrays()["weights"][:] = 0
    assert load_model(tmp_path / "model", folder=tmp_path).arrays()["weights"].any()


def test_arrays_that_were_not_used_for_long_are_removed(tmp_path: Path) -> None:
    made: list[Path] = []

    def use(model: Path) -> None:
        packing.shared_arrays(tmp_path, model.name, lambda: made.append(model) or {"a": np.ones(3)})

    models = [tmp_path / f"{number}.model" for number in range(7)]
    for model in models:
        model.write_text(model.name)
        use(model)
        use(models[0])
    assert len(list(tmp_path.glob("*.arrays"))) == len(list(tmp_path.glob("*.json"))) == 4
    assert made == models


def test_arrays_that_others_remove_at_the_same_time_are_made_again(tmp_path: Path) -> None:
    models = [tmp_path / f"{number}.model" for number in range(6)]
    for model in models:
        model.write_text(model.name)

    def load(seed: int) -> None:
        for number in np.random.default_rng(seed).integers(6, size=100):
            packing.shared_arrays(tmp_path, models[number].name, lambda: {"a": np.zeros(1000)})

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(load, range(4))) == [None] * 4
