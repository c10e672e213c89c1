"""Mutate models and checkpoints of every kind, and see that each is used or refused: `python -m benchmarks.fuzz`.

Arrays, numbers, texts, lists and sizes are changed and the digest is made right again, as somebody would who wants to
do harm. What is expected of each file is a correct run, or a refusal: `ModelFileError`, `CheckpointError`. Everything
else is counted too: tracebacks, processes that die, files that take ten seconds of the processor, and those that run
with more than a gigabyte of memory. The program ends with exit code 1 where there was any such thing.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from typing import Any

from benchmarks.processes import ROOT

RESULTS = ("runs", "refusals", "tracebacks", "deaths", "time-outs", "large")
FAULTS = RESULTS[2:]
KINDS = (
    "words",
    "observed",
    "pointwise",
    "segmenter",
    "segtag",
    "lexicon",
    "coupled",
    "coupled-observed",
    "pruned",
    "guided",
    "nested guides",
    "pieces",
    "attributes",
    "parser",
    "parser of heads",
    "guided parser",
    "network",
    *(
        f"checkpoint {learner}"
        for learner in ("adagrad", "lbfgs", "sgd", "rprop", "cg", "perceptron", "pa", "arow", "adamw")
    ),
    "crfsuite",
)


def fuzz(kind: str, mutations: int, seed: int = 0, told: list[Any] | None = None) -> Counter[str]:
    """How many mutations of a kind of file came to which of `RESULTS`; `told` gets [what, result, said, peak megabytes,
    seconds] of each."""
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*_command(kind, folder), "build"], cwd=ROOT, check=True)
        number = 0
        while number < mutations:
            done = subprocess.run(
                [*_command(kind, folder), str(number), str(mutations), str(seed)],
                cwd=ROOT,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
            )
            lines = [json.loads(line) for line in done.stdout.splitlines()]
            if done.returncode or not lines:
                sys.exit(f"{kind}: {done.stderr[-3000:]}")
            for (_, what), (result, *rest) in zip(lines[::2], lines[1::2], strict=True):
                found[result] += 1
                if told is not None:
                    told.append([what, result, *rest])
            number += len(lines) // 2
    return found


def _command(kind: str, folder: str) -> list[str]:
    return [sys.executable, "-m", "benchmarks.fuzz_child", kind, folder]


def _row(found: Counter[str], told: list[Any]) -> str:
    counts = " | ".join(f"{found[each]:,}" for each in RESULTS)
    return f"{counts} | {max(each[-2] for each in told):,} | {max(each[-1] for each in told):.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutations", type=int, default=1000, help="of every kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", action="append", choices=KINDS, help="only this one (repeatable)")
    parser.add_argument("--show", default="tracebacks,deaths,time-outs,large", help="results of which to show each")
    options = parser.parse_args()
    total: Counter[str] = Counter()
    everything: list[Any] = []
    print(f"| kind | mutations | {' | '.join(RESULTS)} | most MB | most s |\n|{'---|' * (len(RESULTS) + 4)}")
    for kind in options.kind or KINDS:
        told: list[Any] = []
        found = fuzz(kind, options.mutations, options.seed, told)
        total += found
        print(f"| {kind} | {found.total():,} | {_row(found, told)}", flush=True)
        everything += told
        for what, result, said, *_ in told:
            if result in options.show.split(","):
                print(f"{kind}: {what}: {result}: {said}", file=sys.stderr)
    print(f"| all | {total.total():,} | {_row(total, everything)}")
    sys.exit(any(total[each] for each in FAULTS))


if __name__ == "__main__":
    main()
