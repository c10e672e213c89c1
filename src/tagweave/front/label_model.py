"""The common base of models of labels, for words and for characters."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import cached_property
from io import StringIO
from typing import TYPE_CHECKING, Any

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.errors import CorpusError
from tagweave.corpus.sentence import Sentence
from tagweave.front.corpora import corpus_of
from tagweave.front.model import Model
from tagweave.labels.space import UnknownLabelError
from tagweave.streams.blocks import write_lines
from tagweave.streams.errors import StreamError
from tagweave.streams.guidelines import check_guideline
from tagweave.streams.rows import best_lines, probability_rows

if TYPE_CHECKING:
    from tagweave.front.file_options import ConvertOptions, LabelOptions
    from tagweave.front.marginals import Marginals
    from tagweave.models.chain import ChainModel
    from tagweave.models.chain_predictor import ChainPredictor
    from tagweave.streams.conversion import Conversion
    from tagweave.streams.input import Input
    from tagweave.streams.labelling import Labelling


class LabelModel(Model):
    """A model over label sequences."""

    @property
    def chain(self) -> ChainModel:
        """The model over label sequences."""
        model: ChainModel = self.trained
        return model

    @property
    def guidelines(self) -> tuple[str, ...]:
        """The guidelines of the model, the target first."""
        return tuple(view.guideline for view in self.chain.space.sides)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the target guideline, in the order of the columns of `probabilities`."""
        return self._tagger.labels

    def marginals(
        self, words: str | Sequence[str] | Sentence, given: str | None = None, to: str | None = None
    ) -> Marginals:
        """The probability of every label at every token of a sentence; in a notebook a heat map.

        Args:
            words: a sentence as for `tag`; for a segmenter a text, or a sentence of characters.
            given: a layer of the sentence to condition on, as in `complete`; by default the tokens alone are known.
            to: the guideline of the labels; by default the target.

        Raises:
            CorpusError: labels that the model does not know, or that exclude one another, or no layer `given`.
            StreamError: the model does not know the guideline.
            TypeError: not one sentence.
        """
        from tagweave.front.marginals import Marginals

        sentence = self._sentence(words)
        if given is not None and given not in sentence.layers:
            raise CorpusError(f"the layers {', '.join(sentence.layers) or 'none'}", f"a layer {given!r}")
        predictor = self.under((to,) if to else ())
        [tokens] = predictor.tokens([sentence], given)
        [table] = predictor.probabilities([sentence], given)
        return Marginals(tokens.forms, predictor.labels, table)

    def convert(self, corpus: Corpus, to: str | None = None) -> Corpus:
        """See `Model.convert`."""
        from tagweave.conversion.labels import convert, sources

        corpus = corpus_of(corpus)
        others = [name for name in self.guidelines if name != corpus.guideline]
        if to is None and len(others) != 1:
            raise ValueError(f"found {len(others)} other guidelines, expected to=, one of {', '.join(self.guidelines)}")
        to = to or others[0]
        check_guideline(self.chain, to, self.name)
        if corpus.guideline not in (to, *sources(self.chain, to)):
            known = ", ".join(sources(self.chain, to)) or "none"
            raise ValueError(f"found a corpus of {corpus.guideline!r}, expected one that guides to {to}: {known}")
        return convert(self.chain, self._in_tokens(corpus), to, self.threads)

    def complete(self, corpus: Corpus) -> Corpus:
        """See `Model.complete`; a segmenter returns a corpus of characters."""
        corpus = corpus_of(corpus)
        corpus = replace(corpus, guideline=self.layer_in(corpus) or corpus.guideline)
        return self._tagger.complete(self._in_tokens(corpus))

    def layer_in(self, corpus: Corpus) -> str | None:
        """See `Model.layer_in`."""
        own, trained = corpus.guideline, self.chain.layers(self._tagger.guideline)
        if own in self.guidelines or corpus.layer in trained:
            return own
        names = [name for name in corpus[0].layers if name != own] if len(corpus) else []
        return self._tagger.layer_in(names) or (None if trained else own)

    def _under_guideline_of(self, corpus: Corpus) -> ChainPredictor:
        """The tagger of the guideline of a corpus if the model has it, or else of the target."""
        return self.under((corpus.guideline,)) if corpus.guideline in self.guidelines[1:] else self._tagger

    @cached_property
    def _tagger(self) -> ChainPredictor:
        return self.under()

    @abstractmethod
    def _sentence(self, data: Any) -> Sentence:
        """Return the sentence that was given, in the tokens of the model; raise a TypeError if it is not one."""

    @abstractmethod
    def _in_tokens(self, corpus: Corpus) -> Corpus:
        """The corpus in the tokens of the model."""

    @abstractmethod
    def _labelling(self, input: str, options: LabelOptions) -> Labelling:  # noqa: A002
        """The stream of a file that the model labels."""

    def _label(self, input: str, output: str, options: LabelOptions) -> None:  # noqa: A002
        if options.non_projective and not options.then:
            problem = "found a model of labels and `non_projective`"
            raise StreamError(f"{self.name}: {problem}, expected a parser, or it without")
        labelling = self._labelling(input, options)
        with nullcontext() if options.completes else _retag_suggested():
            if options.then:
                options.in_turn(labelling).write(output, options.output_format)
            elif options.probabilities:
                write_lines(output, probability_rows(labelling))
            elif options.best:
                write_lines(output, best_lines(labelling, options.best))
            else:
                labelling.write(output, options.output_format)

    def _conversion(self, source: Input, to: str | None, options: ConvertOptions) -> tuple[Conversion, str]:
        from tagweave.streams.label_conversion import label_conversion

        return label_conversion(self.chain, self.name, source, to, retag=options.retag, **self._shared(options))

    def _write_converted(self, work: Any, output: str, options: ConvertOptions) -> None:
        if options.best:
            write_lines(output, best_lines(work, options.best))
        else:
            super()._write_converted(work, output, options)


@contextmanager
def _retag_suggested() -> Iterator[None]:
    """Suggest `--retag` if the input has a label that the model does not know, perhaps of another guideline."""
    try:
        yield
    except CorpusError as error:
        if isinstance(error.__cause__, UnknownLabelError):
            raise StreamError(f"{error}; `retag` puts the labels of the input aside") from error
        raise


def as_text(sentence: Sentence) -> str:
    """A line of words with their labels, `word/LABEL`."""
    from tagweave.corpus.formats.tagged import write

    stream, [layer] = StringIO(), sentence.layers
    write([sentence], stream, layer=layer)
    return stream.getvalue().rstrip("\n")
