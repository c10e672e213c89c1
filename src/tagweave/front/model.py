"""Trained models put to use: what goes in as words, text, sentences or corpora comes out as the same.

A model is one of three classes, which share a base: `Tagger` labels words, `Segmenter` cuts text into words (and tags
them, if it was trained to), `Parser` finds trees.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from tagweave.corpus.corpus import Corpus
from tagweave.front.file_options import ConvertOptions, LabelOptions
from tagweave.streams.errors import StreamError
from tagweave.streams.guidelines import check_guideline
from tagweave.streams.notes import Tell, say

if TYPE_CHECKING:
    from tagweave.models.chain import ChainModel
    from tagweave.models.tagger import Tagger as SentenceTagger
    from tagweave.streams.conversion import Conversion
    from tagweave.streams.input import Input
    from tagweave.streams.pipeline import Stage
    from tagweave.streams.review import ReviewList
    from tagweave.training.plan import TrainingPlan

File = str | PathLike[str]


@dataclass
class Model(ABC):
    """A trained model.

    Attributes:
        trained: the weights and what they mean.
        threads: how many threads share the work.
        name: of the model, for messages: its file.
        tell: takes notes on what was assumed of a file; by default they go to standard error.
    """

    trained: Any
    threads: int = 1
    name: str = "the model"
    tell: Tell = say

    @property
    def about(self) -> dict[str, Any]:
        """What the model tells of its making."""
        about: dict[str, Any] = self.trained.about
        return about

    @property
    def plan(self) -> TrainingPlan:
        """The plan by which it was trained.

        Raises:
            PlanError: the model does not tell.
        """
        from tagweave.training.again import plan_of

        return plan_of(self.about)

    @property
    def score(self) -> float | None:
        """Its score on the development data, if there were any."""
        score: float | None = self.about.get("dev_score")
        return score

    @property
    def chain(self) -> ChainModel:
        """The model over label sequences.

        Raises:
            StreamError: a parser.
        """
        raise StreamError(f"{self.name}: found {self._what}, expected a model of labels")

    def under(self, guidelines: Sequence[str] = ()) -> SentenceTagger:
        """The model as it labels sentences of its tokens under guidelines; under its target, where none is named.

        Raises:
            StreamError: the model does not know a guideline, or is a parser.
        """
        from tagweave.models.tagger import Tagger

        for guideline in guidelines:
            check_guideline(self.chain, guideline, self.name)
        return Tagger(self.chain, self.threads, guidelines[0] if guidelines else None, guidelines[1:])

    @property
    @abstractmethod
    def guidelines(self) -> tuple[str, ...]:
        """The guidelines that it knows, the target first."""

    def save(self, path: File) -> None:
        """Write the model; the file appears whole or not at all.

        Raises:
            OSError: it cannot be written.
        """
        from tagweave.models.storage import save_model

        save_model(self.trained, fspath(path))

    @abstractmethod
    def relabelled(self, corpus: Corpus) -> Corpus:
        """The text of a corpus with what the model says of it; its own annotation is not looked at."""

    @abstractmethod
    def complete(self, corpus: Corpus) -> Corpus:
        """The corpus with what is unknown or ambiguous filled in; what is given is never changed.

        Raises:
            CorpusError: a label that the model does not know, or evidence that nothing satisfies.
        """

    @abstractmethod
    def convert(self, corpus: Corpus, to: str | None = None) -> Corpus:
        """The corpus under another guideline of the model, with the confidence of every label.

        Args:
            corpus: with labels or trees of a guideline that the model knows.
            to: the guideline that is wanted; of two that the model has, the other one.

        Raises:
            ValueError: the model has no other guideline, or several.
            CorpusError: labels that the model does not know or that exclude one another.
        """

    def label_file(self, input: File = "-", output: File = "-", **options: Any) -> None:  # noqa: A002
        """Label a file of any length in constant memory, as `tagweave tag` does.

        Args:
            input: `PATH[#LAYER]`; `-` is standard input. What the layer says is kept; the rest is filled in.
            output: the file, which appears whole or not at all; `-` is standard output.
            options: fields of `LabelOptions`.

        Raises:
            StreamError: an option that is not for this model, or not together with another one.
            CorpusError: an input that the model cannot read, or labels that it does not know.
            OSError: a file cannot be read or written.
            TypeError: an option that there is not.
        """
        self._label(fspath(input), fspath(output), LabelOptions(**options))

    def complete_file(self, input: File, output: File = "-", **options: Any) -> None:  # noqa: A002
        """Fill in what a corpus leaves open, and keep its format, as `tagweave complete` does: see `label_file`."""
        self._label(fspath(input), fspath(output), LabelOptions(**options, completes=True))

    def convert_file(
        self,
        input: File,  # noqa: A002
        output: File = "-",
        to: str | None = None,
        **options: Any,
    ) -> ReviewList:
        """Convert a corpus of any length to another guideline in constant memory, as `tagweave convert` does.

        Args:
            input: `[GUIDELINE=]PATH[#LAYER]`; `-` is standard input.
            output: the file, which appears whole or not at all; `-` is standard output.
            to: the guideline that is wanted; of two that the model has, the other one.
            options: fields of `ConvertOptions`.

        Returns:
            the least certain tokens, as many as `review` asks for.

        Raises:
            StreamError: guidelines that do not fit, or an option that is not for this model.
            CorpusError: an input without annotation, or with labels that the model does not know.
            OSError: a file cannot be read or written.
            TypeError: an option that there is not.
        """
        from tagweave.streams.input import Input

        wanted = ConvertOptions(**options)
        work, note = self._conversion(Input(fspath(input), wanted.format), to, wanted)
        if note:
            self.tell(note)
        self._write_converted(work, fspath(output), wanted)
        for each in work.notes():
            self.tell(each)
        return work.review

    @abstractmethod
    def stage(self, retag: bool = False, non_projective: bool = False) -> Stage:
        """The model as one that goes on where another one stops: `LabelOptions.then`.

        Raises:
            StreamError: a model of characters.
        """

    @abstractmethod
    def _label(self, input: str, output: str, wanted: LabelOptions) -> None:  # noqa: A002
        """See `label_file`."""

    @abstractmethod
    def _conversion(self, given: Input, to: str | None, wanted: ConvertOptions) -> tuple[Conversion, str]:
        """The conversion of a file, and a note on what it was taken for, or ""."""

    def _shared(self, wanted: ConvertOptions) -> dict[str, Any]:
        """Fields of the conversions of all models."""
        from tagweave.streams.review import ReviewList

        return {"threads": self.threads, "confidence": wanted.confidence, "review": ReviewList(wanted.review)}

    def _write_converted(self, work: Conversion, output: str, wanted: ConvertOptions) -> None:
        work.write(output, wanted.output_format, wanted.progress)

    def tag(self, given: Any) -> Any:
        """Label words: see `Tagger.tag`, `Segmenter.tag`."""
        raise TypeError(f"found tag() with {self._what}, expected a model of the task tag or segtag")

    def cut(self, text: str) -> list[str]:
        """Cut text into words: see `Segmenter.cut`."""
        raise TypeError(f"found cut() with {self._what}, expected a model of the task segment or segtag")

    def cut_all(self, lines: Iterable[str]) -> Iterator[list[str]]:
        """Cut lines into words: see `Segmenter.cut_all`."""
        raise TypeError(f"found cut_all() with {self._what}, expected a model of the task segment or segtag")

    def parse(self, given: Any) -> Any:
        """Find trees: see `Parser.parse`."""
        raise TypeError(f"found parse() with {self._what}, expected a model of the task parse")

    @property
    @abstractmethod
    def _what(self) -> str:
        """What the model is, for messages."""
