"""Takes files of any length through a model in blocks, to fill in or convert labels, words and trees.

Notes are lines about assumptions and omissions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from tagweave.corpus.characters import printable
from tagweave.errors import shortened

Tell = Callable[[str], None]
"""Receives a note."""
_LONGEST = 2000  # characters of a note

spelling: Callable[[str], str] = str
"""How notes name options: the command line sets this while it runs, so that they name its flags."""


def say(line: str) -> None:
    """Print a line on standard error. It may quote files, so it is shortened, and control characters are escaped."""
    print(printable(shortened(spelling(line), _LONGEST)), file=sys.stderr)
