"""Training a served model again on annotations from Label Studio, beside the server, and correcting it until then.

All processes of a server look for new versions in a folder (`models.versions`), and read them between two batches, so
each answer comes from one version. A thread corrects the newest version by all annotations that it does not know: those
that come, those that came while a training ran, and those that a process left when it died. Whoever corrects holds the
lock of the folder, not that of trainings, so that no correction is lost among several processes.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import NamedTuple

import sqlalchemy as sql

from tagweave.annotate.database import Database, documents, prepare
from tagweave.annotate.retraining import learn, run_child, take
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Location, Sentence
from tagweave.corpus.spans import SPANS, TAGS
from tagweave.errors import CorpusError, PlanError, RequestError
from tagweave.exchange.document import Document, Mark
from tagweave.exchange.sentences import Notes, Unmarked
from tagweave.exchange.sentences import sentences as sentences_of
from tagweave.exchange.tokens import Tokenizer
from tagweave.front.options import message
from tagweave.labels.transition_scheme import codes_spans
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.correction import corrected, corrected_by, refuse
from tagweave.models.storage import load_model
from tagweave.models.versions import newest, next_version, remove_corrections, save_correction
from tagweave.serve.served_models import WARM
from tagweave.serve.settings import Retraining
from tagweave.training.plan import Plan
from tagweave.training.retraining import again

LOG = logging.getLogger("tagweave.serve")
_LONGEST = 200  # characters of a label
_LOCK = "correction.lock"
_PAUSE = 0.02  # seconds until a correction of another process is looked for again


class Annotation(NamedTuple):
    """A text that somebody has annotated, by its number in a project; without text, one that was deleted."""

    project: str
    number: int
    text: str = ""
    marks: tuple[Mark, ...] = ()


Evidence = list[tuple[tuple[str, ...], tuple[str | None, ...]]]
"""Sentences: the forms, and the label of each, or None."""


class Annotations:
    """The annotations that a model learns from, as evidence; several processes may add to them."""

    def __init__(self, url: str, model: str) -> None:
        self._database, self._model = Database(url), model
        prepare(self._database)

    def put(self, several: Mapping[tuple[str, int], Evidence], replaces: str | None = None) -> None:
        """Put annotations in place of those of the same project and number, or of a whole project, in one piece.

        Without a sentence, an annotation is only removed.
        """
        same_project = (documents.c.model == self._model) & (documents.c.project == sql.bindparam("of"))
        same = same_project & (documents.c.number == sql.bindparam("at"))
        rows = [
            {"model": self._model, "project": project, "number": number, "sentences": evidence}
            for (project, number), evidence in several.items()
            if evidence
        ]
        with self._database.writing() as connection:
            if replaces is not None:
                connection.execute(sql.delete(documents).where(same_project), {"of": replaces})
            if several:
                connection.execute(sql.delete(documents).where(same), [{"of": of, "at": at} for of, at in several])
            if rows:
                connection.execute(sql.insert(documents), rows)

    def read(self) -> dict[tuple[str, int], Evidence]:
        """Return all annotations, in the order in which they came."""
        chosen = sql.select(documents).where(documents.c.model == self._model).order_by(documents.c.id)
        with self._database.reading() as connection:
            return {(row.project, row.number): row.sentences for row in connection.execute(chosen)}

    def evidence(self, guideline: str) -> Corpus:
        """Return the sentences of all annotations, in a layer of a guideline."""
        sentences = (
            Sentence(
                tuple(forms),
                {guideline: tuple(None if label is None else (label,) for label in labels)},
                location=Location(f"annotation {number} of project {project}"),
            )
            for (project, number), evidence in self.read().items()
            for forms, labels in evidence
        )
        return Corpus(tuple(sentences), guideline)

    def close(self) -> None:
        """Close all connections."""
        self._database.close()


class Retrainer:
    """Trains a tagger that is served again, and corrects it."""

    def __init__(self, name: str, tagger: ChainPredictor, settings: Retraining, cut: Tokenizer) -> None:
        self._name, self._guideline, self._cut = name, tagger.guideline, cut
        self._task = SPANS if codes_spans(tagger.labels) else TAGS
        self._folder = Path(settings.folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._plan = again(tagger.model.about, tagger.guideline, settings.train, LOG.warning)
        self._url = settings.store or f"sqlite:///{self._folder / 'annotations.db'}"
        self.annotations = Annotations(self._url, name)
        self._ended, self._thread = Event(), Thread()
        self._path: str | None = None  # of the version that was corrected last, None for the first model
        self._model = tagger.model
        self._asked = Event()
        self._corrector = Thread(target=self._correct_when_asked, args=(tagger,), name="correction", daemon=True)
        self.correct()  # by what a process has left
        self._corrector.start()

    def keep(self, several: Iterable[Callable[[], Annotation]], replaces: str | None = None) -> int:
        """Keep the annotations that can be made and trained on, as `Annotations.put`, and return their number.

        The log says why others are left out. Raises the first one's error, CorpusError or RequestError, if all are.
        """
        kept: dict[tuple[str, int], Evidence] = {}
        errors: list[CorpusError | RequestError] = []
        for make in several:
            try:
                annotation = make()
                kept[annotation.project, annotation.number] = self._evidence(annotation)
            except (CorpusError, RequestError) as error:
                LOG.warning("%s: an annotation is left out: %s", self._name, message(error))
                errors.append(error)
        if errors and not kept:
            raise errors[0]
        self.annotations.put(kept, replaces)
        return len(kept)

    def start(self) -> int:
        """Begin to train on all annotations so far; return their number.

        Raises RequestError if there are none, or a training is under way (429); CorpusError if they have no label.
        """
        lock = take(self._folder)
        if lock is None:
            raise RequestError("found a training under way, expected its end; try again later", 429)
        try:
            kept = self.annotations.read()
            if not kept:
                raise RequestError(f"found no annotations for {self._name}, expected some to learn from")
            if not any(label for evidence in kept.values() for _, labels in evidence for label in labels):
                raise CorpusError("annotations without a label of a token", "some to learn from")
            version = self._folder / next_version(self._folder, self._name)
        except BaseException:
            lock.close()
            raise

        def train() -> None:
            with lock:
                work = self._url, self._name, self._guideline, self._plan, version
                try:
                    run_child(lock, version.with_suffix(".log"), self._ended, _learn, *work)
                except OSError as error:
                    LOG.error("%s: %s", version, error)
            self.correct()  # by what came meanwhile

        self._thread = Thread(target=train, name="retraining", daemon=True)
        self._thread.start()
        return len(kept)

    def correct(self) -> None:
        """Let the newest version be corrected soon by all annotations that it does not know."""
        self._asked.set()

    def close(self) -> None:
        """End a training that is under way."""
        self._ended.set()
        if self._thread.ident is not None:
            self._thread.join()
        self.correct()
        self._corrector.join()
        self.annotations.close()

    def _correct_when_asked(self, tagger: ChainPredictor) -> None:
        """Correct whenever that is asked for; once for all who ask meanwhile."""
        try:
            refuse(tagger.model)
        except PlanError as error:
            LOG.warning("%s: annotations wait for the next training: %s", self._name, error)
            return
        [right] = tagger.tag([Sentence((WARM,))])
        corrected(tagger.model, right, self._guideline)
        while self._asked.wait() and not self._ended.is_set():
            self._asked.clear()
            try:
                self._correct()
            except Exception:
                LOG.exception("%s: the model cannot be corrected", self._name)

    def _correct(self) -> None:
        """Correct the newest version, and leave one file of corrections at most."""
        while (lock := take(self._folder, _LOCK)) is None:
            if self._ended.wait(_PAUSE):
                return
        with lock:
            path = newest(self._folder, self._name)
            if path != self._path and path is not None:
                self._path, self._model = path, load_model(path, ChainModel)
            evidence = self.annotations.evidence(self._guideline)
            model = corrected_by(self._model, evidence, partial(LOG.warning, "%s: %s", self._name))
            if model.weights is not self._model.weights:
                self._path = save_correction(model, self._folder, self._name, self._path)
            self._model = model
            remove_corrections(self._folder, self._name, self._path)

    def _evidence(self, annotation: Annotation) -> Evidence:
        """Return an annotation as a training reads it; nothing known of spans that are not whole tokens.

        Raises CorpusError for marks beyond the text, and labels that are too long or cannot be printed.
        """
        for mark in annotation.marks:
            if len(mark.label) > _LONGEST or not mark.label.isprintable():
                raise CorpusError(f"the label {mark.label[:_LONGEST]!r}", f"at most {_LONGEST} printable characters")
        document, notes = Document(annotation.text, {"tag": annotation.marks}), Notes()
        unmarked: Unmarked = "outside" if self._task == SPANS else "unknown"
        layers = [
            (sentence.forms, sentence.layers["tag"])
            for sentence in sentences_of([document], self._cut, "unknown", unmarked, notes, self._task)
        ]
        if notes.misaligned or notes.overlapping:
            LOG.warning(
                "%s: %d of %d spans are not whole tokens, %d overlap: unknown, and left out",
                *(self._name, notes.misaligned, notes.spans, notes.overlapping),
            )
        return [(forms, tuple(None if labels is None else labels[0] for labels in layer)) for forms, layer in layers]


def _learn(url: str, name: str, guideline: str, plan: Plan, version: Path) -> None:
    """Train a version; the body of the child process."""
    learn(plan, Annotations(url, name).evidence(guideline), version)
