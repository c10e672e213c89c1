"""Small models of every kind, behind an application."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from clients import Connect
from starlette.testclient import TestClient

import tagweave as tw
from tagweave.corpus import sample
from tagweave.serve.app import application
from tagweave.serve.settings import Retraining, ServerSettings

NAMES = """Ann\tB-PER\nBell\tI-PER\nleft\tO\nGraz\tB-LOC\n.\tO\n
Bob\tB-PER\nlives\tO\nin\tO\nWest\tB-LOC\nHill\tI-LOC\n.\tO\n
She\tO\nleft\tO\nBob\tB-PER\n.\tO\n"""
TREES = """1\tAnn\t_\tNN\tNN\t_\t2\tsubj\t_\t_\n2\tsleeps\t_\tVB\tVB\t_\t0\troot\t_\t_\n
1\tShe\t_\tNN\tNN\t_\t2\tsubj\t_\t_\n2\tsees\t_\tVB\tVB\t_\t0\troot\t_\t_\n3\tBob\t_\tNN\tNN\t_\t2\tobj\t_\t_\n
"""


@pytest.fixture(scope="session")
def served_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the models ctb, seg, segtag, ner, upos and dep."""
    folder = tmp_path_factory.mktemp("served")
    ctb, pd = (sample.path(f"{name}.txt").read_text("utf-8").splitlines()[:30] for name in ("ctb", "pd"))
    (folder / "ctb.txt").write_text("\n".join(ctb), "utf-8")
    (folder / "pd.txt").write_text("\n".join(pd), "utf-8")
    (folder / "ner.col").write_text(NAMES, "utf-8")
    (folder / "trees.conllu").write_text(TREES, "utf-8")
    plans: dict[str, tuple[str, dict[str, Any]]] = {
        "ctb": (f"ctb={folder / 'ctb.txt'}", {}),
        "seg": (str(folder / "pd.txt"), {"task": "segment"}),
        "segtag": (str(folder / "pd.txt"), {"task": "segtag"}),
        "ner": (str(folder / "ner.col"), {"task": "spans", "iterations": 15}),
        "upos": (f"upos={folder / 'trees.conllu'}#upos", {}),
        "dep": (str(folder / "trees.conllu"), {"task": "parse"}),
    }
    for name, (corpus, options) in plans.items():
        tw.train(corpus, **{"iterations": 4, **options}).save(folder / f"{name}.model")
    return folder


@pytest.fixture(scope="session")
def connect(served_files: Path) -> Iterator[Connect]:
    """A client of a server of some models, by their names, with other settings as `ServerSettings`."""
    with ExitStack() as stack:
        known: dict[str, TestClient] = {}

        def client(*names: str, **settings: Any) -> TestClient:
            key = repr((names, settings))
            if key not in known:
                models = tuple((name, str(served_files / f"{name}.model")) for name in names)
                app = application(ServerSettings(models, **settings))
                known[key] = stack.enter_context(TestClient(app, raise_server_exceptions=False))
            return known[key]

        yield client


@pytest.fixture
def training(served_files: Path, tmp_path: Path) -> Iterator[TestClient]:
    """A server of `ner` that trains on its corpus, too, in the folder `new`."""
    retraining = Retraining(str(tmp_path / "new"), train=(f"{served_files / 'ner.col'}",))
    settings = ServerSettings((("ner", str(served_files / "ner.model")),), retraining=retraining)
    with TestClient(application(settings), raise_server_exceptions=False) as client:
        yield client
