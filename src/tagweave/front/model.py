"""Trained models put to use: what goes in as words, text, sentences or corpora comes out as the same.

A model is one of three classes, which share a base: `Tagger` labels words, `Segmenter` cuts text into words (and tags
them, if it was trained to), `Parser` finds trees.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from io import StringIO
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.models.chain import ChainModel
from tagweave.models.tree import TreeModel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tagweave.models.ranking import Ranked
    from tagweave.training.plan import TrainingPlan
    from tagweave.training.train import Training


@dataclass
class Model(ABC):
    """A trained model.

    Attributes:
        trained: the weights and what they mean.
        threads: how many threads share the work.
    """

    trained: Any
    threads: int = 1

    @property
    def about(self) -> dict[str, Any]:
        """What the model tells of its making."""
        found: dict[str, Any] = self.trained.about
        return found

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
        found: float | None = self.about.get("dev_score")
        return found

    @property
    def chain(self) -> ChainModel:
        """The model over label sequences.

        Raises:
            TypeError: a parser.
        """
        if not isinstance(self.trained, ChainModel):
            raise TypeError("found a parser, expected a model of labels")
        return self.trained

    @abstractmethod
    def save(self, path: str | PathLike[str]) -> None:
        """Write the model; the file appears whole or not at all.

        Raises:
            OSError: it cannot be written.
        """

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


class _OfLabels(Model):
    """A model over label sequences."""

    def save(self, path: str | PathLike[str]) -> None:
        """See `Model.save`."""
        from tagweave.models.storage import save_model

        save_model(self.chain, fspath(path))

    @cached_property
    def _tagger(self) -> Any:
        from tagweave.models.tagger import Tagger as OfSentences

        return OfSentences(self.chain, self.threads)

    @property
    def guidelines(self) -> tuple[str, ...]:
        """The guidelines that it knows, the target first."""
        return tuple(view.guideline for view in self.chain.structure.space.sides)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the target guideline, in the order of the columns of `probabilities`."""
        names: tuple[str, ...] = self._tagger.labels
        return names

    def convert(self, corpus: Corpus, to: str | None = None) -> Corpus:
        """See `Model.convert`."""
        from tagweave.conversion.labels import convert, sources

        others = [name for name in self.guidelines if name != corpus.guideline]
        if to is None and len(others) != 1:
            raise ValueError(f"found {len(others)} other guidelines, expected to=, one of {', '.join(self.guidelines)}")
        to = to or others[0]
        if corpus.guideline not in (to, *sources(self.chain, to)):
            known = ", ".join(sources(self.chain, to)) or "none"
            raise ValueError(f"found a corpus of {corpus.guideline!r}, expected one that guides to {to}: {known}")
        prepared = corpus if self.chain.task == "tag" else _in_tokens(self.chain, corpus)
        return convert(self.chain, prepared, to, self.threads)


