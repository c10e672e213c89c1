"""Tables on a console: as wide as the terminal, or without one as wide as the tables; and the tables of a report."""

from __future__ import annotations

import math
import os
from io import StringIO
from typing import TYPE_CHECKING

from tagweave.corpus.characters import printable
from tagweave.evaluation.accuracy import Accuracy
from tagweave.evaluation.attachment import Attachment
from tagweave.evaluation.score import intervals
from tagweave.evaluation.spans import SpanScores

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from tagweave.evaluation.report import Report, Scores
    from tagweave.evaluation.score import Measure, Score, Share
    from tagweave.evaluation.spans import Averages

UNDECIDED = "(undecided)"
_MOST_RELATIONS = 15
_WIDE = 1000  # characters, wider than any table


def table_console(width: int = _WIDE, stderr: bool = False) -> Console:
    """Return standard output or error; in a pipe or a file, `width` characters wide."""
    from rich.console import Console

    class Piped(Console):
        """A console that leaves the end of a broken pipe to the command: Rich would exit with 1."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    console = Piped(stderr=stderr)
    return console if console.is_terminal or "COLUMNS" in os.environ else Piped(width=width, stderr=stderr)


def tables_as_text(render: Callable[[Console], None], width: int = _WIDE) -> str:
    """Return the output of a function that prints on a console."""
    from rich.console import Console as StandardConsole

    stream = StringIO()
    render(StandardConsole(file=stream, width=width, force_jupyter=False, force_terminal=False, color_system=None))
    return stream.getvalue().rstrip("\n")


def show(content: Iterable[Text | Table], console: Console | None = None) -> None:
    """Print tables and the lines between them, by default on standard output."""
    console = console or table_console()
    for each in content:
        console.print(each)


class Printed:
    """A result that prints tables on a console."""

    __slots__ = ()

    def content(self) -> Iterator[Text | Table]:
        """Yield tables, and the lines between them."""
        raise NotImplementedError

    def render(self, console: Console | None = None) -> None:
        """Print the tables, by default on standard output."""
        show(self.content(), console)

    def __str__(self) -> str:
        return tables_as_text(self.render)


def titled_table(title: str, columns: Sequence[str], numbers: Container[int]) -> Table:
    """Return an empty table; columns of numbers, given by position, are aligned right, the others left."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(printable(title)), title_justify="left")
    for position, column in enumerate(columns):
        table.add_column(Text(printable(column)), justify="right" if position in numbers else "left")
    return table


def add_row(table: Table, *cells: str | Iterable[str]) -> None:
    """Add a row of texts, or of several lines each; a label in square brackets is not markup."""
    from rich.text import Text

    lines = ([cell] if isinstance(cell, str) else cell for cell in cells)
    table.add_row(*(Text("\n".join(map(printable, each))) for each in lines))


def tables(report: Report, confusions: int) -> Iterator[Table]:
    """Yield the summary, the comparisons if there are any, and for each system its labels and its confusions."""
    yield _summary(report)
    if report.comparisons:
        columns = ["first", "second", "metric", "second - first", "p (randomisation)", "p (Wilcoxon)"]
        table = titled_table("Significance", columns, range(3, 6))
        for item in report.comparisons:
            difference = f"{100 * item.difference:+.2f}"
            p_values = f"{item.randomisation:.4g}", f"{item.wilcoxon:.4g}"
            add_row(table, item.first, item.second, item.metric, difference, *p_values)
        yield table
    for name, scores in report.systems.items():
        if isinstance(scores, Attachment):
            table = titled_table(f"{name}: relations", ["relation", "UAS", "support"], range(1, 3))
            for relation, share in sorted(scores.relations.items(), key=lambda item: -item[1].total)[:_MOST_RELATIONS]:
                add_row(table, relation, _percent(share.value), str(share.total))
            yield table
            continue
        labelled = scores if isinstance(scores, Accuracy | SpanScores) else scores.tagged
        if labelled is None:
            continue
        what = "type" if isinstance(scores, SpanScores) else "label"
        table = titled_table(f"{name}: {what}s", [what, "precision", "recall", "F", "support"], range(1, 5))
        for label, score in labelled.labels.items():
            add_row(table, label, *map(_percent, (score.precision, score.recall, score.f)), str(score.gold))
        yield table
        if most := labelled.confusions[:confusions]:
            table = titled_table(f"{name}: confusions", ["gold", "system", "count"], range(2, 3))
            for confusion in most:
                system = UNDECIDED if confusion.system is None else confusion.system
                add_row(table, confusion.gold, system, str(confusion.count))
            yield table
    yield from _reliability(report)


