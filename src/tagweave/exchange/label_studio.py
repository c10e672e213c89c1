"""Label Studio's JSON: a list of tasks, each with the annotations of several people and the predictions of models.

    [{"id": 7, "data": {"text": "Ann left."},
      "annotations": [{"completed_by": 1, "result": [
        {"from_name": "label", "to_name": "text", "type": "labels",
         "value": {"start": 0, "end": 3, "text": "Ann", "labels": ["PER"]}}]}],
      "predictions": [{"model_version": "m1", "result": [{..., "score": 0.9}]}]}]

A result without `labels` (of choices, relations) says nothing of spans. A task that an annotator skipped
(`was_cancelled`) is not one that they saw. Predictions are an annotator of the name of the model, whose spans have the
scores as probabilities; spans that people took over from them keep the score, which is not theirs. Its usual export
has only the numbers of predictions, apart from those that an annotation began with.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import IO, Any

from tagweave.corpus.errors import shortened
from tagweave.exchange.document import Document, Mark, Tool
from tagweave.exchange.json_values import Values, read_json_list, shown
from tagweave.exchange.offsets import Places

_TEXT = "text"


def read(path: str) -> Iterator[Document]:
    """The documents of a file.

    Raises:
        CorpusError: a task that is not in this form.
        OSError: the file cannot be read.
    """
    return map(document, read_json_list(path))


def document(task: Values, name: str | None = None) -> Document:
    """The document of a task.

    Args:
        task: as it is exported.
        name: of the text in its data; by default the only one, or `text`.

    Raises:
        CorpusError: a task that is not in this form.
    """
    text = text_of(task, name)
    places = Places(text)
    marks: dict[str, tuple[Mark, ...]] = {}
    annotations = [*task.objects("annotations")] if "annotations" in task else []
    for each in annotations:
        if not each.values.get("was_cancelled"):
            marks[_annotator(each)] = tuple(mark._replace(probability=1.0) for mark in _marks(each, places))
    predictions, missing = _predictions(task, annotations)
    for each in predictions:
        marks[each.name("model_version") or "model"] = tuple(_marks(each, places))
    left_out = {"predictions without content": missing} if missing else {}
    return Document(text, marks, task.name("id"), location=task.location, left_out=left_out)


def _predictions(task: Values, annotations: list[Values]) -> tuple[list[Values], int]:
    """The predictions of a task, and how many it only has the number of."""
    began = {}
    for each in annotations:
        if isinstance(found := each.values.get("prediction"), dict) and isinstance(found.get("id"), int):
            began[found["id"]] = found
    predictions = task.get("predictions", list) if "predictions" in task else []
    known = [began.get(each, each) if type(each) is int else each for each in predictions]
    with_content = [each for each in known if type(each) is not int]
    return [Values.of(each, task.location) for each in with_content], len(known) - len(with_content)


def text_of(task: Values, name: str | None = None) -> str:
    """The text of a task; `name` as for `document`. Raises CorpusError if it has none."""
    data = Values.of(task.values.get("data"), task.location)
    texts = [each for each, value in data.values.items() if isinstance(value, str)]
    return data.get(name or (texts[0] if len(texts) == 1 else _TEXT), str)


def _annotator(annotation: Values) -> str:
    """An annotator is a number, or an object with an address."""
    by = annotation.values.get("completed_by", 1)
    if isinstance(by, dict):
        by = by.get("email", by.get("id", 1))
    return by if isinstance(by, str) and by else f"annotator{by if isinstance(by, int) else 1}"


def _marks(annotation: Values, places: Places) -> Iterator[Mark]:
    for each in annotation.objects("result"):
        if each.values.get("type") != "labels":
            continue
        value = Values.of(each.values.get("value"), each.location)
        score = each.get("score", float) if "score" in each else 1.0
        start, stop = _offsets(value, places)
        for label in value.get("labels", list):
            if not isinstance(label, str):
                raise value.error(f"the label {shown(label)}", "a text")
            yield Mark(start, stop, label, score)


def _offsets(value: Values, places: Places) -> tuple[int, int]:
    """The offsets of a span in code points. Versions before 2022 count UTF-16 units, which the marked text shows."""
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
    r"""Whether a text was marked: the line breaks in it are written as \n there, and blanks at its ends left out."""
    if not 0 <= start <= stop:
        return False
    start, stop = places.stripped(start, stop)
    if stop - start > len(marked):
        return False  # also without comparing, which takes time for each
    return places.text[start:stop].split() == marked.replace("\\n", "\n").split()


def write(documents: Iterable[Document], stream: IO[str]) -> None:
    """Write documents as tasks, in which every annotator is the version of a model that predicts."""
    stream.write("[")
    for number, each in enumerate(documents):
        task = {"data": {_TEXT: each.text}, "predictions": [prediction(each, name) for name in each.marks]}
        stream.write(f"{',' if number else ''}\n{json.dumps(task, ensure_ascii=False)}")
    stream.write("\n]\n")


def prediction(document: Document, name: str, control: str = "label", text: str = _TEXT) -> dict[str, Any]:
    """What a model predicts.

    Args:
        document: whose marks of the annotator `name` are the prediction.
        name: of the version of the model.
        control, text: the names of the tags `Labels` and `Text` in the project.
    """
    marks = document.marks[name] or ()
    result = [
        {
            "id": f"span{number}",
            "from_name": control,
            "to_name": text,
            "type": "labels",
            "score": mark.probability,
            "value": {
                "start": mark.start,
                "end": mark.stop,
                "text": document.text[mark.start : mark.stop],
                "labels": [mark.label],
            },
        }
        for number, mark in enumerate(marks)
    ]
    return {"model_version": name, "score": min((mark.probability for mark in marks), default=1.0), "result": result}


TOOL = Tool("label-studio", read, write, ".json")
