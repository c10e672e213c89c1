"""The reproduction of tsuboi-2008 from corpora to pages."""

from __future__ import annotations

from collections.abc import Sequence

from reproductions.lab.command import run_paper
from reproductions.lab.study import Study
from reproductions.tsuboi_2008.cells import cells
from reproductions.tsuboi_2008.figures import draw
from reproductions.tsuboi_2008.page import lines
from reproductions.tsuboi_2008.settings import PARTS
from reproductions.tsuboi_2008.summary import summary

STUDY = Study("tsuboi-2008", PARTS, cells, summary, lines, draw)


def main(words: Sequence[str]) -> None:
    """`python -m reproductions tsuboi-2008`."""
    run_paper(STUDY, words)
