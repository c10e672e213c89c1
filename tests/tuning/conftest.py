"""A plan of a small corpus, whose trainings take a moment."""

from __future__ import annotations

import pytest

from tagweave.corpus import sample
from tagweave.training.plan import Plan, Source
from tagweave.training.resolve import resolve


@pytest.fixture(scope="session")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    """A tagger of 40 sentences."""
    folder = tmp_path_factory.mktemp("plan")
    lines = sample.path("ctb.txt").read_text("utf-8").splitlines(keepends=True)
    for name, own in (("train.txt", lines[:40]), ("dev.txt", lines[100:])):
        (folder / name).write_text("".join(own), "utf-8")
    references = Source(str(folder / "train.txt")), Source(str(folder / "dev.txt"))
    return resolve(Plan(references[:1], dev=references[1], iterations=4), lambda line: None)
