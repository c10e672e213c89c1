"""Label Studio's ML backend: predictions for its tasks, and training on annotations made there.

Label Studio posts to `setup` when it connects, to `predict` with tasks, and to `webhook` when annotations are made and
when somebody presses "Start Training"; `train` is for versions before 1.5. An annotation is kept under its number, so a
changed one replaces it, and the model is corrected by it; training begins when somebody asks for it. With the address
of Label Studio, all annotations of the project are fetched first, also those from before it was connected.
"""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, build_opener
from xml.etree import ElementTree as Xml

from starlette.requests import Request
from starlette.responses import Response

from tagweave.corpus.sentence import Location
from tagweave.errors import RequestError
from tagweave.exchange import label_studio as exports
from tagweave.exchange.document import Document, Mark
from tagweave.exchange.json_exports import Values
from tagweave.labels.transition_scheme import codes_spans, split_label
from tagweave.serve.requests import LabelRequest, TextResult, check, decoded
from tagweave.serve.retraining import Annotation
from tagweave.serve.served_models import ServedModel
from tagweave.serve.site import ServerSite, in_thread, json_response

_LONGEST = 1_000_000


@dataclass(frozen=True)
class LabelConfig:
    """The names in a labelling configuration that predictions need.

        <View><Labels name="label" toName="text"><Label value="PER"/></Labels><Text name="text" value="$text"/></View>

    `control` is the tag `Labels`, `text` the tag `Text` to which it belongs, `data` names the text in the data of a
    task, if that is known, and `labels` are those that people can choose; empty: unknown.
    """

    control: str = "label"
    text: str = "text"
    data: str | None = None
    labels: tuple[str, ...] = ()

    @classmethod
    def of(cls, xml: object) -> LabelConfig:
        """Read a configuration in XML; `None` and "" are the usual one."""
        if xml in (None, ""):
            return cls()
        if not isinstance(xml, str) or len(xml) > _LONGEST or "<!" in xml.replace("<!--", ""):
            raise RequestError("found a labelling configuration that is no plain XML, expected one of Label Studio")
        try:
            root = Xml.fromstring(xml)  # noqa: S314  # without a DTD there are no entities to expand
        except (Xml.ParseError, ValueError, RecursionError) as error:
            raise RequestError(f"found a labelling configuration that is no XML ({error}), expected one") from None
        texts = {tag.get("name", ""): tag.get("value", "") for tag in root.iter("Text")}
        for tag in root.iter("Labels"):
            name, text = tag.get("name", ""), tag.get("toName", "")
            if name and text in texts:
                labels = tuple(label.get("value", "") for label in tag.iter("Label"))
                return cls(name, text, texts[text].removeprefix("$") or None, labels)
        raise RequestError("found no Labels of a Text in the labelling configuration, expected them")


_SECONDS = 60
_LONGEST_EXPORT = 200_000_000  # bytes


class _NoRedirects(HTTPRedirectHandler):
    """Follows no redirect: its target would get the key."""

    def redirect_request(self, *_: Any) -> None:
        """Follow none."""


def annotated_tasks(url: str, key: str, project: str) -> list[Values]:
    """Fetch the tasks of a project that somebody has annotated, as they are exported.

    The key is an access token of a user, or a personal one, for which an access token is fetched.
    """
    if not project.isdecimal():
        raise RequestError(f"found the project {project!r}, expected a number")
    authorization = f"Token {key}"
    if key.count(".") == 2:
        body = json.dumps({"refresh": key}).encode()
        answer = _answer(f"{url}/api/token/refresh", {"Content-Type": "application/json"}, body)
        access = answer.get("access") if isinstance(answer, dict) else None
        if not isinstance(access, str):
            raise RequestError(f"found no access token at {url}, expected one for LABEL_STUDIO_API_KEY", 502)
        authorization = f"Bearer {access}"
    export = f"{url}/api/projects/{project}/export?exportType=JSON"
    tasks = _answer(export, {"Authorization": authorization})
    if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
        raise RequestError(f"found no tasks at {export}, expected a list of them", 502)
    return [Values(task, Location(url, number)) for number, task in enumerate(tasks, 1)]


