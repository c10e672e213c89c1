"""Training a model again on annotations from Label Studio, beside the server.

A version is a file `NAME-3.model` of a folder, and appears whole. All processes of a server look for new ones, and read
them between two batches, so each answer comes from one version. A file lock keeps two trainings from one folder.
"""

from __future__ import annotations

import logging
import os
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from io import StringIO
from itertools import zip_longest
from pathlib import Path
from threading import Event, Thread
from typing import IO

import msgspec

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats import columns
from tagweave.corpus.load import save
from tagweave.corpus.sentence import Sentence
from tagweave.corpus.spans import SPANS, TAGS
from tagweave.errors import CorpusError, RequestError
from tagweave.exchange.document import Document, Mark
from tagweave.exchange.sentences import Notes, Unmarked, sentences
from tagweave.exchange.tokens import Tokenizer
from tagweave.front.options import message
from tagweave.labels.transition_scheme import codes_spans
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.serve.requests import TextResult
from tagweave.serve.served_models import next_version
from tagweave.serve.serving import Retraining
from tagweave.training.retraining import again, command, exported, run, take


def marks(result: TextResult) -> Iterator[Mark]:
    """Yield the spans of a result as marks; of labels that code none, the tokens."""
    offsets, numbers = result.offsets or [], result.probabilities or []
    if result.spans is not None:
        for each in result.spans:
            if each.start is not None and each.end is not None:
                yield Mark(each.start, each.end, each.label, _probability(each.probability))
        return
    for at, label in enumerate(result.labels or ()):
        number = numbers[at] if at < len(numbers) else None
        yield Mark(*offsets[at], label, _probability(number))


def least_probability(result: TextResult, spans: Iterable[Mark]) -> float:
    """Return the least probability over the labels of all tokens, `O` among them, and over spans; 1 without tokens."""
    numbers = [number for number in result.probabilities or () if isinstance(number, float)]
    return _probability(min([*numbers, *(span.probability for span in spans)], default=1.0))


def _probability(number: object) -> float:
    return min(1.0, max(number, 1e-6)) if isinstance(number, float) else 1.0


class AnnotatedText(msgspec.Struct, frozen=True):
    """A text that somebody has annotated; without text, one that was deleted."""

    key: str
    text: str = ""
    marks: list[tuple[int, int, str]] = []

    def document(self) -> Document:
        """Return the document. Raises CorpusError for marks beyond the text."""
        return Document(self.text, {"tag": tuple(Mark(*mark) for mark in self.marks)}, self.key)


