"""What commands do with parsers and head layers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from tagweave.cli.errors import OptionError
from tagweave.cli.printing import say
from tagweave.cli.training_files import HEAD

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
    layer: str = HEAD
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
        from tagweave.encoding.given_columns import lacking, with_columns

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
        from tagweave.models.tree_storage import load_parser

        return Parser(load_parser(self.model), self.threads, self.projective)

    def _evidence(self, sentence: Sentence) -> Sentence:
        """Heads under the name of the model's guideline, and no layer of the file that might bear that of its guide."""
        unknown: HeadLayer = (None,) * len(sentence)
        heads = unknown if self.retag else sentence.heads.get(self.layer, unknown)
        return replace(sentence, heads={self._parser.model.guideline: heads})


def write_parsed(sentences: Iterable[Sentence], output: str, format: str | None) -> None:  # noqa: A002
    """Write sentences with trees as CoNLL-U, as a whole file or not at all; `-` is standard output.

    Raises:
        OptionError: another format of the output.
        CorpusError, OSError: as the sentences, when the place is reached.
    """
    from tagweave.cli.input import flushing
    from tagweave.corpus.formats.conllu import write
    from tagweave.corpus.text_file import written

    check_has_heads(output, format)
    with written(output) as stream:
        write(flushing(sentences, stream), stream)


def check_has_heads(output: str, format: str | None) -> None:  # noqa: A002
    """Nothing, if the output has a place for heads.

    Raises:
        OptionError: its format, or that of its name, has not.
    """
    from tagweave.corpus.formats.registry import format_of_name

    name = format or format_of_name(output) or "conllu"
    if name != "conllu":
        raise OptionError(f"found {name} as the format of the output, expected conllu: it has a place for heads")


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
