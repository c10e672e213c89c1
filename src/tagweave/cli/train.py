"""`tagweave train`: corpora to a model."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from tagweave.cli import options
from tagweave.cli.errors import INTERRUPTED, OptionError, as_option_error
from tagweave.cli.outputs import check_outputs
from tagweave.cli.printing import say

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from tagweave.cli.comparison import Kept
    from tagweave.cli.comparison import Work as WorkOf
    from tagweave.cli.guidelines import TrainingData
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
    drop_columns: options.DropColumns = None,
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
    rounds). Without such a source the method is ordinary. The task parse learns trees from CoNLL-U; its methods are
    ordinary, merged, guided (the usual one for several guidelines), transform and iterate.

    Ctrl-C keeps the best model so far. After every iteration the state is in MODEL.checkpoint, from which --resume goes
    on; it is removed at the end.
    """
    from tagweave.adapt.incomplete import STRATEGIES
    from tagweave.adapt.recipe import Recipe
    from tagweave.adapt.subword import FOLDS, Stacking
    from tagweave.adapt.task import TASKS, Task
    from tagweave.cli.coupling import coupling_options
    from tagweave.cli.guidelines import METHODS, OF_PARSERS, ORDINARY
    from tagweave.cli.lexicons import read_lexicons
    from tagweave.cli.methods import Work, check_options, usual_sample
    from tagweave.cli.parser_methods import ParserWork, check_labelling_options, check_parsing_options
    from tagweave.cli.recipes import chosen_templates, corpus_weights, learner_settings, parser_recipe, sample_sizes
    from tagweave.cli.training_files import PARSE
    from tagweave.cli.transformation import transformation
    from tagweave.learning.loop import Schedule

    is_parser = task == PARSE
    given: dict[str, object] = {"incomplete": incomplete != STRATEGIES[0], "sample": sample, "mapping": mapping}
    given |= {"mapping-minimum": mapping_minimum, "mapping-tight": mapping_tight, "views": views}
    given |= {"prune": prune is not None, "lexicon": lexicon, "folds": folds, "retrain": retrain, "guide": guide}
    _check_known("task", task, (*TASKS, PARSE))
    if is_parser:
        of_words = {"preset": preset, "features": features, "min-count": min_count != 1, "coding": coding != "BMES"}
        check_parsing_options({**given, **of_words})
    _check_known("method", method or ORDINARY, OF_PARSERS if is_parser else METHODS)
    _check_known("strategy", incomplete, STRATEGIES)
    chosen = learner_settings(learner, settings or (), seed)
    if is_parser:
        of_trees = parser_recipe(template or (), learner, chosen, precision, threads, drop_columns)
    else:
        check_labelling_options(drop_columns)
        templates = chosen_templates(preset or (), template or (), bool(lexicon))
        lexicons = read_lexicons(lexicon or (), task)
        with as_option_error():
            recipe = Recipe(Task(task, coding), templates, learner, chosen, features, min_count, precision=precision)
            recipe = replace(recipe, threads=threads, guide=guide)
        coupling = coupling_options(mapping, mapping_minimum, mapping_tight, views, task, prune)
    _check_writable(model, log, [*corpora, *(source or ()), dev, *(lexicon or ()), *(mapping or ())])
    numbers = corpus_weights(weights, len(corpora) + len(source or ()))
    data, dev_file = _read(corpora, source or (), numbers, dev, task, format, method)
    check_options(data.method, {**given, "rounds": rounds, "predict-self": predict_self, "filter": filter})
    transforming = transformation(rounds, predict_self, filter)
    dev_corpus = dev_file.corpus if dev_file else None
    if is_parser:
        work: Work | ParserWork = ParserWork(data, dev_corpus, of_trees, seed, transforming, log, rounds or 1)
    else:
        stacking = Stacking(folds or FOLDS, characters=retrain, pieces=retrain, seed=seed)
        sizes = [len(corpus) for corpus in data.corpora]
        recipe = replace(recipe, sample=sample_sizes(sample, learner, sizes, usual_sample(data)))
        work = Work(
            data, dev_corpus, recipe, coupling, incomplete, seed, stacking, transforming, log, lexicons, rounds or 1
        )
    schedule = Schedule(iterations, patience, Path(f"{model}.checkpoint"), resume, _identity(work, dev_file))
    _Training(replace(work, schedule=schedule), dev_file, Path(model)).run()


