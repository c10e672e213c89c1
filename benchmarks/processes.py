"""Measurements in processes of their own: peak memory and start-up are theirs alone."""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results"
DATA = RESULTS / "data"
_SPAWN = get_context("spawn")
Row = dict[str, float]
"""Numbers of one run, by their names."""


def publish(name: str, lines: list[str], numbers: Any, quick: bool) -> None:
    """Print a page, and unless the run was a quick one write it, NAME.md, and its numbers, data/NAME.json."""
    text = "\n".join(lines)
    print(text)
    if not quick:
        DATA.mkdir(parents=True, exist_ok=True)
        (RESULTS / f"{name}.md").write_text(text, encoding="utf-8")
        (DATA / f"{name}.json").write_text(json.dumps(numbers, indent=1), encoding="utf-8")


def by_seeds(
    name: str,
    about: str | None,
    settings: Iterable[str],
    measured: Callable[[str, int], Any],
    page: Callable[[dict[str, Any], str, int], list[str]],
    words: Sequence[str] | None = None,
    seeds: int = 3,
) -> None:
    """The command `python -m benchmarks.NAME [SETTING ...] [--seeds N]`: measure settings, and publish their page.

    Args:
        name: the module, and with hyphens the name of its page.
        about: its description.
        settings: the names of all settings; a page of some is printed only.
        measured: takes a setting and the number of seeds to its numbers.
        page: takes the numbers by setting, the command and the number of seeds to the lines of the page.
        words: the arguments; `None` for those of the process.
        seeds: how many by default.
    """
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=about)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(settings)} (default: all)")
    parser.add_argument("--seeds", type=int, default=seeds)
    parser.add_argument("--processes", type=int, default=1, help="how many settings are measured at a time")
    chosen = parser.parse_args(words)
    names = chosen.names or list(settings)
    with nullcontext() if chosen.processes == 1 else ProcessPoolExecutor(chosen.processes, _SPAWN) as pool:
        found = dict(zip(names, (pool.map if pool else map)(measured, names, repeat(chosen.seeds)), strict=True))
    command = shlex.join(["python", "-m", f"benchmarks.{name}", *(sys.argv[1:] if words is None else words)])
    publish(name.replace("_", "-"), page(found, command, chosen.seeds), found, quick=bool(chosen.names))


def rows_by_way(
    settings: Mapping[str, Callable[[int], Iterable[tuple[str, Row]]]], name: str, seeds: int
) -> dict[str, list[Row]]:
    """Return the rows of each way of a setting, one for each seed. A setting takes a seed, yields ways with rows."""
    rows: dict[str, list[Row]] = {}
    for seed in range(seeds):
        for way, row in settings[name](seed):
            rows.setdefault(way, []).append(row)
            print(name, seed, way, row, file=sys.stderr, flush=True)
    return rows


def measured(module: str, *words: str) -> dict[str, Any]:
    """The JSON object that `python -m benchmarks.MODULE WORD ...` prints on its last line; ends the program if it
    fails."""
    command = [sys.executable, "-m", f"benchmarks.{module}", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr[-3000:]}")
    result: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return result
