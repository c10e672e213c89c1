"""Marginal likelihood and its rivals on incomplete annotation: `python -m reproductions incomplete`.

After tsuboi-2008, section 5, on Chinese. See README.md in the folder above.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from reproductions.incomplete.cells import Data
from reproductions.incomplete.page import write
from reproductions.incomplete.run import LEARNER, run
from reproductions.incomplete.settings import TAGGING
from reproductions.lab.cache import Cache
from reproductions.lab.corpora import corpora_folder
from reproductions.lab.options import study_parser
from tagweave.corpus import sample
from tagweave.corpus.load import load
from tagweave.learning.run import Schedule


def read_data(lines: int | None, quick: bool) -> Data:
    """The corpora, or the bundled sample."""
    if quick:
        corpus = load(str(sample.path("ctb.txt")))
        train, dev, test = (corpus.with_sentences(corpus.sentences[a:b]) for a, b in ((0, 80), (80, 100), (100, 120)))
        return Data("the sample corpus", train, dev, test, Schedule(4, 2))
    folder = corpora_folder("zh/zx")
    train, dev, test = (load(str(folder / f"{part}.txt")) for part in ("train", "dev", "test"))
    return Data("zh/zx", train.with_sentences(train.sentences[:lines]), dev, test, Schedule(30, 5))


def main(words: Sequence[str]) -> None:
    """The command."""
    parser = study_parser("incomplete", __doc__, "the bundled sample and four passes")
    parser.add_argument("--seeds", type=int, default=3, help="seeds 0 .. SEEDS - 1 (default 3)")
    parser.add_argument("--lines", type=int, help="the first LINES training sentences (default: all)")
    parser.add_argument("--threads", type=int, default=1, help="threads of one training run (default 1)")
    parser.add_argument(
        "--tried", type=int, default=len(LEARNER), help=f"how many learner settings to choose from, of {len(LEARNER)}"
    )
    options = parser.parse_args(words)
    data = read_data(options.lines, options.quick)
    found = run(data, TAGGING, options.seeds, Cache(options.cache), options.threads, options.tried)
    command = shlex.join(["python", "-m", "reproductions", "incomplete", *words])
    write(found, options.out, "incomplete-tagging", command)
