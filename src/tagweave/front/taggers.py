"""Taggers, which label words and find spans, and segmenters, which cut text into words and may tag them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice
from operator import index
from typing import TYPE_CHECKING, Any

from tagweave.corpus.candidates import format_candidates
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats.conllu import in_surface_tokens
from tagweave.corpus.sentence import Candidates, Sentence, kind_of
from tagweave.errors import StreamError
from tagweave.exchange.tokens import text_lines, tokenizer
from tagweave.front.corpora import corpus_of
from tagweave.front.label_model import Item, LabelModel, as_text, cut_by, read, sentence_of
from tagweave.labels import SPANS
from tagweave.labels.transition_scheme import codes_spans
from tagweave.models.packing import private_folder
from tagweave.streams.characters import CharacterLabelling, raw_evidence
from tagweave.streams.inputs import ready_blocks
from tagweave.streams.labelling import WordLabelling, fill_in_tags
from tagweave.training.fit.task import Task

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tagweave.front.label_model import Tokenised
    from tagweave.front.options import LabelOptions
    from tagweave.models.chain_predictor import ChainPredictor, TaggedSpans
    from tagweave.models.pair_tables import TableSegmenter
    from tagweave.models.ranking import RankedLabels
    from tagweave.streams.stream import Stage

LEAST = 1e-6
"""Smaller probabilities are left out, or said to be this large."""
DIGITS = 6


@dataclass(frozen=True, slots=True)
class LabelledSpan:
    """A span that a model found.

    Attributes:
        label: its label.
        first, last: its tokens, first .. last - 1 of all tokens of the text.
        start, end: its characters, start .. end - 1 of the text; `None` where tokens were given.
        probability: of the span and its label; `None` if nobody asked.
    """

    label: str
    first: int
    last: int
    start: int | None = None
    end: int | None = None
    probability: float | None = None


def label_text(candidates: Candidates) -> str | None:
    """Return the label of a position, several as `A|B`, or `None` if it is unknown."""
    return None if candidates is None else candidates[0] if len(candidates) == 1 else format_candidates(candidates)


def label_probabilities(tagger: ChainPredictor, sentence: Sentence, table: Any) -> list[float | None]:
    """Return the probability of the first label of each token, from the probabilities of all labels."""
    number = {name: at for at, name in enumerate(tagger.labels)}
    rows = zip(table, sentence.layers[tagger.guideline], strict=True)
    return [round(float(row[number[labels[0]]]), DIGITS) if labels else None for row, labels in rows]


def in_text(text: Tokenised, spans: Sequence[TaggedSpans]) -> list[LabelledSpan]:
    """Return spans of sentences as spans of the text, with characters if it has them."""
    in_order: list[LabelledSpan] = []
    before = 0
    for at, tagged in enumerate(spans):
        for first, last, label, number in tagged:
            start = end = None
            if text.offsets is not None:
                start, end = text.offsets[at][first][0], text.offsets[at][last - 1][1]
            probability = None if number is None else round(min(max(number, LEAST), 1.0), DIGITS)
            in_order.append(LabelledSpan(label, before + first, before + last, start, end, probability))
        before += len(text.sentences[at])
    return in_order


class Tagger(LabelModel):
    """A model that labels words."""

    def tag(
        self, data: Any, tokens: str | None = None, precision: float | None = None, recall: float | None = None
    ) -> Any:
        """Label words.

        | argument | result |
        |---|---|
        | a list of words | a list of labels |
        | a text | a text of words with labels, `word/LABEL`: a line for each of its lines |
        | a `Sentence` | the sentence with labels in the layer that the model learned, or its guideline's |
        | a `Corpus` | the corpus, relabelled; this layer is its own |
        | a pair (tokens, labels) | a list of labels |
        | a data frame with the columns `sentence` and `token` | a list of labels, one for each row |
        | several of these: a list, an iterator | a list of their results |

        Existing labels are ignored (`complete` keeps them).

        Args:
            data: as above.
            tokens: how a text is cut: at `blanks`, into `words` (punctuation stands alone), `characters`, or by
                `spacy:LANGUAGE`. By default as the text that the model learned from (`tokenization`), or at blanks if
                the text has blanks before its punctuation.
            precision: say only what is right with this probability; other labels are `None`.
            recall: say candidates, too, `A|B`, until this share of what is right is among them.

        Raises:
            TypeError: another type.
            ExchangeError: another way to cut.
            StreamError: development data do not promise this level.
        """
        items, are_several = read(data, cut_by(tokens or self.tokenization))
        sentences = (sentence for item in items for sentence in item.sentences)
        selected = self.selection(precision, recall)
        labelled = self._tagger.tag(sentences)
        if selected is not None:
            labelled = (sentence for sentence, _ in selected.of_text(self._tagger, sentences))
        answers = [self._answer(item, list(islice(labelled, len(item.sentences)))) for item in items]
        return answers if are_several else answers[0]

    def spans(
        self, data: Any, tokens: str | None = None, precision: float | None = None, recall: float | None = None
    ) -> Any:
        """Find spans, such as entities, with their probabilities, as `tagweave serve` does.

        Args:
            data: as for `tag`; spans of a text have offsets of characters, too.
            tokens: as for `tag`.
            precision: say only spans that are right with this probability.
            recall: say others, too, which may overlap, until this share of what is right is among them.

        Returns:
            a list of `LabelledSpan`; for several things a list of lists.

        Raises:
            TypeError: the labels of the model code no spans, or another type.
        """
        if not codes_spans(self._tagger.labels):
            raise TypeError(f"found {self.name}, whose labels code no spans, expected a model of the task spans")
        items, are_several = read(data, cut_by(tokens or self.tokenization))
        sentences = (sentence for item in items for sentence in item.sentences)
        selected = self.selection(precision, recall)
        if selected is not None and self.trained.task != SPANS:
            raise TypeError(f"found {self.name}, which is sure of tokens, expected a model of the task spans")
        tagged = self._tagger.tag_spans(sentences) if selected is None else selected.of_text(self._tagger, sentences)
        spans = (spans_of_sentence for _, spans_of_sentence in tagged)
        answers = [in_text(item.text, list(islice(spans, len(item.sentences)))) for item in items]
        return answers if are_several else answers[0]

    def relabelled(self, corpus: Corpus) -> Corpus:
        corpus = corpus_of(corpus)
        tagger = self._under_guideline_of(corpus)
        bare = (replace(sentence, layers={}) for sentence in corpus)
        labelled = [replace(s, layers={corpus.guideline: s.layers[tagger.guideline]}) for s in tagger.tag(bare)]
        return replace(corpus.with_sentences(labelled), covered=None)

    def probabilities(self, words: str | Sequence[str] | Sentence) -> NDArray[np.floating[Any]]:
        """[L, labels]: the probability of every label (`labels` names them) at every word."""
        return self._tagger.probabilities([self._sentence(words)])[0]

    def k_best(self, words: str | Sequence[str] | Sentence, k: int) -> list[RankedLabels]:
        """The k best label sequences of a sentence with their probabilities, the most probable first."""
        return self._tagger.k_best(self._sentence(words), index(k))

    def stage(self, retag: bool = False, non_projective: bool = False) -> Stage:
        return partial(fill_in_tags, tagger=self._tagger, retag=retag)

    def _labelling(self, input: str, options: LabelOptions) -> WordLabelling:  # noqa: A002
        tagger = self.under(options.to) if options.to else self._tagger
        cut = tokenizer(options.tokens) if options.tokens else None
        return WordLabelling(
            tagger,
            input,
            options.format,
            options.retag,
            options.completes,
            self.tell,
            self.selection(options.precision, options.recall),
            tokens=cut,
            tokenization=self.tokenization,
        )

    def _answer(self, item: Item, labelled: list[Sentence]) -> Any:
        guideline = self._tagger.guideline
        if item.corpus is not None:
            layer = self.layer_in(item.corpus) or guideline
            written = (self._in_layer(layer, *pair) for pair in zip(item.sentences, labelled, strict=True))
            return replace(item.corpus.with_sentences(written), guideline=layer)
        if item.kind == "sentence":
            layer = self._tagger.layer_in(item.sentences[0].layers) or guideline
            return self._in_layer(layer, item.sentences[0], labelled[0])
        if item.kind == "text":
            return "\n".join(map(as_text, labelled))
        positions = (candidates for sentence in labelled for candidates in sentence.layers[guideline] or ())
        return [label_text(candidates) for candidates in positions]

    def _in_layer(self, layer: str, sentence: Sentence, labelled: Sentence) -> Sentence:
        return labelled.with_valid_layers({**sentence.layers, layer: labelled.layers[self._tagger.guideline]})

    def _sentence(self, data: Any) -> Sentence:
        return sentence_of(data, cut_by(self.tokenization))

    def _in_tokens(self, corpus: Corpus) -> Corpus:
        return corpus

    @property
    def _what(self) -> str:
        return "a tagger of words"


class Segmenter(LabelModel):
    """A model that cuts text into words."""

    def cut(self, text: str) -> list[str]:
        """Cut a text into words. Blanks are boundaries; Latin words, numbers, URLs and e-mail addresses stay whole."""
        if not isinstance(text, str):
            raise TypeError(f"found {kind_of(text)}, expected a text; cut_all takes several")
        return [word for words in self.cut_all(text_lines(text)) for word in words]

    def cut_all(self, lines: Iterable[str]) -> Iterator[list[str]]:
        """Cut lines into words: a stream of any length, in the memory of one block."""
        if isinstance(lines, str):
            raise TypeError("found one text, expected lines; cut takes one text")
        if not isinstance(lines, Iterable):
            raise TypeError(f"found {kind_of(lines)}, expected lines of text")
        segmenter = self._by_tables(True)
        if segmenter is None:
            yield from (list(sentence.forms) for sentence in self.words(lines))
        else:
            yield from (line.split(" ") if line else [] for line in segmenter.segment(lines))

    def tag(self, data: Any) -> Any:
        """Tag a text: words as `word/TAG`, separated by blanks; for several texts, a list."""
        if self.chain.task != "segtag":
            raise TypeError("found tag() with a segmenter without tags, expected cut(), or a model of the task segtag")
        if isinstance(data, str):
            return "\n".join(as_text(sentence) for sentence in self.words(text_lines(data)))
        if isinstance(data, (Mapping, Set, Sentence, Corpus)) or not isinstance(data, Iterable):
            raise TypeError(f"found {kind_of(data)}, expected a text or several: the model finds the words itself")
        return [self.tag(text) for text in data]

    def relabelled(self, corpus: Corpus) -> Corpus:
        corpus = corpus_of(corpus)
        tagger = self._under_guideline_of(corpus)
        words = self.words(("".join(in_surface_tokens(sentence).forms) for sentence in corpus), tagger)
        names = {tagger.guideline: corpus.guideline}
        sentences = (sentence.with_layers_of(names).renamed(names) for sentence in words)
        return Corpus(tuple(sentences), corpus.guideline, "word", path=corpus.path)

    def stage(self, retag: bool = False, non_projective: bool = False) -> Stage:
        raise StreamError(f"found `then={self.name}`, a model of characters, expected a tagger of words or a parser")

    def _by_tables(self, whole_runs: bool) -> TableSegmenter | None:
        """Return the fast path from raw text to words, if there is one; all processes share tables of a file."""
        from tagweave.models.pair_tables import TableSegmenter, UnfitModelError

        if whole_runs not in self._tables:
            folder = None
            self._tables[whole_runs] = None
            with suppress(OSError):
                folder = private_folder("tables") if self.is_stored else None
            with suppress(UnfitModelError):
                self._tables[whole_runs] = TableSegmenter(self._tagger.model, self.threads, whole_runs, folder)
        return self._tables[whole_runs]

    @cached_property
    def _tables(self) -> dict[bool, TableSegmenter | None]:
        return {}

    def words(self, lines: Iterable[str], tagger: ChainPredictor | None = None) -> Iterator[Sentence]:
        """Cut each line into words, with tags if the model has any; by default of the target guideline."""
        tagger = tagger or self._tagger
        for block in ready_blocks(Sentence(tuple(line)) for line in lines):
            for sentence in tagger.complete(raw_evidence(tagger, block)):
                yield tagger.words(sentence)

    def _labelling(self, input: str, options: LabelOptions) -> CharacterLabelling:  # noqa: A002
        if options.tokens:
            raise StreamError(f"found `tokens` and {self.name}, which cuts text itself, expected a tagger of words")
        tagger = self.under(options.to)
        whole_runs = not options.split_runs
        return CharacterLabelling(
            tagger,
            input,
            options.format,
            options.retag,
            options.completes,
            self.tell,
            self.selection(options.precision, options.recall),
            whole_runs=whole_runs,
            by_tables=lambda: self._by_tables(whole_runs),
        )

    def _sentence(self, data: Any) -> Sentence:
        return sentence_of(data, cut_by("characters"))

    def _in_tokens(self, corpus: Corpus) -> Corpus:
        return Task(self.chain.task, self.chain.coding).prepare(corpus)

    @property
    def _what(self) -> str:
        return "a segmenter"
