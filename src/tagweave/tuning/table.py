"""The result of a search as tables: trials by score, and what other seeds say of the best."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tagweave.tuning.ranges import shown

if TYPE_CHECKING:
    from rich.table import Table

    from tagweave.tuning.search import Finalist, Tuning
    from tagweave.tuning.study import Trial

_ROWS = 20


def tables(tuning: Tuning) -> Iterator[Table]:
    """The tables of a search."""
    yield _of_trials(tuning)
    if tuning.finalists:
        yield _of_finalists(tuning)


def _of_trials(tuning: Tuning) -> Table:
    """The best trials and the plan itself, then those that were pruned, as far as there is space."""
    ranked = sorted(tuning.trials, key=lambda each: (each.state != "complete", -(each.score or 0.0), each.number))
    shown = [each for at, each in enumerate(ranked) if at < _ROWS or each.is_default]
    more = len(ranked) - len(shown)
    table = _table("Trials by development score" + (f", without {more} others" if more else ""))
    for name in ("trial", *tuning.space.ranges, "dev", "iterations", "seconds", ""):
        table.add_column(name, justify="left" if not name else "right")
    for each in shown:
        cells = [show(each.values.get(name)) for name in tuning.space.ranges]
        score = "-" if each.score is None else f"{each.score:.4f}"
        table.add_row(str(each.number), *cells, score, str(len(each.curve)), f"{each.seconds:.1f}", note(tuning, each))
    return table


def _of_finalists(tuning: Tuning) -> Table:
    first = tuning.finalists[0]
    table = _table("The best ones with other seeds")
    for name in ("trial", "dev", "mean of other seeds", "other seeds", "gain", ""):
        table.add_column(name, justify="left" if not name else "right")
    for each in tuning.finalists:
        scores = " ".join(f"{score:.4f}" for score in each.scores)
        cells = [str(each.trial.number), f"{each.trial.score:.4f}", f"{each.mean:.4f}", scores, _gain(each, first)]
        table.add_row(*cells, note(tuning, each.trial))
    return table


def _gain(finalist: Finalist, first: Finalist) -> str:
    return "" if finalist is first else f"{finalist.mean - first.mean:+.4f}"


def note(tuning: Tuning, trial: Trial) -> str:
    """What is special about a trial."""
    what = [
        name
        for name, holds in (("the plan", trial.is_default), ("chosen", trial.number == tuning.best.number))
        if holds
    ]
    if trial.state != "complete":
        what.append(trial.state if not trial.problem else f"{trial.state}: {trial.problem}")
    return ", ".join(what)


def line(trial: Trial, trials: int) -> str:
    """A trial in one line."""
    values = ", ".join(f"{name} {show(value)}" for name, value in trial.values.items() if value is not None)
    score = trial.problem if trial.score is None else f"dev {trial.score:.4f}"
    state = "" if trial.state == "complete" else f"  {trial.state}"
    which = "the plan" if trial.is_default else values
    return f"trial {trial.number} of {trials}  {score}{state}  {trial.seconds:.1f} s  {which}"


def show(value: Any) -> str:
    """A value as text; what the plan leaves open is a dash."""
    return "-" if value is None else shown(value)


def _table(title: str) -> Table:
    from rich.table import Table

    return Table(title=title, title_justify="left")
