"""JSON exports of Label Studio, doccano and Prodigy. Every value is checked where it is taken out.

Label Studio writes a list of tasks, with the annotations of several people and the predictions of models:

    [{"id": 7, "data": {"text": "Ann left."},
      "annotations": [{"completed_by": 1, "result": [
        {"from_name": "label", "to_name": "text", "type": "labels",
         "value": {"start": 0, "end": 3, "text": "Ann", "labels": ["PER"]}}]}],
      "predictions": [{"model_version": "m1", "result": [{..., "score": 0.9}]}]}]

Results without `labels` (choices, relations) are skipped, and so are annotations that were cancelled. A model is an
annotator whose spans have the scores as probabilities; spans that people took over from it keep the score, which is not
theirs. The usual export has only the numbers of predictions, except for those that an annotation began with.

doccano writes JSON Lines, a file for each annotator, or one for all; the list is `labels` in some versions, and
`entities` in projects with relations:

    {"id": 7, "text": "Ann left Graz.", "label": [[0, 3, "PER"], [9, 13, "LOC"]]}
    {"id": 7, "text": "...", "entities": [{"id": 1, "label": "PER", "start_offset": 0, "end_offset": 3}], ...}

Prodigy writes JSON Lines; its tokens are kept:

    {"text": "Ann left.", "spans": [{"start": 0, "end": 3, "label": "PER"}], "answer": "accept", "_annotator_id": "ann"}

A span or its task may have a `probability`. The answer `reject` says that something is wrong: a single span is
rejected, of several nothing is known. Tasks with the answer `ignore` are left out.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeVar

from tagweave.corpus.files import LONGEST, read_lines
from tagweave.corpus.sentence import Location
from tagweave.errors import CorpusError, shortened
from tagweave.exchange.document import Document, Mark, Tool
from tagweave.exchange.members import Allowance
from tagweave.exchange.tokens import Places

Kind = TypeVar("Kind")
_BLANKS = re.compile(r"[ \t\n]*")
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
        """Return the value of this kind under a name; a whole number counts as a number. Raises CorpusError without."""
        value = self.values.get(name)
        if kind is float and isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LARGEST:
            value = float(value)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            found = f"no {name!r}" if value is None else f"{name} {shown(value)}"
            raise self.error(found, f'"{name}", {_NAMES[kind]}')
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


def read_json_lines(path: str) -> Iterator[Values]:
    """Yield the objects of a file of JSON Lines. Raises CorpusError for a line that is no object."""
    for number, line in enumerate(read_lines(path), 1):
        if line.strip():
            location = Location(path, number)
            yield Values.of(parsed(line, location), location)


def read_json_list(path: str) -> Iterator[Values]:
    """Yield the objects of a file that is one list; their numbers stand for lines in messages."""
    unpacked, lines = Allowance(path), []
    for line in read_lines(path):
        unpacked.take(len(line) + 1)
        lines.append(line)
    text = "\n".join(lines)
    start = _after_blanks(text, 0)
    if not text.startswith("[", start):
        raise CorpusError(text[start : start + 999], "a list of objects [{...}, ...]", path)
    at, number = _after_blanks(text, start + 1), 0
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
    found = _BLANKS.match(text, start)
    return found.end() if found else start


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


def document(task: Values, name: str | None = None) -> Document:
    """Return the document of a task; `name` is the key of the text in its data, by default the only one, or `text`.

    Raises CorpusError if it is not in this form.
    """
    text = text_of(task, name)
    places = Places(text)
    marks: dict[str, tuple[Mark, ...]] = {}
    began: dict[int, Any] = {}
    for annotation in task.objects("annotations") if "annotations" in task else ():
        if isinstance(found := annotation.values.get("prediction"), dict) and isinstance(found.get("id"), int):
            began[found["id"]] = found
        if not annotation.values.get("was_cancelled"):
            own = tuple(mark._replace(probability=1.0) for mark in _marks(annotation, places))
            marks[_annotator(annotation)] = own
    missing = 0
    for given in task.get("predictions", list) if "predictions" in task else ():
        known = began.get(given, given) if type(given) is int else given
        if type(known) is int:
            missing += 1
        else:
            prediction = Values.of(known, task.location)
            marks[prediction.name("model_version") or "model"] = tuple(_marks(prediction, places))
    left_out = {"predictions without content": missing} if missing else {}
    return Document(text, marks, task.name("id"), location=task.location, left_out=left_out)


def text_of(task: Values, name: str | None = None) -> str:
    """Return the text of a task; `name` as for `document`. Raises CorpusError if it has none."""
    data = Values.of(task.values.get("data"), task.location)
    texts = [key for key, value in data.values.items() if isinstance(value, str)]
    return data.get(name or (texts[0] if len(texts) == 1 else "text"), str)


def _annotator(annotation: Values) -> str:
    by = annotation.values.get("completed_by", 1)
    if isinstance(by, dict):
        by = by.get("email", by.get("id", 1))
    return by if isinstance(by, str) and by else f"annotator{by if isinstance(by, int) else 1}"


def _marks(annotation: Values, places: Places) -> Iterator[Mark]:
    for result in annotation.objects("result"):
        if result.values.get("type") != "labels":
            continue
        value = Values.of(result.values.get("value"), result.location)
        score = result.get("score", float) if "score" in result else 1.0
        start, stop = _offsets(value, places)
        for label in value.get("labels", list):
            if not isinstance(label, str):
                raise value.error(f"the label {shown(label)}", "a text")
            yield Mark(start, stop, label, score)


def _offsets(value: Values, places: Places) -> tuple[int, int]:
    """Return the offsets of a span in code points. Versions before 2022 count UTF-16 units: the marked text tells."""
    start, stop = value.get("start", int), value.get("end", int)
    marked = value.values.get("text")
    text = places.text
    if not isinstance(marked, str) or _same(places, start, stop, marked) or not 0 <= start <= stop:
        return start, stop
    low, high = places.of_unit(start), places.of_unit(stop)
    if not _same(places, low, high, marked):
        there = shortened(text[start : min(stop, start + len(marked) + 1000)])
        raise value.error(f"{shortened(marked)!r} marked from {start} to {stop}", f"{there!r}, the text there")
    return low, high


def _same(places: Places, start: int, stop: int, marked: str) -> bool:
    r"""Return whether a text was marked: it has its line breaks as \n, and no blanks at its ends."""
    if not 0 <= start <= stop:
        return False
    start, stop = places.stripped(start, stop)
    if stop - start > len(marked):
        return False  # also without comparing, which takes time for each
    return places.text[start:stop].split() == marked.replace("\\n", "\n").split()


def _write_label_studio(documents: Iterable[Document], stream: IO[str]) -> None:
    """Write documents as tasks, in which every annotator is the version of a model that predicts."""
    stream.write("[")
    for number, document in enumerate(documents):
        predictions = [prediction(document, name) for name in document.marks]
        task = {"data": {"text": document.text}, "predictions": predictions}
        stream.write(f"{',' if number else ''}\n{json.dumps(task, ensure_ascii=False)}")
    stream.write("\n]\n")


def prediction(document: Document, name: str, control: str = "label", text: str = "text") -> dict[str, Any]:
    """Return the marks of the annotator `name` as the prediction of a model of this version, in a project whose tags
    `Labels` and `Text` have the names `control` and `text`.
    """
    marks = document.marks[name] or ()
    result = []
    for number, mark in enumerate(marks):
        marked = {"text": document.text[mark.start : mark.stop], "labels": [mark.label]}
        value = {"start": mark.start, "end": mark.stop, **marked}
        names = {"from_name": control, "to_name": text, "type": "labels"}
        result.append({"id": f"span{number}", **names, "score": mark.probability, "value": value})
    return {"model_version": name, "score": min((mark.probability for mark in marks), default=1.0), "result": result}


LABEL_STUDIO = Tool("label-studio", lambda path: map(document, read_json_list(path)), _write_label_studio, ".json")
LISTS = ("label", "labels")
_PROBABILITY = "probability"
_WITHOUT_PLACE = "probabilities of rejected spans, or of texts without spans"


def _read_doccano(path: str) -> Iterator[Document]:
    annotator = Path(path).name.partition(".")[0]
    for line in read_json_lines(path):
        marks = {annotator: tuple(_doccano_marks(line))}
        yield Document(line.get("text", str), marks, line.name("id"), location=line.location)


def _doccano_marks(line: Values) -> Iterator[Mark]:
    if "entities" in line:
        for entity in line.objects("entities"):
            yield Mark(entity.get("start_offset", int), entity.get("end_offset", int), entity.get("label", str))
        return
    for found in line.get(next((name for name in LISTS if name in line), LISTS[0]), list):
        match found:
            case [int(start), int(stop), str(label)] if bool not in (type(start), type(stop)):
                yield Mark(start, stop, label)
            case _:
                raise line.error(f"the label {shown(found)}", 'spans [start, end, "LABEL"] of sequence labelling')


def _write_doccano(documents: Iterable[Document], stream: IO[str]) -> None:
    """Write documents for doccano to import: what all annotators marked, as labels to look over."""
    for each in documents:
        labels = [[mark.start, mark.stop, mark.label] for marks in each.marks.values() for mark in marks or ()]
        named = {"id": int(each.name)} if each.name.isdecimal() else {}
        stream.write(json.dumps({**named, "text": each.text, "label": labels}, ensure_ascii=False) + "\n")


DOCCANO = Tool("doccano", _read_doccano, _write_doccano, ".jsonl")


def _read_prodigy(path: str) -> Iterator[Document]:
    for line in read_json_lines(path):
        if (answer := line.values.get("answer", "accept")) not in ("accept", "reject", "ignore"):
            raise line.error(f"the answer {shown(answer)}", "one of accept, reject, ignore")
        if answer == "ignore":
            continue
        who = next((line.get(key, str) for key in ("_annotator_id", "_session_id") if key in line), "annotator")
        marks, is_rejected = tuple(_prodigy_marks(line)), answer == "reject"
        certainty: list[object] = [mark.probability for mark in marks] or [line.values.get(_PROBABILITY)]
        if is_rejected:
            marks = tuple(mark._replace(probability=1.0, rejected=True) for mark in marks)
        tokens = None
        if "tokens" in line:
            tokens = tuple((token.get("start", int), token.get("end", int)) for token in line.objects("tokens"))
        usable = not is_rejected or len(marks) == 1
        without_place = sum(each not in (None, 1) for each in certainty) if is_rejected or not marks else 0
        left_out = Counter(
            {_WITHOUT_PLACE: without_place, "rejected answers with several spans": not usable and bool(marks)}
        )
        text, given = line.get("text", str), {who: marks if usable else None}
        yield Document(text, given, line.name("_task_hash"), tokens, line.location, left_out=+left_out)


def _prodigy_marks(line: Values) -> Iterator[Mark]:
    """Yield the spans of a task; a span without a probability has the task's, if there is one."""
    for span in line.objects("spans") if "spans" in line else ():
        source = next((each for each in (span, line) if _PROBABILITY in each), None)
        probability = source.get(_PROBABILITY, float) if source else 1.0
        yield Mark(span.get("start", int), span.get("end", int), span.get("label", str), probability)


def _write_prodigy(documents: Iterable[Document], stream: IO[str]) -> None:
    """Write documents as tasks, with what all annotators marked as spans to look over; every rejected span is one."""
    for each in documents:
        marks = [mark for marks in each.marks.values() for mark in marks or ()]
        accepted, rejected = ([mark for mark in marks if mark.rejected is kind] for kind in (False, True))
        for some in [accepted] * bool(accepted or not rejected) + [[mark] for mark in rejected]:
            spans = [{"start": mark.start, "end": mark.stop, "label": mark.label} for mark in some]
            answer = {"answer": "reject"} if some and some[0].rejected else {}
            stream.write(json.dumps({"text": each.text, "spans": spans, **answer}, ensure_ascii=False) + "\n")


PRODIGY = Tool("prodigy", _read_prodigy, _write_prodigy, ".jsonl", rejections=True)
