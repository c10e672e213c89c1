"""A stream of trees on its way to another guideline: those that it has guide the parser."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tagweave.cli.conversion import source_name
from tagweave.cli.errors import OptionError
from tagweave.cli.input import Input
from tagweave.cli.labelling import Block
from tagweave.cli.output_format import check_has_heads
from tagweave.conversion.trees import convert_trees, review_trees
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.errors import CorpusError
from tagweave.corpus.formats.conllu import HEAD
from tagweave.corpus.load import names_guideline, parse_argument
from tagweave.corpus.sentence import Sentence

if TYPE_CHECKING:
    from tagweave.conversion.labels import UncertainToken
    from tagweave.corpus.formats.format import Format
    from tagweave.models.tree import TreeModel


@dataclass(frozen=True)
class TreeConversion:
    """One input and the parser that converts it: `conversion.Conversion`, of trees.

    Args:
        model: the parser.
        input: the treebank.
        layer: its head layer, under the name that it has in the file.
        source: the guideline of this layer, under the name that it has in the model.
        threads: how many threads share the work.
    """

    model: TreeModel
    input: Input
    layer: str
    source: str
    threads: int = 1

    def blocks(self) -> Iterator[Block]:
        """The input, block by block, as it was read and as evidence.

        Raises:
            CorpusError, OSError: the input cannot be read.
        """
        for given in self.input.blocks():
            sentences = tuple(self._evidence(sentence) for sentence in given)
            yield Block(given, Corpus(sentences, self.source, path=self.input.path))

    def notes(self) -> Iterator[str]:
        """What is to be said when all sentences have passed: nothing."""
        return iter(())

    def convert(self, evidence: Corpus) -> Corpus:
        """As `convert_trees`."""
        return convert_trees(self.model, evidence, self.threads)

    def review(self, evidence: Corpus, converted: Corpus, n: int) -> list[UncertainToken]:
        """As `review_trees`."""
        return review_trees(self.model, evidence, converted, n, self.threads)

    def check_format(self, format: Format, confidence: bool) -> None:  # noqa: A002
        """Nothing, if the format has a place for heads. Raises OptionError: it has not."""
        check_has_heads(format)

    def in_format(self, given: Sentence, converted: Sentence, format: Format, confidence: bool) -> Sentence:  # noqa: A002
        """The sentence as it was read, with the new heads; a comment that names the guideline is dropped."""
        comments = tuple(comment for comment in given.comments if not names_guideline(comment))
        sentence = replace(given, heads={HEAD: converted.heads[self.model.guideline]}, comments=comments)
        if not confidence or format.confidence is None:
            return sentence
        return format.confidence.written(sentence, converted.confidence or ())

    def written_layer(self, format: Format) -> str:  # noqa: A002
        """The layer that a format writes."""
        return HEAD

    def _evidence(self, sentence: Sentence) -> Sentence:
        return replace(sentence, heads={self.source: sentence.heads.get(self.layer, (None,) * len(sentence))})


def tree_conversion(
    model: TreeModel, name: str, given: Input, to: str | None, threads: int
) -> tuple[TreeConversion, str]:
    """What a treebank becomes under a parser, and a line that says so where it does not go without saying, else "".

    Heads whose guideline nobody names are taken as those of the model's guide.

    Raises:
        OptionError: guidelines that do not fit the model; `name` is that of the model.
        CorpusError: an input without heads.
    """
    if to not in (None, model.guideline):
        raise OptionError(f"found --to {to}, expected {model.guideline}, the guideline of {name}")
    layer = parse_argument(given.argument).layer or HEAD
    if given.first and layer not in given.first.heads:
        raise CorpusError("no heads", "trees to convert (tagweave tag gives trees to text)", given.path)
    helpful = () if model.guide is None else (model.guide.guideline,)
    if given.guideline is None and layer == model.guideline and helpful:
        source, said = helpful[0], f"the trees of {given.path} are taken as {helpful[0]}"
    else:
        named = given.guideline is not None
        source, said = source_name(helpful, given.guideline or layer, model.guideline, name, named, "trees")
    return TreeConversion(model, given, layer, source, threads), said
