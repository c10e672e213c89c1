"""`tagweave train`: trains a model on corpora.

Converts command-line options to parts of a training plan.

Command-line options of the training methods, made from their fields, with a help panel for each method.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_type_hints

import typer
from typer.core import TyperArgument, TyperCommand

from tagweave.cli import options
from tagweave.cli.console import INTERRUPTED, OptionError, as_option_error, check_outputs, in_flags, training_callback
from tagweave.streams.notes import say
from tagweave.structures import CHAIN, TREE
from tagweave.training.methods import METHODS, SINGLE, serving, usual
from tagweave.training.options import choices


def setting_values(texts: Sequence[str]) -> dict[str, str]:
    """Names and values of `NAME=VALUE` texts.

    Raises:
        OptionError: a text without `=`.
    """
    values: dict[str, str] = {}
    for text in texts:
        name, equals, values[name] = text.partition("=")
        if not equals:
            raise OptionError(f"found --set {text}, expected NAME=VALUE")
    return values


def corpus_weights(text: str | None, corpora: int) -> list[float]:
    """The weights of corpora from a text like `1,0.5`; by default 1 each.

    Raises:
        OptionError: the wrong number of weights, or one that is not a positive number.
    """
    if text is None:
        return [1.0] * corpora
    with as_option_error():
        weights = [float(part) for part in text.split(",")]
    if len(weights) != corpora or not all(0 < weight < float("inf") for weight in weights):
        raise OptionError(f"found --weights {text}, expected {corpora} positive numbers, one for each training corpus")
    return weights


def sample_sizes(text: str | None, corpora: int) -> list[int | Literal["all"] | None]:
    """How many sentences of each corpus an iteration visits, from a text like `5000,all`.

    Raises:
        OptionError: the wrong number of values, or one that is neither `all` nor a positive whole number.
    """
    if text is None:
        return [None] * corpora
    parts = text.split(",")
    if len(parts) != corpora or not all(part == "all" or re.fullmatch("[1-9][0-9]{0,8}", part) for part in parts):
        expected = f"{corpora} whole numbers or 'all', one for each training corpus"
        raise OptionError(f"found --sample {text}, expected {expected}")
    return ["all" if part == "all" else int(part) for part in parts]


def references(
    corpora: Sequence[str],
    sources: Sequence[str],
    dev: str | None,
    format: str | None,  # noqa: A002
    weights: str | None = None,
    sample: str | None = None,
) -> dict[str, Any]:
    """The fields of a plan that name corpora. Raises as `corpus_weights`, `sample_sizes`."""
    from tagweave.training.plan import CorpusReference

    count = len(corpora) + len(sources)
    numbers, sizes = corpus_weights(weights, count), sample_sizes(sample, count)
    rows = zip([*corpora, *sources], numbers, sizes, strict=True)
    corpus_references = [replace(CorpusReference.of(each, format, weight), sample=size) for each, weight, size in rows]
    return {
        "target": tuple(corpus_references[: len(corpora)]),
        "sources": tuple(corpus_references[len(corpora) :]),
        "dev": CorpusReference.of(dev, format) if dev else None,
    }


_USUAL = "Options"

Method = Annotated[
    str | None,
    typer.Option(
        metavar="|".join(METHODS),
        help=f"How to combine corpora. {'; '.join(f'{each.name}: {each.summary}' for each in METHODS.values())}."
        f" For parsers: {', '.join(serving(TREE))}. Default: {SINGLE}, and with a --source of another guideline"
        f" {usual(CHAIN)}, for parsers {usual(TREE)}.",
        rich_help_panel="Corpora",
    ),
]


class InPanels(TyperCommand):
    """A command whose help lists options under the titles of their panels."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write a section for each panel, in order."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            usual = "Arguments" if isinstance(param, TyperArgument) else _USUAL
            if record := param.get_help_record(ctx):
                panels.setdefault(getattr(param, "rich_help_panel", None) or usual, []).append(record)
        for title in sorted(panels, key=lambda title: title == _USUAL):  # --help comes last
            with formatter.section(title):
                formatter.write_dl(panels[title])


