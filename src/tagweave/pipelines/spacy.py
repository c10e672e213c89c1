"""Models in spaCy's pipelines: the component `tagweave` and the tokenizer `tagweave.Segmenter.v1`, its entry points.

A pipeline is saved with its models: their files are copied into it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Self

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import raise_error, registry

from tagweave.corpus.files import in_blocks
from tagweave.errors import PipelineError
from tagweave.exchange.tokenization import for_text
from tagweave.exchange.tokens import of_words, text_lines
from tagweave.front.loading import load_model
from tagweave.front.parser import Parser
from tagweave.front.taggers import Segmenter
from tagweave.labels.transition_scheme import codes_spans
from tagweave.models.storage import ModelFileError
from tagweave.pipelines.annotations import Entities, Tags, Trees

if TYPE_CHECKING:
    from tagweave.front.model import Model
    from tagweave.pipelines.annotations import Entities, Tags, Trees

ErrorHandler = Callable[[str, Any, list[Any], Exception], None]
_FILE = "tagweave.model"
_BATCH, _TEXTS = 128, 1_000  # documents, and texts, unless the pipeline says how many


class PipelinePart:
    """A part of a pipeline with a model, which comes from its file (`path`) or with the pipeline."""

    def __init__(self, path: str | None, threads: int = 1) -> None:
        self._path, self._threads = path, threads
        self._model: Model | None = None

    def check(self) -> None:
        """Raise PipelineError if the model is of no use here."""

    def open(self, nlp: Any) -> Self:
        """Read the file and check the model, unless the meta data of the pipeline say that it comes with the pipeline.

        Raises PipelineError if the model is of no use here, otherwise as `tagweave.load_model`.
        """
        paths = nlp.meta.setdefault("tagweave", [])
        if self._path is not None and self._path not in paths:
            self._model = load_model(self._path, self._threads)
            paths.append(self._path)
            self.check()
        return self

    @property
    def opened(self) -> Model:
        """Return the model. Raises PipelineError if it has not come yet; otherwise as `tagweave.load_model`."""
        if self._model is None:
            if self._path is None:
                raise PipelineError("found no model, expected the file of one, or a pipeline that was saved with it")
            self._model = load_model(self._path, self._threads)
        return self._model

    def to_disk(self, path: Path | str, *, exclude: Iterable[str] = ()) -> None:
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        self.opened.save(folder / _FILE)

    def from_disk(self, path: Path | str, *, exclude: Iterable[str] = ()) -> Self:
        self._model = load_model(str(Path(path) / _FILE), self._threads)
        self.check()
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        with TemporaryDirectory() as folder:
            self.to_disk(folder)
            return (Path(folder) / _FILE).read_bytes()

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> Self:
        with TemporaryDirectory() as folder:
            file = Path(folder) / _FILE
            file.write_bytes(data)
            try:
                self._model = load_model(str(file), self._threads)
            except ModelFileError as error:
                raise ModelFileError(str(error).replace(str(file), "bytes of a pipeline")) from None
            self._model.name = "the model"
        self.check()
        return self


class Component(PipelinePart):
    """A model as a component: it sets tags, entities, or trees, as the model was trained.

    Args:
        attribute: `tag` or `pos`, where a tagger's labels are put.
        guideline: of the labels; by default the model's target.
        overwrite: whether existing annotation is replaced.
    """

    def __init__(
        self,
        name: str,
        path: str | None,
        threads: int = 1,
        attribute: str | None = None,
        guideline: str | None = None,
        overwrite: bool = False,
    ) -> None:
        super().__init__(path, threads)
        self.name, self._attribute, self._guideline, self._overwrite = name, attribute, guideline, overwrite
        self._annotation: Tags | Entities | Trees | None = None
        self._error_handler: ErrorHandler = raise_error

    @property
    def annotation(self) -> Tags | Entities | Trees:
        if self._annotation is None:
            self.check()
        assert self._annotation is not None  # noqa: S101
        return self._annotation

    @property
    def labels(self) -> tuple[str, ...]:
        return () if self._annotation is None else self._annotation.labels

    def __call__(self, doc: Any) -> Any:
        self.annotation.set([doc])
        return doc

    def pipe(self, stream: Iterable[Any], *, batch_size: int = _BATCH) -> Iterator[Any]:
        for batch in in_blocks(stream, batch_size):
            yield from self._annotated(batch)

    def set_error_handler(self, error_handler: ErrorHandler) -> None:
        self._error_handler = error_handler

    def get_error_handler(self) -> ErrorHandler:
        return self._error_handler

    def check(self) -> None:
        """Raise PipelineError if the model, or the options, are of no use here, StreamError for a strange guideline."""
        model: Any = self.opened
        if isinstance(model, Segmenter):
            expected = "a tagger or a parser; segmenters are tokenizers: [nlp.tokenizer] tagweave.Segmenter.v1"
            raise PipelineError(f"{model.name}: found a segmenter, expected {expected}")
        if isinstance(model, Parser):
            if self._guideline not in (None, *model.guidelines):
                problem = f"guideline {self._guideline!r}, expected {model.guidelines[0]!r}, that of the parser"
                raise PipelineError(f"{model.name}: found {problem}")
            self._refuse_attribute("a parser")
            self._annotation = Trees(model, self._overwrite)
            return
        tagger = model.under([] if self._guideline is None else [self._guideline])
        if len(tagger.guidelines) > 1:  # entities of a document cannot overlap
            layers = ", ".join(tagger.guidelines)
            raise PipelineError(f"{model.name}: found the layers {layers}, expected one of them as guideline")
        if codes_spans(tagger.labels):
            self._refuse_attribute("a model of entities")
            self._annotation = Entities(tagger, self._overwrite)
        else:
            self._annotation = Tags(tagger, self._attribute, self._overwrite)

    def _refuse_attribute(self, what: str) -> None:
        if self._attribute is not None:
            raise PipelineError(f"{self.opened.name}: found attribute with {what}, expected it with a tagger")

    def _annotated(self, batch: list[Any]) -> Iterator[Any]:
        """Yield the documents of a batch without those that fail; after a failure they are taken one by one."""
        try:
            self.annotation.set(batch)
        except Exception as error:
            if len(batch) > 1:
                for doc in batch:
                    yield from self._annotated([doc])
            else:
                self._error_handler(self.name, self, batch, error)
        else:
            yield from batch


class SegmenterTokenizer(PipelinePart):
    """Cuts texts into the words of a segmenter, or as the text that a model of words learned from.

    Blanks that spaCy cannot imply are tokens, as in its own tokenizers.
    """

    def __init__(self, vocab: Any, path: str | None, threads: int = 1) -> None:
        super().__init__(path, threads)
        self.vocab = vocab

    def check(self) -> None:
        """Open the model: each cuts text."""
        _ = self.opened

    def __call__(self, text: str) -> Any:
        return next(self.pipe([text]))

    def _words(self, texts: Sequence[list[str]]) -> Iterator[list[str]]:
        """Yield the words of each line of texts."""
        if isinstance(self.opened, Segmenter):
            yield from self.opened.cut_all(line for lines in texts for line in lines)
            return
        for lines in texts:
            cut = for_text(self.opened.tokenization, lines)
            yield from ([line[start:stop] for start, stop in cut(line)] for line in lines)

    def pipe(self, texts: Iterable[str], batch_size: int = _TEXTS) -> Iterator[Any]:
        for batch in in_blocks(texts, batch_size):
            lines = [text_lines(text) for text in batch]
            words = self._words(lines)
            for text, lines_of_text in zip(batch, lines, strict=True):
                yield self._doc(text, [word for line_words in islice(words, len(lines_of_text)) for word in line_words])

    def _doc(self, text: str, words: list[str]) -> Any:
        if "".join(words) == text:  # nearly always without blanks between words
            return Doc(self.vocab, words=words, spaces=[False] * len(words))
        forms: list[str] = []
        spaces: list[bool] = []
        at = 0
        for start, stop in [*of_words(lambda _: words)(text), (len(text), len(text))]:
            between = text[at:start]
            if forms and between.startswith(" "):
                spaces[-1], between = True, between[1:]
            for form in filter(None, (between, text[start:stop])):
                forms.append(form)
                spaces.append(False)
            at = stop
        return Doc(self.vocab, words=forms, spaces=spaces)


_TOKEN = ("tag", "pos", "ent_iob", "ent_type", "head", "dep", "is_sent_start")
_ASSIGNS = ["doc.ents", "doc.sents", *(f"token.{name}" for name in _TOKEN)]
_DEFAULTS = {"model": None, "attribute": None, "guideline": None, "overwrite": False, "threads": 1}


@Language.factory("tagweave", assigns=_ASSIGNS, default_config=_DEFAULTS)
def component(
    nlp: Language,
    name: str,
    model: str | None,
    attribute: str | None,
    guideline: str | None,
    overwrite: bool,
    threads: int,
) -> Component:
    """Make a model a component. Raises as `PipelinePart.open`."""
    return Component(name, model, threads, attribute, guideline, overwrite).open(nlp)


def tokenizer(model: str | None = None, threads: int = 1) -> Callable[[Any], SegmenterTokenizer]:
    """Return a function that makes the tokenizer of a pipeline, which raises as `PipelinePart.open`."""
    return lambda nlp: SegmenterTokenizer(nlp.vocab, model, threads).open(nlp)


registry.tokenizers("tagweave.Segmenter.v1", func=tokenizer)
