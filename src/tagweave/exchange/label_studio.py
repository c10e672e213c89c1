"""Label Studio's JSON: a list of tasks, each with the annotations of several people and the predictions of models.

    [{"id": 7, "data": {"text": "Ann left."},
      "annotations": [{"completed_by": 1, "result": [
        {"from_name": "label", "to_name": "text", "type": "labels",
         "value": {"start": 0, "end": 3, "text": "Ann", "labels": ["PER"]}}]}],
      "predictions": [{"model_version": "m1", "result": [{..., "score": 0.9}]}]}]

A result without `labels` (of choices, relations) says nothing of spans. A task that an annotator skipped
(`was_cancelled`) is not one that they saw. Predictions are an annotator of the name of the model, whose spans have the
scores as probabilities.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import IO, Any

from tagweave.exchange.document import Document, Mark, Tool
from tagweave.exchange.json_values import Values, read_json_list

_TEXT = "text"


def read(path: str) -> Iterator[Document]:
    """The documents of a file.

    Raises:
        CorpusError: a task that is not in this form.
        OSError: the file cannot be read.
    """
    for task in read_json_list(path):
        data = Values.of(task.values.get("data"), task.location)
        marks: dict[str, tuple[Mark, ...]] = {}
        for each in task.objects("annotations") if "annotations" in task else ():
            if not each.values.get("was_cancelled"):
                marks[_annotator(each)] = tuple(_marks(each))
        for each in task.objects("predictions") if "predictions" in task else ():
            marks[str(each.values.get("model_version") or "model")] = tuple(_marks(each))
        yield Document(_text(data), marks, str(task.values.get("id", "")), location=task.location)


def _text(data: Values) -> str:
    """The text of a task, whatever its name is: the only one of its data, if none is called `text`."""
    texts = [name for name, value in data.values.items() if isinstance(value, str)]
    return data.get(texts[0] if len(texts) == 1 else _TEXT, str)


def _annotator(annotation: Values) -> str:
    """An annotator is a number, or an object with an address."""
    by = annotation.values.get("completed_by", 1)
    if isinstance(by, dict):
        by = by.get("email", by.get("id", 1))
    return f"annotator{by}" if isinstance(by, int) else str(by)


def _marks(annotation: Values) -> Iterator[Mark]:
    for each in annotation.objects("result"):
        if each.values.get("type") != "labels":
            continue
        value = Values.of(each.values.get("value"), each.location)
        score = each.get("score", float) if "score" in each else 1.0
        for label in value.get("labels", list):
            yield Mark(value.get("start", int), value.get("end", int), str(label), score)


def write(documents: Iterable[Document], stream: IO[str]) -> None:
    """Write documents as tasks, in which every annotator is the version of a model that predicts."""
    stream.write("[")
    for number, each in enumerate(documents):
        task = {"data": {_TEXT: each.text}, "predictions": [_prediction(each, name) for name in each.marks]}
        stream.write(f"{',' if number else ''}\n{json.dumps(task, ensure_ascii=False)}")
    stream.write("\n]\n")


def _prediction(document: Document, name: str) -> dict[str, Any]:
    marks = document.marks[name] or ()
    result = [
        {
            "id": f"span{number}",
            "from_name": "label",
            "to_name": _TEXT,
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