def _reliability(report: Report) -> Iterator[Table]:
    """Yield a table of the bins of each model's answers; empty bins are left out."""
    for name, kinds in report.calibrations.items():
        for each in kinds:
            title = f"{name}: reliability of {each.of}, expected calibration error {each.error:.3f}"
            table = titled_table(title, ["probability", each.of, "mean probability", "right"], range(1, 4))
            for bin_ in each.bins:
                if bin_.count:
                    shares = _percent(bin_.probability), _percent(bin_.right)
                    add_row(table, f"{bin_.low:.1f} to {bin_.high:.1f}", f"{bin_.count:,}", *shares)
            yield table


def _summary(report: Report) -> Table:
    against = f" against {report.gold}" if report.gold else ""
    columns = [_with_intervals(_figures(scores), scores.measures()) for scores in report.systems.values()]
    numbers = range(1, len(columns) + 1)
    table = titled_table(f"{report.sentences:,} sentences{against}", ["", *report.systems], numbers)
    for figure in dict.fromkeys(name for column in columns for name in column):
        add_row(table, figure, *(column.get(figure, "-") for column in columns))
    return table


def _with_intervals(figures: Mapping[str, str], measures: Mapping[str, Measure]) -> dict[str, str]:
    """Return figures with the 95 % interval of each that has counts by sentence in the next line."""
    ends, shown = intervals(measures), {}
    for name, text in figures.items():
        shown[name] = text
        if name in ends:
            low, high = map(_percent, ends[name])
            shown[f"{name}, 95 %"] = f"{low} to {high}"
    return shown


def _figures(scores: Scores) -> dict[str, str]:
    if isinstance(scores, Attachment):
        ratios = {"UAS": scores.heads.f, "LAS": scores.arcs.f, "whole trees": scores.trees.value}
        counts = {
            "right heads": scores.heads.right,
            "scored": scores.heads.gold,
            "unscored": scores.unscored,
            "gold trees that cross": scores.crossing,
        }
    elif isinstance(scores, SpanScores):
        ratios = _ratios(scores.spans, "") | _ratios(scores.macro, "macro ") | _ratios(scores.unseen, "unseen ")
        ratios |= {"partial overlap F": scores.partial.f, "type only F": scores.type_only.f}
        ratios["accuracy"] = scores.accuracy.value
        counts = {
            "right": scores.spans.right,
            "gold spans": scores.spans.gold,
            "system spans": scores.spans.system,
            "unscored spans": scores.unscored,
            "ambiguous": scores.ambiguous,
            "undecided tokens": scores.undecided,
        }
    elif isinstance(scores, Accuracy):
        ratios = {"accuracy": scores.tokens.value} | _vocabulary(scores.oov, scores.iv, "accuracy")
        counts = {
            "right": scores.tokens.right,
            "scored": scores.tokens.total,
            "unscored": scores.unscored,
            "ambiguous": scores.ambiguous,
            "undecided": scores.undecided,
        }
    else:
        ratios = _ratios(scores.words, "") | _ratios(scores.tagged.words if scores.tagged else None, "tagged ")
        ratios |= _vocabulary(scores.oov, scores.iv, "recall")
        counts = {"unscored characters": scores.unscored, "undecided": scores.undecided}
    return {name: _percent(value) for name, value in ratios.items()} | {name: str(n) for name, n in counts.items()}


def _ratios(score: Score | Averages | None, prefix: str) -> dict[str, float]:
    if score is None:
        return {}
    return {f"{prefix}precision": score.precision, f"{prefix}recall": score.recall, f"{prefix}F": score.f}


def _vocabulary(oov: Share | None, iv: Share | None, what: str) -> dict[str, float]:
    return {f"{name} {what}": share.value for name, share in (("OOV", oov), ("IV", iv)) if share is not None}


def _percent(value: float) -> str:
    return "-" if math.isnan(value) else f"{100 * value:.2f}"
