"""`tagweave label`: labels a text by labelling functions, each of which is a source of annotation."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import PurePath
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from tagweave.cli import options
from tagweave.cli.errors import OptionError
from tagweave.cli.outputs import check_outputs
from tagweave.cli.printing import say

if TYPE_CHECKING:
    from tagweave.corpus.corpus import Corpus


def label(
    text: Annotated[str, typer.Argument(metavar="FILE", help="The text: a corpus, whose labels are only for scores.")],
    output: options.Output,
    functions: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="Labelling functions, declared in JSON (repeatable)."),
    ] = None,
    python: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODULE.py[:NAME,...]", help="Labelling functions in Python; the file is executed (repeatable)."
        ),
    ] = None,
    report: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write the table on functions to a file, .csv or .json."),
    ] = None,
    cache: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="Keep what functions say, until function or sentence change."),
    ] = None,
    format: options.InputFormat = None,  # noqa: A002
    cluster: options.Cluster = None,
    workers: options.Workers = None,
) -> None:
    """Label a text by functions: lexicons, regular expressions, models, answers of a language model, Python.

    The output is a column file with a column for each function, behind those of the text. A function says nothing where
    it finds nothing, unless it is declared with outside. A table shows how many tokens each function labels (coverage),
    how many of these others label too (overlap) or contradict (conflict), its agreement with the others and, if FILE
    has labels, how often it is right.
    """
    from tagweave.cli.progress import progress_bar
    from tagweave.corpus.formats import columns
    from tagweave.corpus.load import parse_argument
    from tagweave.corpus.text_file import written
    from tagweave.exchange.load import load
    from tagweave.front.functions import apply_functions, functions_in, scored_layer

    if not functions and not python:
        raise OptionError("found no --functions and no --python, expected labelling functions")
    if report is not None and _ending(report) not in _REPORTS:
        raise OptionError(f"found --report {report}, expected a name that ends in .csv or .json")
    modules = [each.rpartition(".py")[0] + ".py" for each in python or ()]
    check_outputs([output, report], [text, *(functions or ()), *modules])
    corpus = load(text, format)
    called = [*(functions or ()), *(each for argument in python or () for each in functions_in(argument))]
    with progress_bar("labelling") as progress:
        labelled = apply_functions(corpus, *called, cluster=cluster, workers=workers, cache=cache, progress=progress)
    with written(output) as stream:
        columns.write(labelled, stream)
    names = [name for name in labelled[0].layers if name not in corpus[0].layers] if len(corpus) else []
    if any(any(each.layers[name]) for each in labelled for name in names):
        own = labelled.guideline if parse_argument(text).layer else scored_layer(corpus, *called)
        if own != labelled.guideline:
            say(f"{text}: labels are compared with its layer {own}, as the models learned it ({text}#LAYER: another)")
        _describe(labelled, names, own, report, output)
    else:
        say("no function found anything: there is no table")
    say(f"{output}: {len(corpus):,} sentences, {len(names)} sources: {', '.join(names)}")


def _describe(labelled: Corpus, names: list[str], own: str, report: str | None, output: str) -> None:
    """Show the table on functions, compared with a layer of the text, and write it to a file."""
    from tagweave.cli.source_table import coverage_table
    from tagweave.corpus.text_file import written
    from tagweave.evaluation.console import table_console
    from tagweave.front.description import compare_sources

    described = compare_sources(
        labelled, names, own if any(any(each.layers.get(own, ())) for each in labelled) else None
    )
    rows = {"all": described["all"], **described["sources"]}
    table_console(stderr=output == "-").print(coverage_table("source", rows, described["tokens"]))
    if report is not None:
        with written(report) as stream:
            _REPORTS[_ending(report)](described, stream)


def _ending(path: str) -> str:
    return PurePath(path).suffix


def _write_csv(described: Mapping[str, Any], stream: IO[str]) -> None:
    """Rows of numbers, a source each."""
    rows = [{"source": name, **numbers} for name, numbers in described["sources"].items()]
    fields = [name for name in rows[0] if name != "labels"]
    writer = csv.DictWriter(stream, fields, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)


def _write_json(described: Mapping[str, Any], stream: IO[str]) -> None:
    stream.write(json.dumps(described, ensure_ascii=False, indent=2) + "\n")


_REPORTS = {".csv": _write_csv, ".json": _write_json}
