"""The command of a paper's experiments: `python -m reproductions PAPER`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from reproductions.lab.corpora import all_corpora
from reproductions.lab.options import study_parser
from reproductions.lab.study import Study
from tagweave.errors import CorpusError
from tagweave.learning.progress import Lines


def run_paper(study: Study[Any, Any], words: Sequence[str]) -> None:
    """Run the parts that are asked for, and print their pages; a mistake ends the program with its message."""
    parser = study_parser(study.name, _ABOUT, "the bundled sample")
    parser.add_argument(
        "--corpora", type=Path, default=all_corpora(), metavar="FOLDER", help="the folder of all corpora"
    )
    parser.add_argument("--only", action="append", choices=study.parts, metavar="PART", help=_only(study))
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="run each training with N seeds (default 3)")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="of every training (default 1)")
    parser.add_argument("--processes", type=int, default=1, metavar="N", help="trainings at the same time (default 1)")
    chosen = parser.parse_args(words)
    parts = list(dict.fromkeys(chosen.only or study.parts))
    options = [*(f"--only {part}" for part in parts), f"--seeds {chosen.seeds}", *(["--quick"] if chosen.quick else [])]
    corpora = None if chosen.quick else chosen.corpora
    command = " ".join([parser.prog, *options])
    callback = Lines(sys.stderr)
    try:
        places = chosen.cache, chosen.out
        work = partial(study, parts, corpora, chosen.seeds, *places, command, processes=chosen.processes)
        for page in work(threads=chosen.threads, say=_say, callback=callback):
            print(page.read_text(encoding="utf-8"))
    except (CorpusError, OSError) as error:
        parser.error(str(error))


_ABOUT = """Run the experiments of a paper, and write pages that have its numbers beside the new ones. Each part writes
a page, PAPER-PART.md. What stands below a line "## Discussion" is kept when a page is written again."""


def _only(study: Study[Any, Any]) -> str:
    return f"a part of them (repeatable; default: all): {', '.join(study.parts)}"


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
