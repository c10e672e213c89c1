"""Documents that annotation tools send, in a file of JSON Lines: of those with the same key, the last one stands."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path

import msgspec

from tagweave.exchange.document import Document, Mark

LOG = logging.getLogger("tagweave.serve")
Offsets = tuple[int, int]


class AnnotatedText(msgspec.Struct, frozen=True):
    """A text that somebody has annotated; without marks and text, one that was deleted."""

    key: str
    text: str = ""
    marks: list[tuple[int, int, str]] = []
    tokens: list[Offsets] | None = None
    sentences: list[Offsets] | None = None

    def document(self) -> Document:
        """Raises CorpusError for marks beyond the text."""
        marks = tuple(Mark(*each) for each in self.marks)
        tokens, sentences = (None if each is None else tuple(each) for each in (self.tokens, self.sentences))
        return Document(self.text, {"tag": marks}, self.key, tokens, sentences=sentences)


def annotated_text(key: str, document: Document, marks: Iterable[Mark]) -> AnnotatedText:
    """A document with the marks of one annotator."""
    bounds = [None if each is None else list(each) for each in (document.tokens, document.sentences)]
    return AnnotatedText(key, document.text, [each[:3] for each in marks], *bounds)


class Annotations:
    """The file of the annotations that a model learns from; several processes may add to it.

    Args:
        path: the file, which need not be there.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, several: Iterable[AnnotatedText]) -> None:
        """Add documents, in one piece. Raises OSError."""
        lines = b"".join(msgspec.json.encode(each) + b"\n" for each in several)
        with open(self._path, "ab+", opener=partial(os.open, mode=0o600)) as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                lines = lines if file.read(1) == b"\n" else b"\n" + lines  # a full disk cut the last line off
            file.write(lines)

    def replace(self, several: Iterable[AnnotatedText], project: str) -> None:
        """Make these the documents whose keys begin with that of a project. Raises OSError."""
        known, new = self.read(), {each.key: each for each in several}
        gone = [AnnotatedText(key) for key in known if key.startswith(f"{project}/") and key not in new]
        self.add([*(each for key, each in new.items() if known.get(key) != each), *gone])

    def read(self) -> Mapping[str, AnnotatedText]:
        """Return what stands, by key. Other lines than ours are logged and left out. Raises OSError."""
        found: dict[str, AnnotatedText] = {}
        for number, line in enumerate(self._path.read_bytes().splitlines() if self._path.exists() else (), 1):
            if not line:
                continue
            try:
                each = msgspec.json.decode(line, type=AnnotatedText)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                LOG.warning("%s:%d: left out: found no annotation (%s), expected one a line", self._path, number, error)
                continue
            found.pop(each.key, None)
            if each.text:
                found[each.key] = each
        return found
