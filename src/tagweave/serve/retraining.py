"""Training a model again on what annotation tools send, beside the server; the new version is served when it is there.

A version is a file `NAME-3.model` of a folder, and appears whole. All processes of a server look for new ones, and read
them between two batches, so an answer is that of one version. A file lock keeps two trainings from one folder.
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from io import StringIO
from itertools import zip_longest
from pathlib import Path
from threading import Event, Thread
from typing import IO

import msgspec

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.errors import CorpusError
from tagweave.corpus.formats import columns
from tagweave.corpus.found_spans import SPANS, TAGS
from tagweave.corpus.load import save
from tagweave.corpus.sentence import Sentence
from tagweave.corpus.whole_file import whole_file
from tagweave.exchange.reading import Notes, Unmarked, sentences
from tagweave.exchange.tokens import Tokenizer
from tagweave.front.errors import message
from tagweave.labels.transition_scheme import codes_spans
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.serve.annotations import AnnotatedText, Annotations
from tagweave.serve.errors import RefusedError, ServeError
from tagweave.serve.settings import Retraining
from tagweave.serve.versions import next_version
from tagweave.training.again import again, exported
from tagweave.training.training_command import ANNOTATED, MODEL, run, take

LOG = logging.getLogger("tagweave.serve")
_LOCK = "serving.lock"
_LONGEST = 200  # characters of a label


class Retrainer:
    """Trains one of the models that are served.

    Args:
        name: of the model.
        tagger: the model, a tagger of words.
        settings: where and on what.
        cut: cuts texts into words.

    Raises:
        ServeError: the folder cannot be locked.
        PlanError: the model does not tell how it was trained, or cannot be trained on these corpora.
        OSError: the folder cannot be made.
    """

    def __init__(self, name: str, tagger: ChainPredictor, settings: Retraining, cut: Tokenizer) -> None:
        self._name, self._guideline, self._cut = name, tagger.guideline, cut
        self._task = SPANS if codes_spans(tagger.labels) else TAGS
        self._folder = Path(settings.folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        plan = again(tagger.model.about, tagger.guideline, settings.train, exported(tagger.guideline, _FORM, ""))
        self._plan = json.dumps(plan.to_json(), indent=1, ensure_ascii=False)
        self.annotations = Annotations(self._folder / f"{name}.annotations.jsonl")
        self._ended, self._thread = Event(), Thread()

    def start(self) -> int:
        """Begin to train on all annotations so far; returns how many documents these are.

        Raises:
            RefusedError: there are none, or a training is under way (429).
            CorpusError: annotations without any label.
            OSError: files that cannot be read, written or locked.
        """
        lock = take(self._folder / _LOCK)
        if lock is None:
            raise RefusedError("found a training under way, expected its end; try again later", 429)
        try:
            kept = self.annotations.read()
            if not kept:
                raise RefusedError(f"found no annotations for {self._name}, expected some to learn from")
            version = self._folder / next_version(self._folder, self._name)
            annotated, plan = version.with_suffix(".col"), version.with_suffix(".json")
            save(self._corpus(kept), str(annotated), _FORM)
            with whole_file(plan) as part:
                part.write_text(self._plan + "\n", encoding="utf-8")
        except BaseException:
            lock.close()
            raise
        self._thread = Thread(target=self._train, args=(plan, annotated, version, lock), name="retraining", daemon=True)
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
        """Return the annotations that can be made and trained on; the log says why others are left out.

        Raises:
            CorpusError, RefusedError: there are others only; the reason for the first one.
        """
        found: list[AnnotatedText] = []
        errors: list[CorpusError | RefusedError] = []
        for make in several:
            try:
                found.append(self.checked(make()))
            except (CorpusError, RefusedError) as error:
                LOG.warning("%s: an annotation is left out: %s", self._name, message(error))
                errors.append(error)
        if errors and not found:
            raise errors[0]
        return found

    def _sentences(self, each: AnnotatedText, notes: Notes) -> list[Sentence]:
        """Return the sentences of an annotation as a training reads them.

        Raises:
            CorpusError: marks beyond the text, or text or labels that a column file cannot hold.
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

    def _train(self, plan: Path, annotated: Path, version: Path, lock: IO[str]) -> None:
        words = (sys.executable, "-m", "tagweave.training", str(plan), MODEL, ANNOTATED)
        with lock:
            try:
                run(words, annotated, version, lambda: not self._ended.is_set())
                LOG.warning("%s: trained", version)
            except subprocess.CalledProcessError:
                LOG.error("%s: the training failed; the end of %s says why", version, version.with_suffix(".log"))
            except OSError as error:
                LOG.error("%s: %s", version, error)


_FORM = columns.FORMAT.name


def retrainer(name: str, tagger: ChainPredictor, settings: Retraining, cut: Tokenizer) -> Retrainer:
    """A `Retrainer`, with errors that name its model.

    Raises:
        ServeError: the model cannot be trained again.
    """
    try:
        return Retrainer(name, tagger, settings, cut)
    except ValueError as error:
        raise ServeError(f"{name}: {error}") from error
