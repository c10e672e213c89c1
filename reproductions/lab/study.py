"""A study: settings, methods and seeds, whose results are kept, and the page that is made of them."""

from __future__ import annotations

import argparse
import hashlib
import inspect
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from reproductions.lab.comparison import TRIALS, Finding, Measured, compare, judged
from reproductions.lab.corpora import ROOT
from reproductions.lab.page import write_page
from tagweave.corpus.files import written

RESULTS = ROOT / "docs" / "results"
"""The folder of all pages."""
Result = dict[str, Any]
"""What is kept of a training: `counts` by measure, [S, K] of every sentence, and numbers."""
Numbers = dict[str, Any]
"""All numbers of a page, as JSON holds them."""


@dataclass(frozen=True)
class Setting:
    """Corpora, and the methods that are compared on them.

    Attributes:
        name: in the names of files.
        title: in the page.
        data: gives the corpora of a seed; their test data are always the same.
        methods: the rivals.
        about: what the page tells of the corpora.
    """

    name: str
    title: str
    data: Callable[[int], Any]
    methods: Sequence[str]
    about: Callable[[Any], Numbers] = lambda _: {}


@dataclass(frozen=True)
class Run:
    """The results of a study, by the names of setting and method and the seed."""

    settings: Sequence[Setting]
    seeds: int
    trials: int
    results: dict[tuple[str, str, int], Result]

    def of(self, setting: Setting, method: str) -> list[Result]:
        """Return the results of all seeds."""
        return [self.results[setting.name, method, seed] for seed in range(self.seeds)]

    def measured(self, setting: Setting, method: str) -> dict[str, Measured]:
        """Return what a method got right, by measure."""
        counts = [result["counts"] for result in self.of(setting, method)]
        return {measure: Measured(np.array([own[measure] for own in counts])) for measure in counts[0]}


@dataclass(frozen=True)
class Study:
    """The experiments of a page.

    Attributes:
        page: the name of the page and of the study.
        seeds: how many.
        settings: gives the settings, told whether the run is a quick one, on few sentences.
        train: trains a method on the corpora of a seed; its result has `counts`, and what else the page tells.
        lines: gives the lines of the page.
        references: the methods that every other one is tested against.
        findings: what the paper says.
        draw: draws plots into the folder of the page.
        summary: gives the numbers of the page, where they are not those of `summarised`.
    """

    page: str
    seeds: int
    settings: Callable[[bool], Sequence[Setting]]
    train: Callable[[Any, str, int], Result]
    lines: Callable[[Numbers], Iterable[str]]
    references: Sequence[str] = ()
    findings: Sequence[Finding] = ()
    draw: Callable[[Numbers, Path], object] = lambda numbers, folder: None
    summary: Callable[[Run], Numbers] | None = None

    @property
    def command(self) -> str:
        """The command that writes the page."""
        return f"python -m reproductions {self.page}"

    def run(self, quick: bool, folder: Path, seeds: Sequence[int]) -> Run:
        """Train all methods with these seeds, unless their results are in a folder; seeds are the outer loop.

        Raises:
            CorpusError: corpora that do not suit a training.
            OSError: a file cannot be read or written.
            KeyboardInterrupt: the user stopped a training.
        """
        settings = self.settings(quick)
        run = Run(settings, len(seeds), 100 if quick else TRIALS, {})
        for seed, setting in product(seeds, settings):
            for method in setting.methods:
                print(f"{setting.name}, {method}, seed {seed}", file=sys.stderr, flush=True)
                name = f"{self.page} {setting.name} {method} {seed}{' quick' * quick}"
                result = self._kept(folder, name, setting, method, seed)
                run.results[setting.name, method, seed] = result
        return run

    def _kept(self, folder: Path, name: str, setting: Setting, method: str, seed: int) -> Result:
        """Return a result from its file, whose name tells the code of the package and of the study, or train."""
        source = Path(inspect.getsourcefile(self.train) or __file__)
        digest = hashlib.sha256(f"{name} {_digest(source)} {_digest(ROOT / 'src' / 'tagweave')}".encode()).hexdigest()
        path = folder / f"{re.sub('[^a-zA-Z0-9.]+', '-', name)}-{digest[:12]}.json"
        if path.exists():
            kept: Result = json.loads(path.read_text(encoding="utf-8"))
            return kept
        begin = time.process_time()
        result = self.train(setting.data(seed), method, seed)
        result = {"seconds": time.process_time() - begin, **result}
        folder.mkdir(parents=True, exist_ok=True)
        with written(str(path)) as stream:
            json.dump(result, stream)
        return result

    def summarised(self, run: Run) -> Numbers:
        """Return the numbers of every setting: scores, tests against references, findings, and what trainings tell."""
        settings = []
        for setting in run.settings:
            measured = {method: run.measured(setting, method) for method in setting.methods}
            methods: Numbers = {}
            for method, measures in measured.items():
                results = run.of(setting, method)
                references = [each for each in self.references if each != method and each in measured]
                methods[method] = {
                    **{key: [result[key] for result in results] for key in results[0] if key != "counts"},
                    "scores": {measure: own.to_json() for measure, own in measures.items()},
                    "against": {
                        reference: {
                            measure: compare(own, measured[reference][measure], run.trials)
                            for measure, own in measures.items()
                            if measure in measured[reference]
                        }
                        for reference in references
                    },
                }
            about = setting.about(setting.data(0))
            own_findings = judged(self.findings, measured, run.trials)
            told = {"name": setting.name, "title": setting.title, **about}
            settings.append({**told, "methods": methods, "findings": own_findings})
        return {"settings": settings}

    def _train_seeds(self, seeds: Sequence[int], words: Sequence[str]) -> None:
        """Train each seed in a process of its own, as many at a time as there are processors; results are kept.

        Raises:
            CalledProcessError: a process failed.
        """

        def train(seed: int) -> None:
            command = [sys.executable, "-m", "reproductions", self.page, *words, "--seed", str(seed)]
            subprocess.run(command, cwd=ROOT, check=True)

        with ThreadPoolExecutor(min(len(seeds), os.cpu_count() or 1)) as pool:
            list(pool.map(train, seeds))

    def main(self, words: Sequence[str]) -> None:
        """Run the command: train, write the page and its plots, and print where it is."""
        parser = argparse.ArgumentParser(prog=self.command, description=f"Write the page {self.page}.")
        parser.add_argument("--quick", action="store_true", help="few sentences, to see that it works")
        parser.add_argument("--out", type=Path, help="folder of the page (docs/results; of a quick one build/quick)")
        parser.add_argument(
            "--cache",
            type=Path,
            default=ROOT / "build" / "results",
            help="folder of finished trainings (build/results)",
        )
        parser.add_argument("--seed", type=int, help="train with this seed alone, and write no page")
        options = parser.parse_args(words)
        if options.seed is not None:
            self.run(options.quick, options.cache, [options.seed])
            return
        out: Path = options.out or (ROOT / "build" / "quick" if options.quick else RESULTS)
        seeds = range(1 if options.quick else self.seeds)
        if len(seeds) > 1:
            self._train_seeds(seeds, words)
        run = self.run(options.quick, options.cache, seeds)
        numbers = {
            "command": self.command,
            "seeds": run.seeds,
            "trials": run.trials,
            **(self.summary or self.summarised)(run),
        }
        self.draw(numbers, out)
        print(write_page(out, self.page, numbers, self.lines(numbers)))


@cache
def _digest(path: Path) -> str:
    """Return what tells the code of a file or a folder from other code."""
    digest = hashlib.sha256()
    for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
        digest.update(file.read_bytes())
    return digest.hexdigest()
