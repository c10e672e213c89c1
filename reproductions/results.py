"""Run the commands that pages of results name, and note the commit that each page measures: `make results`.

    python -m reproductions.results [PAGE ...] [--list] [--rivals PYTHON]

A page names its command, and says below its title at which commit it was measured. Trainings are kept in
`build/results`, so a command that was killed goes on.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from reproductions.lab.corpora import ROOT
from reproductions.lab.study import RESULTS
from tagweave import __version__
from tagweave.corpus.files import written

COMMAND = re.compile(r"^(?: {4}|Written by `|`)(python -m (?:reproductions|benchmarks)[^`\n]*)", re.MULTILINE)
MEASURED = re.compile(r"^Measured for .* at commit [0-9a-f]+.*\n\n", re.MULTILINE)

_HEAD = ("git", "rev-parse", "--short", "HEAD")


def pages() -> dict[str, Path]:
    """Return the pages by their names."""
    return {path.stem: path for path in sorted(RESULTS.glob("*.md")) if path.stem != "README"}


def command_of(page: str) -> str:
    """Return the command that the text of a page names."""
    return str(COMMAND.findall(page)[0]).strip()


def stamped(page: str, commit: str, minutes: float | None = None) -> str:
    """Return the text of a page, which says below its title what it measures and, if that is known, in what time."""
    title, _, rest = MEASURED.sub("", page).partition("\n\n")
    took = "" if minutes is None else f", in {minutes:.1f} minutes of a processor"
    return f"{title}\n\nMeasured for {__version__} at commit {commit}{took}.\n\n{rest}"


def run(command: str, rivals: str) -> float:
    """Run the command of a page, and return the minutes of a processor that it took.

    Raises:
        CalledProcessError: it failed.
    """
    words = shlex.split(command.replace("PYTHON", rivals))
    begin = _seconds_of_children()
    subprocess.run([sys.executable, *words[1:]], cwd=ROOT, check=True)
    return (_seconds_of_children() - begin) / 60


def _seconds_of_children() -> float:
    times = os.times()
    return times.children_user + times.children_system


def main() -> None:
    """The command."""
    every = pages()
    parser = argparse.ArgumentParser(prog="python -m reproductions.results", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="names of pages (default: all)")
    parser.add_argument("--list", action="store_true", help="say what would run")
    parser.add_argument("--rivals", default=sys.executable, metavar="PYTHON", help="that of an environment with rivals")
    options = parser.parse_args()
    if unknown := set(options.pages) - set(every):
        parser.error(f"found {', '.join(sorted(unknown))}, expected names of pages in docs/results")
    commit = subprocess.run(_HEAD, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    for name in options.pages or every:
        command = command_of(every[name].read_text(encoding="utf-8"))
        print(f"{name}: {command}", flush=True)
        if not options.list:
            minutes = run(command, options.rivals)
            text = every[name].read_text(encoding="utf-8")
            with written(str(every[name])) as stream:
                stream.write(stamped(text, commit, minutes))


if __name__ == "__main__":
    main()
