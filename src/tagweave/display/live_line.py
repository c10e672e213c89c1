"""A line of a notebook that is replaced where it stands."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from tagweave.display.markup import Html, element, heat, joined, picture


def in_notebook() -> bool:
    """Return whether this process is the kernel of a notebook, which has imported IPython."""
    ipython = sys.modules.get("IPython")
    shell = ipython and ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


class LiveLine:
    """A bar and a text in the output of the running cell, displayed once and then updated."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, share: float, text: str, notes: Sequence[str] = ()) -> None:
        """Update the line: the share done, from 0 to 1, a text, and notes that can be unfolded."""
        from IPython.display import display

        percent = f"{100 * min(max(share, 0.0), 1.0):.1f}%"
        ground = f"linear-gradient(to right,{heat(1)} {percent},{heat(0.15)} {percent})"
        style = f"display:inline-block;width:10em;height:.8em;border-radius:3px;margin-right:.6em;background:{ground}"
        lines = joined(element("div", note) for note in notes)
        folded = element("details", element("summary", "notes"), lines, class_="quiet") if notes else Html()
        line = picture(element("span", "", style=style), text, folded)
        content = {"text/html": line, "text/plain": text}
        if self._handle is None:
            self._handle = display(content, raw=True, display_id=True)
        else:
            self._handle.update(content, raw=True)
