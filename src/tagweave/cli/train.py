"""`tagweave train`: corpora to a model."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from tagweave.cli import options
from tagweave.cli.errors import INTERRUPTED, OptionError, as_option_error

if TYPE_CHECKING:
    from tagweave.adapt.fit import Fitted
    from tagweave.adapt.recipe import Recipe
    from tagweave.cli.training_files import CorpusFile
    from tagweave.learning.loop import Schedule


def train(
    corpora: options.Corpora,
    model: options.ModelOutput,
    task: options.TaskName = "tag",
    method: options.Method = "ordinary",
    source: options.Source = None,
    dev: options.Dev = None,
    weights: options.Weights = None,
    incomplete: options.Incomplete = "marginal",
    preset: options.Preset = None,
    template: options.TemplateText = None,
    learner: options.Learner = "adagrad",
    settings: options.Settings = None,
    features: options.Features = None,
    min_count: options.MinimumCount = 1,
    coding: options.Coding = "BMES",
    iterations: options.Iterations = None,
    patience: options.Patience = 5,
    seed: options.Seed = 0,
    threads: options.Threads = 1,
    precision: options.Precision = "float32",
    format: options.InputFormat = None,  # noqa: A002
    resume: options.Resume = False,
    log: options.Log = None,
) -> None:
    """Train a model from corpora of one guideline; what they leave open stays open.

    A corpus argument is [GUIDELINE=]PATH[#LAYER]. Ctrl-C keeps the best model so far. After every iteration the
    state is in MODEL.checkpoint, from which --resume goes on; it is removed at the end.
    """
    from tagweave.adapt.incomplete import STRATEGIES
    from tagweave.adapt.recipe import Recipe
    from tagweave.adapt.task import Task
    from tagweave.cli.recipes import chosen_templates, corpus_weights, learner_settings
    from tagweave.cli.training_files import check_guidelines, read_corpus, run_identity
    from tagweave.learning.loop import Schedule

    if method != "ordinary":
        raise OptionError(f"unknown method {method!r}, expected 'ordinary': coupled training is not in this version")
    if incomplete not in STRATEGIES:
        raise OptionError(f"unknown strategy {incomplete!r}, expected one of {', '.join(STRATEGIES)}")
    chosen = learner_settings(learner, settings or (), seed)
    templates = chosen_templates(preset or (), template or ())
    with as_option_error():
        words = Task(task, coding)
        recipe = Recipe(words, templates, learner, chosen, features, min_count, precision=precision, threads=threads)
    arguments = [*corpora, *(source or ())]
    _check_writable(model)
    each = zip(arguments, corpus_weights(weights, len(arguments)), strict=True)
    files = [read_corpus(argument, task, format, weight) for argument, weight in each]
    check_guidelines(files)
    dev_file = read_corpus(dev, task, format) if dev else None
    run = run_identity(files, dev_file, recipe.to_json(), incomplete, seed)
    schedule = Schedule(iterations, patience, Path(f"{model}.checkpoint"), resume, run)
    _Training(files, dev_file, recipe, incomplete, seed, schedule, Path(model), log).run()


@dataclass(frozen=True)
class _Training:
    """A training run from loaded corpora to the file of the model."""

    files: Sequence[CorpusFile]
    dev: CorpusFile | None
    recipe: Recipe
    incomplete: str
    seed: int
    schedule: Schedule
    model: Path
    log: str | None

    def run(self) -> None:
        """Train and save.

        Raises:
            typer.Exit: code 130, after an interrupt.
        """
        begin = time.perf_counter()
        fitted = self._fit()
        if fitted.outcome.iterations:
            about = self._about(fitted, time.perf_counter() - begin)
            self._save(replace(fitted, model=replace(fitted.model, about=about)))
        if fitted.outcome.diverged:
            _say("training diverged: the model has the best weights before that; a smaller learning rate may help")
        if not fitted.outcome.interrupted:
            _remove(_checkpoint(self.schedule))
            return
        if not fitted.outcome.iterations:
            _say("interrupted in the first iteration: no model is written")
        elif _checkpoint(self.schedule).exists():
            _say("interrupted: the same command with --resume goes on")
        raise typer.Exit(INTERRUPTED)

    def _fit(self) -> Fitted:
        from contextlib import ExitStack

        from rich.console import Console

        from tagweave.adapt.fit import fit_problem, prepare
        from tagweave.adapt.incomplete import treated
        from tagweave.cli.summary import summary
        from tagweave.learning.progress import Watchers, logged, shown

        schedule, dev = self.schedule, self.dev.corpus if self.dev else None
        if _checkpoint(schedule).exists() and not schedule.resume:
            _say(f"{schedule.checkpoint} of an earlier run is overwritten; --resume would go on from it")
        corpora, recipe = treated(
            self.incomplete, [file.corpus for file in self.files], self.recipe, dev, schedule, self.seed
        )
        problem = prepare(corpora, recipe)
        for line in summary(problem, recipe):
            _say(line)
        with ExitStack() as stack:
            watchers = [stack.enter_context(logged(Path(self.log), schedule.resume))] if self.log else []
            watchers.append(stack.enter_context(shown(Console(stderr=True))))
            return fit_problem(problem, recipe, dev, schedule, Watchers(watchers))

    def _about(self, fitted: Fitted, seconds: float) -> dict[str, Any]:
        from datetime import UTC, datetime

        return {
            **fitted.model.about,
            "corpora": [file.about() for file in self.files],
            "dev": self.dev.about() if self.dev else None,
            "incomplete": self.incomplete,
            "seed": self.seed,
            "seconds": round(seconds, 3),
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
        }

    def _save(self, fitted: Fitted) -> None:
        from tagweave.models.storage import save_model

        save_model(fitted.model, self.model)
        score = "" if fitted.outcome.score is None else f", dev {fitted.outcome.score:.4f}"
        _say(f"{self.model}: {fitted.outcome.iterations} iterations{score}")


def _checkpoint(schedule: Schedule) -> Path:
    assert schedule.checkpoint is not None  # noqa: S101 - the schedules of this command have one
    return schedule.checkpoint


def _remove(checkpoint: Path) -> None:
    """Remove a checkpoint, and what is left of one in whose writing a run was killed."""
    for file in checkpoint.parent.glob(f"{escape(checkpoint.name)}*"):
        if file == checkpoint or file.suffix in (".part", ".start"):
            file.unlink()


def _check_writable(model: str) -> None:
    """Refuse before training what could not be saved after it."""
    folder = Path(model).parent
    if not folder.is_dir():
        raise OptionError(f"{model}: found no folder {folder}, expected one to write the model to")
    if Path(model).is_dir():
        raise OptionError(f"{model}: found a folder, expected the name of a file to write the model to")


def _say(line: str) -> None:
    typer.echo(line, err=True)
