"""Figures say what they show in characters that can be read."""

from __future__ import annotations

from tagweave.evaluation import plots
from tagweave.evaluation.plots import readable


def test_characters_without_a_font_are_named_by_code_point(monkeypatch):
    plots._covered.cache_clear()
    monkeypatch.setattr(plots, "CJK_FONTS", ())
    plots._fonts.cache_clear()
    try:
        assert readable("F₁ 中 é") == "F₁ U+4E2D é"
        assert readable("a\nb") == "a\nb"
    finally:
        plots._covered.cache_clear()
        plots._fonts.cache_clear()
