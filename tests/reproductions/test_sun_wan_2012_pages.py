"""The pages of the reproduction of sun-wan-2012: their numbers, and the paper's beside them."""

from __future__ import annotations

from typing import Any

import pytest
from result_pages import SEEDS, Pages, rows

from reproductions.lab.tagged_words import tagged_counts
from reproductions.sun_wan_2012.methods import (
    CHARACTERS,
    CHARACTERS_AGAIN,
    GUIDED,
    GUIDED_GIVEN,
    PIECES,
    UNTAGGED,
    with_source,
)
from reproductions.sun_wan_2012.settings import PARTS
from tagweave.evaluation.score import f_of_counts


@pytest.fixture
def pages(papers: dict[str, Pages]) -> Pages:
    """Those of the paper."""
    return papers["sun-wan-2012"]


def test_the_numbers_of_the_paper_stand_beside_ours(pages: Pages) -> None:
    page = pages["stacking"]
    (setting,), table = page.settings, rows(page.text, "Table 2")
    assert list(table) == [CHARACTERS.name, GUIDED.name, UNTAGGED.name, PIECES.name]
    assert table[GUIDED.name][-3:] == ["93.89", "93.46", "93.67"]
    assert table[UNTAGGED.name][-3:] == ["-", "-", "93.73"]
    scores = setting["methods"][PIECES.name]["scores"]["dev"]
    found = [f"{scores['precision']:.2f}", f"{scores['recall']:.2f}", f"**{scores['mean']:.2f}**"]
    assert [cell.split(" ")[0] for cell in table[PIECES.name][:3]] == found
    assert rows(page.text, "Table 6")[PIECES.name][-1] == "94.36"
    text = pages["retraining"].text
    assert rows(text, "Table 5")[CHARACTERS_AGAIN.name][-1] == "94.26"
    assert rows(text, "Table 6")[CHARACTERS_AGAIN.name][-3:] == ["93.93", "94.29", "94.11"]
    table = rows(pages["learning-curve"].text, "Table 3: sizes of the source")
    assert [table[with_source(GUIDED, share).name][-1] for share in (0.2, 1.0)] == ["92.21", "93.67"]
    assert rows(pages["gold"].text, "Table 4")[GUIDED_GIVEN.name][-1] == "95.19"


def scored(pages: Pages, part: str, method: Any, answered: str) -> tuple[list[Any], dict[str, Any]]:
    """The counts of every seed on test data, of what a method answered there; and the scores that the page has."""
    pair = PARTS[part](None)[0].draw(0)
    counts = [
        tagged_counts(pair.gold["test"], pages.cell(pair, method, seed)[answered]).sum(axis=0) for seed in range(SEEDS)
    ]
    return counts, pages[part].settings[0]["methods"][method.name]["scores"]["test"]


def test_scores_are_those_of_the_answers(pages: Pages) -> None:
    counts, found = scored(pages, "retraining", CHARACTERS_AGAIN, "test")
    assert found["values"] == [pytest.approx(100 * f_of_counts(each)) for each in counts]
    assert found["precision"] == pytest.approx(sum(100 * each[0] / each[2] for each in counts) / SEEDS)
    assert found["recall"] == pytest.approx(sum(100 * each[0] / each[1] for each in counts) / SEEDS)
