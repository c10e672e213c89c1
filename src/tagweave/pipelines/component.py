"""The component of spaCy's pipelines: a model that annotates documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

from tagweave.pipelines.errors import PipelineError
from tagweave.pipelines.kept_model import KeptModel

if TYPE_CHECKING:
    from pathlib import Path

ErrorHandler = Callable[[str, Any, list[Any], Exception], None]
_BATCH = 128  # documents, unless the pipeline says how many


class Annotation(Protocol):
    """What a model sets in documents."""

    labels: tuple[str, ...]

    def set(self, docs: Sequence[Any]) -> None:
        """Annotate documents."""
        ...


class Component:
    """A model as a component: tags, entities, or trees, as the model was trained.

    Args:
        name: of the component in its pipeline.
        kept: the model.
        attribute: `tag` or `pos`, where a tagger's labels are put.
        guideline: of the labels; by default the model's target.
        overwrite: whether annotation that is there is replaced.
    """

    def __init__(
        self,
        name: str,
        kept: KeptModel,
        attribute: str | None = None,
        guideline: str | None = None,
        overwrite: bool = False,
    ) -> None:
        self.name, self._kept = name, kept
        self._attribute, self._guideline, self._overwrite = attribute, guideline, overwrite
        self._annotation: Annotation | None = None
        self._error_handler: ErrorHandler = _raise

    @property
    def annotation(self) -> Annotation:
        """What the model sets.

        Raises:
            PipelineError: no model, one that is of no use here, or options that do not fit it.
            StreamError: a guideline that it does not know.
        """
        if self._annotation is None:
            self._annotation = self._of_model()
        return self._annotation

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that are set: tags, types of entities, or relations; none while the model is still to come."""
        return () if self._annotation is None else self._annotation.labels

    def __call__(self, doc: Any) -> Any:
        """Annotate a document."""
        self._set([doc])
        return doc

    def pipe(self, stream: Iterable[Any], *, batch_size: int = _BATCH) -> Iterator[Any]:
        """Annotate documents in batches."""
        docs = iter(stream)
        while batch := list(islice(docs, batch_size)):
            yield from self._annotated(batch)

    def set_error_handler(self, error_handler: ErrorHandler) -> None:
        """What to do about a document that cannot be annotated; see `Language.set_error_handler`."""
        self._error_handler = error_handler

    def get_error_handler(self) -> ErrorHandler:
        """See `set_error_handler`."""
        return self._error_handler

    def to_disk(self, path: Path | str, *, exclude: Iterable[str] = ()) -> None:
        """Write the model into a folder. Raises OSError."""
        self._kept.to_disk(path)

    def from_disk(self, path: Path | str, *, exclude: Iterable[str] = ()) -> Component:
        """Read the model from its folder. Raises as `annotation`, and as `tagweave.load_model`."""
        self._kept.from_disk(path)
        self._annotation = self._of_model()
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The bytes of the model's file."""
        return self._kept.to_bytes()

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> Component:
        """Read the model from the bytes of its file. Raises as `from_disk`."""
        self._kept.from_bytes(data)
        self._annotation = self._of_model()
        return self

    def _annotated(self, batch: list[Any]) -> Iterator[Any]:
        """The documents of a batch without those that fail; after a failure they are taken one by one."""
        try:
            self._set(batch)
        except Exception as error:
            if len(batch) > 1:
                for doc in batch:
                    yield from self._annotated([doc])
            else:
                self._error_handler(self.name, self, batch, error)
        else:
            yield from batch

    def _set(self, docs: Sequence[Any]) -> None:
        self.annotation.set(docs)

    def _of_model(self) -> Annotation:
        from tagweave.front.parser import Parser
        from tagweave.front.segmenter import Segmenter

        model: Any = self._kept.model
        if isinstance(model, Segmenter):
            expected = "a tagger or a parser; a segmenter is a tokenizer: [nlp.tokenizer] tagweave.Segmenter.v1"
            raise PipelineError(f"{model.name}: found a segmenter, expected {expected}")
        if isinstance(model, Parser):
            return self._of_parser(model)
        return self._of_tagger(model)

    def _of_parser(self, model: Any) -> Annotation:
        from tagweave.pipelines.tree_annotation import Trees

        if self._guideline not in (None, *model.guidelines):
            found = f"guideline {self._guideline!r}, expected {model.guidelines[0]!r}, that of the parser"
            raise PipelineError(f"{model.name}: found {found}")
        self._refuse_attribute(model, "a parser")
        return Trees(model, self._overwrite)

    def _of_tagger(self, model: Any) -> Annotation:
        from tagweave.labels.transition_scheme import codes_spans
        from tagweave.pipelines.label_annotations import Entities, Tags

        tagger = model.under([self._guideline] if self._guideline is not None else [])
        if codes_spans(tagger.labels):
            self._refuse_attribute(model, "a model of entities")
            return Entities(tagger, self._overwrite)
        return Tags(tagger, self._attribute, self._overwrite)

    def _refuse_attribute(self, model: Any, what: str) -> None:
        if self._attribute is not None:
            raise PipelineError(f"{model.name}: found attribute with {what}, expected it with a tagger")


def _raise(_name: str, _component: Any, _docs: list[Any], error: Exception) -> None:
    raise error
