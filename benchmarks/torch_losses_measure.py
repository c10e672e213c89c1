"""Losses in PyTorch with their gradients, in a process of their own; prints a JSON object on its last line.

python -m benchmarks.torch_losses_measure chains|trees THREADS, or memory LIBRARY
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

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


def main() -> None:
    what, argument = sys.argv[1:]
    if what == "memory":
        print(json.dumps(memory(argument)))
        return
    torch.set_num_threads(int(argument))
    rows = [chains(*size) for size in SIZES] if what == "chains" else [trees(*size) for size in TREES]
    print(json.dumps({"rows": rows}))


if __name__ == "__main__":
    main()
