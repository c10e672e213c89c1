"""Pages of results: each names a command that is there and its commit, and shows the numbers beside it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib import import_module

import pytest

from reproductions import results
from reproductions.entities.study import lines as entity_lines
from reproductions.incomplete.page import lines as incomplete_lines
from reproductions.lab.comparison import TRIALS
from reproductions.lab.page import DISCUSSION
from reproductions.results import MEASURED, RESULTS, command_of, pages, stamped
from reproductions.sources.study import training_lines

STUDIES = ("jiang_2015", "li_2015", "liu_2014", "partial_trees", "sun_wan_2012", "tsuboi_2008")


def rendered(name: str) -> Iterable[str] | None:
    """The lines of a page from its numbers, if a study of this folder wrote it."""
    numbers = json.loads((RESULTS / "data" / f"{name}.json").read_text(encoding="utf-8"))
    if name.startswith("entities-"):
        return entity_lines(numbers, TRIALS)
    if name == "sources-training":
        return training_lines(numbers, TRIALS)
    plots = [path.name for path in sorted((RESULTS / "pictures").glob(f"{name}*.png"))]
    if name == "incomplete-tagging":
        return incomplete_lines(numbers, plots)
    for package in STUDIES:
        if name.startswith(package.replace("_", "-")):
            page = import_module(f"reproductions.{package}.page")
            return list(page.lines(numbers, plots))
    return None


def test_every_page_names_a_command_that_is_there_and_its_commit() -> None:
    assert len(pages()) <= 24
    for path in pages().values():
        text = path.read_text(encoding="utf-8")
        module = results.ROOT / command_of(text).split()[2].replace(".", "/")
        assert module.is_dir() or module.with_suffix(".py").is_file(), path
        assert len(MEASURED.findall(text)) == 1, path


@pytest.mark.parametrize("name", pages())
def test_a_page_has_the_numbers_beside_it(name: str) -> None:
    lines = rendered(name)
    if lines is not None:
        shown = MEASURED.sub("", (RESULTS / f"{name}.md").read_text(encoding="utf-8")).partition(f"\n{DISCUSSION}")[0]
        numbers = [line for line in shown.splitlines() if line.startswith("|")]
        assert numbers == [line for line in "\n".join(lines).splitlines() if line.startswith("|")]


def test_a_commit_is_noted_below_the_title_once() -> None:
    page = stamped("# A\n\nWritten by\n", "abc1234")
    assert page.startswith("# A\n\nMeasured for ") and page.endswith("at commit abc1234.\n\nWritten by\n")
    assert stamped(page, "def5678", 2.5).count("Measured") == 1
