"""Parsing of words without tags, beside UDPipe 1: `python -m benchmarks.parsing_words [TREEBANK ...]`.

Both programs learn taggers and a parser from the same treebank, and are given the words of the test data alone.
"""

from __future__ import annotations

import argparse
import json
import platform
import shlex
import tempfile
import time
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from benchmarks.characters import corpora_folder
from benchmarks.parsing_measure import scores
from benchmarks.processes import measured, publish
from benchmarks.treebanks import BLANK, CORPORA, DEV, TEST, TRAIN, copy, without_trees

FOLDS = 5
PASSES = {"tagger": 5, "parser": 6, "udpipe": 4}
_COLUMNS = {"upos": 3, "xpos": 4}
_FEATS = 5
_PROGRAMS = {
    "gold": "tagweave, trained on gold tags",
    "predicted": "tagweave, trained on predicted tags",
    "udpipe": "UDPipe 1, tagger and parser",
}


def tagweave(folder: Path, of_gold: bool) -> dict[str, float]:
    """Taggers of UPOS and XPOS, and a parser of gold tags or of those that the taggers of other folds predict."""
    from tagweave.corpus.load import load
    from tagweave.learning.run import Run, Schedule
    from tagweave.models.guide import guide_column
    from tagweave.models.tree_predictor import TreePredictor
    from tagweave.training.fit import fit
    from tagweave.training.jackknife import jackknifed, labelled
    from tagweave.training.recipe import Recipe
    from tagweave.training.task import Task

    begin = time.process_time()
    tagging, run = Recipe(Task("tag")), Run(Schedule(PASSES["tagger"]))
    texts = {name: (folder / name).read_text(encoding="utf-8") for name in (TRAIN, DEV, TEST)}
    texts = {name: with_column(text, _FEATS) for name, text in texts.items()}
    for column, field in _COLUMNS.items():
        train, dev, test = (load(f"{folder / name}#{column}") for name in (TRAIN, DEV, TEST))
        tagger = fit([train], tagging, dev, run).model
        for name, text in ((DEV, dev), (TEST, test)):
            bare = [each.with_layers_of([]) for each in text]
            texts[name] = with_column(texts[name], field, [*chain.from_iterable(labelled(tagger, bare))])
        if not of_gold:
            [told] = jackknifed([train], tagging, FOLDS, run=run, dev=dev)
            tags = chain.from_iterable(each.columns[guide_column(column)] for each in told)
            texts[TRAIN] = with_column(texts[TRAIN], field, [*tags])
    for name, text in texts.items():
        (folder / f"tagged-{name}").write_text(text, encoding="utf-8")
    train, dev = (load(f"{folder / f'tagged-{name}'}#head") for name in (TRAIN, DEV))
    model = fit([train], Recipe(Task("parse")), dev, Run(Schedule(PASSES["parser"]))).model
    trained = time.process_time() - begin
    given = folder / BLANK
    given.write_text(without_trees(texts[TEST]), encoding="utf-8")
    parsed = list(TreePredictor(model).parse(load(str(given))))
    return {**accuracies(folder, given), **scores(folder, parsed), "train": trained}


def udpipe(folder: Path) -> dict[str, float]:
    """UDPipe's tagger and parser; its parser learns from tags that its tagger predicts."""
    from benchmarks import udpipe as other

    begin = time.process_time()
    sentences, dev, given = (other.read(folder / name) for name in (TRAIN, DEV, TEST))
    path, parsed = folder / "udpipe.model", folder / "parsed.conllu"
    path.write_bytes(other.train(sentences, dev, PASSES["udpipe"], tagger=True))
    trained = time.process_time() - begin
    model = other.load(path)
    other.tag(model, given)
    other.parse(model, given)
    other.write(given, parsed)

    from tagweave.corpus.load import load

    return {**accuracies(folder, parsed), **scores(folder, load(f"{parsed}#head").sentences), "train": trained}


def accuracies(folder: Path, tagged: Path) -> dict[str, float]:
    """The accuracy of each column of a tagged file of the test data, 0 to 1."""
    from tagweave.corpus.load import load

    found = {}
    for column in _COLUMNS:
        texts = (load(f"{path}#{column}") for path in (folder / TEST, tagged))
        gold, said = ([candidates for each in text for candidates in each.layers[column]] for text in texts)
        found[column] = sum(a == b for a, b in zip(gold, said, strict=True)) / len(gold)
    return found


def with_column(text: str, field: int, values: Sequence[str] = ()) -> str:
    """CoNLL-U with other values in a column of all words, or `_`."""
    lines, following = text.splitlines(keepends=True), iter(values)
    for at, line in enumerate(lines):
        fields = line.split("\t")
        if len(fields) > field and fields[0].isdigit():
            fields[field] = next(following) if values else "_"
            lines[at] = "\t".join(fields)
    return "".join(lines)


def page(found: dict[str, Any], command: str) -> list[str]:
    """The lines of the page."""
    lines = [
        "# Parsing words without tags",
        "",
        f"Written by `{command}` ({platform.machine()}, Python {platform.python_version()}).",
        "Whole treebanks; words are given, all else is predicted. Percent of the test data, one seed; punctuation",
        "and subtypes of relations count. tagweave: taggers of UPOS and XPOS of 5 passes, and a parser of 6 without",
        f"FEATS; the tags of its training data are the gold ones, or of taggers trained on the other of {FOLDS} folds.",
        "UDPipe: its usual tagger (UPOS, XPOS, FEATS) and parser, which learns from predicted tags, with XPOS, 4",
        "passes. Weights are those of the pass that is best on development data. Seconds are of the processor, of all",
        "training.",
        "",
    ]
    for corpus, rows in found.items():
        lines += [
            f"## {CORPORA[corpus]}",
            "",
            "| | UPOS | XPOS | UAS | LAS | training, s |",
            "|---|---|---|---|---|---|",
        ]
        for program, row in rows.items():
            cells = [f"{100 * row[name]:.2f}" for name in ("upos", "xpos", "uas", "las")]
            cells.append(f"{row['train']:.0f}")
            lines.append(f"| {' | '.join([_PROGRAMS[program], *cells])} |")
        lines.append("")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("treebanks", nargs="*", metavar="TREEBANK", help=f"of {', '.join(CORPORA)} (default: all)")
    parser.add_argument("--sentences", type=int, help="of each file, to see that it works: no page is written")
    parser.add_argument("--one", nargs=2, metavar=("PROGRAM", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        program, folder = options.one[0], Path(options.one[1])
        row = udpipe(folder) if program == "udpipe" else tagweave(folder, program == "gold")
        print(json.dumps(row))
        return
    found: dict[str, Any] = {}
    command = shlex.join(["python", "-m", "benchmarks.parsing_words", *options.treebanks])
    with tempfile.TemporaryDirectory() as name:
        for corpus in options.treebanks or CORPORA:
            folder = Path(name, corpus)
            folder.mkdir(parents=True)
            copy(corpora_folder() / corpus, folder, options.sentences)
            found[corpus] = {each: measured("parsing_words", "--one", each, str(folder)) for each in _PROGRAMS}
            publish("parsing-words", page(found, command), found, quick=bool(options.sentences))


if __name__ == "__main__":
    main()
