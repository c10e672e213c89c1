"""Options that all studies have: where pages and finished trainings go."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from reproductions.lab.code import ROOT

RESULTS = ROOT / "docs" / "results"
"""The folder of all pages."""
_CACHE, _QUICK = ROOT / "build" / "results", ROOT / "build" / "quick"


def study_parser(name: str, about: str | None, quick: str = "") -> argparse.ArgumentParser:
    """Return the parser of a study's command, with `--cache` and `--out`.

    Args:
        name: of the study.
        about: its description.
        quick: what `--quick` takes, where a study has it; its page does not go where the others are.
    """
    parser = argparse.ArgumentParser(prog=f"python -m reproductions {name}", description=about)
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of pages, numbers, plots (docs/results)")
    parser.add_argument(
        "--cache",
        type=Path,
        default=_CACHE,
        help="folder of finished trainings (build/results)",
    )
    if quick:
        parser.add_argument("--quick", action=_Quick, nargs=0, default=False, help=f"{quick}, to see that it works")
    return parser


class _Quick(argparse.Action):
    def __call__(self, _parser: Any, options: argparse.Namespace, *_words: Any) -> None:
        options.quick = True
        if options.out == RESULTS:
            options.out = _QUICK
