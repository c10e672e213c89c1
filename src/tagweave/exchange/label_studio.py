"""Label Studio's exports, read and written. Every value is checked where it is taken out.

An export is a list of tasks, with the annotations of several people and the predictions of models:

    [{"id": 7, "data": {"text": "Ann left."},
      "annotations": [{"completed_by": 1, "result": [
        {"from_name": "label", "to_name": "text", "type": "labels",
         "value": {"start": 0, "end": 3, "text": "Ann", "labels": ["PER"]}}]}],
      "predictions": [{"model_version": "m1", "result": [{..., "score": 0.9}]}]}]

JSON-MIN has an object for each annotation, with its spans beside the data; versions before 1.0 call annotations
`completions`; a storage gets an object for each annotation, with its task. Each annotation is a source of its own, also
the second one by the same person. Other labels of text than `labels` are read where their offsets are plain; where they
are not, nothing is known of the annotation's text. What else is in results (choices, relations) is counted, and so are
drafts and annotations that were skipped.

A model is an annotator whose spans have the scores as probabilities; spans that people took over from it keep the
score, which is not theirs. The usual export has only the numbers of predictions, except for those that an annotation
began with.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, Any

from tagweave.errors import shortened
from tagweave.exchange.document import SKIPPED, Document, Mark, Tool, layer_name
from tagweave.exchange.json_exports import Values, read_objects, shown
from tagweave.exchange.offsets import Places, ways, without_blanks

_ANNOTATIONS = ("annotations", "completions")
_BESIDE = ("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time")  # the data of JSON-MIN
_LABELS = "labels"
_MOST = 1000  # annotations of a task
_COLLAPSED = 10  # characters of a text for one that is quoted, at most


def document(task: Values, name: str | None = None) -> Document:
    """Return the document of a task; `name` is the key of the text in its data, by default the only one, or `text`.

    Raises CorpusError if it is not in this form.
    """
    task = _whole(task)
    if "data" not in task.values:
        raise task.error(shown({**task.values}), 'a list of objects [{"data": {"text": ...}, ...}, ...]')
    text = text_of(task, name)
    places = Places(text)
    marks: dict[str, tuple[Mark, ...] | None] = {}
    left_out: Counter[str] = Counter()

    def add(source: str, source_marks: tuple[Mark, ...] | None) -> None:
        """Add the marks of a source, under another name if it is the second annotation by the same one."""
        names = (f"{source}-{number}" if number > 1 else source for number in range(1, _MOST + 1))
        name = next((free for free in names if free not in marks), None)
        if name is None or len(marks) == _MOST:
            raise task.error(f"more than {_MOST:,} annotations", "fewer of a task")
        marks[name] = source_marks

    began: dict[int, Any] = {}
    for annotation in (annotation for key in _ANNOTATIONS if key in task for annotation in task.objects(key)):
        if isinstance(prediction := annotation.values.get("prediction"), dict) and type(prediction.get("id")) is int:
            began[prediction["id"]] = prediction
        if annotation.values.get("was_cancelled") or annotation.values.get("skipped"):
            left_out[SKIPPED[1]] += 1
            continue
        by_person = _marks(annotation, places, left_out)
        by_person = by_person and tuple(mark._replace(probability=1.0) for mark in by_person)
        add(_annotator(annotation), by_person)
    for reference in task.get("predictions", list) if "predictions" in task else ():
        predicted = began.get(reference, reference) if type(reference) is int else reference
        if type(predicted) is int:
            left_out["predictions without content"] += 1
        else:
            content = Values.of(predicted, task.location)
            add(layer_name(content.name("model_version")) or "model", _marks(content, places, left_out))
    left_out["drafts"] += len(task.get("drafts", list)) if "drafts" in task else 0
    return Document(text, marks, task.name("id"), location=task.location, left_out=+left_out)


def is_minimal(task: Mapping[str, Any]) -> bool:
    """Return whether an object is one of JSON-MIN: a text beside its spans, or beside the number of its annotation."""
    if isinstance(task.get("data"), dict):
        return False
    return "annotation_id" in task or "annotator" in task or any(map(_are_spans, task.values()))


def _are_spans(value: object) -> bool:
    first = value[0] if isinstance(value, list) and value else None
    return isinstance(first, dict) and {"start", "end"} <= first.keys() and _kind(first) is not None


def _kind(value: Mapping[str, Any]) -> str | None:
    """Return the type of a result by its value, which has labels under the name of the type."""
    return next((key for key, labels in value.items() if key.endswith(_LABELS) and isinstance(labels, list)), None)


def _whole(task: Values) -> Values:
    """Return a task with its annotations, of an object that has one annotation: of JSON-MIN, or of a storage."""
    values = task.values
    if isinstance(values.get("task"), dict) and "result" in values:
        return Values({**values["task"], "annotations": [values]}, task.location)
    if not is_minimal(values):
        return task
    data, results = {}, []
    for key, value in values.items():
        if _are_spans(value):
            results += [{"type": _kind(Values.of(span, task.location).values), "value": span} for span in value]
        elif isinstance(value, list | dict) and key not in _BESIDE:
            results.append({"type": key})
        elif key not in _BESIDE:
            data[key] = value
    annotation = {"completed_by": values.get("annotator", 1), "result": results}
    return Values({"id": values.get("id"), "data": data, "annotations": [annotation]}, task.location)


def text_of(task: Values, name: str | None = None) -> str:
    """Return the text of a task; `name` as for `document`. Raises CorpusError if it has none."""
    data = Values.of(task.values.get("data"), task.location)
    texts = [key for key, value in data.values.items() if isinstance(value, str)]
    key = name or (texts[0] if len(texts) == 1 else "text")
    if key not in data:
        raise task.error(f"no {key!r} in the data, whose texts are {', '.join(texts) or 'none'}", f'"{key}", a text')
    return data.get(key, str)


def _annotator(annotation: Values) -> str:
    by = annotation.values.get("completed_by", 1)
    if isinstance(by, dict):
        by = by.get("email", by.get("id", 1))
    name = layer_name(by) if isinstance(by, str) else ""
    return name or f"annotator{by if isinstance(by, int) else 1}"


def _marks(annotation: Values, places: Places, left_out: Counter[str]) -> tuple[Mark, ...] | None:
    """Return the marks of an annotation, and count its other results; `None` if some of these are labels of text."""
    marks: list[Mark] = []
    is_usable = True
    for result in annotation.objects("result"):
        kind = result.name("type")
        offsets = _offsets_of(result, kind, places) if kind.endswith(_LABELS) else None
        if offsets is None:
            left_out[f"results of type {kind}" if kind else "results without a type"] += 1
            is_usable = is_usable and not kind.endswith(_LABELS)
            continue
        value = Values.of(result.values["value"], result.location)
        score = result.get("score", float) if "score" in result else 1.0
        labels = value.get(kind, list) if kind in value else []
        for label in labels:
            if not isinstance(label, str):
                raise value.error(f"the label {shown(label)}", "a text")
            marks.append(Mark(*offsets, label, score))
        left_out["spans without a label"] += not labels
    return tuple(marks) if is_usable else None


def _offsets_of(result: Values, kind: str, places: Places) -> tuple[int, int] | None:
    """Return the offsets of a result; `None` if it is of another type than `labels`, and they are not plain.

    They are plain if the quoted text is there. In HTML, offsets may be paths of elements; of paragraphs, numbers of
    paragraphs.
    """
    value = Values.of(result.values.get("value"), result.location)
    if kind == _LABELS:
        return _offsets(value, places)
    marked = value.values.get("text")
    if not isinstance(marked, str) or not marked.strip():
        return None
    for places_of in (value.values, value.values.get("globalOffsets")):
        start, stop = (places_of.get("start"), places_of.get("end")) if isinstance(places_of, dict) else (None, None)
        if type(start) is int and type(stop) is int and _same(places, start, stop, marked):
            return start, stop
    return None


def _offsets(value: Values, places: Places) -> tuple[int, int]:
    """Return the offsets of a span in code points.

    Versions before 2022 count UTF-16 units, and browsers count a line break of two characters as one: the marked text
    tells.
    """
    start, stop = value.get("start", int), value.get("end", int)
    marked = value.values.get("text")
    text = places.text
    if not isinstance(marked, str) or _same(places, start, stop, marked) or not 0 <= start <= stop:
        return start, stop
    low, high = places.of_unit(start), places.of_unit(stop)
    if _same(places, low, high, marked):
        return low, high
    for _, converted in ways(text):
        low, high = converted(start), converted(stop)
        if _same(places, low, high, marked):
            return low, high
    there = shortened(text[start : min(stop, start + len(marked) + 1000)])
    raise value.error(f"{shortened(marked)!r} marked from {start} to {stop}", f"{there!r}, the text there")


def _same(places: Places, start: int, stop: int, marked: str) -> bool:
    r"""Return whether a text was marked: it has its line breaks as \n, and browsers collapse its blanks."""
    if not 0 <= start <= stop <= len(places.text):
        return False
    most = _COLLAPSED * len(marked) + 1000  # a longer text is not compared, which takes time
    if stop - start > most:
        start, stop = places.stripped(start, stop)
    if stop - start > most:
        return False
    return without_blanks(places.text[start:stop]) == without_blanks(marked.replace("\\n", "\n"))


def _write(documents: Iterable[Document], stream: IO[str]) -> None:
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

    The score is the least probability of a label over all tokens, `O` among them, so that a text in which the model
    found nothing, but was not certain, is asked about early. Without probabilities there is no score.
    """
    result = []
    for number, mark in enumerate(document.marks[name] or ()):
        marked = {"text": document.text[mark.start : mark.stop], "labels": [mark.label]}
        value = {"start": mark.start, "end": mark.stop, **marked}
        names = {"from_name": control, "to_name": text, "type": _LABELS}
        result.append({"id": f"span{number}", **names, "score": mark.probability, "value": value})
    score = {"score": document.certainty[name]} if name in document.certainty else {}
    return {"model_version": name, **score, "result": result}


def _read(path: str) -> Iterator[Document]:
    return map(document, read_objects(path, is_list=True))


TOOL = Tool("label-studio", _read, _write, ".json")
