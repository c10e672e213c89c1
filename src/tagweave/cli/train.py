"""`tagweave train`, with the options of plans and methods, and `tagweave tune`, which searches for better plans."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.models import ArgumentInfo

from tagweave.cli import options
from tagweave.cli.commands import InPanels
from tagweave.cli.console import INTERRUPTED, OptionError, check_outputs, in_flags, training_callback
from tagweave.cli.options import argument, flag, switch
from tagweave.front.options import TO_LABEL
from tagweave.options import Declared, choices, declared
from tagweave.streams import say
from tagweave.structures import TREE
from tagweave.training.methods import AUTO, METHODS, SINGLE, serving
from tagweave.training.plan import STUDENT_OPTIONS, Plan, Source

_METHOD_OPTIONS = declared({method.name: method.options for method in METHODS.values()})
_PLAN_OPTIONS = declared({"": Plan}, leave_out=("target", "sources", "dev", "start", "method", "settings"))
(_COVERS,) = (declaration for declaration in declared({"": Source}) if declaration.name == "covers")
SETTINGS = frozenset(declaration.name for declaration in (*_PLAN_OPTIONS, *_METHOD_OPTIONS) if not declaration.has_flag)
"""The options that `--set` sets."""


def _described(declarations: Iterable[Declared]) -> dict[str, str]:
    """Return the purposes of options without flags, by their names with a placeholder for the value."""
    return {
        f"{declaration.name}={declaration.about['metavar'] or '|'.join(choices(declaration.kind)) or 'true'}": in_flags(
            declaration.help, settings=lambda: SETTINGS
        )
        for declaration in declarations
        if not declaration.has_flag
    }


class _Command(InPanels):
    usual = (
        "model",
        "dev",
        "task",
        "source",
        "method",
        "incomplete",
        "learner",
        "iterations",
        "preset",
        "start",
        "threads",
        "resume",
        "plan",
    )
    settings = _described((*_PLAN_OPTIONS, *_METHOD_OPTIONS))


_STUDENT_OPTIONS = [declaration for declaration in STUDENT_OPTIONS if declaration.name != "settings"]
_TEXT_OPTIONS = [declaration for declaration in TO_LABEL if declaration.name in ("format", "tokens", "retag")]
Dev = Annotated[str | None, flag("FILE", "Development corpus: the iteration with the best score is kept.")]
Preset = Annotated[
    list[str] | None,
    flag(
        "NAME",
        "Feature templates: the defaults, words, spans and characters, or those of a paper: li-2015,"
        " tsuboi-2008, liu-2014, liu-2014-lexicon, jiang-2015, sun-wan-2012, sun-wan-2012-subword; types, gazetteer,"
        " clusters and vector-clusters, beside others (repeatable).",
        panel="Features",
    ),
]
Setting = Annotated[
    list[str] | None,
    flag("NAME=VALUE", "A setting of the learner, or another option (repeatable).", "--set", panel="Learning"),
]


@options.taking(
    [declaration for declaration in _METHOD_OPTIONS if declaration.has_flag],
    panel=lambda declaration: f"Method {' or '.join(declaration.fields)}",
    settings=SETTINGS,
)
@options.taking([declaration for declaration in _PLAN_OPTIONS if declaration.has_flag], settings=SETTINGS)
def train(
    corpora: Annotated[list[str] | None, argument("[G=]TRAIN", "Training corpora of the target guideline G.")] = None,
    model: Annotated[str | None, flag("MODEL", "The file of the model.", "-o", "--output")] = None,
    dev: Dev = None,
    source: Annotated[
        list[str] | None,
        flag("[G=]FILE", "A training corpus of another guideline, or a further one (repeatable).", panel="Corpora"),
    ] = None,
    start: Annotated[
        str | None,
        flag(
            "MODEL",
            "A model to go on from: it learns from TRAIN, and keeps what it knows. Wherever TRAIN is silent, what the"
            " model believes is evidence.",
            "--from",
            panel="Going on",
        ),
    ] = None,
    replay: Annotated[
        list[str] | None,
        flag(
            "FILE",
            "With --from, text that the model learned from before, of which a sample joins (repeatable).",
            panel="Going on",
        ),
    ] = None,
    method: Annotated[
        str | None,
        flag(
            "|".join(METHODS),
            f"How to combine corpora. {'; '.join(f'{name}: {method.summary}' for name, method in METHODS.items())}."
            f" For parsers: {', '.join(serving(TREE))}. Default: {SINGLE}; with --source of another guideline, and for"
            f" the task segtag, {AUTO}.",
            panel="Corpora",
        ),
    ] = None,
    corpus_weights: Annotated[
        str | None,
        flag("W,W,...", "How often a sentence of each corpus counts, in their order.", "--weights", panel="Corpora"),
    ] = None,
    sample: Annotated[
        str | None,
        flag(
            "N,M,...",
            "How many sentences of each corpus an iteration visits, or all. Default: all of TRAIN and, for coupled"
            " and merged, as many words of each --source.",
            panel="Corpora",
        ),
    ] = None,
    covers: Annotated[list[str] | None, options.info(_COVERS)] = None,
    format: options.InputFormat = None,  # noqa: A002
    preset: Preset = None,
    setting: Setting = None,
    resume: Annotated[bool, switch("Continue from MODEL.checkpoint if there is one.", panel="The run")] = False,
    minutes: Annotated[
        float | None,
        flag(
            "N",
            "The time there is: the best model so far is kept at its end, and what is left out is said. The same seed"
            " then gives the same model only if nothing was cut short.",
            least=0,
            panel="The run",
        ),
    ] = None,
    log: Annotated[str | None, flag("FILE", "Write iterations as JSON lines.", panel="The run")] = None,
    plan: Annotated[
        str | None, flag("FILE", "A training plan in JSON, instead of corpora and options.", panel="Plans")
    ] = None,
    like: Annotated[
        str | None, flag("MODEL", "Train as this model was trained, on the given corpora.", panel="Plans")
    ] = None,
    print_plan: Annotated[
        bool, switch("Write the plan in JSON without training.", "--print-plan", panel="Plans")
    ] = False,
    help_all: options.HelpAll = False,
    **option_values: Any,
) -> None:
    """Train a model on corpora of one guideline or several; missing annotation stays open.

    A corpus argument is [GUIDELINE=]PATH[#LAYER]. The model labels under the guideline of TRAIN. How it uses
    a --source of another guideline is the --method. The task parse learns trees from CoNLL-U.

    Ctrl-C keeps the best model so far. The state of training is saved in MODEL.checkpoint every few seconds, from which
    --resume continues, and removed at the end.
    """
    from tagweave.corpus.files import digest
    from tagweave.corpus.load import check_there
    from tagweave.models.hub import model_file
    from tagweave.structures import STRUCTURES
    from tagweave.training.methods import check_known

    plan_values = options.chosen(option_values, _PLAN_OPTIONS)
    method_values = options.chosen(option_values, _METHOD_OPTIONS)
    learner_texts = _add_settings(setting, plan_values, method_values)
    if "task" in plan_values:
        check_known("task", plan_values["task"], tuple(STRUCTURES))
    sources = _with_replay(source, replay, start)
    check_there(*(corpora or ()), *sources, *((dev,) if dev else ()))
    if model is not None and not print_plan:
        _check_writable(model, log, ())
    from tagweave.training.fit.recipe import learner_settings, template_texts
    from tagweave.training.model_file import job_with_checkpoints, save_trained
    from tagweave.training.plan import LOOKUPS, FileReference, training_sources
    from tagweave.training.resolve import resolve
    from tagweave.training.retraining import like as plan_like
    from tagweave.training.retraining import plan_in
    from tagweave.training.train import train as carry_out

    numbers = options.numbers("weights", corpus_weights) if corpus_weights is not None else None
    sizes = [int(size) if size.isdecimal() else size for size in sample.split(",")] if sample is not None else None
    corpus_sources = training_sources(
        [*(corpora or ()), *sources], numbers, sizes, format, covers, known=len(replay or ())
    )
    corpus_fields: dict[str, Any] = {
        "target": tuple(corpus_sources[: len(corpora or ())]),
        "sources": tuple(corpus_sources[len(corpora or ()) :]),
        "dev": Source.of(dev, format) if dev else None,
        "start": FileReference(start, digest(model_file(start))) if start else None,
    }
    if plan or like:
        _check_alone({**locals(), **plan_values, **method_values}, "plan" if plan else "like")
        chosen = (
            plan_in(plan)
            if plan
            else plan_like(like or "", corpus_fields["target"], corpus_fields["sources"], corpus_fields["dev"], say)
        )
    else:
        plan_values["templates"] = template_texts(
            plan_values.get("task"), preset or (), plan_values.get("templates", ())
        )
        plan_values |= {name: tuple(map(FileReference, plan_values[name])) for name in LOOKUPS if name in plan_values}
        settings = learner_settings(plan_values.get("learner", Plan.learner), learner_texts)
        chosen = Plan(**corpus_fields, **plan_values, method=method, settings=settings, options=method_values)
    if not chosen.target:
        raise OptionError("found no training corpus, expected TRAIN, or --plan")
    if print_plan:
        typer.echo(json.dumps(resolve(chosen, say).to_json(), indent=1, ensure_ascii=False))
        return
    if model is None:
        raise OptionError("found no --output, expected the file of the model")
    inputs = [source.argument for source in chosen.named]
    start_file = (chosen.start,) if chosen.start else ()
    looked_up = [file.path for file in (*chosen.lexicons, *chosen.gazetteers, *chosen.clusters, *start_file)]
    _check_writable(model, log, [*inputs, *looked_up, *method_values.get("mapping", ())])
    training = None
    callback = training_callback(log, resume)
    with job_with_checkpoints(chosen, model, resume, callback, say, minutes) as job:
        training = carry_out(job)
    if training is None or not save_trained(training, model):
        raise typer.Exit(INTERRUPTED)


train.command_class = _Command  # type: ignore[attr-defined]
_BESIDE = (
    "model",
    "threads",
    "resume",
    "minutes",
    "log",
    "print_plan",
    "plan",
    "like",
    "help_all",
)
_CORPORA = ("corpora", "source", "dev", "covers", "format")


def _with_replay(source: list[str] | None, replay: list[str] | None, start: str | None) -> list[str]:
    """Return sources, which are text that is known already where training goes on from a model."""
    if replay and start is None:
        raise OptionError("found --replay without --from, expected a model to go on from")
    if source and start is not None:
        raise OptionError("found --source with --from, expected more of TRAIN, or text that is known already, --replay")
    return [*(source or ()), *(replay or ())]


def _add_settings(
    texts: Sequence[str] | None, plan_values: dict[str, Any], method_values: dict[str, Any]
) -> dict[str, str]:
    """Add options that `--set` sets to those of flags, and return the others: settings of the learner."""
    learner_texts: dict[str, str] = {}
    for name, text in options.pairs("set", texts).items():
        for declarations, values in ((_PLAN_OPTIONS, plan_values), (_METHOD_OPTIONS, method_values)):
            if declaration := next((candidate for candidate in declarations if candidate.name == name), None):
                if declaration.has_flag:
                    raise OptionError(f"found --set {name}, expected {in_flags(f'`{name}={text}`')}")
                values[name] = options.setting(declaration, text)
                break
        else:
            learner_texts[name] = text
    return learner_texts


def _check_alone(values: Mapping[str, Any], name: str) -> None:
    """Raise if an option is set that belongs in the plan."""
    allowed = (*_BESIDE, *(_CORPORA if name == "like" else ()))
    for parameter in inspect.signature(train).parameters.values():
        if parameter.name in values and parameter.name not in allowed and values[parameter.name] != parameter.default:
            raise OptionError(f"found {_spelled(parameter)} with --{name}, expected it in the plan")


def _spelled(parameter: inspect.Parameter) -> str:
    """Return what the command line calls a parameter: the metavariable of an argument, or the flag of an option."""
    info = parameter.annotation.__metadata__[0]
    if isinstance(info, ArgumentInfo):
        return str(info.metavar)
    flags = [name for name in (info.default, *(info.param_decls or ())) if isinstance(name, str)]
    return flags[-1] if flags else f"--{parameter.name.replace('_', '-')}"


def _check_writable(model: str, log: str | None, inputs: Sequence[str | None]) -> None:
    """Refuse before training a path that cannot be written, or that would overwrite an input."""
    folder = Path(os.path.realpath(model)).parent
    if not folder.is_dir():
        raise OptionError(f"{model}: found no folder {folder}, expected one to write the model to")
    if Path(model).is_dir():
        raise OptionError(f"{model}: found a folder, expected the name of a file to write the model to")
    check_outputs([model], (), devices=False)
    check_outputs([model, log], inputs)


class _Distillation(InPanels):
    usual = ("output", "teacher", "with_corpus", "dev", "tokens", "iterations", "preset", "threads")
    settings = _described(_STUDENT_OPTIONS)


@options.taking([declaration for declaration in _STUDENT_OPTIONS if declaration.has_flag], settings=SETTINGS)
@options.taking(_TEXT_OPTIONS)
def distill(
    model: Annotated[str, argument("TEACHER", "A model of `tagweave train`, or hf:OWNER/NAME.")],
    texts: Annotated[list[str], argument("TEXT[#LAYER]", "Raw text; labels that it has are known.")],
    output: Annotated[str, flag("MODEL", "The file of the model.", "-o", "--output")],
    teacher: Annotated[
        list[str] | None, flag("TEACHER", "One more teacher, whose probabilities are averaged with (repeatable).")
    ] = None,
    with_corpus: Annotated[
        list[str] | None,
        flag("[G=]TRAIN", "A corpus with labels of the same guideline, to train on as well (repeatable).", "--with"),
    ] = None,
    dev: Dev = None,
    preset: Preset = None,
    setting: Setting = None,
    help_all: options.HelpAll = False,
    **option_values: Any,
) -> None:
    """Train one fast model on what teachers believe of raw text.

    Teachers give every token the probabilities of its labels; several are averaged, such as models of different seeds.
    The student has the task, the coding and the guideline of the first, and by default its templates, without clusters
    and other files that it looks up.
    """
    from tagweave.corpus.load import check_there
    from tagweave.front.distillation import distill as carry_out
    from tagweave.training.fit.recipe import learner_settings, template_texts

    plan_values = options.chosen(option_values, _STUDENT_OPTIONS)
    method_values: dict[str, Any] = {}
    learner_texts = _add_settings(setting, plan_values, method_values)
    unsuitable = [*(plan_values.keys() - {declaration.name for declaration in _STUDENT_OPTIONS}), *method_values]
    if unsuitable:
        raise OptionError(f"found --set {unsuitable[0]}, expected an option of students")
    teachers = [model, *(teacher or ())]
    gold = with_corpus or []
    check_there(*texts, *gold, *((dev,) if dev else ()))
    _check_writable(output, None, [*teachers, *texts, *gold, dev])
    plan_values["settings"] = learner_settings(plan_values.get("learner", Plan.learner), learner_texts)
    if preset:
        plan_values["templates"] = template_texts("tag", preset, plan_values.get("templates", ()))
    student = carry_out(teachers, texts, gold, dev, **options.chosen(option_values, _TEXT_OPTIONS), **plan_values)
    student.save(output)
    score = "" if student.score is None else f", dev {student.score:.4f}"
    say(f"{output}: a student of {len(teachers)} {'teachers' if teacher else 'teacher'}{score}")


distill.command_class = _Distillation  # type: ignore[attr-defined]


def tune(
    plan: Annotated[str, argument("PLAN", "A training plan in JSON.")],
    output: Annotated[str, flag("FILE", "The best plan, in JSON.", "-o", "--output")],
    search: Annotated[
        list[str] | None,
        flag(
            "NAME=RANGE",
            "What to search: log:LOW:HIGH, float:LOW:HIGH, int:LOW:HIGH, int-log:LOW:HIGH or choice:A,B,... for a"
            " field of the plan, a setting of its learner or an option of its method (repeatable). Default: what suits"
            " the learner and the method.",
        ),
    ] = None,
    trials: Annotated[int, flag("N", "How many trials the storage is to have.", least=1)] = 40,
    seeds: Annotated[
        int,
        flag(
            "N",
            "With how many other seeds the plan and the three best trials are trained at the end, to choose among"
            " them.",
            least=0,
        ),
    ] = 2,
    storage: Annotated[
        str | None,
        flag(
            "FILE|URL",
            "Where trials are kept: a file (SQLite) or the URL of a database. The same command continues, and"
            " processes and machines share it. Default: FILE.study beside the output.",
        ),
    ] = None,
    timeout: Annotated[float | None, flag("SECONDS", "Begin no other trial after this time.")] = None,
    as_json: options.AsJson = False,
) -> None:
    """Search for values of a plan that reach a higher score, and write the best plan.

    Every trial is a training, judged by the development data of the plan, or by folds of TRAIN. The first is the plan
    itself, so the table says what the search has gained. `tagweave train --plan FILE` trains the model of the best
    plan.
    """
    from tagweave.front.training import tune as carry_out
    from tagweave.training.retraining import plan_in

    before = plan_in(plan)
    kept = storage or f"{output}.study"
    inputs = [plan, *(source.argument for source in before.named)]
    check_outputs([output, None if "://" in kept else kept], inputs, devices=False)
    try:
        tuning = carry_out(before, options.pairs("search", search), trials, seeds, kept, timeout, say)
    except KeyboardInterrupt:
        say("interrupted: the same command goes on")
        raise typer.Exit(INTERRUPTED) from None
    tuning.save(output)
    if as_json:
        typer.echo(json.dumps(tuning.to_json(), ensure_ascii=False))
    else:
        tuning.render()
    say(f"{output}: {tuning.gain()}; `tagweave train --plan {output} -o MODEL` trains it")