def _answer(url: str, headers: dict[str, str], body: bytes | None = None) -> object:
    request = urllib.request.Request(url, body, headers)  # noqa: S310  # the command line takes no other scheme than HTTP
    try:
        with build_opener(_NoRedirects).open(request, timeout=_SECONDS) as answer:
            content = answer.read(_LONGEST_EXPORT + 1)
            if len(content) > _LONGEST_EXPORT:
                raise ValueError(f"more than {_LONGEST_EXPORT:,} bytes")
            return json.loads(content)
    except (OSError, ValueError, RecursionError, HTTPException) as error:
        if isinstance(error, HTTPError):
            error.close()
        raise RequestError(f"{url}: {error}", 502) from None


_KEPT = ("ANNOTATION_CREATED", "ANNOTATION_UPDATED")
_DELETED = ("ANNOTATION_DELETED", "ANNOTATIONS_DELETED")
_TRAIN = "START_TRAINING"


async def setup(site: ServerSite, request: Request, body: bytes) -> dict[str, str]:
    """Check that the project and the model have labels in common."""
    sent = _object(body)
    served = _served(site, request)
    labels: Sequence[str] = served.model.under().labels
    if codes_spans(labels):
        labels = sorted({split_label(label)[1] for label in labels} - {""})
    config = LabelConfig.of(sent.values.get("schema"))
    if config.labels and not {*labels} & {*config.labels}:
        difference = f"found the labels {', '.join(config.labels)} in the project"
        raise RequestError(f"{difference}, expected some of {', '.join(labels)}, which {served.name} has")
    return {"model_version": served.version}


async def predict(site: ServerSite, request: Request, body: bytes) -> dict[str, Any]:
    """Return one prediction for each task. Its score is the least probability over its tokens and spans."""
    sent = _object(body)
    served = _served(site, request)
    config = LabelConfig.of(sent.values.get("label_config"))
    texts = [exports.text_of(task, config.data) for task in _objects(sent, "tasks")]
    asked = LabelRequest(texts=texts, probabilities=True)
    characters = check(asked, site.settings.limits)
    answer = await site.batches.response(("tag", served.name, True, asked.level), texts, characters)
    results = []
    for text, result in zip(texts, answer.results, strict=True):
        spans = tuple(marks(result))
        shown = tuple(mark for mark in spans if not config.labels or mark.label in config.labels)
        certainty = {answer.version: least_probability(result, spans)}
        document = Document(text, {answer.version: shown}, certainty=certainty)
        results.append(exports.prediction(document, answer.version, config.control, config.text))
    return {"results": results, "model_version": answer.version}


def marks(result: TextResult) -> Iterator[Mark]:
    """Yield the spans of a result as marks; of labels that code none, the tokens."""
    offsets, numbers = result.offsets or [], result.probabilities or []
    if result.spans is not None:
        for span in result.spans:
            if span.start is not None and span.end is not None:
                yield Mark(span.start, span.end, span.label, _probability(span.probability))
        return
    for at, label in enumerate(result.labels or ()):
        number = numbers[at] if at < len(numbers) else None
        if label is not None:
            yield Mark(*offsets[at], label, _probability(number))


def least_probability(result: TextResult, spans: Iterable[Mark]) -> float:
    """Return the least probability over the labels of all tokens, `O` among them, and over spans; 1 without tokens."""
    numbers = [number for number in result.probabilities or () if isinstance(number, float)]
    return _probability(min([*numbers, *(span.probability for span in spans)], default=1.0))


def _probability(number: object) -> float:
    return min(1.0, max(number, 1e-6)) if isinstance(number, float) else 1.0


async def webhook(site: ServerSite, request: Request, body: bytes) -> Response:
    """Keep annotations, or begin training, when something happens in Label Studio."""
    sent = _object(body)
    served = _served(site, request)
    action = sent.values.get("action", _TRAIN)  # some versions leave it out, and send all annotations
    if action in (*_KEPT, *_DELETED) and site.settings.retraining is None:
        return json_response({"status": "not kept: this server does not train (tagweave serve --models does)"})
    if action in _DELETED:
        identifiers = (_which(sent, annotation) for annotation in _several(sent, "annotation", "annotations"))
        return await _keep(site, served, [partial(Annotation, project, number) for project, number in identifiers])
    if action in _KEPT:
        task = _with_annotations(
            Values.of(sent.values.get("task"), _PLACE), [*_several(sent, "annotation", "annotations")]
        )
        return await _keep(site, served, list(_annotated(task, sent)))
    if action == _TRAIN:
        return await train(site, request, body)
    return json_response({"status": f"nothing is done on {str(action)[:50]}"})


