"""Several writers of SQLite, one commit: all are there or none, and what one undoes is undone alone."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, insert, select

from tagweave.annotate.database import Database, metadata, values


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    found = Database(f"sqlite:///{tmp_path / 'answers.db'}")
    with found.writing() as connection:
        metadata.create_all(connection)
    yield found
    found.close()


def names(database: Database) -> set[str]:
    with database.reading() as connection:
        return {*connection.execute(select(values.c.name)).scalars()}


def put(database: Database, name: str, then: Callable[[Any], None] = lambda _connection: None) -> None:
    with database.writing() as connection:
        connection.execute(insert(values).values(name=name, value=""))
        then(connection)


def together(database: Database, first: Callable[[Any], None], *others: Callable[[], None]) -> list[Exception | None]:
    """One writer, who does not end before all others wait; what each of them raised."""
    all_wait, group = threading.Event(), database.writing.__self__  # type: ignore[attr-defined]

    def wait_for_others(connection: Any) -> None:
        assert all_wait.wait(60)
        first(connection)

    with ThreadPoolExecutor(1 + len(others)) as pool:
        jobs = [pool.submit(put, database, "first", wait_for_others)]
        while not group._turn.locked():
            pass
        jobs += [pool.submit(other) for other in others]
        while group._waiting < len(others):
            pass
        all_wait.set()
        return [job.exception(10) for job in jobs]  # type: ignore[misc]


def commits(database: Database) -> list[Any]:
    found: list[Any] = []
    event.listen(database.engine, "commit", found.append)
    return found


def test_who_waits_is_in_the_same_commit(database: Database) -> None:
    seen = commits(database)
    others = [lambda name=name: put(database, name) for name in "abcd"]
    assert together(database, lambda _connection: None, *others) == [None] * 5
    assert len(seen) == 1
    assert names(database) == {"first", *"abcd"}


def test_who_is_alone_commits_alone(database: Database) -> None:
    seen = commits(database)
    put(database, "a")
    put(database, "b")
    assert (len(seen), names(database)) == (2, {"a", "b"})


def test_nobody_sees_anything_before_the_commit(database: Database) -> None:
    seen = []
    together(
        database, lambda _connection: None, lambda: put(database, "a", lambda _connection: seen.append(names(database)))
    )
    assert seen == [set()]
    assert names(database) == {"first", "a"}


def failing(_connection: Any) -> None:
    raise KeyError("mine")


def test_what_one_undoes_is_undone_alone(database: Database) -> None:
    errors = together(database, failing, lambda: put(database, "a"), lambda: put(database, "b", failing))
    assert [type(each) for each in errors] == [KeyError, type(None), KeyError]
    assert names(database) == {"a"}
    put(database, "b")
    assert names(database) == {"a", "b"}


def test_a_statement_that_fails_spoils_nothing_for_others(database: Database) -> None:
    put(database, "a")
    errors = together(database, lambda _connection: None, lambda: put(database, "a"), lambda: put(database, "b"))
    assert [each is None for each in errors] == [True, False, True]
    assert names(database) == {"first", "a", "b"}


def test_where_the_commit_fails_nobody_is_told_otherwise(database: Database) -> None:
    def refuse(_connection: Any) -> None:
        raise OSError("no space left")

    event.listen(database.engine, "commit", refuse)
    errors = together(database, lambda _connection: None, lambda: put(database, "a"))
    assert [type(each) for each in errors] == [OSError, OSError]
    event.remove(database.engine, "commit", refuse)
    assert names(database) == set()
    put(database, "b")
    assert names(database) == {"b"}


def test_where_the_database_gives_up_nobody_is_told_otherwise(database: Database) -> None:
    """On a full disk SQLite ends the whole transaction, and not the savepoint alone."""

    def give_up(connection: Any) -> None:
        connection.exec_driver_sql("ROLLBACK")
        raise KeyError("mine")

    errors = together(database, lambda _connection: None, lambda: put(database, "a", give_up))
    assert None not in errors
    assert names(database) == set()
    put(database, "b")
    assert names(database) == {"b"}


def test_many_at_once(database: Database) -> None:
    seen = commits(database)

    def work(number: int) -> None:
        for step in range(20):
            try:
                put(database, f"{number} {step}", failing if step % 5 == 4 else lambda _connection: None)
            except KeyError:
                assert step % 5 == 4

    with ThreadPoolExecutor(8) as pool:
        [*pool.map(work, range(8))]
    assert len(seen) < 160
    assert names(database) == {f"{number} {step}" for number in range(8) for step in range(20) if step % 5 != 4}
