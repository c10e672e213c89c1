"""`tagweave aggregate`: combines what many sources say of a text."""

from __future__ import annotations

from dataclasses import fields
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tagweave.cli import options
from tagweave.cli.errors import OptionError
from tagweave.cli.outputs import check_outputs
from tagweave.cli.printing import say
from tagweave.corpus.printable import printable
from tagweave.sources.registry import AGGREGATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tagweave.front.aggregation import Aggregated

_SHOWN = 30  # sources in the table
_TRUTH = {"true": True, "false": False}


def aggregate(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE", help="Corpora in which sources are columns or layers, or a file for each."),
    ],
    output: options.Output,
    sources: Annotated[
        str,
        typer.Option(
            metavar="COLUMNS", help="Which columns are sources: 3:, 2,4:6, names; or files: every FILE is one."
        ),
    ] = "files",
    method: Annotated[str, typer.Option(metavar="|".join(AGGREGATIONS), help="How to combine what they say.")] = "bsc",
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="An option of the method (repeatable)."),
    ] = None,
    known: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SOURCE=SHARE", help="How often a source is right, where that is known; of gold, 1 (repeatable)."
        ),
    ] = None,
    hard: Annotated[bool, typer.Option("--hard", help="The best label alone, without probabilities.")] = False,
    report: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the reliability of every source to a file, .csv or .json.")
    ] = None,
    plot: Annotated[str | None, typer.Option(metavar="FILE", help="Draw the reliability of sources as PNG.")] = None,
    ask: Annotated[
        int, typer.Option(min=0, metavar="N", help="List the N sentences that deserve another annotator most.")
    ] = 0,
    seed: options.Seed = 0,
    format: options.InputFormat = None,  # noqa: A002
    output_format: options.OutputFormat = None,
) -> None:
    """Combine what many sources say of a text into labels with probabilities, and tell how reliable each source is.

    Methods: majority; dawid-skene, a confusion matrix for every source; mace, who either knows or guesses; hmm, with
    transitions between true labels; bsc, with confusion matrices that depend on what a source said before.
    """
    from tagweave.cli.progress import status_line
    from tagweave.corpus.load import implied_format, save
    from tagweave.corpus.text_file import written
    from tagweave.front.aggregation import aggregate as combine
    from tagweave.sources.report import write_csv, write_json

    if report is not None and PurePath(report).suffix not in (".csv", ".json"):
        raise OptionError(f"found --report {report}, expected a name that ends in .csv or .json")
    check_outputs([output, report, plot], files)
    own = _settings(method, settings or ())
    reliabilities = {name: _number(name, value, float) for name, value in map(_pair, known or ())}
    with status_line("aggregating") as tell:
        found = combine(
            files, sources, method, options=own, known=reliabilities, hard=hard, seed=seed, format=format, tell=tell
        )
    save(found.corpus, output, output_format or implied_format(output, files[0], format))
    _show_sources(found)
    if found.note:
        say(found.note)
    for line in _question_lines(found, ask):
        say(line)
    if report is not None:
        with written(report) as stream:
            (write_csv if report.endswith(".csv") else write_json)(found.result.reliability, stream)
    if plot is not None:
        found.plot(plot)
    say(f"{output}: {len(found.corpus):,} sentences, {len(found.result.reliability.sources):,} sources")


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.rpartition("=")
    if not equals:
        raise OptionError(f"found {text!r}, expected NAME=VALUE")
    return name, value


def _settings(method: str, given: Sequence[str]) -> dict[str, Any]:
    """The options of a method as numbers and truth values.

    Raises:
        OptionError: an unknown method or option, or a value of another type.
    """
    if method not in AGGREGATIONS:
        raise OptionError(f"found --method {method}, expected {', '.join(AGGREGATIONS)}")
    types = {each.name: type(each.default) for each in fields(AGGREGATIONS[method].options)}
    found = dict(map(_pair, given))
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
    """The sources with most answers on standard error: how often each is right, and where spans are."""
    from rich.table import Table
    from rich.text import Text

    from tagweave.evaluation.console import table_console
    from tagweave.sources.report import inside_labels

    reliability = found.result.reliability
    inside = inside_labels(reliability)
    columns = {"right": reliability.accuracy()}
    if inside is not None:
        columns["right in spans"] = reliability.accuracy(labels=inside)
    answers = reliability.expected.sum(axis=(1, 2))
    table = Table("source", "answers", *columns)
    for k in (-answers).argsort(kind="stable")[:_SHOWN].tolist():
        cells = [
            f"{100 * right:.1f} ({100 * low:.1f}-{100 * high:.1f})"
            for right, low, high in (own[k] for own in columns.values())
        ]
        table.add_row(*(Text(printable(each)) for each in (reliability.sources[k], f"{answers[k]:,.0f}", *cells)))
    table_console(stderr=True).print(table)
    if len(answers) > _SHOWN:
        say(f"the {_SHOWN} sources with most answers of {len(answers):,}; --report has all")


def _question_lines(found: Aggregated, count: int) -> Iterator[str]:
    """The sentences that deserve another annotator: where they are, and the token of which least is known."""
    for question in found.questions(count) if count else ():
        sentence = found.corpus[question.sentence]
        path, line = sentence.location
        label = sentence.layers[found.corpus.guideline][question.position]
        told = "|".join(label) if label else "nobody labelled it"
        yield f"ask {path}:{line}: {question.gain:.2f} nats; {sentence.forms[question.position]!r} may be {told}"
