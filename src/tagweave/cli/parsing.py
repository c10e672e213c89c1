"""What commands do with parsers and head layers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from tagweave.cli.errors import OptionError
from tagweave.cli.printing import say
from tagweave.cli.training_files import HEAD

if TYPE_CHECKING:
    from tagweave.corpus.corpus import Corpus
    from tagweave.corpus.sentence import Sentence
    from tagweave.models.parser import Parser


def is_parser(model: str) -> bool:
    """Whether a model file is a parser. Raises as `load_model`."""
    from tagweave.models.storage import describe_model

    return bool(describe_model(model).get("kind") == "tree")


@dataclass(frozen=True)
class Parsing:
    """One input and the parser that fills in its heads.

    Attributes:
        model: a file.
        argument: `PATH[#LAYER]` of the input; LAYER is the head layer that is evidence and is filled in.
        format: of the input.
        retag: whether the heads of the input are put aside.
        threads: how many threads share the work.
        projective: whether no two arcs of a tree may cross.
    """

    model: str
    argument: str
    format: str | None = None
    retag: bool = False
    threads: int = 1
    projective: bool = True

    def write(self, output: str, format: str | None) -> None:  # noqa: A002
        """Parse, and write CoNLL-U, as a whole file or not at all; `-` is standard output.

        Raises:
            OptionError: another format of the output.
            CorpusError, OSError: as `Parser.complete`.
        """
        from tagweave.cli.input import flushing
        from tagweave.corpus.conllu import write
        from tagweave.corpus.text_file import written

        check_has_heads(output, format)
        with written(output) as stream:
            write(
                flushing(self.parsed(), stream),
                stream,
                head=self._parser.model.guideline,
            )

    def parsed(self) -> Iterator[Sentence]:
        """The sentences of the input with their trees, under the name of the model's guideline.

        No label of words stands in text: it is words between blanks.

        Raises:
            CorpusError, OSError: as `Input.check_words`; or as `Parser.complete`.
        """
        from tagweave.cli.input import Input
        from tagweave.corpus.load import Labels

        given = Input(self.argument, self.format, Labels(lambda _: False))
        given.check_words()
        if given.note:
            say(given.note)
        for block in given.blocks():
            yield from self._parser.complete(map(self._evidence, block))

    @cached_property
    def _parser(self) -> Parser:
        from tagweave.models.parser import Parser
        from tagweave.models.tree_storage import load_parser

        return Parser(load_parser(self.model), self.threads, self.projective)

    def _evidence(self, sentence: Sentence) -> Sentence:
        """Heads under the name of the model's guideline, and no layer of the file that might bear that of its guide."""
        from tagweave.corpus.load import parse_argument

        given = sentence.heads.get(parse_argument(self.argument).layer or HEAD, (None,) * len(sentence))
        heads = (None,) * len(sentence) if self.retag else given
        return replace(sentence, heads={self._parser.model.guideline: heads})


def check_has_heads(output: str, format: str | None) -> None:  # noqa: A002
    """Nothing, if the output has a place for heads.

    Raises:
        OptionError: its format, or that of its name, has not.
    """
    from tagweave.corpus.formats import format_of_name

    name = format or format_of_name(output) or "conllu"
    if name != "conllu":
        raise OptionError(f"found {name} as the format of the output, expected conllu: it has a place for heads")


def write_parsed(parsing: Parsing, output: str, format: str | None, others: Mapping[str, object]) -> None:  # noqa: A002
    """`Parsing.write`, if no option is given that parsers do not have.

    Raises:
        OptionError: one is; or as `Parsing.write`.
    """
    check_parser_options(others)
    parsing.write(output, format)


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
