"""Losses in PyTorch beside pytorch-crf and torch-struct: `python -m benchmarks.torch_losses [--quick]`.

torch-struct is not in the environment: `pip install --no-deps --target FOLDER torch-struct`, and FOLDER in PYTHONPATH.
Measurements are processes of their own, `python -m benchmarks.torch_losses chains|trees THREADS` or `memory LIBRARY`,
which print a JSON object on their last line.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import torch
from torch import Tensor

from benchmarks.processes import measured, publish
from tagweave.torch import ChainLoss, TreeLoss

SIZES = ((9, 32), (9, 256), (45, 32), (45, 256), (200, 32), (200, 256), (1000, 8))
"""Labels and sentences of batches."""
TREES = ((10, 32), (20, 32), (40, 32))
"""Words of the longest sentence, and sentences."""
MEMORY = 200, 256
LONGEST = 40
_SECONDS = 2.0  # how long a measurement is repeated, at least three times each
_PARTIAL = 0.5  # the share of labels that is unknown


def seconds(*steps: Callable[[], object]) -> list[float]:
    """The least seconds of each; they take turns of three runs, so that what else runs slows all of them down."""
    found: list[list[float]] = [[] for _ in steps]
    for step in steps:
        step()
    begin = time.perf_counter()
    while not found[0] or time.perf_counter() - begin < _SECONDS:
        for own, step in zip(found, steps, strict=True):
            for _ in range(3):
                start = time.perf_counter()
                step()
                own.append(time.perf_counter() - start)
    return [min(own) for own in found]


def stepping(loss: Callable[[], Tensor], *inputs: Tensor) -> Callable[[], float]:
    """A function that computes a loss, and its gradient anew."""

    def step() -> float:
        for each in inputs:
            each.grad = None
        value = loss()
        value.backward()
        return value.item()

    return step


def batch(labels: int, rows: int) -> tuple[Tensor, Tensor, Tensor]:
    """Scores, labels and the mask of rows of 10 to 40 tokens, padded to the right."""
    torch.manual_seed(0)
    lengths = torch.randint(10, LONGEST + 1, (rows, 1))
    lengths[0] = LONGEST
    emissions = torch.randn(rows, LONGEST, labels, requires_grad=True)
    return emissions, torch.randint(labels, (rows, LONGEST)), torch.arange(LONGEST) < lengths


def both(labels: int) -> tuple[Any, ChainLoss]:
    """The modules of pytorch-crf and of tagweave, with the same weights."""
    from torchcrf import CRF

    crf, module = CRF(labels, batch_first=True), ChainLoss(labels)
    module.load_state_dict(crf.state_dict())
    return crf, module


def chains(labels: int, rows: int) -> dict[str, float]:
    emissions, ids, mask = batch(labels, rows)
    crf, module = both(labels)
    partial = torch.where(torch.rand(ids.shape) < _PARTIAL, -1, ids)
    steps = (
        stepping(lambda: -crf(emissions, ids, mask, reduction="mean"), emissions, *crf.parameters()),
        stepping(lambda: module(emissions, ids, mask), emissions, *module.parameters()),
        stepping(lambda: module(emissions, partial, mask), emissions, *module.parameters()),
    )
    theirs, ours = steps[0](), steps[1]()
    found = dict(zip(("crf", "tagweave", "partial"), seconds(*steps), strict=True))
    decoding = seconds(lambda: crf.decode(emissions, mask), lambda: module.decode(emissions, mask))
    found |= dict(zip(("crf_decode", "tagweave_decode"), decoding, strict=True))
    return found | {"labels": labels, "sentences": rows, "difference": abs(ours - theirs) / theirs}


def trees(words: int, rows: int) -> dict[str, float]:
    """Projective trees whose root may have several children, as torch-struct has them: roots on the diagonal."""
    torch.distributions.Distribution.set_default_validate_args(False)
    from torch_struct import DependencyCRF

    torch.manual_seed(0)
    lengths = torch.randint(words // 2, words + 1, (rows,))
    lengths[0] = words
    arcs, module = torch.randn(rows, words + 1, words + 1), TreeLoss(single_root=False)
    mask = torch.arange(words) < lengths[:, None]
    heads = module.decode(arcs, mask)
    theirs = arcs[:, 1:, 1:].clone()
    theirs.diagonal(dim1=1, dim2=2)[:] = arcs[:, 0, 1:]
    arcs.requires_grad_()
    theirs.requires_grad_()
    known = torch.zeros(rows, words, words)
    row, word = mask.nonzero(as_tuple=True)
    head = heads[row, word] - 1
    known[row, torch.where(head < 0, word, head), word] = 1

    def their_loss() -> Tensor:
        distribution = DependencyCRF(theirs, lengths=lengths)
        return (distribution.partition - (theirs * known).sum((1, 2))).mean()

    steps = stepping(their_loss, theirs), stepping(lambda: module(arcs, heads), arcs)
    values = [step() for step in steps]
    found = dict(zip(("torch_struct", "tagweave"), seconds(*steps), strict=True))
    return found | {"words": words, "sentences": rows, "difference": abs(values[1] - values[0]) / abs(values[0])}


def memory(library: str) -> dict[str, float]:
    """Megabytes that the process has at its peak, and how much of that one step takes."""

    def peak() -> float:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    def run(labels: int, rows: int) -> None:
        emissions, ids, mask = batch(labels, rows)
        crf, module = both(labels)
        before.append(peak())
        if library == "crf":
            (-crf(emissions, ids, mask, reduction="mean")).backward()
        else:
            module(emissions, ids, mask).backward()

    before: list[float] = []
    run(9, 2)  # what is loaded and compiled is not counted
    run(*MEMORY)
    return {"peak": peak(), "step": peak() - before[-1]}


def one(what: str, argument: str) -> None:
    """One measurement, in a process of its own."""
    if what == "memory":
        print(json.dumps(memory(argument)))
        return
    torch.set_num_threads(int(argument))
    found = [chains(*size) for size in SIZES] if what == "chains" else [trees(*size) for size in TREES]
    print(json.dumps({"rows": found}))


_ROUNDS = 2


def rows(what: str, threads: str, rounds: int) -> list[dict[str, float]]:
    """The rows of a table, each number the least of some processes."""
    found = [measured("torch_losses", what, threads)["rows"] for _ in range(rounds)]
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
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        one(*sys.argv[1:])
        return
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="each process once; write no page")
    options = parser.parse_args()
    rounds = 1 if options.quick else _ROUNDS
    found: dict[str, Any] = {
        "chains": {threads: rows("chains", threads, rounds) for threads in ("1", "2")},
        "memory": {library: measured("torch_losses", "memory", library) for library in ("crf", "tagweave")},
        "trees": {},
    }
    if find_spec("torch_struct") is not None:
        found["trees"] = {threads: rows("trees", threads, rounds) for threads in ("1", "2")}
    publish("torch-losses", page(found), found, options.quick)


if __name__ == "__main__":
    main()