class Annotations:
    """The annotations that a model learns from, in a file of JSON Lines; several processes may add to it.

    Of documents with the same key, the last one stands.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, several: Iterable[AnnotatedText]) -> None:
        """Add documents, in one piece."""
        lines = b"".join(msgspec.json.encode(each) + b"\n" for each in several)
        with open(self._path, "ab+", opener=partial(os.open, mode=0o600)) as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                lines = lines if file.read(1) == b"\n" else b"\n" + lines  # a full disk cut the last line off
            file.write(lines)

    def replace(self, several: Iterable[AnnotatedText], project: str) -> None:
        """Replace the documents of a project, whose number begins their keys."""
        known, new = self.read(), {each.key: each for each in several}
        gone = [AnnotatedText(key) for key in known if key.startswith(f"{project}/") and key not in new]
        self.add([*(each for key, each in new.items() if known.get(key) != each), *gone])

    def read(self) -> Mapping[str, AnnotatedText]:
        """Return what stands, by key. Other lines than ours are logged and left out."""
        found: dict[str, AnnotatedText] = {}
        for number, line in enumerate(self._path.read_bytes().splitlines() if self._path.exists() else (), 1):
            if not line:
                continue
            try:
                each = msgspec.json.decode(line, type=AnnotatedText)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                LOG.warning("%s:%d: left out: found no annotation (%s), expected one a line", self._path, number, error)
                continue
            found.pop(each.key, None)
            if each.text:
                found[each.key] = each
        return found


LOG = logging.getLogger("tagweave.serve")
_FORM = columns.FORMAT.name
_LOCK = "serving.lock"
_LONGEST = 200  # characters of a label


class Retrainer:
    """Trains a tagger that is served again."""

    def __init__(self, name: str, tagger: ChainPredictor, settings: Retraining, cut: Tokenizer) -> None:
        self._name, self._guideline, self._cut = name, tagger.guideline, cut
        self._task = SPANS if codes_spans(tagger.labels) else TAGS
        self._folder = Path(settings.folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        annotated = exported(tagger.guideline, _FORM, "")
        self._plan = again(tagger.model.about, tagger.guideline, settings.train, annotated, LOG.warning)
        self.annotations = Annotations(self._folder / f"{name}.annotations.jsonl")
        self._ended, self._thread = Event(), Thread()

    def start(self) -> int:
        """Begin to train on all annotations so far; return the number of documents.

        Raises RequestError if there are none, or a training is under way (429); CorpusError if they have no label.
        """
        lock = take(self._folder / _LOCK)
        if lock is None:
            raise RequestError("found a training under way, expected its end; try again later", 429)
        try:
            kept = self.annotations.read()
            if not kept:
                raise RequestError(f"found no annotations for {self._name}, expected some to learn from")
            version = self._folder / next_version(self._folder, self._name)
            annotated = version.with_suffix(".col")
            save(self._corpus(kept), str(annotated), _FORM)
            words = command(self._plan, version.with_suffix(".json"))
        except BaseException:
            lock.close()
            raise
        self._thread = Thread(
            target=self._train, args=(words, annotated, version, lock), name="retraining", daemon=True
        )
        self._thread.start()
        return len(kept)

    def close(self) -> None:
        """End a training that is under way."""
        self._ended.set()
        if self._thread.ident is not None:
            self._thread.join()

    def checked(self, each: AnnotatedText) -> AnnotatedText:
        """Return an annotation that can be trained on. Raises CorpusError for any other one."""
        self._sentences(each, Notes())
        try:
            msgspec.json.encode(each)
        except UnicodeEncodeError as error:
            raise CorpusError(str(error), "Unicode") from None
        return each

    def usable(self, several: Iterable[Callable[[], AnnotatedText]]) -> list[AnnotatedText]:
        """Return the annotations that can be made and trained on; log why others are left out.

        Raises the error of the first one, if all are left out.
        """
        found: list[AnnotatedText] = []
        errors: list[CorpusError | RequestError] = []
        for make in several:
            try:
                found.append(self.checked(make()))
            except (CorpusError, RequestError) as error:
                LOG.warning("%s: an annotation is left out: %s", self._name, message(error))
                errors.append(error)
        if errors and not found:
            raise errors[0]
        return found

    def _sentences(self, each: AnnotatedText, notes: Notes) -> list[Sentence]:
        """Return the sentences of an annotation as a training reads them.

        Raises CorpusError for marks beyond the text, or text or labels that a column file cannot hold.
        """
        if long := [label for *_, label in each.marks if len(label) > _LONGEST]:
            raise CorpusError(f"a label of {len(long[0]):,} characters", f"at most {_LONGEST}")
        unmarked: Unmarked = "outside" if self._task == SPANS else "unknown"
        found = sentences([each.document()], self._cut, "unknown", unmarked, notes, self._task)
        own = [one.with_layers_of(()).with_layer(self._guideline, one.layers["tag"]) for one in found]
        lines = StringIO()
        columns.write(own, lines, self._guideline)
        again = columns.read(lines.getvalue().split("\n"), layer=self._guideline)
        for written, read in zip_longest(own, again):
            if read is None or (read.forms, read.layers) != (written.forms, written.layers):
                raise CorpusError(f"the text {' '.join(written.forms)!r}", "text that a column file can hold")
        return own

    def _corpus(self, kept: Mapping[str, AnnotatedText]) -> Corpus:
        notes = Notes()
        own: list[Sentence] = []
        for key, each in kept.items():
            try:
                own += self._sentences(each, notes)
            except CorpusError as error:
                LOG.warning("%s: the annotation %r is left out: %s", self._name, key, message(error))
        if notes.misaligned or notes.overlapping:
            LOG.warning(
                "%s: %d of %d spans are not whole tokens, %d overlap: unknown, and left out",
                *(self._name, notes.misaligned, notes.spans, notes.overlapping),
            )
        if not any(position is not None for each in own for position in each.layers[self._guideline]):
            raise CorpusError("annotations without a label of a token", "some to learn from")
        return Corpus(tuple(own), self._guideline)

    def _train(self, words: Sequence[str], annotated: Path, version: Path, lock: IO[str]) -> None:
        with lock:
            try:
                run(words, annotated, version, lambda: not self._ended.is_set())
                LOG.warning("%s: trained", version)
            except subprocess.CalledProcessError:
                LOG.error("%s: the training failed; the end of %s says why", version, version.with_suffix(".log"))
            except OSError as error:
                LOG.error("%s: %s", version, error)
