"""The site of the documentation is built from its pages, without a warning."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).parents[2]


def test_the_site_is_built(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(words, cwd=_ROOT, env=environment, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    assert 'class="filename"' in (tmp_path / "evidence.html").read_text("utf-8")
    assert "marginals" in (tmp_path / "notebooks" / "incomplete-annotation.html").read_text("utf-8")
    assert "tagweave.front.tagger.Tagger" in (tmp_path / "reference.html").read_text("utf-8")
    assert "<code>--views both|joint|separate</code>" in (tmp_path / "methods.html").read_text("utf-8")
