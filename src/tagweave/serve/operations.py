"""The operations of models: `tag`, `segment` and `parse`, from items of requests to results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from tagweave.corpus.sentence import Arc, Sentence
from tagweave.errors import RequestError
from tagweave.features.arc_templates import lacking, with_columns
from tagweave.front.label_model import CutLines, Tokenised, of_texts
from tagweave.front.taggers import DIGITS, LEAST, LabelledSpan, in_text, label_probabilities, labelled_spans
from tagweave.labels.transition_scheme import codes_spans
from tagweave.models.tree_predictor import TreePredictor
from tagweave.serve.requests import Item, SpanResult, TextResult, by_words, in_tokens
from tagweave.streams.characters import raw_evidence

if TYPE_CHECKING:
    from tagweave.front.parser import Parser
    from tagweave.front.taggers import Segmenter, Tagger
    from tagweave.models.chain_predictor import ChainPredictor


class Tagging:
    """The operation `tag` of a tagger of words; `cut` cuts texts into its words."""

    name = "tag"

    def __init__(self, model: Tagger, cut: CutLines) -> None:
        self._tagger, self._cut = model.under(), cut
        self._spans = codes_spans(self._tagger.labels)

    def results(self, items: Sequence[Item], probabilities: bool | str = False) -> list[TextResult]:
        """Return the results of items. Raises CorpusError as `ChainPredictor.tag`."""
        documents = in_tokens(items, self._cut)
        given = [sentence for each in documents for sentence in each.sentences]
        labelled = list(self._tagger.tag(given))
        tables = self._tagger.probabilities(given) if probabilities else None
        spans = iter(labelled_spans(self._tagger, labelled, bool(probabilities), tables)) if self._spans else None
        labels = iter([_labels(each, self._tagger.guideline) for each in labelled])
        shown = iter([] if tables is None else map(self._shown, labelled, tables, [probabilities] * len(tables)))
        return [self._result(each, labels, spans, shown if probabilities else None) for each in documents]

    def _result(
        self,
        document: Tokenised,
        labels: Iterator[list[str]],
        spans: Iterator[list[LabelledSpan]] | None,
        shown: Iterator[list[Any]] | None,
    ) -> TextResult:
        own = len(document.sentences)
        return result(
            document,
            labels=[label for each in islice(labels, own) for label in each],
            spans=None if spans is None else _results(document, list(islice(spans, own))),
            probabilities=None if shown is None else [number for each in islice(shown, own) for number in each],
        )

    def _shown(self, sentence: Sentence, table: Any, which: bool | str) -> list[Any]:
        """Return for each token the probability of its label, or those of all labels."""
        names = self._tagger.labels
        if which == "all":
            return [by_label(names, row) for row in table]
        return label_probabilities(self._tagger, sentence, table)


def by_label(names: Sequence[str], row: Any) -> dict[str, float]:
    """Return the labels that are not impossible, the most probable first."""
    order = np.argsort(-row, kind="stable")
    return {names[at]: round(float(row[at]), DIGITS) for at in order if row[at] >= LEAST}


def result(document: Tokenised, **found: Any) -> TextResult:
    """Return the result of a document: its tokens, sentences and offsets, and what was found."""
    bounds, at = [], 0
    for sentence in document.sentences:
        bounds.append((at, at + len(sentence)))
        at += len(sentence)
    return TextResult(
        tokens=[form for sentence in document.sentences for form in sentence.forms],
        sentences=bounds,
        offsets=None if document.offsets is None else [pair for each in document.offsets for pair in each],
        **found,
    )


def _results(document: Tokenised, spans: Sequence[Sequence[LabelledSpan]]) -> list[SpanResult]:
    return [SpanResult(*astuple(each)) for each in in_text(document, spans)]


def _labels(sentence: Sentence, guideline: str) -> list[str]:
    return [candidates[0] for candidates in sentence.layers[guideline] if candidates]


_DIGITS = 6


class Segmenting:
    """The operation `segment`, or `tag` if words are to be tagged, which needs a slower way."""

    def __init__(self, model: Segmenter, tags: bool = False) -> None:
        self._model, self._tags = model, tags
        self._tagger = model.under()
        self.name = "tag" if tags else "segment"
        self.cut = by_words(lambda lines: list(model.cut_all(lines)))

    def results(self, items: Sequence[Item], probabilities: bool | str = False) -> list[TextResult]:
        """Return the results of texts. Raises RequestError for tokens, and for probabilities that there are not."""
        texts = [each for each in items if isinstance(each, str)]
        if len(texts) < len(items):
            raise RequestError("found tokens, expected text or texts for a model that segments")
        if probabilities == "all":
            raise RequestError('found "all", expected true or false for a model that segments')
        if not self._tags and not probabilities:
            return [result(each) for each in of_texts(texts, self.cut)]
        words: list[Sentence] = []
        numbers: list[list[float]] = []
        documents = of_texts(texts, by_words(lambda lines: self._labelled(lines, words, numbers, bool(probabilities))))
        own, shown = iter(words), iter(numbers) if probabilities else None
        return [self._result(each, own, shown) for each in documents]

    def _labelled(
        self, lines: Sequence[str], words: list[Sentence], numbers: list[list[float]], probabilities: bool
    ) -> list[tuple[str, ...]]:
        """Return the words of lines; add them to `words` with their tags, and to `numbers` with probabilities."""
        if not lines:
            return []
        evidence = raw_evidence(self._tagger, [Sentence(tuple(line)) for line in lines])
        found = [self._tagger.words(each) for each in self._tagger.complete(evidence)]
        words.extend(found)
        if probabilities:
            try:
                numbers.extend(self._tagger.word_probabilities(evidence.sentences, found, evidence.guideline))
            except ValueError as error:
                raise RequestError(str(error)) from error
        return [each.forms for each in found]

    def _result(
        self, document: Tokenised, words: Iterator[Sentence], shown: Iterator[list[float]] | None
    ) -> TextResult:
        own = len(document.sentences)
        layers = [each.layers.get(self._tagger.guideline, ()) for each in islice(words, own)]
        return result(
            document,
            labels=[candidates[0] for layer in layers for candidates in layer if candidates] if self._tags else None,
            probabilities=None
            if shown is None
            else [round(number, _DIGITS) for each in islice(shown, own) for number in each],
        )


_USER = "user:"


class Parsing:
    """The operation `parse`: trees of sentences whose tags are given, or found by taggers that are served, too.

    Args:
        model: the parser.
        cut: cuts texts into its words.
        taggers: their tags are columns that the parser looks at, where nobody gave them.
        longest: tokens of a sentence.
    """

    name = "parse"

    def __init__(
        self, model: Parser, cut: CutLines, taggers: Callable[[], Iterable[ChainPredictor]], longest: int
    ) -> None:
        self._parser, self._cut, self._longest = TreePredictor(model.trained), cut, longest
        self._inputs = model.trained.inputs
        self._taggers = taggers

    def results(self, items: Sequence[Item], probabilities: bool | str = False) -> list[TextResult]:
        """Return the results of items.

        Raises:
            RequestError: a sentence is too long; the probabilities of all heads.
            CorpusError: as `TreePredictor.parse`.
        """
        if probabilities == "all":
            raise RequestError('found "all", expected true or false for a parser')
        documents = in_tokens(items, self._cut)
        given = [sentence for each in documents for sentence in each.sentences]
        for each in given:
            if len(each) > self._longest:
                expected = f"at most {self._longest:,} in a sentence that is parsed; a line is a sentence"
                raise RequestError(f"found {len(each):,} tokens, expected {expected}", 413)
        seen = [with_columns(each, self._inputs) for each in self._tagged(given)]
        parsed = list(self._parser.parse(seen))
        shown = self._probabilities(seen, parsed) if probabilities else None
        own, tables = iter(parsed), None if shown is None else iter(shown)
        return [self._result(each, list(islice(own, len(each.sentences))), tables) for each in documents]

    def missing(self, result_columns: Iterable[str]) -> list[str]:
        """Return the columns that the parser looks at, and that are not among these."""
        return sorted({name.removeprefix(_USER) for name in self._inputs} - {*result_columns})

    def _tagged(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """Add tags that sentences lack and taggers can give."""
        own = list(sentences)
        for tagger in self._taggers():
            name = tagger.guideline
            lacks = [at for at, each in enumerate(own) if lacking([each], [name])] if name in self._inputs else []
            if lacks:
                bare = [replace(own[at], layers={}) for at in lacks]
                for at, tagged in zip(lacks, tagger.tag(bare), strict=True):
                    own[at] = replace(own[at], layers={**own[at].layers, name: tagged.layers[name]})
        return own

    def _probabilities(self, seen: Sequence[Sentence], parsed: Sequence[Sentence]) -> list[list[float]]:
        """Return for each word the probability of its head."""
        tables = zip(parsed, self._parser.probabilities(seen), strict=True)
        own = (([arc.head or 0 for arc in self._arcs(sentence)], table) for sentence, table in tables)
        return [[round(float(table[head, at]), _DIGITS) for at, head in enumerate(heads, 1)] for heads, table in own]

    def _result(self, document: Tokenised, parsed: Sequence[Sentence], shown: object) -> TextResult:
        heads: list[int | None] = []
        relations: list[str | None] = []
        for sentence in parsed:
            before = len(heads)
            for arc in self._arcs(sentence):
                heads.append(before + arc.head - 1 if arc.head else None)
                relations.append(arc.relation)
        numbers = None if shown is None else [n for each in islice(shown, len(parsed)) for n in each]  # type: ignore[call-overload]
        return result(
            document,
            heads=heads,
            relations=relations if any(relations) else None,
            columns=self._columns(parsed) or None,
            probabilities=numbers,
        )

    def _columns(self, parsed: Sequence[Sentence]) -> dict[str, list[str | None]]:
        """Return the columns that the parser looked at."""
        found = {}
        for name in self._inputs:
            short = name.removeprefix(_USER)
            if name.startswith(_USER):
                rows = [each.columns.get(short, ()) for each in parsed]
                values: list[str | None] = [None if value == "_" else value for row in rows for value in row]
            else:
                layers = [each.layers.get(name, ()) for each in parsed]
                values = [None if candidates is None else candidates[0] for layer in layers for candidates in layer]
            if any(value is not None for value in values):
                found[short] = values
        return found

    def _arcs(self, sentence: Sentence) -> list[Arc]:
        layer = sentence.heads[self._parser.model.guideline]
        return [candidates[0] if candidates else Arc(None, None) for candidates in layer]
