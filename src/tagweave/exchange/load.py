"""Loads corpora as `corpus.load` does, and also exports of annotation tools that leave nothing to choose.

Such an export is read as `tagweave import` reads it by default. If it can be read in several ways, or not without loss,
it is refused with the command to run.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from tagweave.corpus import load as files
from tagweave.corpus.alternatives import format_candidates
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.errors import CorpusError, shortened
from tagweave.corpus.formats import columns
from tagweave.corpus.formats.registry import format_of_name
from tagweave.corpus.load import Labels, Stream, parse_argument
from tagweave.corpus.printable import printable
from tagweave.corpus.sentence import Sentence
from tagweave.corpus.text_file import STANDARD_STREAM
from tagweave.exchange import brat, inception
from tagweave.exchange.document import Document, Tool
from tagweave.exchange.layered import split_argument
from tagweave.exchange.limits import Memory
from tagweave.exchange.reading import Notes, annotators, joined, sentences
from tagweave.exchange.registry import TOKEN_TOOLS, TOOLS, recognized
from tagweave.exchange.tokens import tokenizer

_CELL, _ROW = 20, 160  # characters shown


class _Export(NamedTuple):
    """A file of a tool."""

    tool: str
    path: str
    layer: str | None

    def error(self, found: str, expected: str, option: str = "") -> CorpusError:
        """Return an error that names the command to run, with an option; `{}` in `expected` stands for it."""
        output = f"{Path(self.path).name.partition('.')[0]}.conll"
        command = (
            f"tagweave import {self.tool} {shlex.quote(self.path)}{option and f' --{option}'} -o {shlex.quote(output)}"
        )
        return CorpusError(found, expected.format(command), self.path)


def load(
    argument: str,
    format: str | None = None,  # noqa: A002
    unnamed: str | None = None,
    trained: Sequence[str] = (),
) -> Corpus:
    """Load a corpus as `corpus.load.load`, or the export of an annotation tool as `tagweave import`.

    Raises:
        CorpusError: as `corpus.load.load`; an export that can be read in several ways.
        ExchangeError: a library that reads the export is missing.
        OSError: the file cannot be read.
    """
    if (export := _export(argument, format)) is None:
        return files.load(argument, format, unnamed, trained)
    return files.assembled(argument, columns.FORMAT, _sentences(export), unnamed, trained)


def stream(argument: str, format: str | None = None, labels: Labels | None = None) -> Stream:  # noqa: A002
    """Open a file as `corpus.load.stream`, or an export as `load`. Raises as `load`."""
    if (export := _export(argument, format)) is None:
        return files.stream(argument, format, labels)
    return Stream(columns.FORMAT, iter(_sentences(export)), f"read as an export of {export.tool}")


def iterate(argument: str, format: str | None = None) -> Iterator[Sentence]:  # noqa: A002
    """Yield the sentences of a file or an export one by one. Raises as `load`."""
    return stream(argument, format).sentences


def reading(argument: str, layer: str, format: str | None = None) -> str:  # noqa: A002
    """Say in one line how a file is read: its format, columns and first row, and the layer. Raises as `load`."""
    path = parse_argument(argument).path
    if path == STANDARD_STREAM or (Path(path).exists() and not Path(path).is_file()):
        return ""  # it can be read only once
    form, given, note = stream(argument, format)
    first = next((sentence for sentence in given if sentence.forms), None)
    how = f"{path} is {note or f'read as {form.name}'}"
    if first is None:
        return how
    row = {"form": first.forms[0], **{name: texts[0] for name, texts in first.columns.items()}}
    row |= {name: _text(each[0]) for name, each in first.layers.items()}
    row |= {name: "_" if not each[0] else str(each[0][0].head) for name, each in first.heads.items()}
    cells = " ".join(f"{name}={shortened(cell or '_', _CELL)}" for name, cell in row.items())
    learned = f"layer {layer}" if layer else "the words alone"
    return printable(f"{how}, {learned}; first row: {shortened(cells, _ROW)}")


def _text(candidates: tuple[str, ...] | None) -> str:
    return "_" if candidates is None else format_candidates(candidates)


def _export(argument: str, format: str | None) -> _Export | None:  # noqa: A002
    """Return the export that an argument names; `None` if it is a corpus, or nothing that is known."""
    path, _, layer = parse_argument(argument)
    tool = None if format or format_of_name(path) else recognized(path)
    if tool is None or (tool == inception.TOOL.name and path.endswith(".xml")):
        return None
    export = _Export(tool, path, layer)
    if Path(path).is_dir():
        raise export.error(f"a folder of {tool}", "a file, such as this command writes: {}")
    if tool == brat.TOOL.name and path.endswith((".ann", ".txt")):
        raise export.error("annotation of brat, whose text is another file", "one file, as this command writes it: {}")
    return export


def _sentences(export: _Export) -> Sequence[Sentence]:
    if export.tool in TOKEN_TOOLS:
        return _of_tokens(export)
    notes = Notes()
    documents, memory = documents_of(TOOLS[export.tool], [export.path], notes)
    names = annotators(documents)
    if len(names) > 1 and export.layer is None:
        expected = f"one of them, {export.path}#{names[0]}, or a corpus of all: {{}}"
        raise export.error(f"annotation by {' and '.join(names)}", expected)
    found = tuple(memory.sentences(sentences(documents, tokenizer("words"), "unknown", "outside", notes)))
    _check_unambiguous(export, notes)
    return found


def documents_of(tool: Tool, paths: Sequence[str], notes: Notes) -> tuple[list[Document], Memory]:
    """Return the documents of a tool's files, while there is memory for them, and what counts that memory.

    Raises:
        CorpusError: a file that is not in the tool's form, or takes too much memory.
        OSError: a file cannot be read.
    """
    memory = Memory([split_argument(path)[0] for path in paths])
    found = memory.documents(each for path in paths for each in tool.read(path))
    documents = joined(_counted(found, notes))
    memory.layers(documents, annotators(documents))
    return documents, memory


def _counted(documents: Iterable[Document], notes: Notes) -> Iterator[Document]:
    for each in documents:
        notes.left_out.update(each.left_out)
        yield each


def _check_unambiguous(export: _Export, notes: Notes) -> None:
    """Raise unless all documents can be read in one way only, and without loss."""
    if notes.misaligned:
        found = f"{notes.misaligned:,} spans that are not whole tokens of a line: {notes.shown[0]}"
        raise export.error(found, "a choice: {} (or `misaligned=unknown`)", "misaligned widen")
    if notes.empty:
        found = f"{notes.empty:,} of {notes.documents:,} documents without any span"
        expected = "a choice: {} if nobody found any in them, and `unmarked=empty-unknown` if nobody has begun"
        raise export.error(found, expected, "unmarked outside")
    if notes.overlapping:
        found = f"{notes.overlapping:,} spans that overlap longer ones"
        raise export.error(found, "none; this command leaves them out: {}")
    _check_complete(export, notes.left_out)


def _check_complete(export: _Export, left_out: Counter[str]) -> None:
    if left_out:
        found = ", ".join(f"{count:,} {what}" for what, count in sorted(left_out.items()))
        raise export.error(found, "what a corpus can hold; this command leaves these out: {}")


def _of_tokens(export: _Export) -> Sequence[Sentence]:
    """Return the sentences of a library's file, with the layers in which something is known."""
    left_out: Counter[str] = Counter()
    found = TOKEN_TOOLS[export.tool].read(export.path, lambda what: left_out.update([what]))
    read = [*Memory([export.path]).sentences(found)]
    _check_complete(export, left_out)
    return known_layers(read)


def known_layers(read: Sequence[Sentence]) -> tuple[Sentence, ...]:
    """Return the sentences without layers and heads in which nothing is known."""
    known = {name for each in read for name, layer in each.layers.items() if any(layer) or each.rejected.get(name)}
    trees = any(any(layer) for each in read for layer in each.heads.values())
    return tuple(replace(each.with_layers_of(known), heads=each.heads if trees else {}) for each in read)
