"""The tools whose files are read and written."""

from __future__ import annotations

from tagweave.exchange import brat, doccano, inception, label_studio, prodigy, webanno_tsv
from tagweave.exchange.document import Tool
from tagweave.exchange.errors import ExchangeError

_ALL = (doccano, label_studio, prodigy, brat, inception, webanno_tsv)
TOOLS: dict[str, Tool] = {each.TOOL.name: each.TOOL for each in _ALL}


def tool(name: str) -> Tool:
    """The tool of this name. Raises ExchangeError if there is none."""
    if name not in TOOLS:
        raise ExchangeError(f"found the tool {name!r}, expected one of {', '.join(TOOLS)}")
    return TOOLS[name]
