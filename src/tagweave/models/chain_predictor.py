"""The predictor of chain models: applies one to sentences, and adds labels."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus import chunk_schemes
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.documents import in_blocks_of_documents
from tagweave.corpus.files import in_blocks
from tagweave.corpus.sentence import Layer, Sentence
from tagweave.corpus.spans import OUTSIDE
from tagweave.errors import CorpusError
from tagweave.evidence.layers import allowed_sets, rejected_spans
from tagweave.features.encoded import Encoded
from tagweave.harvest.runs import segmentation
from tagweave.kernels import weight_vectors
from tagweave.labels import SPANS
from tagweave.labels.coding import SEGMENTATION, as_layer, letters_in, recode, to_words
from tagweave.labels.sets import LabelSets
from tagweave.labels.space import View
from tagweave.labels.spans import SpanRules, sentence_begins, span_types
from tagweave.models.chain import ChainModel
from tagweave.models.ranking import (
    ProbableSpan,
    RankedLabels,
    chunk_probabilities,
    continuing,
    probable_spans,
    ranked,
    word_probabilities,
)
from tagweave.models.scorer import ChainScoring, calibrated_spans, slope_and_offset
from tagweave.models.word_rows import WordRows
from tagweave.structures.lockstep import Steps

Floats = NDArray[Any]
TaggedSpans = list[tuple[int, int, str, float | None]]
"""Spans of a sentence: the first token, the one after the last, the type, and the probability if it was asked for."""

Scored = tuple[Encoded, ChainScoring | None]
"""Encoded sentences, and their scores if these do not come from the features."""

BLOCK = 2000
"""Sentences tagged at a time."""
_CELLS = 1 << 24  # about so many marginal probabilities are held at a time
_IOB2 = {"O": "O", "B": "B", "S": "B", "I": "I", "E": "I"}
"""The letters of IOB2 for those of BIOES."""
_LENGTH = 32  # tokens of a sentence, about


class ChainPredictor:
    """Labels sentences of the model's tokens under one of its guidelines, by default the first.

    A model of pieces takes characters too, and gives the pieces into which it cuts them (`tokens`). `tag` and
    `complete` also add layers of `others`, projections of the same label sequence. With `in_coding`, labels of spans
    are those of the model's coding, in evidence, too; otherwise those of IOB2.
    """

    def __init__(
        self,
        model: ChainModel,
        threads: int = 1,
        guideline: str | None = None,
        others: Sequence[str] = (),
        in_coding: bool = False,
    ) -> None:
        self.model, self.threads, self._in_coding = model, threads, in_coding
        space = model.space
        self._view = self._spelled(space.views[0] if guideline is None else space.view(guideline))
        self._others = {name: self._spelled(space.view(name)) for name in others}
        self.guideline = self._view.guideline
        self._rows = WordRows.of(model)

    @cached_property
    def guidelines(self) -> tuple[str, ...]:
        """The guidelines of all layers in the output, the tagger's own first."""
        return tuple(dict.fromkeys((self.guideline, *self._others)))

    def layer_in(self, names: Collection[str], guideline: str | None = None) -> str | None:
        """Return the layer with labels of a guideline, by its name or its name in training, if there is one."""
        name = guideline or self.guideline
        return next((layer for layer in (name, *self.model.layers(name)) if layer in names), None)

    def knows(self, candidate: str) -> bool:
        """Return whether a candidate is a label, or a wildcard for some, of one of the model's guidelines."""
        return any(view.knows(candidate) for view in self.model.space.sides)

    def tokens(self, sentences: Sequence[Sentence], layer: str | None = None) -> Sequence[Sentence]:
        """Return the sentences whose tokens the model labels (for one of pieces, pieces), with `layer` as evidence."""
        return self.model.encoder.tokens(sentences, self.threads, layer)

    def tag(self, sentences: Iterable[Sentence], whole_runs: bool = False) -> Iterator[Sentence]:
        """Add the best labels in the layer of the tagger's guideline, in order, block by block.

        With `whole_runs`, no word begins inside a Latin word, a number, a URL or an e-mail address (`harvest.runs`).
        """
        if whole_runs and not self.model.of_characters:
            raise ValueError("found a model of words, expected one of characters for whole runs")
        layer = self.guideline if whole_runs else None
        for batch in self._blocks(sentences, BLOCK):
            block = self.tokens(list(map(self.with_runs, batch)) if whole_runs else batch, layer)
            encoded, labels = self.best(block, layer)
            yield from self.labelled(block, encoded, labels)

    def _blocks(self, sentences: Iterable[Sentence], size: int) -> Iterator[list[Sentence]]:
        """Yield about so many sentences at a time; documents whole if features look at them."""
        return (in_blocks_of_documents if self.model.encoder.of_documents else in_blocks)(sentences, size)

    def parts(self, corpus: Corpus) -> list[tuple[ChainPredictor, Corpus]]:
        """Return the predictors of all chains, here one, with what a corpus says of each."""
        return [(self, corpus)]

    def under_evidence(self, sentences: Sequence[Sentence], layer: str) -> Encoded:
        """Return sentences in the features of the model, with a layer as evidence, and the table of its label sets."""
        encoded, sets = self._encoded(self.tokens(sentences, layer), layer, None)
        assert sets is not None  # noqa: S101 - there is a layer
        return encoded.under(sets.rows)

    def complete(self, corpus: Corpus) -> Corpus:
        """Fill in unknown and ambiguous labels; given labels never change. The result covers all labels.

        The labels are the best sequence that the annotation allows, without rejected spans. If the corpus's
        guideline is a view of the model's labels, they are projected to it, and every layer that is a view counts as
        evidence; else they are labels of the tagger's guideline.
        """
        done: list[Sentence] = []
        views = {view.guideline: view for view in self.model.space.views}
        view = self._spelled(views[corpus.guideline]) if corpus.guideline in views else self._view
        for batch in self._blocks(corpus.sentences, BLOCK):
            block = self.tokens(batch, corpus.guideline)
            encoded, labels = self.best(block, corpus.guideline, corpus.covered)
            done.extend(self.labelled(block, encoded, labels, {corpus.guideline: view, **self._others}))
        everything = (sentence if sentence.covered is None else replace(sentence, covered=None) for sentence in done)
        return replace(corpus, sentences=tuple(everything), covered=None)

    def probabilities(
        self, sentences: Sequence[Sentence], layer: str | None = None, covered: Sequence[str] | None = None
    ) -> list[Floats]:
        """Return [L, labels] per sentence: the marginal probability of every tag, a sum over labels that project to it.

        With `layer`, it is conditioned on it and, if it is a view, on all other layers that are views.
        """
        size = min(BLOCK, max(1, _CELLS // (_LENGTH * len(self.model.space))))
        tables: list[Floats] = []
        for batch in self._blocks(sentences, size):
            block = self.tokens(batch, layer)
            encoded, sets = self._encoded(block, layer, covered)
            gamma, log_z = self.model.marginals(encoded, None if sets is None else sets.masks, self.threads)
            if (impossible := np.flatnonzero(~np.isfinite(log_z))).size:
                raise _contradiction(block[int(impossible[0])])
            table = gamma
            if not self._view.is_identity:
                table = np.zeros((len(gamma), len(self._view.names)), gamma.dtype)
                weight_vectors.gather(gamma, self._view.projection, table)
            if self.model.coding == "IOB1":
                self._begin(table, gamma, encoded, None if sets is None else sets.masks)
            tables.extend(np.split(table, encoded.sentence_ptr[1:-1]))
        return tables

    def log_probabilities(self, sentences: Sequence[Sentence], layer: str) -> list[float]:
        """Return the log probability of what a layer (numbers: likelihoods) says of each sentence; 0: nothing."""
        log_ratios: list[float] = []
        for batch in self._blocks(sentences, max(1, _CELLS // (_LENGTH * len(self.model.space)))):
            encoded, sets = self._encoded(self.tokens(batch, layer), layer, None)
            assert sets is not None  # noqa: S101 - there is a layer
            _, restricted = self.model.marginals(encoded, sets.masks, self.threads)
            _, free = self.model.marginals(encoded, None, self.threads)
            scales = np.add.reduceat(np.append(sets.log_scales[encoded.evidence.sets], 0), encoded.sentence_ptr[:-1])
            log_ratios.extend((restricted - free + np.where(encoded.lengths > 0, scales, 0)).tolist())
        return log_ratios

    def _spelled(self, view: View) -> View:
        """Return the view whose tags are written to the output: of spans in BIOES, labels in IOB2."""
        if self.model.coding != "BIOES" or self._in_coding:
            return view
        spelled = [_IOB2[name[0]] + name[1:] for name in view.names]
        names = tuple(dict.fromkeys(spelled))
        tags = np.array([names.index(name) for name in spelled], np.int32)
        return View(view.guideline, names, tags[view.projection])

    @property
    def labels(self) -> tuple[str, ...]:
        return self._view.names

    def k_best(
        self, sentence: Sentence, k: int, layer: str | None = None, covered: Sequence[str] | None = None
    ) -> list[RankedLabels]:
        """Return the k best tag sequences of a sentence with their probabilities, the most probable first.

        With `layer`, they are those that it allows, conditioned on it. If labels share a tag, probabilities sum over
        the label sequences that project to a tag sequence (`models.ranking`), so the first may differ from `tag`.
        """
        encoded, sets = self._encoded(self.tokens([sentence], layer), layer, covered)
        sequences = ranked(self.model, encoded, sets or LabelSets(self.model.space), self._view, k)
        if not sequences:
            raise _contradiction(sentence)
        if self.model.coding == "IOB1":
            sequences = [replace(sequence, labels=_in_iob2(sentence, sequence.labels)) for sequence in sequences]
        return sequences

    def spans(
        self, sentences: Sequence[Sentence], least: float, layer: str | None = None
    ) -> Iterator[list[ProbableSpan]]:
        """Yield per sentence the chunks with at least this probability, the most probable first (`probable_spans`).

        With `layer`, conditioned on it as in `probabilities`, and without its rejected spans.
        """
        if len(self.model.space.views) > 1:
            raise ValueError("found a model of several guidelines, expected one of one, for the spans that it proposes")
        slope, offset = slope_and_offset(self.model.about)
        raw = float(calibrated_spans(np.array(least), 1 / slope, -offset / slope))
        for batch in self._blocks(sentences, BLOCK):
            encoded, sets = self._encoded(self.tokens(batch, layer), layer, None)
            types = span_types(self.model.space.names)
            for number in range(len(batch)):
                gamma, pairs = self.model.pair_marginals(encoded, number, None if sets is None else sets.masks)
                rejected = {
                    (start, stop, types[kind])
                    for _, start, stop, kind, _ in encoded.evidence.rejected_in(number, number + 1).tolist()
                }
                spans = probable_spans(gamma, pairs, self.model.space.names, raw)
                mapped = calibrated_spans(np.array([span.probability for span in spans]), slope, offset).tolist()
                yield [
                    span._replace(probability=probability)
                    for span, probability in zip(spans, mapped, strict=True)
                    if span[:3] not in rejected
                ]

    def tag_spans(self, sentences: Iterable[Sentence], probable: bool = True) -> Iterator[tuple[Sentence, TaggedSpans]]:
        """Yield sentences as `tag` does, and the spans of their labels, from left to right.

        With `probable`, each span has its probability: that of all label sequences with a span of these tokens and this
        type under the guideline of the tagger.
        """
        for batch in self._blocks(sentences, BLOCK):
            block = self.tokens(batch)
            scored = self._scored(block)
            labels, spans = self.spans_in(scored, probable)
            yield from zip(self.labelled(block, scored[0], labels), spans, strict=True)

    def spans_in(self, scored: Scored, probable: bool = True) -> tuple[NDArray[np.int32], list[TaggedSpans]]:
        """Return the best labels of encoded sentences, int32[N], and the spans of each sentence, as `tag_spans`."""
        rules, (encoded, scoring) = self._span_rules, scored
        ptr = encoded.sentence_ptr
        begins = sentence_begins(ptr)
        counted = np.zeros(encoded.tokens)  # the probability of each span, at its first token

        def visit(tokens: slice, labels: NDArray[np.int32], steps: Steps) -> None:
            spans = rules.spans(labels, begins[tokens.start : tokens.stop + 1])
            bounds = np.flatnonzero(begins[tokens.start : tokens.stop + 1])
            ends = bounds[np.searchsorted(bounds, spans.starts, side="right")]
            counted[tokens.start + spans.starts] = chunk_probabilities(steps, rules, spans, ends)

        if probable:
            labels = self.model.best_and_steps(encoded, visit, self.threads, scoring)
        else:
            labels = self.model.best(encoded, None, self.threads, scoring)
        starts, stops, types = rules.spans(labels, begins)
        numbers: Iterable[float | None] = repeat(None, len(starts))
        if probable:
            numbers = calibrated_spans(counted[starts], *slope_and_offset(self.model.about)).tolist()
        sentence = np.searchsorted(ptr, starts, side="right") - 1
        names = [rules.types[kind] for kind in types.tolist()]
        first = ptr[sentence]
        spans = list(zip((starts - first).tolist(), (stops - first).tolist(), names, numbers, strict=True))
        bounds = np.searchsorted(starts, ptr).tolist()
        return labels, [spans[low:high] for low, high in pairwise(bounds)]

    @cached_property
    def _span_rules(self) -> SpanRules:
        """How labels code spans under the guideline of the tagger."""
        view = self.model.space.view(self.guideline)
        return SpanRules([view.names[tag] for tag in view.projection.tolist()])

    def word_probabilities(
        self, sentences: Sequence[Sentence], words: Sequence[Sentence], layer: str | None = None
    ) -> list[list[float]]:
        """Return the probability of each word, with any tag; `words` are the sentences of characters cut into words."""
        if (segmenter := self.model.encoder.segmenter) is not None:
            name = self.guideline
            tagger = ChainPredictor(segmenter, self.threads)
            return tagger.word_probabilities(letters_in(sentences, layer, name), words, layer and name)
        if any(one is not other for one, other in zip(self.tokens(sentences), sentences, strict=True)):
            raise ValueError("found a model of pieces, expected one of characters for the probabilities of words")
        counts = np.array([len(sentence) for sentence in words], np.int64)
        lengths = np.array([len(form) for sentence in words for form in sentence.forms], np.int64)
        encoded, sets = self._encoded(sentences, layer, None)
        stop = np.cumsum(lengths)
        probabilities = word_probabilities(
            self.model, encoded, stop - lengths, stop, None if sets is None else sets.masks
        )
        return [of_words.tolist() for of_words in np.split(probabilities, np.cumsum(counts)[:-1])]

    def words(self, sentence: Sentence) -> Sentence:
        """Return a labelled sentence of characters as words, with tags in the same layer if the labels have any."""
        layer = sentence.layers.get(self.guideline, (None,) * len(sentence))
        labels = [candidates[0] for candidates in layer if candidates is not None and len(candidates) == 1]
        if len(labels) < len(layer):
            raise CorpusError("a position without one label", "labels of a model", *sentence.location)
        forms, tags = to_words(sentence.forms, labels)
        layers = {self.guideline: as_layer(tags)} if any(tags) else {}
        return Sentence(forms, layers, location=sentence.location)

    def _begin(self, table: Floats, gamma: Floats, encoded: Encoded, masks: NDArray[Any] | None) -> None:
        """Turn a table [n, tags] of IOB1 into IOB2 in place: a token that does not continue a span begins one."""
        names = [self._view.names[tag] for tag in self._view.projection]
        pairs = (self.model.pair_marginals(encoded, number, masks)[1] for number in range(len(encoded)))
        inner = np.concatenate([gamma[:0], *(continuing(pair, names) for pair in pairs)])
        for tag, name in enumerate(self._view.names):
            if name[0] == "I":
                labels = np.flatnonzero(self._view.projection == tag)
                begins = (gamma[:, labels] - inner[:, labels]).sum(axis=1)
                table[:, tag] -= begins
                table[:, self._view.number[f"B{name[1:]}"]] += begins

    def labelled(
        self,
        block: Sequence[Sentence],
        encoded: Encoded,
        labels: NDArray[np.int32],
        views: Mapping[str, View] | None = None,
    ) -> Iterator[Sentence]:
        """Yield the sentences with one layer per view, by default those of the guidelines. Raises as `layers_in`."""
        views = {self.guideline: self._view, **self._others} if views is None else views
        for sentence, layers in zip(block, self.layers_in(block, encoded, labels, views), strict=True):
            yield sentence.with_valid_layers({**sentence.layers, **layers})

    def layers_in(
        self, block: Sequence[Sentence], encoded: Encoded, labels: NDArray[np.int32], views: Mapping[str, View]
    ) -> Iterator[dict[str, Layer]]:
        """Yield for each sentence one layer per view: the projection of the labels to it.

        Raises CorpusError where a label is -1: no sequence is allowed.
        """
        if len(labels) and labels.min() < 0:
            at = int(np.searchsorted(encoded.sentence_ptr, int(np.argmin(labels)), side="right")) - 1
            raise _contradiction(block[at])
        chosen = {}
        for name, view in views.items():
            positions = np.empty(len(view.projection), np.object_)  # what each label puts into the layer
            for label, tag in enumerate(view.projection.tolist()):
                positions[label] = (view.names[tag],)
            chosen[name] = positions[labels].tolist()
        for (low, high), sentence in zip(pairwise(encoded.sentence_ptr.tolist()), block, strict=True):
            layers = {name: tuple(positions[low:high]) for name, positions in chosen.items()}
            if self.model.coding == "IOB1":
                layers = {
                    name: chunk_schemes.recoded(sentence, coded, "IOB2", "IOB1") for name, coded in layers.items()
                }
            yield layers

    def view_of(self, types: Collection[str]) -> View:
        """Return the view of the target in which tags of other types are outside."""
        names = [name if name.partition("-")[2] in types else OUTSIDE for name in self._view.names]
        kept = tuple(dict.fromkeys(names))
        tags = np.array([kept.index(name) for name in names], np.int32)
        return View(self.guideline, kept, tags[self._view.projection])

    def best(
        self,
        block: Sequence[Sentence],
        layer: str | None = None,
        covered: Sequence[str] | None = None,
        scored: Scored | None = None,
    ) -> tuple[Encoded, NDArray[np.int32]]:
        """Return sentences of tokens encoded, perhaps before, and their best labels, int32[N], given a layer."""
        encoded, scoring = scored or self._scored(block)
        masks = None
        if layer is not None:
            encoded, sets = self._under_evidence(encoded, block, layer, covered)
            masks = sets.masks
        return encoded, self.model.best(encoded, masks, self.threads, scoring)

    def _scored(self, block: Sequence[Sentence]) -> Scored:
        """Return encoded sentences, with their scores if these come from rows of words."""
        if self._rows is None or (encoded := self._rows.encoded(block)) is None:
            return self._encoded(block, None, None)[0], None
        return encoded[0], encoded[1][0]

    def _encoded(
        self, block: Sequence[Sentence], layer: str | None, covered: Sequence[str] | None
    ) -> tuple[Encoded, LabelSets | None]:
        encoded = self.model.encoder.encode(block, self.threads)  # with all layers: a guide uses them
        return (encoded, None) if layer is None else self._under_evidence(encoded, block, layer, covered)

    def with_runs(self, sentence: Sentence) -> Sentence:
        """Return characters with what is known of their words: runs (`harvest.runs`) are whole."""
        tags = self.guideline if self.model.task == "segtag" else None  # unknown tags
        segmented = Sentence(sentence.forms, {SEGMENTATION: segmentation(sentence.forms)}, location=sentence.location)
        layer = recode(segmented, self.guideline, self.model.coding, tags).layers[self.guideline]
        views = self.model.space.guidelines
        other_layers = {name: candidates for name, candidates in sentence.layers.items() if name not in views}
        return replace(sentence, layers={**other_layers, self.guideline: layer})

    def _under_evidence(
        self, encoded: Encoded, block: Sequence[Sentence], guideline: str, covered: Sequence[str] | None
    ) -> tuple[Encoded, LabelSets]:
        sets = LabelSets(self.model.space)
        guidelines = self.model.space.guidelines
        names = guidelines if guideline in guidelines else (guideline,)
        if covered is None and not any(_says_something(sentence, names) for sentence in block):
            return encoded, sets
        if guideline not in guidelines:
            block = [_renamed(sentence, guideline, self.guideline) for sentence in block]
            guideline = self.guideline
        if self.model.task == SPANS and not self._in_coding:
            corpus = Corpus(tuple(block), guideline, covered=None if covered is None else tuple(covered))
            for name in guidelines:  # a layer has one scheme in all sentences
                corpus = chunk_schemes.coded(corpus, self.model.coding, name)
            block, covered = corpus.sentences, corpus.covered
        allow = allowed_sets(block, sets, self.model.parameters.scheme, covered)
        rejected = encoded.evidence.rejected
        if self.model.task == SPANS and self.model.coding != "IOB1":
            rejected = rejected_spans(block, self.model.space)
        return encoded.with_evidence(allow, rejected=rejected, rows=sets.rows), sets


def _contradiction(sentence: Sentence) -> CorpusError:
    return CorpusError("labels that exclude one another", "a sequence that they allow", *sentence.location)


def _says_something(sentence: Sentence, layers: Iterable[str]) -> bool:
    """Return whether layers of a sentence exclude any label, or the sentence tells what it covers."""
    return any(map(sentence.is_annotated, layers)) or sentence.covered is not None


def _in_iob2(sentence: Sentence, labels: Sequence[str]) -> tuple[str, ...]:
    coded = chunk_schemes.recoded(sentence, tuple((label,) for label in labels), "IOB2", "IOB1")
    return tuple(candidates[0] for candidates in coded if candidates)


def _renamed(sentence: Sentence, old: str, new: str) -> Sentence:
    """Return the sentence with one layer only: the old one under its new name, unknown everywhere if missing."""
    layer = sentence.layers.get(old, (None,) * len(sentence))
    rejected = sentence.rejected.get(old, ())
    return replace(sentence, layers={new: layer}, rejected={new: rejected})
