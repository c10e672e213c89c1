"""INCEpTION's external recommender: predictions for a document, and training on the documents of a user.

INCEpTION posts JSON with a document as UIMA CAS XMI and the types of its project to `NAME/predict`, and takes the
document back with predictions in the layer and feature that it names. To `NAME/train` it posts all documents of a user.
In these a sentence without any annotation may be one that nobody has come to, so it says nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import partial
from pathlib import PurePosixPath
from typing import Annotated, Any
from urllib.parse import quote

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from tagweave.errors import CorpusError, RequestError
from tagweave.exchange import inception as uima
from tagweave.exchange.document import Document, Mark
from tagweave.exchange.members import ExportFile
from tagweave.exchange.tokens import Offsets, lines
from tagweave.serve.requests import Item, LabelRequest, check, decoded, of_offsets
from tagweave.serve.retraining import AnnotatedText, annotated_text, marks
from tagweave.serve.site import ServerSite, in_thread

PREDICTED = "inception_internal_predicted"
"""The feature by which INCEpTION tells predictions from annotations."""
_SCORE = "_score"  # behind the name of a feature: of its probability
_Number = Annotated[int | str, msgspec.Meta(description="A number, which some versions write as text.")]


class Metadata(msgspec.Struct, frozen=True, rename="camel"):
    """The feature of a layer to predict."""

    layer: str
    feature: str
    project_id: _Number = 0


class SentDocument(msgspec.Struct, frozen=True, rename="camel"):
    """A document of a user."""

    xmi: str
    document_id: _Number = 0
    user_id: str = ""


class PredictRequest(msgspec.Struct, frozen=True, rename="camel"):
    """A document to be predicted."""

    metadata: Metadata
    document: SentDocument
    type_system: str


class TrainRequest(msgspec.Struct, frozen=True, rename="camel"):
    """Documents to learn from."""

    metadata: Metadata
    documents: list[SentDocument]
    type_system: str


async def predict(site: ServerSite, request: Request, body: bytes) -> dict[str, str]:
    """Return the document with predictions."""
    asked: PredictRequest = decoded(body, PredictRequest)
    served = site.models.that_can("tag", request.path_params["model"])
    types = _member("the type system", asked.type_system)
    document = await in_thread(_Cas, asked.document, types, asked.metadata)
    characters = check(LabelRequest(text=document.text), site.settings.limits)
    answer = await site.batches.response(("tag", served.name, True), [document.item], characters)
    return {"document": await in_thread(document.with_predictions, list(marks(answer.results[0])))}


async def train(site: ServerSite, request: Request, body: bytes) -> Response:
    """Train on the documents of a user."""
    asked: TrainRequest = decoded(body, TrainRequest)
    retrainer = site.retrainer(site.models.that_can("tag", request.path_params["model"]).name)
    types = _member("the type system", asked.type_system)
    user = asked.documents[0].user_id if asked.documents else ""
    project = f"inception/{asked.metadata.project_id}/{quote(user, safe='')}"

    def annotated(sent: SentDocument) -> AnnotatedText:
        return _Cas(sent, types, asked.metadata).annotated(f"{project}/{sent.document_id}")

    def begin() -> None:
        several = retrainer.usable(partial(annotated, each) for each in asked.documents)
        retrainer.annotations.replace(several, project)
        retrainer.start()

    await in_thread(begin)
    return Response(status_code=204)


class _Cas:
    """A document, with the layer and feature in question."""

    def __init__(self, sent: SentDocument, types: ExportFile, metadata: Metadata) -> None:
        cas = uima.load_xmi(_member("the document", sent.xmi), types)
        self._cas, self._feature, name, known = cas, metadata.feature, metadata.layer, cas.typesystem
        if not known.contains_type(name) or not known.is_instance_of(name, uima.ANNOTATION):
            raise RequestError(f"found no layer {name[:200]!r} of annotations among the types, expected it")
        self._type = known.get_type(name)
        self._features = {each.name: each.rangeType.name for each in self._type.all_features}
        if self._features.get(self._feature) != uima.STRING:
            raise RequestError(f"found no feature {self._feature[:200]!r} of text in {name[:200]}, expected it")
        found = uima.text_of(cas, _member("the document", ""))
        self.text = found.text
        for each in cas.select_all_annotations():  # the library cannot write such a document
            if not 0 <= each.begin <= each.end <= len(self.text):
                place = f"an annotation from {each.begin} to {each.end}"
                raise RequestError(f"found {place}, expected characters of the text, 0 to {len(self.text)}")
        self.sentences: Sequence[Offsets] = found.sentences or tuple(lines(found.text))
        self.tokens = found.tokens

    @property
    def item(self) -> Item:
        """The text or the tokens to tag."""
        if self.tokens is None:
            return self.text
        return of_offsets(self.text, self.tokens, self.sentences)

    def annotated(self, key: str) -> AnnotatedText:
        """Return the user's marks, with the sentences that have some."""
        marks = []
        for each in self._cas.select(self._type.name):
            value = each[self._feature]
            predicted = PREDICTED in self._features and each[PREDICTED] in (True, "true")
            if value and not predicted and each.begin < each.end:
                marks.append(Mark(each.begin, each.end, value))
        found = tuple(marks)
        starts = [start for start, _ in self.sentences]
        kept = {bisect_right(starts, mark.start) - 1 for mark in found} - {-1}
        tokens = None if self.tokens is None else tuple(self.tokens)
        own = tuple(self.sentences[at] for at in sorted(kept))
        return annotated_text(key, Document(self.text, {"tag": found}, key, tokens, sentences=own), found)

    def with_predictions(self, found: Sequence[Mark]) -> str:
        """Return the XMI of the document with predictions. Raises RequestError if its types have no place for them."""
        if self._features.get(PREDICTED) != uima.BOOLEAN:
            raise RequestError(f"found no feature {PREDICTED} of the layer, expected it, as INCEpTION sends it")
        scored = self._features.get(f"{self._feature}{_SCORE}") in uima.NUMBERS
        for mark in found:
            values: dict[str, Any] = {self._feature: mark.label, PREDICTED: True}
            if scored:
                values[f"{self._feature}{_SCORE}"] = mark.probability
            self._cas.add(self._type(begin=mark.start, end=mark.stop, **values))
        return uima.xmi_of(self._cas, _member("the document", ""))


def _member(name: str, xml: str) -> ExportFile:
    """Wrap XML of a request as a file of an export. Raises RequestError for entities, CorpusError for no Unicode."""
    if "<!DOCTYPE" in xml or "<!ENTITY" in xml:
        raise RequestError(f"found a document type declaration in {name}, expected XML without")
    try:
        return ExportFile(PurePosixPath(name), xml.encode(), f"{name} of the request")
    except UnicodeEncodeError as error:
        raise CorpusError(str(error), "Unicode") from None
