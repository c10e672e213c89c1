"""The tables of a report, for a terminal."""

from __future__ import annotations

import math
from itertools import chain
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from tagweave.corpus.characters import printable
from tagweave.evaluation.accuracy import Accuracy, Confusion
from tagweave.evaluation.attachment import Attachment
from tagweave.evaluation.spans import SpanScores

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tagweave.evaluation.report import Comparison, Report, Scores
    from tagweave.evaluation.score import Score, Share
    from tagweave.evaluation.spans import Averages
    from tagweave.evaluation.words import WordScores

UNDECIDED = "(undecided)"
_MOST_RELATIONS = 15


def tables(report: Report, confusions: int) -> Iterator[Table]:
    """The summary, the comparisons if there are any, and for each system its labels and most frequent confusions."""
    yield _summary(report)
    if report.comparisons:
        yield _comparisons(report.comparisons)
    for name, scores in report.systems.items():
        if isinstance(scores, Attachment):
            yield _relations(name, scores.relations)
            continue
        labelled = scores if isinstance(scores, Accuracy | SpanScores) else scores.tagged
        if labelled is None:
            continue
        yield _labels(name, labelled.labels, "type" if isinstance(scores, SpanScores) else "label")
        if labelled.confusions[:confusions]:
            yield _confusions(name, labelled.confusions[:confusions])


def _summary(report: Report) -> Table:
    """A table with a column for each system: there are fewer systems than figures, so it fits a narrow terminal."""
    against = f" against {report.gold}" if report.gold else ""
    columns = [_cells(scores) for scores in report.systems.values()]
    table = _table(f"{report.sentences:,} sentences{against}", ["", *map(escape, report.systems)], left=1)
    for figure in dict.fromkeys(chain.from_iterable(columns)):
        _add(table, (figure, *(column.get(figure, "-") for column in columns)))
    return table


def _cells(scores: Scores) -> dict[str, str]:
    if isinstance(scores, Attachment):
        return _attachment_cells(scores)
    if isinstance(scores, SpanScores):
        return _span_cells(scores)
    return _accuracy_cells(scores) if isinstance(scores, Accuracy) else _word_cells(scores)


def _attachment_cells(scores: Attachment) -> dict[str, str]:
    ratios = {"UAS": scores.heads.f, "LAS": scores.arcs.f, "whole trees": scores.trees.value}
    cells = {name: _percent(value) for name, value in ratios.items()}
    counts = {
        "right heads": scores.heads.right,
        "scored": scores.heads.gold,
        "unscored": scores.unscored,
        "gold trees that cross": scores.crossing,
    }
    return cells | {name: str(count) for name, count in counts.items()}


def _accuracy_cells(scores: Accuracy) -> dict[str, str]:
    cells = {"accuracy": _percent(scores.tokens.value)}
    cells |= _vocabulary_cells(scores.oov, scores.iv, "accuracy")
    counts = {
        "right": scores.tokens.right,
        "scored": scores.tokens.total,
        "unscored": scores.unscored,
        "ambiguous": scores.ambiguous,
        "undecided": scores.undecided,
    }
    return cells | {name: str(count) for name, count in counts.items()}


def _word_cells(scores: WordScores) -> dict[str, str]:
    cells = _score_cells(scores.words, "")
    if scores.tagged is not None:
        cells |= _score_cells(scores.tagged.words, "tagged ")
    cells |= _vocabulary_cells(scores.oov, scores.iv, "recall")
    return cells | {"unscored characters": str(scores.unscored), "undecided": str(scores.undecided)}


def _span_cells(scores: SpanScores) -> dict[str, str]:
    cells = _score_cells(scores.spans, "") | _score_cells(scores.macro, "macro ")
    if scores.unseen is not None:
        cells |= _score_cells(scores.unseen, "unseen ")
    cells |= {"partial overlap F": _percent(scores.partial.f), "type only F": _percent(scores.type_only.f)}
    cells["accuracy"] = _percent(scores.accuracy.value)
    counts = {
        "right": scores.spans.right,
        "gold spans": scores.spans.gold,
        "system spans": scores.spans.system,
        "unscored spans": scores.unscored,
        "ambiguous": scores.ambiguous,
        "undecided tokens": scores.undecided,
    }
    return cells | {name: str(count) for name, count in counts.items()}


def _score_cells(score: Score | Averages, prefix: str) -> dict[str, str]:
    ratios = {"precision": score.precision, "recall": score.recall, "F": score.f}
    return {f"{prefix}{name}": _percent(value) for name, value in ratios.items()}


def _vocabulary_cells(oov: Share | None, iv: Share | None, what: str) -> dict[str, str]:
    shares = {f"OOV {what}": oov, f"IV {what}": iv}
    return {name: _percent(share.value) for name, share in shares.items() if share is not None}


def _comparisons(comparisons: Iterable[Comparison]) -> Table:
    columns = ["first", "second", "metric", "second - first", "p (randomisation)", "p (Wilcoxon)"]
    table = _table("Significance", columns, left=3)
    for item in comparisons:
        difference = f"{100 * item.difference:+.2f}"
        p_values = (f"{item.randomisation:.4g}", f"{item.wilcoxon:.4g}")
        _add(table, (item.first, item.second, item.metric, difference, *p_values))
    return table


def _labels(name: str, labels: Mapping[str, Score], what: str) -> Table:
    table = _table(f"{name}: {what}s", [what, "precision", "recall", "F", "support"], left=1)
    for label, score in labels.items():
        ratios = (_percent(value) for value in (score.precision, score.recall, score.f))
        _add(table, (label, *ratios, str(score.gold)))
    return table


def _relations(name: str, relations: Mapping[str, Share]) -> Table:
    """The most frequent relations of the gold standard."""
    table = _table(f"{name}: relations", ["relation", "UAS", "support"], left=1)
    for relation, share in sorted(relations.items(), key=lambda item: -item[1].total)[:_MOST_RELATIONS]:
        _add(table, (relation, _percent(share.value), str(share.total)))
    return table


def _confusions(name: str, confusions: Iterable[Confusion]) -> Table:
    table = _table(f"{name}: confusions", ["gold", "system", "count"], left=2)
    for item in confusions:
        system = UNDECIDED if item.system is None else item.system
        _add(table, (item.gold, system, str(item.count)))
    return table


def _table(title: str, columns: Iterable[str], left: int) -> Table:
    """An empty table; its first `left` columns are aligned left, the others, which are numbers, right."""
    table = Table(title=Text(printable(title)), title_justify="left")
    for position, column in enumerate(columns):
        table.add_column(printable(column), justify="left" if position < left else "right")
    return table


def _add(table: Table, cells: Iterable[str]) -> None:
    table.add_row(*(Text(printable(cell)) for cell in cells))  # Text: a label in square brackets is not markup


def _percent(value: float) -> str:
    return "-" if math.isnan(value) else f"{100 * value:.2f}"
