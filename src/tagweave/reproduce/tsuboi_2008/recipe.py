"""The reproduction of tsuboi-2008 from corpora to pages."""

from __future__ import annotations

from tagweave.reproduce.recipe import Experiments
from tagweave.reproduce.tsuboi_2008.cells import cells
from tagweave.reproduce.tsuboi_2008.figures import draw
from tagweave.reproduce.tsuboi_2008.page import lines
from tagweave.reproduce.tsuboi_2008.settings import PARTS
from tagweave.reproduce.tsuboi_2008.summary import summary

reproduce = Experiments("tsuboi-2008", PARTS, cells, summary, lines, draw)
