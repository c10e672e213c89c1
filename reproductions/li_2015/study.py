"""The reproduction of li-2015 from corpora to pages."""

from __future__ import annotations

from collections.abc import Sequence

from reproductions.lab.command import run_paper
from reproductions.lab.study import Study
from reproductions.li_2015.cells import cells
from reproductions.li_2015.figures import draw
from reproductions.li_2015.page import lines
from reproductions.li_2015.settings import PARTS
from reproductions.li_2015.summary import summary

STUDY = Study("li-2015", PARTS, cells, summary, lines, draw)


def main(words: Sequence[str]) -> None:
    """`python -m reproductions li-2015`."""
    run_paper(STUDY, words)
