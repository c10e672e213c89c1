"""Mutate models and checkpoints of every kind, and see that each is used or refused: `python -m benchmarks.fuzz`.

Arrays, numbers, texts and lists are changed and the digest is made right again, as somebody would who wants to do harm.
What is expected of each file is a correct run, or a refusal: `ModelFileError`, `CheckpointError`. Everything else is
counted too: tracebacks, processes that die, and files that take ten seconds of the processor. The program ends with
exit code 1 where there was any such thing.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from typing import Any

from benchmarks.processes import ROOT

RESULTS = ("runs", "refusals", "tracebacks", "deaths", "time-outs")
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
    *(f"checkpoint {learner}" for learner in ("adagrad", "lbfgs", "sgd", "rprop", "cg", "perceptron", "pa", "arow")),
)


def fuzz(kind: str, mutations: int, seed: int = 0, told: list[Any] | None = None) -> Counter[str]:
    """How many mutations of a kind of file came to which of `RESULTS`; `told` gets [what, result, said] of each."""
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
            if len(lines) % 2:
                timed_out = done.returncode == -signal.SIGPROF
                lines.append(["time-outs" if timed_out else "deaths", f"{done.returncode}: {done.stderr[-300:]}"])
            elif done.returncode or not lines:
                sys.exit(f"{kind}: {done.stderr[-3000:]}")
            for (_, what), (result, said) in zip(lines[::2], lines[1::2], strict=True):
                found[result] += 1
                if told is not None:
                    told.append([what, result, said])
            number += len(lines) // 2
    return found


def _command(kind: str, folder: str) -> list[str]:
    return [sys.executable, "-m", "benchmarks.fuzz_child", kind, folder]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutations", type=int, default=1000, help="of every kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", action="append", choices=KINDS, help="only this one (repeatable)")
    parser.add_argument("--show", default="tracebacks,deaths,time-outs", help="results of which to show each")
    options = parser.parse_args()
    total: Counter[str] = Counter()
    print(f"| kind | mutations | {' | '.join(RESULTS)} |\n|{'---|' * (len(RESULTS) + 2)}")
    for kind in options.kind or KINDS:
        told: list[Any] = []
        found = fuzz(kind, options.mutations, options.seed, told)
        total += found
        print(f"| {kind} | {found.total():,} | {' | '.join(f'{found[each]:,}' for each in RESULTS)} |", flush=True)
        for what, result, said in told:
            if result in options.show.split(","):
                print(f"{kind}: {what}: {result}: {said}", file=sys.stderr)
    print(f"| all | {total.total():,} | {' | '.join(f'{total[each]:,}' for each in RESULTS)} |")
    sys.exit(any(total[each] for each in FAULTS))


if __name__ == "__main__":
    main()
