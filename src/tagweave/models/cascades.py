"""Models that annotate or cut sentences before a model's templates look at them: guides, pieces.

A guide labels the same tokens by another guideline (the two-stage CRF of Jiang et al. 2009, with which li-2015
compares, sections 1 and 5.2; feature-based stacking in sun-wan-2012, 4.3; Model 1 in jiang-2015, 4.2):

    sentence ── guide of GUIDELINE ──> column guide:GUIDELINE ── templates `user:guide:GUIDELINE[0]` ──> features

Known labels of that guideline replace the guide's, so the model converts a corpus between guidelines (li-2015, 5.4).
The column's name differs from the layer's, since a column file gives every layer a string column of its name, from
which training would take gold labels for features.

Taggers may also cut a text of characters into the tokens that a model labels. In structure stacking (sun-wan-2012,
section 4.4), character taggers of several guidelines cut a text into pieces, which a model labels and thereby joins to
words again. Pieces (sub-words there) are the longest spans without a word boundary of
any tagger. The model sees the text of each piece and, from every tagger, the label of the piece in the tagger's word:

    characters ── a tagger of each GUIDELINE ──> pieces, columns piece:GUIDELINE ── templates ──> features

Known labels of a guideline other than the model's own replace its tagger's (section 5).

Words first, then tags: a single tagger is a segmenter, whose words the model tags:

    characters ── a segmenter ──> words ── templates ──> features of a tagger of words
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Self

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Layer, Sentence
from tagweave.errors import CorpusError
from tagweave.features.columns import LIST_COLUMNS
from tagweave.features.document_columns import with_document_columns
from tagweave.features.encoded import Encoded
from tagweave.features.encoder import GRAMS, INDEX, Encoder, FeatureIndex, TemplateDescription, TemplateEncoder
from tagweave.features.rules import ArrayRule, Arrays, refuse
from tagweave.features.templates import Templates
from tagweave.labels.coding import (
    certain_starts,
    joined,
    label_of,
    letters_in,
    spans,
    starts,
    whole_word,
    whole_words,
)
from tagweave.labels.space import LabelSpace, is_wildcard
from tagweave.labels.spans import are_span_labels
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.packing import nested

MOST_MODELS = 1000  # in one encoder: checking a file must not take long


class CascadeEncoder(Encoder):
    """Templates that may use columns which other models fill; `parts` are these models, by their names in files."""

    def __init__(self, encoder: Encoder, parts: Mapping[str, ChainModel]) -> None:
        self.encoder = encoder
        self.parts = parts
        self.subwords, self.has_values, self.lookups = encoder.subwords, encoder.has_values, encoder.lookups

    @property
    def windows(self) -> NDArray[np.int64]:
        return self.encoder.windows

    @abstractmethod
    def filled(self, sentences: Sequence[Sentence], threads: int = 1) -> Sequence[Sentence]:
        """Return the sentences with the columns that the models inside fill, in the tokens that they cut."""

    def plain(self, sentences: Sequence[Sentence], threads: int = 1) -> tuple[Encoder, Sequence[Sentence]]:
        return self.encoder.plain(self.filled(sentences, threads), threads)

    def encode(self, sentences: Sequence[Sentence], threads: int = 1) -> Encoded:
        """Return the features of sentences, or of characters, which are cut first; without evidence."""
        return self.encoder.encode(self.filled(sentences, threads))

    def freeze(self, encoded: Encoded, minimum_count: int = 1) -> NDArray[np.int64]:
        return self.encoder.freeze(encoded, minimum_count)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of a model file; arrays of a part are named `PART.NAME`."""
        arrays = self.encoder.arrays()
        for name, model in self.parts.items():
            arrays |= nested(model.arrays(), name)
        return arrays

    @classmethod
    def array_rules(cls, arrays: Arrays) -> dict[str, ArrayRule]:
        return TemplateEncoder.array_rules(arrays)


def likely_tags(
    model: ChainModel, sentences: Sequence[Sentence], threshold: float, threads: int = 1
) -> list[tuple[str, ...]]:
    """Return for every token the best tag and all whose marginal reaches the threshold, separated by blanks."""
    tagger = ChainPredictor(model, threads)
    likely = []
    for table in tagger.probabilities(sentences):
        chosen = (table >= threshold) | (table == table.max(axis=1, keepdims=True))
        likely.append(tuple(" ".join(tagger.labels[tag] for tag in np.flatnonzero(row).tolist()) for row in chosen))
    return likely


