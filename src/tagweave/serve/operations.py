"""The operations of models: `tag`, `segment` and `parse`, from items of requests to results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tagweave.corpus.sentence import Arc, Sentence
from tagweave.errors import RequestError
from tagweave.features.arc_templates import lacking, with_columns
from tagweave.front.label_model import CutLines, Tokenised, of_texts
from tagweave.front.taggers import DIGITS, LEAST, in_text, label_probabilities, labelled_spans
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

    def results(self, items: Sequence[Item], probabilities: bool | str = False) -> list[TextResult]:
        """Return the results of items."""
        tagger, documents = self._tagger, in_tokens(items, self._cut)
        given = [sentence for each in documents for sentence in each.sentences]
        labelled = list(tagger.tag(given))
        tables = tagger.probabilities(given) if probabilities else None
        spans = labelled_spans(tagger, labelled, bool(probabilities), tables) if codes_spans(tagger.labels) else None
        shown: list[list[Any]] | None = None
        if tables is not None and probabilities == "all":
            shown = [[_by_label(tagger.labels, row) for row in table] for table in tables]
        elif tables is not None:
            shown = [label_probabilities(tagger, *each) for each in zip(labelled, tables, strict=True)]
        return [
            result(
                document,
                labels=_firsts(each.layers[tagger.guideline] for each in labelled[own]),
                spans=spans and [SpanResult(*astuple(each)) for each in in_text(document, spans[own])],
                probabilities=shown and [number for each in shown[own] for number in each],
            )
            for document, own in _with_sentences(documents)
        ]


def _with_sentences(documents: Iterable[Tokenised]) -> Iterator[tuple[Tokenised, slice]]:
    """Yield each document, and where its sentences are among those of all documents."""
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


class Segmenting:
    """The operation `segment`, or `tag` if words are to be tagged, which needs a slower way."""

    def __init__(self, model: Segmenter, tags: bool = False) -> None:
        self._tags, self._tagger = tags, model.under()
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

        def labelled(lines: Sequence[str]) -> list[tuple[str, ...]]:
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

        results = []
        for document, own in _with_sentences(of_texts(texts, by_words(labelled))):
            labels = _firsts(each.layers.get(self._tagger.guideline, ()) for each in words[own])
            shown = [round(number, DIGITS) for each in numbers[own] for number in each]
            results.append(
                result(document, labels=labels if self._tags else None, probabilities=shown if probabilities else None)
            )
        return results


_USER = "user:"


class Parsing:
    """The operation `parse`: trees of sentences whose tags are given, or found by taggers that are served, too.

    Columns that the parser looks at, and that nobody gave, come from `taggers`; `longest` is in tokens of a sentence.
    """

    name = "parse"

    def __init__(
        self, model: Parser, cut: CutLines, taggers: Callable[[], Iterable[ChainPredictor]], longest: int
    ) -> None:
        self._parser, self._cut, self._longest = TreePredictor(model.trained), cut, longest
        self._inputs, self._taggers = model.trained.inputs, taggers

    def results(self, items: Sequence[Item], probabilities: bool | str = False) -> list[TextResult]:
        """Return the results of items.

        Raises RequestError for a sentence that is too long and for the probabilities of all heads, and CorpusError as
        `TreePredictor.parse`.
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
        arcs = [self._arcs(each) for each in parsed]
        tables = self._parser.probabilities(seen) if probabilities else None
        found = []
        for document, own in _with_sentences(documents):
            heads: list[int | None] = []
            for sentence in arcs[own]:
                before = len(heads)
                heads += [before + arc.head - 1 if arc.head else None for arc in sentence]
            relations = [arc.relation for sentence in arcs[own] for arc in sentence]
            chances = (
                None
                if tables is None
                else [
                    round(float(table[arc.head or 0, at]), DIGITS)
                    for sentence, table in zip(arcs[own], tables[own], strict=True)
                    for at, arc in enumerate(sentence, 1)
                ]
            )
            shown = {"relations": relations if any(relations) else None, "columns": self._columns(parsed[own]) or None}
            found.append(result(document, heads=heads, probabilities=chances, **shown))
        return found

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
