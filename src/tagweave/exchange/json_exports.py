"""JSON exports of doccano and Prodigy, and how objects are read from JSON. Values are checked where they are taken out.

doccano writes JSON Lines, a file for each annotator, or one for all. The list is `labels` in some versions, `entities`
in projects with relations, and `annotations`, each with its user, in the first ones. The text is `data` in 2021:

    {"id": 7, "text": "Ann left Graz.", "label": [[0, 3, "PER"], [9, 13, "LOC"]]}
    {"id": 7, "text": "...", "entities": [{"id": 1, "label": "PER", "start_offset": 0, "end_offset": 3}], ...}

Prodigy writes JSON Lines; its tokens are kept:

    {"text": "Ann left.", "spans": [{"start": 0, "end": 3, "label": "PER"}], "answer": "accept", "_annotator_id": "ann"}

A span or its task may have a `probability`. The answer `reject` says that something is wrong: a single span is
rejected, of several nothing is known. Where spans have answers of their own, rejected ones are rejected spans, and
nothing is known of the tokens outside of the accepted ones. Tasks with the answer `ignore` are left out and counted.

A file may also be one list of such objects.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, Any, TypeVar

from tagweave.corpus.files import LONGEST, read_lines
from tagweave.corpus.sentence import Location
from tagweave.errors import CorpusError, shortened
from tagweave.exchange.document import SKIPPED, Document, Mark, Tool, layer_name, with_skipped
from tagweave.exchange.members import Allowance
from tagweave.exchange.offsets import hint

Kind = TypeVar("Kind")
_BLANKS = re.compile(r"[ \t\n]*")
_ANY_LIST, _LIST = re.compile(r"\s*\["), re.compile(r"\s*\[\s*(\{|\Z)")  # the second one of objects
_FIRST = 1 << 15  # characters of a value that are parsed at first
_LARGEST = 1 << 53  # whole number that is one as a float
_NAMES = {str: "a text", int: "a whole number", list: "a list", float: "a number"}


@dataclass(frozen=True, slots=True)
class Values:
    """An object of JSON, and its place for messages: the file, and the line or the number of the object."""

    values: Mapping[str, Any]
    location: Location

    @classmethod
    def of(cls, value: object, location: Location) -> Values:
        if not isinstance(value, dict):
            raise CorpusError(shown(value), "an object {...}", *location)
        return cls(value, location)

    def __contains__(self, name: str) -> bool:
        return self.values.get(name) is not None

    def get(self, name: str, kind: type[Kind]) -> Kind:
        """Return the value of this kind under a name; 3 counts as 3.0, and 3.0 as 3. Raises CorpusError without."""
        value = self.values.get(name)
        if kind is int and isinstance(value, float) and value.is_integer():
            value = int(value)
        if kind is float and isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LARGEST:
            value = float(value)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            problem = f"no {name!r}" if value is None else f"{name} {shown(value)}"
            raise self.error(problem, f'"{name}", {_NAMES[kind]}')
        return value

    def objects(self, name: str) -> Iterator[Values]:
        return (Values.of(value, self.location) for value in self.get(name, list))

    def name(self, name: str) -> str:
        """Return a number or a text as the name of something; "" for all else."""
        value = self.values.get(name)
        return str(value) if isinstance(value, str | int) else ""

    def error(self, found: str, expected: str) -> CorpusError:
        return CorpusError(found, expected, *self.location)


def parsed(text: str | bytes, location: Location, expected: str = "JSON") -> object:
    """Return the value of a text in JSON. Raises CorpusError if it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CorpusError(f"no JSON ({error})", expected, *location) from None


def read_objects(path: str, broken: list[CorpusError] | None = None, is_list: bool = False) -> Iterator[Values]:
    """Yield the objects of a file of JSON Lines, or of one list, which may be empty if the tool writes lists.

    Raises CorpusError for what is no object; lines that are none are added to `broken` if it is there.
    """
    numbered = ((number, line) for number, line in enumerate(read_lines(path), 1) if line.strip())
    first = next(numbered, None)
    if first is None:
        return
    lines = chain([first], numbered)
    if (_ANY_LIST if is_list else _LIST).match(first[1]):
        yield from _in_list((line for _, line in lines), path)
        return
    for number, line in lines:
        location = Location(path, number)
        try:
            yield Values.of(parsed(line, location, "JSON, an object in each line or one list of objects"), location)
        except CorpusError as error:
            if broken is None:
                raise
            broken.append(error)


