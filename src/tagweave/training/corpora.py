"""Loads the corpora that plans name, with the digests that identify them.

Training data: corpora with their guidelines, and which of them follow the target guideline.

Loads the files that features look up, lexicons, gazetteers and word clusters, with their digests.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tagweave.corpus import gazetteer
from tagweave.corpus.files import STANDARD_STREAM, digest
from tagweave.corpus.formats.conllu import HEAD
from tagweave.corpus.formats.registry import layer_names
from tagweave.corpus.load import parse_argument
from tagweave.errors import CorpusError, PlanError
from tagweave.exchange.load import load, reading
from tagweave.features.arc_templates import of_fit_length
from tagweave.features.lookups import NOTHING, Lookups
from tagweave.features.subwords import Subwords
from tagweave.features.word_vectors import WordVectors
from tagweave.harvest import clusters, lexicon
from tagweave.labels import OF_CHARACTERS, OF_WORDS, PARSE
from tagweave.training.plan import LOOKUPS, STATIC, FileReference

if TYPE_CHECKING:
    from tagweave.corpus.corpus import Corpus, Covers
    from tagweave.corpus.sentence import Sentence
    from tagweave.training.plan import Plan


@dataclass(frozen=True)
class TrainingData:
    """The training corpora, those of TRAIN first.

    Attributes:
        files: the corpora with their files.
        own: how many of them are TRAIN; the others are sources.
        is_asked_for: whether the user named the method.
        notes: lines for the user about guidelines and method.
    """

    files: tuple[CorpusFile, ...]
    own: int = 1
    is_asked_for: bool = False
    notes: tuple[str, ...] = ()

    @property
    def target(self) -> str:
        return self.files[0].guideline

    @property
    def guidelines(self) -> tuple[str, ...]:
        """All guidelines, the target first."""
        return tuple(dict.fromkeys(file.guideline for file in self.files))

    @property
    def corpora(self) -> list[Corpus]:
        return [file.corpus for file in self.files]

    @property
    def targets(self) -> list[Corpus]:
        return [corpus for corpus in self.corpora if corpus.guideline == self.target]

    @property
    def sources(self) -> list[Corpus]:
        return [corpus for corpus in self.corpora if corpus.guideline != self.target]

    @property
    def has_sources(self) -> bool:
        """Whether there is a `--source`."""
        return self.own < len(self.files)

    def alone(self) -> TrainingData:
        """Return TRAIN alone."""
        return replace(self, files=self.files[: self.own])

    def incomparable(self, dev: Corpus | None) -> str:
        """Why a model is not compared with one of TRAIN alone: no source, or no suitable development data; or ""."""
        if not self.has_sources:
            return "no `sources`"
        if dev is None:
            return "no `dev`"
        return "" if dev.guideline == self.target else f"`dev` of {dev.guideline}, not {self.target}"


@dataclass(frozen=True)
class LookupFiles:
    """What features look up. `references`: the files by field of the plan, with digests and sizes."""

    lookups: Lookups = NOTHING
    references: Mapping[str, tuple[FileReference, ...]] = field(default_factory=dict)

    @property
    def digests(self) -> tuple[str, ...]:
        return tuple(each.sha256 for name in LOOKUPS for each in self.references.get(name, ()))


def read_lookups(plan: Plan) -> LookupFiles:
    """Load the files that a plan names for features."""
    if plan.lexicons and plan.task not in OF_CHARACTERS:
        expected = "segment or segtag: its words are of characters"
        raise PlanError(f"found `lexicons` with the task {plan.task}, expected {expected}")
    for name in ("gazetteers", "clusters"):
        if getattr(plan, name) and plan.task in OF_CHARACTERS:
            raise PlanError(f"found `{name}` with the task {plan.task}, expected a task of words: tag or spans")
    if len(plan.clusters) > 1:
        raise PlanError(
            f"found {len(plan.clusters)} files of clusters, expected one: their bit strings are of one tree"
        )
    lexicons, of_lexicons = _read(plan.lexicons, lexicon.read, "a lexicon")
    gazetteers, of_gazetteers = _read(plan.gazetteers, gazetteer.read, "a gazetteer")
    words = tuple(word for each in lexicons for word in each.words)
    read_clusters, of_clusters = _read(plan.clusters, clusters.read, "clusters")
    paths = {word: bits for each in read_clusters for word, bits in zip(each.words, each.paths, strict=True)}
    subwords = _encoder(plan.folder) if plan.folder else None
    lookups = Lookups(words=words, gazetteer=gazetteer.joined(gazetteers), clusters=paths, subwords=subwords)
    return LookupFiles(lookups, {"lexicons": of_lexicons, "gazetteers": of_gazetteers, "clusters": of_clusters})


def _encoder(folder: str) -> Subwords:
    file = folder.removeprefix(STATIC)
    return Subwords.of_folder(folder) if file == folder else WordVectors.of_file(file)


def _read(
    files: Sequence[FileReference], read: Callable[[str], Any], what: str
) -> tuple[list[Any], tuple[FileReference, ...]]:
    if STANDARD_STREAM in [each.path for each in files]:
        raise PlanError(f"found standard input as {what}, expected a file: its digest identifies the training run")
    contents = [read(each.path) for each in files]
    return contents, tuple(
        FileReference(each.path, digest(each.path), len(content)) for each, content in zip(files, contents, strict=True)
    )


_OF_CHARACTERS = "segmentation"
"""The guideline of segmentation corpora that name none, whatever their format."""
_IN_MEMORY = "memory:"
"""How the digest of a corpus without a file begins."""


@dataclass(frozen=True)
class CorpusFile:
    """A corpus, the argument that named it and the SHA-256 digest of its file. `note`: how the file was read, or ""."""

    argument: str
    corpus: Corpus
    sha256: str
    too_long: int = 0
    note: str = ""

    @property
    def guideline(self) -> str:
        return self.corpus.guideline

    @property
    def is_in_memory(self) -> bool:
        return self.sha256.startswith(_IN_MEMORY)

    @property
    def is_named(self) -> bool:
        """Whether the argument or the file names the guideline; if not, its name is a layer of the format."""
        return parse_argument(self.argument).guideline is not None or self.guideline not in layer_names()

    def called(self, guideline: str) -> CorpusFile:
        corpus = replace(
            self.corpus.map(lambda sentence: _renamed(sentence, self.guideline, guideline)), guideline=guideline
        )
        return replace(self, corpus=corpus)


def read_corpus(
    argument: str,
    task: str,
    format: str | None,  # noqa: A002
    weight: float = 1.0,
    covers: Covers | None = None,
) -> CorpusFile:
    """Load a corpus for training or development. For the task parse, load trees and leave out sentences too long.

    If the argument names a layer of labels, no other layer of the file is evidence.
    """
    _check_is_file(argument)
    if task == PARSE:
        corpus = load(argument if parse_argument(argument).layer else f"{argument}#{HEAD}", format)
        kept = of_fit_length(corpus.sentences)
        file = CorpusFile(argument, corpus.with_sentences(kept), digest(corpus.path), len(corpus) - len(kept))
    else:
        corpus = load(argument, format, None if task in OF_WORDS else _OF_CHARACTERS)
        if parse_argument(argument).layer is not None and corpus.unit == "word":
            own = corpus.guideline
            corpus = corpus.map(lambda sentence: sentence.with_layers_of([own]))
        if task == "segment":  # the words are the same whatever layer labels them
            corpus = replace(corpus, layer="")
        file = CorpusFile(argument, corpus, digest(corpus.path))
    note = reading(argument, file.corpus.layer, format)
    return replace(file, corpus=replace(file.corpus.covering(covers), weight=weight), note=note)


def _check_is_file(argument: str) -> None:
    if parse_argument(argument).path == STANDARD_STREAM:
        raise PlanError("found standard input as a corpus, expected a file: its digest identifies the training run")


def of_corpus(corpus: Corpus, task: str) -> CorpusFile:
    """Return a corpus in memory, as `read_corpus` would return it; its digest covers its sentences."""
    content = hashlib.sha256(repr((corpus.guideline, corpus.unit)).encode())
    for sentence in corpus:
        content.update(repr((sentence.forms, sentence.layers, sentence.heads, sentence.columns)).encode())
    file = CorpusFile(corpus.path, corpus, f"{_IN_MEMORY}{content.hexdigest()}")
    if task == PARSE:
        is_tree = any(corpus.guideline in sentence.heads for sentence in corpus)
        trees = corpus if is_tree else _by_heads(corpus)
        kept = of_fit_length(trees.sentences)
        return replace(file, corpus=trees.with_sentences(kept), too_long=len(corpus) - len(kept))
    if task not in OF_WORDS and not file.is_named:
        file = file.called(_OF_CHARACTERS)
    return replace(file, corpus=replace(file.corpus, layer="")) if task == "segment" else file


def _by_heads(corpus: Corpus) -> Corpus:
    """Return the corpus with its trees as the guideline; its layer of labels gets back its name in the file."""
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
    if new != old and (new in sentence.layers or new in sentence.heads):
        raise CorpusError(f"a layer {new!r} beside {old!r}", "a name for the guideline: NAME=FILE", *sentence.location)
    return sentence.renamed({old: new})
