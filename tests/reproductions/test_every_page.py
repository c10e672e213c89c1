"""What is true of every page of a reproduction, whatever the paper."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from result_pages import SEEDS, Page, Pages

from reproductions.jiang_2015.study import STUDY as JIANG_2015
from reproductions.lab import study
from reproductions.lab.study import Study
from reproductions.li_2015.study import STUDY as LI_2015
from reproductions.liu_2014.study import STUDY as LIU_2014
from reproductions.sun_wan_2012.study import STUDY as SUN_WAN_2012
from tagweave.errors import CorpusError

PLOTS = {
    "jiang-2015 models": 2,
    "jiang-2015 predict-self": 2,
    "jiang-2015 parsing-models": 3,
    "jiang-2015 parsing-predict-self": 4,
    "liu-2014 raw-text": 2,
    "liu-2014 natural": 4,
    "sun-wan-2012 learning-curve": 2,
    "sun-wan-2012 gold": 2,
}
"""Of the pages that have more than one."""
EVERY = [f"{each.name} {part}" for each in (JIANG_2015, LI_2015, LIU_2014, SUN_WAN_2012) for part in each.parts]


@pytest.fixture(params=EVERY)
def name(request: pytest.FixtureRequest) -> str:
    """A paper and a part."""
    return str(request.param)


@pytest.fixture
def page(name: str, papers: dict[str, Pages]) -> Page:
    """That of the part."""
    paper, part = name.split(" ")
    return papers[paper][part]


def test_tables_are_whole(page: Page) -> None:
    tables = re.findall(r"(?:^\|.*\n)+", page.text, re.MULTILINE)
    assert len(tables) >= 2
    for table in tables:
        assert len({line.count("|") for line in table.splitlines()}) == 1, table
    assert "nan" not in page.text


def test_plots_are_there(name: str, page: Page) -> None:
    plots = set(re.findall(r"!\[.*\]\((.*)\)", page.text))
    assert len(plots) == PLOTS.get(name, 1)
    assert all((page.folder / plot).read_bytes().startswith(b"\x89PNG") for plot in plots)


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


# runs


def settled(experiments: Study[Any, Any], part: str, folder: Path, **more: Any) -> str:
    """The page of a part, trained for or from what was."""
    (path,) = experiments([part], None, 1, folder / "cache", folder, "python -m reproductions", trials=20, **more)
    return path.read_text("utf-8")


class Impatient:
    """Trains nothing."""

    def iteration(self, _iteration: Any, _limit: int) -> None:
        pytest.fail("trained again")


@pytest.mark.parametrize(
    ("experiments", "part"),
    [(JIANG_2015, "parsing-perceptron"), (SUN_WAN_2012, "stacking")],  # others run in the tests of the command
    ids=lambda each: each if isinstance(each, str) else each.name,
)
def test_a_second_run_trains_nothing(experiments: Study[Any, Any], part: str, tmp_path: Path) -> None:
    first = settled(experiments, part, tmp_path)
    assert settled(experiments, part, tmp_path, callback=Impatient()) == first


def test_without_matplotlib_there_are_no_plots(
    papers: dict[str, Pages], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(study, "find_spec", lambda _: None)
    untrained = replace(LI_2015, cells=lambda *_: papers["li-2015"].cell)
    assert "## Plots" not in settled(untrained, "conversion", tmp_path, say=said.append)
    assert sorted(path.name for path in tmp_path.rglob("*.*")) == ["li-2015-conversion.json", "li-2015-conversion.md"]
    assert any("Matplotlib is not installed" in line for line in said)


def test_a_missing_corpus_is_told_before_any_training(tmp_path: Path) -> None:
    untrained = replace(LI_2015, cells=lambda *_: lambda *_: pytest.fail("trained"))
    with pytest.raises(CorpusError, match="no such folder"):
        list(untrained(["tagging"], tmp_path, 1, tmp_path / "cache", tmp_path / "out", "x"))
