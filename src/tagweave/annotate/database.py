"""Connections to SQLite or PostgreSQL, and transactions in which no writer sees another's unfinished work.

Both databases run the same statements. In SQLite a writer locks the database (`BEGIN IMMEDIATE`), and a commit is on
disk when it returns (`synchronous=FULL`). In PostgreSQL writers lock rows, always an annotator before a task, so there
are no deadlocks.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Table, create_engine, event, make_url, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, OperationalError

from tagweave.annotate.group_commit import Group

_DRIVERS = {"sqlite": "sqlite+pysqlite", "postgresql": "postgresql+psycopg"}
CONNECTIONS = 16
"""How many connections a store keeps open. PostgreSQL takes longer to open one than to answer a query."""

_PATIENCE = 30  # seconds for which a writer waits for others
_PAUSE = 0.01  # seconds between attempts where SQLite itself does not wait
_KEY = 0x7461677765617665  # "tagweave"
_WRITES = "tagweave_writes"


class Database:
    """An engine, and transactions on it.

    Raises:
        ValueError: a URL of neither SQLite nor PostgreSQL.
        OSError: the file of an SQLite database cannot be created.
    """

    def __init__(self, url: str) -> None:
        self.engine = _engine(url)
        writes = self.engine.execution_options(**{_WRITES: True})
        # writers of SQLite wait for one another anyway, so those of one process share a commit
        is_sqlite = self.engine.dialect.name == "sqlite"
        self._written: Callable[[], AbstractContextManager[Connection]]
        self._written = Group(writes).part if is_sqlite else writes.begin
        # SQLite's driver has no transactions except those of `_begin_sqlite`
        self._reads = self.engine if is_sqlite else self.engine.execution_options(isolation_level="AUTOCOMMIT")

    def writing(self) -> AbstractContextManager[Connection]:
        """A transaction that is on disk when the block ends, and has no effect if the block raises."""
        return self._written()

    @contextmanager
    def alone(self) -> Iterator[Connection]:
        """A transaction that no other of this kind runs beside, so that tables are created once."""
        with self.writing() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _KEY})
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection on which each statement sees what is committed. No transaction: its begin and end take time."""
        with self._reads.connect() as connection:
            yield connection

    def keep_a_log(self) -> None:
        """Turn on SQLite's write-ahead log, so that readers wait for no writer. The file remembers the setting."""
        if self.engine.dialect.name != "sqlite":
            return
        last = time.monotonic() + _PATIENCE
        with self.reading() as connection:
            while not _keeps_log(connection, is_last=time.monotonic() > last):
                time.sleep(_PAUSE)

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def insert_new(connection: Connection, table: Table, rows: Sequence[dict[str, Any]]) -> int:
    """Insert the rows that violate no uniqueness constraint of the table, and return their number."""
    if not rows:
        return 0
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    new = dialect.insert(table).on_conflict_do_nothing().returning(*table.primary_key)
    return len(connection.execute(new, rows).all())


def _engine(url: str) -> Engine:
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise ValueError(f"found the store {url!r}, expected sqlite:///PATH or postgresql://...") from None
    name = parsed.get_backend_name()
    if name not in _DRIVERS:
        raise ValueError(f"found a store of {name}, expected sqlite:///PATH or postgresql://...")
    parsed = parsed.set(drivername=_DRIVERS[name])
    if name == "postgresql":
        return create_engine(parsed, pool_size=CONNECTIONS, max_overflow=16)
    if not parsed.database or parsed.database == ":memory:":
        raise ValueError("found a store in memory, expected a file: sqlite:///PATH")
    Path(parsed.database).touch(mode=0o600)  # nobody else may read the password hashes
    engine = create_engine(parsed, pool_size=CONNECTIONS, max_overflow=16, connect_args={"timeout": _PATIENCE})
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _set_up_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # `_begin_sqlite` begins transactions
    for pragma in ("synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _keeps_log(connection: Connection, is_last: bool) -> bool:
    """Try to turn on the log. False while another connection writes: here SQLite does not wait for it by itself.

    Raises OperationalError after the last attempt, or if something else is wrong.
    """
    try:
        connection.exec_driver_sql("PRAGMA journal_mode=WAL")
    except OperationalError as error:
        is_locked = isinstance(error.orig, sqlite3.Error) and error.orig.sqlite_errorcode == sqlite3.SQLITE_BUSY
        if is_last or not is_locked:
            raise
        return False
    return True


def _begin_sqlite(connection: Connection) -> None:
    if connection.get_execution_options().get(_WRITES):
        connection.exec_driver_sql("BEGIN IMMEDIATE")