def _read(
    corpora: Sequence[str],
    sources: Sequence[str],
    weights: Sequence[float],
    dev: str | None,
    task: str,
    format: str | None,  # noqa: A002
    method: str | None,
) -> tuple[TrainingData, CorpusFile | None]:
    """The training corpora, and development data."""
    from tagweave.cli.guidelines import COUPLED, GUIDED, left_out, training_data
    from tagweave.cli.overlap import overlap_lines
    from tagweave.cli.repeated import without_repeated
    from tagweave.cli.training_files import PARSE, read_corpus

    pairs = zip([*corpora, *sources], weights, strict=True)
    files = [read_corpus(argument, task, format, weight) for argument, weight in pairs]
    data = training_data(files[: len(corpora)], files[len(corpora) :], method, GUIDED if task == PARSE else COUPLED)
    data = without_repeated(data, task)
    dev_file = data.of_target(read_corpus(dev, task, format), files[0]) if dev else None
    all_files = [*data.files, *([dev_file] if dev_file else [])]
    notes = [*data.notes, *left_out(all_files), *(file.note for file in all_files if file.note)]
    if dev_file and task != "segment":
        notes += data.unknown_labels(dev_file)
    return replace(data, notes=(*notes, *overlap_lines(data, task))), dev_file


def _identity(work: WorkOf, dev: CorpusFile | None) -> str:
    from tagweave.cli.training_files import run_identity

    return run_identity(work.data.files, dev, *work.identity())


@dataclass(frozen=True)
class _Training:
    """A training run from loaded corpora to the file of the model."""

    work: WorkOf
    dev: CorpusFile | None
    model: Path

    def run(self) -> None:
        """Train and save.

        Raises:
            typer.Exit: code 130, after an interrupt.
            KeyboardInterrupt: an interrupt before there was anything to go on from.
        """
        begin = time.perf_counter()
        for note in self.work.data.notes:
            say(note)
        kept = self._kept()
        fitted = kept.fitted
        if fitted.outcome.iterations:
            kept.work.save(fitted, self._about(kept, time.perf_counter() - begin), self.model)
        if fitted.outcome.diverged:
            say("training diverged: the model has the best weights before that; a smaller learning rate may help")
        if not fitted.outcome.interrupted:
            self._remove_checkpoints()
            return
        if not fitted.outcome.iterations:
            say("interrupted in the first iteration: no model is written")
        elif self._checkpoints():
            say("interrupted: the same command with --resume goes on")
        raise typer.Exit(INTERRUPTED)

    def _kept(self) -> Kept:
        from tagweave.cli.comparison import better

        if (old := self._checkpoints()) and not self.work.schedule.resume:
            say(f"{old[0]} of an earlier run is overwritten; --resume would go on from it")
        try:
            return better(self.work, say)
        except KeyboardInterrupt:
            if not self._checkpoints():
                raise
            say("interrupted before the model itself: the same command with --resume goes on")
            raise typer.Exit(INTERRUPTED) from None

    def _about(self, kept: Kept, seconds: float) -> dict[str, Any]:
        from datetime import UTC, datetime

        return {
            **kept.fitted.model.about,
            "corpora": [file.about() for file in kept.work.data.files],
            "dev": self.dev.about() if self.dev else None,
            **kept.work.about(kept.fitted),
            **({"dev_scores": kept.scores} if kept.scores else {}),
            "seconds": round(seconds, 3),
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
        }

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
        whole, ends = self._checkpoint, (".part", ".start", ".mapping", ".source", ".plain")
        found = sorted(whole.parent.glob(f"{escape(whole.name)}*"))
        return [file for file in found if file == whole or file.suffix in ends or file.suffix.startswith(".step-")]


def _check_known(what: str, name: str, known: Sequence[str]) -> None:
    if name not in known:
        raise OptionError(f"unknown {what} {name!r}, expected one of {', '.join(known)}")


def _check_writable(model: str, log: str | None, inputs: Sequence[str | None]) -> None:
    """Refuse before training what could not be saved after it, or would be saved over a corpus."""
    folder = Path(model).parent
    if not folder.is_dir():
        raise OptionError(f"{model}: found no folder {folder}, expected one to write the model to")
    if Path(model).is_dir():
        raise OptionError(f"{model}: found a folder, expected the name of a file to write the model to")
    check_outputs([model, log], inputs)
