"""A stream of sentences on its way to another guideline: what it says under its own is evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from tagweave.cli.errors import OptionError
from tagweave.cli.input import Input
from tagweave.cli.labelling import Block
from tagweave.cli.output_format import check_place
from tagweave.cli.tag import check_guideline
from tagweave.conversion.labels import convert, review, sources, without_contradictions
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.errors import CorpusError
from tagweave.corpus.load import names_guideline
from tagweave.corpus.sentence import Sentence
from tagweave.models.tagger import Tagger

if TYPE_CHECKING:
    from tagweave.conversion.labels import UncertainToken
    from tagweave.corpus.formats.format import Format
    from tagweave.models.chain import ChainModel


@dataclass(frozen=True)
class Conversion:
    """One input and the model that converts it.

    Args:
        model: the model, of words.
        input: the corpus.
        layer: the layer of the corpus that is converted, under the name that it has in the file.
        source: the guideline of this layer, under the name that it has in the model.
        to: the guideline that is asked for.
        threads: how many threads share the work.
        retag: whether what the corpus gives under that guideline is put aside.
        overruled: how many labels were, by those that the corpus has under that guideline, which the model never has
            together with them; it grows as sentences pass.
    """

    model: ChainModel
    input: Input
    layer: str
    source: str
    to: str
    threads: int = 1
    retag: bool = False
    overruled: Counter[str] = field(default_factory=Counter)

    of_characters = False

    @cached_property
    def tagger(self) -> Tagger:
        """The model as a tagger of the guideline that is asked for."""
        return Tagger(self.model, self.threads, self.to)

    def blocks(self) -> Iterator[Block]:
        """The input, block by block, as it was read and as evidence.

        Raises:
            CorpusError, OSError: the input cannot be read.
        """
        for given in self.input.blocks():
            sentences = tuple(self._evidence(sentence) for sentence in given)
            evidence = Corpus(sentences, self.source, "word", self.input.covered, self.input.path)
            heeded = without_contradictions(self.model, evidence, self.to)
            self.overruled[self.source] += _known(evidence) - _known(heeded)
            yield Block(given, heeded)

    def notes(self) -> Iterator[str]:
        """What is to be said when all sentences have passed."""
        for source, count in self.overruled.items():
            if count:
                yield (
                    f"{count:,} labels of {source} do not go together with those that the text has of {self.to}, which"
                    " stay (--retag puts them aside)"
                )

    def convert(self, evidence: Corpus) -> Corpus:
        """As `conversion.labels.convert`."""
        return convert(self.model, evidence, self.to, self.threads)

    def review(self, evidence: Corpus, converted: Corpus, n: int) -> list[UncertainToken]:
        """As `conversion.labels.review`."""
        return review(self.model, evidence, converted, n, self.threads)

    def check_format(self, format: Format, confidence: bool) -> None:  # noqa: A002
        """Nothing, if the format has a place for the labels, and for their probabilities.

        Raises:
            OptionError: it has not.
        """
        if format.labels != "word":
            found = f"found {format.name} as the format of the output"
            raise OptionError(f"{found}, expected a format of words with labels")
        if confidence:
            check_place(format, "--confidence", lambda each: each.confidence is not None)

    def in_format(self, given: Sentence, converted: Sentence, format: Format, confidence: bool) -> Sentence:  # noqa: A002
        """The sentence as it was read, with the new labels where the format has a place for them."""
        if format.names_layers:  # the last one is the new one, which such a comment would name
            given = replace(given, comments=tuple(c for c in given.comments if not names_guideline(c)))
        sentence = format.with_labels(given, self.to, converted.layers[self.to], self.layer if self.retag else None)
        if not confidence or format.confidence is None:
            return sentence
        return format.confidence.written(sentence, converted.confidence or ())

    def written_layer(self, format: Format) -> str:  # noqa: A002
        """The layer that a format writes as the corpus's own: the new one, if it has a name there."""
        return self.to if format.names_layers or not format.holds_several else self.layer

    @cached_property
    def _heeded(self) -> frozenset[str]:
        """The guidelines that the model heeds."""
        known = {*self.model.structure.space.guidelines, *sources(self.model, self.to)}
        return frozenset(known - {self.to} if self.retag else known)

    def _evidence(self, sentence: Sentence) -> Sentence:
        """The layer under the name of its guideline, beside other layers that the model heeds."""
        heeded = self._heeded - {self.layer}
        layers = {name: layer for name, layer in sentence.layers.items() if name in heeded}
        layers[self.source] = sentence.layers.get(self.layer, (None,) * len(sentence))
        return replace(sentence, layers=layers)


def conversion(
    model: ChainModel, name: str, given: Input, to: str | None, threads: int, retag: bool = False
) -> tuple[Conversion, str]:
    """What an input becomes under a model, and a line that says so where it does not go without saying, else "".

    Without `to` it is the one other side of the model. A layer whose guideline nobody names, or whose name the model
    does not know, is taken as the one other side.

    Raises:
        OptionError: a model of characters, or guidelines that do not fit it; `name` is that of the model.
        CorpusError: an input of characters, or without labels.
    """
    if model.coding:
        raise OptionError(f"{name}: found a model of characters, expected a model of words to convert tags with")
    if to is not None:
        check_guideline(model, to, name)
    if given.first and given.of_characters:
        raise CorpusError(f"{given.format.name} text, characters", "words with labels to convert", given.path)
    layer = given.layer(sources(model, to) if to else ())
    if given.first and layer not in given.layers:
        raise CorpusError("no labels", "labels to convert (tagweave tag gives labels to text)", given.path)
    guideline = given.guideline or layer
    to = to or _other_side(model, guideline, name)
    source, said = source_name(sources(model, to), guideline, to, name, given.guideline is not None)
    return Conversion(model, given, layer, source, to, threads, retag), said


def _other_side(model: ChainModel, guideline: str, name: str) -> str:
    others = [view.guideline for view in model.structure.space.sides if view.guideline != guideline]
    if len(others) != 1:
        expected = " or ".join(f"--to {other}" for other in others) or "a model of another guideline, too"
        raise OptionError(f"{name}: found a corpus of the guideline {guideline!r}, expected {expected}")
    return others[0]


def source_name(
    helpful: tuple[str, ...], guideline: str, to: str, name: str, named: bool, what: str = "labels"
) -> tuple[str, str]:
    """The name of a guideline in the model, and what has to be said of it.

    Args:
        helpful: the guidelines that help the model to convert.
        guideline: that of the corpus.
        to: the one that is asked for.
        name: of the model, for messages.
        named: whether somebody named the guideline of the corpus.
        what: is converted.

    Raises:
        OptionError: guidelines that do not fit.
    """
    if guideline == to:
        raise OptionError(f"found a corpus of the guideline {to} and --to {to}, expected two guidelines")
    if guideline in helpful:
        return guideline, ""
    if not helpful:
        return guideline, f"{name} knows the guideline {to} only: the {what} of {guideline!r} do not guide it"
    if named or len(helpful) > 1:
        found = f"found a corpus of the guideline {guideline!r}"
        raise OptionError(f"{found}, expected {_one_of(helpful)}, guidelines of {name} (named GUIDELINE=FILE)")
    return helpful[0], f"the {what} of {guideline!r} are taken as {helpful[0]}"


def _known(corpus: Corpus) -> int:
    """How many positions of the corpus's own layer tell something."""
    return sum(each is not None for sentence in corpus for each in sentence.layers.get(corpus.guideline, ()))


def _one_of(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"one of {', '.join(names)}"
