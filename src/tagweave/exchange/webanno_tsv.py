"""WebAnno TSV 3.2 and 3.3, as INCEpTION exports and imports it.

    #FORMAT=WebAnno TSV 3.3
    #T_SP=de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity|value

    #Text=Ann Bell left.
    1-1<TAB>0-3<TAB>Ann<TAB>PER[1]
    1-2<TAB>4-8<TAB>Bell<TAB>PER[1]|LASTNAME[2]

A column for each feature of each layer: `_` is nothing, `*` a span without a value, a bar stands between spans of one
token, and a number in brackets joins the tokens of a span. Offsets are units of UTF-16. Rows `1-2.1` are parts of
tokens. Relations, chains and slots are counted as left out. Exports of projects are read as in `exchange/inception.py`;
what both formats have is a text with layers of spans with features; a corpus takes one feature.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

from tagweave.corpus.characters import is_escaped, split_unescaped
from tagweave.corpus.sentence import Location
from tagweave.errors import CorpusError
from tagweave.exchange.document import Document, Mark, Tool
from tagweave.exchange.members import LARGEST, ExportFile, members, packed_names, write_zip
from tagweave.exchange.tokens import Offsets, Places, lines, tokenizer

ENTITY = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"
"""The layer of every new project of INCEpTION, with the feature `value`: what is written."""
_ANNOTATOR = "annotator"
_FOLDERS = ("annotation", "curation")
_NOT_ANNOTATED = ("source", "annotation_ser", "curation_ser")  # folders of a project's export
_NOBODY = "INITIAL_CAS"


@dataclass
class LayeredText:
    """A text of one annotator."""

    text: str
    tokens: Sequence[Offsets] | None = None
    sentences: Sequence[Offsets] | None = None
    # the spans with a value, by `Layer.feature`; of a layer without features, by `Layer`
    layers: dict[str, list[Mark]] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)  # what is no span with a value, and how often


def split_argument(argument: str) -> tuple[str, str | None]:
    """Return the path and the layer of `PATH[#LAYER]`; a path that exists is a path."""
    path, mark, layer = argument.rpartition("#")
    return (argument, None) if not mark or Path(argument).exists() else (path, layer)


def is_annotated(name: PurePosixPath) -> bool:
    """Return whether somebody annotated a file of an export: it is no source, and no text that nobody has opened."""
    return not {*name.parts} & {*_NOT_ANNOTATED} and _place(name)[1] != _NOBODY


def _place(name: PurePosixPath) -> tuple[str, str]:
    """Return document and annotator of a file: in exports of projects, it is `annotation/DOCUMENT/ANNOTATOR.xmi`."""
    parts = name.parts
    at = next((at for at, part in enumerate(parts[:-2]) if part in _FOLDERS), None)
    if at is None:
        return name.stem, _ANNOTATOR
    return parts[at + 1], name.stem if at + 3 == len(parts) else parts[at + 2]


def documents(found: Iterable[tuple[ExportFile, LayeredText]], wanted: str | None, path: str) -> Iterator[Document]:
    """Yield documents with the spans of one layer, which may be `None` if all texts together have only one."""
    kept = list(found)
    layer = _chosen(sorted({name for _, text in kept for name in text.layers}), wanted, path)
    for member, text in kept:
        name, annotator = _place(member.name)
        marks = tuple(text.layers.get(layer, ()))
        tokens, bounds = (None if some is None else tuple(some) for some in (text.tokens, text.sentences))
        others = {f"spans of {name}": len(marks) for name, marks in text.layers.items() if name != layer and wanted}
        left_out = {**text.left_out, **others}
        yield Document(text.text, {annotator: marks}, name, tokens, Location(member.place), bounds, left_out)


def _chosen(names: Sequence[str], wanted: str | None, path: str) -> str:
    def fits(name: str) -> bool:  # a layer may be named with or without its feature
        return any(f".{each}".endswith(f".{wanted}") for each in (name, name.rpartition(".")[0]))

    fitting = [name for name in names if wanted is None or fits(name)]
    if wanted is not None and wanted in fitting:
        return wanted
    if len(fitting) == 1 or not names:
        return fitting[0] if fitting else ""
    if not fitting:
        raise CorpusError(f"no layer {wanted}", f"one of {', '.join(names)}", path)
    raise CorpusError(f"the layers {', '.join(fitting)}", f"one of them: {path}#{fitting[0]}", path)


def short(type_name: str) -> str:
    """Return the name of a layer without the packages of DKPro and `webanno`."""
    return type_name.rpartition(".")[2]


_FORMAT = "#FORMAT=WebAnno TSV 3.3"
_FORMATS = (_FORMAT, "#FORMAT=WebAnno TSV 3.2")
_ID = re.compile(r"\d+-\d+(\.\d+)?")
_OFFSETS = re.compile(r"(\d{1,12})-(\d{1,12})")
_NUMBER = re.compile(r"\[(\d+)\]\Z")
_NOTHING, _NO_VALUE = "_", "*"
_VALUE = re.compile(r"\\(->|[\\\[\]|_;tn*])")
_TEXT = re.compile(r"\\([tnfrb\\])")
_CONTROL = {"t": "\t", "n": "\n", "f": "\f", "r": "\r", "b": "\b"}
_ESCAPED = str.maketrans({"\\": "\\\\", **{character: f"\\{name}" for name, character in _CONTROL.items()}})
_FARTHEST = 1 << 16  # characters between two sentences


class _Column(NamedTuple):
    """The layer of a column's spans, and their label if the layer has no features; or what it counts as."""

    layer: str | None
    label: str | None = None
    left_out: str | None = None