Models = Annotated[list[dict[str, Any]], Meta(min_length=1, max_length=MOST_MODELS)]


def guidelines_of(models: Sequence[ChainModel]) -> tuple[str, ...]:
    """Return the target guideline of every model."""
    return tuple(model.space.views[0].guideline for model in models)


def guide_column(guideline: str) -> str:
    """Return the column of a guide's labels."""
    return f"guide:{guideline}"


def guide_templates(guideline: str, base: Templates | None = None) -> tuple[str, ...]:
    """Return templates over a guide's labels t', for words and for characters.

    With `base`, the templates of the model: t'[0] alone and joined to each of them (jiang-2015, 4.1 and Table 3) except
    those with list columns, which cannot be joined to others. Without it, a window of labels:

    | template | from |
    |---|---|
    | t'[-1], t'[0], t'[1] | sun-wan-2012, 4.3, label unigrams in a window of 1 |
    | t'[-1] t'[0], t'[0] t'[1] | sun-wan-2012, 4.3, label bigrams |
    | t'[-1] t'[1] | like the bigram of characters around the token: jiang-2015, Table 1 |
    | t'[0] with form[-1], form[0], form[1] | jiang-2015, Table 3, the guiding features of single tokens |
    """
    if base is not None:
        alone = f"user:{guide_column(guideline)}[0]"
        scalar = (
            template for template in base.parsed if not any(term.column in LIST_COLUMNS for term in template.terms)
        )
        return (alone, *(f"{template} {alone}" for template in scalar))
    before, here, after = (f"user:{guide_column(guideline)}[{offset}]" for offset in (-1, 0, 1))
    labels = (before, here, after, f"{before} {here}", f"{here} {after}", f"{before} {after}")
    return (*labels, *(f"form[{offset}] {here}" for offset in (-1, 0, 1)))


class GuidedDescription(TemplateDescription):
    """Templates and a guide."""

    guide: dict[str, Any]


class EncoderWithGuide(CascadeEncoder):
    """Templates over tokens, and over columns that come from the labels of another model, the guide."""

    schema = GuidedDescription
    can_grow = True

    def __init__(self, encoder: Encoder, guide: ChainModel) -> None:
        super().__init__(encoder, {"guide": guide})
        self.guide = guide
        self.guideline = guide.space.views[0].guideline
        self.column = guide_column(self.guideline)

    def growing(self, counts: NDArray[np.int64]) -> Self:
        return type(self)(self.encoder.growing(counts), self.guide)

    def to_json(self) -> dict[str, Any]:
        return {**self.encoder.to_json(), "kind": self.kind, "guide": self.guide.to_json()}

    @classmethod
    def models_in(cls, description: GuidedDescription) -> dict[str, Any]:
        return {"guide": description.guide}

    @classmethod
    def of_parts(cls, description: GuidedDescription, space: LabelSpace, arrays: Arrays, models: Sequence[Any]) -> Self:
        return cls(TemplateEncoder.of_parts(description, space, arrays, ()), *models)


class GuidedEncoder(EncoderWithGuide):
    """Templates over tokens and over the labels that another model gives them.

    A sentence without the column gets it from its own layer of the guide's guideline if every position of the layer has
    one label. If only some have, the guide fills in the others with the best sequence that the layer allows; without
    such a layer, it labels all tokens. The guide sees no other layer, so that the answer cannot leak into its labels.
    """

    kind = "guided"

    def filled(self, sentences: Sequence[Sentence], threads: int = 1) -> list[Sentence]:
        """Return the sentences, each with the column; the guide labels all that need it at once."""
        name = self.guideline
        names = self.guide.space.views[0].number
        labels = [s.columns.get(self.column) or one_label_each(s.layers.get(name), names) for s in sentences]
        unlabelled = tuple(
            replace(sentence, layers={name: sentence.layers.get(name, (None,) * len(sentence))})
            for sentence, column in zip(sentences, labels, strict=True)
            if column is None
        )
        completed = iter(ChainPredictor(self.guide, threads).complete(Corpus(unlabelled, name)))
        return [
            sentence.with_column(self.column, labels_of(next(completed), name) if column is None else column)
            for sentence, column in zip(sentences, labels, strict=True)
        ]


