"""`tagweave train`: trains a model on corpora."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from tagweave.cli import options
from tagweave.cli.errors import INTERRUPTED, OptionError
from tagweave.cli.method_options import Method, user_options, with_method_options
from tagweave.cli.outputs import check_outputs
from tagweave.cli.plan_options import references, setting_values
from tagweave.cli.printing import say
from tagweave.cli.progress import training_callback

if TYPE_CHECKING:
    from collections.abc import Sequence


@with_method_options
def train(
    corpora: options.Corpora = None,
    model: options.ModelOutput = None,
    task: options.TaskName = None,
    method: Method = None,
    source: options.Source = None,
    dev: options.Dev = None,
    weights: options.Weights = None,
    sample: options.Sample = None,
    format: options.InputFormat = None,  # noqa: A002
    preset: options.Preset = None,
    template: options.TemplateText = None,
    lexicon: options.Lexicons = None,
    gazetteer: options.Gazetteers = None,
    clusters: options.Clusters = None,
    features: options.Features = None,
    min_count: options.MinimumCount = 1,
    coding: options.Coding = "",
    soft_labels: options.SoftLabels = "posterior",
    drop_columns: options.DropColumns = None,
    non_projective: options.NonProjectiveTraining = False,
    learner: options.Learner = "adagrad",
    settings: options.Settings = None,
    iterations: options.Iterations = None,
    patience: options.Patience = 5,
    seed: options.Seed = 0,
    average_seeds: options.AverageSeeds = 1,
    threads: options.Threads = 1,
    cluster: options.Cluster = None,
    workers: options.Workers = None,
    precision: options.Precision = "float32",
    resume: options.Resume = False,
    checkpoint: options.Checkpoint = True,
    log: options.Log = None,
    plan: options.Plan = None,
    like: options.Like = None,
    print_plan: options.PrintPlan = False,
    **of_methods: Any,
) -> None:
    """Train a model on corpora of one guideline or several; missing annotation stays open.

    A corpus argument is [GUIDELINE=]PATH[#LAYER]. The model labels under the guideline of TRAIN. How it uses
    a --source of another guideline is the --method. The task parse learns trees from CoNLL-U.

    Ctrl-C keeps the best model so far, and the state in MODEL.checkpoint, from which --resume continues. The state is
    also saved every half a minute, and removed at the end.
    """
    from tagweave.corpus.load import check_there
    from tagweave.training.method_options import check_known
    from tagweave.training.resolve import STRUCTURES

    check_known("task", task or "tag", tuple(STRUCTURES))
    check_there(*(corpora or ()), *(source or ()), *((dev,) if dev else ()))
    from tagweave.front.plans import resolve, train_plan
    from tagweave.training.again import like as plan_like
    from tagweave.training.again import plan_in
    from tagweave.training.guess import guessed_task
    from tagweave.training.plan import FileReference, TrainingPlan
    from tagweave.training.plan_parts import learner_settings, template_texts

    own = references(corpora or (), source or (), dev, format, weights, sample)
    if plan or like:
        _check_alone(locals(), of_methods, "plan" if plan else "like")
        chosen = plan_in(plan) if plan else plan_like(like or "", *own.values())
    else:
        task = task or (guessed_task(corpora[0], format, say) if corpora else "tag")
        chosen = TrainingPlan(
            **own,
            task=task,
            coding=coding,
            templates=template_texts(task, preset or (), template or ()),
            lexicons=tuple(FileReference(path) for path in lexicon or ()),
            gazetteers=tuple(FileReference(path) for path in gazetteer or ()),
            clusters=() if clusters is None else (FileReference(clusters),),
            weights=features,
            minimum_count=min_count,
            soft_labels=soft_labels,
            drop_columns=drop_columns,
            non_projective=non_projective,
            learner=learner,
            settings=learner_settings(learner, setting_values(settings or ())),
            precision=precision,
            method=method,
            options=user_options(of_methods),
            iterations=iterations,
            patience=patience,
            seed=seed,
            average_seeds=average_seeds,
            threads=threads,
        )
    if not chosen.target:
        raise OptionError("found no training corpus, expected TRAIN, or --plan")
    if print_plan:
        typer.echo(json.dumps(resolve(chosen, say).to_json(), indent=1, ensure_ascii=False))
        return
    if resume and not checkpoint:
        raise OptionError("found --resume with --no-checkpoint, expected one of them")
    if model is None:
        raise OptionError("found no --output, expected the file of the model")
    inputs = [each.argument for each in (*chosen.corpora, chosen.dev) if each]
    mapping = of_methods.get("mapping") or ()
    looked_up = [each.path for each in (*chosen.lexicons, *chosen.gazetteers, *chosen.clusters)]
    _check_writable(model, log, [*inputs, *looked_up, *mapping])
    if not train_plan(chosen, model, resume, training_callback(log, resume), say, cluster, workers, checkpoint):
        raise typer.Exit(INTERRUPTED)


_BESIDE = ("model", "threads", "cluster", "workers", "resume", "checkpoint", "log", "print_plan")
_CORPORA = ("corpora", "source", "dev", "format")


def _check_alone(values: Mapping[str, Any], of_methods: Mapping[str, Any], name: str) -> None:
    """Raise if an option is set that belongs in the plan."""
    free = (*_BESIDE, "plan", "like", *(_CORPORA if name == "like" else ()))
    usual = {each.name: each.default for each in inspect.signature(train).parameters.values()}
    for option, value in {**values, **of_methods}.items():
        if option in usual and option not in free and value != usual[option]:
            raise OptionError(f"found --{option.replace('_', '-')} with --{name}, expected it in the plan")


def _check_writable(model: str, log: str | None, inputs: Sequence[str | None]) -> None:
    """Refuse before training a path that cannot be written, or that would overwrite an input."""
    folder = Path(model).parent
    if not folder.is_dir():
        raise OptionError(f"{model}: found no folder {folder}, expected one to write the model to")
    if Path(model).is_dir():
        raise OptionError(f"{model}: found a folder, expected the name of a file to write the model to")
    check_outputs([model, log], inputs)
