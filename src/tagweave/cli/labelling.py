"""A stream of sentences through a model: what the input says is evidence, what it leaves open is filled in.

A model of words (task `tag`) reads sentences in any format with words. A model of characters (`segment`, `segtag`)
reads raw text, KyTea's partial annotation, or words. Blanks in raw text are boundaries of words and no part of any; no
word begins inside a run of it, that is a Latin word, a number, a URL or an e-mail address.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from tagweave.cli.input import Input
from tagweave.cli.printing import say
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats import raw
from tagweave.corpus.formats.kytea import SEGMENTATION
from tagweave.corpus.formats.registry import chosen_format
from tagweave.corpus.load import Labels, parse_argument
from tagweave.corpus.sentence import Layer, Sentence

if TYPE_CHECKING:
    from tagweave.corpus.formats.format import Format
    from tagweave.models.tagger import Tagger

_MOST = 0.5  # share of words with labels from which text is taken for labelled, where these are put aside


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
        whole_runs: whether runs of raw text are kept whole.
    """

    tagger: Tagger
    argument: str
    format: str | None = None
    retag: bool = False
    whole_runs: bool = True

    @property
    def of_characters(self) -> bool:
        """Whether the tokens of the model are characters."""
        return bool(self.tagger.model.coding)

    @property
    def chosen_format(self) -> Format | None:
        """The format that the input has by option or extension; for a model of characters else raw text.

        Raises:
            CorpusError: there is no such format.
        """
        default = raw.FORMAT if self.of_characters else None
        return chosen_format(self.format, parse_argument(self.argument).path) or default

    @cached_property
    def input(self) -> Input:
        """The input; raw text for a model of characters, where nothing tells another format.

        In text for a model of words what looks like a label is one if the model knows it; where labels are put aside,
        most words must have one, since it is lost then.
        """
        told = self.chosen_format.name if self.chosen_format else None
        if self.of_characters:
            return Input(self.argument, told)
        return Input(self.argument, told, Labels(self.tagger.knows, _MOST) if self.retag else Labels(self.tagger.knows))

    @property
    def input_format(self) -> Format:
        """The format of the input.

        Raises:
            CorpusError, OSError: the input cannot be read, or has characters where the model needs words.
        """
        if not self.of_characters:
            self.input.check_words()
        return self.input.format

    @cached_property
    def layer(self) -> str:
        """The layer of the input that is evidence, under the name that it has in the file.

        Raises:
            CorpusError, OSError: as `input_format`; or the input does not have the layer that is asked for.
        """
        return self.input.layer((self.tagger.guideline,))

    @cached_property
    def covered(self) -> tuple[str, ...] | None:
        """The labels that the annotators looked for, as the comments of the first sentence tell."""
        return self.input.covered

    def blocks(self) -> Iterator[Block]:
        """The input, block by block. Raises as `layer`."""
        _ = self.input_format
        if self.input.note:
            say(self.input.note)
        for given in self.input.blocks():
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
        from tagweave.harvest.runs import without_blanks
        from tagweave.training.task import Task

        layer, form = self.layer, self.input_format
        if not form.tells_words:
            given, layer = [without_blanks(sentence, self.whole_runs) for sentence in given], SEGMENTATION
        elif form.unit == "word":
            given = [s if layer in s.layers else s.with_layer(layer, (None,) * len(s)) for s in given]
        task = Task(self.tagger.model.task, self.tagger.model.coding)
        coded = task.prepare(Corpus(tuple(given), layer, form.unit))
        retag = self.retag and form.tells_words
        sentences = (
            replace(s, layers={self.tagger.guideline: (None,) * len(s) if retag else s.layers[layer]}) for s in coded
        )
        return Corpus(tuple(sentences), self.tagger.guideline, "character")
