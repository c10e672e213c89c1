"""Where the real corpora are: see README.md beside this file."""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def corpora_folder(name: str) -> Path:
    """A folder among them, as `zh/zx`; ends the program with a clear word where it is not there."""
    folder = Path(os.environ.get("TAGWEAVE_CORPORA", ROOT.parent / "shared" / "corpora")) / name
    if not folder.exists():
        sys.exit(f"no corpora in {folder}: set TAGWEAVE_CORPORA, or take --quick, the bundled sample")
    return folder
