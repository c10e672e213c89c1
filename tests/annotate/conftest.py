"""Stores to test on, SQLite in a temporary folder and a throw-away PostgreSQL; and Chromium."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal
from argon2 import PasswordHasher
from browsing import new_store, word_list
from made_spans import furnished
from made_tasks import Clock, NewUrl, OpenStore
from sqlalchemy import Engine, create_engine, make_url
from sqlalchemy.schema import CreateSchema
from starlette.testclient import TestClient

from benchmarks.postgresql import programs, running
from reproductions.screenshots.served import chromium
from tagweave.annotate import sign_in
from tagweave.annotate.page_request import WordList
from tagweave.annotate.rules import Settings
from tagweave.annotate.store import Store
from tagweave.corpus import sample
from tagweave.corpus.load import load
from tagweave.learning.run import Run, Schedule
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.training.fit.fit import fit
from tagweave.training.fit.recipe import Recipe


@pytest.fixture(autouse=True, scope="session")
def quick_passwords() -> Iterator[None]:
    """A hash takes a quarter of a second by default, which is what it is for."""
    hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sign_in, "_HASHER", hasher)
        patch.setattr(sign_in, "_NOBODY", hasher.hash("nobody has this password"))
        yield


@pytest.fixture(autouse=True, scope="session")
def one_loop() -> Iterator[None]:
    """All browsers talk to their servers in one event loop: they would start a thread with a loop for each request."""
    with start_blocking_portal() as portal, pytest.MonkeyPatch.context() as patch:
        patch.setattr(TestClient, "portal", portal)
        yield


@pytest.fixture(scope="session")
def postgresql() -> Iterator[NewUrl]:
    """Makes the URL of an empty schema of a PostgreSQL database, which is made and removed faster than a database."""
    folder = programs()
    if folder is None:
        pytest.skip("PostgreSQL (initdb, pg_ctl) is not installed")
    with running(folder) as url:
        engine = create_engine(make_url(url).set(drivername="postgresql+psycopg"))
        yield lambda: f"{url}&options=-csearch_path={_new_schema(engine)}"
        engine.dispose()


def _new_schema(engine: Engine) -> str:
    name = f"test_{uuid.uuid4().hex}"
    with engine.begin() as connection:
        connection.execute(CreateSchema(name))
    return name


CONTRACT = ("test_store", "test_concurrency")
"""The tests that the store passes on SQLite and on PostgreSQL; all others run on SQLite alone."""
DEAR = ("test_processes", "test_acknowledged_answers_survive_kill_9")
"""Those of them that start processes: `test_threads` is quicker to say whether PostgreSQL keeps them apart."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "new_url" in metafunc.fixturenames and metafunc.module.__name__ in CONTRACT:
        marks = [pytest.mark.slow] if metafunc.function.__name__ in DEAR else []
        metafunc.parametrize("new_url", ["sqlite", pytest.param("postgresql", marks=marks)], indirect=True)


@pytest.fixture
def new_url(request: pytest.FixtureRequest, tmp_path: Path) -> NewUrl:
    """Makes the URL of an empty store."""
    if getattr(request, "param", "sqlite") == "postgresql":
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


@pytest.fixture(scope="session")
def tagger() -> ChainPredictor:
    """A tagger trained on the first 80 sentences of the sample of CTB."""
    corpus = load(str(sample.path("ctb.txt")), unnamed="ctb")
    return ChainPredictor(fit([corpus.with_sentences(corpus.sentences[:80])], Recipe(), run=Run(Schedule(2))).model)


@pytest.fixture
def clock() -> Clock:
    """The clock of `store`."""
    return Clock()


@pytest.fixture
def store(open_store: OpenStore, clock: Clock) -> Store:
    """An empty store of either database."""
    return open_store(clock=clock)


@pytest.fixture
def label_store(tmp_path: Path) -> Iterator[Store]:
    """A store with twelve tasks of labels."""
    opened = new_store(tmp_path)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def words(tmp_path_factory: pytest.TempPathFactory) -> WordList:
    """A concordance."""
    return word_list(tmp_path_factory.mktemp("words"))


@pytest.fixture
def span_store(tmp_path: Path) -> Iterator[Store]:
    """A store with three tasks of spans."""
    opened = furnished(Store.open(f"sqlite:///{tmp_path / 'answers.db'}", Settings(window=1), seed=1), 3)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium."""
    with chromium() as started:
        yield started