class DocumentEncoder(EncoderWithGuide):
    """Templates over tokens, and over what the rest of their document says, by the labels of a first model.

    The first model sees no annotation, so that no answer can leak into its labels. A sentence with the column of its
    labels keeps them.
    """

    kind = "documents"
    of_documents = True

    def filled(self, sentences: Sequence[Sentence], threads: int = 1) -> list[Sentence]:
        unlabelled = [replace(s, layers={}, rejected={}) for s in sentences if self.column not in s.columns]
        tagger = ChainPredictor(self.guide, threads)
        tagged = iter([labels_of(sentence, tagger.guideline) for sentence in tagger.tag(unlabelled)])
        labels = [s.columns[self.column] if self.column in s.columns else next(tagged) for s in sentences]
        return with_document_columns(sentences, labels)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of a model file; what templates look up is the first model's, and stored with it."""
        shared = self.guide.encoder.arrays()
        return {name: array for name, array in super().arrays().items() if name == INDEX or name not in shared}

    @classmethod
    def array_rules(cls, arrays: Arrays) -> dict[str, ArrayRule]:
        return {INDEX: GRAMS}

    @classmethod
    def of_parts(cls, description: GuidedDescription, space: LabelSpace, arrays: Arrays, models: Sequence[Any]) -> Self:
        first = models[0].encoder
        if not isinstance(first, TemplateEncoder):
            refuse(first.kind, "the encoder of the first model", TemplateEncoder.kind)
        if not are_span_labels(names := models[0].space.views[0].names):
            refuse(names, "the labels of the first model", "labels of spans")
        index = FeatureIndex.of_codes(arrays[INDEX])
        return cls(TemplateEncoder(Templates(tuple(description.templates)), index, first.lookups), *models)


def one_label_each(layer: Layer | None, names: Container[str]) -> tuple[str, ...] | None:
    """Return the labels of a layer with one label everywhere, else None; a wildcard is one only if `names` has it."""
    if layer is None:
        return None
    labels = [candidates[0] for candidates in layer if candidates is not None and len(candidates) == 1]
    if len(labels) < len(layer) or any(is_wildcard(label) and label not in names for label in set(labels)):
        return None
    return tuple(labels)


def labels_of(sentence: Sentence, layer: str) -> tuple[str, ...]:
    """Return the labels of a layer that a model has filled in: one per position."""
    return tuple(candidates[0] for candidates in sentence.layers[layer] if candidates)


def piece_column(guideline: str) -> str:
    """Return the column of a tagger's labels of pieces."""
    return f"piece:{guideline}"


def piece_templates(guideline: str) -> tuple[str, ...]:
    """Return templates over a tagger's labels of pieces, in a window of 1 (sun-wan-2012, 4.4)."""
    before, here, after = (f"user:{piece_column(guideline)}[{offset}]" for offset in (-1, 0, 1))
    return (before, here, after, f"{before} {here}", f"{here} {after}", f"{before} {after}")


class PieceDescription(TemplateDescription):
    """Templates, taggers that cut the text, and the guide of the templates, if they have one."""

    guide: dict[str, Any] | None
    taggers: Models


