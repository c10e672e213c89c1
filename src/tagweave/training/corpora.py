"""Loads the corpora that plans name, with the digests that identify them.

Training data: corpora with their guidelines, and which of them follow the target guideline.

Loads the files that features look up, lexicons, gazetteers and word clusters, with their digests.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tagweave.corpus import gazetteer
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.files import STANDARD_STREAM, digest
from tagweave.corpus.formats import layer_names
from tagweave.corpus.formats.conllu import HEAD
from tagweave.errors import CorpusError, PlanError
from tagweave.exchange.load import SourceFile
from tagweave.features.arc_templates import of_fit_length
from tagweave.features.lookups import NOTHING, Lookups
from tagweave.features.subwords import Subwords
from tagweave.features.templates import Templates
from tagweave.features.vector_files import read_vectors
from tagweave.harvest import clusters, lexicon
from tagweave.labels import OF_CHARACTERS, OF_WORDS, PARSE
from tagweave.training.plan import FileReference, ResolvedPlan, Source

if TYPE_CHECKING:
    from tagweave.corpus.sentence import Sentence


@dataclass(frozen=True)
class TrainingData:
    """The training corpora, those of TRAIN first.

    Attributes:
        files: the corpora with their files.
        train_count: how many of them are TRAIN; the others are sources.
        is_asked_for: whether the user named the method.
        notes: lines for the user about guidelines and method.
    """

    files: tuple[LoadedSource, ...]
    train_count: int = 1
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
        return self.train_count < len(self.files)

    def alone(self) -> TrainingData:
        """Return TRAIN alone."""
        return replace(self, files=self.files[: self.train_count])

    def incomparable(self, dev: Corpus | None) -> str:
        """Why a model is not compared with one of TRAIN alone: no source, or no suitable development data; or ""."""
        if not self.has_sources:
            return "no `sources`"
        if dev is None:
            return "no `dev`"
        return "" if dev.guideline == self.target else f"`dev` of {dev.guideline}, not {self.target}"


@dataclass(frozen=True)
class LookupFiles:
    """What features look up, and the files that it is from, with digests and sizes."""

    lookups: Lookups = NOTHING
    lexicons: tuple[FileReference, ...] = ()
    gazetteers: tuple[FileReference, ...] = ()
    clusters: tuple[FileReference, ...] = ()

    @property
    def digests(self) -> tuple[str, ...]:
        return tuple(file.sha256 for file in (*self.lexicons, *self.gazetteers, *self.clusters))

    def with_vectors_of(self, corpora: Iterable[Corpus]) -> LookupFiles:
        """Return the lookups with the word vectors of words in corpora alone."""
        if self.lookups.vectors is None:
            raise PlanError("found `stored_vectors` without word vectors, expected `encoder=static:FILE`")
        forms = (form for corpus in corpora for sentence in corpus for form in sentence.forms)
        return replace(self, lookups=replace(self.lookups, vectors=self.lookups.vectors.only(forms)))


def read_lookups(plan: ResolvedPlan) -> LookupFiles:
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
    lexicons, lexicon_files = _read(plan.lexicons, lexicon.read, "a lexicon")
    gazetteers, gazetteer_files = _read(plan.gazetteers, gazetteer.read, "a gazetteer")
    words = tuple(word for word_list in lexicons for word in word_list.words)
    read_clusters, cluster_files = _read(plan.clusters, clusters.read, "clusters")
    paths = {
        word: bits
        for clustering in read_clusters
        for word, bits in zip(clustering.words, clustering.paths, strict=True)
    }
    vectors = read_vectors(plan.vectors) if plan.vectors else None
    if vectors and plan.task == PARSE:
        vectors = vectors.clustered().without_numbers()
    elif vectors and not plan.clusters and Templates(plan.templates).cluster_columns:
        vectors = vectors.clustered()
    lookups = Lookups(
        words=words,
        gazetteer=gazetteer.joined(gazetteers),
        clusters=paths,
        subwords=Subwords.of_folder(plan.folder) if plan.folder else None,
        vectors=vectors,
    )
    return LookupFiles(lookups, lexicon_files, gazetteer_files, cluster_files)


def _read(
    files: Sequence[FileReference], read: Callable[[str], Any], what: str
) -> tuple[list[Any], tuple[FileReference, ...]]:
    if STANDARD_STREAM in [file.path for file in files]:
        raise PlanError(f"found standard input as {what}, expected a file: its digest identifies the training run")
    contents = [read(file.path) for file in files]
    return contents, tuple(
        FileReference(file.path, digest(file.path), len(content)) for file, content in zip(files, contents, strict=True)
    )


_OF_CHARACTERS = "segmentation"
"""The guideline of segmentation corpora that name none, whatever their format."""
_IN_MEMORY = "memory:"
"""How the digest of a corpus without a file begins."""

OpenedSource = SourceFile | Corpus
"""What a source is read from: its file, which is opened once, or a corpus in memory."""


@dataclass(frozen=True)
class LoadedSource:
    """A source and its corpus, for one task.

    Attributes:
        source: the source, as a plan names it.
        corpus: its sentences, with its weight and covered labels.
        sha256: the digest of its file.
        too_long: how many trees are left out, since they have too many tokens.
        note: how the file was read, or "".
    """

    source: Source
    corpus: Corpus
    sha256: str
    too_long: int = 0
    note: str = ""

    @property
    def guideline(self) -> str:
        return self.corpus.guideline

    @property
    def is_named(self) -> bool:
        """Whether the argument or the file names the guideline; if not, its name is a layer of the format."""
        return self.source.guideline is not None or self.guideline not in layer_names()

    @property
    def resolved(self) -> Source:
        """The source with what its file tells."""
        corpus = self.corpus
        return replace(self.source, path=corpus.path, sha256=self.sha256, size=len(corpus), guideline=self.guideline)

    def called(self, guideline: str) -> LoadedSource:
        """Return the source with its guideline under another name."""
        return replace(self, corpus=_under(self.corpus, guideline))


def opened(source: Source) -> SourceFile:
    """Open the file of a source. Raises PlanError for standard input; CorpusError, OSError as `SourceFile`."""
    if source.path == STANDARD_STREAM:
        raise PlanError("found standard input as a corpus, expected a file: its digest identifies the training run")
    return SourceFile(source.argument, source.format)


def loaded(source: Source, read_from: OpenedSource, task: str, learned: Sequence[str] = ()) -> LoadedSource:
    """Load a source for training or development. For the task parse, load trees and leave out sentences too long.

    If the source names a layer of labels, no other layer of its file is evidence. If it names none, its layer is one
    of those that a model has `learned`, the guideline first, where it has one. The digest of a corpus in memory covers
    its sentences.
    """
    if isinstance(read_from, Corpus):
        corpus = _suited(_in_learned_layer(read_from, learned), task)
        sha256 = _digest_in_memory(read_from)
    else:
        corpus = _corpus_of_file(read_from, task, learned)
        sha256 = read_from.sha256
        if source.layer is None and corpus.layer in learned[1:]:
            source = replace(source, layer=corpus.layer)
    if task == "segment":  # the words are the same whatever layer labels them
        corpus = replace(corpus, layer="")
    note = "" if isinstance(read_from, Corpus) else read_from.reading(corpus.layer)
    too_long = 0
    if task == PARSE:
        kept = of_fit_length(corpus.sentences)
        too_long = len(corpus) - len(kept)
        corpus = corpus.with_sentences(kept)
    corpus = replace(corpus.covering(source.covers), weight=source.weight)
    return LoadedSource(source, corpus, sha256, too_long, note)


def _in_learned_layer(corpus: Corpus, learned: Sequence[str]) -> Corpus:
    """Return a corpus in memory with the layer that a model has learned as its own, if it has one."""
    names = {name for sentence in corpus for name in sentence.layers}
    layer = next((name for name in learned if name in names), None)
    if layer is None or corpus.guideline in learned or corpus.layer in learned:
        return corpus
    return replace(corpus, guideline=layer, layer=layer)


def _corpus_of_file(file: SourceFile, task: str, learned: Sequence[str]) -> Corpus:
    if task == PARSE:
        return file.corpus(layer=HEAD)
    unnamed = None if task in OF_WORDS else _OF_CHARACTERS
    corpus = file.corpus(learned[0], learned[1:]) if learned else file.corpus(unnamed)
    if file.argument.layer is not None and corpus.unit == "word":
        layers = [corpus.guideline]
        corpus = corpus.map(lambda sentence: sentence.with_layers_of(layers))
    return corpus


def _suited(corpus: Corpus, task: str) -> Corpus:
    """Return a corpus in memory as the corpus of a file would be for a task."""
    if task == PARSE:
        is_tree = any(corpus.guideline in sentence.heads for sentence in corpus)
        return corpus if is_tree else _as_trees(corpus)
    if task not in OF_WORDS and corpus.guideline in layer_names():
        return _under(corpus, _OF_CHARACTERS)
    return corpus


def _under(corpus: Corpus, guideline: str) -> Corpus:
    """Return the corpus with its guideline under another name."""
    renamed = corpus.map(lambda sentence: _renamed(sentence, corpus.guideline, guideline))
    return replace(renamed, guideline=guideline)


def _digest_in_memory(corpus: Corpus) -> str:
    content = hashlib.sha256(repr((corpus.guideline, corpus.unit)).encode())
    for sentence in corpus:
        annotation = sentence.layers, sentence.heads, sentence.rejected, sentence.covered, sentence.confidence
        content.update(repr((sentence.forms, sentence.columns, *annotation)).encode())
    return f"{_IN_MEMORY}{content.hexdigest()}"


def _as_trees(corpus: Corpus) -> Corpus:
    """Return the corpus with its trees as the guideline; its layer of labels gets back its name in the file."""
    guideline = corpus.guideline
    layer = corpus.layer or guideline
    renamed = corpus.map(lambda sentence: sentence.renamed({guideline: layer}))
    if guideline == layer:
        return replace(renamed, guideline=HEAD, layer=HEAD)
    return replace(renamed.map(lambda sentence: _renamed(sentence, HEAD, guideline)), layer=HEAD)


def run_identity(
    files: Sequence[LoadedSource], dev: LoadedSource | None, recipe: dict[str, Any], *settings: Any
) -> str:
    """A digest of everything that influences the weights of an iteration: corpora, dev data, recipe, settings."""
    corpora = [[file.sha256, file.guideline, file.corpus.weight] for file in files]
    development = dev and [dev.sha256, dev.source.argument, dev.guideline]
    text = json.dumps([corpora, development, recipe, settings], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _renamed(sentence: Sentence, old: str, new: str) -> Sentence:
    if new != old and (new in sentence.layers or new in sentence.heads):
        raise CorpusError(f"a layer {new!r} beside {old!r}", "a name for the guideline: NAME=FILE", *sentence.location)
    return sentence.renamed({old: new})
