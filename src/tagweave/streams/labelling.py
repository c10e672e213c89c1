"""Labels words of any format by a model: known labels are evidence, unknown ones are filled in."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from tagweave.corpus.candidates import format_candidates, with_probabilities
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats import chosen_format, columns, conllu, tagged
from tagweave.corpus.formats.format import ModelLabels
from tagweave.corpus.load import COVERED, key_and_value, parse_argument
from tagweave.corpus.sentence import Layer, Sentence
from tagweave.errors import StreamError
from tagweave.labels.coding import to_words
from tagweave.streams import Tell, say
from tagweave.streams.inputs import Input, blocks_of
from tagweave.streams.stream import Block, Stream, check_can_hold, with_layers

if TYPE_CHECKING:
    from tagweave.corpus.formats.format import Format
    from tagweave.exchange.tokenization import Tokenization
    from tagweave.exchange.tokens import Tokenizer
    from tagweave.models.chain import ChainModel
    from tagweave.models.chain_predictor import ChainPredictor
    from tagweave.models.selective import Selection


def check_guideline(model: ChainModel, guideline: str, name: str) -> None:
    """Raise StreamError unless the model, called `name`, knows the guideline."""
    names = model.space.guidelines
    if guideline not in names:
        expected = f"{names[0]}, the guideline" if len(names) == 1 else f"one of {', '.join(names)}, the guidelines"
        raise StreamError(f"found `to={guideline}`, expected {expected} of {name}")


@dataclass(frozen=True)
class Labelling(Stream):
    """An input and the model that labels it."""

    tagger: ChainPredictor
    argument: str  # `PATH[#LAYER]` of the input; LAYER is evidence and is filled in
    format: str | None = None  # the format of the input; `None`: recognised by its name or its first lines
    retag: bool = False  # whether to ignore the labels of the layer
    completes: bool = False  # whether the output is the completed annotation of the input, also in KyTea's format
    tell: Tell = say  # receives notes on the assumed format
    selected: Selection | None = None  # what is written; by default the best labels

    @property
    def chosen_format(self) -> Format | None:
        """The format of the input by option or name."""
        return chosen_format(self.format, parse_argument(self.argument).path)

    @property
    @abstractmethod
    def input(self) -> Input: ...

    @property
    def input_format(self) -> Format:
        """The format of the input. Raises CorpusError if it has characters where the model needs words."""
        return self.input.format

    @cached_property
    def input_layer(self) -> str:
        """The layer of the input that is evidence, by its name in the file."""
        return self.input.layer((self.tagger.guideline,), self.tagger.model.layers(self.tagger.guideline))

    @property
    def has_labels(self) -> bool:
        """Whether the model labels tokens, and does not only cut text into words."""
        return True

    def blocks(self) -> Iterator[Block]:
        _ = self.input_format
        guideline = self.tagger.guideline
        layer = self.input_layer
        lacking = (
            self.input.lacking(layer, (guideline, *self.tagger.model.layers(guideline))) if self.has_labels else ""
        )
        for note in filter(None, (self.input.note, lacking)):
            self.tell(note)
        for number, originals in enumerate(self.input.blocks(self.tagger.model.encoder.of_documents)):
            if not number and (note := self.input.note_on_tokens(originals)):
                self.tell(note)
            yield Block(originals, self.evidence(originals))

    def labelled(self) -> Iterator[tuple[Sentence, Sentence]]:
        """Yield every sentence as read, and in the model's tokens with the best labels under its evidence."""
        for block in self.blocks():
            labelled: Iterable[Sentence]
            if self.selected is None:
                labelled = self.tagger.complete(block.evidence)
            else:
                labelled = (sentence for sentence, _ in self.selected.labelled(self.tagger, block.evidence))
            yield from zip(block.originals, labelled, strict=True)

    @abstractmethod
    def evidence(self, originals: Sequence[Sentence]) -> Corpus:
        """Return sentences of the input in tokens of the model, with their labels in the layer of its guideline."""

    @abstractmethod
    def filled(self, original: Sentence, labelled: Sentence, form: Format) -> Sentence:
        """Return a sentence of the input with its labels, in the form that the format holds."""

    def check_format(self, form: Format) -> None:
        """Raise StreamError unless the format can hold several guidelines, if there are several."""
        if len(self.tagger.guidelines) > 1:
            check_can_hold(form, "several `to`", lambda candidate_format: candidate_format.holds_several)

    def sentences(self, form: Format) -> Iterator[Sentence]:
        """Yield the sentences, filled in, without what they say of covered labels: their annotation is complete."""
        for number, (original, labelled) in enumerate(self.labelled(), 1):
            sentence = self.input.with_text(self.filled(original, labelled, form), original, form, number)
            if sentence.covered is not None or sentence.comments:
                comments = (comment for comment in sentence.comments if key_and_value(comment)[0] != COVERED)
                sentence = replace(sentence, comments=tuple(comments), covered=None)
            yield sentence

    def as_conllu(self) -> Iterator[Sentence]:
        """Yield the sentences as input of the next model, with labels in a field of CoNLL-U."""
        guideline = self.tagger.guideline
        layer = self.layer(conllu.FORMAT)
        for sentence in self.sentences(conllu.FORMAT):
            if layer in conllu.FORMAT.layers:
                yield sentence
                continue
            layers = dict(sentence.layers)
            labels = layers.pop(layer, None)
            words = replace(sentence, layers=layers)
            yield words if labels is None else with_layers(words, {guideline: labels}, conllu.FORMAT)


