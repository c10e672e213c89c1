"""What each format of other tools keeps, and what damaged files of it do: `python -m benchmarks.exchange_formats`.

Small corpora are written and read again: labels, unknown positions, candidates, candidates with numbers, trees. Then
files are mutated, also inside their zips and compressed data, and each is read in a process of its own. It has to be
read, or refused with an error for users, and to take no more than a gigabyte and ten seconds of the processor unless it
is refused. The program ends with exit code 1 where there was anything else.

`python -m benchmarks.exchange_formats child` is the process that forks those: it reads lines of JSON, [TOOL, PATH]
(without a tool, a corpus format by its extension), and answers each with [RESULT, SAID, MEGABYTES, SECONDS]. The
libraries are there before the first file, so a file takes what it takes itself.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import tagweave as tw
from benchmarks.exchange_mutations import mutated
from benchmarks.processes import ROOT
from tagweave.corpus.candidates import Soft
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats import FORMATS
from tagweave.corpus.load import load, save
from tagweave.corpus.sentence import Arc, Layer, Sentence
from tagweave.errors import is_for_users
from tagweave.exchange.exports import TOKEN_TOOLS, TOOLS

_SECONDS = 30  # of the processor, after which a process is ended
_BYTES = 6 << 30
MEGABYTES, SECONDS = 1024, 10
"""What a file may take that is not refused; seconds are those of the processor."""
OUTSIDE = ("O",)
LABELS: dict[str, Layer] = {
    "labels": (("B-PER",), ("I-PER",), OUTSIDE, ("B-LOC",), OUTSIDE),
    "unknown": (("B-PER",), ("I-PER",), None, ("B-LOC",), OUTSIDE),
    "candidates": (("B-PER",), ("I-PER", "O"), OUTSIDE, ("B-LOC", "B-ORG"), OUTSIDE),
    "scores": (("B-PER",), ("I-PER",), OUTSIDE, Soft(("B-LOC", "O"), (0.75, 0.25)), OUTSIDE),
}
"""Kinds of evidence on five tokens."""
TREE = (Arc(2, "flat"), Arc(3, "nsubj"), Arc(0, "root"), Arc(3, "obj"), Arc(3, "punct"))
_FORMS = ("Ann", "Bell", "left", "Gräz", ".")
_COMMENTS = ("# document = 1", "# text = Ann Bell left Gräz.", "# start = 0")
_HEAD = """\
# Formats of other tools

What is the same after a corpus was [exported](../exchange.md) and imported again, and what became of files that were
changed at random, also inside zips and compressed data: bytes; numbers made huge; nulls; values that refer to
themselves; values in values; repeated lines, objects and members; sizes in headers. They are read, or refused with an
error that says what is wrong; *else* counts tracebacks, and files that took more than a gigabyte or ten seconds of the
processor and were not refused. The last columns are the most that any file took, 0.1 GB for the libraries among it.
`--unmarked`: with `--unmarked unknown`. *refused*: the format cannot hold it, and the error says so. *no*: a span
without its number, or tokens in no span, since such a file holds suggestions for people; and marks are no trees.
"""
_LIBRARIES = (
    "tagweave.front.exchange",
    "tagweave.exchange.exports",
    "tagweave.corpus.load",
)
_OTHERS = ("spacy.tokens", "srsly.msgpack")


class Taken(NamedTuple):
    """What became of a file: `read`, `refused`, the name of an exception or of a signal; and what it took."""

    result: str
    said: str
    megabytes: float
    seconds: float


class Child:
    """The process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def read(self, tool: str, path: str) -> Taken:
        """Import a file there."""
        print(json.dumps([tool, path]), file=self._process.stdin, flush=True)
        return Taken(*json.loads(self._process.stdout.readline()))  # type: ignore[union-attr]


