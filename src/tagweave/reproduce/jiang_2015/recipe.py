"""The reproduction of jiang-2015 from corpora to pages."""

from __future__ import annotations

from tagweave.reproduce.jiang_2015.cells import cells
from tagweave.reproduce.jiang_2015.figures import draw
from tagweave.reproduce.jiang_2015.page import lines
from tagweave.reproduce.jiang_2015.settings import PARTS
from tagweave.reproduce.jiang_2015.summary import summary
from tagweave.reproduce.recipe import Experiments

reproduce = Experiments("jiang-2015", PARTS, cells, summary, lines, draw)
