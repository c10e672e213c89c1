"""`python -m tagweave.training PLAN MODEL [ANNOTATED]`: carry out a plan, for programs that train in a process.

PLAN       a JSON file
MODEL      the file of the model
ANNOTATED  replaces the path of the last target corpus: the annotation made since the plan
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tagweave.learning.progress import Lines
from tagweave.learning.run import Run
from tagweave.training.methods import read_plan
from tagweave.training.resolve import job_of
from tagweave.training.train import save_training, train


def main(words: Sequence[str]) -> None:
    """Train and save."""
    plan, model, *annotated = words
    chosen = read_plan(json.loads(Path(plan).read_text(encoding="utf-8")))
    for path in annotated:
        chosen = replace(chosen, target=(*chosen.target[:-1], replace(chosen.target[-1], path=path)))
    run = Run(callback=Lines(sys.stderr), tell=lambda line: print(line, file=sys.stderr, flush=True))
    save_training(train(job_of(chosen, run)), Path(model))


if __name__ == "__main__":
    main(sys.argv[1:])
