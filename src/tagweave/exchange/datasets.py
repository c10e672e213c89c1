"""Tables of Hugging Face datasets: a row is a sentence, with `tokens` and a list of labels in every other column.

Parquet, Arrow (a stream or a file), JSON and JSON Lines, and folders of `save_to_disk`. Numbers are labels of a
`ClassLabel`, whose names are in the metadata of the file, or in `dataset_info.json` beside it; -100, -1 and null are
unknown. Columns named as in Universal Dependencies are what they are there (`lemmas`, `feats`, `head` with `deprel`).
Values that are no lists become comments.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

from tagweave.corpus.errors import CorpusError
from tagweave.corpus.sentence import Arc, ArcCandidates, Candidates, Location, Sentence
from tagweave.exchange.errors import ExchangeError
from tagweave.exchange.json_values import read_json_lines, read_json_list
from tagweave.exchange.members import refuse_link
from tagweave.exchange.tables import rows
from tagweave.exchange.token_tool import TokenTool, single

TOKENS = ("tokens", "words")
_COLUMNS = {"lemmas": "lemma", "lemma": "lemma", "feats": "feats", "deps": "deps", "misc": "misc"}
_UNKNOWN = (-100, -1, None, "_", "")
_INFO = "dataset_info.json"
_KEY = b"huggingface"
_EXTENSIONS = (".parquet", ".arrow", ".jsonl", ".json")

Names = Mapping[str, Sequence[str]]
"""The names of labels by column."""


def read(path: str, leave_out: Callable[[str], None]) -> Iterator[Sentence]:
    """The sentences of a file, or of the files of a folder.

    Raises:
        CorpusError: a file that is not such a table; numbers without names; lists of different lengths.
        ExchangeError: pyarrow is not installed.
        OSError: a file cannot be read.
    """
    for file in _files(Path(path)):
        for number, row in enumerate(_rows(file, leave_out), 1):
            names, values = row
            found = _sentence(values, names, Location(str(file), number), leave_out)
            if found.forms:
                yield found


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    if (path / "dataset_dict.json").is_file():
        splits = sorted(each.name for each in path.iterdir() if each.is_dir())
        raise CorpusError(f"the splits {', '.join(splits)}", "the folder of one of them", str(path))
    state = path / "state.json"
    if state.is_file():
        found = [path / Path(str(name)).name for name in _listed(_json(state))]
    else:
        found = sorted(each for each in path.iterdir() if each.suffix in _EXTENSIONS[:3])
    if not found:
        raise CorpusError("a folder without tables", f"files {', '.join(_EXTENSIONS[:3])}", str(path))
    for each in found:
        refuse_link(each)
    return found


def _listed(state: object) -> list[object]:
    files = state.get("_data_files") if isinstance(state, dict) else None
    return [each.get("filename") for each in files or () if isinstance(each, dict)] if isinstance(files, list) else []


def _json(path: Path) -> object:
    refuse_link(path)
    try:
        return json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise CorpusError(f"no JSON ({error})", "JSON, as datasets writes it", str(path)) from None


def _rows(path: Path, leave_out: Callable[[str], None]) -> Iterator[tuple[Names, Mapping[str, Any]]]:
    """The rows of a file, each with the names of labels."""
    beside = _names(_json(path.parent / _INFO)) if (path.parent / _INFO).is_file() else {}
    if path.suffix in (".json", ".jsonl"):
        with path.open("rb") as file:
            is_list = file.read(64).lstrip()[:1] == b"["
        for each in (read_json_list if is_list else read_json_lines)(str(path)):
            yield beside, each.values
        return
    names = None
    for metadata, row in rows(path, leave_out):
        names = names or {**beside, **_names(metadata)}
        yield names, row


def _names(info: object) -> Names:
    """The names of labels in the description of a dataset; columns without names are left out."""
    inner = info.get("info", info) if isinstance(info, dict) else {}
    features = inner.get("features") if isinstance(inner, dict) else None
    found = {}
    for column, feature in features.items() if isinstance(features, dict) else ():
        element = feature.get("feature", feature) if isinstance(feature, dict) else feature
        element = element[0] if isinstance(element, list) and element else element
        names = element.get("names") if isinstance(element, dict) else None
        if isinstance(names, list) and all(isinstance(each, str) for each in names):
            found[column] = names
    return found


def _sentence(row: Mapping[str, Any], names: Names, location: Location, leave_out: Callable[[str], None]) -> Sentence:
    key = next((key for key in TOKENS if key in row), None)
    if key is None:
        raise CorpusError(f"the columns {', '.join(map(str, row))}", "a column tokens", *location)
    forms = row[key]
    if not isinstance(forms, list) or not all(isinstance(each, str) and each for each in forms):
        raise CorpusError(f"the tokens {forms!r}", "a list of texts, none of them empty", *location)
    layers: dict[str, tuple[Candidates, ...]] = {}
    columns: dict[str, tuple[str, ...]] = {}
    comments: list[str] = []
    for name, values in row.items():
        if name in (key, "head", "deprel"):
            continue
        if not isinstance(values, list):
            comments += _comment(name, values)
        elif any(isinstance(each, list | dict | float) for each in values):
            leave_out(f"values of {name}")
        elif len(values) != len(forms):
            raise CorpusError(f"{len(values)} values of {name}", f"{len(forms)}, one a token", *location)
        elif name in _COLUMNS and name not in names:
            columns[_COLUMNS[name]] = tuple("_" if each in (None, "") else str(each) for each in values)
        else:
            layers[name] = tuple(_candidates(each, name, names, location) for each in values)
    heads = {"head": _heads(row, len(forms), location)} if row.get("head") is not None else {}
    return Sentence(tuple(forms), layers, columns, heads, tuple(comments), location=location)


def _comment(name: str, value: object) -> list[str]:
    if not isinstance(value, str | int) or not name.isidentifier():
        return []
    return [f"# {name} = {str(value).translate({10: ' ', 13: ' ', 0: ' '})}"]


def _candidates(value: object, name: str, names: Names, location: Location) -> Candidates:
    if value in _UNKNOWN:
        return None
    if isinstance(value, str):
        return _single(value)
    if name not in names or not isinstance(value, int):
        expected = f"texts, or names of them in the file or in {_INFO} beside it"
        raise CorpusError(f"{value!r} in {name}", expected, *location)
    if not 0 <= value < len(names[name]) or not names[name][value]:
        raise CorpusError(f"the label {value} of {name}", f"0 to {len(names[name]) - 1}, or -100", *location)
    return _single(names[name][value])


@lru_cache(maxsize=10_000)
def _single(label: str) -> tuple[str]:
    """Return a set of one label, the same one for all tokens."""
    return (label,)


def _heads(row: Mapping[str, Any], length: int, location: Location) -> tuple[ArcCandidates, ...]:
    heads, relations = row["head"], row.get("deprel") or [None] * length
    if not isinstance(heads, list) or not isinstance(relations, list) or {len(heads), len(relations)} != {length}:
        raise CorpusError("heads or relations of another number", f"{length}, one a token", *location)
    return tuple(
        _arcs(head, relation, at, length, location)
        for at, (head, relation) in enumerate(zip(heads, relations, strict=True), 1)
    )


def _arcs(head: object, relation: object, at: int, length: int, location: Location) -> ArcCandidates:
    text = "" if head in (*_UNKNOWN, "None") else str(head)
    known = relation if isinstance(relation, str) and relation not in ("", "_") else None
    if not text:
        return None if known is None else (Arc(None, known),)
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and int(text) <= length and int(text) != at):
        raise CorpusError(f"the head {head!r} of token {at}", f"0 or another token, 1 to {length}", *location)
    return (Arc(int(text), known),)


def write(sentences: Sequence[Sentence], stream: IO[bytes], layers: Sequence[str], name: str) -> None:
    """Write a table of tokens and labels: `.parquet`, `.arrow` (a stream), or `.jsonl`, by the name of the file.

    Raises:
        CorpusError: several candidates of a position.
        ExchangeError: another extension; pyarrow is not installed.
    """
    suffix = Path(name).suffix
    if suffix not in _EXTENSIONS[:3]:
        raise ExchangeError(f"found the file name {name!r}, expected one that ends in {', '.join(_EXTENSIONS[:3])}")
    table = [_row(each, layers) for each in sentences if each.forms]
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
        arcs = [_arc(each, sentence) for each in sentence.heads["head"]]
        row["head"] = [None if arc.head is None else str(arc.head) for arc in arcs]
        row["deprel"] = [arc.relation for arc in arcs]
    return row


def _arc(candidates: ArcCandidates, sentence: Sentence) -> Arc:
    """The arc of a token, unknown or not. Raises CorpusError for several candidates."""
    if candidates is not None and len(candidates) > 1:
        raise CorpusError(f"{len(candidates)} candidates of a head", "one or none", *sentence.location)
    return candidates[0] if candidates else Arc(None, None)


def _write_table(rows: list[dict[str, Any]], layers: Sequence[str], stream: IO[bytes], suffix: str) -> None:
    try:
        import pyarrow
        from pyarrow import ipc, parquet
    except ImportError:
        raise ExchangeError(
            "found no pyarrow, expected the extra arrow: pip install '.[arrow]' in a checkout of tagweave"
        ) from None
    texts = pyarrow.list_(pyarrow.string())
    features: dict[str, Any] = {"tokens": _feature({"dtype": "string", "_type": "Value"})}
    fields = [("tokens", texts)]
    for name in layers:
        names = _order({each for row in rows for each in row[name] if each is not None})
        numbers = {each: at for at, each in enumerate(names)}
        for row in rows:
            row[name] = [numbers.get(each, _UNKNOWN[0]) for each in row[name]]
        features[name] = _feature({"names": names, "_type": "ClassLabel"})
        fields.append((name, pyarrow.list_(pyarrow.int64())))
    for name in ("head", "deprel") if any("head" in row for row in rows) else ():
        features[name] = _feature({"dtype": "string", "_type": "Value"})
        fields.append((name, texts))
    metadata = {_KEY: json.dumps({"info": {"features": features}}).encode()}
    schema = pyarrow.schema(fields, metadata=metadata)
    table = pyarrow.Table.from_pylist(rows, schema=schema)
    if suffix == ".parquet":
        parquet.write_table(table, stream)
    else:
        with ipc.new_stream(stream, schema) as writer:
            writer.write_table(table)


def _feature(element: dict[str, Any]) -> dict[str, Any]:
    return {"feature": element, "_type": "Sequence"}


def _order(labels: set[str]) -> list[str]:
    """Labels in their order, `O` in front, as tables of entities have it."""
    return sorted(labels, key=lambda label: (label != "O", label))


TOOL = TokenTool("datasets", read, write, _EXTENSIONS)
