"""What is compiled beside a first training is what that training needs."""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tagweave as tw
from tagweave.corpus import sample
from tagweave.kernels import chain, compiled_code, decode, products, tree_sums
from tagweave.learning.run import Silence
from tagweave.structures import CHAIN, TREE, ahead

KERNELS: dict[str, tuple[Any, ...]] = {
    CHAIN: (chain.backward, products.add_row_products, decode.best_sequences),
    TREE: (tree_sums._marginals,),
}


def corpora(structure: str, folder: Path) -> list[str]:
    """A training and a development corpus."""
    lines = sample.path("ctb.txt").read_text("utf-8").splitlines()
    if structure == TREE:
        lines = ["".join(f"{at}\tw{n}\t_\tN\tN\t_\t{at - 1}\tdep\t_\t_\n" for at in range(1, 6)) for n in range(8)]
    for name, own in (("train", lines[:4]), ("dev", lines[4:8])):
        (folder / f"{name}{'.conllu' if structure == TREE else '.txt'}").write_text("\n".join(own) + "\n", "utf-8")
    return [str(path) for path in sorted(folder.iterdir(), reverse=True)]


@pytest.mark.filterwarnings("ignore:.*lack labels")
@pytest.mark.parametrize("structure", [CHAIN, TREE])
def test_the_first_training_needs_it(structure: str, tmp_path: Path) -> None:
    train, dev = corpora(structure, tmp_path)
    tw.train(train, dev=dev, task="tag" if structure == CHAIN else "parse", iterations=1, callback=Silence())
    before = [list(kernel.signatures) for kernel in KERNELS[structure]]
    assert all(before)
    ahead._COMPILE[structure]("float32")
    assert [list(kernel.signatures) for kernel in KERNELS[structure]] == before
    assert compiled_code.is_kept(ahead._SLOWEST[structure])


@pytest.mark.parametrize(("kept", "number", "begun"), [(False, 2, 1), (True, 2, 0), (False, 1, 0)])
def test_only_what_is_not_kept_and_beside_another_processor(
    kept: bool, number: int, begun: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[Any] = []
    monkeypatch.setattr(ahead, "_begun", {})
    monkeypatch.setattr(ahead, "_processors", lambda: number)
    monkeypatch.setattr(compiled_code, "is_kept", lambda _: kept)
    monkeypatch.setattr(subprocess, "Popen", lambda command, **_: commands.append(command))
    monkeypatch.setattr(atexit, "register", lambda *_: None)
    monkeypatch.delitem(os.environ, "TAGWEAVE_AHEAD", raising=False)
    ahead.begin(TREE, "float32")
    ahead.begin(TREE, "float32")
    assert commands == [[sys.executable, "-P", "-m", "tagweave.structures.ahead", "tree", "float32"]][:begun]
