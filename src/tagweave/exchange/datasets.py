"""Rows of Hugging Face datasets in JSON: a row is a sentence, with `tokens` and a list of labels in every other column.

`Dataset.to_json` writes them. Numbers are labels of a `ClassLabel`, whose names are in `dataset_info.json` beside the
file; -100, -1 and null are unknown. Columns named as in Universal Dependencies are read as such (`lemmas`, `feats`,
`head` with `deprel`). Values that are no lists become comments.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import isnan
from pathlib import Path
from typing import IO, Any

from tagweave.corpus.sentence import Arc, ArcCandidates, Candidates, Location, Sentence
from tagweave.errors import CorpusError, ExchangeError
from tagweave.exchange.document import CONTROL, UNWRITABLE, TokenTool, single
from tagweave.exchange.json_exports import parsed, read_objects
from tagweave.exchange.members import refuse_link

TOKENS = ("tokens", "words")
_COLUMNS = {"lemmas": "lemma", "lemma": "lemma", "feats": "feats", "deps": "deps", "misc": "misc"}
_UNKNOWN = (-100, -1, None, "_", "")
_INFO = "dataset_info.json"

Names = Mapping[str, Sequence[str]]
"""The names of labels by column."""


def read(path: str, leave_out: Callable[[str], None]) -> Iterator[Sentence]:
    """Yield the sentences of a file."""
    info = Path(path).parent / _INFO
    names: Names = {}
    if info.is_file():
        refuse_link(info)
        names = _names(parsed(info.read_bytes(), Location(str(info)), "JSON, as datasets writes it"))
    for number, row in enumerate(read_objects(path), 1):
        sentence = _sentence(row.values, names, Location(path, number), leave_out)
        if sentence.forms:
            yield sentence


def _names(info: object) -> Names:
    """Return the names of labels in the description of a dataset; columns without names are left out."""
    features = info.get("features") if isinstance(info, dict) else None
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
        raise CorpusError(f"{value!r} in {name}", f"texts, or their names in {_INFO}", *location)
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
    """Write a row of tokens and labels for each sentence as JSON Lines."""
    if Path(name).suffix != ".jsonl":
        raise ExchangeError(f"found the file name {name!r}, expected one that ends in .jsonl")
    for sentence in sentences:
        if sentence.forms:
            stream.write(json.dumps(_row(sentence, layers), ensure_ascii=False).encode() + b"\n")


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


TOOL = TokenTool("datasets", read, write, (".jsonl", ".json"))