class PieceEncoder(CascadeEncoder):
    """Templates over pieces, and taggers of characters in one coding that cut them.

    The model of pieces has the guideline of the first tagger. If that is the only one, pieces are its words, which
    respect the boundaries of evidence.
    """

    kind = "pieces"
    schema = PieceDescription

    def __init__(self, encoder: Encoder, taggers: Sequence[ChainModel], others: Sequence[str] = ()) -> None:
        """Make the encoder; `others` are further guidelines of the model, whose words a segmenter does not know."""
        super().__init__(encoder, {f"taggers.{i}": tagger for i, tagger in enumerate(taggers)})
        self.taggers, self.others = tuple(taggers), tuple(others)
        self.segmenter = self.taggers[0] if len(self.taggers) == 1 else None
        self._guides = [GuidedEncoder(encoder, tagger) for tagger in self.taggers]
        self.guidelines = tuple(guide.guideline for guide in self._guides)
        self.columns = tuple(map(piece_column, self.guidelines))
        self.coding = self.taggers[0].coding if self.taggers else ""
        if not self.taggers or len(set(self.guidelines)) < len(self.taggers):
            raise ValueError(f"found taggers of {self.guidelines}, expected one or more, each of its own guideline")
        codings = {tagger.coding for tagger in self.taggers}
        if (
            codings != {self.coding}
            or not all(tagger.of_characters for tagger in self.taggers)
            or any(map(of_pieces, self.taggers))
        ):
            raise ValueError("found taggers of words, of pieces or of several codings, expected of characters and one")

    def tokens(self, sentences: Sequence[Sentence], threads: int = 1, layer: str | None = None) -> list[Sentence]:
        """Cut sentences of characters into pieces with the columns of all taggers; sentences of pieces stay the same.

        A column `guide:GUIDELINE` of a sentence replaces its tagger, and so does a layer of any guideline but the
        first, as in `GuidedEncoder`. `layer` is evidence: pieces are cut where it has a boundary, and into characters
        where it fits no label of the piece; it becomes the only layer of the pieces. If its candidates leave a boundary
        open at one character but tie it to the label of the next, no sequence may be left. A segmenter keeps to the
        boundaries of the layer.
        """
        uncut = [i for i, sentence in enumerate(sentences) if not self.is_cut(sentence)]
        unlabelled = [sentences[i] for i in uncut]
        labels = self._words(unlabelled, threads, layer) if self.segmenter else self.labels(unlabelled, threads)
        pieces = list(sentences)
        for i, sentence_labels in zip(uncut, labels, strict=True):
            pieces[i] = self.cut(sentences[i], sentence_labels, layer)
        return pieces

    def _words(
        self, sentences: Sequence[Sentence], threads: int, layer: str | None
    ) -> list[tuple[tuple[str, ...], ...]]:
        """Return the letters of the words of every sentence, given the boundaries that its evidence leaves possible."""
        if layer in self.others and sentences:
            annotation, expected = f"annotation of {layer}", f"of {self.guidelines[0]}, whose segmenter cuts the text"
            raise CorpusError(annotation, expected, *sentences[0].location)
        name = self.guidelines[0]
        tagger = ChainPredictor(self.taggers[0], threads)
        inputs = letters_in(sentences, layer, name)
        done = tagger.complete(Corpus(tuple(inputs), name, "character")) if layer else tagger.tag(inputs)
        return [(labels_of(sentence, name),) for sentence in done]

    def is_cut(self, sentence: Sentence) -> bool:
        return all(column in sentence.columns for column in self.columns)

    def labels(self, sentences: Sequence[Sentence], threads: int = 1) -> list[tuple[tuple[str, ...], ...]]:
        """Return the labels of the characters of every sentence, one tuple from each tagger."""
        answer = self.guidelines[0]  # the layer that no tagger may see
        inputs = [s.with_layers_of(s.layers.keys() - {answer}) if answer in s.layers else s for s in sentences]
        labels = [[guided.columns[guide.column] for guided in guide.filled(inputs, threads)] for guide in self._guides]
        return list(zip(*labels, strict=True))

    def cut(self, sentence: Sentence, labels: Sequence[Sequence[str]], layer: str | None = None) -> Sentence:
        """Return a sentence of characters in pieces, given the labels of each tagger; `layer` as in `tokens`."""
        begins = [any(flags) for flags in zip(*map(starts, labels), strict=True)]
        if layer is None:
            return self._of_pieces(sentence, list(spans(begins)), labels)
        candidates = sentence.layers.get(layer, (None,) * len(sentence))
        begins = [a or b for a, b in zip(begins, certain_starts(candidates), strict=True)]
        fitting: list[tuple[int, int]] = []
        for start, end in spans(begins):
            fits = joined(candidates[start:end], self.coding) != ()
            fitting += [(start, end)] if fits else [(at, at + 1) for at in range(start, end)]
        pieces = self._of_pieces(sentence, fitting, labels)
        evidence = (joined(candidates[start:end], self.coding) for start, end in fitting)
        return pieces.with_layer(
            layer, (whole_words(piece_labels, self.coding) for piece_labels in evidence) if self.segmenter else evidence
        )

    def cut_for_training(self, sentence: Sentence, labels: Sequence[Sequence[str]], layer: str) -> Sentence:
        """Cut into the pieces that the sentence has without a layer.

        If the layer ends a word inside a piece, no label of the piece is right; all pieces of the words that this piece
        overlaps are then unknown.
        """
        begins = [any(flags) for flags in zip(*map(starts, labels), strict=True)]
        candidates = sentence.layers.get(layer, (None,) * len(sentence))
        pieces = list(spans(begins))
        evidence = _within_words(
            pieces, [joined(candidates[a:b], self.coding) for a, b in pieces], certain_starts(candidates)
        )
        return self._of_pieces(sentence, pieces, labels).with_layer(layer, evidence)

    def _of_pieces(
        self, sentence: Sentence, pieces: Sequence[tuple[int, int]], labels: Sequence[Sequence[str]]
    ) -> Sentence:
        columns = {
            column: tuple(label_of(tuple(tagger_labels[start:end]), self.coding) for start, end in pieces)
            for column, tagger_labels in zip(self.columns, labels, strict=True)
        }
        confidence = sentence.confidence and tuple(min(sentence.confidence[start:end]) for start, end in pieces)
        forms = tuple("".join(sentence.forms[start:end]) for start, end in pieces)
        return replace(
            sentence, forms=forms, layers={}, columns=columns, heads={}, extra_rows=(), confidence=confidence
        )

    def filled(self, sentences: Sequence[Sentence], threads: int = 1) -> list[Sentence]:
        return self.tokens(sentences, threads)

    def to_json(self) -> dict[str, Any]:
        taggers = [tagger.to_json() for tagger in self.taggers]
        return {"guide": None, **self.encoder.to_json(), "kind": self.kind, "taggers": taggers}

    @classmethod
    def models_in(cls, description: PieceDescription) -> dict[str, Any]:
        guide = {} if description.guide is None else {"guide": description.guide}
        return {**guide, **{f"taggers.{i}": tagger for i, tagger in enumerate(description.taggers)}}

    @classmethod
    def of_parts(cls, description: PieceDescription, space: LabelSpace, arrays: Arrays, models: Sequence[Any]) -> Self:
        guide, taggers = (models[:1], models[1:]) if description.guide is not None else ((), models)
        if space.guidelines[:1] != guidelines_of(taggers)[:1]:
            raise ValueError("taggers the first of which is of another guideline than the model of pieces")
        names = space.views[0].names
        if len(taggers) == 1 and any(whole_words((name,), taggers[0].coding) != (name,) for name in names):
            raise ValueError("labels of parts of words, and a segmenter, which cuts whole ones")
        templates = TemplateEncoder.of_parts(description, space, arrays, ())
        encoder = GuidedEncoder(templates, *guide) if guide else templates
        return cls(encoder, taggers, space.guidelines[1:])


