"""Tasks and their sentences as rows of the store: added, ranked and read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, bindparam, select, update

from tagweave.annotate.database import insert_new, labels, sentences, tasks
from tagweave.annotate.rules import ONCE, Settings
from tagweave.annotate.task import AnnotationTask, Answer, Asks, Candidate, Purpose, Ranking, Status, answer_of
from tagweave.corpus.sentence import Location, Sentence
from tagweave.corpus.spans import Span

MANY = 500  # rows of one statement


class Asked(NamedTuple):
    """A task in the store, by its number."""

    id: int
    task: AnnotationTask
    status: Status
    outcome: Answer | None  # agreed on or decided
    settled: float | None  # when that was

    @property
    def sentence_key(self) -> tuple[Location, tuple[str, ...]]:
        """Identifies the sentence of the task; a store gives every task its own copy."""
        return self.task.sentence.location, self.task.sentence.forms


def put_tasks(connection: Connection, new: Iterable[AnnotationTask], settings: Settings) -> int:
    """Add the tasks that are new, and return their number."""
    new = list(new)
    numbers = _put_sentences(connection, [task.sentence for task in new])
    rows = [_task_row(task, number, settings) for task, number in zip(new, numbers, strict=True)]
    return sum(insert_new(connection, tasks, rows[i : i + MANY]) for i in range(0, len(rows), MANY))


def look_up(connection: Connection, wanted: Sequence[AnnotationTask]) -> list[Asked | None]:
    """Return the tasks as they are in the store; `None` for those it does not have."""
    digests = [_sentence_row(task.sentence)["digest"] for task in wanted]
    rows = connection.execute(ASKED.where(sentences.c.digest.in_({*digests})))
    questions = {(of.digest, of.start, of.stop, of.guideline, of.purpose, of.asks): asked(of) for of in rows}
    return [
        questions.get((digest, task.start, task.stop, task.guideline, task.purpose, task.asks))
        for digest, task in zip(digests, wanted, strict=True)
    ]


def _put_sentences(connection: Connection, new: Sequence[Sentence]) -> list[int]:
    """Add the sentences that are new, and return the numbers of all. Location and forms identify a sentence."""
    all_numbers: list[int] = []
    for begin in range(0, len(new), MANY):
        rows = [_sentence_row(sentence) for sentence in new[begin : begin + MANY]]
        insert_new(connection, sentences, list({row["digest"]: row for row in rows}.values()))
        digests = {row["digest"] for row in rows}
        numbered = select(sentences.c.digest, sentences.c.id).where(sentences.c.digest.in_(digests))
        numbers = dict(connection.execute(numbered).all())
        all_numbers += [numbers[row["digest"]] for row in rows]
    return all_numbers


def rank(connection: Connection, model: int, rankings: Iterable[Ranking]) -> int:
    """Give open tasks the uncertainty and candidates of a model, and return their number."""
    rows = []
    for ranking in sorted(rankings):  # everybody locks in the same order
        new = {"new_uncertainty": ranking.uncertainty, "new_candidates": ranking.candidates, "new_model": model}
        rows.append({"number": ranking.id, **new})
    return connection.execute(_RANK, rows).rowcount if rows else 0


_RANK = (
    update(tasks)
    .where(tasks.c.id == bindparam("number"), tasks.c.status == Status.OPEN)
    .values(
        uncertainty=bindparam("new_uncertainty"),
        candidates=bindparam("new_candidates", type_=tasks.c.candidates.type),
        model=bindparam("new_model"),
    )
)


ASKED = select(tasks, sentences).join_from(tasks, sentences)
"""The columns that `asked` reads."""

_ONE = ASKED.where(tasks.c.id == bindparam("number"))


def read(connection: Connection, number: int) -> Asked | None:
    """Return one task."""
    row = connection.execute(_ONE, {"number": number}).one_or_none()
    return None if row is None else asked(row)


def labels_of(connection: Connection, guideline: str) -> dict[str, str]:
    """Return the labels of a guideline and their notes, in the order in which they were added."""
    mine = select(labels.c.label, labels.c.note).where(labels.c.guideline == guideline).order_by(labels.c.rank)
    return dict(connection.execute(mine).all())


def answer_in(kind: str | None, text: str | None) -> Answer | None:
    """Return the answer in two columns, if there is one."""
    return None if kind is None else answer_of(kind, text)


def candidates_of(written: Sequence[Sequence[Any]]) -> tuple[Candidate, ...]:
    """Return the candidates in a column."""
    return tuple(Candidate(*candidate) for candidate in written)


def asked(row: Row[Any]) -> Asked:
    """Return the task of a row with all columns of `tasks` and `sentences`."""
    of = row._mapping
    layers = {
        name: tuple(None if candidates is None else tuple(candidates) for candidates in layer)
        for name, layer in of[sentences.c.layers].items()
    }
    columns = {name: tuple(column) for name, column in of[sentences.c.columns].items()}
    location = Location(of[sentences.c.path], of[sentences.c.line])
    rejected = {name: tuple(map(Span._make, spans)) for name, spans in of[sentences.c.rejected].items()}
    task = AnnotationTask(
        Sentence(tuple(of[sentences.c.forms]), layers, columns, rejected=rejected, location=location),
        of[tasks.c.start],
        of[tasks.c.stop],
        of[tasks.c.guideline],
        candidates_of(of[tasks.c.candidates]),
        of[tasks.c.uncertainty],
        Purpose(of[tasks.c.purpose]),
        answer_in(of[tasks.c.gold_kind], of[tasks.c.gold_label]),
        of[tasks.c.model],
        Asks(of[tasks.c.asks]),
    )
    outcome = answer_in(of[tasks.c.kind], of[tasks.c.label])
    return Asked(of[tasks.c.id], task, Status(of[tasks.c.status]), outcome, of[tasks.c.settled])


def _sentence_row(sentence: Sentence) -> dict[str, Any]:
    which = json.dumps([*sentence.location, sentence.forms])
    return {
        "digest": hashlib.sha256(which.encode()).hexdigest(),
        "path": sentence.location.path,
        "line": sentence.location.line,
        "forms": sentence.forms,
        "layers": dict(sentence.layers),
        "columns": dict(sentence.columns),
        "rejected": dict(sentence.rejected),
    }


def _task_row(task: AnnotationTask, sentence: int, settings: Settings) -> dict[str, Any]:
    slots = {Purpose.REAL: settings.rule.first, Purpose.CONCORDANCE: ONCE.first}.get(task.purpose, 0)
    return {
        "sentence": sentence,
        "start": task.start,
        "stop": task.stop,
        "guideline": task.guideline,
        "purpose": task.purpose,
        "asks": task.asks,
        "gold_kind": task.gold.kind if task.gold else None,
        "gold_label": task.gold.text if task.gold else None,
        "candidates": task.candidates,
        "model": task.model,
        "uncertainty": task.uncertainty,
        "wanted": slots,
        "free": slots,
        "status": Status.OPEN,
    }
