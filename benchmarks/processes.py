"""Measurements in processes of their own: peak memory and start-up are theirs alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results"


def measured(module: str, *words: str) -> dict[str, Any]:
    """The JSON object that `python -m benchmarks.MODULE WORD ...` prints on its last line; ends the program if it
    fails."""
    command = [sys.executable, "-m", f"benchmarks.{module}", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr[-3000:]}")
    result: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return result
