"""Documents that annotation tools send, in a file of JSON Lines: of those with the same key, the last one stands."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from tagweave.exchange.document import Document, Mark
from tagweave.serve.errors import ServeError

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
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(file, lines)
        finally:
            os.close(file)

    def replace(self, several: Iterable[AnnotatedText], project: str) -> None:
        """Make these the documents whose keys begin with that of a project. Raises as `add` and `read`."""
        known, new = self.read(), {each.key: each for each in several}
        gone = [AnnotatedText(key) for key in known if key.startswith(f"{project}/") and key not in new]
        self.add([*(each for key, each in new.items() if known.get(key) != each), *gone])

    def read(self) -> Mapping[str, AnnotatedText]:
        """What stands, by key.

        Raises:
            ServeError: a line that this program has not written.
            OSError: the file cannot be read.
        """
        found: dict[str, AnnotatedText] = {}
        for number, line in enumerate(self._path.read_bytes().splitlines() if self._path.exists() else (), 1):
            try:
                each = msgspec.json.decode(line, type=AnnotatedText)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                raise ServeError(f"{self._path}:{number}: found no annotation ({error}), expected one a line") from None
            found.pop(each.key, None)
            if each.text:
                found[each.key] = each
        return found
