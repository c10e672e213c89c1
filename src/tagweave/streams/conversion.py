"""Converts labelled words to another guideline, with the labels of the input as evidence; probabilities as lines."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from heapq import nsmallest
from typing import TYPE_CHECKING, Any

from tagweave.conversion import convert, review, sources, without_contradictions
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats import tagged
from tagweave.corpus.load import names_guideline
from tagweave.corpus.sentence import Layer, Sentence
from tagweave.errors import CorpusError, StreamError
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.streams.labelling import check_guideline
from tagweave.streams.stream import Block, Stream, check_can_hold

if TYPE_CHECKING:
    from tagweave.conversion import UncertainToken
    from tagweave.corpus.formats.format import Format
    from tagweave.models.chain import ChainModel
    from tagweave.streams.inputs import Input


def source_name(
    helpful: tuple[str, ...], guideline: str, to: str, name: str, is_named: bool, what: str = "labels"
) -> tuple[str, str]:
    """Return the name of a corpus's guideline in the model, and a note if that is an assumption, otherwise "".

    `helpful` are the guidelines whose annotation helps the model called `name` to convert to `to`; `is_named` tells
    whether the user or the file named the corpus's own. Raises StreamError for guidelines that do not fit.
    """
    if guideline == to:
        raise StreamError(f"found a corpus of the guideline {to} and `to={to}`, expected two guidelines")
    if guideline in helpful:
        return guideline, ""
    if not helpful:
        return guideline, f"{name} knows the guideline {to} only: the {what} of {guideline!r} do not guide it"
    if is_named or len(helpful) > 1:
        expected = helpful[0] if len(helpful) == 1 else f"one of {', '.join(helpful)}"
        problem = f"found a corpus of the guideline {guideline!r}"
        raise StreamError(f"{problem}, expected {expected}, guidelines of {name} (named GUIDELINE=FILE)")
    return helpful[0], f"the {what} of {guideline!r} are taken as {helpful[0]}"


_COLUMNS = ("probability", "word", "given", "chosen", "others", "context", "place", "token")


@dataclass
class ReviewList:
    """The least certain tokens of the sentences that have passed, the least certain first."""

    size: int = 0  # the maximum number of tokens
    tokens: list[UncertainToken] = field(default_factory=list)

    def add(self, tokens: Iterable[UncertainToken]) -> None:
        self.tokens = nsmallest(self.size, [*self.tokens, *tokens], key=lambda token: token.probability)

    def lines(self) -> Iterator[str]:
        yield "\t".join(_COLUMNS)
        for token in self.tokens:
            alternatives = " ".join(f"{tag} {probability:.4f}" for tag, probability in token.alternatives)
            context = token.context
            labels = "|".join(token.given or ("_",))
            texts = (
                context.word,
                labels,
                token.chosen,
                alternatives,
                str(context),
                context.source,
                str(context.position),
            )
            yield "\t".join((f"{token.probability:.4f}", *texts))


@dataclass(frozen=True, kw_only=True)
class Conversion(Stream):
    """An input and the model that converts it."""

    input: Input
    input_layer: str  # to convert, by its name in the file
    source: str  # the guideline of this layer, by its name in the model
    threads: int = 1
    confidence: bool = False  # write the probability of every label
    soft: bool = False  # write all labels with their probabilities
    review: ReviewList = field(default_factory=ReviewList)  # collects the least certain tokens as sentences pass

    @abstractmethod
    def blocks(self) -> Iterator[Block]: ...

    @abstractmethod
    def convert(self, evidence: Corpus) -> Corpus:
        """Return a block under the other guideline, with the confidence of every token."""

    @abstractmethod
    def least_certain(self, evidence: Corpus, converted: Corpus) -> list[UncertainToken]:
        """Return the least certain tokens of a block, at most as many as the review lists."""

    @abstractmethod
    def in_format(self, original: Sentence, converted: Sentence, form: Format) -> Sentence:
        """Return the sentence as read with its converted annotation, in the form that the format holds."""

    def notes(self) -> Iterator[str]:
        """Yield notes after all sentences have passed."""
        return iter(())

    @property
    def default_format(self) -> Format:
        """The format of the input; tagged text for an empty input, which looks like raw text."""
        return self.input.format if self.input.first else tagged.SLASH

    def sentences(self, form: Format) -> Iterator[Sentence]:
        for block in self.blocks():
            converted = self.convert(block.evidence)
            if self.review.size:
                self.review.add(self.least_certain(block.evidence, converted))
            for original, sentence in zip(block.originals, converted, strict=True):
                written = self.in_format(original, sentence, form)
                if self.confidence and form.confidence is not None:
                    written = form.confidence.written(written, sentence.confidence or ())
                yield written


@dataclass(frozen=True, kw_only=True)
class LabelConversion(Conversion):
    """An input and the model of words that converts it.

    As sentences pass, `overruled` counts labels that contradict, under the model, those that the corpus has under `to`,
    and `fields` gets the fields of CoNLL-U, other than the usual one, that hold the new labels.
    """

    model: ChainModel
    to: str
    retag: bool = False  # ignore labels that the corpus has under that guideline
    overruled: Counter[str] = field(default_factory=Counter)
    fields: set[str] = field(default_factory=set)

    @cached_property
    def tagger(self) -> ChainPredictor:
        return ChainPredictor(self.model, self.threads, self.to)

    def blocks(self) -> Iterator[Block]:
        used = {*self.model.space.guidelines, *sources(self.model, self.to)} - ({self.to} if self.retag else set())
        for originals in self.input.blocks():
            sentences = tuple(self._evidence(sentence, used) for sentence in originals)
            evidence = Corpus(sentences, self.source, "word", path=self.input.path)
            consistent = without_contradictions(self.model, evidence, self.to)
            self.overruled[self.source] += _count_known(evidence) - _count_known(consistent)
            yield Block(originals, consistent)

    def _evidence(self, sentence: Sentence, used: set[str]) -> Sentence:
        """Return a sentence with the layer to convert, and the others that the model uses, by guideline."""
        rest = [name for name in sentence.layers if name != self.input_layer]
        layer_names = {name: self.tagger.layer_in(rest, name) for name in used}
        layers = {name: sentence.layers[layer] for name, layer in layer_names.items() if layer is not None}
        return replace(sentence, layers={**layers, self.source: self._given_labels(sentence)})

    def _given_labels(self, sentence: Sentence) -> Layer:
        return sentence.layers.get(self.input_layer, (None,) * len(sentence))

    def notes(self) -> Iterator[str]:
        for source, count in self.overruled.items():
            if count:
                yield (
                    f"{count:,} labels of {source} do not go together with those that the text has of {self.to}, which"
                    " stay (`retag` puts them aside)"
                )
        for name in self.fields:
            yield f"the labels of {self.to} are the layer {name}: {self.to}=FILE#{name} reads them"

    def convert(self, evidence: Corpus) -> Corpus:
        return convert(self.model, evidence, self.to, self.threads, self.soft)

    def least_certain(self, evidence: Corpus, converted: Corpus) -> list[UncertainToken]:
        return review(self.model, evidence, converted, self.review.size, self.threads)

    def check_format(self, form: Format) -> None:
        if form.labels != "word":
            raise StreamError(f"found {form.name} as the format of the output, expected a format of words with labels")
        if self.confidence:
            check_can_hold(form, "`confidence`", lambda candidate_format: candidate_format.confidence is not None)
        if self.soft:
            check_can_hold(form, "`soft`", lambda candidate_format: candidate_format.partial)

    def in_format(self, original: Sentence, converted: Sentence, form: Format) -> Sentence:
        if form.names_layers:  # such a comment would name the last layer, now the new one
            original = replace(original, comments=tuple(c for c in original.comments if not names_guideline(c)))
        new = self._new_layer(original, form)
        labels = converted.layers[self.to]
        if self._leads(form):
            return form.with_labels(
                replace(original, layers={new: labels}), self._old_layer(form), self._given_labels(original)
            )
        written = form.with_labels(original, new, labels, self.input_layer if self.retag else None)
        if form.holds_several and not form.names_layers:
            self.fields.update(name for name in form.layers[1:] if written.layers.get(name) == labels)
        return written

    def layer(self, form: Format) -> str:
        """Return the layer that is the corpus's own: the new one, unless the input has a field for its labels."""
        is_new = form.names_layers or not form.holds_several or self._leads(form)
        return self._new_layer(self.input.first, form) if is_new else self.input_layer

    def _new_layer(self, original: Sentence | None, form: Format) -> str:
        """Return the layer of the new labels: one that the guideline had in training, or one of its name."""
        names = {*(original.layers if original else ()), *form.layers} - {self.input_layer}
        if self._leads(form):
            names = {*form.layers} - {self._old_layer(form)}
        return self.tagger.layer_in(names) or self.to

    def _old_layer(self, form: Format) -> str:
        """Return the field of the given labels in a format with fixed fields."""
        return self.tagger.layer_in(form.layers, self.source) or self.source

    def _leads(self, form: Format) -> bool:
        """Return whether new labels take the first field of a format with fixed fields; the input has none of them."""
        return form.holds_several and not form.names_layers and self.input_layer not in form.layers


