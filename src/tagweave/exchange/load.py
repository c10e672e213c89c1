"""The tools whose files are read and written; corpora, and exports of these tools that leave nothing to choose.

Such an export is read as `tagweave import` reads it by default. If it can be read in several ways, or not without loss,
it is refused with the command to run.
"""

from __future__ import annotations

import json
import shlex
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from tagweave.corpus import load as files
from tagweave.corpus.candidates import format_candidates
from tagweave.corpus.characters import printable
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.files import LONGEST, STANDARD_STREAM, opened
from tagweave.corpus.formats import columns
from tagweave.corpus.formats.format import ModelLabels
from tagweave.corpus.formats.registry import format_of_name
from tagweave.corpus.load import CorpusStream, parse_argument
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError, ExchangeError, shortened
from tagweave.exchange import answers, brat, datasets, docbin, inception, webanno_tsv
from tagweave.exchange.document import Document, TokenTool, Tool
from tagweave.exchange.inception import CONTENT, TYPES
from tagweave.exchange.json_exports import DOCCANO, LABEL_STUDIO, LISTS, PRODIGY
from tagweave.exchange.members import Memory
from tagweave.exchange.sentences import Notes, annotators, joined, sentences
from tagweave.exchange.tokens import tokenizer

TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (DOCCANO, LABEL_STUDIO, PRODIGY, answers.TOOL, brat.TOOL, inception.TOOL, webanno_tsv.TOOL)
}
TOKEN_TOOLS: dict[str, TokenTool] = {tool.name: tool for tool in (datasets.TOOL, docbin.TOOL)}
NAMES = (*TOOLS, *TOKEN_TOOLS)

_BEGINNINGS: dict[bytes, Tool | TokenTool] = {
    b"PAR1": datasets.TOOL,
    b"ARROW1": datasets.TOOL,
    b"\xff\xff\xff\xff": datasets.TOOL,  # a stream of Arrow
    b"#FORMAT=WebAnno TSV": webanno_tsv.TOOL,
    b"<?xml": inception.TOOL,
    b"<xmi:XMI": inception.TOOL,
}
_EXTENSIONS: dict[str, Tool | TokenTool] = {
    ".ann": brat.TOOL,
    ".xmi": inception.TOOL,
    ".tsv": webanno_tsv.TOOL,
    ".spacy": docbin.TOOL,
    ".parquet": datasets.TOOL,
    ".arrow": datasets.TOOL,
}


def tool(name: str) -> Tool:
    """Look up a tool whose files have offsets. Raises ExchangeError if there is none."""
    if name not in TOOLS:
        raise ExchangeError(f"found the tool {name!r}, expected one of {', '.join(NAMES)}")
    return TOOLS[name]


def check_tool(name: str, argument: str) -> None:
    """Raise ExchangeError, which names the right command, if a file is plainly from another tool."""
    path, _ = webanno_tsv.split_argument(argument)
    found = recognized(path)
    if found not in (None, name) and {found, name} != {inception.TOOL.name, webanno_tsv.TOOL.name}:
        raise ExchangeError(f"{path}: found a file of {found}, expected one of {name}: tagweave import {found} {path}")


def recognized(path: str) -> str | None:
    """Return the name of the tool that a file, folder or zip is from; `None` if that is not plain."""
    file = Path(path)
    if file.is_dir():
        return _by_extension(each for each in file.rglob("*") if not each.is_dir())
    if file.suffix == ".txt" and file.with_suffix(".ann").exists():
        return brat.TOOL.name  # whatever its text looks like
    return _by_content(path) if file.is_file() else None


def _by_content(path: str) -> str | None:
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as packed:
                return _by_extension(map(PurePosixPath, packed.namelist()))
        with opened(path, lambda: 0) as stream:
            start = stream.read(1 << 10).removeprefix(b"\xef\xbb\xbf").lstrip()
            by_start = next((each for begin, each in _BEGINNINGS.items() if start.startswith(begin)), None)
            if by_start is None and start[:1] in (b"{", b"["):
                return _by_first_value((start + stream.read(LONGEST)).decode("utf-8", "replace"))
    except (OSError, CorpusError, zipfile.BadZipFile, ValueError, NotImplementedError):
        return None  # whoever reads the file says what is wrong with it
    if by_start is None and not path.endswith(".tsv"):  # most tables are no export
        return _by_extension([PurePosixPath(path)])
    return by_start.name if by_start else None


