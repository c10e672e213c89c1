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


def test_labels_are_counted(pages: Pages) -> None:
    least, most = sorted(pages["mappings"].settings[0]["methods"]["coupled, complete mapping"]["labels"])
    row = rows(pages["mappings"].text, "Figure 3")["coupled, complete mapping"]
    assert row[0] == f"{least:,} to {most:,}"


def test_references_are_tested_against_one_another_only(pages: Pages) -> None:
    (setting,) = pages["tagging"].settings
    against = {name: set(found["against"]) for name, found in setting["methods"].items()}
    assert against["baseline"] == {"two-stage"}
    assert against["two-stage"] == {"baseline"}
    assert against["coupled"] == {"baseline", "two-stage"}
    (setting,) = pages["weighting"].settings
    assert set(setting["methods"]["coupled"]["against"]) == {"baseline"}


def test_findings(pages: Pages) -> None:
    findings = {found["text"]: found for found in pages["tagging"].settings[0]["findings"]}
    joint = findings["Joint features alone are worse than the baseline (Table 4)."]
    assert (joint["paper"], joint["measure"]) == (-1.2, "test")
    assert {found["measure"] for found in pages["conversion"].settings[0]["findings"]} == {"hard"}


def test_sizes_and_samples_are_told(pages: Pages) -> None:
    text = pages["tagging"].text
    assert "- Target: train 80 sentences, 1,151 words; dev 20 sentences" in text
    assert "N' = 80 sentences of the target and M' = 60 of the source" in text
    assert "N' =" not in pages["conversion"].text
    assert "test" not in next(line for line in text.splitlines() if line.startswith("- Source"))