@contextmanager
def child() -> Iterator[Child]:
    """Return the process, which ends with the block."""
    words = [sys.executable, "-W", "ignore", "-m", "benchmarks.exchange_formats", "child"]
    with subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Child(process)
        finally:
            process.kill()


def _read(tool: str, path: str) -> tuple[str, str]:
    how = {"misaligned": "unknown"} if tool in TOOLS else {}
    try:
        found = tw.read_documents(tool, path, tell=lambda _: None, **how) if tool else tw.load(path)
    except BaseException as error:
        return ("refused" if is_for_users(error) else type(error).__name__), str(error)
    return "read", f"{len(found)} sentences"


def _measured(tool: str, path: str) -> Taken:
    """Import a file in a fork."""
    answers, answer = os.pipe()
    number = os.fork()
    if not number:
        resource.setrlimit(resource.RLIMIT_AS, (_BYTES, _BYTES))
        signal.setitimer(signal.ITIMER_PROF, _SECONDS)
        os.write(answer, json.dumps(_read(tool, path)).encode())
        os._exit(0)
    os.close(answer)
    with os.fdopen(answers, "rb") as stream:
        said = stream.read()
    _, status, usage = os.wait4(number, 0)
    result, told = json.loads(said) if said else (signal.Signals(os.WTERMSIG(status)).name, "")
    return Taken(result, told, usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime)


def answer_lines() -> None:
    """Be the process that imports files."""
    for name in (*_LIBRARIES, *_OTHERS):
        with suppress(ImportError):
            import_module(name)
    for line in sys.stdin:
        print(json.dumps(_measured(*json.loads(line))), flush=True)


@dataclass(frozen=True)
class Kind:
    """A format: its name, the tool it is of ("": a corpus format), the extension of a file, and how a corpus is written
    and read; `None`: not written."""

    name: str
    tool: str
    extension: str
    write: Callable[[Corpus, str], object] | None
    read: Callable[[str], Corpus]
    read_partial: Callable[[str], Corpus] | None = None


def kinds() -> list[Kind]:
    """The formats: of tools with offsets, of libraries with tokens, and the corpus formats that hold most."""
    found = [_of_tool(name, TOOLS[name].extension) for name in TOOLS]
    found += [_of_library(tool.name, tool.extensions[0]) for tool in TOKEN_TOOLS.values()]
    for name in ("conllu", "columns"):
        extension = FORMATS[name].extensions[0]
        found.append(Kind(name, "", extension, save, load))
    return found


def _quiet(_: str) -> None:
    pass


def _of_tool(name: str, extension: str) -> Kind:
    return Kind(
        name,
        name,
        extension,
        lambda corpus, path: tw.write_documents(name, corpus, path),
        lambda path: tw.read_documents(name, path, misaligned="unknown", tell=_quiet),
        lambda path: tw.read_documents(name, path, unmarked="unknown", tell=_quiet),
    )


def _of_library(name: str, extension: str) -> Kind:
    def read(path: str) -> Corpus:
        return tw.read_documents(name, path, tell=_quiet)

    return Kind(
        f"{name}, {extension}", name, extension, lambda corpus, path: tw.write_documents(name, corpus, path), read
    )


def sample(kind: str) -> Corpus:
    """A corpus with this kind of evidence, or with a tree."""
    layers = {"ner": LABELS["labels" if kind == "trees" else kind]}
    heads = {"head": tuple((each,) for each in TREE)} if kind == "trees" else {}
    return Corpus((Sentence(_FORMS, layers, heads=heads, comments=_COMMENTS),), "ner")


def kept(form: Kind, evidence: str, folder: Path) -> str:
    """`yes`, `no` or `refused`: whether a kind of evidence is the same after writing and reading."""
    path, corpus = str(folder / f"kept{form.extension}"), sample(evidence)
    if form.write is None:
        return "-"
    try:
        form.write(corpus, path)
        if _same(form.read(path), corpus):
            return "yes"
        if form.read_partial is not None and evidence == "unknown" and _is_partial(form.read_partial(path)):
            return "`--unmarked`"
    except ValueError as error:
        if not is_for_users(error):
            raise
        return "refused"
    return "no"