_MOST = 0.5  # share of words with labels from which text counts as labelled, if labels are ignored


@dataclass(frozen=True)
class WordLabelling(Labelling):
    """A `Labelling` of words by a model of words.

    `tokens` cuts raw text into words; without it, text that was not cut before is cut by `tokenization`.
    """

    tokens: Tokenizer | None = None
    tokenization: Tokenization | None = None

    @cached_property
    def input(self) -> Input:
        """The input.

        In text, what looks like a label is one if the model knows it. If labels are ignored, and so lost, most words
        must have one.
        """
        name = self.chosen_format.name if self.chosen_format else None
        labels = ModelLabels(self.tagger.knows, _MOST) if self.retag else ModelLabels(self.tagger.knows)
        return Input(self.argument, name, labels, self.tokens, self.tokenization)

    @property
    def input_format(self) -> Format:
        """The format of the input, which has words."""
        self.input.check_words()
        return self.input.format

    def evidence(self, originals: Sequence[Sentence]) -> Corpus:
        evidence = []
        guideline = self.tagger.guideline
        is_as_read = self.input_layer == guideline and len(self.tagger.guidelines) == 1 and not self.retag
        as_read = {guideline} if is_as_read else set()
        for sentence in originals:
            if as_read.issuperset(sentence.layers) and as_read.issuperset(sentence.rejected):
                evidence.append(sentence)
                continue
            unknown: Layer = (None,) * len(sentence)
            if self.retag:
                bare = replace(sentence, rejected={}) if sentence.rejected else sentence
                evidence.append(bare.with_valid_layers({guideline: unknown}))
                continue
            there = {guideline: self.input_layer, **self._other_layers(sentence)}
            layers = {name: sentence.layers.get(layer, unknown) for name, layer in there.items()}
            rejected = {name: sentence.rejected.get(layer, ()) for name, layer in there.items()}
            bare = replace(sentence, rejected=rejected) if sentence.rejected else sentence
            evidence.append(bare.with_valid_layers(layers))
        return Corpus(tuple(evidence), guideline, "word")

    def _other_layers(self, sentence: Sentence) -> dict[str, str]:
        """Return the layers of a sentence in which further guidelines are read and written."""
        rest = [name for name in sentence.layers if name != self.input_layer]
        layer_names = {name: self.tagger.layer_in(rest, name) for name in self.tagger.guidelines[1:]}
        return {name: layer for name, layer in layer_names.items() if layer is not None}

    @property
    def default_format(self) -> Format:
        """The format of the input if it can hold the labels, otherwise tagged text, or columns of several layers."""
        form = self.input_format
        if len(self.tagger.guidelines) > 1:
            return form if form.labels == "word" and form.holds_several else columns.FORMAT
        return form if form.labels == "word" else tagged.SLASH

    def check_format(self, form: Format) -> None:
        if form.unit == "character":
            raise StreamError(f"found {form.name} as the format of the output, expected a format of words")
        super().check_format(form)

    def layer(self, form: Format) -> str:
        """Return the layer that is filled in; of an input that does not name its layer, the one of the model."""
        layer = None if self.input.layers and self.input_format.holds_several else self.tagger.layer_in(form.layers)
        return layer or self.input_layer

    @cached_property
    def _layers_in(self) -> dict[str, str]:
        """The layer that is filled in, by format."""
        return {}

    def filled(self, original: Sentence, labelled: Sentence, form: Format) -> Sentence:
        guideline, *other_guidelines = self.tagger.guidelines
        layer = self._layers_in.get(form.name) or self._layers_in.setdefault(form.name, self.layer(form))
        if layer == guideline and not (original.layers.keys() - {guideline} or original.rejected or other_guidelines):
            return labelled
        there = self._other_layers(original) if other_guidelines else {}
        if layer != self.input_layer:
            original = original.with_layers_of({*original.layers} - {self.input_layer})
        filled = original.with_valid_layers({**original.layers, layer: labelled.layers[guideline]})
        return with_layers(filled, {there.get(name, name): labelled.layers[name] for name in other_guidelines}, form)


