"""What commands show on a terminal: tables, and progress on standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from tagweave.cli.console import show
from tagweave.evaluation.tables import add_row, table_console
from tagweave.streams import say

if TYPE_CHECKING:
    from tagweave.sources.reliability import Reliability

_MOST_SOURCES = 30  # in the table
_LISTED = 8  # labels of a source, or sources of a label
_LABELS = 10  # labels of a layer that are listed
_WIDTH = 60  # characters of the column that lists them
_COUNTS = ("coverage", "overlap", "conflict")
_RATES = ("alpha", "accuracy", "precision", "recall")

Item = TypeVar("Item")


def progress_line(*columns: ProgressColumn, console: Console | None = None) -> Progress:
    """Return a line of progress on standard error, which disappears at the end; nothing where that is no terminal."""
    console = console or Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def counted(items: Iterable[Item], what: str, console: Console | None = None) -> Iterator[Item]:
    """Pass items on, and count them on a line of progress."""
    columns = (SpinnerColumn(), TextColumn("{task.completed:,.0f} {task.description}"), TimeElapsedColumn())
    with progress_line(*columns, console=console) as progress:
        yield from progress.track(items, description=what)


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar; yield a function that takes the number of finished items and the total."""
    with progress_line(TextColumn(what), BarColumn(20), MofNCompleteColumn(), TimeRemainingColumn()) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


@contextmanager
def status_line(what: str) -> Iterator[Callable[[str], None]]:
    """Show the state of the work; yield a function that takes each new line."""
    with progress_line(SpinnerColumn(), TextColumn("{task.description}")) as progress:
        task = progress.add_task(what, total=None)
        yield lambda line: progress.update(task, description=f"{what}: {line}")


def share(count: int, total: int) -> str:
    """Return a count with its share of the total."""
    return f"{count:,} ({100 * count / total:.1f} %)" if total else "0"


def coverage_table(what: str, rows: Mapping[str, Mapping[str, Any]], tokens: int, listed: str = "") -> Table:
    """Make a table with a row of numbers for each source or label; `listed` is the key of counts by name."""
    rates = [name for name in _RATES if any(name in row for row in rows.values())]
    table = Table(what, *_COUNTS, *rates)
    if listed:
        table.add_column(listed, overflow="fold")
    for name, row in rows.items():
        cells = [share(row[count], tokens) for count in _COUNTS]
        cells += [f"{row[rate]:.3f}" if row.get(rate) is not None else "" for rate in rates]
        if listed in row:
            most = [f"{key} {count:,.10g}" for key, count in list(row[listed].items())[:_LISTED]]
            cells.append(" ".join(most) + (" ..." if len(row[listed]) > _LISTED else ""))
        add_row(table, name, *cells)
    return table


def show_coverage(comparison: Mapping[str, Any], stderr: bool = False) -> None:
    """Show the numbers of each source."""
    rows = {"all": comparison["all"], **comparison["sources"]}
    table_console(stderr=stderr).print(coverage_table("source", rows, comparison["tokens"]))


def show_corpus(corpus: dict[str, Any]) -> None:
    """Show how much of each layer of a corpus is known, ambiguous and unknown."""
    numbers = (f"{corpus[key]:,} {key}" for key in ("sentences", "tokens", "forms"))
    unit = "characters" if corpus["unit"] == "character" else "words"
    show(f"{corpus['file']}: corpus of {unit}, {', '.join(numbers)}")
    for line in filter(None, (corpus["reading"], *corpus["warnings"])):
        show(f"  {line}")
    if corpus["covered"] is not None:
        show(f"  only these labels or types were annotated: {' '.join(corpus['covered'])}")
    layers = {**corpus["layers"], **corpus["heads"]}
    if not layers:
        show("  no layers: nothing is annotated but the words")
        return
    table = Table("layer", "one label", "ambiguous", "unknown")
    table.add_column("most frequent", max_width=_WIDTH, overflow="fold")
    for name, layer in layers.items():
        frequent = " ".join(f"{label} {count:,}" for label, count in list(layer["labels"].items())[:_LABELS])
        shares = (share(layer[key], corpus["tokens"]) for key in ("full", "ambiguous", "unknown"))
        add_row(table, name, *shares, frequent)
    table_console().print(table)
    for name, layer in corpus["layers"].items():
        if "spans" in layer:
            show(f"  {name}: {_spans(layer, corpus['tokens'])}")
        if "rejected" in layer:
            show(f"  {name}: {layer['rejected']:,} rejected spans")


def _spans(layer: dict[str, Any], tokens: int) -> str:
    by_type = " ".join(f"{label} {count:,}" for label, count in layer["spans"].items())
    line = f"{sum(layer['spans'].values()):,} spans: {by_type}"
    if layer["full"] < tokens:
        return line
    return f"{line}; {100 * (1 - layer['labels'].get('O', 0) / tokens):.1f} % of the tokens are inside spans"


def show_sources(description: dict[str, Any]) -> None:
    """Show who says what in files, and how far sources agree."""
    tokens = description["tokens"]
    unit = "characters" if description["unit"] == "character" else "words"
    numbers = f"{description['sentences']:,} sentences, {tokens:,} tokens"
    show(f"{', '.join(description['files'])}: {len(description['sources'])} sources on a corpus of {unit}, {numbers}")
    by_source = {"all": description["all"], **description["sources"]}
    console = table_console()
    console.print(coverage_table("source", by_source, tokens, "labels"))
    console.print(coverage_table("label", description["labels"], tokens, "sources"))


def show_reliability(reliability: Reliability) -> None:
    """Show the sources with most answers on standard error: how often each is right, and where spans are."""
    from tagweave.sources.reliability import inside_labels

    inside = inside_labels(reliability)
    columns = {"right": reliability.accuracy()}
    if inside is not None:
        columns["right in spans"] = reliability.accuracy(labels=inside)
    answers = reliability.expected.sum(axis=(1, 2))
    table = Table("source", "answers", *columns)
    for k in (-answers).argsort(kind="stable")[:_MOST_SOURCES].tolist():
        cells = ["{:.1f} ({:.1f}-{:.1f})".format(*(100 * numbers[k])) for numbers in columns.values()]
        add_row(table, reliability.sources[k], f"{answers[k]:,.0f}", *cells)
    table_console(stderr=True).print(table)
    if len(answers) > _MOST_SOURCES:
        say(f"the {_MOST_SOURCES} sources with most answers of {len(answers):,}; --report has all")