def with_method_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command a parameter for every option of every method; they arrive as keyword arguments."""
    signature = inspect.signature(command, eval_str=True)
    own = [each for each in signature.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    about: Any = command
    about.__signature__, about.command_class = signature.replace(parameters=[*own, *_parameters()]), InPanels
    return command


def user_options(values: Mapping[str, Any]) -> dict[str, Any]:
    """The options of methods that the user set.

    Raises:
        OptionError: a value that should be a list of numbers and is not.
    """
    nonempty = {name: value for name, value in values.items() if value or (value == 0 and value is not False)}
    return {
        name: _numbers(name, value) if _KINDS[name] == tuple[float, ...] else value for name, value in nonempty.items()
    }


def _numbers(name: str, text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise OptionError(f"found --{_dashed(name)} {text}, expected numbers, as in 0,0.3") from None


def _kinds() -> dict[str, Any]:
    """The type of every option: methods that share a name share its type."""
    return {name: kind for method in METHODS.values() for name, kind in get_type_hints(method.options).items()}


_KINDS = _kinds()


def _parameters() -> list[inspect.Parameter]:
    methods: dict[str, dict[str, Field[Any]]] = {}
    for method in METHODS.values():
        for each in fields(method.options):
            methods.setdefault(each.name, {})[method.name] = each
    return [_parameter(name, own) for name, own in methods.items()]


def _parameter(name: str, own: Mapping[str, Field[Any]]) -> inspect.Parameter:
    first, kind = next(iter(own.values())), _KINDS[name]
    flags = [f"--{_dashed(name)}"]
    metavar = first.metadata["metavar"] or "|".join(choices(kind))
    least, most = first.metadata["least"], first.metadata["most"]
    about: dict[str, Any] = {"help": _help(own), "rich_help_panel": f"Method {' or '.join(own)}"}
    if kind is not bool:
        about |= {"metavar": metavar, "min": least, "max": most}
    annotation: Any = Annotated.__class_getitem__((_typed(kind), typer.Option(*flags, **about)))  # type: ignore[attr-defined]
    default = False if kind is bool else None
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _typed(kind: Any) -> Any:
    """The type of the option on the command line; it is `None` where it is not given."""
    if kind is bool:
        return bool
    if kind == tuple[str, ...]:
        return list[str] | None
    if str in get_args(kind):
        return str | None
    plain = [each for each in (get_args(kind) if type(None) in get_args(kind) else (kind,)) if each in (int, float)]
    return (plain[0] | None) if plain else str | None


def _help(own: Mapping[str, Field[Any]]) -> str:
    """The help and the default of an option, by method if they differ."""
    texts = {method: _with_default(each) for method, each in own.items()}
    if len(set(texts.values())) == 1:
        return next(iter(texts.values()))
    return " ".join(f"{method.capitalize()}: {text}" for method, text in texts.items())


def _with_default(each: Field[Any]) -> str:
    text, default = in_flags(str(each.metadata["help"])), each.default
    if default in (None, False, ()) or "Default:" in text:
        return text
    shown = ",".join(f"{value:g}" for value in default) if isinstance(default, tuple) else default
    return f"{text} Default: {shown}."


def _dashed(name: str) -> str:
    return name.replace("_", "-")


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
    from tagweave.front.training import job_with_checkpoints, resolve, save_trained
    from tagweave.training import fit
    from tagweave.training.plan import FileReference, TrainingPlan
    from tagweave.training.plan_parts import learner_settings, template_texts
    from tagweave.training.retraining import like as plan_like
    from tagweave.training.retraining import plan_in
    from tagweave.training.task import guessed_task

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
    training, callback = None, training_callback(log, resume)
    with job_with_checkpoints(chosen, model, resume, callback, say, cluster, workers, checkpoint) as job:
        training = fit.train(job)
    if training is None or not save_trained(training, model):
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
