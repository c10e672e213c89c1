"""Zips of files: one for each document and annotator."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator, Sequence
from typing import IO

from tagweave.exchange.document import Document, Mark
from tagweave.exchange.members import unique


def write_zip(stream: IO[bytes], files: Iterable[tuple[str, str]]) -> None:
    """Write a zip of texts by name, without times, so that the same texts give the same bytes."""
    with zipfile.ZipFile(stream, "w") as packed:
        for name, text in files:
            packed.writestr(zipfile.ZipInfo(name), text, zipfile.ZIP_DEFLATED)


def packed_names(documents: Iterable[Document], extension: str) -> Iterator[tuple[Document, Sequence[Mark], str]]:
    """Each document with what one annotator marked, and a name; of several, as in INCEpTION's exports of projects."""
    taken: set[str] = set()
    for number, each in enumerate(documents, 1):
        name = unique(each.name, taken, f"document{number}")
        annotators: set[str] = set()
        for annotator, marks in each.marks.items():
            own = unique(annotator, annotators, "layer")
            folder = f"annotation/{name}/{own}" if len(each.marks) > 1 else name
            yield each, marks or (), folder + extension
