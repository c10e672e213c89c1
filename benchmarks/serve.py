"""`tagweave serve` under load: `python -m benchmarks.serve [--quick] [--seconds N] [--spacy PYTHON]`.

A tagger and a segmenter, with one process and two, with one sentence a request and a hundred; and the tagger beside
that of spaCy behind the same application.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import Progress

import tagweave as tw
from benchmarks.characters import corpora_folder
from benchmarks.processes import ROOT, publish
from benchmarks.treebanks import first
from tagweave.corpus.load import load as load_corpus

CONNECTIONS = {1: 16, 100: 4}
"""For each size of requests, how many are under way."""
_TOLD = "http://"
_LENGTH = re.compile(rb"\r\ncontent-length: (\d+)", re.IGNORECASE)
_START = 5.0  # seconds in which all processes of a server start; the first one answers meanwhile


class Size(NamedTuple):
    """Of a run: sentences to train on, passes of each tagger, seconds of a measurement."""

    sentences: int | None = None
    lines: int = 8_000
    iterations: int = 10
    epochs: int = 10
    seconds: float = 10.0


QUICK = Size(sentences=200, lines=300, iterations=2, epochs=1, seconds=0.5)


class Row(NamedTuple):
    """A server: its title, the operation, the program with its model, processes, and whether requests are alone."""

    title: str
    operation: str
    program: str
    workers: int
    alone: bool = False


ROWS = (
    Row("tagweave, tagger", "tag", "tagweave", 1),
    Row("tagweave, tagger", "tag", "tagweave", 2),
    Row("tagweave, tagger, each request alone", "tag", "tagweave", 1, True),
    Row("spaCy, tagger", "tag", "spacy", 1),
    Row("spaCy, tagger", "tag", "spacy", 2),
    Row("tagweave, segmenter", "segment", "tagweave", 1),
    Row("tagweave, segmenter", "segment", "tagweave", 2),
    Row("tagweave, segmenter, each request alone", "segment", "tagweave", 1, True),
)


class Found(NamedTuple):
    """Requests a second, and milliseconds of their round trips."""

    a_second: float
    median: float
    p95: float


def requests(path: str, texts: Sequence[str], size: int) -> list[bytes]:
    """Requests of `size` texts each, until all texts are used."""
    found = []
    for at in range(0, max(1, len(texts) - size + 1), size):
        body = json.dumps({"text": texts[at]} if size == 1 else {"texts": texts[at : at + size]}).encode()
        head = (
            f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
        )
        found.append(head.encode() + b"\r\n\r\n" + body)
    return found


def load(port: int, sent: Sequence[bytes], connections: int, seconds: float, warm_up: float) -> Found:
    """Send requests over connections that stay open, each as soon as the one before is answered.

    Those of the warm-up are not counted. The client shares the processors with the server, so it does as little as it
    can: bytes that are made beforehand, and of an answer only its status and its length.
    """
    return asyncio.run(_load(port, sent, connections, seconds, warm_up))


async def _load(port: int, sent: Sequence[bytes], connections: int, seconds: float, warm_up: float) -> Found:
    begin = time.perf_counter() + warm_up
    shares = [cycle([*sent[at:], *sent[:at]]) for at in range(0, len(sent), max(1, len(sent) // connections))]
    trips = await asyncio.gather(*(_connection(port, own, begin + seconds) for own in shares[:connections]))
    counted = [stop - start for own in trips for start, stop in own if start >= begin and stop <= begin + seconds]
    median, p95 = (1000 * np.quantile(counted, [0.5, 0.95])).tolist() if counted else (np.nan, np.nan)
    return Found(len(counted) / seconds if seconds else 0.0, median, p95)


async def _connection(port: int, sent: cycle[bytes], end: float) -> list[tuple[float, float]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    trips = []
    try:
        while (start := time.perf_counter()) < end:
            writer.write(next(sent))
            head = await reader.readuntil(b"\r\n\r\n")
            length = _LENGTH.search(head)
            if not head.startswith(b"HTTP/1.1 200 ") or length is None:
                raise ValueError(f"found {head!r}, expected an answer")
            await reader.readexactly(int(length[1]))
            trips.append((start, time.perf_counter()))
    finally:
        writer.close()
        await writer.wait_closed()
    return trips


def train(folder: Path, size: Size, spacy: str) -> dict[str, dict[str, float]]:
    """Train the models of a folder; accuracy and seconds of the taggers, by program."""
    ewt, pd = corpora_folder() / "en" / "ewt", corpora_folder() / "zh" / "pd199801"
    (folder / "train.conllu").write_text(first(ewt / "train.conllu", size.sentences), encoding="utf-8")
    (folder / "test.conllu").write_text(first(ewt / "test.conllu", size.sentences), encoding="utf-8")
    with (pd / "train.txt").open(encoding="utf-8") as lines:
        (folder / "words.txt").write_text("".join(islice(lines, size.lines)), encoding="utf-8")
    begin = time.perf_counter()
    model = tw.train(f"{folder}/train.conllu#upos", iterations=size.iterations)
    seconds = time.perf_counter() - begin
    model.save(folder / "tag.tagweave")
    tw.train(str(folder / "words.txt"), task="segment").save(folder / "segment.tagweave")
    gold = load_corpus(f"{folder}/test.conllu#upos")
    pairs = zip(gold.sentences, model.relabelled(gold).sentences, strict=True)
    right = [
        mine == other
        for one, found in pairs
        for mine, other in zip(one.layers["upos"], found.layers["upos"], strict=True)
    ]
    found = {"tagweave": {"accuracy": sum(right) / len(right), "training": seconds}}
    command = [
        spacy,
        "-m",
        "benchmarks.serve_child",
        "train",
        *(str(folder / name) for name in _FILES),
        str(size.epochs),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        found["spacy"] = json.loads(done.stdout.splitlines()[-1])
    elif "No module named 'spacy'" not in done.stderr:
        sys.exit(done.stderr[-3000:])
    return found


_FILES = ("train.conllu", "test.conllu", "tag.spacy")


def texts(operation: str) -> list[str]:
    """Sentences as they were written."""
    if operation == "segment":
        corpus = load_corpus(str(corpora_folder() / "zh" / "pd199801" / "dev.txt"))
        return ["".join(each.forms) for each in corpus.sentences]
    corpus = load_corpus(str(corpora_folder() / "en" / "ewt" / "test.conllu"))
    mark = "# text = "
    return [line.removeprefix(mark) for each in corpus.sentences for line in each.comments if line.startswith(mark)]


@contextmanager
def served(row: Row, folder: Path, spacy: str) -> Iterator[int]:
    """The port of a server."""
    python = spacy if row.program == "spacy" else sys.executable
    words = [row.program, str(folder / f"{row.operation}.{row.program}"), str(row.workers)]
    command = [python, "-m", "benchmarks.serve_child", *words, *(["--alone"] if row.alone else [])]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr  # noqa: S101
        line = process.stderr.readline()
        while line and not line.startswith(_TOLD):
            line = process.stderr.readline()
        try:
            if not line:
                sys.exit(f"{' '.join(command)} failed")
            yield int(line.strip().strip("/").rpartition(":")[2])
        finally:
            process.terminate()


def measure(row: Row, folder: Path, size: Size, spacy: str) -> dict[str, Any]:
    """The numbers of a server: alone and under load, by the size of requests."""
    found: dict[str, Any] = row._asdict()
    sentences = texts(row.operation)
    with served(row, folder, spacy) as port:
        load(port, requests(f"/{row.operation}", sentences, 1), 1, _START * (row.workers > 1), 0)
        for number, connections in CONNECTIONS.items():
            sent = requests(f"/{row.operation}", sentences, number)
            single = load(port, sent, 1, size.seconds / 4, size.seconds / 5)
            many = load(port, sent, connections, size.seconds, size.seconds / 5)
            found[str(number)] = {"single": single._asdict(), **many._asdict()}
    return found


def run(size: Size, spacy: str) -> tuple[list[dict[str, Any]], dict[str, dict[str, float]]]:
    """All rows, and the trainings."""
    with tempfile.TemporaryDirectory() as name, Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task("serving", total=len(ROWS) + 1)
        trained = train(Path(name), size, spacy)
        progress.advance(task)
        rows = []
        for row in ROWS:
            known = row.program in trained
            rows.append(measure(row, Path(name), size, spacy) if known else row._asdict())
            progress.advance(task)
    return rows, trained


def table(rows: list[dict[str, Any]], size: int) -> list[str]:
    """The table of one size of requests."""
    head = ["", "processes", "requests a second", "sentences a second", "median, ms", "p95, ms", "alone, ms"]
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for row in rows:
        cells = [row["title"], str(row["workers"]), *["not installed", *[""] * 4]]
        if found := row.get(str(size)):
            rates = [f"{found['a_second']:,.0f}", f"{size * found['a_second']:,.0f}"]
            cells[2:] = [
                *rates,
                *(f"{each:.1f}" for each in (found["median"], found["p95"], found["single"]["median"])),
            ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def page(rows: list[dict[str, Any]], trained: dict[str, dict[str, float]], size: Size) -> list[str]:
    """The lines of the page."""
    names = {"tagweave": "tagweave's", "spacy": "spaCy's"}
    taggers = [f"{names[name]} has {100 * found['accuracy']:.2f}" for name, found in trained.items()]
    connections = " and ".join(map(str, CONNECTIONS.values()))
    return [
        "# Serving under load",
        "",
        f"Written by `python -m benchmarks.serve` ({platform.machine()}, {os.cpu_count()} cores, Python"
        f" {platform.python_version()}).",
        f"Clients on the same machine send requests over {connections} connections, each as soon as the one before is",
        f"answered, for {size.seconds:g} seconds. Taggers learn UPOS of UD English EWT, "
        f"{size.iterations} and {size.epochs} passes; accuracy on its test",
        f"data: {', '.join(taggers)}. Texts are its test sentences, cut by each program's own rules;",
        f"the segmenter is of {size.lines:,} lines of the People's Daily, its texts are lines of the development data.",
        "",
        "spaCy's is the blank English pipeline with a tagger (its default network), in the place of tagweave's models",
        "behind the same application, so what differs is `nlp.pipe`. *Each request alone* is tagweave without batches",
        "over connections. The last column is the median round trip while nobody else asks.",
        "",
        "## One sentence a request",
        "",
        *table(rows, 1),
        "",
        "## A hundred sentences a request",
        "",
        *table(rows, 100),
        "",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small models, half a second each; nothing written")
    parser.add_argument("--seconds", type=float, help="of a measurement; 10 by default")
    parser.add_argument(
        "--spacy", metavar="PYTHON", default=sys.executable, help="the Python of an environment with spaCy"
    )
    options = parser.parse_args()
    size = QUICK if options.quick else Size()
    size = size._replace(seconds=options.seconds or size.seconds)
    rows, trained = run(size, options.spacy)
    publish("speed-serve", page(rows, trained, size), {"rows": rows, "trained": trained}, options.quick)


if __name__ == "__main__":
    main()
