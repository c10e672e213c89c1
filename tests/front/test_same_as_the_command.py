"""`tw.train` and `tagweave train` make the same model of the same corpora and options, by every method."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import tagweave as tw
from tagweave.cli.main import application
from tagweave.corpus import sample
from tagweave.training.methods import METHODS

CASES: dict[str, tuple[Sequence[str], dict[str, Any]]] = {
    "single": ((), {"incomplete": "posterior"}),
    "coupled": (("pd=pd.txt",), {"prune": 0.05, "views": "joint", "mapping": ["automatic"]}),
    "stacked": (("pd=pd.txt",), {"guide": "joined", "rounds": 2}),
    "merged": (("pd=pd.txt",), {"sample": [10, "all"], "weights": [2, 1], "average_seeds": 2}),
    "subword": (("pd=pd.txt",), {"task": "segtag", "folds": 2}),
    "transform": (("pd=pd.txt",), {"task": "segment"}),
    "iterate": (("pd=pd.txt",), {"rounds": 1, "predict_self": [0.2], "dev": "ctb=dev.txt"}),
    "sources": ((), {"source_columns": "tag", "source_folds": 2, "rounds": 1}),
    "single parser": ((), {"task": "parse", "drop_columns": 0.0}),
    "stacked parser": (("two=two.conllu",), {"task": "parse"}),
}


NORMS = {
    "single": 11.3773543,
    "coupled": 14.0711002,
    "stacked": 14.7763731,
    "merged": 17.2117096,
    "subword": 7.5343748,
    "transform": 14.8764782,
    "iterate": 15.4080598,
    "sources": 9.7740897,
    "single parser": 3.4118142,
    "stacked parser": 5.4373265,
}
"""Of the weights, as they were before code was moved about. `python -m benchmarks.digests` holds them bit by bit."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("both")
    ctb, pd = (sample.path(f"{name}.txt").read_text("utf-8").splitlines() for name in ("ctb", "pd"))
    for name, lines in (("ctb.txt", ctb[:12]), ("dev.txt", ctb[12:18]), ("pd.txt", pd[:12])):
        (found / name).write_text("\n".join(lines) + "\n", "utf-8")
    for name, step in (("one.conllu", 1), ("two.conllu", -1)):
        (found / name).write_text("\n".join(tree(line, step) for line in ctb[:8]) + "\n", "utf-8")
    return found


def tree(line: str, step: int) -> str:
    """Words, each of which has its neighbour on one side as its head."""
    tokens, rows = [token.rpartition("_") for token in line.split()], []
    for at, (form, _, tag) in enumerate(tokens, 1):
        head = (at + step) % (len(tokens) + 1)
        rows.append(f"{at}\t{form}\t_\t{tag}\t{tag}\t_\t{head}\t{'dep' if head else 'root'}\t_\t_\n")
    return "".join(rows)


def test_every_method_is_here() -> None:
    assert {name.split()[0] for name in CASES} == set(METHODS)


@pytest.mark.parametrize("case", CASES)
def test_the_same_weights(case: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    sources, settings = CASES[case]
    target = "one=one.conllu" if case.endswith("parser") else "ctb=ctb.txt"
    settings = {**settings, "method": case.split(maxsplit=1)[0], "iterations": 1}
    words = ["train", target, *(word for source in sources for word in ("--source", source))]
    words += [word for name, value in settings.items() for word in option(name, value)]
    told = CliRunner().invoke(application(["train"]), [*words, "-o", str(tmp_path / "m")])
    assert told.exit_code == 0, told.output
    by_command, by_files, by_corpora = (
        tw.load_model(tmp_path / "m"),
        tw.train(target, list(sources), **settings),
        tw.train(tw.load(target), [tw.load(each) for each in sources], **in_memory(settings)),
    )
    assert np.linalg.norm(by_command.trained.weights.astype(float)) == pytest.approx(NORMS[case], rel=1e-3)
    for other in (by_files, by_corpora):
        assert np.array_equal(other.trained.weights, by_command.trained.weights)
    assert by_files.plan == by_command.plan


def in_memory(settings: dict[str, Any]) -> dict[str, Any]:
    return {name: tw.load(value) if name == "dev" else value for name, value in settings.items()}


def option(name: str, value: Any) -> list[str]:
    """The words of an option of the command line."""
    text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    return [f"--{name.replace('_', '-')}", text]
