"""The database of a store: its tables, its connections to SQLite or PostgreSQL, and its transactions.

Both databases run the same statements, and no writer sees another's unfinished work. In SQLite a writer locks the
database (`BEGIN IMMEDIATE`), a commit is on disk when it returns (`synchronous=FULL`), and the writers of one process
share commits (`Group`). In PostgreSQL writers lock rows, always an annotator before a task, so there are no deadlocks.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import sqlalchemy as sql
from sqlalchemy import Column, Connection, Double, ForeignKey, Integer, String, Table, Text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, OperationalError

# Judgements and adjudications are append-only: the database itself refuses to change or delete them. Annotated text
# never changes either. Only assignments and the status of tasks change, and both can be recomputed. Times are seconds
# since 1970, UTC.

VERSION = "7"
"""Version of the tables; a store of another version is refused."""

metadata = sql.MetaData()

values = Table(
    "values",
    metadata,
    Column("name", String, primary_key=True),
    Column("value", Text, nullable=False),
)
"""Values that are created once: the version of the tables, the key that signs cookies."""

annotators = Table(
    "annotators",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String, nullable=False, unique=True),
    Column("role", String, nullable=False),
    Column("password_hash", Text),
    Column("created", Double, nullable=False),
    Column("admitted", Double),
    Column("session_epoch", Integer, nullable=False, server_default="0"),
    sql.CheckConstraint("role in ('annotator', 'curator')", name="known_role"),
)

invitations = Table(
    "invitations",
    metadata,
    Column("digest", String, primary_key=True),
    Column("annotator", ForeignKey("annotators.id"), nullable=False),
    Column("expires", Double, nullable=False),
    Column("used", Double),
)
"""One-time links, by the SHA-256 of their token."""

labels = Table(
    "labels",
    metadata,
    Column("guideline", String, nullable=False),
    Column("label", String, nullable=False),
    Column("rank", Integer, nullable=False),
    Column("note", Text, nullable=False),
    sql.PrimaryKeyConstraint("guideline", "label"),
)

sentences = Table(
    "sentences",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("digest", String(64), nullable=False, unique=True),  # of path, line and forms
    Column("path", Text, nullable=False),
    Column("line", Integer, nullable=False),
    Column("forms", sql.JSON, nullable=False),
    Column("layers", sql.JSON, nullable=False),
    Column("columns", sql.JSON, nullable=False),
    Column("rejected", sql.JSON, nullable=False),
)

models = Table(
    "models",
    metadata,
    Column("version", Integer, primary_key=True),
    Column("path", Text, nullable=False),
    Column("trained", Double, nullable=False),
    Column("judgement", Integer, nullable=False),  # the last one it was trained on
    Column("minutes", Double, nullable=False),
    Column("accuracy", Double),
)

tasks = Table(
    "tasks",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("sentence", ForeignKey("sentences.id"), nullable=False),
    Column("start", Integer, nullable=False),
    Column("stop", Integer, nullable=False),
    Column("guideline", String, nullable=False),
    Column("purpose", String, nullable=False),
    Column("asks", String, nullable=False),
    Column("gold_kind", String),
    Column("gold_label", String),
    Column("candidates", sql.JSON, nullable=False),
    Column("model", ForeignKey("models.version")),
    Column("uncertainty", Double, nullable=False),
    Column("wanted", Integer, nullable=False),  # number of slots; 0: everybody may answer
    Column("free", Integer, nullable=False),  # slots that nobody holds
    Column("status", String, nullable=False),
    Column("kind", String),  # the outcome, where there is one
    Column("label", String),  # here and below: `Answer.text`
    Column("settled", Double),
    sql.UniqueConstraint("sentence", "start", "stop", "guideline", "purpose", "asks"),
    sql.CheckConstraint("free between 0 and wanted", name="free_slots"),
    sql.CheckConstraint("status in ('open', 'agreed', 'dropped', 'adjudicated')", name="known_status"),
)
sql.Index("tasks_by_uncertainty", tasks.c.purpose, tasks.c.status, tasks.c.uncertainty.desc(), tasks.c.id)
sql.Index("tasks_by_number", tasks.c.purpose, tasks.c.status, tasks.c.id)

assignments = Table(
    "assignments",
    metadata,
    Column("task", ForeignKey("tasks.id"), nullable=False),
    Column("annotator", ForeignKey("annotators.id"), nullable=False),
    Column("slot", Integer),  # None: lapsed, or a task that everybody may answer
    Column("leased", Double, nullable=False),
    Column("expires", Double),  # None: answered
    Column("candidates", sql.JSON, nullable=False),
    Column("model", ForeignKey("models.version")),
    sql.PrimaryKeyConstraint("task", "annotator"),  # never the same task twice to one person
    sql.UniqueConstraint("task", "slot"),  # never more people than slots
)
_is_leased = assignments.c.expires.is_not(None)
for _name, _column in (("open", assignments.c.annotator), ("by_expiry", assignments.c.expires)):
    sql.Index(f"assignments_{_name}", _column, sqlite_where=_is_leased, postgresql_where=_is_leased)
sql.Index("assignments_of_annotator", assignments.c.annotator, assignments.c.task)

judgements = Table(
    "judgements",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("task", ForeignKey("tasks.id"), nullable=False),
    Column("annotator", ForeignKey("annotators.id"), nullable=False),
    Column("revision", Integer, nullable=False),  # the last one of a task and annotator stands
    Column("withdrawn", sql.Boolean, nullable=False),  # an undo: no answer stands
    Column("slot", Integer),
    Column("kind", String, nullable=False),
    Column("label", String),
    Column("candidates", sql.JSON, nullable=False),  # as they were shown
    Column("model", ForeignKey("models.version")),
    Column("started", Double, nullable=False),
    Column("ended", Double, nullable=False),
    sql.UniqueConstraint("task", "annotator", "revision"),
)
sql.Index("judgements_of_annotator", judgements.c.annotator, judgements.c.id)

adjudications = Table(
    "adjudications",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("task", ForeignKey("tasks.id"), nullable=False),
    Column("curator", ForeignKey("annotators.id"), nullable=False),
    Column("revision", Integer, nullable=False),
    Column("kind", String, nullable=False),
    Column("label", String),
    Column("decided", Double, nullable=False),
    sql.UniqueConstraint("task", "revision"),
)

documents = Table(
    "documents",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("model", String, nullable=False),
    Column("project", String, nullable=False),
    Column("number", sql.BigInteger, nullable=False),
    Column("sentences", sql.JSON, nullable=False),  # forms and labels
    sql.UniqueConstraint("model", "project", "number"),
)
"""What people annotate in other tools, by the name of the served model that learns from it."""

_SQLITE = """
CREATE TRIGGER {table}_no_{change} BEFORE {change} ON {table}
BEGIN SELECT RAISE(ABORT, '{table} are append-only'); END
"""
_POSTGRESQL_FUNCTION = """
CREATE OR REPLACE FUNCTION append_only() RETURNS trigger LANGUAGE plpgsql
AS $$ BEGIN RAISE EXCEPTION '%% are append-only', TG_TABLE_NAME; END $$
"""
_POSTGRESQL = """
CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table}
FOR EACH ROW EXECUTE FUNCTION append_only();
CREATE TRIGGER {table}_never_empty BEFORE TRUNCATE ON {table}
FOR EACH STATEMENT EXECUTE FUNCTION append_only()
"""


for _table in (judgements, adjudications):
    _statements = [("sqlite", _SQLITE.format(table=_table.name, change=change)) for change in ("update", "delete")]
    _statements += [("postgresql", _POSTGRESQL_FUNCTION), ("postgresql", _POSTGRESQL.format(table=_table.name))]
    for _dialect, _statement in _statements:
        _refuse_changes = sql.DDL(_statement).execute_if(dialect=_dialect)  # type: ignore[no-untyped-call]
        sql.event.listen(_table, "after_create", _refuse_changes)


@dataclass
class _Batch:
    """A transaction, and how it ended."""

    connection: Connection
    ended: threading.Event = field(default_factory=threading.Event)
    error: BaseException | None = None


class _GroupCommit:
    """Several writers of one engine write one after the other, and share one commit.

    Writing one answer to disk takes as long as writing twenty. A writer that arrives while others write joins their
    transaction; the last one commits, and none returns before that. So the work of all is on disk when they return, and
    none of it if the commit fails. Each writes in a savepoint of its own, so one can fail alone.
    """

    def __init__(self, engine: sql.Engine) -> None:
        self._engine, self._turn, self._counting = engine, threading.Lock(), threading.Lock()
        self._waiting = 0
        self._batch: _Batch | None = None  # open, its next writer is waiting

    @contextmanager
    def part(self) -> Iterator[Connection]:
        """Open a part of a transaction that is on disk when the block ends, and has no effect if the block raises."""
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
                with self._counting:
                    self._batch = batch if self._waiting else None
                if self._batch is None:
                    _commit(batch)
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
    """Open a savepoint. SQLAlchemy's own takes as long as two of the statements of an answer."""
    driver.execute("SAVEPOINT part")
    try:
        yield
    except BaseException:
        if driver.in_transaction:
            driver.execute("ROLLBACK TO part")
            driver.execute("RELEASE part")
        raise
    driver.execute("RELEASE part")


