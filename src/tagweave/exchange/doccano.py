"""doccano's JSON Lines.

    {"id": 7, "text": "Ann left Graz.", "label": [[0, 3, "PER"], [9, 13, "LOC"]]}

is its form for sequence labelling, exported and imported; the list is `labels` in some versions. With relations it is

    {"id": 7, "text": "...", "entities": [{"id": 1, "label": "PER", "start_offset": 0, "end_offset": 3}], ...}

An export has a file for each annotator, or one for all where they share their work; so a file is an annotator, of the
file's name.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from tagweave.exchange.document import Document, Mark, Tool
from tagweave.exchange.json_values import Values, read_json_lines, shown

LISTS = ("label", "labels")


def read(path: str) -> Iterator[Document]:
    """The documents of a file.

    Raises:
        CorpusError: a line that is not in this form.
        OSError: the file cannot be read.
    """
    annotator = Path(path).name.partition(".")[0]
    for line in read_json_lines(path):
        marks = tuple(_marks(line))
        yield Document(line.get("text", str), {annotator: marks}, line.name("id"), location=line.location)


def _marks(line: Values) -> Iterator[Mark]:
    if "entities" in line:
        for each in line.objects("entities"):
            yield Mark(each.get("start_offset", int), each.get("end_offset", int), each.get("label", str))
        return
    for found in line.get(next((name for name in LISTS if name in line), LISTS[0]), list):
        match found:
            case [int(start), int(stop), str(label)] if bool not in (type(start), type(stop)):
                yield Mark(start, stop, label)
            case _:
                raise line.error(f"the label {shown(found)}", 'spans [start, end, "LABEL"] of sequence labelling')


def write(documents: Iterable[Document], stream: IO[str]) -> None:
    """Write documents for doccano to import: what all annotators marked, as labels to look over."""
    for each in documents:
        labels = [[mark.start, mark.stop, mark.label] for marks in each.marks.values() for mark in marks or ()]
        named = {"id": int(each.name)} if each.name.isdecimal() else {}
        stream.write(json.dumps({**named, "text": each.text, "label": labels}, ensure_ascii=False) + "\n")


TOOL = Tool("doccano", read, write, ".jsonl")
