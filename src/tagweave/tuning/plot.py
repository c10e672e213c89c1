"""A picture of a search: development scores by trial, and by the value of every field that was searched."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tagweave.corpus.whole_file import whole_file
from tagweave.evaluation.plots import PALETTE, readable
from tagweave.tuning.table import show

if TYPE_CHECKING:
    from tagweave.tuning.ranges import Range
    from tagweave.tuning.search import Tuning
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
    """Draw a search into a file; its extension is that of a format of Matplotlib (`.png`, `.svg`, `.pdf`).

    Raises:
        ValueError: an unknown format.
        OSError: the file cannot be written.
    """
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
    by_trial.set_ylim(*_limits([each.score for each in tuning.trials if each.score is not None]))
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
    for kind, marks in _KINDS.items():
        points = [(x, each.score) for each, x in places if each.score is not None and kind in _kinds(tuning, each)]
        style = {"marker": marks.marker, "s": marks.size, "facecolors": marks.face, "edgecolors": marks.edge}
        axes.scatter([x for x, _ in points], [y for _, y in points], label=marks.label, zorder=3, **style)


def _kinds(tuning: Tuning, trial: Trial) -> Sequence[str]:
    special = [("default", trial.is_default), ("chosen", trial.number == tuning.best.number)]
    return [name for name, holds in special if holds] or [trial.state]


def _limits(scores: Sequence[float]) -> tuple[float, float]:
    """The range of the better three quarters: the worst trials would press all others together."""
    ranked = sorted(scores)
    low, high = ranked[len(ranked) // 4], ranked[-1]
    margin = (high - low) / 8 or 0.01
    return low - margin, high + margin
