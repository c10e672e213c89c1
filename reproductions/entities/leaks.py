"""How many of the names of the test data a dictionary has, and of those that no other text of the setting has."""

from __future__ import annotations

from pathlib import Path

from reproductions.entities.rows import Setting
from reproductions.lab.cache import Result
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load
from tagweave.evaluation.spans import spans_of_training


def leaks(setting: Setting, test: Corpus, folder: Path) -> Result:
    """Return `names`, how many different ones the test data have, and `new`, those that no other text has.

    `listed` and `new listed` are how many of these the dictionaries have, case aside. A dictionary that was made before
    the test data were annotated has about the share of the new ones that it has of names elsewhere, or fewer.
    """
    names = {" ".join(name).lower() for name in spans_of_training(test, test.guideline) or ()}
    listed = {
        line.split("\t")[-1].strip().lower()
        for path in folder.glob(setting.lists)
        for line in path.read_text(encoding="utf-8").splitlines()
    }
    tested = {each.forms for each in test}
    others = [*load(str(folder / setting.train)), *load(str(folder / "dev.txt"))]
    text = "\n".join(f" {' '.join(each.forms).lower()} " for each in others if each.forms not in tested)
    new = {name for name in names if f" {name} " not in text}
    return {"names": len(names), "listed": len(names & listed), "new": len(new), "new listed": len(new & listed)}
