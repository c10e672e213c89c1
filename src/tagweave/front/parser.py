"""Parsers, which find trees for sentences of words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from tagweave.conversion import convert_trees
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.errors import StreamError
from tagweave.features.arc_templates import with_columns
from tagweave.front.corpora import corpus_of
from tagweave.front.label_model import cut_by, sentence_of
from tagweave.front.model import Model
from tagweave.front.options import ConvertOptions, LabelOptions, check_for_labels
from tagweave.models.tree import TreePredictor
from tagweave.streams.trees import fill_in_trees, parsed_file, tree_conversion

if TYPE_CHECKING:
    from tagweave.explanation.explanation import Explanations
    from tagweave.front.corpora import Given
    from tagweave.streams.conversion import Conversion
    from tagweave.streams.inputs import Input
    from tagweave.streams.stream import Stage

_LABEL_OPTIONS = ("to", "probabilities", "best", "split_runs", "tokens")
"""Options that parsers do not take."""


class Parser(Model):
    """A model that finds trees."""

    @property
    def guidelines(self) -> tuple[str, ...]:
        return (self.trained.guideline,)

    def parse(self, data: Sentence | Corpus | Iterable[Sentence]) -> Any:
        """Parse sentences that have the tags that the parser uses; returns the type that was passed in."""
        if isinstance(data, Sentence):
            return next(self._sentences([data]))
        if isinstance(data, Corpus):
            return data.with_sentences(self._sentences(data))
        return list(self._sentences(Corpus(data)))  # type: ignore[arg-type]  # it takes more than it has

    def relabelled(self, corpus: Corpus) -> Corpus:
        corpus = corpus_of(corpus)
        guideline = self.trained.guideline
        layer = corpus.guideline
        bare = (replace(sentence, heads={}) for sentence in corpus)
        parsed = [replace(sentence, heads={layer: sentence.heads[guideline]}) for sentence in self._sentences(bare)]
        return corpus.with_sentences(parsed)

    def why(self, tokens: Any, token: int | None = None, corpus: Given | None = None) -> Explanations:
        """See `Model.why`; heads are explained, and training sentences are not looked for."""
        from tagweave.explanation.heads import explain_heads  # parsing needs no tables

        if corpus is not None:
            raise StreamError(f"{self.name}: found a parser and `corpus`, expected a model of labels, or it without")
        sentence = tokens if isinstance(tokens, Sentence) else sentence_of(tokens, cut_by(self.tokenization))
        return explain_heads(self._parser(), with_columns(sentence, self.trained.inputs), token)

    def complete(self, corpus: Corpus) -> Corpus:
        corpus = corpus_of(corpus)
        return corpus.with_sentences(self._parser().complete(corpus, corpus.guideline))

    def convert(self, corpus: Corpus, to: str | None = None) -> Corpus:
        if to not in (None, self.trained.guideline):
            raise ValueError(f"found to={to!r}, expected {self.trained.guideline!r}, the guideline of the parser")
        return convert_trees(self.trained, corpus_of(corpus), self.threads)

    def stage(self, retag: bool = False, non_projective: bool = False) -> Stage:
        return partial(fill_in_trees, parser=self._parser(non_projective), name=self.name, retag=retag, tell=self.tell)

    def _sentences(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        names = self.trained.inputs
        return self._parser().parse(with_columns(sentence, names) for sentence in sentences)

    def _parser(self, non_projective: bool = False) -> TreePredictor:
        return TreePredictor(self.trained, self.threads, False if non_projective else None)

    def _label(self, input: str, output: str, options: LabelOptions) -> None:  # noqa: A002
        check_for_labels(**{name: getattr(options, name) for name in _LABEL_OPTIONS})
        parser = self._parser(options.non_projective)
        selected = self.selection(options.precision, options.recall)
        parsed = parsed_file(parser, self.name, input, options.format, options.retag, self.tell, selected)
        options.in_turn(parsed).write(output, options.output_format)

    def _conversion(self, source: Input, to: str | None, options: ConvertOptions) -> tuple[Conversion, str]:
        check_for_labels(best=options.best, retag=options.retag, soft=options.soft)
        return tree_conversion(self.trained, self.name, source, to, **self._shared(options))

    @property
    def _what(self) -> str:
        return "a parser"
