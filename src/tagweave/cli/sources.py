"""`tagweave label` and `tagweave aggregate`: functions as sources of annotation, and what many sources say together."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any

from tagweave.cli import options
from tagweave.cli.console import OptionError, add_row, check_outputs, share
from tagweave.cli.options import argument, flag, switch
from tagweave.sources.options import AGGREGATIONS, DEFAULT
from tagweave.streams import say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.table import Table

    from tagweave.corpus.corpus import Corpus
    from tagweave.front.sources import Aggregated

_LISTED = 8  # labels of a source, or sources of a label
_COUNTS = ("coverage", "overlap", "conflict")
_RATES = ("alpha", "accuracy", "precision", "recall")


def coverage_table(what: str, rows: Mapping[str, Mapping[str, Any]], tokens: int, listed: str = "") -> Table:
    """Make a table with a row of numbers for each source or label; `listed` is the key of counts by name."""
    from rich.table import Table

    rates = [name for name in _RATES if any(name in row for row in rows.values())]
    table = Table(what, *_COUNTS, *rates)
    if listed:
        table.add_column(listed, overflow="fold")
    for name, row in rows.items():
        cells = [share(row[each], tokens) for each in _COUNTS]
        cells += [f"{row[each]:.3f}" if row.get(each) is not None else "" for each in rates]
        if listed in row:
            most = [f"{other} {count:,.10g}" for other, count in list(row[listed].items())[:_LISTED]]
            cells.append(" ".join(most) + (" ..." if len(row[listed]) > _LISTED else ""))
        add_row(table, name, *cells)
    return table


def label(
    text: Annotated[str, argument("FILE", "The text: a corpus, whose labels are only for scores.")],
    output: options.Output,
    functions: Annotated[list[str] | None, flag("FILE", "Labelling functions, declared in JSON (repeatable).")] = None,
    python: Annotated[
        list[str] | None,
        flag("MODULE.py[:NAME,...]", "Labelling functions in Python; the file is executed (repeatable)."),
    ] = None,
    report: Annotated[str | None, flag("FILE", "Write the table on functions to a file, .csv or .json.")] = None,
    cache: Annotated[str | None, flag("FOLDER", "Keep what functions say, until function or sentence change.")] = None,
    format: options.InputFormat = None,  # noqa: A002
    processes: Annotated[int, flag("N", "How many processes call functions.", least=1)] = 1,
) -> None:
    """Label a text by functions: lexicons, regular expressions, models, answers of a language model, Python.

    The output is a column file with a column for each function, after the columns of the text. A function says nothing
    where it finds nothing, unless it is declared with outside. A table shows how many tokens each function labels
    (coverage), how many of these others label too (overlap) or contradict (conflict), its agreement with the others
    and, if FILE has labels, how often it is right.
    """
    from tagweave.cli.console import progress_bar
    from tagweave.corpus.files import written
    from tagweave.corpus.formats import columns
    from tagweave.corpus.load import parse_argument
    from tagweave.evaluation.tables import table_console
    from tagweave.exchange.load import load
    from tagweave.front.sources import apply_functions, scored_layer
    from tagweave.sources.functions import load_functions

    if not functions and not python:
        raise OptionError("found no --functions and no --python, expected labelling functions")
    _check_report(report)
    modules = [each.rpartition(".py")[0] + ".py" for each in python or ()]
    check_outputs([output, report], [text, *(functions or ()), *modules])
    corpus = load(text, format)
    called = [*(functions or ()), *(each for argument in python or () for each in load_functions(argument))]
    with progress_bar("labelling") as progress:
        labelled = apply_functions(corpus, *called, processes=processes, cache=cache, progress=progress)
    names = [name for name in labelled[0].layers if name not in corpus[0].layers] if len(corpus) else []
    described = None
    if any(any(each.layers[name]) for each in labelled for name in names):
        own = labelled.guideline if parse_argument(text).layer else scored_layer(corpus, *called)
        if own != labelled.guideline:
            say(f"{text}: labels are compared with its layer {own}, as the models learned it ({text}#LAYER: another)")
        described = _compared(labelled, names, own, report)
    with written(output) as stream:
        columns.write(labelled, stream)
    if described is None:
        say("no function found anything: there is no table")
    else:
        rows = {"all": described["all"], **described["sources"]}
        table_console(stderr=output == "-").print(coverage_table("source", rows, described["tokens"]))
    say(f"{output}: {len(corpus):,} sentences, {len(names)} sources: {', '.join(names)}")


def _compared(labelled: Corpus, names: list[str], own: str, report: str | None) -> dict[str, Any]:
    """Describe functions, compared with a layer of the text, and write that to a file."""
    from tagweave.corpus.files import written
    from tagweave.front.description import compare_sources

    described = compare_sources(
        labelled, names, own if any(any(each.layers.get(own, ())) for each in labelled) else None
    )
    if report is None:
        return described
    with written(report) as stream:
        if report.endswith(".json"):
            stream.write(json.dumps(described, ensure_ascii=False, indent=2) + "\n")
            return described
        numbers = [{"source": name, **own} for name, own in described["sources"].items()]
        fields = [name for name in numbers[0] if name != "labels"]
        writer = csv.DictWriter(stream, fields, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(numbers)
    return described


def _check_report(path: str | None) -> None:
    if path is not None and PurePath(path).suffix not in (".csv", ".json"):
        raise OptionError(f"found --report {path}, expected a name that ends in .csv or .json")


_MOST_SOURCES = 30  # in the table
_TRUTH = {"true": True, "false": False}


def aggregate(
    files: Annotated[
        list[str], argument("FILE", "Corpora in which sources are columns or layers, or a file for each.")
    ],
    output: options.Output,
    sources: Annotated[
        str | None,
        flag(
            "COLUMNS",
            "Which columns are sources: 3:, 2,4:6, names; or files: every FILE is one. Default: every FILE; of a single"
            " one, the layers with labels like those of the last.",
        ),
    ] = None,
    method: Annotated[
        str | None,
        flag("|".join(AGGREGATIONS), f"How to combine what they say. Default: {DEFAULT}, or the best by --dev."),
    ] = None,
    dev: Annotated[
        str | None,
        flag("GOLD", f"Gold labels of some sentences: a method that is better there than {DEFAULT} is kept."),
    ] = None,
    settings: Annotated[list[str] | None, flag("NAME=VALUE", "An option of the method (repeatable).", "--set")] = None,
    known: Annotated[
        list[str] | None,
        flag("SOURCE=SHARE", "How often a source is right, where that is known; of gold, 1 (repeatable)."),
    ] = None,
    hard: Annotated[bool, switch("The best label alone, without probabilities.", "--hard")] = False,
    report: Annotated[
        str | None, flag("FILE", "Write the reliability of every source to a file, .csv or .json.")
    ] = None,
    plot: Annotated[str | None, flag("FILE", "Draw the reliability of sources as PNG.")] = None,
    ask: Annotated[int, flag("N", "List the N sentences that deserve another annotator most.", least=0)] = 0,
    seed: options.Seed = 0,
    format: options.InputFormat = None,  # noqa: A002
    output_format: options.OutputFormat = None,
) -> None:
    """Combine what many sources say of a text into labels with probabilities, and tell how reliable each source is.

    Methods: majority; dawid-skene, a confusion matrix for every source; mace, who either knows or guesses; hmm, with
    transitions between true labels; bsc, with confusion matrices that depend on what a source said before; blend,
    dawid-skene, under priors that grow with the answers, bsc, which goes on from it, and the mean of both.
    """
    from tagweave.cli.console import status_line
    from tagweave.corpus.files import written
    from tagweave.corpus.load import implied_format, save
    from tagweave.front.sources import aggregate as combine
    from tagweave.sources.reliability import write_csv, write_json

    _check_report(report)
    check_outputs([output, report, plot], [*files, dev])
    own = _settings(method or DEFAULT, options.pairs("set", settings))
    reliabilities = {name: _number(name, value, float) for name, value in options.pairs("known", known).items()}
    with status_line("aggregating") as tell:
        found = combine(
            files,
            sources,
            method,
            dev=dev,
            options=own,
            known=reliabilities,
            hard=hard,
            seed=seed,
            format=format,
            tell=tell,
        )
    if report is not None:
        with written(report) as stream:
            (write_csv if report.endswith(".csv") else write_json)(found.result.reliability, stream)
    if plot is not None:
        found.plot(plot)
    save(found.corpus, output, output_format or implied_format(output, files[0], format))
    _show_sources(found)
    if found.note:
        say(found.note)
    for line in _question_lines(found, ask):
        say(line)
    say(f"{output}: {len(found.corpus):,} sentences, {len(found.result.reliability.sources):,} sources")


def _settings(method: str, found: Mapping[str, str]) -> dict[str, Any]:
    """Read the options of a method as numbers and truth values."""
    if method not in AGGREGATIONS:
        raise OptionError(f"found --method {method}, expected {', '.join(AGGREGATIONS)}")
    types = {each.name: type(each.default) for each in fields(AGGREGATIONS[method].options)}
    if strange := sorted(found.keys() - types.keys()):
        raise OptionError(f"found --set {strange[0]}, expected an option of {method}: {', '.join(types)}")
    return {name: _number(name, value, types[name]) for name, value in found.items()}


def _number(name: str, value: str, kind: type) -> float | bool:
    if kind is bool and value in _TRUTH:
        return _TRUTH[value]
    try:
        return int(value) if kind is int else float(value)
    except ValueError:
        raise OptionError(f"found {name}={value}, expected a number") from None


def _show_sources(found: Aggregated) -> None:
    """Show the sources with most answers on standard error: how often each is right, and where spans are."""
    from rich.table import Table

    from tagweave.evaluation.tables import table_console
    from tagweave.sources.reliability import inside_labels

    reliability = found.result.reliability
    inside = inside_labels(reliability)
    columns = {"right": reliability.accuracy()}
    if inside is not None:
        columns["right in spans"] = reliability.accuracy(labels=inside)
    answers = reliability.expected.sum(axis=(1, 2))
    table = Table("source", "answers", *columns)
    for k in (-answers).argsort(kind="stable")[:_MOST_SOURCES].tolist():
        cells = ["{:.1f} ({:.1f}-{:.1f})".format(*(100 * own[k])) for own in columns.values()]
        add_row(table, reliability.sources[k], f"{answers[k]:,.0f}", *cells)
    table_console(stderr=True).print(table)
    if len(answers) > _MOST_SOURCES:
        say(f"the {_MOST_SOURCES} sources with most answers of {len(answers):,}; --report has all")


def _question_lines(found: Aggregated, count: int) -> Iterator[str]:
    """The sentences that deserve another annotator: where they are, and the least certain token."""
    for question in found.questions(count) if count else ():
        sentence = found.corpus[question.sentence]
        path, line = sentence.location
        label = sentence.layers[found.corpus.guideline][question.position]
        told = "|".join(label) if label else "nobody labelled it"
        where = f"{path}:{line}: {question.gain:.2f} nats a token"
        yield f"ask {where}; {sentence.forms[question.position]!r} may be {told}"
