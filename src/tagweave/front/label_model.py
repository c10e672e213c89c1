"""Models of labels: what they are given (words, texts, sentences, corpora, data frames) and do with it."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from io import StringIO
from typing import TYPE_CHECKING, Any, Literal

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.documents import marks
from tagweave.corpus.formats.tagged import write
from tagweave.corpus.sentence import Sentence, is_frame, kind_of, tokens_of
from tagweave.display.markup import picture
from tagweave.display.pictures import heat_map
from tagweave.errors import CorpusError, StreamError
from tagweave.exchange.tokenization import Tokenization, for_text
from tagweave.exchange.tokens import Offsets, Tokenizer, lines, text_lines, tokenizer
from tagweave.front.corpora import corpus_of
from tagweave.front.model import Model
from tagweave.labels.space import UnknownLabelError
from tagweave.streams.inputs import write_lines
from tagweave.streams.labelling import best_lines, check_guideline, probability_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tagweave.explanation.explanation import Explanations
    from tagweave.front.corpora import Given
    from tagweave.front.options import ConvertOptions, LabelOptions
    from tagweave.models.chain import ChainModel
    from tagweave.models.chain_predictor import ChainPredictor
    from tagweave.streams.conversion import Conversion
    from tagweave.streams.inputs import Input
    from tagweave.streams.labelling import Labelling

CutLines = Callable[[Sequence[str]], list[list[Offsets]]]
"""From lines to the offsets of their tokens; of many lines at once, since segmenters are faster so."""


@dataclass(frozen=True, slots=True)
class Tokenised:
    """A text or a list of tokens, with the offsets of the tokens of each sentence; `None` where tokens were given."""

    sentences: tuple[Sentence, ...]
    offsets: tuple[tuple[Offsets, ...], ...] | None = None


def of_texts(texts: Sequence[str], cut: CutLines) -> list[Tokenised]:
    """Cut texts into lines and tokens."""
    bounds = [list(lines(text)) for text in texts]
    tokens = iter(cut([text[a:b] for text, ends in zip(texts, bounds, strict=True) for a, b in ends]))
    tokenised = []
    for text, ends in zip(texts, bounds, strict=True):
        offsets = [tuple((start + a, start + b) for a, b in next(tokens)) for start, _ in ends]
        kept = tuple(filter(None, offsets))
        sentences = tuple(
            Sentence(tuple(text[a:b] for a, b in sentence), comments=mark)
            for sentence, mark in zip(kept, marks(), strict=False)  # each text is a document
        )
        tokenised.append(Tokenised(sentences, kept))
    return tokenised


def by_line(cut: Tokenizer) -> CutLines:
    """Let a tokenizer take many lines."""
    return lambda texts: list(map(cut, texts))


def cut_by(tokens: str | Tokenization) -> Callable[[str], Tokenised]:
    """Return how a text is cut into tokens, by the name of a tokenizer, or as a model learned.

    Raises as `exchange.tokens.tokenizer`.
    """
    if isinstance(tokens, Tokenization):
        return lambda text: of_texts([text], by_line(for_text(tokens, text_lines(text))))[0]
    cut = by_line(tokenizer(tokens))
    return lambda text: of_texts([text], cut)[0]


_ACCEPTED = "words, a text, a tw.Sentence, a tw.Corpus, a (tokens, labels) pair, a data frame, or several of these"
_PAIR = 2

Kind = Literal["text", "words", "sentence", "corpus", "frame"]
Cut = Callable[[str], Tokenised]
"""From a text to its sentences of words."""


@dataclass(frozen=True)
class Item:
    """Sentences, and the form in which they were given and are given back."""

    kind: Kind
    text: Tokenised
    corpus: Corpus | None = None

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        return self.text.sentences


def read(data: Any, cut: Cut) -> tuple[list[Item], bool]:
    """Return the argument, and whether it was several things. Anything else, such as a dict, is a TypeError."""
    item = _single_item(data, cut)
    if item is not None:
        return [item], False
    if isinstance(data, (bytes, Mapping, Set)) or not isinstance(data, Iterable):
        raise TypeError(f"found {kind_of(data)}, expected {_ACCEPTED}")
    entries = list(data)
    if entries and all(isinstance(entry, str) and not re.search(r"\s", entry) for entry in entries):
        return [_words(entries)], False
    return [_single_item(entry, cut) or _words(entry) for entry in entries], True


def sentence_of(data: Any, cut: Cut) -> Sentence:
    """Return the one sentence that was given. Raises as `read`, and TypeError if there are several."""
    sentences = [sentence for item in read(data, cut)[0] for sentence in item.sentences]
    if len(sentences) != 1:
        raise TypeError(f"found {len(sentences)} sentences, expected one")
    return sentences[0]


def _single_item(data: Any, cut: Cut) -> Item | None:
    """Return a single thing, or `None` for words and for several things."""
    if isinstance(data, Corpus):
        return Item("corpus", Tokenised(data.sentences), data)
    if isinstance(data, Sentence):
        return Item("sentence", Tokenised((data,)))
    if isinstance(data, str):
        return Item("text", cut(data))
    if is_frame(data):
        return Item("frame", Tokenised(Corpus(data).sentences))
    is_pair = isinstance(data, tuple) and len(data) == _PAIR and not any(isinstance(member, str) for member in data)
    return _words(data[0]) if is_pair else None


def _words(data: Any) -> Item:
    return Item("words", Tokenised((Sentence(tokens_of(data)),)))


@dataclass(frozen=True, eq=False)
class Marginals:
    """How probable each label is at each token; in a notebook a heat map.

    Attributes:
        forms: the L tokens.
        labels: the Y labels.
        probabilities: [L, Y]; the rows sum to 1.
    """

    forms: tuple[str, ...]
    labels: tuple[str, ...]
    probabilities: NDArray[np.floating[Any]]

    def _repr_html_(self) -> str:
        return picture(heat_map(self.forms, self.labels, self.probabilities.tolist()))


class LabelModel(Model):
    """A model over label sequences."""

    @property
    def chain(self) -> ChainModel:
        model: ChainModel = self.trained
        return model

    @property
    def guidelines(self) -> tuple[str, ...]:
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

        sentence = self._sentence(words)
        if given is not None and given not in sentence.layers:
            raise CorpusError(f"the layers {', '.join(sentence.layers) or 'none'}", f"a layer {given!r}")
        if given is None:
            sentence = sentence.with_layers_of(())  # a guide would look at them
        predictor = self.under((to,) if to else ())
        [tokens] = predictor.tokens([sentence], given)
        [table] = predictor.probabilities([sentence], given)
        return Marginals(tokens.forms, predictor.labels, table)

    def convert(self, corpus: Corpus, to: str | None = None) -> Corpus:
        from tagweave.conversion import convert, sources  # labelling needs no conversion

        corpus = corpus_of(corpus)
        targets = [name for name in self.guidelines if name != corpus.guideline]
        if to is None and len(targets) != 1:
            raise ValueError(
                f"found {len(targets)} other guidelines, expected to=, one of {', '.join(self.guidelines)}"
            )
        to = to or targets[0]
        check_guideline(self.chain, to, self.name)
        if corpus.guideline not in (to, *sources(self.chain, to)):
            guides = ", ".join(sources(self.chain, to)) or "none"
            raise ValueError(f"found a corpus of {corpus.guideline!r}, expected one that guides to {to}: {guides}")
        return convert(self.chain, self._in_tokens(corpus), to, self.threads)

    def complete(self, corpus: Corpus) -> Corpus:
        """See `Model.complete`; a segmenter returns a corpus of characters."""
        corpus = corpus_of(corpus)
        corpus = replace(corpus, guideline=self.layer_in(corpus) or corpus.guideline)
        return self._tagger.complete(self._in_tokens(corpus))

    def correct(
        self, tokens: Sequence[str] | Sentence, labels: Sequence[str | Iterable[str] | None] | None = None
    ) -> None:
        """Change the model so that it is right about a sentence, and as little as possible elsewhere.

        That takes milliseconds. The step is that of `models.correction`; the model's file stays as it is (`save`).

        Args:
            tokens: the words of the sentence, or a `Sentence` with the columns that features read.
            labels: of each word its label, several that it may have, or `None`, which leaves it to the model. A
                segmenter learns how the sentence is cut, and needs none.

        Raises:
            CorpusError: labels that the model does not know, that exclude one another, or that its features cannot tell
                from its own.
            PlanError: the model has a network, or cuts text into pieces first.
            TypeError: no labels, and the model is no segmenter.
        """
        from tagweave.models.correction import corrected  # labelling needs no learner

        if labels is None and not self.chain.of_characters:
            raise TypeError("found no labels, expected one for each token")
        guideline = self.guidelines[0]
        columns = tokens.columns if isinstance(tokens, Sentence) else {}
        forms = tokens.forms if isinstance(tokens, Sentence) else tokens
        pairs: Any = [Sentence(tuple(forms)) if labels is None else (forms, labels)]
        corpus = self._in_tokens(Corpus(pairs, guideline).map(lambda sentence: replace(sentence, columns=columns)))
        self.trained = corrected(self.chain, corpus[0], corpus.guideline)
        self._forget()

    def _forget(self) -> None:
        """Drop what was made of weights that have changed."""
        for name in ("_tagger", "_tables"):
            self.__dict__.pop(name, None)

    def why(
        self, tokens: str | Sequence[str] | Sentence, token: int | None = None, corpus: Given | None = None
    ) -> Explanations:
        from tagweave.explanation.labels import LabelExplainer  # labelling needs no tables
        from tagweave.explanation.training_text import TrainingText

        training = None
        if corpus is not None:
            annotated = corpus_of(corpus)
            layer = self.layer_in(annotated) or annotated.guideline
            training = TrainingText(self.chain.encoder, self._in_tokens(annotated), layer)
        text = self._tagger.tokens([self._sentence(tokens).with_layers_of(())])
        return LabelExplainer(self.chain, self._tagger.guideline, text, training).explain(0, token)

    def layer_in(self, corpus: Corpus) -> str | None:
        trained = self.chain.layers(self._tagger.guideline)
        if corpus.guideline in self.guidelines or corpus.layer in trained:
            return corpus.guideline
        names = [name for name in corpus[0].layers if name != corpus.guideline] if len(corpus) else []
        return self._tagger.layer_in(names) or (None if trained else corpus.guideline)

    def evidence_in(self, text: Corpus | str, options: LabelOptions) -> tuple[str, Iterable[Corpus]]:
        """Return the path of a text, and the text in tokens of the model, with the labels that are evidence."""
        if isinstance(text, Corpus):
            bare = text.map(lambda s: replace(s, layers={}, rejected={})) if options.retag else text
            return text.path, [self._in_tokens(bare)]
        labelling = self._labelling(text, options)
        return labelling.input.path, (block.evidence for block in labelling.blocks())

    def _under_guideline_of(self, corpus: Corpus) -> ChainPredictor:
        return self.under((corpus.guideline,)) if corpus.guideline in self.guidelines[1:] else self._tagger

    @cached_property
    def _tagger(self) -> ChainPredictor:
        return self.under()

    @abstractmethod
    def _sentence(self, data: Any) -> Sentence:
        """Return the sentence that was given, in the tokens of the model, or raise a TypeError."""

    @abstractmethod
    def _in_tokens(self, corpus: Corpus) -> Corpus: ...
    @abstractmethod
    def _labelling(self, input: str, options: LabelOptions) -> Labelling:  # noqa: A002
        ...
    def _label(self, input: str, output: str, options: LabelOptions) -> None:  # noqa: A002
        if options.non_projective and not options.then:
            problem = "found a model of labels and `non_projective`"
            raise StreamError(f"{self.name}: {problem}, expected a parser, or it without")
        labelling = self._labelling(input, options)
        with nullcontext() if options.completes else _retag_suggested():
            if options.then:
                options.in_turn(labelling.as_conllu()).write(output, options.output_format)
            elif options.probabilities:
                write_lines(output, probability_rows(labelling))
            elif options.best:
                write_lines(output, best_lines(labelling.blocks(), labelling.tagger, options.best))
            else:
                labelling.write(output, options.output_format)

    def _conversion(self, source: Input, to: str | None, options: ConvertOptions) -> tuple[Conversion, str]:
        from tagweave.streams.conversion import label_conversion

        return label_conversion(self.chain, self.name, source, to, retag=options.retag, **self._shared(options))

    def _write_converted(self, work: Any, output: str, options: ConvertOptions) -> None:
        if options.best:
            write_lines(output, best_lines(work.blocks(), work.tagger, options.best))
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
    stream = StringIO()
    [layer] = sentence.layers
    write([sentence], stream, layer=layer)
    return stream.getvalue().rstrip("\n")
