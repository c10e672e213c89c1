"""Reads an input in blocks of sentences, as many as memory should hold, or as a pipe has ready."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice
from typing import IO, TYPE_CHECKING, TypeVar

from tagweave.corpus.candidates import format_candidates
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.documents import in_blocks_of_documents
from tagweave.corpus.files import STANDARD_STREAM, first_lines, is_awaited, read_lines, written
from tagweave.corpus.formats import chosen_format, conllu, plain
from tagweave.corpus.formats.format import ModelLabels
from tagweave.corpus.load import comment_value, parse_argument, with_covered
from tagweave.corpus.sentence import Location, Sentence
from tagweave.corpus.word_boundaries import runs
from tagweave.errors import CorpusError
from tagweave.exchange.load import load, stream
from tagweave.exchange.tokenization import Tokenization, for_text, is_tokenized

if TYPE_CHECKING:
    from tagweave.corpus.formats.format import Format
    from tagweave.exchange.tokens import Offsets, Tokenizer
    from tagweave.models.chain_predictor import ChainPredictor

_USUAL = ("upos", "tag")
_LINES = 50  # that tell how text was cut


@dataclass(frozen=True)
class Input:
    """A file or standard input, `[GUIDELINE=]PATH[#LAYER]`, which is read once.

    Without `format_name`, the extension or the first lines tell the format; the `labels` of the model of words help.
    `tokens` cuts every line of raw text into tokens. Without it, `tokenization`, that of the model, cuts raw text
    that was not cut before. Properties raise CorpusError or OSError if the input cannot be read.
    """

    argument: str
    format_name: str | None = None
    labels: ModelLabels | None = None
    tokens: Tokenizer | None = None
    tokenization: Tokenization | None = None

    @property
    def path(self) -> str:
        return parse_argument(self.argument).path

    @cached_property
    def _opened(self) -> tuple[Format, Sentence | None, Iterator[Sentence], str]:
        """The format, the first sentence, all sentences, and a note on the assumed format."""
        if (tokens := self.tokens) is None:
            arrived = first_lines(self.path, _LINES) if self.path == STANDARD_STREAM else []  # before they are read
            form, sentences, note = stream(self.argument, self.format_name, self.labels)
            form, sentences = self._in_words(form, sentences, arrived)
        else:
            named = chosen_format(self.format_name, self.path)
            if named is not None and named.name not in (plain.SEGMENTED.name, plain.RAW.name):
                raise CorpusError(f"{named.name} with tokens of its own", "raw text, for `tokens`", self.path)
            form, note = plain.SEGMENTED, ""
            sentences = (
                _of_line(line, tokens(line), Location(self.path, number))
                for number, line in enumerate(read_lines(self.path), 1)
            )
        first = next(sentences, None)
        return form, first, sentences if first is None else chain([first], sentences), note

    def _in_words(
        self, form: Format, sentences: Iterator[Sentence], arrived: Sequence[str]
    ) -> tuple[Format, Iterator[Sentence]]:
        """Cut raw text into words as the text of the model was cut; any other input stays as it is."""
        model = self.tokenization
        is_raw = form is plain.RAW
        is_text = is_raw or (form is plain.SEGMENTED and chosen_format(self.format_name, self.path) is None)
        if model is None or not is_text or (is_raw and model.tokens == "blanks"):
            return form, sentences
        return plain.SEGMENTED, _in_words(sentences, is_raw, model, arrived or first_lines(self.path, _LINES))

    def with_text(self, sentence: Sentence, original: Sentence, form: Format, number: int) -> Sentence:
        """Return a sentence made of one that was read, for an output of this format.

        CoNLL-U of text without labels has the text, the number of the sentence, and where words stand together.
        """
        if not self._is_text:
            return sentence
        if form is not conllu.FORMAT:
            return replace(sentence, comments=()) if sentence.comments else sentence
        between = "" if self.format is plain.RAW else " "
        kept = (comment.removeprefix(conllu.TEXT) for comment in original.comments)
        text = next(kept, between.join(original.forms))
        return conllu.of_text(replace(sentence, comments=()), text, number)

    def note_on_tokens(self, sentences: Sequence[Sentence]) -> str:
        """Return a note if these tokens look otherwise than those that the model learned from; or ""."""
        model = self.tokenization
        if model is None or self.tokens is not None:
            return ""
        if model.of_segmenter and any(model.uncut(form) for sentence in sentences for form in sentence.forms):
            return f"{self._name} has text without blanks, but a segmenter cut the text of the model: cut it first"
        forms = [sentence.forms for sentence in sentences]
        if model.tokens == "words":
            seen = Tokenization.of_forms(forms)
            differs = seen.tokens == "blanks" and not seen.of_segmenter
        else:
            differs = model.tokens == "blanks" and not model.of_segmenter and is_tokenized(map(" ".join, forms))
        here, expected = "that stand alone", "at the ends of words"
        if model.tokens == "words":
            here, expected = expected, here
        learned = f"the model learned from text with signs {expected}"
        return f"{self._name} has signs {here}, but {learned}: cut it in the same way" if differs else ""

    @property
    def format(self) -> Format:
        return self._opened[0]

    @property
    def first(self) -> Sentence | None:
        return self._opened[1]

    @property
    def note(self) -> str:
        """A note on an uncertain format, or ""."""
        return self._opened[3] and f"{self._name} is {self._opened[3]}"

    @property
    def _name(self) -> str:
        return "standard input" if self.path == STANDARD_STREAM else self.path

    @cached_property
    def _is_text(self) -> bool:
        """Whether the input has words and no labels."""
        return self.format in (plain.RAW, plain.SEGMENTED)

    @property
    def of_characters(self) -> bool:
        return self.format.unit == "character"

    def check_words(self) -> None:
        """Raise CorpusError unless the tokens are words or there are none."""
        if self.first and self.of_characters:
            expected = "words, for a model of words (or their `format`)"
            raise CorpusError(f"{self.format.name} text, characters", expected, self.path)

    def layer(self, guidelines: Sequence[str] = (), trained: Sequence[str] = ()) -> str:
        """Return the layer LAYER, or the first that guidelines or training (`trained`) name, or the default.

        The only layer of a file that names none is the one of training if it has labels of the model.
        """
        layer = parse_argument(self.argument).layer
        layers = self.layers
        if layer is not None:
            if layer not in layers:
                content = f"the layers {', '.join(layers)}" if layers else "no layers"
                raise CorpusError(content, f"a layer {layer!r}", self.path)
            return layer
        if self.of_characters and self.format.layer:
            return self.format.layer
        named_layers = [layer for layer in (*guidelines, *trained) if layer in layers]
        if named_layers or not layers:
            return [*named_layers, *guidelines, *_USUAL][0]
        if not trained or not self.format.holds_several:
            return next((layer for layer in _USUAL if layer in layers), layers[-1])
        if self.format.names_layers:
            return layers[0] if self._is_unnamed(layers) else trained[0]
        expected = f"a layer {trained[0]!r}, as in training; {self.path}#{layers[0]} names another"
        raise CorpusError(f"the layers {', '.join(layers)}", expected, self.path)

    def _is_unnamed(self, layers: Sequence[str]) -> bool:
        """Return whether the only layer has the name of a layer without one, and labels that the model has."""
        if not self.first or self.labels is None or tuple(layers) != self.format.layers:
            return False
        labels = self.first.layers[layers[0]]
        return self.labels.fill("_" if candidates is None else format_candidates(candidates) for candidates in labels)

    def lacking(self, layer: str, expected: Sequence[str]) -> str:
        """Return a note if a file of several layers has none of those expected; or ""."""
        layers = self.layers
        if parse_argument(self.argument).layer or self.of_characters or {*layers} & {*expected}:
            return ""
        if layer not in layers:
            return f"{self._name} has no layer {layer}: it is added" if layers and self.format.names_layers else ""
        where = f"its layer {layer} is used ({self.path}#LAYER names another)"
        return f"{self._name} has no layer {expected[0]}: {where}" if len(layers) > 1 else ""

    @property
    def layers(self) -> list[str]:
        """The layers of the first sentence."""
        return list(self.first.layers) if self.first else []

    @property
    def guideline(self) -> str | None:
        """The name of the guideline in the argument or a comment of the first sentence."""
        named = parse_argument(self.argument).guideline
        return named or (comment_value([self.first], "guideline", "") if self.first else None)

    def blocks(self, of_documents: bool = False) -> Iterator[list[Sentence]]:
        """Yield the sentences of the file in blocks (`blocks_of`), with the labels that were looked for in each."""
        return blocks_of(with_covered(self._opened[2]), of_documents)


def _in_words(
    sentences: Iterator[Sentence], is_raw: bool, model: Tokenization, shown: Sequence[str] = ()
) -> Iterator[Sentence]:
    """Cut raw text, in characters (`is_raw`) or at blanks, as the text of a model was cut.

    The lines `shown`, by default the first one, tell whether text was cut before, and so stays as it is.
    """
    first = list(islice(sentences, 1))
    between = "" if is_raw else " "
    sentences = chain(first, sentences)
    cut = for_text(model, shown or [between.join(sentence.forms) for sentence in first])
    if cut is runs and not is_raw:
        return sentences
    lines = ((sentence, between.join(sentence.forms)) for sentence in sentences)
    return (_of_line(line, cut(line), sentence.location) for sentence, line in lines)


def _of_line(line: str, tokens: Sequence[Offsets], location: Location) -> Sentence:
    """Return the sentence of a line of raw text, which it keeps in a comment."""
    comments = (f"{conllu.TEXT}{line}",) if tokens else ()
    return Sentence(tuple(line[a:b] for a, b in tokens), comments=comments, location=location)


def load_for(tagger: ChainPredictor, argument: str, format: str | None = None) -> Corpus:  # noqa: A002
    """Load a corpus for a model. Raw text is cut into words as the text that the model learned from."""
    corpus = load(argument, format, tagger.guideline, tagger.model.layers(tagger.guideline))
    model = Tokenization.from_json(tagger.model.about.get("tokens"))
    is_raw = corpus.unit == "character"
    is_text = is_raw or chosen_format(format, parse_argument(argument).path) is None
    is_bare = not any(sentence.layers or sentence.heads or sentence.columns for sentence in corpus)
    if tagger.model.of_characters or not is_text or not is_bare or (is_raw and model.tokens == "blanks"):
        return corpus
    shown = [("" if is_raw else " ").join(sentence.forms) for sentence in corpus.sentences[:_LINES]]
    return replace(corpus, sentences=tuple(_in_words(iter(corpus.sentences), is_raw, model, shown)), unit="word")


Item = TypeVar("Item")

_BLOCK = 2000  # items at a time


def ready_blocks(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Yield the items in blocks of a fixed size, or smaller ones when a pipe has no more ready."""
    block: list[Item] = []
    for item in items:
        block.append(item)
        if len(block) == _BLOCK or is_awaited():
            yield block
            block = []
    if block:
        yield block


def blocks_of(sentences: Iterable[Sentence], of_documents: bool) -> Iterator[list[Sentence]]:
    """Yield sentences as `ready_blocks`, or documents whole: a model that looks at them waits for the end of each."""
    return in_blocks_of_documents(sentences, _BLOCK) if of_documents else ready_blocks(sentences)


def flushing(items: Iterable[Item], stream: IO[str]) -> Iterator[Item]:
    """Pass items on, and flush the stream when no more come for now: who reads it may write the next line."""
    for item in items:
        yield item
        if is_awaited():
            stream.flush()


def write_lines(output: str, lines: Iterable[str]) -> None:
    """Write lines, as a whole file or not at all; `-` is standard output."""
    with written(output) as stream:
        stream.writelines(flushing((line + "\n" for line in lines), stream))
