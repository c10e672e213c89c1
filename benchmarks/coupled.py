"""Training speed against the number of bundled tags: `python -m benchmarks.coupled [--quick]`.

The corpora are those of the reproduction of li-2015: Zhuxian with CTB tags, the People's Daily with PD tags.
"""

from __future__ import annotations

import argparse
import platform
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from benchmarks.coupled_measure import PLAIN
from benchmarks.processes import measured, publish

BUNDLES = (180, 430, 0)
"""How many bundles, the most frequent pairs of tags; 0: all pairs."""
THREADS = (1, 2)
PRUNE = 0.001
"""The marginal probability from which a tag comes into question, in the rows that are pruned."""

measure = partial(measured, "coupled_measure")


def run(tokens: int, passes: int, progress: Progress) -> list[dict[str, Any]]:
    """A row for every number of labels: the measurements by the number of threads."""
    sizes = [(PLAIN, False), *((str(size), pruned) for size in BUNDLES for pruned in (False, True))]
    task = progress.add_task("coupled", total=1 + len(sizes) * len(THREADS))
    with tempfile.TemporaryDirectory() as folder:
        pairs = str(Path(folder, "pairs.tsv"))
        measure("pairs", pairs, "--tokens", str(tokens))
        progress.advance(task)
        rows = []
        for size, pruned in sizes:
            row: dict[str, Any] = {"size": size, "pruned": pruned, "threads": {}}
            for threads in THREADS:
                words = ["--tokens", str(tokens), "--passes", str(passes), "--threads", str(threads)]
                words += ["--prune", str(PRUNE)] if pruned else []
                row["threads"][str(threads)] = measure(size, pairs, *words)
                progress.advance(task)
            rows.append(row)
    return rows


def table(rows: list[dict[str, Any]]) -> list[str]:
    """The lines of the table."""
    head = ["labels", "of these at a token", "sentences a batch", "weights, millions"]
    for threads in THREADS:
        head += [
            f"tokens a second, {threads} thread{'s' * (threads > 1)}",
            "ms a token",
            "s for 600,000",
            "peak memory, MB",
        ]
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for row in rows:
        one = row["threads"]["1"]
        name = f"{one['labels']:,}" + (" (PD tags, the plain CRF)" if row["size"] == PLAIN else "")
        in_scope = f"{one['in_scope']:.1f}, pruned" if row["pruned"] else "all"
        cells = [name, in_scope, str(one["batch"]), f"{one['weights'] / 1e6:.1f}"]
        for found in row["threads"].values():
            speed = found["tokens_per_second"]
            cells += [
                f"{speed:,.0f}",
                f"{1000 / speed:.3f}",
                f"{600_000 / speed:.1f}",
                f"{found['peak_megabytes']:,.0f}",
            ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def page(rows: list[dict[str, Any]], passes: int) -> list[str]:
    """The lines of the page."""
    tokens = rows[-1]["threads"]["1"]["tokens"]
    return [
        "# Speed of coupled training",
        "",
        f"Written by `python -m benchmarks.coupled` ({platform.machine()}, Python {platform.python_version()}).",
        f"Training data are {tokens:,} tokens, half of them Zhuxian with CTB tags, half the People's Daily with PD",
        "tags (for the plain CRF all of them the People's Daily). The features are those of li-2015, Table 1; bundles",
        "are the pairs of tags that meet most often when a tagger of CTB labels the People's Daily, in the last row",
        "all pairs. Pruned, the bundles at a token are the pairs of tags to which taggers of each side give a",
        f"probability of {PRUNE} or more. A pass of AdaGrad, the fastest of {passes} after one that is not counted;",
        "every measurement is a process of its own.",
        "",
        *table(rows),
        "",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few thousand tokens, one pass, nothing written")
    options = parser.parse_args()
    tokens, passes = (3000, 1) if options.quick else (20_000, 3)
    with Progress(console=Console(stderr=True)) as progress:
        rows = run(tokens, passes, progress)
    publish("speed-coupled", page(rows, passes), rows, options.quick)


if __name__ == "__main__":
    main()
