"""What all trained models do: `Tagger` labels words, `Segmenter` cuts text, `Parser` finds trees."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tagweave.errors import StreamError
from tagweave.exchange.tokenization import Tokenization
from tagweave.front.options import TO_CONVERT, TO_LABEL, ConvertOptions, LabelOptions, options_of
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.storage import load_model, save_model
from tagweave.options import taking
from tagweave.streams import Tell, say
from tagweave.streams.inputs import Input
from tagweave.streams.labelling import check_guideline

if TYPE_CHECKING:
    from tagweave.corpus.corpus import Corpus
    from tagweave.evaluation.report import LayerReports, Report
    from tagweave.explanation.explanation import Explanations
    from tagweave.front.corpora import Given
    from tagweave.models.chain import ChainModel
    from tagweave.models.selective import Selection
    from tagweave.streams.conversion import Conversion, ReviewList
    from tagweave.streams.stream import Stage
    from tagweave.training.plan import Plan

File = str | PathLike[str]


@dataclass(eq=False, repr=False)
class Model(ABC):
    """A trained model, which takes words, text, sentences or corpora and returns the same type.

    Attributes:
        trained: the model with its weights.
        threads: how many threads share the work.
        name: the name of the model in messages: its file.
        tell: receives notes on assumptions about a file; by default they go to standard error.
        is_stored: whether it was read from a file.
        int8: whether ONNX Runtime computes its network, with weights in int8.
    """

    trained: Any
    threads: int = 1
    name: str = "the model"
    tell: Tell = say
    is_stored: bool = False
    int8: bool = False

    @property
    def about(self) -> dict[str, Any]:
        """How the model was made: its plan and its scores."""
        about: dict[str, Any] = self.trained.about
        return about

    @property
    def plan(self) -> Plan:
        """The plan that the model was trained by. Files have their names and digests, without their folders.

        Raises:
            PlanError: the model has no plan.
        """
        from tagweave.training.retraining import plan_of  # labelling needs no training

        return plan_of(self.about)

    @property
    def score(self) -> float | None:
        """The score on the development data; `None` without any."""
        score: float | None = self.about.get("dev_score")
        return score

    @property
    def tokenization(self) -> Tokenization:
        """How the text that the model learned from was cut into words, and raw text is."""
        return Tokenization.from_json(self.about.get("tokens"))

    @property
    def chain(self) -> ChainModel:
        """The model over label sequences. Raises StreamError for a parser."""
        raise StreamError(f"{self.name}: found {self._what}, expected a model of labels")

    def selection(self, precision: float | None = None, recall: float | None = None) -> Selection | None:
        """Return what the model says at a level; a note names the labels for which the level is not promised.

        Raises:
            StreamError: the level is not promised at all.
        """
        from tagweave.models.selective import selection  # which most labelling does without

        selected = selection(self.trained, precision, recall, self.name)
        if selected and (names := selected.unpromised):
            note = f"development data promise no precision of {precision:g} for {', '.join(names)}, which stay unknown"
            if note not in self._told:
                self._told.add(note)
                self.tell(note)
        return selected

    @cached_property
    def _told(self) -> set[str]:
        """Notes that are told once, and not for every text."""
        return set()

    def __repr__(self) -> str:
        score = "" if self.score is None else f", dev score {self.score:.4f}"
        return f"<{type(self).__name__} {self.name!r}: {self._what} of {', '.join(self.guidelines)}{score}>"

    def __reduce__(self) -> Any:
        """Return the content of the model's file, which executes nothing when it is read again."""
        with TemporaryDirectory() as folder:
            path = Path(folder) / "model"
            self.save(path)
            return of_content, (type(self), path.read_bytes(), self.threads, self.name, self.int8)

    def under(self, guidelines: Sequence[str] = ()) -> ChainPredictor:
        """A tagger for guidelines, by default the target. Raises StreamError for an unknown guideline, or a parser."""
        for guideline in guidelines:
            check_guideline(self.chain, guideline, self.name)
        return ChainPredictor(self.chain, self.threads, guidelines[0] if guidelines else None, guidelines[1:])

    @property
    @abstractmethod
    def guidelines(self) -> tuple[str, ...]:
        """The guidelines of the model, the target first."""

    def save(self, path: File) -> None:
        """Write the model; the file appears whole or not at all. Raises OSError."""
        save_model(self.trained, fspath(path))

    def evaluate(self, gold: Given, **options: Any) -> Report | LayerReports:
        """Return how well the model labels the text of a gold standard: `print(model.evaluate(gold))`.

        Args:
            gold: the gold standard: a corpus, what `Corpus` takes, or a file.
            options: as for `tw.evaluate`, which also compares several models. Raises as it.
        """
        from tagweave.front.evaluation import evaluate  # tables take a while to import, and labelling needs none

        return evaluate(gold, {self.name: self}, **options)

    def update(self, corpus: Given | Sequence[Given], dev: Given | None = None, **options: Any) -> None:
        """Let the model learn from a corpus, and keep what it knows: see `start` of `tw.train`.

        Labels, relations and words may be new. The model's file stays as it is (`save`).

        Args:
            corpus: a corpus of the guideline of the model, what `Corpus` takes, or a file argument; or several.
            dev: the corpus that selects the best iteration.
            options: others of `tw.train`, such as `covers`, `iterations`, or `sources`, text that the model learned
                from before. Raises as it.
        """
        from tagweave.front.training_arguments import start_in_memory, trained  # labelling needs no training
        from tagweave.training.model_file import recorded

        if "start" in options:
            raise TypeError("found `start` with model.update, expected it without: it goes on from the model itself")
        start = start_in_memory(self.name, self.trained)
        self.trained = recorded(trained(corpus, dev=dev, start=start, **{"threads": self.threads, **options}))
        self._forget()

    def _forget(self) -> None:  # noqa: B027 - most models keep nothing
        """Drop what was made of weights that have changed."""

    @abstractmethod
    def relabelled(self, corpus: Corpus) -> Corpus:
        """The text of a corpus with the model's annotation; the annotation of the corpus is ignored."""

    def layer_in(self, corpus: Corpus) -> str | None:
        """Return the layer of a corpus that the model reads and writes; `None` if the corpus lacks the model's own."""
        return corpus.guideline

    @abstractmethod
    def complete(self, corpus: Corpus) -> Corpus:
        """The corpus with unknown and ambiguous positions filled in; known ones never change.

        Raises:
            CorpusError: a label that the model does not know, or evidence that nothing satisfies.
        """

    @abstractmethod
    def why(self, tokens: Any, token: int | None = None, corpus: Given | None = None) -> Explanations:
        """Explain what the model says of a sentence: what speaks for it, and what for the best other answer.

        Scores are sums, so the contributions of features, transitions and a network add up to the difference of the
        scores of both (`explanation.contrast`).

        Args:
            tokens: the sentence, as for `tag`.
            token: the token to explain, from 0, or the span that it is in. By default all spans, or where there are
                none the three tokens that the model is least sure of.
            corpus: the training corpus, for the three sentences that share most of what speaks for the answer.

        Raises:
            ExplanationError: no such token, or a model without a choice.
            TypeError: not one sentence.
        """

    @abstractmethod
    def convert(self, corpus: Corpus, to: str | None = None) -> Corpus:
        """The corpus under another guideline of the model, with the confidence of every label.

        Args:
            corpus: with labels or trees of a guideline that the model knows.
            to: the guideline to convert to; by default the other one, if the model has two.

        Raises:
            ValueError: no `to`, and the model has no other guideline or several.
            CorpusError: labels that the model does not know or that exclude one another.
        """

    @taking(TO_LABEL)
    def label_file(self, input: File = "-", output: File = "-", **options: Any) -> None:  # noqa: A002
        """Label a file of any length in constant memory, as `tagweave tag` does.

        Args:
            input: `PATH[#LAYER]`; `-` is standard input. Labels of the layer are kept; the rest is filled in.
            output: the file, which appears whole or not at all; `-` is standard output.

        Raises:
            StreamError: an option that does not apply to this model, or excludes another one.
            CorpusError: an input that the model cannot read, or labels that it does not know.
            OSError: a file cannot be read or written.
            TypeError: an unknown option.
        """
        self._label(fspath(input), fspath(output), options_of(LabelOptions, "model.label_file", options))

    @taking(TO_LABEL)
    def complete_file(self, input: File, output: File = "-", **options: Any) -> None:  # noqa: A002
        """Fill in the unknown positions of a corpus, in its format, as `tagweave complete` does: see `label_file`."""
        settings = options_of(LabelOptions, "model.complete_file", {**options, "completes": True})
        self._label(fspath(input), fspath(output), settings)

    @taking(TO_CONVERT)
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
            to: the guideline to convert to; by default the other one, if the model has two.

        Returns:
            the `review` least certain tokens.

        Raises:
            StreamError: guidelines that do not fit, or an option that does not apply to this model.
            CorpusError: an input without annotation, or with labels that the model does not know.
            OSError: a file cannot be read or written.
            TypeError: an unknown option.
        """
        settings = options_of(ConvertOptions, "model.convert_file", options)
        work, note = self._conversion(Input(fspath(input), settings.format), to, settings)
        if note:
            self.tell(note)
        self._write_converted(work, fspath(output), settings)
        for line in work.notes():
            self.tell(line)
        return work.review

    @abstractmethod
    def stage(self, retag: bool = False, non_projective: bool = False) -> Stage:
        """The model as a stage after another: see `LabelOptions.then`. Raises StreamError for a model of characters."""

    @abstractmethod
    def _label(self, input: str, output: str, options: LabelOptions) -> None:  # noqa: A002
        ...
    @abstractmethod
    def _conversion(self, source: Input, to: str | None, options: ConvertOptions) -> tuple[Conversion, str]:
        """Return the conversion of a file, and a note on how the file was interpreted, or ""."""

    def _shared(self, options: ConvertOptions) -> dict[str, Any]:
        from tagweave.streams.conversion import ReviewList  # labelling needs no conversion

        return {
            "threads": self.threads,
            "confidence": options.confidence,
            "soft": options.soft,
            "review": ReviewList(options.review),
        }

    def _write_converted(self, work: Conversion, output: str, options: ConvertOptions) -> None:
        work.write(output, options.output_format, options.progress)

    def tag(self, data: Any) -> Any:
        """Label words: see `Tagger.tag`, `Segmenter.tag`."""
        raise TypeError(f"found tag() with {self._what}, expected a model of the task tag or segtag")

    def spans(self, data: Any) -> Any:
        """Find spans: see `Tagger.spans`."""
        raise TypeError(f"found spans() with {self._what}, expected a model of the task spans")

    def cut(self, text: str) -> list[str]:
        """Cut text into words: see `Segmenter.cut`."""
        raise TypeError(f"found cut() with {self._what}, expected a model of the task segment or segtag")

    def cut_all(self, lines: Iterable[str]) -> Iterator[list[str]]:
        """Cut lines into words: see `Segmenter.cut_all`."""
        raise TypeError(f"found cut_all() with {self._what}, expected a model of the task segment or segtag")

    def parse(self, data: Any) -> Any:
        """Find trees: see `Parser.parse`."""
        raise TypeError(f"found parse() with {self._what}, expected a model of the task parse")

    @property
    @abstractmethod
    def _what(self) -> str: ...


def of_content(kind: type[Model], content: bytes, threads: int, name: str, int8: bool = False) -> Model:
    """Return the model of a file with this content. Raises as `load_model`."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        path.write_bytes(content)
        model = kind(load_model(path), threads, name, int8=int8)
    if int8:
        from tagweave.models.int8 import use_int8

        use_int8(model.trained, model.tell)
    return model
