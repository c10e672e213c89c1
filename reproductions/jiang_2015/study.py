"""The reproduction of jiang-2015 from corpora to pages."""

from __future__ import annotations

from collections.abc import Sequence

from reproductions.jiang_2015.cells import cells
from reproductions.jiang_2015.figures import draw
from reproductions.jiang_2015.page import lines
from reproductions.jiang_2015.settings import PARTS
from reproductions.jiang_2015.summary import summary
from reproductions.lab.command import run_paper
from reproductions.lab.study import Study

STUDY = Study("jiang-2015", PARTS, cells, summary, lines, draw)


def main(words: Sequence[str]) -> None:
    """`python -m reproductions jiang-2015`."""
    run_paper(STUDY, words)
