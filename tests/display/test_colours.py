"""Text stays legible on every tint, on light and dark pages."""

from __future__ import annotations

import re
from itertools import combinations

import pytest

from tagweave.display.markup import heat, of_types

_PAGES = {"light": (255, 0.87, 0), "JupyterLab dark": (17, 0.87, 255), "site dark": (30, 0.82, 226)}
"""The grey of the page, how opaque its text is, and the grey of the text."""


def _luminance(colour: list[float]) -> float:
    linear = [(c / 255 / 12.92) if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _over(ground: list[float], colour: list[float], alpha: float) -> list[float]:
    return [alpha * c + (1 - alpha) * g for c, g in zip(colour, ground, strict=True)]


def _contrast(tint: str, page: str) -> float:
    grey, opaque, text = _PAGES[page]
    *colour, alpha = map(float, re.findall(r"[\d.]+", tint))
    ground = _over([grey] * 3, colour, alpha)
    one, other = _luminance(ground), _luminance(_over(ground, [text] * 3, opaque))
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)


@pytest.mark.parametrize("page", _PAGES)
def test_text_on_tints(page: str) -> None:
    tints = [*of_types("ABCDEFG").values(), *(heat(share / 10) for share in range(11))]
    assert {tint: _contrast(tint, page) for tint in tints if _contrast(tint, page) < 4.5} == {}


def test_types_of_a_picture_have_different_tints_while_there_are_some() -> None:
    for names in combinations(("PER", "LOC", "ORG", "MISC", "GPE", "DATE", "O", "?"), 7):
        assert len(set(of_types(names).values())) == 7
    assert len(of_types(str(number) for number in range(40))) == 40