class _Row(NamedTuple):
    """A token or a part of one: its offsets in UTF-16, its text, its values, and its line."""

    is_token: bool
    start: int
    stop: int
    text: str
    values: list[str]
    line: int


_TextAndRows = tuple[list[str], list[_Row]]


def read(argument: str) -> Iterator[Document]:
    """Return the documents of a file, a folder or a zip: `PATH[#LAYER]`."""
    path, layer = split_argument(argument)
    found = ((member, layered(member)) for member in members(path, ".tsv") if is_annotated(member.name))
    return documents(found, layer, path)


def layered(member: ExportFile) -> LayeredText:
    """Return the text of a file, with all its layers. Raises CorpusError if it is not in this form."""
    content = member.text().split("\n")
    if content[0].rstrip("\r") not in _FORMATS:
        raise CorpusError(f"{content[0]!r}", f"{_FORMAT!r}", member.place, 1)
    columns: list[_Column] = []
    sentences: list[_TextAndRows] = [([], [])]
    for number, line in enumerate(content[1:], 2):
        line = line.rstrip("\r")  # noqa: PLW2901
        if line.startswith(("#T_SP=", "#T_RL=", "#T_CH=")):
            columns += _columns(line)
        elif line.startswith("#Text="):
            if sentences[-1][1]:
                sentences.append(([], []))
            sentences[-1][0].append(_TEXT.sub(_plain, line.removeprefix("#Text=")))
        elif line.strip() and not line.startswith("#"):
            sentences[-1][1].append(_row(line, len(columns), Location(member.place, number)))
    return _assembled([(texts, rows) for texts, rows in sentences if rows], columns, member.place)


def _columns(line: str) -> Iterator[_Column]:
    name, *features = line.partition("=")[2].split("|")
    if not line.startswith("#T_SP="):
        what = "relations" if line.startswith("#T_RL=") else "chains"
        yield _Column(None, left_out=what)
        yield from [_Column(None)] * (len(features) - 1)
    elif not any(features):
        yield _Column(short(name), short(name))
    else:
        slot = False
        for feature in features:
            after_slot, slot = slot, feature.startswith("ROLE_")
            if slot or after_slot:
                yield _Column(None, left_out="slots" if slot else None)
            else:
                yield _Column(f"{short(name)}.{feature}")


def _row(line: str, columns: int, location: Location) -> _Row:
    fields = line.split("\t")
    if len(fields) == columns + 4 and not fields[-1]:
        fields.pop()
    if len(fields) != columns + 3 or not _ID.fullmatch(fields[0]):
        raise CorpusError(f"{line!r}", f"an ID, offsets, a token, and {columns} columns, as in the header", *location)
    if (offsets := _OFFSETS.fullmatch(fields[1])) is None:
        raise CorpusError(f"the offsets {fields[1]!r}", "START-STOP", *location)
    return _Row("." not in fields[0], int(offsets[1]), int(offsets[2]), fields[2], fields[3:], location.line)


def _assembled(sentences: Sequence[_TextAndRows], columns: Sequence[_Column], place: str) -> LayeredText:
    pieces: list[str] = []
    characters = length = 0
    bounds: list[Offsets] = []
    for texts, rows in sentences:
        gap = rows[0].start - length
        if not 0 <= gap <= _FARTHEST or length + gap > LARGEST:
            found = f"a sentence from {rows[0].start} after {length} characters"
            raise CorpusError(found, "sentences one after the other", place, rows[0].line)
        own = "\n".join(texts)
        bounds.append((characters + gap, characters + gap + len(own)))
        pieces += "\n" * gap, own
        characters += gap + len(own)
        length += gap + len(own.encode("utf-16-le", "surrogatepass")) // 2
    text = "".join(pieces)
    places = Places(text)
    rows = [_in_points(row, places, place) for _, rows in sentences for row in rows]
    tokens = [(row.start, row.stop) for row in rows if row.is_token]
    whole = LayeredText(text, tokens, bounds)
    for at, column in enumerate(columns):
        _read_column(column, [(row, row.values[at]) for row in rows if row.values[at] != _NOTHING], whole, place)
    return whole