def _same(found: Corpus, corpus: Corpus) -> bool:
    own = corpus[0].layers["ner"]
    heads = [each.heads.get("head", (None,) * len(each)) for each in (found[0], corpus[0])]
    return len(found) == 1 and own in found[0].layers.values() and heads[0] == heads[1]


def _is_partial(found: Corpus) -> bool:
    (layer,) = found[0].layers.values()
    return layer[2] is None and layer[0] == ("B-PER",)


@dataclass
class Outcomes:
    """What became of mutated files.

    Attributes:
        counts: how many were read or refused; everything else by its name, such as that of an exception.
        megabytes: the most that one took, refused or not.
        seconds: likewise.
        faults: what was said of those that were neither, or took too much.
    """

    counts: Counter[str] = field(default_factory=Counter)
    megabytes: float = 0.0
    seconds: float = 0.0
    faults: list[str] = field(default_factory=list)

    def add(self, taken: Taken) -> None:
        """Count one."""
        much = taken.result != "refused" and (taken.megabytes > MEGABYTES or taken.seconds > SECONDS)
        result = "too much" if much else taken.result
        self.counts[result] += 1
        self.megabytes, self.seconds = max(self.megabytes, taken.megabytes), max(self.seconds, taken.seconds)
        if result not in ("read", "refused"):
            self.faults.append(f"{result}: {taken.said} ({taken.megabytes:.0f} MB, {taken.seconds:.1f} s)")


def outcomes(form: Kind, number: int, folder: Path, process: Child, seed: int = 0) -> Outcomes:
    """What becomes of mutated files, which are read in a process."""
    rng, path, found = random.Random(f"{form.name} {seed}"), folder / f"mutated{form.extension}", Outcomes()
    if form.write is None:
        return found
    form.write(sample("labels"), str(path))
    data = path.read_bytes()
    for _ in range(number):
        path.write_bytes(mutated(data, rng))
        found.add(process.read(form.tool, str(path)))
    return found


def table(rows: Iterable[tuple[str, dict[str, str], Outcomes]], mutations: int) -> str:
    """The page."""
    evidence = [*LABELS, "trees"]
    lines = [
        *_HEAD.split("\n"),
        f"| format | {' | '.join(evidence)} | mutated: read | refused | else | most MB | most s |",
        f"|{' --- |' * (len(evidence) + 6)}",
    ]
    for name, cells, found in rows:
        read, refused = found.counts["read"], found.counts["refused"]
        shown = " | ".join(cells[each] for each in evidence)
        counts = f"{read} | {refused} | {found.counts.total() - read - refused}"
        lines.append(f"| {name} | {shown} | {counts} | {found.megabytes:.0f} | {found.seconds:.1f} |")
    command = f"python -m benchmarks.exchange_formats --mutations {mutations}"
    return "\n".join([*lines, "", f"Written by `{command}`."]) + "\n"


def main() -> int:
    """Print the table; 1 if a mutated file was neither read nor refused."""
    if sys.argv[1:] == ["child"]:
        answer_lines()
        return 0
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutations", type=int, default=1000, help="of every format")
    number, rows = parser.parse_args().mutations, []
    with tempfile.TemporaryDirectory() as folder, child() as process:
        for form in kinds():
            cells = {each: kept(form, each, Path(folder)) for each in (*LABELS, "trees")}
            rows.append((form.name, cells, outcomes(form, number, Path(folder), process)))
            print(json.dumps([form.name, cells, rows[-1][2].counts]), *rows[-1][2].faults, sep="\n", flush=True)
    print(table(rows, number))
    return int(any(found.faults for _, _, found in rows))


if __name__ == "__main__":
    sys.exit(main())
