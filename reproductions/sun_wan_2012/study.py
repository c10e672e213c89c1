"""The reproduction of sun-wan-2012 from corpora to pages."""

from __future__ import annotations

from collections.abc import Sequence

from reproductions.lab.command import run_paper
from reproductions.lab.study import Study
from reproductions.sun_wan_2012.cascade import cells
from reproductions.sun_wan_2012.figures import draw
from reproductions.sun_wan_2012.page import lines
from reproductions.sun_wan_2012.settings import PARTS
from reproductions.sun_wan_2012.summary import summary

STUDY = Study("sun-wan-2012", PARTS, cells, summary, lines, draw)


def main(words: Sequence[str]) -> None:
    """`python -m reproductions sun-wan-2012`."""
    run_paper(STUDY, words)