def _in_points(row: _Row, places: Places, place: str) -> _Row:
    start, stop = places.of_unit(row.start), places.of_unit(row.stop)
    is_there = 0 <= start <= stop and stop - start == len(row.text) and places.text[start:stop] == row.text
    if not is_there or (row.is_token and start == stop):
        found = f"the token {row.text!r} from {row.start} to {row.stop}"
        raise CorpusError(found, "what the text has there, in units of UTF-16", place, row.line)
    return row._replace(start=start, stop=stop)


def _read_column(column: _Column, cells: Sequence[tuple[_Row, str]], found: LayeredText, place: str) -> None:
    values = [(row, part) for row, value in cells for part in split_unescaped(value, "|")]
    if column.layer is None:
        if column.left_out is not None and values:
            kept = (value != _NO_VALUE or column.left_out != "slots" for _, value in values)
            found.left_out[column.left_out] += sum(kept)
        return
    joined: dict[int | str, Mark] = {}
    for at, (row, value) in enumerate(values):
        number = _NUMBER.search(value)
        if number is not None and is_escaped(value, number.start()):
            number = None
        plain = value[: number.start()] if number else value
        label = (column.label or "") if plain == _NO_VALUE else _VALUE.sub(_plain, plain)
        key: int | str = f"{at}" if number is None else int(number[1][:18])
        before = joined.get(key)
        if before is not None and before.label != label:
            raise CorpusError(f"the value {label!r} of the span {value!r}", f"{before.label!r}", place, row.line)
        joined[key] = Mark(before.start if before else row.start, max(row.stop, before.stop if before else 0), label)
    known = [mark for mark in joined.values() if mark.label]
    marks = [mark for mark in known if mark.start < mark.stop]
    for what, count in (("characters", len(known) - len(marks)), (column.layer, len(joined) - len(known))):
        if count:
            found.left_out[f"spans without {what}"] += count
    if marks:
        found.layers.setdefault(column.layer, []).extend(marks)


def _plain(match: re.Match[str]) -> str:
    return _CONTROL.get(match[1], match[1])


def write(found: Iterable[Document], stream: IO[bytes]) -> None:
    """Write a zip of files with spans as named entities. Raises CorpusError for a span without a token."""
    header = f"{_FORMAT}\n#T_SP={ENTITY}|value\n\n\n"
    named = packed_names(found, ".tsv")
    write_zip(stream, ((name, header + "".join(_sentences(document, marks))) for document, marks, name in named))


def _sentences(document: Document, marks: Sequence[Mark]) -> Iterator[str]:
    bounds = list(lines(document.text)) if document.sentences is None else document.sentences
    units = list(accumulate((1 + (character > "\uffff") for character in document.text), initial=0))
    covered: set[int] = set()
    for number, (start, stop) in enumerate(bounds, 1):
        if document.tokens is None:
            tokens = [(start + a, start + b) for a, b in tokenizer("words")(document.text[start:stop])]
        else:
            tokens = [(a, b) for a, b in document.tokens if start <= a < b <= stop]
        if tokens:
            text = document.text[tokens[0][0] : stop]
            yield from (f"#Text={line.translate(_ESCAPED)}\n" for line in text.split("\n"))
        for at, token in enumerate(tokens, 1):
            touching = [(i, mark) for i, mark in enumerate(marks, 1) if mark.start < token[1] and token[0] < mark.stop]
            covered.update(i for i, _ in touching)
            yield from _rows(f"{number}-{at}", token, touching, document.text, units)
        yield "\n"
    if missing := [mark for at, mark in enumerate(marks, 1) if at not in covered]:
        raise document.error(f"the span {missing[0].start} to {missing[0].stop} without a token", "spans of tokens")


def _rows(name: str, token: Offsets, marks: Sequence[tuple[int, Mark]], text: str, units: list[int]) -> Iterator[str]:
    """Yield the row of a token, and the rows of its parts that have spans of their own."""
    parts: dict[Offsets, list[str]] = {token: []}
    for number, mark in marks:
        part = max(mark.start, token[0]), min(mark.stop, token[1])
        label = re.sub(r"->|[\\\[\]|_;*]", lambda match: "\\" + match[0], mark.label)
        label = label.replace("\t", "\\t").replace("\n", "\\n")
        parts.setdefault(part, []).append(f"{label}[{number}]")
    for at, ((start, stop), values) in enumerate(sorted(parts.items(), key=lambda item: (item[0] != token, item[0]))):
        own = f"{name}.{at}" if at else name
        yield f"{own}\t{units[start]}-{units[stop]}\t{text[start:stop]}\t{'|'.join(values) or _NOTHING}\t\n"


TOOL = Tool("webanno-tsv", read, write, ".zip", binary=True)
