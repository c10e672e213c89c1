"""Stores to test on: SQLite in a temporary folder, and a throw-away PostgreSQL."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from postgresql import programs, running
from sqlalchemy import create_engine, make_url, text

from tagweave.annotate.store import Store

NewUrl = Callable[[], str]
OpenStore = Callable[..., Store]


@pytest.fixture(scope="session")
def postgresql() -> Iterator[NewUrl]:
    """Makes the URL of an empty PostgreSQL database."""
    folder = programs()
    if folder is None:
        pytest.skip("PostgreSQL (initdb, pg_ctl) is not installed")
    with running(folder) as url:
        yield lambda: _new_database(url)


def _new_database(url: str) -> str:
    name = f"t{uuid.uuid4().hex}"
    driver = make_url(url.format("postgres")).set(drivername="postgresql+psycopg")
    engine = create_engine(driver, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return url.format(name)


@pytest.fixture(params=["sqlite", "postgresql"])
def new_url(request: pytest.FixtureRequest, tmp_path: Path) -> NewUrl:
    """Makes the URL of an empty store, of either database."""
    if request.param == "postgresql":
        found: NewUrl = request.getfixturevalue("postgresql")
        return found
    return lambda: f"sqlite:///{tmp_path / uuid.uuid4().hex}.db"


@pytest.fixture
def open_store(new_url: NewUrl) -> Iterator[OpenStore]:
    """Opens stores, new ones or those of a URL, with a fixed seed, and closes them."""
    opened: list[Store] = []

    def open_(*words: Any, url: str | None = None, **settings: Any) -> Store:
        opened.append(Store.open(url or new_url(), *words, **{"seed": 1, **settings}))
        return opened[-1]

    yield open_
    for store in opened:
        store.close()
