"""Parsers from trees of which some heads are known: `python -m reproductions partial-trees`.

After Zhang, Li, Lang, Xia and Zhang (2017), Dependency Parsing with Partial Annotations. See README.md in the folder
above.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from functools import partial

from reproductions.lab.corpora import all_corpora
from reproductions.lab.options import study_parser
from reproductions.lab.study import Study
from reproductions.partial_trees.cells import Cells
from reproductions.partial_trees.page import draw, lines
from reproductions.partial_trees.scores import summary
from reproductions.partial_trees.settings import settings
from tagweave.errors import CorpusError
from tagweave.learning.progress import Lines


def main(words: Sequence[str]) -> None:
    """The command."""
    parser = study_parser("partial-trees", __doc__, "a few sentences and two iterations")
    parser.add_argument("--seeds", type=int, default=3, help="seeds 0 .. SEEDS - 1 (default 3)")
    options = parser.parse_args(words)
    command = shlex.join(["python", "-m", "reproductions", "partial-trees", *words])
    parts = {"trees": partial(settings, quick=options.quick)}
    experiments = Study("partial", parts, Cells, summary, lines, draw)
    try:
        for page in experiments(
            ["trees"],
            all_corpora(),
            options.seeds,
            options.cache,
            options.out,
            command,
            say=_say,
            callback=Lines(sys.stderr),
        ):
            print(page)
    except CorpusError as error:
        sys.exit(str(error))


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
