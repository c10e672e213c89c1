"""The reproduction of sun-wan-2012 from corpora to pages."""

from __future__ import annotations

from tagweave.reproduce.recipe import Experiments
from tagweave.reproduce.sun_wan_2012.cascade import cells
from tagweave.reproduce.sun_wan_2012.figures import draw
from tagweave.reproduce.sun_wan_2012.page import lines
from tagweave.reproduce.sun_wan_2012.settings import PARTS
from tagweave.reproduce.sun_wan_2012.summary import summary

reproduce = Experiments("sun-wan-2012", PARTS, cells, summary, lines, draw)
