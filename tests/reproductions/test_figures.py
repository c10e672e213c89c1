"""Figures are whole PNG files or none, and say what they show in characters that can be read."""

from __future__ import annotations

import matplotlib as mpl
import matplotlib.image
import numpy as np
import pytest

from reproductions.lab import figures
from reproductions.lab.figures import PALETTE, Series, bar, curve

SCORES = {"baseline": Series([94.1, 94.6], [0.2, 0.1]), "coupled": Series([95.0, 95.3])}


def draw_bar(path, series=SCORES, **arguments):
    bar(path, ["dev", "test"], series, score="accuracy (%)", **arguments)


def draw_curve(path, series=SCORES, **arguments):
    curve(path, [1000, 2000], series, score="F (%)", axis="sentences", **arguments)


def colours(path):
    """How many pixels of the figure have each colour of the palette."""
    pixels = np.round(mpl.image.imread(path)[..., :3] * 255).astype(int)
    return [int((pixels == [int(name[at : at + 2], 16) for at in (1, 3, 5)]).all(axis=2).sum()) for name in PALETTE]


@pytest.mark.parametrize("draw", [draw_bar, draw_curve])
def test_a_figure_shows_each_series_in_its_colour(draw, tmp_path):
    path = tmp_path / "figure.png"
    draw(path, title="分词 F")
    assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    first, second, third, *_ = colours(path)
    assert first > 50
    assert second > 50
    assert third == 0
    assert [item.name for item in tmp_path.iterdir()] == ["figure.png"]


@pytest.mark.parametrize("draw", [draw_bar, draw_curve])
def test_error_bars_are_drawn(draw, tmp_path):
    """The first series sets the limits of the axis, so the figures differ by the error bars alone."""
    for name, errors in (("with", [0.5, 0.4]), ("without", None)):
        draw(tmp_path / name, {"wide": Series([90, 99]), "narrow": Series([94, 95], errors)})
    assert (tmp_path / "with").read_bytes() != (tmp_path / "without").read_bytes()


@pytest.mark.parametrize("draw", [draw_bar, draw_curve])
def test_a_figure_that_fails_leaves_the_old_file_and_nothing_else(draw, tmp_path, monkeypatch):
    path = tmp_path / "figure.png"
    path.write_bytes(b"old")

    def fail(self, target):
        raise OSError("no space left")

    monkeypatch.setattr(type(path), "replace", fail)
    with pytest.raises(OSError, match="no space"):
        draw(path)
    assert path.read_bytes() == b"old"
    assert [item.name for item in tmp_path.iterdir()] == ["figure.png"]


@pytest.mark.parametrize("draw", [draw_bar, draw_curve])
@pytest.mark.parametrize(
    ("series", "message"),
    [
        ({}, "found 0 series, expected 1 to 8"),
        ({str(number): Series([1, 2]) for number in range(9)}, "found 9 series"),
        ({"a": Series([1, 2, 3])}, "shape|same"),
    ],
)
def test_series_that_cannot_be_drawn_are_an_error(draw, series, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        draw(tmp_path / "figure.png", series)
    assert list(tmp_path.iterdir()) == []


def test_the_palette_tells_series_apart(tmp_path):
    draw_bar(tmp_path / "figure.png", {f"s{number}": Series([number, 2]) for number in range(len(PALETTE))})
    assert all(colours(tmp_path / "figure.png"))


@pytest.mark.parametrize(
    ("values", "errors", "expected"),
    [
        ([94.0, 95.0], None, (93.75, 95.25)),  # near each other: zoomed in
        ([10.0, 90.0], None, (0.0, 110.0)),  # far apart: from zero
        ([50.0, 50.0], None, (49.5, 50.5)),
        ([0.0, 0.0], None, (0.0, 1.0)),
        ([-1.0, 1.0], None, (-1.5, 1.5)),
        ([90.0, 91.0], [2.0, 0.5], (87.0, 93.0)),
    ],
)
def test_limits_of_bars(values, errors, expected):
    assert figures._limits({"a": Series(values, errors)}) == pytest.approx(expected)


def test_labels_with_dollars_and_code_points_beyond_the_fonts_draw_without_a_warning(tmp_path):
    bar(tmp_path / "figure.png", ["$\\nosuch$", "𠀀词"], {"系统 $x": Series([1, 2])}, score="分数", title="標題")
    assert (tmp_path / "figure.png").stat().st_size > 1000
