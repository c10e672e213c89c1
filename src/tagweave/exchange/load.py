"""Corpora, and exports of annotation tools that leave nothing to choose.

Such an export is read as `tagweave import` reads it by default. If it can be read in several ways, or not without loss,
it is refused with the command to run. The tools are imported for their own files alone: `tagweave tag` starts sooner.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from tagweave.corpus import load as files
from tagweave.corpus.candidates import format_candidates
from tagweave.corpus.characters import printable
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.files import LONGEST, digest, opened
from tagweave.corpus.formats import columns, format_of_name
from tagweave.corpus.formats.format import ModelLabels
from tagweave.corpus.load import Argument, CorpusStream, parse_argument
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError, ExchangeError, shortened

if TYPE_CHECKING:
    from tagweave.exchange.exports import Export

_CELL, _ROW = 20, 160  # characters shown
_EXTENSIONS = {".ann": "brat", ".spacy": "spacy"}


def check_tool(name: str, path: str) -> None:
    """Raise ExchangeError, which names the right command, if a file is plainly from another tool."""
    tool = recognized(path)
    if tool not in (None, name):
        raise ExchangeError(f"{path}: found a file of {tool}, expected one of {name}: tagweave import {tool} {path}")


def recognized(path: str) -> str | None:
    """Return the name of the tool that a file, folder or zip is from; `None` if that is not plain."""
    file = Path(path)
    if file.is_dir():
        return _by_extension(member for member in file.rglob("*") if not member.is_dir())
    if file.suffix == ".txt" and file.with_suffix(".ann").exists():
        return "brat"  # whatever its text looks like
    return _by_content(path) if file.is_file() else None


def _by_content(path: str) -> str | None:
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as packed:
                return _by_extension(map(PurePosixPath, packed.namelist()))
        with opened(path, lambda: 0) as stream:
            start = stream.read(1 << 10).removeprefix(b"\xef\xbb\xbf").lstrip()
            if start[:1] in (b"{", b"["):
                return _by_first_value((start + stream.read(LONGEST)).decode("utf-8", "replace"))
    except (OSError, CorpusError, zipfile.BadZipFile, ValueError, NotImplementedError):
        return None  # whoever reads the file says what is wrong with it
    return _by_extension([PurePosixPath(path)])


def _by_extension(files: Iterable[Path | PurePosixPath]) -> str | None:
    tools = {_EXTENSIONS[file.suffix] for file in files if file.suffix in _EXTENSIONS}
    return tools.pop() if len(tools) == 1 else None


def _by_first_value(text: str) -> str | None:
    """Return the tool by the first object of a file of JSON, of JSON Lines, or of one list."""
    from tagweave.exchange.answers import ANSWERS, is_quoted
    from tagweave.exchange.datasets import TOKENS
    from tagweave.exchange.json_exports import LISTS, TEXTS
    from tagweave.exchange.label_studio import is_minimal

    objects = list(_objects(text))
    if not objects:
        return None
    first, quoted = objects[0], next((is_answer for is_answer in map(is_quoted, objects) if is_answer), False)
    has_text = isinstance(first.get("text"), str)
    tokens = next((value for name in TOKENS if isinstance(value := first.get(name), list)), [])
    is_table = bool(tokens) and all(isinstance(token, str) for token in tokens)
    lists = [value for name, value in first.items() if isinstance(value, list) and name not in (*TOKENS, *ANSWERS)]
    if is_table and any(len(value) == len(tokens) for value in lists):
        quoted = False  # a list of labels beside tokens
    signs: dict[str, object] = {
        "label-studio": isinstance(first.get("data"), dict)
        or (isinstance(first.get("task"), dict) and "result" in first)
        or is_minimal(first),
        "answers": {"answer", "_input_hash", "_task_hash"}.isdisjoint(first) and quoted,
        "datasets": is_table and not (has_text and "spans" in first),
        "prodigy": has_text and first.keys() & {"spans", "answer", "_input_hash", "_task_hash"},
        "doccano": any(isinstance(first.get(name), str) for name in TEXTS) and first.keys() & {*LISTS},
    }
    return next((tool for tool, is_there in signs.items() if is_there), None)


_LOOKED_AT = 1000  # braces at the beginning of a file


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the objects at the beginning of a file; where none can be read, the next one is in another line."""
    decoder, end = json.JSONDecoder(), 0
    for _ in range(_LOOKED_AT):
        if end < 0 or (at := text.find("{", end)) < 0:
            return
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = text.find("\n", at)
        else:
            yield value


