"""The pages of the reproduction of jiang-2015: their numbers, and the paper's beside them."""

from __future__ import annotations

import pytest
from result_pages import SEEDS, Pages, rows, section

from reproductions.jiang_2015.methods import (
    BASELINE,
    MERGING,
    MODEL_1,
    MODEL_2,
    MODEL_3,
)

TABLE = [method.name for method in (BASELINE, MERGING, MODEL_1, MODEL_2, MODEL_3)]


@pytest.fixture
def pages(papers: dict[str, Pages]) -> Pages:
    """Those of the paper."""
    return papers["jiang-2015"]


def test_table_8_and_the_paper_beside_it(pages: Pages) -> None:
    text, setting = pages["models"].text, pages["models"].settings[0]
    table = rows(section(text, "With the averaged"), "Table 8")
    assert list(table) == TABLE
    assert table[MODEL_1.name][-2:] == ["97.67", "4.39"]
    for name, row in table.items():
        found = setting["methods"][name]
        means = [f"**{found['scores'][part]['mean']:.2f}**" for part in ("dev", "test")]
        assert [cell.split(" ")[0] for cell in row[1:3]] == means
        times = setting["decoding"]["seconds"][name]
        assert len(times) == SEEDS
        assert row[5] == f"{sum(times) / SEEDS:.3f}"
    test = setting["methods"][MODEL_3.name]["against"][MODEL_1.name]["test"]
    assert table[MODEL_3.name][4] == f"{test['difference']:+.2f}, {test['p_all']:.4f}"
    assert table[BASELINE.name][3] == table[MODEL_1.name][4] == "-"
