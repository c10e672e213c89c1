"""What is true of the cells of every reproduction, whatever the paper: trained for once, without text, whole or not."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reproductions.jiang_2015 import methods as of_jiang
from reproductions.jiang_2015.study import STUDY as JIANG_2015
from reproductions.lab.cache import Cache
from reproductions.lab.study import Study
from reproductions.li_2015 import methods as of_li
from reproductions.li_2015.study import STUDY as LI_2015
from reproductions.liu_2014 import methods as of_liu
from reproductions.liu_2014.study import STUDY as LIU_2014
from reproductions.sun_wan_2012 import methods as of_sun_wan
from reproductions.sun_wan_2012.study import STUDY as SUN_WAN_2012
from reproductions.tsuboi_2008 import methods as of_tsuboi
from reproductions.tsuboi_2008.study import STUDY as TSUBOI_2008
from tagweave.errors import CorpusError
from tagweave.learning.run import SILENCE, Callback

pytestmark = pytest.mark.slow

CELLS: list[tuple[Study[Any, Any], str, Any]] = [
    (JIANG_2015, "models", of_jiang.MODEL_2),
    (LI_2015, "tagging", of_li.CONVERTED),
    (LIU_2014, "raw-text", of_liu.PHRASES),
    (SUN_WAN_2012, "stacking", of_sun_wan.PIECES),
    (TSUBOI_2008, "chinese", of_tsuboi.PROPOSED.at(5)),
]
"""Of each paper one that keeps as much as any: steps of its own, labels of a source corpus, words of a lexicon."""
PARTS = [(each[0], part) for each in CELLS for part in each[0].parts]


class Cell(NamedTuple):
    """A cell of the sample, with seed 0."""

    experiments: Study[Any, Any]
    data: Any
    method: Any

    def result(self, folder: Path, threads: int = 1, callback: Callback = SILENCE) -> dict[str, Any]:
        """From a cache or from a training."""
        return self.experiments.cells(Cache(folder), threads, callback)(self.data, self.method, 0)


@pytest.fixture(params=CELLS, ids=lambda each: each[0].name)
def cell(request: pytest.FixtureRequest) -> Cell:
    """One of each paper."""
    experiments, part, method = request.param
    return Cell(experiments, experiments.parts[part](None)[0].draw(0), method)


class Stopping:
    """An error in the first iteration."""

    def __init__(self, error: type[BaseException]) -> None:
        self.error = error

    def iteration(self, _iteration: Any, _limit: int) -> None:
        raise self.error


def test_it_is_trained_once_and_keeps_no_text(cell: Cell, tmp_path: Path) -> None:
    first = cell.result(tmp_path)
    assert cell.result(tmp_path, threads=2, callback=Stopping(AssertionError)) == first
    texts = [path.read_text("utf-8") for path in tmp_path.glob("*.json")]
    assert texts
    assert not any(ord(character) > 0x2000 for text in texts for character in text)


def test_an_interrupted_training_is_not_kept(cell: Cell, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        cell.result(tmp_path, callback=Stopping(KeyboardInterrupt))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("experiments", "part"), PARTS, ids=lambda each: each if isinstance(each, str) else each.name)
def test_corpora_that_are_not_there(experiments: Study[Any, Any], part: str, tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="no such folder"):
        experiments.parts[part](tmp_path)
