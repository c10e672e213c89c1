"""Where the real corpora are, and short ways to read and write text in a format."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

CORPORA = Path(os.environ.get("TAGWEAVE_CORPORA") or Path(__file__).parents[3] / "shared" / "corpora")


@pytest.fixture(scope="session")
def corpora() -> Path:
    if not CORPORA.is_dir():
        pytest.skip(f"the real corpora are not at {CORPORA} (set TAGWEAVE_CORPORA)")
    return CORPORA
