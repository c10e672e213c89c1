"""Parses words of any format, and converts trees to another guideline, guided by the trees of the input."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import tee
from typing import TYPE_CHECKING, Any

from tagweave.conversion import convert_trees, review_trees
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats import conllu
from tagweave.corpus.formats.conllu import HEAD, without_enhanced_dependencies
from tagweave.corpus.formats.format import ModelLabels
from tagweave.corpus.load import names_guideline, parse_argument
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError, StreamError
from tagweave.exchange.tokenization import Tokenization
from tagweave.features.arc_templates import lacking, with_columns
from tagweave.streams import Tell
from tagweave.streams.conversion import Conversion, source_name
from tagweave.streams.inputs import Input, ready_blocks
from tagweave.streams.stream import Block, TreeStream

if TYPE_CHECKING:
    from tagweave.conversion import UncertainToken
    from tagweave.corpus.formats.format import Format
    from tagweave.corpus.sentence import HeadLayer
    from tagweave.models.selective import Selection
    from tagweave.models.tree import TreeModel, TreePredictor


def fill_in_trees(
    sentences: Iterable[Sentence],
    parser: TreePredictor,
    name: str,
    tell: Tell,
    layer: str = HEAD,
    retag: bool = False,
    selected: Selection | None = None,
) -> Iterator[Sentence]:
    """Yield sentences with their trees in the layer `head`; `layer` is evidence, unless `retag`.

    Trees that replace others come without enhanced dependencies. A note names layers and columns that the parser,
    called `name`, uses and the first block lacks.
    """
    names = parser.model.inputs
    guideline = parser.model.guideline
    for number, block in enumerate(ready_blocks(sentences)):
        if missing := [] if number else lacking(block, names):
            tell(f"the input has no {', '.join(missing)}, which {name} looks at: its trees will be worse")
        evidence = []
        for sentence in block:
            unknown: HeadLayer = (None,) * len(sentence)
            heads = unknown if retag else sentence.heads.get(layer, unknown)
            # without other head layers, one of which might have the name of the guide's
            evidence.append(with_columns(replace(sentence, heads={guideline: heads}), names))
        trees = parser.complete(evidence)
        if selected is not None:
            tables = parser.probabilities(evidence, guideline)
            trees = (selected.heads(tree, guideline, table) for tree, table in zip(trees, tables, strict=True))
        for sentence in trees:
            parsed = replace(sentence, heads={HEAD: sentence.heads[guideline]})
            yield without_enhanced_dependencies(parsed) if retag else parsed


def parsed_file(
    parser: TreePredictor,
    name: str,
    argument: str,
    format: str | None,  # noqa: A002
    retag: bool,
    tell: Tell,
    selected: Selection | None = None,
) -> Iterator[Sentence]:
    """Yield the sentences of `PATH[#LAYER]` with trees; heads of LAYER are evidence, unless `retag`.

    In text no word has a label. Notes are as in `fill_in_trees`.
    """
    tokenization = Tokenization.from_json(parser.model.about.get("tokens"))
    source = Input(argument, format, ModelLabels(lambda _: False), tokenization=tokenization)
    source.check_words()
    if source.note:
        tell(source.note)
    sentences, again = tee(sentence for block in source.blocks() for sentence in block)
    parsed = fill_in_trees(sentences, parser, name, tell, parse_argument(argument).layer or HEAD, retag, selected)
    for number, (sentence, read) in enumerate(zip(parsed, again, strict=True), 1):
        yield source.with_text(sentence, read, conllu.FORMAT, number)


@dataclass(frozen=True, kw_only=True)
class TreeConversion(Conversion, TreeStream):
    """A treebank and the parser that converts it."""

    model: TreeModel

    def blocks(self) -> Iterator[Block]:
        for originals in self.input.blocks():
            sentences = (
                replace(sentence, heads={self.source: sentence.heads.get(self.input_layer, (None,) * len(sentence))})
                for sentence in originals
            )
            yield Block(originals, Corpus(tuple(sentences), self.source, path=self.input.path))

    def convert(self, evidence: Corpus) -> Corpus:
        return convert_trees(self.model, evidence, self.threads)

    def least_certain(self, evidence: Corpus, converted: Corpus) -> list[UncertainToken]:
        return review_trees(self.model, evidence, converted, self.review.size, self.threads)

    def in_format(self, original: Sentence, converted: Sentence, form: Format) -> Sentence:
        comments = tuple(comment for comment in original.comments if not names_guideline(comment))
        new = replace(original, heads={HEAD: converted.heads[self.model.guideline]}, comments=comments)
        return without_enhanced_dependencies(new)


def tree_conversion(
    model: TreeModel, name: str, source_input: Input, to: str | None, **options: Any
) -> tuple[TreeConversion, str]:
    """Return the conversion of a treebank by a parser, and a note if its guideline is an assumption, or "".

    Heads whose guideline is not named are taken as heads of the model's guide. The options are further fields of
    `TreeConversion`. Raises StreamError for guidelines that do not fit the model, CorpusError for an input without
    heads.
    """
    if to not in (None, model.guideline):
        raise StreamError(f"found `to={to}`, expected {model.guideline}, the guideline of {name}")
    layer = parse_argument(source_input.argument).layer or HEAD
    if source_input.first and layer not in source_input.first.heads:
        raise CorpusError("no heads", "trees to convert (tagweave tag gives trees to text)", source_input.path)
    helpful = () if model.guide is None else (model.guide.guideline,)
    if source_input.guideline is None and layer == model.guideline and helpful:
        source, note = helpful[0], f"the trees of {source_input.path} are taken as {helpful[0]}"
    else:
        is_named = source_input.guideline is not None
        source, note = source_name(helpful, source_input.guideline or layer, model.guideline, name, is_named, "trees")
    return TreeConversion(model=model, input=source_input, input_layer=layer, source=source, **options), note
