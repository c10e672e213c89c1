"""The models of a server: their operations, from items of requests to results, and their newest versions."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from tagweave.corpus.sentence import Arc, Sentence
from tagweave.errors import RequestError, ServeError
from tagweave.exchange.tokenization import for_text
from tagweave.exchange.tokens import Tokenizer, tokenizer
from tagweave.features.arc_templates import lacking, with_columns
from tagweave.front.label_model import CutLines, Tokenised, by_line, of_texts
from tagweave.front.loading import load_model, load_models
from tagweave.front.model import Model
from tagweave.front.parser import Parser
from tagweave.front.taggers import DIGITS, LEAST, Segmenter, Tagger, in_text, label_probabilities, label_text
from tagweave.labels import SPANS
from tagweave.labels.transition_scheme import codes_spans, split_label
from tagweave.models.chain_predictor import ChainPredictor, TaggedSpans
from tagweave.models.selective import selection
from tagweave.models.storage import ModelFileError
from tagweave.models.tree import TreePredictor
from tagweave.models.versions import newest, remove_outdated
from tagweave.serve.requests import (
    NO_LEVEL,
    Item,
    Level,
    ModelDescription,
    SpanResult,
    TextResult,
    by_words,
    in_tokens,
    refuse_level,
)
from tagweave.serve.settings import ServerSettings
from tagweave.streams.characters import raw_evidence


class Operation(Protocol):
    """An operation of a model on texts."""

    def results(
        self, items: Sequence[Item], probabilities: bool | str = False, level: Level = NO_LEVEL
    ) -> list[TextResult]:
        """Return the results of items, in their order; raise RequestError, and other errors that clients can mend."""
        ...


class Tagging:
    """The operation `tag` of a tagger of words; `cut` cuts texts into its words."""

    def __init__(self, model: Tagger, cut: CutLines) -> None:
        self._model, self._tagger, self._cut = model, model.under(), cut

    def results(
        self, items: Sequence[Item], probabilities: bool | str = False, level: Level = NO_LEVEL
    ) -> list[TextResult]:
        """Return the results of items. Raises StreamError for a level that is not promised."""
        tagger = self._tagger
        selected = selection(self._model.trained, *level, self._model.name)
        documents = in_tokens(items, self._cut)
        sentences = [sentence for document in documents for sentence in document.sentences]
        spans: list[TaggedSpans] | None = None
        if selected is not None or codes_spans(tagger.labels):
            if selected is None:
                tagged = list(tagger.tag_spans(sentences, bool(probabilities)))
            else:
                tagged = list(selected.of_text(tagger, sentences))
            labelled = [sentence for sentence, _ in tagged]
            if selected is None or tagger.model.task == SPANS:
                spans = [sentence_spans for _, sentence_spans in tagged]
        else:
            labelled = list(tagger.tag(sentences))
        has_layers = len(tagger.guidelines) > 1
        if has_layers and probabilities == "all":
            raise RequestError('found "all", expected true or false for a model of layers of spans')
        tables = tagger.probabilities(sentences) if probabilities and not has_layers else None
        shown: Sequence[Sequence[Any]] | None = None
        if tables is not None and probabilities == "all":
            shown = [[_by_label(tagger.labels, row) for row in table] for table in tables]
        elif tables is not None:
            shown = [
                label_probabilities(tagger, sentence, table) for sentence, table in zip(labelled, tables, strict=True)
            ]
        return [
            result(
                document,
                labels=None
                if has_layers
                else [label_text(at) for sentence in labelled[indices] for at in sentence.layers[tagger.guideline]],
                spans=spans and [SpanResult(*astuple(span)) for span in in_text(document, spans[indices])],
                probabilities=shown and [number for row in shown[indices] for number in row],
            )
            for document, indices in _with_sentences(documents)
        ]


def _with_sentences(documents: Iterable[Tokenised]) -> Iterator[tuple[Tokenised, slice]]:
    """Yield each document and the slice of its sentences in the list of all sentences."""
    at = 0
    for document in documents:
        begin, at = at, at + len(document.sentences)
        yield document, slice(begin, at)


def _firsts(layers: Iterable[Sequence[Any]]) -> list[str]:
    """Return the first candidate of each position that has candidates."""
    return [candidates[0] for layer in layers for candidates in layer if candidates]


def _by_label(names: Sequence[str], row: Any) -> dict[str, float]:
    """Return the labels that are not impossible, the most probable first."""
    order = np.argsort(-row, kind="stable")
    return {names[at]: round(float(row[at]), DIGITS) for at in order if row[at] >= LEAST}


def result(document: Tokenised, **annotation: Any) -> TextResult:
    """Return the result of a document: its tokens, sentences and offsets, and their annotation."""
    bounds = []
    at = 0
    for sentence in document.sentences:
        bounds.append((at, at + len(sentence)))
        at += len(sentence)
    return TextResult(
        tokens=[form for sentence in document.sentences for form in sentence.forms],
        sentences=bounds,
        offsets=None
        if document.offsets is None
        else [pair for sentence_offsets in document.offsets for pair in sentence_offsets],
        **annotation,
    )


class Segmenting:
    """The operation `segment`; with `tags` the operation `tag`, which is slower."""

    def __init__(self, model: Segmenter, tags: bool = False) -> None:
        self._tags = tags
        self._tagger = model.under()
        self.cut = by_words(lambda lines: list(model.cut_all(lines)))

    def results(
        self, items: Sequence[Item], probabilities: bool | str = False, level: Level = NO_LEVEL
    ) -> list[TextResult]:
        """Return the results of texts. Raises RequestError for tokens, and if the probabilities do not exist."""
        refuse_level(level, "a model that segments")
        texts = [item for item in items if isinstance(item, str)]
        if len(texts) < len(items):
            raise RequestError("found tokens, expected text or texts for a model that segments")
        if probabilities == "all":
            raise RequestError('found "all", expected true or false for a model that segments')
        if not self._tags and not probabilities:
            return [result(document) for document in of_texts(texts, self.cut)]
        words: list[Sentence] = []
        numbers: list[list[float]] = []

        def labelled(lines: Sequence[str]) -> list[tuple[str, ...]]:
            if not lines:
                return []
            evidence = raw_evidence(self._tagger, [Sentence(tuple(line)) for line in lines])
            segmented = [self._tagger.words(sentence) for sentence in self._tagger.complete(evidence)]
            words.extend(segmented)
            if probabilities:
                try:
                    numbers.extend(self._tagger.word_probabilities(evidence.sentences, segmented, evidence.guideline))
                except ValueError as error:
                    raise RequestError(str(error)) from error
            return [sentence.forms for sentence in segmented]

        results = []
        for document, indices in _with_sentences(of_texts(texts, by_words(labelled))):
            labels = _firsts(sentence.layers.get(self._tagger.guideline, ()) for sentence in words[indices])
            shown = [round(number, DIGITS) for row in numbers[indices] for number in row]
            results.append(
                result(document, labels=labels if self._tags else None, probabilities=shown if probabilities else None)
            )
        return results


_USER = "user:"


class Parsing:
    """The operation `parse`.

    A request may give the columns that the parser looks at; `taggers`, which are served too, fill in the others.
    `longest` is the greatest number of tokens in a sentence.
    """

    def __init__(
        self, model: Parser, cut: CutLines, taggers: Callable[[], Iterable[ChainPredictor]], longest: int
    ) -> None:
        self._parser = TreePredictor(model.trained)
        self._inputs = model.trained.inputs
        self._cut, self._taggers, self._longest = cut, taggers, longest

    def results(
        self, items: Sequence[Item], probabilities: bool | str = False, level: Level = NO_LEVEL
    ) -> list[TextResult]:
        """Return the results of items.

        Raises RequestError for a sentence that is too long and for the probabilities of all heads, and CorpusError as
        `TreePredictor.parse`.
        """
        refuse_level(level, "a parser")
        if probabilities == "all":
            raise RequestError('found "all", expected true or false for a parser')
        documents = in_tokens(items, self._cut)
        sentences = [sentence for document in documents for sentence in document.sentences]
        for sentence in sentences:
            if len(sentence) > self._longest:
                expected = f"at most {self._longest:,} in a sentence that is parsed; a line is a sentence"
                raise RequestError(f"found {len(sentence):,} tokens, expected {expected}", 413)
        seen = [with_columns(sentence, self._inputs) for sentence in self._tagged(sentences)]
        parsed = list(self._parser.parse(seen))
        arcs = [self._arcs(sentence) for sentence in parsed]
        tables = self._parser.probabilities(seen) if probabilities else None
        results = []
        for document, indices in _with_sentences(documents):
            heads: list[int | None] = []
            for tree in arcs[indices]:
                before = len(heads)
                heads += [before + arc.head - 1 if arc.head else None for arc in tree]
            relations = [arc.relation for tree in arcs[indices] for arc in tree]
            chances = None
            if tables is not None:
                pairs = zip(arcs[indices], tables[indices], strict=True)
                rows = [table[[arc.head or 0 for arc in tree], range(1, len(tree) + 1)] for tree, table in pairs]
                chances = [round(number, DIGITS) for row in rows for number in row.tolist()]
            shown = {
                "relations": relations if any(relations) else None,
                "columns": self._columns(parsed[indices]) or None,
            }
            results.append(result(document, heads=heads, probabilities=chances, **shown))
        return results

    def missing(self, result_columns: Iterable[str]) -> list[str]:
        """Return the columns that the parser looks at and a result lacks."""
        return sorted({name.removeprefix(_USER) for name in self._inputs} - {*result_columns})

    def _tagged(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """Add the tags that sentences lack, if a tagger gives them."""
        completed = list(sentences)
        for tagger in self._taggers():
            name = tagger.guideline
            lacks = (
                [at for at, sentence in enumerate(completed) if lacking([sentence], [name])]
                if name in self._inputs
                else []
            )
            if lacks:
                bare = [replace(completed[at], layers={}) for at in lacks]
                for at, tagged in zip(lacks, tagger.tag(bare), strict=True):
                    completed[at] = replace(completed[at], layers={**completed[at].layers, name: tagged.layers[name]})
        return completed

    def _columns(self, parsed: Sequence[Sentence]) -> dict[str, list[str | None]]:
        """Return the columns that the parser looked at."""
        columns = {}
        for name in self._inputs:
            short = name.removeprefix(_USER)
            if name.startswith(_USER):
                rows = [sentence.columns.get(short, ()) for sentence in parsed]
                values: list[str | None] = [None if value == "_" else value for row in rows for value in row]
            else:
                layers = [sentence.layers.get(name, ()) for sentence in parsed]
                values = [None if candidates is None else candidates[0] for layer in layers for candidates in layer]
            if any(value is not None for value in values):
                columns[short] = values
        return columns

    def _arcs(self, sentence: Sentence) -> list[Arc]:
        layer = sentence.heads[self._parser.model.guideline]
        return [candidates[0] if candidates else Arc(None, None) for candidates in layer]


OPERATIONS = ("tag", "segment", "parse")
_PAUSE = 0.1  # seconds between two looks for new versions
_PATIENCE = 1.0  # seconds after a version that cannot be read
WARM = "1"
"""A text with which every kernel is compiled, or read."""


class ServedModel:
    """A model under a name, from the file `path` of its version, and its operations by name."""

    def __init__(self, name: str, path: str, model: Model) -> None:
        self.name, self.path, self.model = name, path, model
        self.operations: dict[str, Operation] = {}

    @property
    def version(self) -> str:
        """The name of the file."""
        return Path(self.path).stem

    def description(self, tokens: str) -> ModelDescription:
        """Return the description of the model for clients."""
        labels = [*self.model.under().labels] if "tag" in self.operations else None
        if labels and "segment" in self.operations:
            labels = sorted({split_label(label)[1] for label in labels})
        cut = None if self.operations.keys() <= {"tag", "segment"} and "segment" in self.operations else tokens
        return ModelDescription(self.name, self.version, [*self.operations], [*self.model.guidelines], labels, cut)


class ServedModels:
    """The models of a server."""

    def __init__(self, settings: ServerSettings) -> None:
        names = [name for name, _ in settings.models]
        if not names or len({*names}) < len(names):
            raise ServeError(f"found the models {', '.join(names) or 'none'}, expected one or more of different names")
        self._settings = settings
        self._next_look = 0.0
        if settings.retraining is not None:
            for name, path in settings.models:
                remove_outdated(settings.retraining.folder, name, path)
        self.all = self._read()
        self._segmenter = next((served for served in self.all if isinstance(served.model, Segmenter)), None)
        self._tokens = None if settings.tokens is None else by_line(tokenizer(settings.tokens))
        for served in self.all:
            served.operations = self._operations(served)
        for served in self.all:
            for operation in served.operations.values():
                operation.results([WARM])

    def that_can(self, operation: str, name: str | None = None) -> ServedModel:
        """Return the model of this name, or the first one, that has the operation. Raises RequestError if none has."""
        for served in self.all:
            if name in (None, served.name) and operation in served.operations:
                return served
        there = "; ".join(f"{served.name}: {', '.join(served.operations)}" for served in self.all)
        if name is not None and name not in [served.name for served in self.all]:
            raise RequestError(f"found the model {name!r}, expected one that is served ({there})", 404)
        raise RequestError(f"found no model that can {operation}{f' in {name!r}' if name else ''}, only {there}")

    def descriptions(self) -> list[ModelDescription]:
        """Return the descriptions of all models."""
        return [served.description(self._tokens_of(served.model)) for served in self.all]

    def line_cutter(self, name: str) -> Tokenizer:
        """Return what cuts a line into the tokens of a model."""
        cut = next(self._cut(served.model) for served in self.all if served.name == name)
        return lambda line: cut([line])[0]

    def taggers(self) -> Iterator[tuple[str, ChainPredictor]]:
        """Return the taggers of words, by their names."""
        return ((served.name, served.model.under()) for served in self.all if isinstance(served.model, Tagger))

    def refresh(self) -> None:
        """Read the new versions of models, if there are any. No request may be computed meanwhile."""
        retraining = self._settings.retraining
        if retraining is None or time.monotonic() < self._next_look:
            return
        self._next_look = time.monotonic() + _PATIENCE
        for at, served in enumerate(self.all):
            path = newest(retraining.folder, served.name)
            if path is not None and path != served.path:
                try:
                    new = ServedModel(served.name, path, load_model(path, shared=True, int8=served.model.int8))
                except (FileNotFoundError, ModelFileError):
                    if newest(retraining.folder, served.name) == path:
                        raise
                    continue  # a correction that the next one has replaced; the next look finds that
                new.operations = self._operations(new)
                self.all[at] = new
        self._next_look = time.monotonic() + _PAUSE

    def _read(self) -> list[ServedModel]:
        """Read the newest versions; again, if others have replaced them meanwhile."""
        settings, paths = self._settings, self._newest()
        names = [name for name, _ in settings.models]
        try:
            return list(map(ServedModel, names, paths, load_models(paths, shared=True, int8=settings.int8)))
        except (FileNotFoundError, ModelFileError):
            if self._newest() == paths:
                raise
            return self._read()

    def _newest(self) -> list[str]:
        folder = self._settings.retraining.folder if self._settings.retraining else None
        return [newest(folder, name) or path for name, path in self._settings.models]

    def _operations(self, served: ServedModel) -> dict[str, Operation]:
        model: Any = served.model
        if isinstance(model, Parser):
            longest = self._settings.limits.tokens
            return {
                "parse": Parsing(model, self._cut(model), lambda: [tagger for _, tagger in self.taggers()], longest)
            }
        if isinstance(model, Segmenter):
            operations: dict[str, Operation] = {"segment": Segmenting(model)}
            return operations | ({"tag": Segmenting(model, tags=True)} if model.chain.task == "segtag" else {})
        return {"tag": Tagging(model, self._cut(model))}

    def _cut(self, model: Model) -> CutLines:
        """Return what cuts lines for a model of words: as the server was told, a segmenter, or as the model learned."""
        if self._tokens is not None:
            return self._tokens
        if self._segmenter is not None and isinstance(self._segmenter.model, Segmenter):
            return Segmenting(self._segmenter.model).cut
        tokenization = model.tokenization
        return lambda lines: [for_text(tokenization, [line])(line) for line in lines]

    def _tokens_of(self, model: Model) -> str:
        """Return the name of what cuts lines for a model of words."""
        if self._settings.tokens is not None:
            return self._settings.tokens
        return model.tokenization.tokens if self._segmenter is None else self._segmenter.name
