"""One method: a training in a process of its own, then the model in another one, timed."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from reproductions.lab.cache import Result
from reproductions.lab.code import ROOT
from tagweave.corpus import sample
from tagweave.training.methods import SINGLE
from tagweave.training.plan import CorpusReference, TrainingPlan

TARGET, SOURCE = "ctb", "pd"
"""The guidelines."""
ITERATIONS = 2
"""Of a quick run, and of the one beforehand in which code is compiled."""


class FailedError(Exception):
    """A process ended with an error; the message is its last line."""


@dataclass(frozen=True)
class Files:
    """The corpora: of the target guideline train, dev and test, of the other one the source."""

    name: str
    train: Path
    dev: Path
    test: Path
    source: Path

    def paths(self) -> tuple[Path, ...]:
        """All of them."""
        return self.train, self.dev, self.test, self.source


@dataclass(frozen=True)
class Cell:
    """One method on some corpora.

    Attributes:
        name: of the method.
        files: the corpora.
        fields: of the plan; with a `method` among them it is given the source as well.
        iterations: `None`: as many as usual.
    """

    name: str
    files: Files
    fields: Mapping[str, Any]
    iterations: int | None = None

    def description(self) -> dict[str, Any]:
        """What the result depends on."""
        texts = [hashlib.sha256(path.read_bytes()).hexdigest()[:12] for path in self.files.paths()]
        return {"name": self.name, "options": words(self.fields), "iterations": self.iterations, "texts": texts}

    def run(self) -> Result:
        """Train and label.

        Returns:
            `seconds`, `processor` (seconds of all threads) and `megabytes` (the most memory) of the training process;
            `size` of the model's file in bytes; `megabytes of tagging`; and what `reproductions.methods.label` tells.

        Raises:
            FailedError: one of the processes did.
        """
        with tempfile.TemporaryDirectory() as folder:
            model = Path(folder) / "model"
            _timed(_train(_plan(self.fields, _sample(Path(folder)), ITERATIONS), Path(folder) / "first"))  # compiles
            found = _timed(_train(_plan(self.fields, self.files, self.iterations), model))
            label = [sys.executable, "-m", "reproductions.methods.label", str(model)]
            labelled = _timed([*label, str(self.files.dev), str(self.files.test)])
            told: Result = json.loads(labelled["output"])
            used = {key: found[key] for key in ("seconds", "processor", "megabytes")}
            return {**used, "size": model.stat().st_size, "megabytes of tagging": labelled["megabytes"], **told}


def words(fields: Mapping[str, Any]) -> tuple[str, ...]:
    """The options of `tagweave train` that stand for fields of a plan."""
    options = {**fields, **fields.get("options", {})}
    options.pop("options", None)
    told = ([f"--{name}", *([] if value is True else [str(value)])] for name, value in options.items())
    return tuple(chain.from_iterable(told))


def _sample(folder: Path) -> Files:
    lines = sample.path("ctb.txt").read_text("utf-8").splitlines(keepends=True)
    parts = {"train.txt": lines[20:], "dev.txt": lines[:20]}
    for name, part in parts.items():
        (folder / name).write_text("".join(part), "utf-8")
    train, dev = (folder / name for name in parts)
    return Files("sample", train, dev, dev, sample.path("pd.txt"))


def _plan(fields: Mapping[str, Any], files: Files, iterations: int | None) -> TrainingPlan:
    """What is trained."""
    target = CorpusReference.of(f"{TARGET}={files.train}")
    sources = () if fields["method"] == SINGLE else (CorpusReference.of(f"{SOURCE}={files.source}"),)
    dev = CorpusReference.of(str(files.dev))
    return TrainingPlan((target,), sources, dev, task="segtag", iterations=iterations, **fields)


def _train(plan: TrainingPlan, model: Path) -> list[str]:
    """The command of a training run; the plan is written beside the model."""
    path = model.with_suffix(".plan")
    path.write_text(json.dumps(plan.to_json()), encoding="utf-8")
    return [sys.executable, "-m", "tagweave.training", str(path), str(model)]


def _timed(command: Sequence[str]) -> dict[str, Any]:
    """Run a command: its output, and what it used."""
    begin = time.perf_counter()
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=errors)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0), errors.seek(0)
        if process.returncode:
            raise FailedError((errors.read().strip().splitlines() or ["no message"])[-1])
        return {
            "output": output.read(),
            "seconds": time.perf_counter() - begin,
            "processor": used.ru_utime + used.ru_stime,
            "megabytes": used.ru_maxrss / 1024,
        }