def fill_in_tags(sentences: Iterable[Sentence], tagger: ChainPredictor, retag: bool = False) -> Iterator[Sentence]:
    """Yield sentences with the tags of the tagger's guideline; with `retag`, the layer of that guideline is ignored."""
    guideline = tagger.guideline
    for block in blocks_of(sentences, tagger.model.encoder.of_documents):
        evidence = []
        for sentence in block:
            layer = None if retag else tagger.layer_in(sentence.layers)
            tags: Layer = (None,) * len(sentence) if layer is None else sentence.layers[layer]
            evidence.append(replace(sentence, layers={guideline: tags}))
        labelled = tagger.complete(Corpus(tuple(evidence), guideline))
        for original, sentence in zip(block, labelled, strict=True):
            layer = tagger.layer_in((*original.layers, *conllu.FORMAT.layers)) or guideline
            yield with_layers(original, {layer: sentence.layers[guideline]}, conllu.FORMAT)


def probability_rows(labelling: Labelling) -> Iterator[str]:
    """Yield a row per token with its labels and probabilities, the best sequence's label first; "" ends a sentence."""
    tagger = labelling.tagger
    for block in labelling.blocks():
        labelled = tagger.complete(block.evidence)
        tables = tagger.probabilities(block.evidence.sentences, tagger.guideline, block.evidence.covered)
        for sentence, table in zip(labelled, tables, strict=True):
            for form, candidates, row in zip(sentence.forms, sentence.layers[tagger.guideline], table, strict=True):
                soft = with_probabilities(tagger.labels, row.tolist(), (candidates or ("",))[0])
                yield f"{form}\t{format_candidates(soft)}"
            yield ""


def best_lines(blocks: Iterable[Block], tagger: ChainPredictor, k: int) -> Iterator[str]:
    """Yield the k best sequences of every sentence under its evidence, with their probabilities, in JSON."""
    number = 0
    for block in blocks:
        for sentence in tagger.tokens(block.evidence.sentences, tagger.guideline):
            number += 1
            for rank, ranked in enumerate(tagger.k_best(sentence, k, tagger.guideline, block.evidence.covered), 1):
                forms, labels = sentence.forms, ranked.labels
                if tagger.model.of_characters:
                    forms, labels = to_words(forms, labels)
                line = {"sentence": number, "rank": rank, "probability": ranked.probability, "tokens": list(forms)}
                yield json.dumps({**line, **({"labels": list(labels)} if any(labels) else {})}, ensure_ascii=False)
