"""`tagweave train`: corpora to a model."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from tagweave.cli import options
from tagweave.cli.errors import INTERRUPTED, OptionError, as_option_error
from tagweave.cli.parsing import PARSE, ParserTraining, check_parsing_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tagweave.adapt.fit import Fitted
    from tagweave.cli.methods import Work
    from tagweave.cli.training_files import CorpusFile


def train(
    corpora: options.Corpora,
    model: options.ModelOutput,
    task: options.TaskName = "tag",
    method: options.Method = None,
    source: options.Source = None,
    dev: options.Dev = None,
    weights: options.Weights = None,
    sample: options.Sample = None,
    mapping: options.Mappings = None,
    mapping_minimum: options.MappingMinimum = None,
    mapping_tight: options.MappingTight = False,
    views: options.Views = None,
    prune: options.Prune = None,
    folds: options.Folds = None,
    retrain: options.Retrain = False,
    guide: options.Guide = None,
    rounds: options.Rounds = None,
    predict_self: options.PredictSelfShares = None,
    filter: options.Filter = False,  # noqa: A002
    incomplete: options.Incomplete = "marginal",
    preset: options.Preset = None,
    template: options.TemplateText = None,
    lexicon: options.Lexicons = None,
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
    """Train a model from corpora of one guideline or several; what they leave open stays open.

    A corpus argument is [GUIDELINE=]PATH[#LAYER]. The model labels under the guideline of TRAIN. What a --source of
    another guideline tells is used by one of six methods: coupled (one model of both guidelines), guided (the labels
    of a model of the source are features), merged (as if they were one guideline), subword (taggers of both cut a
    text into pieces, which a model joins to words), transform (the source is relabelled) or iterate (so are both, in
    rounds). Without such a source the method is ordinary. The task parse learns trees from CoNLL-U.

    Ctrl-C keeps the best model so far. After every iteration the state is in MODEL.checkpoint, from which --resume goes
    on; it is removed at the end.
    """
    from tagweave.adapt.incomplete import STRATEGIES
    from tagweave.adapt.recipe import Recipe
    from tagweave.adapt.subword import FOLDS, Stacking
    from tagweave.adapt.task import TASKS, Task
    from tagweave.cli.coupling import coupling_options
    from tagweave.cli.guidelines import METHODS, ORDINARY, training_data
    from tagweave.cli.lexicons import read_lexicons
    from tagweave.cli.methods import Work, check_options, say, usual_sample
    from tagweave.cli.recipes import chosen_templates, corpus_weights, learner_settings, sample_sizes
    from tagweave.cli.training_files import read_corpus, run_identity
    from tagweave.cli.transformation import transformation
    from tagweave.learning.loop import Schedule

    if task == PARSE:
        check_parsing_options(
            {"method": method, "source": source, "sample": sample, "mapping": mapping, "views": views, "guide": guide}
            | {"mapping-minimum": mapping_minimum, "mapping-tight": mapping_tight, "prune": prune is not None}
            | {"folds": folds, "retrain": retrain, "rounds": rounds, "predict-self": predict_self, "filter": filter}
            | {"preset": preset, "incomplete": incomplete != STRATEGIES[0], "lexicon": lexicon, "features": features}
            | {"min-count": min_count != 1, "coding": coding != "BMES"}
        )
        _check_writable(model)
        ParserTraining(
            corpora,
            model,
            dev,
            weights,
            learner,
            settings or (),
            template or (),
            seed,
            threads,
            precision,
            format,
            iterations,
            patience,
            resume,
            log,
        ).run()
        return
    _check_known("task", task, (*TASKS, PARSE))
    _check_known("method", method or ORDINARY, METHODS)
    _check_known("strategy", incomplete, STRATEGIES)
    chosen = learner_settings(learner, settings or (), seed)
    templates = chosen_templates(preset or (), template or (), bool(lexicon))
    lexicons = read_lexicons(lexicon or (), task)
    with as_option_error():
        words = Task(task, coding)
        recipe = Recipe(words, templates, learner, chosen, features, min_count, precision=precision, threads=threads)
        recipe = replace(recipe, guide=guide)
    coupling = coupling_options(mapping, mapping_minimum, mapping_tight, views, task, prune)
    arguments = [*corpora, *(source or ())]
    _check_writable(model)
    each = zip(arguments, corpus_weights(weights, len(arguments)), strict=True)
    files = [read_corpus(argument, task, format, weight) for argument, weight in each]
    data = training_data(files[: len(corpora)], files[len(corpora) :], method)
    check_options(data.method, {"incomplete": incomplete != STRATEGIES[0], "sample": sample, "mapping": mapping})
    check_options(data.method, {"mapping-minimum": mapping_minimum, "mapping-tight": mapping_tight, "views": views})
    check_options(data.method, {"prune": prune is not None, "lexicon": lexicon, "folds": folds, "retrain": retrain})
    check_options(data.method, {"guide": guide, "rounds": rounds, "predict-self": predict_self, "filter": filter})
    transforming = transformation(rounds, predict_self, filter)
    stacking = Stacking(folds or FOLDS, characters=retrain, pieces=retrain, seed=seed)
    dev_file = data.of_target(read_corpus(dev, task, format), files[0]) if dev else None
    sizes = [len(corpus) for corpus in data.corpora]
    recipe = replace(recipe, sample=sample_sizes(sample, learner, sizes, usual_sample(data)))
    how = (
        data.method,
        coupling.to_json(),
        stacking.about(),
        transforming.to_json(),
        incomplete,
        seed,
        *lexicons.digests,
    )
    run = run_identity(data.files, dev_file, recipe.to_json(), *how)
    schedule = Schedule(iterations, patience, Path(f"{model}.checkpoint"), resume, run)
    for note in data.notes:
        say(note)
    dev_corpus = dev_file.corpus if dev_file else None
    work = Work(data, dev_corpus, recipe, coupling, incomplete, seed, schedule, stacking, transforming, log, lexicons)
    _Training(work, dev_file, Path(model)).run()


@dataclass(frozen=True)
class _Training:
    """A training run from loaded corpora to the file of the model."""

    work: Work
    dev: CorpusFile | None
    model: Path

    def run(self) -> None:
        """Train and save.

        Raises:
            typer.Exit: code 130, after an interrupt.
            KeyboardInterrupt: an interrupt before there was anything to go on from.
        """
        begin = time.perf_counter()
        fitted = self._fitted()
        if fitted.outcome.iterations:
            about = self._about(fitted, time.perf_counter() - begin)
            self._save(replace(fitted, model=replace(fitted.model, about=about)))
        if fitted.outcome.diverged:
            _say("training diverged: the model has the best weights before that; a smaller learning rate may help")
        if not fitted.outcome.interrupted:
            self._remove_checkpoints()
            return
        if not fitted.outcome.iterations:
            _say("interrupted in the first iteration: no model is written")
        elif self._checkpoints():
            _say("interrupted: the same command with --resume goes on")
        raise typer.Exit(INTERRUPTED)

    def _fitted(self) -> Fitted:
        if (old := self._checkpoints()) and not self.work.schedule.resume:
            _say(f"{old[0]} of an earlier run is overwritten; --resume would go on from it")
        try:
            return self.work.fitted()
        except KeyboardInterrupt:
            if not self._checkpoints():
                raise
            _say("interrupted before the model itself: the same command with --resume goes on")
            raise typer.Exit(INTERRUPTED) from None

    def _about(self, fitted: Fitted, seconds: float) -> dict[str, Any]:
        from datetime import UTC, datetime

        from tagweave.cli.summary import weights_by_view

        return {
            **fitted.model.about,
            "corpora": [file.about() for file in self.work.data.files],
            "dev": self.dev.about() if self.dev else None,
            **self.work.about(),
            "weights": weights_by_view(fitted.model.structure),
            "seconds": round(seconds, 3),
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
        }

    def _save(self, fitted: Fitted) -> None:
        from tagweave.models.storage import save_model

        save_model(fitted.model, self.model)
        score = "" if fitted.outcome.score is None else f", dev {fitted.outcome.score:.4f}"
        _say(f"{self.model}: {fitted.outcome.iterations} iterations{score}")

    @property
    def _checkpoint(self) -> Path:
        assert self.work.schedule.checkpoint is not None  # noqa: S101 - the schedules of this command have one
        return self.work.schedule.checkpoint

    def _checkpoints(self) -> list[Path]:
        """The checkpoint and those of the parts of a run, as far as they exist."""
        return [file for file in self._left() if file.suffix != ".part"]

    def _remove_checkpoints(self) -> None:
        """Remove them, and what is left of one in whose writing a run was killed."""
        for file in self._left():
            file.unlink()

    def _left(self) -> list[Path]:
        whole, ends = self._checkpoint, (".part", ".start", ".mapping", ".source")
        found = sorted(whole.parent.glob(f"{escape(whole.name)}*"))
        return [file for file in found if file == whole or file.suffix in ends or file.suffix.startswith(".step-")]


def _check_known(what: str, name: str, known: Sequence[str]) -> None:
    if name not in known:
        raise OptionError(f"unknown {what} {name!r}, expected one of {', '.join(known)}")


def _check_writable(model: str) -> None:
    """Refuse before training what could not be saved after it."""
    folder = Path(model).parent
    if not folder.is_dir():
        raise OptionError(f"{model}: found no folder {folder}, expected one to write the model to")
    if Path(model).is_dir():
        raise OptionError(f"{model}: found a folder, expected the name of a file to write the model to")


def _say(line: str) -> None:
    typer.echo(line, err=True)
