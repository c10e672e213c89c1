"""The tools whose files are read and written."""

from __future__ import annotations

from tagweave.exchange import brat, datasets, docbin, doccano, inception, label_studio, prodigy, webanno_tsv
from tagweave.exchange.document import Tool
from tagweave.exchange.errors import ExchangeError
from tagweave.exchange.token_tool import TokenTool

_ALL = (doccano, label_studio, prodigy, brat, inception, webanno_tsv)
TOOLS: dict[str, Tool] = {each.TOOL.name: each.TOOL for each in _ALL}


TOKEN_TOOLS: dict[str, TokenTool] = {each.TOOL.name: each.TOOL for each in (datasets, docbin)}
NAMES = (*TOOLS, *TOKEN_TOOLS)
"""Of all tools."""


def tool(name: str) -> Tool:
    """The tool of this name, whose files have offsets. Raises ExchangeError if there is none."""
    if name not in TOOLS:
        raise ExchangeError(f"found the tool {name!r}, expected one of {', '.join(NAMES)}")
    return TOOLS[name]
