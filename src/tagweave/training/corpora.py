"""Loads the corpora that plans name, with the digests that identify them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tagweave.labels.tasks import OF_WORDS
from tagweave.training.errors import PlanError

if TYPE_CHECKING:
    from tagweave.corpus.corpus import Corpus
    from tagweave.corpus.load import CorpusOutline
    from tagweave.corpus.sentence import Sentence

_OF_CHARACTERS = "segmentation"
"""The guideline of segmentation corpora that name none, whatever their format."""
PARSE = "parse"
"""The task of parsers."""


@dataclass(frozen=True)
class CorpusFile:
    """A corpus, the argument that named it and the SHA-256 digest of its file.

    Attributes:
        too_long: the number of sentences left out because they are too long for parsers.
        note: how the file was read, or "".
    """

    argument: str
    corpus: Corpus
    sha256: str
    too_long: int = 0
    note: str = ""

    @property
    def guideline(self) -> str:
        """The guideline of the corpus."""
        return self.corpus.guideline

    @property
    def is_named(self) -> bool:
        """Whether the argument or the file names the guideline; if not, its name is that of a layer of the format."""
        from tagweave.corpus.formats.registry import layer_names
        from tagweave.corpus.load import parse_argument

        return parse_argument(self.argument).guideline is not None or self.guideline not in layer_names()

    def called(self, guideline: str) -> CorpusFile:
        """The same file with its guideline renamed.

        Raises:
            CorpusError: the file has another layer of that name.
        """
        corpus = replace(
            self.corpus.map(lambda sentence: _renamed(sentence, self.guideline, guideline)), guideline=guideline
        )
        return replace(self, corpus=corpus)


def with_head_layer(argument: str) -> str:
    """The corpus argument with the layer `head`, unless it names a layer."""
    from tagweave.corpus.formats.conllu import HEAD
    from tagweave.corpus.load import parse_argument

    return argument if parse_argument(argument).layer else f"{argument}#{HEAD}"


def read_corpus(argument: str, task: str, format: str | None, weight: float = 1.0) -> CorpusFile:  # noqa: A002
    """Load a corpus for training or development. For the task parse, load trees and leave out sentences too long.

    If the argument names a layer of labels, no other layer of the file is evidence.

    Raises:
        PlanError: standard input, which has no digest and cannot be read again on resuming.
        CorpusError, OSError: as `load`.
    """
    from tagweave.corpus.describe import digest
    from tagweave.exchange.load import load, reading
    from tagweave.features.sentence_length import of_fit_length

    _check_is_file(argument)
    if task == PARSE:
        corpus = load(with_head_layer(argument), format)
        kept = of_fit_length(corpus.sentences)
        file = CorpusFile(argument, corpus.with_sentences(kept), digest(corpus.path), len(corpus) - len(kept))
    else:
        corpus = load(argument, format, None if task in OF_WORDS else _OF_CHARACTERS)
        if names_own_layer(argument, corpus):
            own = corpus.guideline
            corpus = corpus.map(lambda sentence: sentence.with_layers_of([own]))
        if task == "segment":  # the words are the same whatever layer labels them
            corpus = replace(corpus, layer="")
        file = CorpusFile(argument, corpus, digest(corpus.path))
    note = reading(argument, file.corpus.layer, format)
    return replace(file, corpus=replace(file.corpus, weight=weight), note=note)


def read_outline(argument: str, task: str, format: str | None, weight: float) -> tuple[CorpusFile, CorpusOutline]:  # noqa: A002
    """As `read_corpus` for tasks of chains, but without the sentences, in constant memory. Raises as `read_corpus`."""
    from tagweave.corpus.describe import digest
    from tagweave.corpus.load import load_outline
    from tagweave.exchange.load import reading

    _check_is_file(argument)
    outline = load_outline(argument, format, None if task in OF_WORDS else _OF_CHARACTERS)
    layer = "" if task == "segment" else outline.corpus.layer
    corpus = replace(outline.corpus, layer=layer, weight=weight)
    return CorpusFile(argument, corpus, digest(corpus.path), note=reading(argument, layer, format)), outline


def _check_is_file(argument: str) -> None:
    from tagweave.corpus.load import parse_argument
    from tagweave.corpus.text_file import STANDARD_STREAM

    if parse_argument(argument).path == STANDARD_STREAM:
        raise PlanError("found standard input as a corpus, expected a file: its digest identifies the training run")


def names_own_layer(argument: str, corpus: Corpus) -> bool:
    """Whether an argument names a layer of labels, so that no other layer of the file is evidence."""
    from tagweave.corpus.load import parse_argument

    return parse_argument(argument).layer is not None and corpus.unit == "word"


def of_corpus(corpus: Corpus, task: str) -> CorpusFile:
    """A corpus in memory, as `read_corpus` would return it; its digest is that of its sentences.

    Raises:
        CorpusError: as `CorpusFile.called`.
    """
    from tagweave.features.sentence_length import of_fit_length

    content = hashlib.sha256(repr((corpus.guideline, corpus.unit)).encode())
    for sentence in corpus:
        content.update(repr((sentence.forms, sentence.layers, sentence.heads, sentence.columns)).encode())
    file = CorpusFile(corpus.path, corpus, f"memory:{content.hexdigest()}")
    if task == PARSE:
        is_tree = any(corpus.guideline in sentence.heads for sentence in corpus)
        trees = corpus if is_tree else _by_heads(corpus)
        kept = of_fit_length(trees.sentences)
        return replace(file, corpus=trees.with_sentences(kept), too_long=len(corpus) - len(kept))
    if task not in OF_WORDS and not file.is_named:
        file = file.called(_OF_CHARACTERS)
    return replace(file, corpus=replace(file.corpus, layer="")) if task == "segment" else file


def _by_heads(corpus: Corpus) -> Corpus:
    """The corpus with its trees as the guideline; its layer of labels gets back its name in the file."""
    from tagweave.corpus.formats.conllu import HEAD

    own, layer = corpus.guideline, corpus.layer or corpus.guideline

    def step(sentence: Sentence) -> Sentence:
        return sentence.renamed({own: layer})

    renamed = corpus.map(step)
    if own == layer:
        return replace(renamed, guideline=HEAD, layer=HEAD)
    return replace(renamed.map(lambda sentence: _renamed(sentence, HEAD, own)), layer=HEAD)


def run_identity(files: Sequence[CorpusFile], dev: CorpusFile | None, recipe: dict[str, Any], *settings: Any) -> str:
    """A digest of everything that influences the weights of an iteration: corpora, dev data, recipe, settings."""
    corpora = [[file.sha256, file.guideline, file.corpus.weight] for file in files]
    text = json.dumps([corpora, dev and [dev.sha256, dev.argument, dev.guideline], recipe, settings], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _renamed(sentence: Sentence, old: str, new: str) -> Sentence:
    from tagweave.corpus.errors import CorpusError

    if new != old and (new in sentence.layers or new in sentence.heads):
        raise CorpusError(f"a layer {new!r} beside {old!r}", "a name for the guideline: NAME=FILE", *sentence.location)
    return sentence.renamed({old: new})
