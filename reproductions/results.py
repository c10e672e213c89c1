"""Run the commands that pages of results name, and note of which code and data each page is: `make results`.

    python -m reproductions.results [PAGE ...] [--list] [--rivals PYTHON]

A page names its command. A run notes the packages and modules that were imported and the corpora that were opened, with
digests of them; a page whose digests are still the same does not run again. Trainings are kept in `build/results`, so a
command that was killed goes on.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from reproductions.lab.code import ROOT, code_digest
from reproductions.lab.corpora import all_corpora
from reproductions.lab.options import RESULTS
from tagweave.corpus.files import written

RUNS = RESULTS / "data" / "runs.json"
_COMMAND = re.compile(r"^(?: {4}|Written by `|`)(python -m (?:reproductions|benchmarks)[^`\n]*)", re.MULTILINE)
_HEADING = "## When each page was run\n"
_RECORDING = Path(__file__).parent / "recording"
_FOLDERS = {"tagweave": ROOT / "src", "reproductions": ROOT, "benchmarks": ROOT}


@dataclass(frozen=True)
class PageRun:
    """The last run of a page.

    Attributes:
        command: of the page, or several, a line each.
        date: the day, as 2026-01-31.
        seconds: how long it took, by the clock; 0 if nobody knows.
        code, data: digests, by package or module, and by file of the corpora.
    """

    command: str
    date: str
    seconds: float
    code: dict[str, str]
    data: dict[str, str]

    def changed(self, command: str) -> list[str]:
        """Return what is another now: packages, modules, corpora, and the command."""
        now = {**code_digests(self.code), **data_digests(self.data)}
        names = [name for name, digest in {**self.code, **self.data}.items() if now[name] != digest]
        return [*names, *(["the command"] if command != self.command else [])]


def commands() -> dict[str, str]:
    """Return the commands of every page, a line each."""
    pages = {path.stem: path.read_text(encoding="utf-8") for path in sorted(RESULTS.glob("*.md"))}
    return {name: "\n".join(_COMMAND.findall(text)) for name, text in pages.items() if name != "README"}


def runs() -> dict[str, PageRun]:
    """Return the last run of every page that has one."""
    found = json.loads(RUNS.read_text(encoding="utf-8")) if RUNS.exists() else {}
    return {name: PageRun(**of_page) for name, of_page in found.items()}


def code_digests(names: Iterable[str]) -> dict[str, str]:
    """Return the digests of packages and modules; one that is gone has an empty digest."""
    places = {name: _FOLDERS[name.partition(".")[0]] / name.replace(".", "/") for name in names}
    files = {name: path if path.is_dir() else path.with_suffix(".py") for name, path in places.items()}
    return {name: code_digest(path) if path.exists() else "" for name, path in files.items()}


def data_digests(names: Iterable[str]) -> dict[str, str]:
    """Return the digests of files of the corpora; one that is gone has an empty digest."""
    return {name: _file_digest(all_corpora() / name) for name in names}


@cache
def _file_digest(path: Path) -> str:
    if not path.is_file():
        return ""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()[:12]


def run(command: str, rivals: str) -> PageRun:
    """Run the commands of a page, and return what they took.

    Raises:
        CalledProcessError: one failed.
    """
    lines = [shlex.split(line.replace("PYTHON", rivals)) for line in command.splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "record"
        paths = os.pathsep.join((str(_RECORDING), str(ROOT), os.environ.get("PYTHONPATH", "")))
        places = {"RESULTS_RECORD": str(record), "RESULTS_CORPORA": str(all_corpora()), "PYTHONPATH": paths}
        begin = time.monotonic()
        for words in lines:
            subprocess.run([sys.executable, *words[1:]], cwd=ROOT, env={**os.environ, **places}, check=True)
        seconds = round(time.monotonic() - begin, 1)
        noted = [line.split(" ", 1) for line in record.read_text(encoding="utf-8").splitlines()]
    modules = [*(words[2] for words in lines), *(name for kind, name in noted if kind == "module")]
    units = sorted({".".join(each.split(".")[:2]) for each in modules})
    files = sorted({name for kind, name in noted if kind == "file"})
    day = datetime.now(UTC).date().isoformat()
    return PageRun(command, day, seconds, code_digests(units), data_digests(files))


def state(of_page: PageRun | None, command: str) -> str:
    """Return what has changed since the last run of a page."""
    if of_page is None:
        return "written before runs were noted"
    return ", ".join(each.removeprefix("tagweave.") for each in of_page.changed(command)) or "nothing"


def table(named: Mapping[str, str], ran: Mapping[str, PageRun]) -> Iterator[str]:
    """The lines of the section of `docs/results/README.md`."""
    yield _HEADING
    yield "`make results` runs again what has changed since, `make results ONLY='check race'` some pages; `make results"
    yield "ONLY=--list` says what would run, and how long it took.\n"
    yield "| page | run | minutes | changed since |"
    yield "|---|---|---|---|"
    for name, command in named.items():
        of_page = ran.get(name)
        took = f"{of_page.date} | {_minutes(of_page)}" if of_page else " | "
        yield f"| [{name}]({name}.md) | {took} | {state(of_page, command)} |"


def _minutes(of_page: PageRun) -> str:
    return f"{of_page.seconds / 60:.1f}" if of_page.seconds else ""


def note(ran: Mapping[str, PageRun]) -> None:
    """Write the file of runs, and the section of them."""
    with written(str(RUNS)) as stream:
        stream.write(json.dumps({name: asdict(ran[name]) for name in sorted(ran)}, indent=1) + "\n")
    readme = RESULTS / "README.md"
    text = readme.read_text(encoding="utf-8").partition(_HEADING)[0]
    with written(str(readme)) as stream:
        stream.write(text.rstrip() + "\n\n" + "\n".join(table(commands(), ran)) + "\n")


def main() -> None:
    """The command."""
    named, ran = commands(), runs()
    parser = argparse.ArgumentParser(prog="python -m reproductions.results", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="names of pages (default: all)")
    parser.add_argument("--list", action="store_true", help="say what would run, and how long the last run took")
    parser.add_argument("--rivals", default="", metavar="PYTHON", help="the Python of an environment with the rivals")
    options = parser.parse_args()
    if unknown := set(options.pages) - set(named):
        parser.error(f"found {', '.join(sorted(unknown))}, expected names of pages in docs/results")
    todo: dict[str, list[str]] = {}
    for name in options.pages or named:
        if name not in ran or ran[name].changed(named[name]):
            todo.setdefault(named[name], []).append(name)
    known = [took for names in todo.values() if names[0] in ran and (took := ran[names[0]].seconds)]
    print(f"{len(todo)} commands: {sum(known) / 60:.0f} minutes for {len(known)}; the others were never timed")
    for command, names in todo.items():
        print(f"{', '.join(names)}: {state(ran.get(names[0]), command)}", *command.splitlines(), sep="\n  ", flush=True)
        if options.list:
            continue
        if "PYTHON" in command and not options.rivals:
            print("  left out: it needs --rivals")
            continue
        found = run(command, options.rivals)
        ran |= dict.fromkeys([name for name, own in named.items() if own == command], found)
        note(ran)


if __name__ == "__main__":
    main()
