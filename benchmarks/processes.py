"""Measurements in processes of their own: peak memory and start-up are theirs alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results"
DATA = RESULTS / "data"
PICTURES = RESULTS / "pictures"


def publish(name: str, lines: list[str], numbers: Any, quick: bool) -> None:
    """Print a page, and unless the run was a quick one write it, NAME.md, and its numbers, data/NAME.json."""
    text = "\n".join(lines)
    print(text)
    if not quick:
        DATA.mkdir(parents=True, exist_ok=True)
        (RESULTS / f"{name}.md").write_text(text, encoding="utf-8")
        (DATA / f"{name}.json").write_text(json.dumps(numbers, indent=1), encoding="utf-8")


def measured(module: str, *words: str) -> dict[str, Any]:
    """The JSON object that `python -m benchmarks.MODULE WORD ...` prints on its last line; ends the program if it
    fails."""
    command = [sys.executable, "-m", f"benchmarks.{module}", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr[-3000:]}")
    result: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return result
