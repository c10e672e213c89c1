"""Labelled sentences as sentences of an output format: words, or characters with boundaries in KyTea's format."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING

from tagweave.cli.errors import OptionError
from tagweave.cli.input import flushing
from tagweave.cli.output_format import check_place, with_layers
from tagweave.corpus.formats import segmented, tagged
from tagweave.corpus.formats.kytea import SEGMENTATION, TAG
from tagweave.corpus.formats.registry import chosen_format
from tagweave.corpus.sentence import Candidates, Sentence
from tagweave.labels.coding import to_characters

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tagweave.cli.labelling import Labelling
    from tagweave.corpus.formats.format import Format

_COVERED = "labels_covered"


def write(labelling: Labelling, output: str, format: str | None, partial: bool) -> None:  # noqa: A002
    """Label the input and write it, as a whole file or not at all; `-` is standard output.

    Without a format the extension tells it, or it is the input's, where that can hold the labels: else tagged text, of
    words without tags segmented text. Raw text becomes words. KyTea's format comes out only if `partial`.

    Raises:
        OptionError: characters as output of a model of words; several guidelines in a format with one layer.
        CorpusError, OSError: as `Labelling.labelled`, `save`.
    """
    from tagweave.corpus.text_file import written

    form = chosen_format(format, output) or _default_format(labelling, partial)
    if form.unit == "character" and not (form.tells_words and labelling.of_characters):
        raise OptionError(f"found {form.name} as the format of the output, expected a format of words")
    if len(labelling.tagger.guidelines) > 1:
        if labelling.of_characters:
            raise OptionError("found several --to and a model of characters, expected one: words may differ")
        check_place(form, "several --to", lambda each: each.holds_several)
    filled = Filled(labelling, form)
    with written(output) as stream:
        form.write(flushing(filled, stream), stream, filled.layer)


def _default_format(labelling: Labelling, partial: bool) -> Format:
    form = labelling.input_format
    if form.labels == "word" or (form.labels == "character" and partial):
        return form
    return segmented.FORMAT if labelling.tagger.model.task == "segment" else tagged.SLASH


@dataclass(frozen=True)
class Filled:
    """The sentences of an input, filled in, for a format of output."""

    labelling: Labelling
    format: Format

    @property
    def layer(self) -> str:
        """The layer that is the output's own."""
        if self.format.labels == "character":
            return SEGMENTATION
        characters = self.labelling.input_format.unit == "character"
        return self.labelling.tagger.guideline if characters else self.labelling.layer

    def __iter__(self) -> Iterator[Sentence]:
        convert = self._from_characters if self.labelling.of_characters else self._of_words
        for number, (given, labelled) in enumerate(self.labelling.labelled()):
            sentence = convert(given, labelled)
            yield sentence if number else self._without_covered(sentence)

    def _without_covered(self, sentence: Sentence) -> Sentence:
        """Nothing is left open: the comment that says which labels were not looked for is not true any more."""
        if self.labelling.covered is None:
            return sentence
        comments = (each for each in sentence.comments if each.lstrip("# ").partition("=")[0].strip() != _COVERED)
        return replace(sentence, comments=tuple(comments))

    def _of_words(self, given: Sentence, labelled: Sentence) -> Sentence:
        own, *others = self.labelling.tagger.guidelines
        filled = given.with_layer(self.labelling.layer, labelled.layers[own])
        return with_layers(filled, {name: labelled.layers[name] for name in others}, self.format)

    def _from_characters(self, given: Sentence, labelled: Sentence) -> Sentence:
        words = self.labelling.tagger.words(labelled)
        tags = words.layers.get(self.labelling.tagger.guideline)
        if self.format.labels == "character":
            return partial_sentence(words, tags, given)
        if self.labelling.input_format.unit == "character" or self.labelling.retag:
            layers = {} if tags is None or self.format.labels is None else {self.layer: tags}
            return replace(words, layers=layers)
        return given if tags is None else given.with_layer(self.layer, tags)


def partial_sentence(words: Sentence, tags: tuple[Candidates, ...] | None, given: Sentence) -> Sentence:
    """Words as a sentence of KyTea's format, with the model's tags, or those that stand at the ends of given words."""
    characters = to_characters(replace(words, layers={}), SEGMENTATION)
    ends = [end - 1 for end in accumulate(map(len, words.forms))]
    layers = dict(characters.layers)
    if tags is not None:
        layers[TAG] = _spread(tags, words)
    if len(given) == len(characters):  # the input was of characters, too: keep the tags that are not the model's
        for name, layer in given.layers.items():
            if name not in layers and name.startswith(TAG):
                layers[name] = _spread([layer[end] for end in ends], words)
    return replace(characters, layers=layers)


def _spread(tags: tuple[Candidates, ...] | list[Candidates], words: Sentence) -> tuple[Candidates, ...]:
    return tuple(tag for tag, form in zip(tags, words.forms, strict=True) for _ in form)
