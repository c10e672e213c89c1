"""What commands do with parsers and head layers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from tagweave.cli.errors import OptionError
from tagweave.cli.printing import say

if TYPE_CHECKING:
    from tagweave.corpus.corpus import Corpus
    from tagweave.corpus.sentence import HeadLayer, Sentence
    from tagweave.models.parser import Parser


def is_parser(model: str) -> bool:
    """Whether a model file is a parser. Raises as `load_model`."""
    from tagweave.models.storage import describe_model

    return bool(describe_model(model).get("kind") == "tree")


@dataclass(frozen=True)
class Parsing:
    """A parser that fills in the heads of sentences.

    Attributes:
        model: a file.
        layer: the head layer of the sentences that is evidence.
        retag: whether it is put aside.
        threads: how many threads share the work.
        projective: whether no two arcs of a tree may cross.
    """

    model: str
    layer: str
    retag: bool = False
    threads: int = 1
    projective: bool = True

    def filled(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """The sentences with their trees in the layer `head`, block by block.

        Of layers and columns that the first block lacks, and the parser looks at, a line tells.

        Raises:
            CorpusError: as `Parser.complete`.
        """
        from tagweave.cli.input import ready_blocks
        from tagweave.corpus.formats.conllu import HEAD
        from tagweave.features.given_columns import lacking, with_columns

        names = self._parser.model.inputs
        for number, block in enumerate(ready_blocks(sentences)):
            missing = [] if number else lacking(block, names)
            if missing:
                say(f"the input has no {', '.join(missing)}, which {self.model} looks at: its trees will be worse")
            complete = [with_columns(self._evidence(sentence), names) for sentence in block]
            for sentence in self._parser.complete(complete):
                yield replace(sentence, heads={HEAD: sentence.heads[self._parser.model.guideline]})

    @cached_property
    def _parser(self) -> Parser:
        from tagweave.models.parser import Parser
        from tagweave.models.storage import load_model
        from tagweave.models.tree import TreeModel

        return Parser(load_model(self.model, TreeModel), self.threads, self.projective)

    def _evidence(self, sentence: Sentence) -> Sentence:
        """Heads under the name of the model's guideline, and no layer of the file that might bear that of its guide."""
        unknown: HeadLayer = (None,) * len(sentence)
        heads = unknown if self.retag else sentence.heads.get(self.layer, unknown)
        return replace(sentence, heads={self._parser.model.guideline: heads})


def write_parsed(sentences: Iterable[Sentence], output: str, format: str | None) -> None:  # noqa: A002
    """Write sentences with trees, as a whole file or not at all; `-` is standard output. The default is CoNLL-U.

    Raises:
        OptionError: a format without a place for heads.
        CorpusError, OSError: as the sentences, when the place is reached.
    """
    from tagweave.cli.input import flushing
    from tagweave.cli.output_format import check_has_heads
    from tagweave.corpus.formats import conllu
    from tagweave.corpus.formats.registry import chosen_format
    from tagweave.corpus.text_file import written

    form = chosen_format(format, output) or conllu.FORMAT
    check_has_heads(form)
    with written(output) as stream:
        form.write(flushing(sentences, stream), stream, conllu.HEAD)


def check_parser_options(given: Mapping[str, object]) -> None:
    """Nothing, if no option is given that is for models of labels.

    Raises:
        OptionError: one is.
    """
    for option, value in given.items():
        if value:
            raise OptionError(f"found --{option} with a parser, expected it without: it is for models of labels")


def check_no_trees(model: str, non_projective: bool) -> None:
    """Nothing, if a model of labels is not asked for trees.

    Raises:
        OptionError: it is.
    """
    if non_projective:
        raise OptionError(f"{model}: found a model of labels and --non-projective, expected a parser, or it without")


def are_trees(gold: Corpus) -> bool:
    """Whether the layer that a corpus names is a head layer."""
    return any(gold.guideline in sentence.heads for sentence in gold)
