"""The tables. Judgements and adjudications are append-only: the database itself refuses to change or delete them.

All times are seconds since 1970, UTC. Annotated text never changes either. Only assignments and the status of tasks
change, and both can be recomputed from the judgements and adjudications.
"""

from __future__ import annotations

from sqlalchemy import (
    DDL,
    JSON,
    Boolean,
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
    event,
)

VERSION = "5"
"""Version of the tables; a store of another version is refused."""

metadata = MetaData()

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
    CheckConstraint("role in ('annotator', 'curator')", name="known_role"),
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
    PrimaryKeyConstraint("guideline", "label"),
)

sentences = Table(
    "sentences",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("digest", String(64), nullable=False, unique=True),  # of path, line and forms
    Column("path", Text, nullable=False),
    Column("line", Integer, nullable=False),
    Column("forms", JSON, nullable=False),
    Column("layers", JSON, nullable=False),
    Column("columns", JSON, nullable=False),
    Column("rejected", JSON, nullable=False),
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
    Column("candidates", JSON, nullable=False),
    Column("model", ForeignKey("models.version")),
    Column("uncertainty", Double, nullable=False),
    Column("gain", Double, nullable=False),  # expected of another answer, in bits, where posteriors decide
    Column("wanted", Integer, nullable=False),  # number of slots; 0: everybody may answer
    Column("free", Integer, nullable=False),  # slots that nobody holds
    Column("status", String, nullable=False),
    Column("kind", String),  # the outcome, where there is one
    Column("label", String),  # here and below: `Answer.text`
    Column("settled", Double),
    UniqueConstraint("sentence", "start", "stop", "guideline", "purpose", "asks"),
    CheckConstraint("free between 0 and wanted", name="free_slots"),
    CheckConstraint("status in ('open', 'agreed', 'dropped', 'adjudicated')", name="known_status"),
)
Index("tasks_by_uncertainty", tasks.c.purpose, tasks.c.status, tasks.c.uncertainty.desc(), tasks.c.id)
Index("tasks_by_gain", tasks.c.purpose, tasks.c.status, tasks.c.gain.desc(), tasks.c.id)
Index("tasks_by_number", tasks.c.purpose, tasks.c.status, tasks.c.id)

assignments = Table(
    "assignments",
    metadata,
    Column("task", ForeignKey("tasks.id"), nullable=False),
    Column("annotator", ForeignKey("annotators.id"), nullable=False),
    Column("slot", Integer),  # None: lapsed, or a task that everybody may answer
    Column("leased", Double, nullable=False),
    Column("expires", Double),  # None: answered
    Column("candidates", JSON, nullable=False),
    Column("model", ForeignKey("models.version")),
    PrimaryKeyConstraint("task", "annotator"),  # never the same task twice to one person
    UniqueConstraint("task", "slot"),  # never more people than slots
)
Index(
    "assignments_open",
    assignments.c.annotator,
    sqlite_where=assignments.c.expires.is_not(None),
    postgresql_where=assignments.c.expires.is_not(None),
)
Index(
    "assignments_by_expiry",
    assignments.c.expires,
    sqlite_where=assignments.c.expires.is_not(None),
    postgresql_where=assignments.c.expires.is_not(None),
)
Index("assignments_of_annotator", assignments.c.annotator, assignments.c.task)

judgements = Table(
    "judgements",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("task", ForeignKey("tasks.id"), nullable=False),
    Column("annotator", ForeignKey("annotators.id"), nullable=False),
    Column("revision", Integer, nullable=False),  # the last one of a task and annotator stands
    Column("withdrawn", Boolean, nullable=False),  # an undo: no answer stands
    Column("slot", Integer),
    Column("kind", String, nullable=False),
    Column("label", String),
    Column("candidates", JSON, nullable=False),  # as they were shown
    Column("model", ForeignKey("models.version")),
    Column("started", Double, nullable=False),
    Column("ended", Double, nullable=False),
    UniqueConstraint("task", "annotator", "revision"),
)
Index("judgements_of_annotator", judgements.c.annotator, judgements.c.id)

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
    UniqueConstraint("task", "revision"),
)

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


def _refuse_changes(table: Table) -> None:
    """Make a table append-only, by triggers."""
    statements = [("sqlite", _SQLITE.format(table=table.name, change=change)) for change in ("update", "delete")]
    statements += [("postgresql", _POSTGRESQL_FUNCTION), ("postgresql", _POSTGRESQL.format(table=table.name))]
    for dialect, text in statements:
        event.listen(table, "after_create", DDL(text).execute_if(dialect=dialect))  # type: ignore[no-untyped-call]


for _table in (judgements, adjudications):
    _refuse_changes(_table)
