"""The files that parsers are compared on: parts of a treebank, and its test data without their trees."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

CORPORA = {"zh/udc": "UD Chinese (2017)", "en/ewt": "UD English EWT"}
"""Of every treebank its folder and title."""

TRAIN, DEV, TEST, BLANK = (f"{part}.conllu" for part in ("train", "dev", "test", "blank"))
"""The files of a folder; the last one is what a parser is given of the one before."""

_TREE = slice(6, 9)  # HEAD, DEPREL, DEPS


def copy(source: Path, folder: Path, sentences: int | None) -> None:
    """Write the first sentences of each part of a treebank, all without a number, and the test data without trees."""
    for name in (TRAIN, DEV, TEST):
        (folder / name).write_text(first(source / name, sentences), encoding="utf-8")
    (folder / BLANK).write_text(without_trees((folder / TEST).read_text(encoding="utf-8")), encoding="utf-8")


def first(path: Path, sentences: int | None) -> str:
    """The first sentences of a CoNLL-U file."""
    blocks = filter(None, map(str.strip, path.read_text(encoding="utf-8").split("\n\n")))
    return "".join(f"{block}\n\n" for block in islice(blocks, sentences))


def without_trees(text: str) -> str:
    """CoNLL-U without what a parser finds: no heads, no relations, no enhanced ones."""
    return "".join(map(_without_tree, text.splitlines(keepends=True)))


def _without_tree(line: str) -> str:
    if line.startswith("#") or not line.strip():
        return line
    fields = line.split("\t")
    fields[_TREE] = ["_"] * 3
    return "\t".join(fields)
