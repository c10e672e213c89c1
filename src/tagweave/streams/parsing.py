"""Parses words of any format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from tagweave.corpus.formats import conllu
from tagweave.corpus.formats.conllu import HEAD
from tagweave.corpus.load import Labels, parse_argument
from tagweave.features.given_columns import lacking, with_columns
from tagweave.streams.blocks import ready_blocks
from tagweave.streams.input import Input
from tagweave.streams.notes import Tell, say
from tagweave.streams.tree_stream import TreeStream

if TYPE_CHECKING:
    from tagweave.corpus.formats.format import Format
    from tagweave.corpus.sentence import HeadLayer, Sentence
    from tagweave.models.tree_predictor import TreePredictor


@dataclass(frozen=True)
class ParsingStage:
    """A parser that fills in the heads of sentences.

    Attributes:
        parser: the model.
        name: the name of the model, for notes.
        layer: the head layer of the sentences that is evidence.
        retag: whether to ignore that layer.
        tell: receives notes on missing layers and columns.
    """

    parser: TreePredictor
    name: str
    layer: str = HEAD
    retag: bool = False
    tell: Tell = say

    def filled(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """The sentences with their trees in the layer `head`, in blocks.

        A note names layers and columns that the parser uses and the first block lacks.

        Raises:
            CorpusError: as `TreePredictor.complete`.
        """
        names = self.parser.model.inputs
        for number, block in enumerate(ready_blocks(sentences)):
            missing = [] if number else lacking(block, names)
            if missing:
                self.tell(f"the input has no {', '.join(missing)}, which {self.name} looks at: its trees will be worse")
            complete = [with_columns(self._evidence(sentence), names) for sentence in block]
            for sentence in self.parser.complete(complete):
                yield replace(sentence, heads={HEAD: sentence.heads[self.parser.model.guideline]})

    def _evidence(self, sentence: Sentence) -> Sentence:
        """The sentence with its heads in the layer of the model's guideline, without other head layers, one of which
        might have the name of the guide's."""
        unknown: HeadLayer = (None,) * len(sentence)
        heads = unknown if self.retag else sentence.heads.get(self.layer, unknown)
        return replace(sentence, heads={self.parser.model.guideline: heads})


@dataclass(frozen=True)
class Parsing(TreeStream):
    """An input and the parser that fills in its heads.

    Args:
        parser: the model.
        name: the name of the model, for notes.
        argument: `PATH[#LAYER]` of the input; LAYER is the head layer that is evidence.
        format: the format of the input; `None`: recognised by its name or its first lines.
        retag: whether to ignore the heads of the input.
        tell: receives notes on the assumed format, and on missing layers and columns.
    """

    parser: TreePredictor
    name: str
    argument: str
    format: str | None = None
    retag: bool = False
    tell: Tell = say

    @cached_property
    def input(self) -> Input:
        """The input; in text, everything between blanks is a word without a label."""
        return Input(self.argument, self.format, Labels(lambda _: False))

    def sentences(self, form: Format) -> Iterator[Sentence]:
        """The sentences with their trees.

        Raises:
            CorpusError, OSError: as `Input.check_words` and `TreePredictor.complete`.
        """
        self.input.check_words()
        if self.input.note:
            self.tell(self.input.note)
        given = (sentence for block in self.input.blocks() for sentence in block)
        layer = parse_argument(self.argument).layer or HEAD
        yield from ParsingStage(self.parser, self.name, layer, self.retag, self.tell).filled(given)

    def as_conllu(self) -> Iterator[Sentence]:
        """The sentences as input of the next model."""
        return self.sentences(conllu.FORMAT)
