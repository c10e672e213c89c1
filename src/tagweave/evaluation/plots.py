"""Figures of scores with their intervals, as PNG files.

Colours are from Okabe and Ito ("Color Universal Design", 2008); colour-blind readers can distinguish them, and markers
differ too, so that figures can be printed in grey.
"""

from __future__ import annotations

import io
from contextlib import contextmanager
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any

from tagweave.corpus.files import whole_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence, Sized
    from pathlib import Path

    from tagweave.evaluation.calibration import Calibration

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000", "#F0E442")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
CJK_FONTS = (
    *("Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans SC", "Source Han Sans SC"),
    *("WenQuanYi Zen Hei", "WenQuanYi Micro Hei", "Droid Sans Fallback", "PingFang SC"),
    *("Hiragino Sans GB", "Microsoft YaHei", "SimHei", "IPAGothic", "Arial Unicode MS"),
)
"""Fonts with Chinese or Japanese characters; common systems have one of them."""


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
    with figure(path, series, score, title) as axes:
        for number, (name, scores) in enumerate(series.items()):
            middle = [score for score, _, _ in scores]
            ends = [[score - low for score, low, _ in scores], [high - score for score, _, high in scores]]
            style = {"color": PALETTE[number], "marker": MARKERS[number], "linestyle": "none", "markersize": 4}
            axes.errorbar(range(len(groups)), middle, ends, capsize=2, label=readable(name), **style)
        axes.set_xticks(range(len(groups)), [readable(group) for group in groups], rotation=90, fontsize=7)
        axes.grid(axis="y", alpha=0.3)


def reliability(path: Path, calibrations: Mapping[str, Calibration], title: str = "") -> None:
    """Draw how many answers are right by their probability, a line for each calibration, as PNG."""
    with figure(path, calibrations, "share that is right", title) as axes:
        axes.plot([0, 1], [0, 1], color="0.7", linewidth=1, linestyle="dashed")
        for number, (name, calibration) in enumerate(calibrations.items()):
            points = [(one.probability, one.right) for one in calibration.bins if one.count]
            label = readable(f"{name} (error {calibration.error:.3f})")
            axes.plot(*zip(*points, strict=True), color=PALETTE[number], marker=MARKERS[number], label=label)
        axes.set_xlabel("probability")
        axes.grid(alpha=0.3)


@contextmanager
def figure(path: Path, series: Sized, score: str, title: str) -> Iterator[Any]:
    """Yield axes to draw on; the file is written afterwards, and not at all if drawing fails."""
    if not 0 < len(series) <= len(PALETTE):
        raise ValueError(f"found {len(series)} series, expected 1 to {len(PALETTE)}")
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    fonts = _fonts()
    with mpl.rc_context({"font.family": list(fonts), "axes.unicode_minus": False, "text.parse_math": False}):
        drawn = Figure(figsize=(7.0, 4.2), layout="constrained")
        FigureCanvasAgg(drawn)
        axes = drawn.add_subplot()
        yield axes
        axes.set_ylabel(readable(score))
        axes.set_title(readable(title))
        drawn.legend(loc="outside lower center", ncols=2)  # outside of the plot, where it hides nothing
        image = io.BytesIO()
        drawn.savefig(image, format="png")
    with whole_file(path) as temporary:
        temporary.write_bytes(image.getvalue())


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
