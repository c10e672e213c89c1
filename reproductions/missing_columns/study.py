"""Parsers of text whose tags and FEATS are missing: `python -m reproductions missing-columns`.

See README.md in the folder above.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from reproductions.lab.corpora import corpora_folder
from reproductions.lab.options import study_parser
from reproductions.lab.page import write_page
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load
from tagweave.evaluation.attachment import attachment
from tagweave.features.arc_templates import without_columns
from tagweave.learning.run import Run, Schedule
from tagweave.models.tree_predictor import TreePredictor
from tagweave.training.fit import fit
from tagweave.training.recipe import Recipe
from tagweave.training.task import Task

TREEBANKS = {"en/ewt": 2000, "zh/udc": 2000, "fr/gsd-ud": 1100, "ja/gsd-suw": 380}
"""How many sentences train. Where there is no training data, the rest of the development data is for development."""
COLUMNS = ("upos", "xpos", "user:feats")
INPUTS = {"all columns": (), "UPOS alone": COLUMNS[1:], "words alone": COLUMNS}
"""What is taken from the sentences that are parsed."""
SHARES = (0.0, 0.5)
_PASSES = 5
_MOST = 500  # sentences of development data


def parts(name: str, size: int) -> tuple[Corpus, Corpus]:
    """Training and development data."""
    folder = corpora_folder(name)
    dev = load(f"{folder / 'dev.conllu'}#head")
    if not (folder / "train.conllu").exists():
        return dev.with_sentences(dev[at] for at in range(size)), dev.with_sentences(dev.sentences[size:])
    train = load(f"{folder / 'train.conllu'}#head").sentences
    step = len(train) // size
    return dev.with_sentences(train[: step * size : step]), dev.with_sentences(dev.sentences[:_MOST])


def rows(train: Corpus, dev: Corpus, shares: Sequence[float], passes: int) -> Iterator[list[str]]:
    """A row a share: UAS and LAS by what is given."""
    for share in shares:
        parser = TreePredictor(
            fit([train], Recipe(Task("parse"), drop_columns=share), None, Run(Schedule(passes))).model
        )
        cells = [f"{share:g}"]
        for missing in INPUTS.values():
            parsed = parser.parse([without_columns(sentence, missing) for sentence in dev])
            scores = attachment(dev, dev.with_sentences(parsed))
            cells.append(f"{100 * scores.heads.f:.1f} / {100 * scores.arcs.f:.1f}")
        yield cells


def main(words: Sequence[str]) -> None:
    """The command."""
    parser = study_parser("missing-columns", __doc__)
    parser.add_argument("--sentences", type=int, help="of training data, to see that it works")
    parser.add_argument("--shares", type=float, nargs="+", default=SHARES, help="of copies without columns")
    parser.add_argument("--treebanks", nargs="+", choices=TREEBANKS, default=list(TREEBANKS))
    options = parser.parse_args(words)
    summary: dict[str, Any] = {}
    for name in options.treebanks:
        train, dev = parts(name, options.sentences or TREEBANKS[name])
        summary[name] = {"train": len(train), "parsed": len(dev), "rows": []}
        for cells in rows(train, dev, options.shares, _PASSES):
            summary[name]["rows"].append(cells)
            print(name, *cells, flush=True)
    write_page(options.out, "missing-columns", summary, page(summary))


def page(summary: dict[str, Any]) -> Iterator[str]:
    """The lines of the page: a table for each treebank."""
    yield "# Parsing text whose columns are missing\n"
    command = "python -m reproductions missing-columns"
    yield f"Written by `{command}`. UAS / LAS on development data, with gold columns as far"
    yield f"as they are given, {_PASSES} passes of AdaGrad. The share is that of `--drop-columns`: so many sentences"
    yield "train a second time, without columns."
    for name, found in summary.items():
        yield f"\n## {name}\n\n{found['train']:,} sentences train, {found['parsed']:,} are parsed.\n"
        yield f"| share | {' | '.join(INPUTS)} |\n{'|---' * (len(INPUTS) + 1)}|"
        yield from (f"| {' | '.join(cells)} |" for cells in found["rows"])
