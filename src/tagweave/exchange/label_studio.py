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
    return map(document, read_json_list(path))


def document(task: Values, name: str | None = None) -> Document:
    """The document of a task.

    Args:
        task: as it is exported.
        name: of the text in its data; by default the only one, or `text`.

    Raises:
        CorpusError: a task that is not in this form.
    """
    marks: dict[str, tuple[Mark, ...]] = {}
    for each in task.objects("annotations") if "annotations" in task else ():
        if not each.values.get("was_cancelled"):
            marks[_annotator(each)] = tuple(_marks(each))
    for each in task.objects("predictions") if "predictions" in task else ():
        marks[str(each.values.get("model_version") or "model")] = tuple(_marks(each))
    return Document(text_of(task, name), marks, str(task.values.get("id", "")), location=task.location)


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
