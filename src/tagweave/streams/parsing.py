"""Words of any format through a parser."""

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
    from tagweave.models.parser import Parser


@dataclass(frozen=True)
class ParsingStage:
    """A parser that fills in the heads of sentences.

    Attributes:
        parser: the model.
        name: of the model, for notes.
        layer: the head layer of the sentences that is evidence.
        retag: whether it is put aside.
        tell: takes what the sentences lack.
    """

    parser: Parser
    name: str
    layer: str = HEAD
    retag: bool = False
    tell: Tell = say

    def filled(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """The sentences with their trees in the layer `head`, block by block.

        Of layers and columns that the first block lacks, and the parser looks at, a note tells.

        Raises:
            CorpusError: as `Parser.complete`.
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
        """Heads under the name of the model's guideline, and no layer of the file that might bear that of its guide."""
        unknown: HeadLayer = (None,) * len(sentence)
        heads = unknown if self.retag else sentence.heads.get(self.layer, unknown)
        return replace(sentence, heads={self.parser.model.guideline: heads})


@dataclass(frozen=True)
class Parsing(TreeStream):
    """One input and the parser that fills in its heads.

    Args:
        parser: the model.
        name: of the model, for notes.
        argument: `PATH[#LAYER]` of the input; LAYER is the head layer that is evidence.
        format: of the input; `None`: by its name or its first lines.
        retag: whether the heads of the input are put aside.
        tell: takes what is assumed of the format, and what the input lacks.
    """

    parser: Parser
    name: str
    argument: str
    format: str | None = None
    retag: bool = False
    tell: Tell = say

    @cached_property
    def input(self) -> Input:
        """The input; no label of words stands in text: it is words between blanks."""
        return Input(self.argument, self.format, Labels(lambda _: False))

    def sentences(self, form: Format) -> Iterator[Sentence]:
        """The sentences with their trees.

        Raises:
            CorpusError, OSError: as `Input.check_words` and `Parser.complete`.
        """
        self.input.check_words()
        if self.input.note:
            self.tell(self.input.note)
        given = (sentence for block in self.input.blocks() for sentence in block)
        layer = parse_argument(self.argument).layer or HEAD
        yield from ParsingStage(self.parser, self.name, layer, self.retag, self.tell).filled(given)

    def as_conllu(self) -> Iterator[Sentence]:
        """The sentences as the next model reads them."""
        return self.sentences(conllu.FORMAT)
