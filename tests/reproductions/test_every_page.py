"""What is true of every page of a reproduction, whatever the paper."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from result_pages import SEEDS, Page, Pages

from reproductions.jiang_2015.study import STUDY as JIANG_2015
from reproductions.li_2015.study import STUDY as LI_2015
from reproductions.liu_2014.study import STUDY as LIU_2014
from reproductions.sun_wan_2012.study import STUDY as SUN_WAN_2012

pytestmark = pytest.mark.slow

EVERY = [(each.name, part) for each in (JIANG_2015, LI_2015, LIU_2014, SUN_WAN_2012) for part in each.parts]


@pytest.fixture(params=EVERY, ids=" ".join)
def page(request: pytest.FixtureRequest, papers: dict[str, Pages]) -> Page:
    """The page of a part of a paper."""
    paper, part = request.param
    return papers[paper][part]


def test_tables_are_whole(page: Page) -> None:
    tables = re.findall(r"(?:^\|.*\n)+", page.text, re.MULTILINE)
    assert len(tables) >= 2
    for table in tables:
        assert len({line.count("|") for line in table.splitlines()}) == 1, table
    assert "nan" not in page.text


def test_a_page_is_drawn_from_its_numbers_alone(page: Page) -> None:
    assert page.text == page.again


def differences(page: Page) -> Iterator[tuple[list[dict[str, Any]], dict[str, Any]]]:
    """Every difference, with the scores whose difference it is."""
    for setting in page.settings:
        scores = {name: found.get("scores") or found["accuracy"] for name, found in setting["methods"].items()}
        for name, found in setting["methods"].items():
            for reference, measures in found["against"].items():
                for measure, test in measures.items():
                    yield [scores[each][measure] for each in (name, reference)], test


def test_differences_are_those_of_the_means(page: Page) -> None:
    found = list(differences(page))
    assert found
    for (first, second), test in found:
        assert len(first["values"]) == SEEDS
        assert test["difference"] == pytest.approx(first["mean"] - second["mean"])
        assert len(test["p"]) == SEEDS
        assert all(0 < p <= 1 for p in [*test["p"], test["p_all"]])


def test_findings(page: Page) -> None:
    for setting in page.settings:
        assert setting["findings"]
        for found in setting["findings"]:
            paper = "-" if found["paper"] is None else f"{found['paper']:+.2f}"
            cells = found["text"], paper, found["measure"], f"{found['difference']:+.2f}", f"{found['p_all']:.4f}"
            assert f"| {' | '.join(cells)} |" in page.text
