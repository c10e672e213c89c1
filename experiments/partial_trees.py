"""Parsers from trees of which some heads are known: `python -m experiments.partial_trees --cache FOLDER`.

After Zhang, Li, Lang, Xia and Zhang (2017), Dependency Parsing with Partial Annotations. See README.md beside this
file.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from experiments.partial_trees_cells import Cells
from experiments.partial_trees_page import draw, lines
from experiments.partial_trees_scores import summary
from experiments.partial_trees_settings import settings
from tagweave.corpus.errors import CorpusError
from tagweave.learning.progress import Lines
from tagweave.reproduce.recipe import Experiments

ROOT = Path(__file__).parents[1]


def main(words: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m experiments.partial_trees", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few sentences and two iterations, to see that it works")
    parser.add_argument("--seeds", type=int, default=3, help="seeds 0 .. SEEDS - 1 (default 3)")
    parser.add_argument("--cache", type=Path, required=True, help="folder of finished runs; a second command goes on")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "results", help="folder of page, JSON and plots")
    options = parser.parse_args(words)
    corpora = Path(os.environ.get("TAGWEAVE_CORPORA", ROOT.parent / "shared" / "corpora"))
    command = shlex.join(["python", "-m", "experiments.partial_trees", *(sys.argv[1:] if words is None else words)])
    parts = {"trees": partial(settings, quick=options.quick)}
    experiments = Experiments("partial", parts, Cells, summary, lines, draw)
    try:
        for page in experiments(
            ["trees"], corpora, options.seeds, options.cache, options.out, command, say=_say, watcher=Lines(sys.stderr)
        ):
            print(page)
    except CorpusError as error:
        sys.exit(f"{error} (TAGWEAVE_CORPORA names the folder of all corpora)")


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
