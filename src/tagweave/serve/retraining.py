"""Training a model again on what annotation tools send, beside the server; the new version is served when it is there.

A version is a file `NAME-3.model` of a folder, and appears whole. All processes of a server look for new ones, and read
them between two batches, so an answer is that of one version. A file lock keeps two trainings from one folder.
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from threading import Event, Thread
from typing import IO

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.errors import CorpusError
from tagweave.corpus.formats import columns
from tagweave.corpus.found_spans import SPANS, TAGS
from tagweave.corpus.load import save
from tagweave.corpus.whole_file import whole_file
from tagweave.exchange.document import Document
from tagweave.exchange.reading import Notes, Unmarked, sentences
from tagweave.exchange.tokens import Tokenizer
from tagweave.labels.transition_scheme import codes_spans
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.serve.annotations import Annotations
from tagweave.serve.errors import RefusedError, ServeError
from tagweave.serve.settings import Retraining
from tagweave.serve.versions import next_version
from tagweave.training.again import again, exported
from tagweave.training.training_command import ANNOTATED, MODEL, run, take

LOG = logging.getLogger("tagweave.serve")
_LOCK = "serving.lock"


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
            CorpusError: annotations that do not fit.
            ServeError, OSError: files that cannot be read, written or locked.
        """
        lock = take(self._folder / _LOCK)
        if lock is None:
            raise RefusedError("found a training under way, expected its end; try again later", 429)
        try:
            documents = [each.document() for each in self.annotations.read().values()]
            if not documents:
                raise RefusedError(f"found no annotations for {self._name}, expected some to learn from")
            version = self._folder / next_version(self._folder, self._name)
            annotated, plan = version.with_suffix(".col"), version.with_suffix(".json")
            save(self._corpus(documents), str(annotated), _FORM)
            with whole_file(plan) as part:
                part.write_text(self._plan + "\n", encoding="utf-8")
        except BaseException:
            lock.close()
            raise
        self._thread = Thread(target=self._train, args=(plan, annotated, version, lock), name="retraining", daemon=True)
        self._thread.start()
        return len(documents)

    def close(self) -> None:
        """End a training that is under way."""
        self._ended.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _corpus(self, documents: Sequence[Document]) -> Corpus:
        notes = Notes()
        unmarked: Unmarked = "outside" if self._task == SPANS else "unknown"
        found = sentences(documents, self._cut, "unknown", unmarked, notes, self._task)
        own = tuple(each.with_layers_of(()).with_layer(self._guideline, each.layers["tag"]) for each in found)
        if notes.misaligned or notes.overlapping:
            LOG.warning(
                "%s: %d of %d spans are not whole tokens, %d overlap: unknown, and left out",
                *(self._name, notes.misaligned, notes.spans, notes.overlapping),
            )
        if not any(position is not None for each in own for position in each.layers[self._guideline]):
            raise CorpusError("annotations without a label of a token", "some to learn from")
        return Corpus(own, self._guideline)

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
