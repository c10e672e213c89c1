"""The reproduction of liu-2014 from corpora to pages."""

from __future__ import annotations

from collections.abc import Sequence

from reproductions.lab.command import run_paper
from reproductions.lab.study import Study
from reproductions.liu_2014.cells import cells
from reproductions.liu_2014.figures import draw
from reproductions.liu_2014.page import lines
from reproductions.liu_2014.settings import PARTS
from reproductions.liu_2014.summary import summary

STUDY = Study("liu-2014", PARTS, cells, summary, lines, draw)


def main(words: Sequence[str]) -> None:
    """`python -m reproductions liu-2014`."""
    run_paper(STUDY, words)
