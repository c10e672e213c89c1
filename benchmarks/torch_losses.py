"""Losses in PyTorch beside pytorch-crf and torch-struct: `python -m benchmarks.torch_losses [--quick]`.

torch-struct is not in the environment: `pip install --no-deps --target FOLDER torch-struct`, and FOLDER in PYTHONPATH.
"""

from __future__ import annotations

import argparse
import platform
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

from benchmarks.processes import measured, publish
from benchmarks.torch_losses_measure import MEMORY

_ROUNDS = 2


def rows(what: str, threads: str, rounds: int) -> list[dict[str, float]]:
    """The rows of a table, each number the least of some processes."""
    found = [measured("torch_losses_measure", what, threads)["rows"] for _ in range(rounds)]
    return [{key: min(each[key] for each in same) for key in same[0]} for same in zip(*found, strict=True)]


def _table(titles: str, lines: list[str]) -> list[str]:
    return [titles, "|" + "---|" * (titles.count("|") - 1), *lines, ""]


def chain_lines(found: list[dict[str, float]]) -> list[str]:
    return [
        f"| {each['labels']:,.0f} | {each['sentences']:.0f} | {1e3 * each['crf']:,.1f} | {1e3 * each['tagweave']:.2f} |"
        f" {each['crf'] / each['tagweave']:.0f}x | {1e3 * each['partial']:.2f} | {1e3 * each['crf_decode']:,.1f} |"
        f" {1e3 * each['tagweave_decode']:.2f} | {each['crf_decode'] / each['tagweave_decode']:.0f}x |"
        for each in found
    ]


def tree_lines(found: dict[str, list[dict[str, float]]]) -> list[str]:
    return [
        f"| {threads} | {each['words']:.0f} | {1e3 * each['torch_struct']:.1f} | {1e3 * each['tagweave']:.2f} |"
        f" {each['torch_struct'] / each['tagweave']:.1f}x |"
        for threads, own in found.items()
        for each in own
    ]


def page(found: dict[str, Any]) -> list[str]:
    """The lines of the page."""
    titles = (
        "| labels | sentences | pytorch-crf, ms | tagweave, ms | ratio | half of the labels unknown, ms |"
        " decoding: pytorch-crf, ms | tagweave, ms | ratio |"
    )
    crf, own = found["memory"]["crf"]["step"], found["memory"]["tagweave"]["step"]
    worst = max(each["difference"] for each in [*found["chains"]["1"], *found["chains"]["2"]])
    lines = [
        "# Speed of losses in PyTorch",
        "",
        f"Written by `python -m benchmarks.torch_losses` ({platform.machine()}, Python {platform.python_version()},",
        f"PyTorch {version('torch')}, pytorch-crf {version('pytorch-crf')}). Milliseconds on the processor for the",
        "loss of a batch and its gradient with respect to all scores, in float32; sentences have 10 to 40 tokens,",
        "padded to 40. Both modules have the same weights. They take turns, and the number is the least of all",
        "repetitions within two seconds, in two processes. With half of the labels unknown pytorch-crf has no loss.",
        "Threads are those of `torch.set_num_threads`.",
        "",
    ]
    for threads, rows_of in found["chains"].items():
        lines += [f"## {threads} thread{'s' if threads != '1' else ''}", "", *_table(titles, chain_lines(rows_of))]
    lines += [
        f"The losses of both differ by {worst:.0e} of their value at most.",
        "",
        "## Memory",
        "",
        f"One step over {MEMORY[1]} sentences with {MEMORY[0]} labels takes {crf:,.0f} MB with pytorch-crf, and",
        f"{own:,.0f} MB with tagweave: {crf / own:.0f} times less.",
        "",
    ]
    if found["trees"]:
        lines += [
            "## Trees",
            "",
            "Projective trees over 32 sentences, whose lengths are at most the number of words and at least half of",
            f"it; all heads are known. torch-struct {version('torch-struct')} sums over arcs in float32, tagweave by",
            "the recurrence that has siblings, too, in float64.",
            "",
            *_table("| threads | words | torch-struct, ms | tagweave, ms | ratio |", tree_lines(found["trees"])),
        ]
    return lines[:-1]


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="each process once; write no page")
    options = parser.parse_args()
    rounds = 1 if options.quick else _ROUNDS
    found: dict[str, Any] = {
        "chains": {threads: rows("chains", threads, rounds) for threads in ("1", "2")},
        "memory": {library: measured("torch_losses_measure", "memory", library) for library in ("crf", "tagweave")},
        "trees": {},
    }
    if find_spec("torch_struct") is not None:
        found["trees"] = {threads: rows("trees", threads, rounds) for threads in ("1", "2")}
    publish("torch-losses", page(found), found, options.quick)


if __name__ == "__main__":
    main()