class SourceFile:
    """A corpus file, or the export of an annotation tool: opened and recognised once, and read as far as is asked for.

    Attributes:
        argument: the parts of the argument that names it.
        format: the format of its sentences.
        note: how it was recognised; "" where its name or the user names the format.
        told: the decisions about answers of a language model.

    Raises:
        CorpusError: an unknown format, a file that is none of text, or an export that leaves something to choose.
        OSError: the file cannot be read.
    """

    def __init__(self, argument: str, format: str | None = None, labels: ModelLabels | None = None) -> None:  # noqa: A002
        self.argument = parse_argument(argument)
        self.told: list[str] = []
        export = _export(self.argument, format)
        self._is_export = export is not None
        if export is None:
            self.format, sentences, self.note = files.stream(argument, format, labels)
        else:
            sentences = iter(export.sentences(self.told.append))
            how = "answers of a language model" if export.tool == "answers" else f"an export of {export.tool}"
            self.format = columns.FORMAT
            self.note = f"read as {how}{''.join(f' ({line})' for line in self.told)}"
        self._read: list[Sentence] = []
        self.sentences = sentences
        """Those that have not been read yet."""

    @cached_property
    def sha256(self) -> str:
        """The digest of the file. Raises OSError if it cannot be read."""
        return digest(self.argument.path)

    def corpus(
        self,
        unnamed: str | None = None,
        trained: Sequence[str] = (),
        layer: str | None = None,
        limit: int | None = None,
    ) -> Corpus:
        """Return the corpus of the file as `corpus.load.load`.

        Args:
            unnamed, trained: as in `load`.
            layer: the layer of the corpus if the argument names none.
            limit: how many of the first sentences are read; `None`: all.

        Raises CorpusError as `load`.
        """
        argument = self.argument._replace(layer=self.argument.layer or layer)
        wanted = None if limit is None else max(0, limit - len(self._read))
        self._read += islice((sentence for sentence in self.sentences if sentence.forms), wanted)
        sentences: Iterable[Sentence] = self._read[:limit]
        if self.format.confidence and not self._is_export:
            sentences = map(self.format.confidence.read, sentences)
        return files.assembled(argument, self.format, sentences, unnamed, trained)

    def reading(self, layer: str) -> str:
        """Say in one line how the file is read: its format, columns and first row, and the layer."""
        how = f"{self.argument.path} is {self.note or f'read as {self.format.name}'}"
        if not self._read:
            return how
        first = self._read[0]
        row = {"form": first.forms[0], **{name: texts[0] for name, texts in first.columns.items()}}
        row |= {name: format_candidates(labels[0]) if labels[0] else "_" for name, labels in first.layers.items()}
        row |= {name: str(heads[0][0].head) if heads[0] else "_" for name, heads in first.heads.items()}
        cells = " ".join(f"{name}={shortened(cell or '_', _CELL)}" for name, cell in row.items())
        learned = f"layer {layer}" if layer else "the words alone"
        return printable(f"{how}, {learned}; first row: {shortened(cells, _ROW)}")


def load(
    argument: str,
    format: str | None = None,  # noqa: A002
    unnamed: str | None = None,
    trained: Sequence[str] = (),
) -> Corpus:
    """Load a corpus as `corpus.load.load`, or the export of an annotation tool as `tagweave import`."""
    return SourceFile(argument, format).corpus(unnamed, trained)


def stream(argument: str, format: str | None = None, labels: ModelLabels | None = None) -> CorpusStream:  # noqa: A002
    """Open a file as `corpus.load.stream`, or an export as `load`."""
    file = SourceFile(argument, format, labels)
    return CorpusStream(file.format, file.sentences, file.note)


def _export(argument: Argument, format: str | None) -> Export | None:  # noqa: A002
    path, _, layer = argument
    tool = None if format or format_of_name(path) else recognized(path)
    if tool is None:
        return None
    from tagweave.exchange.exports import Export

    export = Export(tool, path, layer)
    if Path(path).is_dir():
        raise export.error(f"a folder of {tool}", "a file, such as this command writes: {}")
    if tool == "brat" and path.endswith((".ann", ".txt")):
        raise export.error("annotation of brat, whose text is another file", "one file, as this command writes it: {}")
    return export
