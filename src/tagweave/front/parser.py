"""Parsers: trees for sentences of words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.features.given_columns import with_columns
from tagweave.front.file_options import ConvertOptions, LabelOptions, check_for_labels
from tagweave.front.model import Model
from tagweave.models.parser import Parser as SentenceParser
from tagweave.streams.parsing import Parsing, ParsingStage

if TYPE_CHECKING:
    from tagweave.streams.conversion import Conversion
    from tagweave.streams.input import Input


class Parser(Model):
    """A model that finds trees."""

    @property
    def guidelines(self) -> tuple[str, ...]:
        """The guideline of its trees."""
        return (self.trained.guideline,)

    def parse(self, given: Sentence | Corpus | Iterable[Sentence]) -> Any:
        """Sentences, with the tags that the parser looks at, with their trees; what went in comes out.

        Raises:
            CorpusError: a sentence that is too long.
        """
        if isinstance(given, Sentence):
            return next(self._sentences([given]))
        if isinstance(given, Corpus):
            return given.with_sentences(self._sentences(given))
        return list(self._sentences(given))

    def relabelled(self, corpus: Corpus) -> Corpus:
        """See `Model.relabelled`."""
        own, name = self.trained.guideline, corpus.guideline
        bare = (replace(sentence, heads={}) for sentence in corpus)
        parsed = [replace(each, heads={name: each.heads[own]}) for each in self._sentences(bare)]
        return corpus.with_sentences(parsed)

    def complete(self, corpus: Corpus) -> Corpus:
        """See `Model.complete`."""
        return corpus.with_sentences(self._parser().complete(corpus, corpus.guideline))

    def convert(self, corpus: Corpus, to: str | None = None) -> Corpus:
        """See `Model.convert`."""
        from tagweave.conversion.trees import convert_trees

        if to not in (None, self.trained.guideline):
            raise ValueError(f"found to={to!r}, expected {self.trained.guideline!r}, the guideline of the parser")
        return convert_trees(self.trained, corpus, self.threads)

    def stage(self, retag: bool = False, non_projective: bool = False) -> ParsingStage:
        """See `Model.stage`."""
        return ParsingStage(self._parser(non_projective), self.name, retag=retag, tell=self.tell)

    def _sentences(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        names = self.trained.inputs
        return self._parser().parse(with_columns(each, names) for each in sentences)

    def _parser(self, non_projective: bool = False) -> SentenceParser:
        return SentenceParser(self.trained, self.threads, not non_projective)

    def _label(self, input: str, output: str, wanted: LabelOptions) -> None:  # noqa: A002
        check_for_labels(
            to=wanted.to, probabilities=wanted.probabilities, best=wanted.best, split_runs=wanted.split_runs
        )
        parser = self._parser(wanted.non_projective)
        parsing = Parsing(parser, self.name, input, wanted.format, wanted.retag, self.tell)
        wanted.in_turn(parsing).write(output, wanted.output_format)

    def _conversion(self, given: Input, to: str | None, wanted: ConvertOptions) -> tuple[Conversion, str]:
        from tagweave.streams.tree_conversion import tree_conversion

        check_for_labels(best=wanted.best, retag=wanted.retag)
        return tree_conversion(self.trained, self.name, given, to, **self._shared(wanted))

    @property
    def _what(self) -> str:
        return "a parser"