_DRIVERS = {"sqlite": "sqlite+pysqlite", "postgresql": "postgresql+psycopg"}
CONNECTIONS = 16
"""How many connections a store keeps open. PostgreSQL takes longer to open one than to answer a query."""

_PATIENCE = 30  # seconds for which a writer waits for others
_PAUSE = 0.01  # seconds between attempts where SQLite itself does not wait
_KEY = 0x7461677765617665  # "tagweave"
_WRITES = "tagweave_writes"


class Database:
    """An engine, and transactions on it."""

    def __init__(self, url: str) -> None:
        self.engine = _engine(url)
        writes = self.engine.execution_options(**{_WRITES: True})
        is_sqlite = self.engine.dialect.name == "sqlite"
        self.writing: Callable[[], AbstractContextManager[Connection]]
        """Begin a transaction that is on disk when the block ends, and has no effect if the block raises."""
        # writers of SQLite wait for one another anyway, so those of one process share a commit
        self.writing = _GroupCommit(writes).part if is_sqlite else writes.begin
        # SQLite's driver has no transactions except those of `_begin_sqlite`
        self._reads = self.engine if is_sqlite else self.engine.execution_options(isolation_level="AUTOCOMMIT")

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Connect so that each statement sees committed data. No transaction: its begin and end take time."""
        with self._reads.connect() as connection:
            yield connection

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


def _engine(url: str) -> sql.Engine:
    try:
        parsed = sql.make_url(url)
    except ArgumentError:
        raise ValueError(f"found the store {url!r}, expected sqlite:///PATH or postgresql://...") from None
    name = parsed.get_backend_name()
    if name not in _DRIVERS:
        raise ValueError(f"found a store of {name}, expected sqlite:///PATH or postgresql://...")
    parsed = parsed.set(drivername=_DRIVERS[name])
    if name == "postgresql":
        return sql.create_engine(parsed, pool_size=CONNECTIONS, max_overflow=16)
    if not parsed.database or parsed.database == ":memory:":
        raise ValueError("found a store in memory, expected a file: sqlite:///PATH")
    Path(parsed.database).touch(mode=0o600)  # nobody else may read the password hashes
    engine = sql.create_engine(parsed, pool_size=CONNECTIONS, max_overflow=16, connect_args={"timeout": _PATIENCE})
    sql.event.listen(engine, "connect", _set_up_sqlite)
    sql.event.listen(engine, "begin", _begin_sqlite)
    return engine


def _set_up_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # `_begin_sqlite` begins transactions
    for pragma in ("synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    if connection.get_execution_options().get(_WRITES):
        connection.exec_driver_sql("BEGIN IMMEDIATE")


_MARK = "schema"  # in `values`, beside the version of the tables


def prepare(opened: Database) -> None:
    """Create the tables in an empty database."""
    with opened.reading() as connection:
        is_new = not sql.inspect(connection).get_table_names()
    if is_new:
        if opened.engine.dialect.name == "sqlite":
            _keep_a_log(opened)
        with opened.writing() as connection:
            if connection.dialect.name == "postgresql":  # SQLite has one writer anyway
                connection.execute(sql.text("SELECT pg_advisory_xact_lock(:key)"), {"key": _KEY})
            if not sql.inspect(connection).get_table_names():  # otherwise another process was faster
                metadata.create_all(connection)
                connection.execute(sql.insert(values).values(name=_MARK, value=VERSION))
    with opened.reading() as connection:
        names, version = {*sql.inspect(connection).get_table_names()}, None
        if names >= {*metadata.tables}:
            written = sql.select(values.c.value).where(values.c.name == _MARK)
            version = connection.execute(written).scalar_one_or_none()
    if version is None:
        difference = f"a database with other tables ({', '.join(sorted(names)[:3])})"
        raise ValueError(f"found {difference}, expected a store of annotations, or an empty one")
    if version != VERSION:
        raise ValueError(f"found a store of version {version}, expected {VERSION}")


def _keep_a_log(opened: Database) -> None:
    """Turn on SQLite's write-ahead log, so that readers wait for no writer. The file remembers the setting."""
    last = time.monotonic() + _PATIENCE
    with opened.reading() as connection:
        while True:
            is_last = time.monotonic() > last
            try:
                connection.exec_driver_sql("PRAGMA journal_mode=WAL")
                return
            except OperationalError as error:  # another connection writes: here SQLite does not wait by itself
                is_locked = isinstance(error.orig, sqlite3.Error) and error.orig.sqlite_errorcode == sqlite3.SQLITE_BUSY
                if is_last or not is_locked:
                    raise
            time.sleep(_PAUSE)