def words_first(segmenter: ChainModel, tagger: ChainModel) -> ChainModel:
    """Return a tagger of words as a model of text, which a segmenter of the same guideline cuts into words.

    Its labels name whole words in the segmenter's coding (`S-NN` in BMES).
    """
    space = tagger.space
    coding = segmenter.coding

    def named(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(whole_word(name, coding) for name in names)

    views = tuple(replace(view, names=named(view.names)) for view in space.views)
    parameters: Any = replace(tagger.parameters, space=LabelSpace(named(space.names), views))  # type: ignore[type-var]
    encoder = PieceEncoder(tagger.encoder, [segmenter], space.guidelines[1:])
    return replace(tagger, parameters=parameters, encoder=encoder, task="segtag", coding=coding)


def of_pieces(model: ChainModel) -> bool:
    """Return whether the tokens of a model are pieces."""
    return isinstance(model.encoder, PieceEncoder)


def piece_lengths(sentences: Sequence[Sentence]) -> NDArray[np.int64]:
    """Return int64[N]: the number of characters in every token."""
    return np.array([len(form) for sentence in sentences for form in sentence.forms], np.int64)


def _within_words(pieces: Sequence[tuple[int, int]], evidence: Layer | list[Any], begins: Sequence[bool]) -> Layer:
    """Return the evidence of pieces, unknown in a run of pieces linked by words if it is impossible at one of them."""
    runs: list[list[int]] = []
    for piece, (start, _) in enumerate(pieces):
        if begins[start]:
            runs.append([])
        runs[-1].append(piece)
    labels = list(evidence)
    for run in runs:
        if any(labels[piece] == () for piece in run):
            for piece in run:
                labels[piece] = None
    return tuple(labels)
