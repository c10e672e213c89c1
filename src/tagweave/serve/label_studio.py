"""Label Studio's ML backend: predictions for its tasks, and training on what is annotated there.

Label Studio posts to `setup` when it connects, to `predict` with tasks, and to `webhook` when annotations are made and
when somebody presses "Start Training"; `train` is what versions before 1.5 call. An annotation is kept when it comes,
under its number, so that it is replaced when it is changed; training begins when somebody asks for it. With the address
of Label Studio, all annotations of the project are fetched first, also those from before it was connected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from tagweave.corpus.errors import CorpusError
from tagweave.corpus.sentence import Location
from tagweave.exchange import label_studio
from tagweave.exchange.document import Document
from tagweave.exchange.json_values import Values
from tagweave.labels.transition_scheme import codes_spans, split_label
from tagweave.serve.annotations import AnnotatedText, annotated_text
from tagweave.serve.documents import check
from tagweave.serve.errors import RefusedError
from tagweave.serve.label_config import LabelConfig
from tagweave.serve.label_studio_api import annotated_tasks
from tagweave.serve.marks import marks
from tagweave.serve.messages import LabelRequest, decoded
from tagweave.serve.served_models import ServedModel
from tagweave.serve.site import Site, in_thread, json_response

_KEPT = ("ANNOTATION_CREATED", "ANNOTATION_UPDATED")
_DELETED = ("ANNOTATION_DELETED", "ANNOTATIONS_DELETED")
_TRAIN = "START_TRAINING"


async def setup(site: Site, request: Request, body: bytes) -> dict[str, str]:
    """Whether the labels of a project are those of the model."""
    sent, served = _object(body), _served(site, request)
    own = _labels(served)
    config = LabelConfig.of(sent.values.get("schema"))
    if config.labels and not {*own} & {*config.labels}:
        found = f"found the labels {', '.join(config.labels)} in the project"
        raise RefusedError(f"{found}, expected some of {', '.join(own)}, which {served.name} has")
    return {"model_version": served.version}


async def predict(site: Site, request: Request, body: bytes) -> dict[str, Any]:
    """Predictions with scores, one for each task."""
    sent, served = _object(body), _served(site, request)
    config = LabelConfig.of(sent.values.get("label_config"))
    texts = [label_studio.text_of(each, config.data) for each in _objects(sent, "tasks")]
    asked = LabelRequest(texts=texts, probabilities=True)
    characters = check(asked, site.settings.limits)
    answer = await site.batches.response(("tag", served.name, True), texts, characters)
    results = []
    for text, each in zip(texts, answer.results, strict=True):
        own = tuple(mark for mark in marks(each) if not config.labels or mark.label in config.labels)
        document = Document(text, {answer.version: own})
        results.append(label_studio.prediction(document, answer.version, config.control, config.text))
    return {"results": results, "model_version": answer.version}


async def webhook(site: Site, request: Request, body: bytes) -> Response:
    """What happened in Label Studio: annotations are kept, and training begins if it is asked for."""
    sent, served = _object(body), _served(site, request)
    action = sent.values.get("action", _TRAIN)  # some versions leave it out, and send all annotations
    if action in (*_KEPT, *_DELETED) and site.settings.retraining is None:
        return json_response({"status": "not kept: this server does not train (tagweave serve --models does)"})
    if action in _DELETED:
        numbers = [each.get("id", int) for each in _several(sent, "annotation", "annotations")]
        project = _project(sent)
        return await _keep(site, served, [partial(AnnotatedText, f"{project}/{number}") for number in numbers])
    if action in _KEPT:
        task = _with_annotations(
            Values.of(sent.values.get("task"), _PLACE), [*_several(sent, "annotation", "annotations")]
        )
        return await _keep(site, served, list(_annotated(task, sent)))
    if action == _TRAIN:
        return await train(site, request, body)
    return json_response({"status": f"nothing is done on {str(action)[:50]}"})


async def train(site: Site, request: Request, body: bytes) -> Response:
    """Train on all annotations: those that were kept, and those of the request."""
    sent, served = _object(body), _served(site, request)
    retrainer = site.retrainer(served.name)
    settings = site.settings.retraining

    def begin() -> int:
        tasks, project = _objects(sent, "annotations"), _project(sent)
        if settings and settings.label_studio and not tasks:
            fetched = annotated_tasks(settings.label_studio, settings.key, project)
            retrainer.annotations.replace(retrainer.usable(_all_annotated(fetched, sent)), project)
        else:
            retrainer.annotations.add(retrainer.usable(_all_annotated(tasks, sent)))
        return retrainer.start()

    count = await in_thread(begin)
    return json_response({"status": "training", "documents": count, "job": f"{served.name}"}, 201)


async def versions(site: Site, request: Request, _body: bytes) -> dict[str, Any]:
    """The version that is served."""
    return {"versions": [_served(site, request).version], "message": "the version that is served"}


async def _keep(site: Site, served: ServedModel, several: Sequence[Callable[[], AnnotatedText]]) -> Response:
    retrainer = site.retrainer(served.name)

    def keep() -> None:
        retrainer.annotations.add([retrainer.checked(make()) for make in several])

    await in_thread(keep)
    return json_response({"status": "kept", "annotations": len(several)}, 201)


def _all_annotated(tasks: Iterable[Values], sent: Values) -> Iterator[Callable[[], AnnotatedText]]:
    return (each for task in tasks for each in _annotated(task, sent))


def _annotated(task: Values, sent: Values) -> Iterator[Callable[[], AnnotatedText]]:
    """Yield what makes a document of each annotation of a task; those that were cancelled delete what was kept."""
    schema = sent.values.get("label_config")
    if schema is None and isinstance(project := sent.values.get("project"), dict):
        schema = project.get("label_config")
    name = LabelConfig.of(schema).data
    for each in task.objects("annotations") if "annotations" in task else ():
        yield partial(_annotated_text, _with_annotations(task, [each]), each, _project(sent), name)


def _annotated_text(task: Values, annotation: Values, project: str, name: str | None) -> AnnotatedText:
    """Make a document of the only annotation of a task. Raises CorpusError."""
    key = f"{project}/{annotation.get('id', int)}"
    if annotation.values.get("was_cancelled"):
        return AnnotatedText(key)
    document = label_studio.document(task, name)
    return annotated_text(key, document, [mark for own in document.marks.values() for mark in own or ()])


def _with_annotations(task: Values, annotations: Iterable[Values]) -> Values:
    """A task with these annotations alone."""
    own = {"id": task.values.get("id"), "data": task.values.get("data")}
    return Values({**own, "annotations": [each.values for each in annotations]}, task.location)


def _project(sent: Values) -> str:
    """The number of the project: `7`, of `"7.1699999999"` or `{"id": 7}`."""
    project = sent.values.get("project")
    if isinstance(project, dict):
        project = project.get("id")
    return str(project if isinstance(project, (str, int)) else "").partition(".")[0][:50]


def _served(site: Site, request: Request) -> ServedModel:
    """The model of the path, or the first one that can tag words."""
    served = site.models.that_can("tag", request.path_params.get("model"))
    if "segment" in served.operations:
        raise RefusedError(f"found {served.name}, a model that segments, expected a tagger of words")
    return served


def _labels(served: ServedModel) -> Sequence[str]:
    """The labels of marks: types of spans, or those of tokens."""
    labels = served.model.under().labels
    return sorted({split_label(each)[1] for each in labels} - {""}) if codes_spans(labels) else labels


_PLACE = Location("the request")


def _object(body: bytes) -> Values:
    return _values(decoded(body, dict))


def _values(value: object) -> Values:
    try:
        return Values.of(value, _PLACE)
    except CorpusError as error:
        raise RefusedError(str(error)) from None


def _objects(sent: Values, name: str) -> list[Values]:
    return list(sent.objects(name)) if name in sent else []


def _several(sent: Values, one: str, several: str) -> list[Values]:
    return _objects(sent, several) or [Values.of(sent.values.get(one), _PLACE)]
