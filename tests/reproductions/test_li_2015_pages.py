"""The pages of the reproduction of li-2015: their numbers, and the paper's beside them."""

from __future__ import annotations

import pytest
from result_pages import Pages, rows


@pytest.fixture
def pages(papers: dict[str, Pages]) -> Pages:
    """Those of the paper."""
    return papers["li-2015"]


def test_the_numbers_of_the_paper_stand_beside_ours(pages: Pages) -> None:
    table, (setting,) = rows(pages["tagging"].text, "Table 4"), pages["tagging"].settings
    assert table["coupled, joint features only"][-3:] == ["179", "92.92", "92.90"]
    found = setting["methods"]["coupled, joint features only"]
    assert table["coupled, joint features only"][2] == f"**{found['scores']['test']['mean']:.2f}**"
    assert rows(pages["conversion"].text, "Table 5: conversion, the 20%")["two-stage"][-1] == "93.22"
    assert "paper: test" not in pages["english"].text


def test_references_are_tested_against_one_another_only(pages: Pages) -> None:
    (setting,) = pages["tagging"].settings
    against = {name: set(found["against"]) for name, found in setting["methods"].items()}
    assert against["baseline"] == {"two-stage"}
    assert against["two-stage"] == {"baseline"}
    assert against["coupled"] == {"baseline", "two-stage"}
    (setting,) = pages["weighting"].settings
    assert set(setting["methods"]["coupled"]["against"]) == {"baseline"}