def _in_list(lines: Iterable[str], path: str) -> Iterator[Values]:
    """Yield the objects of one list; their numbers stand for lines in messages."""
    unpacked, kept = Allowance(path), []
    for line in lines:
        unpacked.take(len(line) + 1)
        kept.append(line)
    text = "\n".join(kept)
    at, number = _after_blanks(text, text.index("[") + 1), 0
    while number or not text.startswith("]", at):
        number += 1
        value, at = _element(text, at, Location(path, number))
        yield Values.of(value, Location(path, number))
        at = _after_blanks(text, at)
        if text.startswith("]", at):
            break
        if not text.startswith(",", at):
            raise CorpusError(f"no JSON ({text[at : at + 99]!r} after an object)", '"," or "]"', path, number)
        at = _after_blanks(text, at + 1)
    if _after_blanks(text, at + 1) < len(text):
        raise CorpusError(f"{text[at + 1 : at + 99]!r} after a list", "one list", path)


def _after_blanks(text: str, start: int) -> int:
    match = _BLANKS.match(text, start)
    return match.end() if match else start


def _element(text: str, start: int, location: Location) -> tuple[object, int]:
    """Return the value that begins here, and where it ends, without parsing what would be too long for memory."""
    size = _FIRST
    while True:
        piece = text[start : start + size]
        try:
            value, length = json.JSONDecoder().raw_decode(piece)
            return value, start + length
        except (ValueError, RecursionError) as error:
            if isinstance(error, RecursionError) or start + size >= len(text):
                raise CorpusError(f"no JSON ({error})", "JSON", *location) from None
            if size >= LONGEST:
                expected = f"objects of at most {LONGEST:,} characters: cut the text"
                raise CorpusError("an object that goes on, or is broken", expected, *location) from None
            size *= 8


def shown(value: object) -> str:
    """Return a value as a message quotes it."""
    try:
        return shortened(json.dumps(value, ensure_ascii=False))
    except RecursionError:
        return "values in values in values"


LISTS = ("entities", "label", "labels", "annotations")
"""Under which names doccano has the labels of a text, in its versions."""
TEXTS = ("text", "data")
_NOBODY = "unknown"  # the file of texts that nobody has approved
_PROBABILITY = "probability"
_WITHOUT_PLACE = "probabilities of rejected spans, or of texts without spans"


def _read_doccano(path: str) -> Iterator[Document]:
    annotator = layer_name(Path(path).name.partition(".")[0])
    for line in read_objects(path):
        marks: dict[str, list[Mark]] = {} if annotator == _NOBODY else {annotator: []}
        for who, mark in _doccano_marks(line):
            marks.setdefault(who or annotator, []).append(mark)
        if len(marks) > 1 and not marks.get(annotator):  # everything is by users that the file names
            marks.pop(annotator, None)
        text = line.get(next((key for key in TEXTS if key in line), TEXTS[0]), str)
        beside = {"relations": line.values.get("relations"), "comments": line.values.get("Comments")}
        left_out = {what: len(values) for what, values in beside.items() if isinstance(values, list) and values}
        by_user = {who: tuple(user_marks) for who, user_marks in marks.items()}
        yield Document(text, by_user, line.name("id"), location=line.location, left_out=left_out)


def _doccano_marks(line: Values) -> Iterator[tuple[str, Mark]]:
    """Yield the marks of a text, each with the user who made it, "" if that is not said."""
    for value in line.get(next((name for name in LISTS if name in line), LISTS[1]), list):
        match value:
            case [int() | float(), int() | float(), str(label)] if bool not in map(type, value):
                place = Values({"start": value[0], "end": value[1]}, line.location)
                yield "", Mark(place.get("start", int), place.get("end", int), label)
            case {"start_offset": _, "end_offset": _}:
                span = Values(value, line.location)
                if type(value.get("label")) is int:
                    raise line.error(f"the label {value['label']}, a number", "its name: export with labels as text")
                user = layer_name(span.name("user"))
                mark = Mark(span.get("start_offset", int), span.get("end_offset", int), span.get("label", str))
                yield f"annotator{user}" if user.isdecimal() else user, mark
            case _:
                raise line.error(f"the label {shown(value)}", 'spans [start, end, "LABEL"] of sequence labelling')


def _write_doccano(documents: Iterable[Document], stream: IO[str]) -> None:
    """Write documents for doccano to import: what all annotators marked, as labels to look over."""
    for document in documents:
        labels = [[mark.start, mark.stop, mark.label] for marks in document.marks.values() for mark in marks or ()]
        named = {"id": int(document.name)} if document.name.isdecimal() else {}
        stream.write(json.dumps({**named, "text": document.text, "label": labels}, ensure_ascii=False) + "\n")


