"""Segmenters, which cut text into words and may tag them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tagweave.cluster.shared_file import private_folder
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.given import kind_of
from tagweave.corpus.sentence import Sentence
from tagweave.front.corpora import corpus_of
from tagweave.front.inputs import sentence_of
from tagweave.front.label_model import LabelModel, as_text
from tagweave.front.tokenised import cut_by
from tagweave.streams.blocks import ready_blocks
from tagweave.streams.characters import CharacterLabelling, raw_evidence
from tagweave.streams.errors import StreamError
from tagweave.streams.raw_text import by_tables
from tagweave.training.task import Task

if TYPE_CHECKING:
    from tagweave.front.file_options import LabelOptions
    from tagweave.models.chain_predictor import ChainPredictor
    from tagweave.models.table_segmenter import TableSegmenter
    from tagweave.streams.pipeline import Stage


class Segmenter(LabelModel):
    """A model that cuts text into words."""

    def cut(self, text: str) -> list[str]:
        """Cut a text into words. Blanks are boundaries; Latin words, numbers, URLs and e-mail addresses stay whole.

        Raises:
            TypeError: not a text.
        """
        if not isinstance(text, str):
            raise TypeError(f"found {kind_of(text)}, expected a text; cut_all takes several")
        return [word for words in self.cut_all(text.splitlines()) for word in words]

    def cut_all(self, lines: Iterable[str]) -> Iterator[list[str]]:
        """Cut lines into words: a stream of any length, in the memory of one block.

        Raises:
            TypeError: `lines` is one text.
        """
        if isinstance(lines, str):
            raise TypeError("found one text, expected lines; cut takes one text")
        if not isinstance(lines, Iterable):
            raise TypeError(f"found {kind_of(lines)}, expected lines of text")
        segmenter = self._by_tables(True)
        if segmenter is None:
            yield from (list(sentence.forms) for sentence in self.words(lines))
        else:
            yield from (line.split() for line in segmenter.segment(lines))

    def tag(self, data: Any) -> Any:
        """Tag a text: words as `word/TAG`, separated by blanks; for several texts, a list.

        Raises:
            TypeError: the model has no tags, or the argument is not text.
        """
        if self.chain.task != "segtag":
            raise TypeError("found tag() with a segmenter without tags, expected cut(), or a model of the task segtag")
        if isinstance(data, str):
            return "\n".join(as_text(sentence) for sentence in self.words(data.splitlines()))
        if isinstance(data, (Mapping, Set, Sentence, Corpus)) or not isinstance(data, Iterable):
            raise TypeError(f"found {kind_of(data)}, expected a text or several: the model finds the words itself")
        return [self.tag(each) for each in data]

    def relabelled(self, corpus: Corpus) -> Corpus:
        """See `Model.relabelled`."""
        corpus = corpus_of(corpus)
        name, tagger = corpus.guideline, self._under_guideline_of(corpus)
        own = tagger.guideline
        words = self.words(("".join(sentence.forms) for sentence in corpus), tagger)
        sentences = (replace(s, layers={name: s.layers[own]} if own in s.layers else {}) for s in words)
        return Corpus(tuple(sentences), name, "word", path=corpus.path)

    def stage(self, retag: bool = False, non_projective: bool = False) -> Stage:
        """Raise StreamError: see `Model.stage`."""
        raise StreamError(f"found `then={self.name}`, a model of characters, expected a tagger of words or a parser")

    def _by_tables(self, whole_runs: bool) -> TableSegmenter | None:
        """The fast path from raw text to words, if the model has one; its tables are made once, those of a file for all
        processes."""
        if whole_runs not in self._tables:
            folder = None
            with suppress(OSError):
                folder = private_folder("tables") if self.is_stored else None
            self._tables[whole_runs] = by_tables(self._tagger, whole_runs, folder)
        return self._tables[whole_runs]

    @cached_property
    def _tables(self) -> dict[bool, TableSegmenter | None]:
        return {}

    def words(self, lines: Iterable[str], tagger: ChainPredictor | None = None) -> Iterator[Sentence]:
        """Each line as a sentence of words, with tags if the model has any; by default of the target guideline."""
        tagger = tagger or self._tagger
        for block in ready_blocks(Sentence(tuple(line)) for line in lines):
            for sentence in tagger.complete(raw_evidence(tagger, block)):
                yield tagger.words(sentence)

    def _labelling(self, input: str, options: LabelOptions) -> CharacterLabelling:  # noqa: A002
        if options.tokens:
            raise StreamError(f"found `tokens` and {self.name}, which cuts text itself, expected a tagger of words")
        tagger, whole_runs = self.under(options.to), not options.split_runs
        return CharacterLabelling(
            tagger,
            input,
            options.format,
            options.retag,
            options.completes,
            self.tell,
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
