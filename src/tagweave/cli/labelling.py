"""A stream of sentences through a model: what the input says is evidence, what it leaves open is filled in.

A model of words (task `tag`) reads sentences in any format with words. A model of characters (`segment`, `segtag`)
reads raw text, KyTea's partial annotation, or words. Blanks in raw text are boundaries of words and no part of any.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice, pairwise
from typing import TYPE_CHECKING, NamedTuple

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.errors import CorpusError
from tagweave.corpus.formats import format_named, format_of_name
from tagweave.corpus.kytea import SEGMENTATION, segmentation_layer
from tagweave.corpus.load import covered_labels, parse_argument, stream
from tagweave.corpus.segmented import BLANKS
from tagweave.corpus.sentence import Layer, Sentence

if TYPE_CHECKING:
    from tagweave.models.tagger import Tagger

_BLOCK = 2000  # sentences at a time: a stream of any length needs the memory of one block
_USUAL = ("upos", "tag")


class Block(NamedTuple):
    """Sentences as they were read, and the same as the model sees them, with what they say in the layer `guideline`."""

    given: list[Sentence]
    evidence: Corpus


@dataclass(frozen=True)
class Labelling:
    """One input and the model that labels it.

    Args:
        tagger: the model.
        argument: `PATH[#LAYER]` of the input; LAYER is the layer that is evidence and is filled in.
        format: of the input; `None`: told by the extension, for words by the first lines, else raw text.
        retag: whether what the layer says is put aside.
    """

    tagger: Tagger
    argument: str
    format: str | None = None
    retag: bool = False

    @property
    def of_characters(self) -> bool:
        """Whether the tokens of the model are characters."""
        return bool(self.tagger.model.coding)

    @cached_property
    def _opened(self) -> tuple[str, Sentence | None, Iterator[Sentence]]:
        """The format, the first sentence, and all sentences."""
        path = parse_argument(self.argument).path
        told = self.format or format_of_name(path) or ("raw" if self.of_characters else None)
        name, sentences = stream(self.argument, told)
        first = next(sentences, None)
        if first and not self.of_characters and format_named(name).unit == "character":
            raise CorpusError(f"{name} text, characters", "words, for a model of words (or their --format)", path)
        return name, first, sentences if first is None else chain([first], sentences)

    @property
    def input_format(self) -> str:
        """The name of the input's format.

        Raises:
            CorpusError, OSError: the input cannot be read, or has characters where the model needs words.
        """
        return self._opened[0]

    @cached_property
    def layer(self) -> str:
        """The layer of the input that is evidence, under the name that it has in the file. Raises as `input_format`."""
        asked = parse_argument(self.argument).layer
        name, first, _ = self._opened
        layers = list(first.layers) if first else []
        if asked is not None:
            if asked not in layers:
                found = f"the layers {', '.join(layers)}" if layers else "no layers"
                raise CorpusError(found, f"a layer {asked!r}", parse_argument(self.argument).path)
            return asked
        if name == "kytea":
            return SEGMENTATION
        usual = [layer for layer in (self.tagger.guideline, *_USUAL) if layer in layers]
        return (usual or layers[-1:] or [self.tagger.guideline])[0]

    @cached_property
    def covered(self) -> tuple[str, ...] | None:
        """The labels that the annotators looked for, as the comments of the first sentence tell."""
        first = self._opened[1]
        return covered_labels([first]) if first else None

    def blocks(self) -> Iterator[Block]:
        """The input, block by block. Raises as `input_format`."""
        sentences = self._opened[2]
        while given := list(islice(sentences, _BLOCK)):
            evidence = self._of_characters(given) if self.of_characters else self._of_words(given)
            yield Block(given, evidence)

    def labelled(self) -> Iterator[tuple[Sentence, Sentence]]:
        """Every sentence as it was read, and with the best labels under its evidence, as the model sees it.

        Raises:
            CorpusError: as `Tagger.complete`.
        """
        for block in self.blocks():
            yield from zip(block.given, self.tagger.complete(block.evidence), strict=True)

    def _of_words(self, given: Sequence[Sentence]) -> Corpus:
        """Evidence under the name of the model's guideline, and no layer of the file that might bear it."""
        sentences = tuple(self._with_evidence(sentence, sentence.layers.get(self.layer)) for sentence in given)
        return Corpus(sentences, self.tagger.guideline, "word", self.covered)

    def _with_evidence(self, sentence: Sentence, layer: Layer | None) -> Sentence:
        unknown = (None,) * len(sentence)
        return replace(sentence, layers={self.tagger.guideline: unknown if self.retag or layer is None else layer})

    def _of_characters(self, given: Sequence[Sentence]) -> Corpus:
        """The sentences in the labels of a model of characters."""
        from tagweave.adapt.task import Task

        layer, unit = self.layer, format_named(self.input_format).unit
        if self.input_format == "raw":
            given, layer = [without_blanks(sentence) for sentence in given], SEGMENTATION
        elif unit == "word":
            given = [s if layer in s.layers else s.with_layer(layer, (None,) * len(s)) for s in given]
        task = Task(self.tagger.model.task, self.tagger.model.coding)
        coded = task.prepare(Corpus(tuple(given), layer, unit))
        retag = self.retag and self.input_format != "raw"
        sentences = (
            replace(s, layers={self.tagger.guideline: (None,) * len(s) if retag else s.layers[layer]}) for s in coded
        )
        return Corpus(tuple(sentences), self.tagger.guideline, "character")


def without_blanks(sentence: Sentence) -> Sentence:
    """A sentence of raw text without its blanks, and the boundaries that they are in the layer `segmentation`."""
    kept = [at for at, form in enumerate(sentence.forms) if form not in BLANKS]
    boundaries = ["|" if after - before > 1 else " " for before, after in pairwise(kept)]
    layer = segmentation_layer(boundaries) if kept else ()
    return Sentence(tuple(sentence.forms[at] for at in kept), {SEGMENTATION: layer}, place=sentence.place)
