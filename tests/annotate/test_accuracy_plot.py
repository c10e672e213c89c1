"""The plot of the dashboard: where points and ticks are."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from browsing import new_store, signed_in
from hypothesis import given
from hypothesis import strategies as st

from tagweave.annotate.pages.dashboard import HEIGHT, WIDTH, plot
from tagweave.annotate.questions import ModelVersion

SVG = "{http://www.w3.org/2000/svg}"


def models(*pairs: tuple[float, float | None]) -> list[ModelVersion]:
    """Models of so many minutes and of this accuracy."""
    return [ModelVersion(n, "m", 0.0, 0, minutes, accuracy) for n, (minutes, accuracy) in enumerate(pairs, 1)]


def test_points_stand_where_their_numbers_are() -> None:
    found = plot(models((0, 0.80), (30, 0.85), (60, 0.90)))
    assert [text for _, text in found.minutes] == ["0", "10", "20", "30", "40", "50", "60"]
    assert [text for _, text in found.accuracies] == ["80", "82", "84", "86", "88", "90"]
    assert [x for x, *_ in found.points] == [found.left, (found.left + found.right) / 2, found.right]
    assert [y for _, y, _ in found.points] == [found.bottom, (found.bottom + found.top) / 2, found.top]


def test_a_model_without_accuracy_is_left_out() -> None:
    found = plot(models((0, None), (3, 0.5), (1, 0.25)))
    assert [model.version for *_, model in found.points] == [3, 2]  # by minutes
    assert plot(models((0, None))) is None
    assert plot([]) is None


@pytest.mark.parametrize("accuracies", [(0.0,), (1.0,), (0.9123,), (0.9, 0.9), (0.9, 0.90001)])
def test_one_height_alone_has_an_axis_around_it(accuracies: tuple[float, ...]) -> None:
    found = plot(models(*((0.0, each) for each in accuracies)))
    assert len(found.accuracies) > 1
    assert len({text for _, text in found.accuracies}) == len(found.accuracies)
    assert len({text for _, text in found.minutes}) == len(found.minutes)


@given(st.lists(st.tuples(st.floats(0, 1e5), st.floats(0, 1)), min_size=1, max_size=9))
def test_everything_is_inside_and_ticks_are_few_and_differ(pairs: list[tuple[float, float]]) -> None:
    found = plot(models(*pairs))
    assert 0 < found.left < found.right <= WIDTH
    assert 0 < found.top < found.bottom <= HEIGHT
    for x, y, _ in found.points:
        assert found.left <= x <= found.right
        assert found.top <= y <= found.bottom
    for ticks in (found.minutes, found.accuracies):
        assert 2 <= len({text for _, text in ticks}) == len(ticks) <= 8
        low, high = float(ticks[0][1]), float(ticks[-1][1])
        for at, text in ticks:  # the number and the place say the same
            share = (at - ticks[0][0]) / (ticks[-1][0] - ticks[0][0])
            assert share == pytest.approx((float(text) - low) / (high - low), abs=0.02)


def test_the_dashboard_draws_it(tmp_path: Path) -> None:
    store = new_store(tmp_path, 0)
    store.add_model("first", 0, 0.0, None)
    curator = signed_in(store, "cur", "curator")
    page = curator.look("/dashboard")
    assert "--dev FILE" in page
    assert "<svg" not in page
    for minutes, accuracy in ((12.5, 0.8125), (20.0, 0.9)):
        store.add_model("later", 0, minutes, accuracy)
    page = curator.look("/dashboard")
    assert "--dev FILE" not in page
    drawn = re.search(r"<svg.*?</svg>", page, re.DOTALL)
    assert drawn
    svg = ElementTree.fromstring(drawn[0].replace("<svg", f'<svg xmlns="{SVG[1:-1]}"', 1))  # noqa: S314  # our own
    assert len(svg.findall(f"{SVG}circle")) == 2
    assert [each.text for each in svg.iter(f"{SVG}title")][1:] == [
        "Version 2: 0.812 after 12.5 minutes",
        "Version 3: 0.900 after 20.0 minutes",
    ]
    assert "style=" not in drawn[0]  # the policy forbids it
    assert re.search(
        r'<td class="number">12\.5</td><td class="number">0\.812</td>', page
    )  # for those who cannot see it
    store.close()
