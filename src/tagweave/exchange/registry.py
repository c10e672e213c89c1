"""The tools whose files are read and written, and which of them a file is from."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from tagweave.corpus.errors import CorpusError
from tagweave.corpus.text_file import LONGEST, opened
from tagweave.exchange import brat, datasets, docbin, doccano, inception, label_studio, prodigy, webanno_tsv
from tagweave.exchange.document import Tool
from tagweave.exchange.errors import ExchangeError
from tagweave.exchange.layered import split_argument
from tagweave.exchange.token_tool import TokenTool
from tagweave.exchange.uima_types import CONTENT, TYPES

_ALL = (doccano, label_studio, prodigy, brat, inception, webanno_tsv)
TOOLS: dict[str, Tool] = {each.TOOL.name: each.TOOL for each in _ALL}


TOKEN_TOOLS: dict[str, TokenTool] = {each.TOOL.name: each.TOOL for each in (datasets, docbin)}
NAMES = (*TOOLS, *TOKEN_TOOLS)
"""Of all tools."""

_BEGINNINGS = {
    b"PAR1": datasets,
    b"ARROW1": datasets,
    b"\xff\xff\xff\xff": datasets,  # a stream of Arrow
    b"#FORMAT=WebAnno TSV": webanno_tsv,
    b"<?xml": inception,
    b"<xmi:XMI": inception,
}
_EXTENSIONS = {
    ".ann": brat,
    ".xmi": inception,
    ".tsv": webanno_tsv,
    ".spacy": docbin,
    ".parquet": datasets,
    ".arrow": datasets,
}


def tool(name: str) -> Tool:
    """The tool of this name, whose files have offsets. Raises ExchangeError if there is none."""
    if name not in TOOLS:
        raise ExchangeError(f"found the tool {name!r}, expected one of {', '.join(NAMES)}")
    return TOOLS[name]


def check_tool(name: str, argument: str) -> None:
    """Raise ExchangeError, which names the right command, if a file is plainly from another tool."""
    path, _ = split_argument(argument)
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
    return by_start.TOOL.name if by_start else None


def _by_extension(files: Iterable[Path | PurePosixPath]) -> str | None:
    found = {_EXTENSIONS[each.suffix].TOOL.name for each in files if each.suffix in _EXTENSIONS}
    return found.pop() if len(found) == 1 else None


def _by_first_value(text: str) -> str | None:
    """Return the tool by the first object of a file of JSON, of JSON Lines, or of one list."""
    if any(f'"{name}"' in text[: 1 << 10] for name in (TYPES, CONTENT)):
        return inception.TOOL.name
    try:
        first, _ = json.JSONDecoder().raw_decode(text, text.index("{"))
    except (ValueError, RecursionError):
        return None
    has_text = isinstance(first.get("text"), str)
    signs = {
        label_studio: isinstance(first.get("data"), dict),
        datasets: any(_are_texts(first.get(name)) for name in datasets.TOKENS),
        prodigy: has_text and first.keys() & {"spans", "answer", "_input_hash", "_task_hash"},
        doccano: has_text and first.keys() & {*doccano.LISTS, "entities"},
    }
    return next((each.TOOL.name for each, is_there in signs.items() if is_there), None)


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)
