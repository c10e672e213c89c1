"""Figures for experiments: bars and curves of scores, with error bars, as PNG files.

Colours are from Okabe and Ito ("Color Universal Design", 2008); colour-blind readers can distinguish them, and hatches
and markers differ too, so that figures can be printed in grey.
"""

from __future__ import annotations

import io
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any

from tagweave.corpus.files import whole_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence, Sized
    from pathlib import Path

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000", "#F0E442")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
HATCHES = ("", "//", "..", "xx", "\\\\", "--", "oo", "++")
CJK_FONTS = (
    *("Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans SC", "Source Han Sans SC"),
    *("WenQuanYi Zen Hei", "WenQuanYi Micro Hei", "Droid Sans Fallback", "PingFang SC"),
    *("Hiragino Sans GB", "Microsoft YaHei", "SimHei", "IPAGothic", "Arial Unicode MS"),
)
"""Fonts with Chinese or Japanese characters; common systems have one of them."""
_LETTERS = 70  # of names below the bars, from which small ones do not overlap


@dataclass(frozen=True, slots=True)
class Series:
    """The scores of one system."""

    values: Sequence[float]  # N scores, one for each group of bars or point of the curve
    # N half lengths of the error bars, in the unit of the scores; `None` for no error bars
    errors: Sequence[float] | None = None


def bar(path: Path, groups: Sequence[str], series: Mapping[str, Series], *, score: str, title: str = "") -> None:
    """Draw groups of bars, each with a bar per system, and write them to `path` as PNG.

    The score axis starts at zero only if the scores are far apart: from zero, 94 and 95 would look the same.
    """
    with _figure(path, series, score, title) as axes:
        width = 0.8 / len(series)
        for number, (name, data) in enumerate(series.items()):
            centres = [group + (number - (len(series) - 1) / 2) * width for group in range(len(groups))]
            style = {"color": PALETTE[number], "hatch": HATCHES[number], "edgecolor": "white"}
            axes.bar(centres, data.values, width, yerr=data.errors, capsize=3, label=readable(name), **style)
        names = [readable(group) for group in groups]
        is_full = len(names) * max(map(len, names), default=0) > _LETTERS
        axes.set_xticks(range(len(names)), names, fontsize="small" if is_full else None)
        axes.set_ylim(*_limits(series))
        axes.grid(axis="y", alpha=0.3)
        axes.set_axisbelow(True)


def curve(
    path: Path, positions: Sequence[float], series: Mapping[str, Series], *, score: str, axis: str, title: str = ""
) -> None:
    """Draw a curve per system over `positions` (amounts of data, passes), and write them to `path` as PNG."""
    with _figure(path, series, score, title) as axes:
        for number, (name, data) in enumerate(series.items()):
            style = {"color": PALETTE[number], "marker": MARKERS[number]}
            axes.errorbar(positions, data.values, data.errors, capsize=3, label=readable(name), **style)
        axes.set_xlabel(readable(axis))
        axes.grid(alpha=0.3)


def intervals(
    path: Path,
    groups: Sequence[str],
    series: Mapping[str, Sequence[tuple[float, float, float]]],
    *,
    score: str,
    title: str = "",
) -> None:
    """Draw scores with their intervals, a column of points for each group, and write them to `path` as PNG.

    A series has a score and the ends of its interval for every group.
    """
    with _figure(path, series, score, title) as axes:
        for number, (name, own) in enumerate(series.items()):
            middle = [score for score, _, _ in own]
            ends = [[score - low for score, low, _ in own], [high - score for score, _, high in own]]
            style = {"color": PALETTE[number], "marker": MARKERS[number], "linestyle": "none", "markersize": 4}
            axes.errorbar(range(len(groups)), middle, ends, capsize=2, label=readable(name), **style)
        axes.set_xticks(range(len(groups)), [readable(group) for group in groups], rotation=90, fontsize=7)
        axes.grid(axis="y", alpha=0.3)


def _limits(series: Mapping[str, Series]) -> tuple[float, float]:
    """Return the range of scores and error bars, with a margin of a quarter; from zero if that is near."""
    errors = chain.from_iterable(data.errors or [0.0] * len(data.values) for data in series.values())
    points = list(zip(chain.from_iterable(data.values for data in series.values()), errors, strict=True))
    low, high = min(value - error for value, error in points), max(value + error for value, error in points)
    margin = (high - low) / 4 or abs(high) / 100 or 1.0
    return (0.0 if 0 <= low <= high / 2 else low - margin), high + margin


@contextmanager
def _figure(path: Path, series: Sized, score: str, title: str) -> Iterator[Any]:
    """Yield axes to draw on; the file is written afterwards, and not at all if drawing fails."""
    if not 0 < len(series) <= len(PALETTE):
        raise ValueError(f"found {len(series)} series, expected 1 to {len(PALETTE)}")
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    fonts = _fonts()
    with mpl.rc_context({"font.family": list(fonts), "axes.unicode_minus": False, "text.parse_math": False}):
        figure = Figure(figsize=(7.0, 4.2), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        yield axes
        axes.set_ylabel(readable(score))
        axes.set_title(readable(title))
        figure.legend(loc="outside lower center", ncols=2)  # outside of the plot, where it hides nothing
        image = io.BytesIO()
        figure.savefig(image, format="png")
    with whole_file(path) as part:
        part.write_bytes(image.getvalue())


def readable(text: str) -> str:
    """Replace characters that no installed font has by their code points, such as `U+4E2D`."""
    covered = _covered()
    return "".join(character if ord(character) in covered else f"U+{ord(character):04X}" for character in text)


@cache
def _fonts() -> tuple[str, ...]:
    """Return the fonts to use, in the order in which Matplotlib tries them for each character."""
    from matplotlib import font_manager

    installed = set(font_manager.get_font_names())
    return ("DejaVu Sans", *(font for font in CJK_FONTS if font in installed))


@cache
def _covered() -> frozenset[int]:
    from matplotlib import font_manager

    files = (font_manager.findfont(font) for font in _fonts())
    return frozenset(chain.from_iterable(font_manager.get_font(file).get_charmap() for file in files)) | {ord("\n")}
