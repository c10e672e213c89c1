"""Tables of Hugging Face datasets: a row is a sentence, with `tokens` and a list of labels in every other column.

Parquet, Arrow (a stream or a file), JSON and JSON Lines, and folders of `save_to_disk`. Numbers are labels of a
`ClassLabel`, whose names are in the metadata of the file, or in `dataset_info.json` beside it; -100, -1 and null are
unknown. Columns named as in Universal Dependencies are read as such (`lemmas`, `feats`, `head` with `deprel`). Values
that are no lists become comments.

A few bytes of Parquet can stand for gigabytes: pages are compressed, and equal values are stored once. So unpacked
pages, values and characters are counted before there are Python objects, and columns of other types are left out.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from math import isnan
from pathlib import Path
from typing import IO, Any, NamedTuple

from tagweave.corpus.sentence import Arc, ArcCandidates, Candidates, Location, Sentence
from tagweave.errors import CorpusError, ExchangeError
from tagweave.exchange.document import CONTROL, UNWRITABLE, TokenTool, single
from tagweave.exchange.json_exports import parsed, read_objects
from tagweave.exchange.members import Allowance, library, refuse_link

TOKENS = ("tokens", "words")
_COLUMNS = {"lemmas": "lemma", "lemma": "lemma", "feats": "feats", "deps": "deps", "misc": "misc"}
_UNKNOWN = (-100, -1, None, "_", "")
_INFO = "dataset_info.json"
_KEY = b"huggingface"
_EXTENSIONS = (".parquet", ".arrow", ".jsonl", ".json")

Names = Mapping[str, Sequence[str]]
"""The names of labels by column."""


def read(path: str, leave_out: Callable[[str], None]) -> Iterator[Sentence]:
    """Yield the sentences of a file, or of the files of a folder."""
    for file in _files(Path(path)):
        for number, (names, values) in enumerate(_rows(file, leave_out), 1):
            sentence = _sentence(values, names, Location(str(file), number), leave_out)
            if sentence.forms:
                yield sentence


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    if (path / "dataset_dict.json").is_file():
        splits = sorted(folder.name for folder in path.iterdir() if folder.is_dir())
        raise CorpusError(f"the splits {', '.join(splits)}", "the folder of one of them", str(path))
    if (path / "state.json").is_file():
        state = _json(path / "state.json")
        listed = state.get("_data_files") if isinstance(state, dict) else None
        files = [file for file in listed if isinstance(file, dict)] if isinstance(listed, list) else []
        tables = [path / Path(str(file.get("filename"))).name for file in files]
    else:
        tables = sorted(file for file in path.iterdir() if file.suffix in _EXTENSIONS[:3])
    if not tables:
        raise CorpusError("a folder without tables", f"files {', '.join(_EXTENSIONS[:3])}", str(path))
    for file in tables:
        refuse_link(file)
    return tables


def _json(path: Path) -> object:
    refuse_link(path)
    return parsed(path.read_bytes(), Location(str(path)), "JSON, as datasets writes it")


def _rows(path: Path, leave_out: Callable[[str], None]) -> Iterator[tuple[Names, Mapping[str, Any]]]:
    beside = _names(_json(path.parent / _INFO)) if (path.parent / _INFO).is_file() else {}
    if path.suffix in (".json", ".jsonl"):
        for row in read_objects(str(path)):
            yield beside, row.values
        return
    names = None
    for metadata, values in rows(path, leave_out):
        names = names or {**beside, **_names(metadata)}
        yield names, values


def _names(info: object) -> Names:
    """Return the names of labels in the description of a dataset; columns without names are left out."""
    inner = info.get("info", info) if isinstance(info, dict) else {}
    features = inner.get("features") if isinstance(inner, dict) else None
    names_of = {}
    for column, feature in features.items() if isinstance(features, dict) else ():
        element = feature.get("feature", feature) if isinstance(feature, dict) else feature
        element = element[0] if isinstance(element, list) and element else element
        names = element.get("names") if isinstance(element, dict) else None
        if isinstance(names, list) and all(isinstance(name, str) for name in names):
            names_of[column] = names
    return names_of


def _sentence(row: Mapping[str, Any], names: Names, location: Location, leave_out: Callable[[str], None]) -> Sentence:
    key = next((key for key in TOKENS if key in row), None)
    if key is None:
        raise CorpusError(f"the columns {', '.join(map(str, row))}", "a column tokens", *location)
    forms = row[key]
    if not isinstance(forms, list) or not all(isinstance(form, str) and form for form in forms):
        raise CorpusError(f"the tokens {forms!r}", "a list of texts, none of them empty", *location)
    if wrong := UNWRITABLE.search("".join(forms)):
        raise CorpusError(f"the character {wrong.group()!r} in a token", "text that UTF-8 can hold", *location)
    layers: dict[str, tuple[Candidates, ...]] = {}
    columns: dict[str, tuple[str, ...]] = {}
    comments: list[str] = []
    for name, value in row.items():
        values = _whole_numbers(value) if name in names or name.rstrip("s").endswith(("tag", "label")) else value
        if name in (key, "head", "deprel"):
            continue
        if not isinstance(values, list):
            if isinstance(values, str | int) and name.isidentifier():
                comments.append(f"# {name} = {str(values).translate({10: ' ', 13: ' ', 0: ' '})}")
        elif any(isinstance(value, list | dict | float) for value in values):
            leave_out(f"values of {name}")
        elif len(values) != len(forms):
            raise CorpusError(f"{len(values)} values of {name}", f"{len(forms)}, one a token", *location)
        elif name in _COLUMNS and name not in names:
            columns[_COLUMNS[name]] = tuple("_" if value in (None, "") else str(value) for value in values)
        else:
            layers[name] = tuple(_candidates(value, name, names, location) for value in values)
    heads = {"head": _heads(row, len(forms), location)} if row.get("head") is not None else {}
    return Sentence(tuple(forms), layers, columns, heads, tuple(comments), location=location)


def _whole_numbers(values: object) -> object:
    """Return the numbers of labels as whole ones: a table with missing values has made floats of them."""
    if not isinstance(values, list) or not any(isinstance(value, float) for value in values):
        return values
    numbers = [None if isinstance(value, float) and isnan(value) else value for value in values]
    return [int(value) if isinstance(value, float) and value.is_integer() else value for value in numbers]


def _candidates(value: object, name: str, names: Names, location: Location) -> Candidates:
    if value in _UNKNOWN:
        return None
    if isinstance(value, str):
        return _single(value, location)
    if name not in names or not isinstance(value, int):
        raise CorpusError(f"{value!r} in {name}", f"texts, or names of them in the file or in {_INFO}", *location)
    if not 0 <= value < len(names[name]) or not names[name][value]:
        raise CorpusError(f"the label {value} of {name}", f"0 to {len(names[name]) - 1}, or -100", *location)
    return _single(names[name][value], location)


def _single(label: str, location: Location) -> tuple[str]:
    try:
        return _checked(label)
    except CorpusError as error:
        raise error.at(*location) from None


@lru_cache(maxsize=10_000)
def _checked(label: str) -> tuple[str]:
    if wrong := CONTROL.search(label):
        raise CorpusError(f"the character {wrong.group()!r} in the label {label!r}", "a label in one line")
    return (label,)  # the same one for all tokens


def _heads(row: Mapping[str, Any], length: int, location: Location) -> tuple[ArcCandidates, ...]:
    heads, relations = row["head"], row.get("deprel") or [None] * length
    if not isinstance(heads, list) or not isinstance(relations, list) or {len(heads), len(relations)} != {length}:
        raise CorpusError("heads or relations of another number", f"{length}, one a token", *location)
    arcs: list[ArcCandidates] = []
    for at, (head, relation) in enumerate(zip(heads, relations, strict=True), 1):
        text = "" if head in (*_UNKNOWN, "None") else str(head)
        label = relation if isinstance(relation, str) and relation not in ("", "_") else None
        if not text:
            arcs.append(None if label is None else (Arc(None, label),))
        elif text.isascii() and text.isdecimal() and len(text) < 10 and int(text) <= length and int(text) != at:
            arcs.append((Arc(int(text), label),))
        else:
            raise CorpusError(f"the head {head!r} of token {at}", f"0 or another token, 1 to {length}", *location)
    return tuple(arcs)


def write(sentences: Sequence[Sentence], stream: IO[bytes], layers: Sequence[str], name: str) -> None:
    """Write a table of tokens and labels: `.parquet`, `.arrow` (a stream), or `.jsonl`, by the name of the file."""
    suffix = Path(name).suffix
    if suffix not in _EXTENSIONS[:3]:
        raise ExchangeError(f"found the file name {name!r}, expected one that ends in {', '.join(_EXTENSIONS[:3])}")
    table = [_row(sentence, layers) for sentence in sentences if sentence.forms]
    if suffix == ".jsonl":
        stream.writelines(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in table)
    else:
        _write_table(table, layers, stream, suffix)


def _row(sentence: Sentence, layers: Sequence[str]) -> dict[str, Any]:
    unknown: tuple[None, ...] = (None,) * len(sentence)
    row: dict[str, Any] = {"tokens": list(sentence.forms)}
    for name in layers:
        row[name] = single(sentence.layers.get(name, unknown), sentence, "datasets")
    if any(sentence.heads.get("head", ())):
        arcs = [candidates[0] if candidates else Arc(None, None) for candidates in sentence.heads["head"]]
        if several := [candidates for candidates in sentence.heads["head"] if candidates and len(candidates) > 1]:
            raise sentence.error(f"{len(several[0])} candidates of a head", "one or none")
        row["head"] = [None if arc.head is None else str(arc.head) for arc in arcs]
        row["deprel"] = [arc.relation for arc in arcs]
    return row


def _write_table(rows: list[dict[str, Any]], layers: Sequence[str], stream: IO[bytes], suffix: str) -> None:
    pyarrow = library("pyarrow", "pyarrow", "arrow")
    from pyarrow import ipc, parquet

    texts, text = (
        pyarrow.list_(pyarrow.string()),
        {"feature": {"dtype": "string", "_type": "Value"}, "_type": "Sequence"},
    )
    features: dict[str, Any] = {"tokens": text}
    fields = [("tokens", texts)]
    for name in layers:
        labels = {label for row in rows for label in row[name] if label is not None}
        names = sorted(labels, key=lambda label: (label != "O", label))  # as tables of entities have them
        numbers = {label: at for at, label in enumerate(names)}
        for row in rows:
            row[name] = [numbers.get(label, _UNKNOWN[0]) for label in row[name]]
        features[name] = {"feature": {"names": names, "_type": "ClassLabel"}, "_type": "Sequence"}
        fields.append((name, pyarrow.list_(pyarrow.int64())))
    for name in ("head", "deprel") if any("head" in row for row in rows) else ():
        features[name] = text
        fields.append((name, texts))
    schema = pyarrow.schema(fields, metadata={_KEY: json.dumps({"info": {"features": features}}).encode()})
    table = pyarrow.Table.from_pylist(rows, schema=schema)
    if suffix == ".parquet":
        parquet.write_table(table, stream)
    else:
        with ipc.new_stream(stream, schema) as writer:
            writer.write_table(table)


_ROWS = 1000  # that are in memory at a time
_PAGES = 100_000
_BATCH, _DICTIONARY = 3, 2  # kinds of messages


def rows(path: Path, leave_out: Callable[[str], None]) -> Iterator[tuple[object, dict[str, Any]]]:
    """Yield the rows of a file with the description by `datasets`. Raises CorpusError for what would take too much."""
    with path.open("rb") as file, _refused(path):
        is_parquet = file.read(4) == b"PAR1"
        schema, batches = (_parquet if is_parquet else _arrow)(file, path)
        try:
            metadata = json.loads((schema.metadata or {}).get(_KEY, b"{}"))
        except (ValueError, RecursionError) as error:
            raise CorpusError(f"no JSON in its metadata ({error})", "what datasets writes", str(path)) from None
        unread = [field.name for field in schema if not _is_read(field.type)]
        values, characters = Allowance(path, "values"), Allowance(path)
        for batch in batches:
            batch.validate(full=True)  # offsets that somebody wrote are not believed
            columns = zip(batch.schema.names, batch.columns, strict=True)
            read = {name: column for name, column in columns if _is_read(column.type)}
            for name in unread * len(batch):
                leave_out(f"values of {name}")
            for column in read.values():
                flat = _flat(column)[0]
                values.take(len(column) + len(flat))
                characters.take(_characters(flat))
            lists = [_python(column) for column in read.values()]
            for row in zip(*lists, strict=True):
                yield metadata, dict(zip(read, row, strict=True))


@contextmanager
def _refused(path: Path) -> Iterator[None]:
    """Raise as `CorpusError` whatever pyarrow raises: it says that the file is damaged."""
    broken = (OSError, ValueError, TypeError, LookupError, ArithmeticError, MemoryError, struct.error)
    exceptions = (library("pyarrow", "pyarrow", "arrow").ArrowException, *broken)
    try:
        yield
    except exceptions as error:
        if isinstance(error, CorpusError):
            raise
        raise CorpusError(f"no table ({type(error).__name__}: {error})", "Parquet or Arrow", str(path)) from None


def _parquet(file: IO[bytes], path: Path) -> tuple[Any, Iterator[Any]]:
    from pyarrow import parquet

    table = parquet.ParquetFile(file, pre_buffer=False)
    leaves = [table.schema.column(number) for number in range(len(table.schema))]
    texts = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
    schema = table.schema_arrow
    _check_pages(table.metadata, file, path)
    table = parquet.ParquetFile(file, pre_buffer=False, read_dictionary=texts)
    names = [field.name for field in table.schema_arrow if _is_read(field.type)]
    return schema, table.iter_batches(_ROWS, columns=names)


def _check_pages(metadata: Any, file: IO[bytes], path: Path) -> None:
    unpacked, values, left = Allowance(path), Allowance(path, "values"), _PAGES
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for column in map(group.column, range(group.num_columns)):
            values.take(column.num_values)
            starts = (column.dictionary_page_offset, column.data_page_offset)
            start = min(offset for offset in starts if offset is not None)
            for page in pages(file, start, column.total_compressed_size):
                unpacked.take(page.unpacked)
                left -= 1
                if left < 0:
                    raise CorpusError(f"more than {_PAGES:,} pages", "fewer: write the table anew", str(path))


def _arrow(file: IO[bytes], path: Path) -> tuple[Any, Iterator[Any]]:
    """Return the schema and batches of a stream, or of a file, which is a stream with something around it."""
    from pyarrow import ipc

    file.seek(0)
    start = 8 if file.read(6) == b"ARROW1" else 0
    file.seek(start)
    if any(_is_compressed(bytes(message.metadata)) for message in ipc.MessageReader.open_stream(file)):
        raise CorpusError("compressed Arrow", "Arrow as datasets writes it, or Parquet", str(path))
    file.seek(start)
    reader = ipc.open_stream(file)
    return reader.schema, iter(reader)


def _is_compressed(message: bytes) -> bool:
    """Return whether the buffers of a message are compressed, by its FlatBuffers: tables with offsets of fields."""

    def field(table: int, number: int) -> int:
        offsets = table - struct.unpack_from("<i", message, table)[0]
        size, slot = struct.unpack_from("<H", message, offsets)[0], 4 + 2 * number
        distance = struct.unpack_from("<H", message, offsets + slot)[0] if slot < size else 0
        return table + distance if distance else 0

    def inner(place: int) -> int:
        return int(place + struct.unpack_from("<I", message, place)[0])

    table = inner(0)
    kind, header = field(table, 1), field(table, 2)
    if not kind or not header or message[kind] not in (_BATCH, _DICTIONARY):
        return False
    batch = inner(header)
    if message[kind] == _DICTIONARY:
        batch = inner(field(batch, 1))
    return bool(field(batch, 3))


def _is_list(kind: Any) -> bool:
    from pyarrow import types

    return any(is_kind(kind) for is_kind in (types.is_list, types.is_large_list, types.is_fixed_size_list))


def _is_read(kind: Any) -> bool:
    """Return whether values are texts, numbers, or lists of them."""
    from pyarrow import types

    inner = kind.value_type if _is_list(kind) else kind
    if types.is_dictionary(inner):
        return bool(types.is_string(inner.value_type) or types.is_large_string(inner.value_type))
    plain = (types.is_string, types.is_large_string, types.is_integer, types.is_floating, types.is_boolean)
    return any(is_kind(inner) for is_kind in plain)


def _flat(column: Any) -> tuple[Any, Sequence[int]]:
    """Return the values of a column, and for one of lists where each list begins, and the last one ends."""
    from pyarrow import types

    if not _is_list(column.type):
        return column, ()
    if types.is_fixed_size_list(column.type):
        size = column.type.list_size
        starts: Sequence[int] = range(0, (len(column) + 1) * size, size) if size else [0] * (len(column) + 1)
        return column.values.slice(column.offset * size, len(column) * size), starts
    offsets = column.offsets.to_pylist()
    return column.values.slice(offsets[0], offsets[-1] - offsets[0]), [offset - offsets[0] for offset in offsets]


def _characters(values: Any) -> int:
    """Count the bytes of the texts that a dictionary stands for."""
    from pyarrow import compute, types

    if not types.is_dictionary(values.type):
        return 0
    lengths = compute.binary_length(values.dictionary).cast("int64")
    return int(compute.sum(lengths.take(values.indices)).as_py() or 0)


def _python(column: Any) -> list[Any]:
    from pyarrow import types

    values, starts = _flat(column)
    if types.is_dictionary(values.type):
        texts = [*values.dictionary.to_pylist(), None]
        python_values = [texts[-1 if index is None else index] for index in values.indices.to_pylist()]
    else:
        python_values = values.to_pylist()
    if not starts:
        return python_values
    missing = column.is_null().to_pylist()
    return [None if none else python_values[a:b] for none, a, b in zip(missing, starts[:-1], starts[1:], strict=True)]


# Sizes of the pages of a Parquet file, before pyarrow unpacks them. The description of a column at the end of the file
# has sizes too, but pyarrow trusts the headers of the pages. A header is a struct of Thrift's compact protocol: fields
# with a number and a type, numbers of variable length.
_HEADER, _LONGEST = 1 << 12, 1 << 20  # bytes that are read of a header at first, and at most
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _STRUCT = 1, 2, 3, 7, 8, 12
_NUMBERS = (4, 5, 6)
_UNPACKED, _PACKED = 2, 3  # fields of the header of a page: its bytes
_OF_VALUES = (5, 7, 8)  # those with the header of its kind, in which field 1 is the number of values
_DEPTH = 10


class ParquetPage(NamedTuple):
    """A page: its bytes when it is unpacked, and the number of its values."""

    unpacked: int
    values: int


def pages(file: IO[bytes], start: int, length: int) -> Iterator[ParquetPage]:
    """Return the pages of a column of a row group, which has `length` bytes from `start`."""
    stop = start + length
    while start < stop:
        file.seek(start)
        data = file.read(_HEADER)
        try:
            header, size = _struct(data, 0, _DEPTH)
        except IndexError:
            try:
                header, size = _struct(data + file.read(_LONGEST), 0, _DEPTH)
            except IndexError:
                raise ValueError("a page whose header does not end") from None
        packed, unpacked = header.get(_PACKED), header.get(_UNPACKED)
        if not isinstance(packed, int) or not isinstance(unpacked, int) or packed < 0 or unpacked < 0:
            raise ValueError("a page without sizes")
        kinds = [header[kind] for kind in _OF_VALUES if isinstance(header.get(kind), dict)]
        yield ParquetPage(unpacked, max((kind[1] for kind in kinds if isinstance(kind.get(1), int)), default=0))
        start += size + packed


def _struct(data: bytes, at: int, depth: int) -> tuple[dict[int, Any], int]:
    fields: dict[int, Any] = {}
    number = 0
    while data[at]:
        step, kind = data[at] >> 4, data[at] & 15
        at += 1
        if step:
            number += step
        else:
            number, at = _number(data, at)
        fields[number], at = _value(data, at, kind, depth)
    return fields, at + 1


def _value(data: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    if kind in (_TRUE, _FALSE):
        return kind == _TRUE, at
    if kind in _NUMBERS:
        return _number(data, at)
    if kind == _BINARY:
        size, at = _varint(data, at)
        return None, at + size
    if kind == _STRUCT and depth:
        return _struct(data, at, depth - 1)
    if kind in (_BYTE, _DOUBLE):
        return None, at + (1 if kind == _BYTE else 8)
    raise ValueError("a page with a header of another kind")


def _number(data: bytes, at: int) -> tuple[int, int]:
    value, at = _varint(data, at)
    return (value >> 1) ^ -(value & 1), at


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while shift < 70:
        value |= (data[at] & 127) << shift
        at += 1
        if data[at - 1] < 128:
            return value, at
        shift += 7
    raise ValueError("a page with a number that does not end")


TOOL = TokenTool("datasets", read, write, _EXTENSIONS)