DOCCANO = Tool("doccano", _read_doccano, _write_doccano, ".jsonl")
_ACCEPT, _REJECT, _IGNORE = _ANSWERS = ("accept", "reject", "ignore")


def _read_prodigy(path: str) -> Iterator[Document]:
    return with_skipped((_prodigy_document(line) for line in read_objects(path)), path)


def _prodigy_document(line: Values) -> Document | str:
    """Return the document of a task, or what it counts as if it is left out."""
    answer = _answer(line)
    if answer == _IGNORE:
        return SKIPPED[0]
    who = next((line.get(key, str) for key in ("_annotator_id", "_session_id") if key in line), "")
    text, left_out = line.get("text", str), Counter[str]()
    marks = tuple(_prodigy_marks(line))
    if answer == _REJECT:
        marks = tuple(mark._replace(rejected=True) for mark in marks)
    lost = [mark.probability for mark in marks if mark.rejected] or [] if marks else [line.values.get(_PROBABILITY)]
    left_out[_WITHOUT_PLACE] = sum(probability not in (None, 1) for probability in lost)
    marks = tuple(mark._replace(probability=1.0) if mark.rejected else mark for mark in marks)
    is_usable = answer == _ACCEPT or len(marks) == 1
    left_out["rejected answers with several spans"] = not is_usable and bool(marks)
    if any(_answer(span) == _IGNORE for span in _objects(line, "spans")):
        is_usable = False
        left_out["answers with ignored spans"] = 1
    if "spans" not in line and any(key in line for key in ("label", "accept", "options")):
        is_usable = False
        left_out["labels of whole texts"] = 1
    elif line.values.get("accept"):
        left_out["labels of whole texts"] = 1
    left_out["relations"] = len(line.get("relations", list)) if "relations" in line else 0
    by_annotator = {layer_name(who) or "annotator": marks if is_usable else None}
    return Document(text, by_annotator, line.name("_task_hash"), _tokens(line, text), line.location, left_out=+left_out)


def _answer(task: Values) -> str:
    """Return the answer to a task, or to one of its spans. Raises CorpusError for one that Prodigy does not know."""
    answer = task.values.get("answer") or _ACCEPT
    if answer not in _ANSWERS:
        raise task.error(f"the answer {shown(answer)}", f"one of {', '.join(_ANSWERS)}")
    return str(answer)


def _objects(task: Values, name: str) -> Iterator[Values]:
    return task.objects(name) if name in task else iter(())


def _prodigy_marks(line: Values) -> Iterator[Mark]:
    """Yield the spans of a task; a span without a probability has the task's, if there is one."""
    for span in _objects(line, "spans"):
        source = next((values for values in (span, line) if _PROBABILITY in values), None)
        probability = source.get(_PROBABILITY, float) if source else 1.0
        place = span.get("start", int), span.get("end", int)
        yield Mark(*place, span.get("label", str), probability, rejected=_answer(span) == _REJECT)


def _tokens(line: Values, text: str) -> tuple[tuple[int, int], ...] | None:
    """Return the tokens of a task. Raises CorpusError for one whose text is not at its offsets."""
    if "tokens" not in line:
        return None
    offsets = []
    for token in line.objects("tokens"):
        start, stop = token.get("start", int), token.get("end", int)
        form = token.values.get("text", text[start:stop])
        if not 0 <= start <= stop <= len(text) or text[start:stop] != form:
            way = hint(text, start, stop, lambda first, last, form=form: text[first:last] == form)  # type: ignore[misc]
            there = f"{shortened(text[max(start, 0) : max(stop, 0)])!r}, the text there{way}"
            raise line.error(f"the token {shown(form)} from {start} to {stop}", there)
        offsets.append((start, stop))
    return tuple(offsets)


def _write_prodigy(documents: Iterable[Document], stream: IO[str]) -> None:
    """Write documents as tasks, with what all annotators marked as spans to look over; every rejected span is one."""
    for document in documents:
        marks = [mark for marks in document.marks.values() for mark in marks or ()]
        accepted, rejected = ([mark for mark in marks if mark.rejected is kind] for kind in (False, True))
        for some in [accepted] * bool(accepted or not rejected) + [[mark] for mark in rejected]:
            spans = [{"start": mark.start, "end": mark.stop, "label": mark.label} for mark in some]
            answer = {"answer": "reject"} if some and some[0].rejected else {}
            stream.write(json.dumps({"text": document.text, "spans": spans, **answer}, ensure_ascii=False) + "\n")


PRODIGY = Tool("prodigy", _read_prodigy, _write_prodigy, ".jsonl", rejections=True)
