"""The reproduction of liu-2014 from corpora to pages."""

from __future__ import annotations

from tagweave.reproduce.liu_2014.cells import cells
from tagweave.reproduce.liu_2014.figures import draw
from tagweave.reproduce.liu_2014.page import lines
from tagweave.reproduce.liu_2014.settings import PARTS
from tagweave.reproduce.liu_2014.summary import summary
from tagweave.reproduce.recipe import Experiments

reproduce = Experiments("liu-2014", PARTS, cells, summary, lines, draw)
