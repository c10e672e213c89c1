"""An attacker: bad headers, bad values at every place of every request. Nothing fails, now or later."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from random import Random
from typing import Any

import pytest
from starlette.testclient import TestClient

from tagweave.annotate.retraining import take
from tagweave.serve.app import application
from tagweave.serve.settings import Retraining, ServerSettings

JSON = {"content-type": "application/json"}
CONFIG = """<View><Labels name="ner" toName="doc"><Label value="PER"/><Label value="LOC"/></Labels>
<Text name="doc" value="$body"/></View>"""
MARK = {"type": "labels", "score": 0.5, "value": {"start": 0, "end": 8, "labels": ["PER"]}}
TASK = {"id": 1, "data": {"body": "Ann Bell left Graz."}}
ANNOTATION = {"id": 3, "completed_by": 1, "result": [MARK], "prediction": {"id": 1, "result": []}}
PREDICTION = {"model_version": "x", "result": [MARK]}
REQUESTS: dict[str, Any] = {
    "/tag": {
        "tokens": ["Ann", "left"],
        "columns": {"x": ["a", "b"]},
        "model": "ner",
        "probabilities": "all",
        "precision": None,
    },
    "/segment": {"text": "a b", "probabilities": True},
    "/parse": {"tokens": [["Ann", "left"], ["She"]], "columns": {"xpos": [["a", "b"], ["c"]]}},
    "/setup": {"schema": CONFIG, "project": "7.1"},
    "/predict": {"tasks": [TASK], "label_config": CONFIG, "project": "7.1"},
    "/webhook": {"action": "ANNOTATION_CREATED", "task": TASK, "project": {"id": 7}, "annotation": ANNOTATION},
    "/train": {"annotations": [{**TASK, "annotations": [ANNOTATION], "predictions": [PREDICTION, 1]}], "project": "7"},
}
VALUES: list[Any] = [
    *(None, True, -1, 99, 10**400, 1e308, "", "a\n\tb\r\0\u2028", "x" * 20_000, "7/3"),
    *([], {}, [[]], [None], {"id": []}, [{"id": 1, "data": {}}]),
]


@pytest.fixture(scope="module")
def attacked(served_files: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A server of every kind of model, which would train if its lock were not held."""
    folder = tmp_path_factory.mktemp("new")
    models = tuple((name, str(served_files / f"{name}.model")) for name in ("ner", "seg", "dep"))
    app = application(ServerSettings(models, "words", retraining=Retraining(str(folder))))
    with take(folder) or nullcontext(), TestClient(app, raise_server_exceptions=False) as client:
        yield client


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield at
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from places(value[key], (*at, key))


def changed(value: Any, at: tuple[Any, ...], new: Any) -> Any:
    if not at:
        return new
    copy = value.copy()
    copy[at[0]] = changed(value[at[0]], at[1:], new)
    return copy


def mutated(text: str, random: Random) -> str:
    """The text with some places replaced, left out or repeated."""
    found = list(text)
    for _ in range(random.choice((1, 1, 3))):
        at, size = random.randrange(len(found)), random.randrange(20)
        found[at : at + random.choice((0, 1, size))] = random.choice((chr(random.randrange(256)), "", text[at:][:size]))
    return "".join(found)


@pytest.mark.parametrize("path", REQUESTS)
def test_bad_values_at_every_place(attacked: TestClient, path: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR)
    whole, random = REQUESTS[path], Random(0)
    bodies = [
        json.dumps(changed(whole, at, value))
        for number, at in enumerate(places(whole))
        for value in VALUES[number % 3 :: 3]  # every place with a third of them
    ]
    bodies += [mutated(json.dumps(whole), random) for _ in range(20)]
    bodies += [f'{{"{name}": {"[" * deep}' for name in whole for deep in (500, 100_000)]
    before = attacked.post(path, json=whole).status_code
    assert before in (200, 201, 429)
    seen = {attacked.post(path, content=body.encode(), headers=JSON).status_code for body in bodies}
    assert max(seen) < 500, caplog.text
    assert attacked.post(path, json=whole).status_code == before


@pytest.mark.parametrize(
    "name",
    ["host", "authorization", "content-type", "content-length", "cookie", "range", "if-range", "if-modified-since"],
)
def test_bad_headers(attacked: TestClient, name: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR)
    addresses = "", " ", "[", "[::1", "a:b:c", "\xff\xfe"
    for value in (*addresses, "Basic \xff", "Bearer \xff", "bytes=-", "bytes=9-0,a", "1" * 3_000):
        for method, path in (("GET", "/health"), ("GET", "/static/style.css"), ("POST", "/tag"), ("GET", "/none")):
            headers = {**JSON, name: value.encode("latin-1")}
            body = b'{"text": "a"}' if method == "POST" else None
            assert attacked.request(method, path, headers=headers, content=body).status_code < 500, caplog.text
