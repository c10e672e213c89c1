"""The pages of the reproduction of liu-2014: their numbers, and the paper's beside them."""

from __future__ import annotations

import pytest
from result_pages import Pages, rows, section

from reproductions.liu_2014.methods import BASELINE, COLUMNS, LEXICON, PHRASES, SELECTED


@pytest.fixture
def pages(papers: dict[str, Pages]) -> Pages:
    """Those of the paper."""
    return papers["liu-2014"]


def test_the_numbers_of_the_paper_stand_beside_ours(pages: Pages) -> None:
    page = pages["lexicon"]
    (setting,), table = page.settings, rows(page.text, "Table 4")
    assert list(table) == [BASELINE.name, COLUMNS.name, LEXICON.name, PHRASES.name]
    assert table[LEXICON.name][-6:-4] == ["90.63", "84.88"]
    scores = setting["methods"][LEXICON.name]["scores"]
    found = [f"**{scores[name]['mean']:.2f}**" for name in ("dev", "dev OOV", "test", "test OOV")]
    assert [cell.split(" ")[0] for cell in table[LEXICON.name][2:6]] == found
    table = rows(section(pages["natural"].text, "Wikipedia"), "Tables 5 and 6")
    assert table[SELECTED.name][-5:] == ["95.00", "88.28", "93.93", "87.53", "93.61"]
    assert rows(pages["natural"].text, "Table 7")[SELECTED.name][-2:] == ["92.47", "93.93"]
    assert "paper:" not in rows(pages["raw-text"].text, "Figure 3")
