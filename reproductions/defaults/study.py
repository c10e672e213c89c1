"""What the defaults are worth, by the size of the corpus: `python -m reproductions defaults`.

Words and characters of Chinese, English, Japanese and French. See README.md in the folder above.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from reproductions.defaults.cell import BEFORE, NOW, REGRESSION, SUBSETS, Cell, Text
from reproductions.defaults.page import lines, summary
from reproductions.lab.cache import Cache
from reproductions.lab.corpora import corpora_folder
from reproductions.lab.options import study_parser
from reproductions.lab.page import write_page
from tagweave.corpus import sample

TEXTS = {
    text.name: text
    for text in (
        Text("zh/zx", "zh/zx/train.txt", "zh/zx/dev.txt"),
        Text("zh/pd199801", "zh/pd199801/train.txt", "zh/pd199801/dev.txt"),
        Text("zh/udc, UPOS", "zh/udc/train.conllu#upos", "zh/udc/dev.conllu#upos"),
        Text("zh/udc, XPOS", "zh/udc/train.conllu#xpos", "zh/udc/dev.conllu#xpos"),
        Text("en/brown", "en/brown/train.txt", "en/brown/dev.txt"),
        Text("en/wsj", "en/wsj/train.txt", "en/wsj/dev.txt"),
        Text("en/ewt, UPOS", "en/ewt/train.conllu#upos", "en/ewt/dev.conllu#upos"),
        Text("en/ewt, XPOS", "en/ewt/train.conllu#xpos", "en/ewt/dev.conllu#xpos"),
        Text("ja/gsd-suw, XPOS", "ja/gsd-suw/dev.conllu#xpos"),
        Text("ja/gsd-luw, UPOS", "ja/gsd-luw/dev.conllu#upos"),
        Text("fr/gsd-ud, UPOS", "fr/gsd-ud/dev.conllu#upos"),
    )
}
_UNSPACED = ("zh/zx", "zh/pd199801", "zh/udc, UPOS", "ja/gsd-suw, XPOS", "ja/gsd-luw, UPOS")
ROWS = (
    *(("tag", name) for name in TEXTS),
    *(("segment", name) for name in _UNSPACED),
    *(("segtag", name) for name in ("zh/zx", "zh/udc, UPOS")),
)
"""Which task is learnt from which corpus."""
SIZES = (1000, 5000, 25000, 0)
LARGE = (("tag", "zh/zx"), ("tag", "zh/udc, XPOS"), ("tag", "en/wsj"), ("tag", "en/ewt, UPOS"), ("segment", "zh/zx"))
"""What is trained on more than 1,000 words."""
REGRESSED = (
    ("tag", "zh/zx"),
    ("tag", "en/wsj"),
    ("tag", "en/ewt, UPOS"),
    ("tag", "ja/gsd-luw, UPOS"),
    ("segment", "zh/zx"),
)
"""What the regression is trained on, 1,000 words: with more it takes many minutes."""


def cells(folder: Path, sizes: Sequence[int], subsets: int) -> Iterator[Cell]:
    """All trainings, the small ones first."""
    for size in sizes:
        for task, name in ROWS:
            if size != 1000 and (task, name) not in LARGE:
                continue
            for subset in range(subsets if size == 1000 else 1):
                for trained in (NOW, BEFORE):
                    yield Cell(folder, TEXTS[name], task, size, subset, trained)
            if size == 1000 and (task, name) in REGRESSED:
                yield Cell(folder, TEXTS[name], task, size, 0, REGRESSION)


def quick_cells() -> Iterator[Cell]:
    """A part of the bundled sample, and two passes."""
    path = sample.path("ctb.txt")
    for task in ("tag", "segment"):
        for trained in (NOW, BEFORE, REGRESSION):
            yield Cell(path.parent, Text("the sample corpus", path.name), task, 60, 0, trained, 2)


def main(words: Sequence[str]) -> None:
    """The command."""
    parser = study_parser("defaults", __doc__, "the bundled sample and two passes")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="words of training data, 0 for all")
    parser.add_argument("--subsets", type=int, default=SUBSETS, help="parts of 1,000 words of each corpus, at most 3")
    options = parser.parse_args(words)
    cache, found = Cache(options.cache), []
    for cell in quick_cells() if options.quick else cells(corpora_folder("zh").parent, options.sizes, options.subsets):
        name = f"{cell.tokens} {cell.task} {cell.text.name} {cell.trained}"
        print(name, file=sys.stderr, flush=True)
        found.append((cell, cache.result(name, cell.description(), cell.run)))
    command = shlex.join(["python", "-m", "reproductions", "defaults", *words])
    told = summary(found)
    write_page(options.out, "defaults", told, lines(told, command))
