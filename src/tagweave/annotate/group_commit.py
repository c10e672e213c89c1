"""Group commit: several writers write one after the other, and share one commit.

Writing one answer to disk takes as long as writing twenty. A writer that arrives while others write joins their
transaction; the last one commits, and none returns before that. So the work of all is on disk when they return, and
none of it if the commit fails. Each writes in a savepoint of its own, so one can fail alone.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from sqlalchemy import Connection, Engine


@dataclass
class _Batch:
    """A transaction, and how it ended."""

    connection: Connection
    ended: threading.Event = field(default_factory=threading.Event)
    error: BaseException | None = None


class Group:
    """Writers of one engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine, self._turn, self._counting = engine, threading.Lock(), threading.Lock()
        self._waiting = 0
        self._batch: _Batch | None = None  # open, its next writer is waiting

    @contextmanager
    def part(self) -> Iterator[Connection]:
        """A part of a transaction that is on disk when the block ends, and has no effect if the block raises."""
        with self._counting:
            self._waiting += 1
        with self._turn:
            with self._counting:
                self._waiting -= 1
            batch = self._batch or self._begin()
            try:
                with _savepoint(_driver(batch)):
                    yield batch.connection
            finally:
                self._pass_on(batch)
        batch.ended.wait()
        if batch.error is not None:
            raise batch.error

    def _begin(self) -> _Batch:
        connection = self._engine.connect()
        try:
            connection.begin()
        except BaseException:
            connection.close()
            raise
        return _Batch(connection)

    def _pass_on(self, batch: _Batch) -> None:
        """Hand the transaction to the next writer, or commit it."""
        with self._counting:
            self._batch = batch if self._waiting else None
        if self._batch is None:
            _commit(batch)


def _commit(batch: _Batch) -> None:
    connection = batch.connection
    try:
        if not _driver(batch).in_transaction:
            raise RuntimeError("the database has given up the transaction")  # as it does on a full disk
        connection.commit()
    except BaseException as error:
        batch.error = error
        connection.invalidate()  # anything not rolled back goes with it
    finally:
        connection.close()
        batch.ended.set()


def _driver(batch: _Batch) -> sqlite3.Connection:
    driver: Any = batch.connection.connection.driver_connection
    return cast(sqlite3.Connection, driver)


@contextmanager
def _savepoint(driver: sqlite3.Connection) -> Iterator[None]:
    """A savepoint. SQLAlchemy's own takes as long as two of the statements of an answer."""
    driver.execute("SAVEPOINT part")
    try:
        yield
    except BaseException:
        if driver.in_transaction:
            driver.execute("ROLLBACK TO part")
            driver.execute("RELEASE part")
        raise
    driver.execute("RELEASE part")
