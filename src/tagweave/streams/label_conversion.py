"""A stream that converts labelled words to another guideline; the labels of the input are evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tagweave.conversion.labels import convert, review, sources, without_contradictions
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.errors import CorpusError
from tagweave.corpus.load import names_guideline
from tagweave.corpus.sentence import Layer, Sentence
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.streams.conversion import Conversion
from tagweave.streams.errors import StreamError
from tagweave.streams.guidelines import check_guideline, guideline_in, other_side, source_name
from tagweave.streams.output_format import check_can_hold
from tagweave.streams.stream import Block

if TYPE_CHECKING:
    from tagweave.conversion.labels import UncertainToken
    from tagweave.corpus.formats.format import Format
    from tagweave.models.chain import ChainModel
    from tagweave.streams.input import Input


@dataclass(frozen=True, kw_only=True)
class LabelConversion(Conversion):
    """An input and the model of words that converts it.

    Args:
        model: the model.
        to: the guideline to convert to.
        retag: whether to ignore labels that the corpus has under that guideline.
        overruled: how many labels contradicted, under the model, those that the corpus has under that guideline; grows
            as sentences pass.
        fields: the fields of CoNLL-U, other than the usual one, that hold the new labels; filled as sentences pass.
    """

    model: ChainModel
    to: str
    retag: bool = False
    overruled: Counter[str] = field(default_factory=Counter)
    fields: set[str] = field(default_factory=set)

    @cached_property
    def tagger(self) -> ChainPredictor:
        """The model as a tagger of the guideline to convert to."""
        return ChainPredictor(self.model, self.threads, self.to)

    def blocks(self) -> Iterator[Block]:
        """See `Conversion.blocks`."""
        for given in self.input.blocks():
            sentences = tuple(self._evidence(sentence) for sentence in given)
            evidence = Corpus(sentences, self.source, "word", path=self.input.path)
            consistent = without_contradictions(self.model, evidence, self.to)
            self.overruled[self.source] += _known(evidence) - _known(consistent)
            yield Block(given, consistent)

    def notes(self) -> Iterator[str]:
        """Tell how many labels were overruled, and which layer to name when the output is read."""
        for source, count in self.overruled.items():
            if count:
                yield (
                    f"{count:,} labels of {source} do not go together with those that the text has of {self.to}, which"
                    " stay (`retag` puts them aside)"
                )
        for name in self.fields:
            yield f"the labels of {self.to} are the layer {name}: {self.to}=FILE#{name} reads them"

    def convert(self, evidence: Corpus) -> Corpus:
        """As `conversion.labels.convert`."""
        return convert(self.model, evidence, self.to, self.threads, self.soft)

    def least_certain(self, evidence: Corpus, converted: Corpus) -> list[UncertainToken]:
        """As `conversion.labels.review`."""
        return review(self.model, evidence, converted, self.review.size, self.threads)

    def check_format(self, form: Format) -> None:
        """Raise StreamError unless the format can hold the labels, and their probabilities."""
        if form.labels != "word":
            raise StreamError(f"found {form.name} as the format of the output, expected a format of words with labels")
        if self.confidence:
            check_can_hold(form, "`confidence`", lambda each: each.confidence is not None)
        if self.soft:
            check_can_hold(form, "`soft`", lambda each: each.partial)

    def in_format(self, given: Sentence, converted: Sentence, form: Format) -> Sentence:
        """The sentence as read, with the new labels where the format can hold them."""
        if form.names_layers:  # such a comment would name the last layer, now the new one
            given = replace(given, comments=tuple(c for c in given.comments if not names_guideline(c)))
        new = self._new_layer(given, form)
        if self._leads(form):
            own = replace(given, layers={new: converted.layers[self.to]})
            return form.with_labels(own, self._old_layer(form), self._given_labels(given))
        replaced = self.input_layer if self.retag else None
        labels = converted.layers[self.to]
        written = form.with_labels(given, new, labels, replaced)
        if form.holds_several and not form.names_layers:
            self.fields.update(name for name in form.layers[1:] if written.layers.get(name) == labels)
        return written

    def layer(self, form: Format) -> str:
        """The layer that a format writes as the corpus's own: the new one, unless the input has a field of its own."""
        is_new = form.names_layers or not form.holds_several or self._leads(form)
        return self._new_layer(self.input.first, form) if is_new else self.input_layer

    def _new_layer(self, given: Sentence | None, form: Format) -> str:
        """The layer of the new labels: one that the guideline had in training, or one of its name."""
        names = {*(given.layers if given else ()), *form.layers} - {self.input_layer}
        if self._leads(form):
            names = {*form.layers} - {self._old_layer(form)}
        return self.tagger.layer_in(names) or self.to

    def _old_layer(self, form: Format) -> str:
        """The field of the given labels in a format with fixed fields."""
        return self.tagger.layer_in(form.layers, self.source) or self.source

    def _leads(self, form: Format) -> bool:
        """Whether the new labels take the first field of a format with fixed fields, none of which the input has."""
        return form.holds_several and not form.names_layers and self.input_layer not in form.layers

    def words(self, forms: tuple[str, ...], labels: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The words and labels, unchanged."""
        return forms, labels

    @cached_property
    def _relevant(self) -> frozenset[str]:
        """The guidelines whose labels the model uses."""
        known = {*self.model.space.guidelines, *sources(self.model, self.to)}
        return frozenset(known - {self.to} if self.retag else known)

    def _given_labels(self, sentence: Sentence) -> Layer:
        """The labels to convert, unknown where the sentence has none."""
        return sentence.layers.get(self.input_layer, (None,) * len(sentence))

    def _evidence(self, sentence: Sentence) -> Sentence:
        """The layer under the name of its guideline, with the other layers that the model uses."""
        rest = [name for name in sentence.layers if name != self.input_layer]
        found = {name: self.tagger.layer_in(rest, name) for name in self._relevant}
        layers = {name: sentence.layers[layer] for name, layer in found.items() if layer is not None}
        layers[self.source] = self._given_labels(sentence)
        return replace(sentence, layers=layers)


def label_conversion(
    model: ChainModel, name: str, given: Input, to: str | None, **options: Any
) -> tuple[LabelConversion, str]:
    """The conversion of an input by a model, and a note if the guideline of the input is an assumption, otherwise "".

    The default of `to` is the only other side of the model. A layer whose guideline is not named, or is unknown to the
    model, is taken as the only other side. The options are further fields of `LabelConversion`.

    Raises:
        StreamError: a model of characters, or guidelines that do not fit it; `name` is the name of the model.
        CorpusError: an input of characters, or without labels.
    """
    if model.of_characters:
        raise StreamError(f"{name}: found a model of characters, expected a model of words to convert tags with")
    if to is not None:
        check_guideline(model, to, name)
    if given.first and given.of_characters:
        raise CorpusError(f"{given.format.name} text, characters", "words with labels to convert", given.path)
    helpful = sources(model, to) if to else ()
    layer = given.layer(helpful, [each for name in helpful for each in model.layers(name)])
    if given.first and layer not in given.layers:
        raise CorpusError("no labels", "labels to convert (tagweave tag gives labels to text)", given.path)
    guideline = given.guideline or guideline_in(model, layer)
    to = to or other_side(model, guideline, name)
    source, note = source_name(sources(model, to), guideline, to, name, given.guideline is not None)
    return LabelConversion(model=model, input=given, input_layer=layer, source=source, to=to, **options), note


def _known(corpus: Corpus) -> int:
    """The number of known positions of the corpus's own layer."""
    return sum(each is not None for sentence in corpus for each in sentence.layers.get(corpus.guideline, ()))