class Tagger(_OfLabels):
    """A model that labels words."""

    def tag(self, given: Any) -> Any:
        """Label words.

        | what goes in | what comes out |
        |---|---|
        | a list of words | a list of labels |
        | a text of words with blanks between them | a text of words with labels, `word/LABEL` |
        | a `Sentence` | the sentence with labels in the layer of the model's guideline |
        | a `Corpus` | the corpus, relabelled |
        | a list of these | a list of what comes out of each |

        Labels that are given are not looked at (`complete` keeps them).

        Raises:
            TypeError: something else.
        """
        return _each(given, self._sentences)

    def _sentences(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        return list(self._tagger.tag(sentences))

    def relabelled(self, corpus: Corpus) -> Corpus:
        """See `Model.relabelled`."""
        own = self._tagger.guideline
        bare = (replace(sentence, layers={}) for sentence in corpus)
        labelled = [replace(s, layers={corpus.guideline: s.layers[own]}) for s in self._tagger.tag(bare)]
        return replace(corpus.with_sentences(labelled), covered=None)

    def complete(self, corpus: Corpus) -> Corpus:
        """See `Model.complete`."""
        found: Corpus = self._tagger.complete(corpus)
        return found

    def probabilities(self, words: Sequence[str] | Sentence) -> NDArray[np.floating[Any]]:
        """[L, labels]: the probability of every label (`labels` names them) at every word."""
        sentence = words if isinstance(words, Sentence) else Sentence(tuple(words))
        table: NDArray[np.floating[Any]] = self._tagger.probabilities([sentence])[0]
        return table

    def k_best(self, words: Sequence[str] | Sentence, k: int) -> list[Ranked]:
        """The k best label sequences of a sentence with their probabilities, the most probable first."""
        sentence = words if isinstance(words, Sentence) else Sentence(tuple(words))
        found: list[Ranked] = self._tagger.k_best(sentence, k)
        return found

    @property
    def _what(self) -> str:
        return "a tagger of words"


class Segmenter(_OfLabels):
    """A model that cuts text into words."""

    def cut(self, text: str) -> list[str]:
        """The words of a text. Blanks are boundaries; Latin words, numbers, URLs and e-mail addresses stay whole.

        Raises:
            TypeError: not a text.
        """
        if not isinstance(text, str):
            raise TypeError(f"found {type(text).__name__}, expected a text; cut_all takes several")
        return [word for words in self.cut_all(text.splitlines()) for word in words]

    def cut_all(self, lines: Iterable[str]) -> Iterator[list[str]]:
        """The words of every line, as a stream of any length.

        Raises:
            TypeError: one text.
        """
        if isinstance(lines, str):
            raise TypeError("found one text, expected lines; cut takes one text")
        if self._by_tables is None:
            yield from (list(sentence.forms) for sentence in self._words(lines))
        else:
            yield from (line.split() for line in self._by_tables.segment(lines))

    def tag(self, given: Any) -> Any:
        """The words of a text with their tags, `word/TAG` with blanks between; of several texts, a list.

        Raises:
            TypeError: a model without tags, or something else than text.
        """
        if self.chain.task != "segtag":
            raise TypeError("found tag() with a segmenter without tags, expected cut(), or a model of the task segtag")
        if isinstance(given, str):
            return "\n".join(_written(sentence) for sentence in self._words(given.splitlines()))
        return [self.tag(each) for each in given]

    def relabelled(self, corpus: Corpus) -> Corpus:
        """See `Model.relabelled`."""
        own, name = self._tagger.guideline, corpus.guideline
        words = self._words("".join(sentence.forms) for sentence in corpus)
        named = (replace(s, layers={name: s.layers[own]} if own in s.layers else {}) for s in words)
        return Corpus(tuple(named), name, "word", path=corpus.path)

    def complete(self, corpus: Corpus) -> Corpus:
        """See `Model.complete`; the result is of characters."""
        found: Corpus = self._tagger.complete(_in_tokens(self.chain, corpus))
        return found

    @cached_property
    def _by_tables(self) -> Any:
        """The fast path, where the model has one; `None` where it does not."""
        from tagweave.models.characters import UnfitModelError
        from tagweave.models.segmenter import Segmenter as ByTables

        try:
            return ByTables(self.chain, self.threads)
        except UnfitModelError:
            return None

    def _words(self, lines: Iterable[str]) -> list[Sentence]:
        """Every line as a sentence of words, with tags if the model has any."""
        from tagweave.harvest.runs import without_blanks
        from tagweave.labels.coding import SEGMENTATION

        cut = tuple(without_blanks(Sentence(tuple(line))) for line in lines)
        coded = _in_tokens(self.chain, Corpus(cut, SEGMENTATION, "character"))
        own = self._tagger.guideline
        evidence = coded.map(lambda s: replace(s, layers={own: s.layers[SEGMENTATION]}))
        return [self._tagger.words(s) for s in self._tagger.complete(replace(evidence, guideline=own))]

    @property
    def _what(self) -> str:
        return "a segmenter"


class Parser(Model):
    """A model that finds trees."""

    @property
    def guidelines(self) -> tuple[str, ...]:
        """The guideline of its trees."""
        return (self.trained.guideline,)

    def save(self, path: str | PathLike[str]) -> None:
        """See `Model.save`."""
        from tagweave.models.storage import save_model

        save_model(self.trained, fspath(path))

    @cached_property
    def _parser(self) -> Any:
        from tagweave.models.parser import Parser as OfSentences

        return OfSentences(self.trained, self.threads)

    def parse(self, given: Sentence | Corpus | Iterable[Sentence]) -> Any:
        """Sentences, with the tags that the parser looks at, with their trees; what went in comes out.

        Raises:
            CorpusError: a sentence that is too long.
        """
        if isinstance(given, Sentence):
            return next(self._sentences([given]))
        if isinstance(given, Corpus):
            return self.relabelled(given)
        return list(self._sentences(given))

    def _sentences(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        from tagweave.features.given_columns import given_columns, with_columns

        names = given_columns(self.trained.features.templates.columns)
        found: Iterator[Sentence] = self._parser.parse(with_columns(each, names) for each in sentences)
        return found

    def relabelled(self, corpus: Corpus) -> Corpus:
        """See `Model.relabelled`."""
        own, name = self.trained.guideline, corpus.guideline
        bare = (replace(sentence, heads={}) for sentence in corpus)
        parsed = [replace(each, heads={name: each.heads[own]}) for each in self._sentences(bare)]
        return corpus.with_sentences(parsed)

    def complete(self, corpus: Corpus) -> Corpus:
        """See `Model.complete`."""
        return corpus.with_sentences(self._parser.complete(corpus, corpus.guideline))

    def convert(self, corpus: Corpus, to: str | None = None) -> Corpus:
        """See `Model.convert`."""
        from tagweave.conversion.trees import convert_trees

        if to not in (None, self.trained.guideline):
            raise ValueError(f"found to={to!r}, expected {self.trained.guideline!r}, the guideline of the parser")
        return convert_trees(self.trained, corpus, self.threads)

    @property
    def _what(self) -> str:
        return "a parser"


def load_model(path: str | PathLike[str], threads: int = 1) -> Model:
    """Read a model of any kind.

    Raises:
        ModelFileError: not a model of this program, a damaged file, or one of a newer version.
        FileNotFoundError: no such file.
    """
    from tagweave.models.storage import load_model

    return _put_to_use(load_model(fspath(path)), threads)


def of_training(training: Training) -> Model:
    """The model of a training, which tells of its making."""
    return _put_to_use(replace(training.model, about=training.about()), training.kept.job.plan.threads)


def _put_to_use(trained: ChainModel | TreeModel, threads: int) -> Model:
    if isinstance(trained, TreeModel):
        return Parser(trained, threads)
    return Segmenter(trained, threads) if trained.coding else Tagger(trained, threads)


def _in_tokens(model: ChainModel, corpus: Corpus) -> Corpus:
    from tagweave.training.task import Task

    return Task(model.task, model.coding).prepare(corpus)


def _each(given: Any, label: Callable[[Sequence[Sentence]], list[Sentence]]) -> Any:
    """What goes in, labelled: see `Tagger.tag`."""
    if isinstance(given, Corpus):
        return given.with_sentences(label(given.sentences))
    if isinstance(given, Sentence):
        return label([given])[0]
    if isinstance(given, str):
        return "\n".join(map(_written, label([Sentence(tuple(line.split())) for line in given.splitlines()])))
    if not isinstance(given, Iterable):
        raise TypeError(f"found {type(given).__name__}, expected words, a text, a sentence, a corpus, or several")
    return _of_several(list(given), label)


def _of_several(several: list[Any], label: Callable[[Sequence[Sentence]], list[Sentence]]) -> list[Any]:
    """A list of words, or of whatever else can be labelled; many sentences are labelled together."""
    if several and all(isinstance(each, str) and not re.search(r"\s", each) for each in several):
        return _labels(label([Sentence(tuple(several))])[0])
    if all(isinstance(each, (list, tuple)) for each in several):
        return [_labels(each) for each in label([Sentence(tuple(words)) for words in several])]
    if all(isinstance(each, Sentence) for each in several):
        return label(several)
    return [_each(each, label) for each in several]


def _labels(sentence: Sentence) -> list[str]:
    [layer] = sentence.layers.values()
    return [candidates[0] for candidates in layer if candidates]


def _written(sentence: Sentence) -> str:
    """A line of words with their labels."""
    from tagweave.corpus.formats.tagged import write

    stream, [layer] = StringIO(), sentence.layers
    write([sentence], stream, layer=layer)
    return stream.getvalue().rstrip("\n")
