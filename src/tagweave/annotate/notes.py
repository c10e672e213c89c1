"""Files with the labels of a guideline and notes for annotators: a line is `LABEL`, or `LABEL TAB NOTE`."""

from __future__ import annotations

from tagweave.annotate.store import Store
from tagweave.corpus.errors import CorpusError
from tagweave.corpus.text_file import read_lines


def read(path: str) -> dict[str, str]:
    """The labels and their notes, which may be empty, in the order of the file. Empty lines are skipped.

    Raises:
        CorpusError: a label that is empty, contains blanks, or occurs twice; no labels; or as `read_lines`.
        OSError: the file cannot be read.
    """
    notes: dict[str, str] = {}
    for number, line in enumerate(read_lines(path), 1):
        label, _, note = line.partition("\t")
        if not line.strip():
            continue
        if not label or label.split() != [label]:
            raise CorpusError(f"the label {label!r}", "one without blanks, then a tab and a note", path, number)
        if label in notes:
            raise CorpusError(f"the label {label!r} twice", "every label once", path, number)
        notes[label] = note.strip()
    if not notes:
        raise CorpusError("no labels", "one a line, each with a tab and a note", path)
    return notes


def put(store: Store, guideline: str, notes: dict[str, str]) -> int:
    """Add the labels that are new and change the notes of the others; returns how many are new."""
    new = store.add_labels(guideline, notes)
    for label, note in notes.items():
        store.change_note(guideline, label, note)
    return new
