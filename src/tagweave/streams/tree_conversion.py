"""A stream that converts trees to another guideline; the trees of the input guide the parser."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tagweave.conversion.trees import convert_trees, review_trees
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.errors import CorpusError
from tagweave.corpus.formats.conllu import HEAD
from tagweave.corpus.load import names_guideline, parse_argument
from tagweave.corpus.sentence import Sentence
from tagweave.streams.conversion import Conversion
from tagweave.streams.errors import StreamError
from tagweave.streams.guidelines import source_name
from tagweave.streams.output_format import check_holds_heads
from tagweave.streams.stream import Block

if TYPE_CHECKING:
    from tagweave.conversion.labels import UncertainToken
    from tagweave.corpus.formats.format import Format
    from tagweave.models.tree import TreeModel
    from tagweave.streams.input import Input


@dataclass(frozen=True, kw_only=True)
class TreeConversion(Conversion):
    """A treebank and the parser that converts it.

    Args:
        model: the parser.
    """

    model: TreeModel

    def blocks(self) -> Iterator[Block]:
        """See `Conversion.blocks`."""
        for given in self.input.blocks():
            sentences = tuple(self._evidence(sentence) for sentence in given)
            yield Block(given, Corpus(sentences, self.source, path=self.input.path))

    def convert(self, evidence: Corpus) -> Corpus:
        """As `convert_trees`."""
        return convert_trees(self.model, evidence, self.threads)

    def least_certain(self, evidence: Corpus, converted: Corpus) -> list[UncertainToken]:
        """As `review_trees`."""
        return review_trees(self.model, evidence, converted, self.review.size, self.threads)

    def check_format(self, form: Format) -> None:
        """Raise StreamError unless the format can hold heads."""
        check_holds_heads(form)

    def in_format(self, given: Sentence, converted: Sentence, form: Format) -> Sentence:
        """The sentence as read, with the new heads and without a comment that names the guideline."""
        comments = tuple(comment for comment in given.comments if not names_guideline(comment))
        return replace(given, heads={HEAD: converted.heads[self.model.guideline]}, comments=comments)

    def layer(self, form: Format) -> str:
        """The layer of heads."""
        return HEAD

    def _evidence(self, sentence: Sentence) -> Sentence:
        heads = sentence.heads.get(self.input_layer, (None,) * len(sentence))
        return replace(sentence, heads={self.source: heads})


def tree_conversion(
    model: TreeModel, name: str, given: Input, to: str | None, **options: Any
) -> tuple[TreeConversion, str]:
    """The conversion of a treebank by a parser, and a note if its guideline is an assumption, or "".

    Heads whose guideline is not named are taken as those of the model's guide. The options are further fields of
    `TreeConversion`.

    Raises:
        StreamError: guidelines that do not fit the model; `name` is the name of the model.
        CorpusError: an input without heads.
    """
    if to not in (None, model.guideline):
        raise StreamError(f"found `to={to}`, expected {model.guideline}, the guideline of {name}")
    layer = parse_argument(given.argument).layer or HEAD
    if given.first and layer not in given.first.heads:
        raise CorpusError("no heads", "trees to convert (tagweave tag gives trees to text)", given.path)
    helpful = () if model.guide is None else (model.guide.guideline,)
    if given.guideline is None and layer == model.guideline and helpful:
        source, note = helpful[0], f"the trees of {given.path} are taken as {helpful[0]}"
    else:
        is_named = given.guideline is not None
        source, note = source_name(helpful, given.guideline or layer, model.guideline, name, is_named, "trees")
    return TreeConversion(model=model, input=given, input_layer=layer, source=source, **options), note
