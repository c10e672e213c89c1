"""Every method of `tagweave train` on one task: `python -m reproductions methods [--only NAME]`.

Joint segmentation and tagging of Zhuxian, with the People's Daily as a source. See README.md in the folder above.
"""

from __future__ import annotations

import shlex
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reproductions.lab.cache import Cache, Result
from reproductions.lab.corpora import corpora_folder
from reproductions.lab.options import study_parser
from reproductions.lab.page import write_page
from reproductions.methods.cell import ITERATIONS, Cell, FailedError, Files, words
from reproductions.methods.page import lines, summary
from tagweave.corpus import sample
from tagweave.training.methods import SINGLE

METHODS: dict[str, dict[str, Any]] = {
    "ordinary": {"method": SINGLE},
    "ordinary, perceptron": {"method": SINGLE, "learner": "perceptron"},
    "merged": {"method": "merged"},
    "guided": {"method": "stacked"},
    "pipeline": {"method": "pipeline"},
    "subword": {"method": "subword"},
    "transform": {"method": "transform"},
    "iterate": {"method": "iterate", "options": {"rounds": 1}},
    "subword, retrained": {"method": "subword", "options": {"retrain": True, "folds": 2}},
}
"""Fields of the plan, all others as they are when left out. All but `single` are given the source, too.

The quick ones come first. Rounds and folds are fewer than usual: all of them would take hours.
"""


def corpora(quick: bool, size: int | None, folder: Path) -> Files:
    """The corpora, or at most `size` training sentences of each, or the bundled sample, as files in `folder`."""
    if quick:
        target, source = (sample.path(name) for name in ("ctb.txt", "pd.txt"))
        train, dev, test = (
            _cut(target, first, last, folder / name)
            for name, first, last in (("train", 0, 80), ("dev", 80, 100), ("test", 100, 120))
        )
        return Files("the sample corpus", train, dev, test, source)
    shared = corpora_folder("zh")
    train, dev, test = (shared / "zx" / f"{part}.txt" for part in ("train", "dev", "test"))
    source = shared / "pd199801" / "train.txt"
    if size is not None:
        train, source = _cut(train, 0, size, folder / "train"), _cut(source, 0, size, folder / "source")
    sizes = [len(path.read_text(encoding="utf-8").splitlines()) for path in (train, source)]
    return Files(
        "zh/zx ({:,} sentences), the source zh/pd199801 ({:,} paragraphs)".format(*sizes), train, dev, test, source
    )


def _cut(path: Path, first: int, last: int, to: Path) -> Path:
    """Lines first .. last - 1 of a file, as a file of the same format."""
    kept = path.read_text(encoding="utf-8").splitlines(keepends=True)[first:last]
    cut = to.with_suffix(".txt")
    cut.write_text("".join(kept), encoding="utf-8")
    return cut


def results(files: Files, cache: Cache, only: Sequence[str], iterations: int | None) -> dict[str, Result]:
    """The result of every method that is asked for, and of the others those that are in the cache."""
    found = {}
    for name, options in METHODS.items():
        cell = Cell(name, files, options, iterations)
        if only and name not in only and not cache.path(name, cell.description()).exists():
            continue
        print(name, file=sys.stderr, flush=True)
        try:
            found[name] = cache.result(name, cell.description(), cell.run)
        except FailedError as error:
            found[name] = {"failed": str(error)}
    return found


def main(arguments: Sequence[str]) -> None:
    """The command."""
    parser = study_parser("methods", __doc__, "the bundled sample and two passes")
    parser.add_argument("--only", action="append", choices=METHODS, help="a method to run; the others from the cache")
    parser.add_argument("--lines", type=int, help="at most so many training sentences of either corpus (default: all)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        files = corpora(options.quick, options.lines, Path(folder))
        found = results(files, Cache(options.cache), options.only or (), ITERATIONS if options.quick else None)
        command = shlex.join(["python", "-m", "reproductions", "methods", *arguments])
        told = summary(files, {name: words(METHODS[name]) for name in found}, found)
    write_page(options.out, "methods", told, lines(told, command))