async def train(site: ServerSite, request: Request, body: bytes) -> Response:
    """Train on all annotations: those kept and those of the request."""
    sent = _object(body)
    served = _served(site, request)
    retrainer = site.retrainer(served.name)
    settings = site.settings.retraining

    def begin() -> int:
        tasks = _objects(sent, "annotations")
        project = _project(sent)
        is_fetched = settings and settings.label_studio and not tasks
        if settings and settings.label_studio and is_fetched:
            tasks = annotated_tasks(settings.label_studio, settings.key, project)
        annotations = (make for task in tasks for make in _annotated(task, sent))
        retrainer.keep(annotations, project if is_fetched else None)
        return retrainer.start()

    count = await in_thread(begin)
    return json_response({"status": "training", "documents": count, "job": f"{served.name}"}, 201)


async def versions(site: ServerSite, request: Request, _body: bytes) -> dict[str, Any]:
    """Return the version that is served."""
    return {"versions": [_served(site, request).version], "message": "the version that is served"}


async def _keep(site: ServerSite, served: ServedModel, several: Sequence[Callable[[], Annotation]]) -> Response:
    retrainer = site.retrainer(served.name)
    count = await in_thread(retrainer.keep, several)
    retrainer.correct()
    return json_response({"status": "kept", "annotations": count}, 201)


def _annotated(task: Values, sent: Values) -> Iterator[Callable[[], Annotation]]:
    """Yield a function for each annotation of a task, which makes it, without text if it was cancelled."""
    schema = sent.values.get("label_config")
    if schema is None and isinstance(project := sent.values.get("project"), dict):
        schema = project.get("label_config")
    name = LabelConfig.of(schema).data
    for annotation in task.objects("annotations") if "annotations" in task else ():
        yield partial(_annotation, _with_annotations(task, [annotation]), annotation, sent, name)


def _annotation(task: Values, annotation: Values, sent: Values, name: str | None) -> Annotation:
    """Make the only annotation of a task."""
    project, number = _which(sent, annotation)
    if annotation.values.get("was_cancelled"):
        return Annotation(project, number)
    document = exports.document(task, name)
    if None in document.marks.values():  # labels of another type than text has
        return Annotation(project, number)
    marked = (Mark(*mark[:3]) for several in document.marks.values() for mark in several or ())
    return Annotation(project, number, document.text, tuple(marked))


def _which(sent: Values, annotation: Values) -> tuple[str, int]:
    """Return the project and the number of an annotation."""
    number = annotation.get("id", int)
    if not 0 <= number < 2**63:
        raise annotation.error("an annotation of another number", "0 to 2^63")
    return _project(sent), number


def _with_annotations(task: Values, annotations: Iterable[Values]) -> Values:
    """Return a task with these annotations alone."""
    kept = {"id": task.values.get("id"), "data": task.values.get("data")}
    return Values({**kept, "annotations": [annotation.values for annotation in annotations]}, task.location)


def _project(sent: Values) -> str:
    """Return the number of the project: `7`, of `"7.1699999999"` or `{"id": 7}`."""
    project = sent.values.get("project")
    if isinstance(project, dict):
        project = project.get("id")
    return str(project if isinstance(project, (str, int)) else "").partition(".")[0].replace("\0", "")[:50]


def _served(site: ServerSite, request: Request) -> ServedModel:
    """Return the model of the path, or the first one that can tag words."""
    served = site.models.that_can("tag", request.path_params.get("model"))
    if "segment" in served.operations:
        raise RequestError(f"found {served.name}, a model that segments, expected a tagger of words")
    return served


_PLACE = Location("the request")


def _object(body: bytes) -> Values:
    return Values(decoded(body, dict), _PLACE)


def _objects(sent: Values, name: str) -> list[Values]:
    return list(sent.objects(name)) if name in sent else []


def _several(sent: Values, one: str, several: str) -> list[Values]:
    return _objects(sent, several) or [Values.of(sent.values.get(one), _PLACE)]
