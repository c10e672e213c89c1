"""The result of a search as tables: trials by score, and what other seeds say of the best.

A picture of a search: development scores by trial, and by the value of every field that was searched.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tagweave.corpus.files import whole_file
from tagweave.evaluation.plots import PALETTE, readable
from tagweave.tuning.space import shown

if TYPE_CHECKING:
    from rich.table import Table

    from tagweave.tuning.search import Tuning
    from tagweave.tuning.space import Range
    from tagweave.tuning.study import Trial

_ACROSS = 3
_COMPLETE, _PRUNED, _CHOSEN, _DEFAULT = PALETTE[0], PALETTE[4], PALETTE[5], PALETTE[6]


class _Marks(NamedTuple):
    """How trials are drawn."""

    label: str
    marker: str
    face: str
    edge: str
    size: float


_KINDS = {
    "complete": _Marks("trial", "o", _COMPLETE, _COMPLETE, 22),
    "pruned": _Marks("stopped early", "o", "none", _PRUNED, 22),
    "default": _Marks("the plan itself", "D", _DEFAULT, _DEFAULT, 42),
    "chosen": _Marks("chosen", "*", _CHOSEN, _CHOSEN, 150),
}


def plot(tuning: Tuning, path: Path) -> None:
    """Draw a search into a file; its extension is a format of Matplotlib (`.png`, `.svg`, `.pdf`)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    names = list(tuning.space.ranges)
    rows = -(-(len(names) + 1) // _ACROSS)
    figure = Figure(figsize=(4.0 * _ACROSS, 3.2 * rows), layout="constrained")
    FigureCanvasAgg(figure)
    grid = list(figure.subplots(rows, _ACROSS, sharey=True, squeeze=False).flat)
    by_trial, *others = grid
    _by_trial(by_trial, tuning)
    for axes, name in zip(others, names, strict=False):
        _by_value(axes, tuning, name, tuning.space.ranges[name])
    for axes in others[len(names) :]:
        axes.set_visible(False)
    ranked = sorted(each.score for each in tuning.trials if each.score is not None)
    low, high = ranked[len(ranked) // 4], ranked[-1]  # the worst trials would press all others together
    margin = (high - low) / 8 or 0.01
    by_trial.set_ylim(low - margin, high + margin)
    for axes in grid:
        axes.grid(alpha=0.3)
    figure.supylabel("dev score", fontsize="medium")
    handles, labels = by_trial.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    image = io.BytesIO()
    figure.savefig(image, format=path.suffix.removeprefix(".").lower() or "png", dpi=120)
    with whole_file(path) as part:
        part.write_bytes(image.getvalue())


def _by_trial(axes: Any, tuning: Tuning) -> None:
    _scatter(axes, tuning, [(each, each.number) for each in tuning.trials])
    best, numbers, scores = float("-inf"), [], []
    for each in tuning.trials:
        if each.state == "complete" and (each.score or 0.0) > best:
            best = each.score or 0.0
        numbers.append(each.number)
        scores.append(best)
    axes.step(numbers, scores, where="post", color=_COMPLETE, linewidth=1, label="best so far")
    axes.set_xlabel("trial")


def _by_value(axes: Any, tuning: Tuning, name: str, of: Range) -> None:
    """The scores by the value of one field; the values of a choice stand beside each other."""
    axes.set_xlabel(readable(name))
    if of.kind == "choice":
        labels = list(
            dict.fromkeys([*map(show, of.values), *(show(each.values[name]) for each in _with(name, tuning))])
        )
        _scatter(axes, tuning, [(each, labels.index(show(each.values[name]))) for each in _with(name, tuning)])
        axes.set_xticks(range(len(labels)), [readable(label) for label in labels])
        axes.set_xlim(-0.5, len(labels) - 0.5)
        return
    _scatter(axes, tuning, [(each, each.values[name]) for each in _with(name, tuning) if each.values[name] is not None])
    if of.kind.endswith("log"):
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
    elif of.kind == "int":
        axes.xaxis.get_major_locator().set_params(integer=True)


def _with(name: str, tuning: Tuning) -> list[Trial]:
    return [each for each in tuning.trials if name in each.values]


def _scatter(axes: Any, tuning: Tuning, places: Sequence[tuple[Trial, float]]) -> None:
    kinds: dict[int, Sequence[str]] = {}
    for each, _ in places:
        special = [("default", each.is_default), ("chosen", each.number == tuning.best.number)]
        kinds[each.number] = [name for name, holds in special if holds] or [each.state]
    for kind, marks in _KINDS.items():
        points = [(x, each.score) for each, x in places if each.score is not None and kind in kinds[each.number]]
        style = {"marker": marks.marker, "s": marks.size, "facecolors": marks.face, "edgecolors": marks.edge}
        axes.scatter([x for x, _ in points], [y for _, y in points], label=marks.label, zorder=3, **style)


_ROWS = 20


def tables(tuning: Tuning) -> Iterator[Table]:
    """Yield the tables of a search."""
    yield _of_trials(tuning)
    if tuning.finalists:
        yield _of_finalists(tuning)


def _of_trials(tuning: Tuning) -> Table:
    """Return the best trials and the plan itself, then those that were pruned, as far as there is space."""
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
        gain = "" if each is first else f"{each.mean - first.mean:+.4f}"
        cells = [str(each.trial.number), f"{each.trial.score:.4f}", f"{each.mean:.4f}", scores, gain]
        table.add_row(*cells, note(tuning, each.trial))
    return table


def note(tuning: Tuning, trial: Trial) -> str:
    """Say what distinguishes a trial."""
    what = [
        name
        for name, holds in (("the plan", trial.is_default), ("chosen", trial.number == tuning.best.number))
        if holds
    ]
    if trial.state != "complete":
        what.append(trial.state if not trial.problem else f"{trial.state}: {trial.problem}")
    return ", ".join(what)


def line(trial: Trial, trials: int) -> str:
    """Return a trial in one line."""
    values = ", ".join(f"{name} {show(value)}" for name, value in trial.values.items() if value is not None)
    score = trial.problem if trial.score is None else f"dev {trial.score:.4f}"
    state = "" if trial.state == "complete" else f"  {trial.state}"
    which = "the plan" if trial.is_default else values
    return f"trial {trial.number} of {trials}  {score}{state}  {trial.seconds:.1f} s  {which}"


def show(value: Any) -> str:
    """Return a value as text; what the plan leaves open is a dash."""
    return "-" if value is None else shown(value)


def _table(title: str) -> Table:
    from rich.table import Table

    return Table(title=title, title_justify="left")