def _by_extension(files: Iterable[Path | PurePosixPath]) -> str | None:
    found = {_EXTENSIONS[each.suffix].name for each in files if each.suffix in _EXTENSIONS}
    return found.pop() if len(found) == 1 else None


def _by_first_value(text: str) -> str | None:
    """Return the tool by the first object of a file of JSON, of JSON Lines, or of one list."""
    if any(f'"{name}"' in text[: 1 << 10] for name in (TYPES, CONTENT)):
        return inception.TOOL.name
    objects = list(_objects(text))
    if not objects:
        return None
    first, quoted = objects[0], (answers.is_quoted(each) for each in objects)
    has_text = isinstance(first.get("text"), str)
    tokens = (value for name in datasets.TOKENS if isinstance(value := first.get(name), list))
    signs: dict[Tool | TokenTool, object] = {
        LABEL_STUDIO: isinstance(first.get("data"), dict),
        datasets.TOOL: any(all(isinstance(token, str) for token in value) for value in tokens),
        answers.TOOL: {"answer", "_input_hash", "_task_hash"}.isdisjoint(first) and next(filter(None, quoted), False),
        PRODIGY: has_text and first.keys() & {"spans", "answer", "_input_hash", "_task_hash"},
        DOCCANO: has_text and first.keys() & {*LISTS, "entities"},
    }
    return next((tool.name for tool, is_there in signs.items() if is_there), None)


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


_CELL, _ROW = 20, 160  # characters shown


class _Export(NamedTuple):
    tool: str
    path: str
    layer: str | None

    def error(self, found: str, expected: str, option: str = "") -> CorpusError:
        """Return an error that names the command to run, with an option; `{}` in `expected` stands for it."""
        path, output = map(shlex.quote, (self.path, f"{Path(self.path).name.partition('.')[0]}.conll"))
        command = f"tagweave import {self.tool} {path}{option and f' --{option}'} -o {output}"
        return CorpusError(found, expected.format(command), self.path)


def load(
    argument: str,
    format: str | None = None,  # noqa: A002
    unnamed: str | None = None,
    trained: Sequence[str] = (),
    tell: Callable[[str], None] = lambda line: None,
) -> Corpus:
    """Load a corpus as `corpus.load.load`, or the export of an annotation tool as `tagweave import`.

    `tell` receives the decisions about answers of a language model.
    """
    if (export := _export(argument, format)) is None:
        return files.load(argument, format, unnamed, trained)
    return files.assembled(argument, columns.FORMAT, _sentences(export, tell), unnamed, trained)


def stream(argument: str, format: str | None = None, labels: ModelLabels | None = None) -> CorpusStream:  # noqa: A002
    """Open a file as `corpus.load.stream`, or an export as `load`."""
    if (export := _export(argument, format)) is None:
        return files.stream(argument, format, labels)
    told: list[str] = []
    read = _sentences(export, told.append)
    how = "answers of a language model" if export.tool == answers.TOOL.name else f"an export of {export.tool}"
    return CorpusStream(columns.FORMAT, iter(read), f"read as {how}{''.join(f' ({line})' for line in told)}")


def reading(argument: str, layer: str, format: str | None = None) -> str:  # noqa: A002
    """Say in one line how a file is read: its format, columns and first row, and the layer."""
    path = parse_argument(argument).path
    if path == STANDARD_STREAM or (Path(path).exists() and not Path(path).is_file()):
        return ""  # it can be read only once
    form, given, note = stream(argument, format)
    first = next((sentence for sentence in given if sentence.forms), None)
    how = f"{path} is {note or f'read as {form.name}'}"
    if first is None:
        return how
    row = {"form": first.forms[0], **{name: texts[0] for name, texts in first.columns.items()}}
    row |= {name: format_candidates(layer[0]) if layer[0] else "_" for name, layer in first.layers.items()}
    row |= {name: str(heads[0][0].head) if heads[0] else "_" for name, heads in first.heads.items()}
    cells = " ".join(f"{name}={shortened(cell or '_', _CELL)}" for name, cell in row.items())
    learned = f"layer {layer}" if layer else "the words alone"
    return printable(f"{how}, {learned}; first row: {shortened(cells, _ROW)}")


