"""Names of the files of a zip: one for each document and annotator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tagweave.exchange.document import Document, Mark
from tagweave.exchange.members import unique


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
