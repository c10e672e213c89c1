"""Models in turn: a parser sees the tags that taggers wrote, these the words that a segmenter cut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from tagweave.cli.errors import OptionError
from tagweave.cli.filled import Filled
from tagweave.cli.input import Input, ready_blocks
from tagweave.cli.output_format import with_layers
from tagweave.cli.parsing import Parsing, is_parser
from tagweave.cli.printing import say
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats import conllu
from tagweave.corpus.formats.conllu import HEAD
from tagweave.corpus.load import Labels, parse_argument
from tagweave.corpus.sentence import Layer, Sentence

if TYPE_CHECKING:
    from tagweave.cli.labelling import Labelling
    from tagweave.models.tagger import Tagger

_FORMAT = conllu.FORMAT  # what stages leave in sentences has a place there


class Stage(Protocol):
    """A model that fills in something of sentences of words."""

    def filled(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """The sentences, in order, block by block."""
        ...


@dataclass(frozen=True)
class Tagging:
    """A tagger of words as a stage; with `retag`, what the layer of its guideline says is put aside."""

    tagger: Tagger
    retag: bool = False

    def filled(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """The sentences with the tags of the tagger's guideline. Raises CorpusError as `Tagger.complete`."""
        own = self.tagger.guideline
        for block in ready_blocks(sentences):
            evidence = tuple(replace(s, layers={own: self._evidence(s)}) for s in block)
            labelled = self.tagger.complete(Corpus(evidence, own))
            for given, found in zip(block, labelled, strict=True):
                yield with_layers(given, {own: found.layers[own]}, _FORMAT)

    def _evidence(self, sentence: Sentence) -> Layer:
        unknown: Layer = (None,) * len(sentence)
        return unknown if self.retag else sentence.layers.get(self.tagger.guideline, unknown)


def parsed(
    model: str,
    argument: str,
    format: str | None = None,  # noqa: A002
    retag: bool = False,
    threads: int = 1,
    projective: bool = True,
) -> Iterator[Sentence]:
    """The sentences of an input `PATH[#LAYER]` with the trees of a parser; LAYER is the head layer that is evidence.

    No label of words stands in text: it is words between blanks.

    Raises:
        CorpusError, OSError: as `Input.check_words` and `Parser.complete`.
    """
    source = Input(argument, format, Labels(lambda _: False))
    source.check_words()
    if source.note:
        say(source.note)
    given = (sentence for block in source.blocks() for sentence in block)
    layer = parse_argument(argument).layer or HEAD
    return Parsing(model, layer, retag, threads, projective).filled(given)


def tagged(labelling: Labelling) -> Iterator[Sentence]:
    """The sentences that a model of labels makes of its input, with its labels under the name of its guideline.

    Raises:
        CorpusError, OSError: as `Labelling.labelled`.
    """
    own, filled = labelling.tagger.guideline, Filled(labelling, _FORMAT)
    for sentence in filled:
        layers = dict(sentence.layers)
        labels = layers.pop(filled.layer, None)
        words = replace(sentence, layers=layers)
        yield words if labels is None else with_layers(words, {own: labels}, _FORMAT)


def in_turn(
    sentences: Iterator[Sentence], models: Sequence[str], retag: bool, threads: int, projective: bool
) -> Iterator[Sentence]:
    """The sentences, filled in by one model after the other; all of these are opened at once.

    Raises:
        OptionError: a model of characters.
        ModelFileError, FileNotFoundError: as `load_model`.
        CorpusError: as the models, when the place is reached.
    """
    for stage in [_stage(model, retag, threads, projective) for model in models]:
        sentences = stage.filled(sentences)
    return sentences


def _stage(model: str, retag: bool, threads: int, projective: bool) -> Stage:
    from tagweave.models.chain import ChainModel
    from tagweave.models.storage import load_model
    from tagweave.models.tagger import Tagger

    if is_parser(model):
        return Parsing(model, HEAD, retag, threads, projective)
    tagger = Tagger(load_model(model, ChainModel), threads)
    if tagger.model.coding:
        raise OptionError(f"found --then {model}, a model of characters, expected a tagger of words or a parser")
    return Tagging(tagger, retag)