def _export(argument: str, format: str | None) -> _Export | None:  # noqa: A002
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


def _sentences(export: _Export, tell: Callable[[str], None] = lambda line: None) -> Sequence[Sentence]:
    if export.tool in TOKEN_TOOLS:
        left_out: Counter[str] = Counter()
        given = TOKEN_TOOLS[export.tool].read(export.path, lambda what: left_out.update([what]))
        read = [*Memory([export.path]).sentences(given)]
        _check_complete(export, left_out)
        return known_layers(read)
    notes = Notes()
    documents, memory = documents_of(TOOLS[export.tool], [export.path], notes)
    names = annotators(documents)
    if len(names) > 1 and export.layer is None:
        expected = f"one of them, {export.path}#{names[0]}, or a corpus of all: {{}}"
        raise export.error(f"annotation by {' and '.join(names)}", expected)
    if export.tool == answers.TOOL.name:
        return _answers(documents, memory, notes, tell)
    read = [*memory.sentences(sentences(documents, tokenizer("words"), "unknown", "outside", notes))]
    if notes.misaligned:
        found = f"{notes.misaligned:,} spans that are not whole tokens of a line: {notes.shown[0]}"
        raise export.error(found, "a choice: {} (or `misaligned=unknown`)", "misaligned widen")
    if notes.empty:
        found = f"{notes.empty:,} of {notes.documents:,} documents without any span"
        expected = "a choice: {} if nobody found any in them, and `unmarked=empty-unknown` if nobody has begun"
        raise export.error(found, expected, "unmarked outside")
    if notes.overlapping:
        raise export.error(f"{notes.overlapping:,} spans that overlap longer ones", "none; this leaves them out: {}")
    _check_complete(export, notes.left_out)
    return read


def _answers(
    documents: Sequence[Document], memory: Memory, notes: Notes, tell: Callable[[str], None]
) -> Sequence[Sentence]:
    """Return the sentences of answers: O where nothing is marked, spans widened to whole tokens; tell the changes."""
    cut = "blanks" if answers.at_blanks(each.text for each in documents) else "words"
    read = [*memory.sentences(sentences(documents, tokenizer(cut), "widen", "outside", notes))]
    how = {"blanks": "tokens end at blanks", "words": "tokens end at blanks and punctuation"}[cut]
    lines = [
        *notes.lines("widen", "outside"),
        f"{how}, and those in no span are O (`tagweave import answers` reads it in other ways)",
    ]
    tell("; ".join(lines))
    return read


def documents_of(tool: Tool, paths: Sequence[str], notes: Notes) -> tuple[list[Document], Memory]:
    """Return the documents of a tool's files, and what counts the memory for them. Raises CorpusError if it is much."""

    def counted() -> Iterator[Document]:
        for document in memory.documents(document for path in paths for document in tool.read(path)):
            notes.left_out.update(document.left_out)
            notes.tally.update(document.tally, f"line {document.location.line}: ")
            yield document

    memory = Memory([webanno_tsv.split_argument(path)[0] for path in paths])
    documents = joined(counted())
    memory.layers(documents, annotators(documents))
    return documents, memory


def _check_complete(export: _Export, left_out: Counter[str]) -> None:
    if left_out:
        found = ", ".join(f"{count:,} {what}" for what, count in sorted(left_out.items()))
        raise export.error(found, "what a corpus can hold; this command leaves these out: {}")


def known_layers(read: Sequence[Sentence]) -> tuple[Sentence, ...]:
    """Return the sentences without layers and heads in which nothing is known."""
    known = {name for each in read for name, layer in each.layers.items() if any(layer) or each.rejected.get(name)}
    trees = any(any(layer) for each in read for layer in each.heads.values())
    return tuple(replace(each.with_layers_of(known), heads=each.heads if trees else {}) for each in read)
