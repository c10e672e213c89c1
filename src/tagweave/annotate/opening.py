"""Opening a store: an empty database becomes one, a database with other tables is refused and left alone."""

from __future__ import annotations

from sqlalchemy import Connection, insert, inspect, select

from tagweave.annotate import schema
from tagweave.annotate.database import Database

_MARK = "schema"  # in `values`, beside the version of the tables


def prepare(database: Database) -> None:
    """Create the tables in an empty database.

    Raises:
        ValueError: tables of another program, or of another version of this one.
    """
    with database.reading() as connection:
        is_new = not inspect(connection).get_table_names()
    if is_new:
        database.keep_a_log()
        with database.alone() as connection:
            if not inspect(connection).get_table_names():  # otherwise another process was faster
                schema.metadata.create_all(connection)
                connection.execute(insert(schema.values).values(name=_MARK, value=schema.VERSION))
    with database.reading() as connection:
        _check(connection)


def _check(connection: Connection) -> None:
    names = {*inspect(connection).get_table_names()}
    version = None
    if names >= {*schema.metadata.tables}:
        version = connection.execute(
            select(schema.values.c.value).where(schema.values.c.name == _MARK)
        ).scalar_one_or_none()
    if version is None:
        some = ", ".join(sorted(names)[:3])
        raise ValueError(
            f"found a database with other tables ({some}), expected a store of annotations, or an empty one"
        )
    if version != schema.VERSION:
        raise ValueError(f"found a store of version {version}, expected {schema.VERSION}")
