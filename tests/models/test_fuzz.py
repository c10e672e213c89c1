"""Files of every kind: written again as they were, refused without one of their arrays, and mutated.

The mutations are a few of what `python -m benchmarks.fuzz` tries.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from model_parts import parts, rewrite

from benchmarks.fuzz import FAULTS, KINDS, build, results, used
from benchmarks.fuzz_bases import MODELS
from tagweave.models.storage import ModelFileError, load_model, save_model

MUTATIONS = range(1, 5)  # each of the arrays' forms once


@pytest.fixture(scope="module", params=KINDS)
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A kind of files, and a folder with one, `base`."""
    folder: Path = tmp_path_factory.mktemp("built")
    build(request.param, folder)
    return request.param, folder


def test_mutated_files_are_used_or_refused(built: tuple[str, Path]) -> None:
    lines = list(results(*built, MUTATIONS, 7, used))
    found = [(what, *result) for (_, what), result in zip(lines[::2], lines[1::2], strict=True)]
    assert [each for each in found if each[1] in FAULTS] == []
    assert "refusals" in {result for _, result, _ in found}


def test_a_loaded_model_is_written_as_it_was_and_every_array_is_checked(built: tuple[str, Path]) -> None:
    kind, folder = built
    if kind not in MODELS:
        return
    path = folder / "again"
    save_model(load_model(folder / "base"), path)
    assert path.read_bytes() == (folder / "base").read_bytes()
    description, arrays = parts(path)
    for name, array in arrays.items():
        changed = [arrays | {name: array.astype(np.int8)}]
        if not name.startswith("observed."):  # without these, all transitions have weights
            changed.append({key: each for key, each in arrays.items() if key != name})
        if len(array):  # dense layouts have no cells
            changed.append(arrays | {name: array[:-1].copy()})
        for held in changed:
            rewrite(path, description, held)
            with pytest.raises(ModelFileError, match="parts do not fit"):
                load_model(path)
