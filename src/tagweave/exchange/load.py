"""Corpora, and exports of annotation tools that leave nothing to choose.

Such an export is read as `tagweave import` reads it by default. If it can be read in several ways, or not without loss,
it is refused with the command to run. The tools are imported for their own files alone: `tagweave tag` starts sooner.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from tagweave.corpus import load as files
from tagweave.corpus.candidates import format_candidates
from tagweave.corpus.characters import printable
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.files import LONGEST, STANDARD_STREAM, opened
from tagweave.corpus.formats import columns
from tagweave.corpus.formats.format import ModelLabels
from tagweave.corpus.formats.registry import format_of_name
from tagweave.corpus.load import CorpusStream, parse_argument
from tagweave.errors import CorpusError, ExchangeError, shortened

if TYPE_CHECKING:
    from tagweave.exchange.exports import Export

_CELL, _ROW = 20, 160  # characters shown
_BEGINNINGS: dict[bytes, str] = {
    b"PAR1": "datasets",
    b"ARROW1": "datasets",
    b"\xff\xff\xff\xff": "datasets",  # a stream of Arrow
}
_EXTENSIONS: dict[str, str] = {
    ".ann": "brat",
    ".spacy": "spacy",
    ".parquet": "datasets",
    ".arrow": "datasets",
}


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
            by_start = next((tool for begin, tool in _BEGINNINGS.items() if start.startswith(begin)), None)
            if by_start is None and start[:1] in (b"{", b"["):
                return _by_first_value((start + stream.read(LONGEST)).decode("utf-8", "replace"))
    except (OSError, CorpusError, zipfile.BadZipFile, ValueError, NotImplementedError):
        return None  # whoever reads the file says what is wrong with it
    return by_start or _by_extension([PurePosixPath(path)])


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
    return files.assembled(argument, columns.FORMAT, export.sentences(tell), unnamed, trained)


def stream(argument: str, format: str | None = None, labels: ModelLabels | None = None) -> CorpusStream:  # noqa: A002
    """Open a file as `corpus.load.stream`, or an export as `load`."""
    if (export := _export(argument, format)) is None:
        return files.stream(argument, format, labels)
    told: list[str] = []
    read = export.sentences(told.append)
    how = "answers of a language model" if export.tool == "answers" else f"an export of {export.tool}"
    return CorpusStream(columns.FORMAT, iter(read), f"read as {how}{''.join(f' ({line})' for line in told)}")


def reading(argument: str, layer: str, format: str | None = None) -> str:  # noqa: A002
    """Say in one line how a file is read: its format, columns and first row, and the layer."""
    path = parse_argument(argument).path
    if path == STANDARD_STREAM or (Path(path).exists() and not Path(path).is_file()):
        return ""  # it can be read only once
    form, sentences, note = stream(argument, format)
    first = next((sentence for sentence in sentences if sentence.forms), None)
    how = f"{path} is {note or f'read as {form.name}'}"
    if first is None:
        return how
    row = {"form": first.forms[0], **{name: texts[0] for name, texts in first.columns.items()}}
    row |= {name: format_candidates(layer[0]) if layer[0] else "_" for name, layer in first.layers.items()}
    row |= {name: str(heads[0][0].head) if heads[0] else "_" for name, heads in first.heads.items()}
    cells = " ".join(f"{name}={shortened(cell or '_', _CELL)}" for name, cell in row.items())
    learned = f"layer {layer}" if layer else "the words alone"
    return printable(f"{how}, {learned}; first row: {shortened(cells, _ROW)}")


def _export(argument: str, format: str | None) -> Export | None:  # noqa: A002
    path, _, layer = parse_argument(argument)
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