def _count_known(corpus: Corpus) -> int:
    return sum(
        candidates is not None for sentence in corpus for candidates in sentence.layers.get(corpus.guideline, ())
    )


def label_conversion(
    model: ChainModel, name: str, source_input: Input, to: str | None, **options: Any
) -> tuple[LabelConversion, str]:
    """Return the conversion of an input by a model, and a note if the guideline of the input is an assumption, or "".

    The default of `to` is the only other side of the model. A layer whose guideline is not named, or is unknown to the
    model, is taken as the only other side. The options are further fields of `LabelConversion`. Raises StreamError for
    a model of characters or guidelines that do not fit it, CorpusError for an input of characters or without labels.
    """
    if model.of_characters:
        raise StreamError(f"{name}: found a model of characters, expected a model of words to convert tags with")
    if to is not None:
        check_guideline(model, to, name)
    if source_input.first and source_input.of_characters:
        raise CorpusError(
            f"{source_input.format.name} text, characters", "words with labels to convert", source_input.path
        )
    helpful = sources(model, to) if to else ()
    layer = source_input.layer(helpful, [layer_name for name in helpful for layer_name in model.layers(name)])
    if source_input.first and layer not in source_input.layers:
        raise CorpusError("no labels", "labels to convert (tagweave tag gives labels to text)", source_input.path)
    guidelines = model.space.guidelines
    trained = [name for name in guidelines if layer in model.layers(name)]
    guideline = source_input.guideline or (layer if layer in guidelines or len(trained) != 1 else trained[0])
    if to is None:
        other_sides = [view.guideline for view in model.space.sides if view.guideline != guideline]
        if len(other_sides) != 1:
            expected = " or ".join(f"`to={other}`" for other in other_sides) or "a model of another guideline, too"
            raise StreamError(f"{name}: found a corpus of the guideline {guideline!r}, expected {expected}")
        to = other_sides[0]
    source, note = source_name(sources(model, to), guideline, to, name, source_input.guideline is not None)
    return LabelConversion(model=model, input=source_input, input_layer=layer, source=source, to=to, **options), note
