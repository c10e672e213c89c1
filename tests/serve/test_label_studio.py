"""Label Studio's ML backend: predictions for its tasks, annotations that are kept, and training on them."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from clients import Connect
from starlette.testclient import TestClient

from tagweave.annotate.retraining import take
from tagweave.corpus.corpus import Corpus
from tagweave.errors import RequestError
from tagweave.exchange import label_studio
from tagweave.models.storage import load_model
from tagweave.serve import retraining
from tagweave.serve.app import application
from tagweave.serve.label_studio import LabelConfig, annotated_tasks
from tagweave.serve.settings import Retraining, ServerSettings
from tagweave.serve.site import ServerSite
from tagweave.training.plan import Plan

CONFIG = """<View><Header value="Names"/><!-- ours -->
<Labels name="ner" toName="doc"><Label value="PER" background="red"/><Label value="LOC"/></Labels>
<Text name="doc" value="$body"/></View>"""
TEXT = "Ann Bell left Graz."


def result(start: int, end: int, label: str) -> dict[str, Any]:
    value = {"start": start, "end": end, "text": TEXT[start:end], "labels": [label]}
    return {"from_name": "ner", "to_name": "doc", "type": "labels", "value": value}


def annotated(number: int, *results: dict[str, Any], **more: object) -> dict[str, Any]:
    return {"id": number, "completed_by": 1, "result": [*results], **more}


TASK = {"id": 1, "data": {"body": TEXT, "title": "x"}}
PROJECT = {"id": 7, "label_config": CONFIG}


def test_predictions_are_those_that_label_studio_imports(connect: Connect, tmp_path: Path) -> None:
    tasks = [TASK, *({"id": at, "data": {"body": text, "title": ""}} for at, text in ((2, ""), (3, "left .")))]
    asked = {"tasks": tasks, "label_config": CONFIG, "project": "7.1", "params": {"context": None}}
    found = connect("ner").post("/predict", json=asked).json()
    first, second, third = found["results"]
    assert found["model_version"] == first["model_version"] == "ner"
    assert [(each["from_name"], each["to_name"], each["type"]) for each in first["result"]] == [
        ("ner", "doc", "labels")
    ] * 2
    assert [each["value"] for each in first["result"]] == [result(0, 8, "PER")["value"], result(14, 18, "LOC")["value"]]
    assert 0 < first["score"] == min(each["score"] for each in first["result"]) < 1
    assert (second["result"], second["score"], third["result"]) == ([], 1, [])
    answer = connect("ner").post("/tag", json={"text": "left .", "probabilities": True}).json()["results"][0]
    assert third["score"] == min(answer["probabilities"]) < 1  # nothing is found, and that is not certain
    (tmp_path / "tasks.json").write_text(json.dumps([{**TASK, "data": {"text": TEXT}, "predictions": [first]}]))
    [document] = label_studio.TOOL.read(str(tmp_path / "tasks.json"))
    assert [mark[:3] for mark in document.marks["ner"] or ()] == [(0, 8, "PER"), (14, 18, "LOC")]


def test_labels_that_the_project_lacks_are_left_out(connect: Connect) -> None:
    config = CONFIG.replace('<Label value="LOC"/>', "")
    found = connect("ner").post("/predict", json={"tasks": [TASK], "label_config": config}).json()["results"][0]
    assert [each["value"]["labels"] for each in found["result"]] == [["PER"]]


def test_labels_of_tokens_are_spans_of_one(connect: Connect) -> None:
    tasks = [{"id": 1, "data": {"text": "他 走"}}]
    found = connect("ner", "ctb").post("/label-studio/ctb/predict", json={"tasks": tasks}).json()["results"][0]
    assert [(each["value"]["start"], each["value"]["end"]) for each in found["result"]] == [(0, 1), (2, 3)]


@pytest.mark.parametrize(
    ("path", "body", "status", "reason"),
    [
        ("/setup", {"schema": CONFIG}, 200, "ner"),
        ("/setup", {}, 200, "ner"),
        ("/setup", {"schema": CONFIG.replace("PER", "A").replace("LOC", "B")}, 422, "found the labels A, B"),
        ("/setup", {"schema": "<View>"}, 422, "found a labelling configuration that is no XML"),
        ("/setup", {"schema": "<View/>"}, 422, "found no Labels of a Text"),
        ("/setup", {"schema": '<!DOCTYPE a [<!ENTITY b "c">]><View/>'}, 422, "that is no plain XML"),
        ("/setup", {"schema": 7}, 422, "that is no plain XML"),
        ("/predict", {"tasks": [{"id": 1}]}, 422, "the request: found null, expected an object"),
        ("/predict", {"tasks": [{"data": {"other": 1}}]}, 422, 'expected "text", a text'),
        ("/predict", {"tasks": 1}, 422, "the request: found tasks 1"),
        ("/predict", [], 422, "Expected `object`, got `array`"),
        ("/predict", {}, 200, "[]"),
        ("/label-studio/none/predict", {}, 404, "found the model 'none'"),
        ("/label-studio/seg/setup", {}, 422, "found no model that can tag in 'seg'"),
        ("/label-studio/segtag/setup", {}, 422, "found segtag, a model that segments, expected a tagger of words"),
        ("/versions", None, 200, "['ner']"),
        ("/label-studio/ner/versions", None, 200, "['ner']"),
        ("/label-studio/ner/health", None, 200, "'UP'"),
        ("/webhook", {"action": "PROJECT_UPDATED"}, 200, "nothing is done on PROJECT_UPDATED"),
        ("/webhook", {"action": "ANNOTATION_CREATED", "task": TASK}, 200, "not kept: this server"),
        ("/webhook", {"action": "START_TRAINING", "project": PROJECT}, 422, "found no training of ner"),
        ("/train", {"annotations": []}, 422, "expected one started by tagweave serve --models"),
    ],
)
def test_answers(connect: Connect, path: str, body: object, status: int, reason: str) -> None:
    client = connect("ner", "seg", "segtag", tokens="words")
    found = client.get(path) if body is None else client.post(path, json=body)
    assert found.status_code == status, found.text
    assert reason in str(found.json())


@pytest.mark.parametrize(
    ("xml", "expected"),
    [
        ("", LabelConfig()),
        (CONFIG, LabelConfig("ner", "doc", "body", ("PER", "LOC"))),
        (CONFIG.replace("$body", ""), LabelConfig("ner", "doc", None, ("PER", "LOC"))),
    ],
)
def test_configurations(xml: str | None, expected: LabelConfig) -> None:
    assert LabelConfig.of(xml) == expected


def until(condition: Any) -> Any:
    end = time.monotonic() + 60
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return found


def test_a_model_learns_what_was_annotated(
    training: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`Eve` is no name before, and one after; the new version is served by itself."""
    monkeypatch.setattr("tagweave.serve.served_models._PAUSE", 0.0)
    text = "Eve Frost met Eve."
    results = [
        {**result(a, b, "PER"), "value": {"start": a, "end": b, "labels": ["PER"]}} for a, b in ((0, 9), (14, 17))
    ]
    task = {"id": 5, "data": {"body": text, "title": "y"}}
    sent = {"action": "ANNOTATION_CREATED", "task": task, "project": PROJECT}
    for number in range(3):
        kept = training.post("/webhook", json={**sent, "annotation": annotated(number, *results)})
        assert (kept.status_code, kept.json()) == (201, {"status": "kept", "annotations": 1})
    training.post("/webhook", json={**sent, "action": "ANNOTATION_UPDATED", "annotation": annotated(1, *results)})
    deleted = {**sent, "action": "ANNOTATION_DELETED", "annotation": {"id": 2}}
    assert training.post("/webhook", json=deleted).status_code == 201
    begun = training.post("/webhook", json={"action": "START_TRAINING", "project": PROJECT})
    assert (begun.status_code, begun.json()) == (201, {"status": "training", "documents": 2, "job": "ner"})
    again = training.post("/webhook", json={"action": "START_TRAINING", "project": PROJECT})
    assert (again.status_code, again.json()["error"][:30]) == (429, "found a training under way, ex")
    asked = {"tasks": [task], "label_config": CONFIG}
    new = until(lambda: (f := training.post("/predict", json=asked).json())["model_version"] == "ner-1" and f)
    assert [each["value"]["start"] for each in new["results"][0]["result"]] == [0, 14]
    assert training.post("/tag", json={"text": "a"}).json()["version"] == "ner-1"
    own, evidence = load_model(tmp_path / "new" / "ner-1.model").about["plan"]["target"]
    assert (own["path"], evidence["path"], evidence["size"], evidence["guideline"]) == ("ner.col", "", 2, "tag")
    settings = ServerSettings((("ner", "no longer needed"),), retraining=Retraining(str(tmp_path / "new")))
    with TestClient(application(settings)) as client:  # another start goes on with the newest
        assert client.get("/health").json()["models"][0]["version"] == "ner-1"


EVE = "Eve Frost met Eve."


def annotate(client: TestClient, number: int, text: str, *spans: tuple[int, int], label: str = "LOC") -> None:
    """Send an annotation of a text."""
    task = {"id": number, "data": {"body": text, "title": "y"}}
    sent = {"action": "ANNOTATION_CREATED", "task": task, "project": PROJECT}
    results = [{**result(0, 1, label), "value": {"start": a, "end": b, "labels": [label]}} for a, b in spans]
    assert client.post("/webhook", json={**sent, "annotation": annotated(number, *results)}).status_code == 201


def places(client: TestClient, text: str) -> tuple[str, list[int]]:
    """The version that answers, and where its places begin; the first model takes all names for people."""
    found = client.post("/tag", json={"text": text}).json()
    return found["version"], [span["start"] for span in found["results"][0]["spans"] if span["label"] == "LOC"]


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.model"))


@pytest.fixture
def two(served_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[TestClient]]:
    """Two servers of one folder."""
    monkeypatch.setattr("tagweave.serve.served_models._PAUSE", 0.0)
    retraining = Retraining(str(tmp_path / "new"), train=(f"{served_files / 'ner.col'}",))
    settings = ServerSettings((("ner", str(served_files / "ner.model")),), retraining=retraining)
    with TestClient(application(settings)) as one, TestClient(application(settings)) as other:
        yield [one, other]


def test_the_next_answers_of_all_processes_are_corrected(two: list[TestClient], tmp_path: Path) -> None:
    """Whichever got the annotation; none is lost when they come at once, and one file has all."""
    assert places(two[0], EVE) == ("ner", [])
    annotate(two[0], 1, EVE, (0, 9), (14, 17))
    for client in two:
        until(lambda client=client: places(client, EVE) == ("ner-0.1", [0, 14]))
    texts = [f"{name} met {name}." for name in ("Ida", "Uwe", "Jon", "Kim", "Lea", "Max")]
    for number, text in enumerate(texts, 2):
        annotate(two[number % 2], number, text, (0, 3), (8, 11))
    for client in two:
        for text in texts:
            until(lambda client=client, text=text: places(client, text)[1] == [0, 8])
    until(lambda: len(files(tmp_path / "new")) == 1)
    with take(tmp_path / "new", "correction.lock") or nullcontext():  # another process corrects
        before = files(tmp_path / "new")
        annotate(two[0], 9, EVE, (0, 9), label="PER")
        time.sleep(0.2)
        assert files(tmp_path / "new") == before
    until(lambda: places(two[1], EVE)[1] == [])


def test_a_training_keeps_what_came_while_it_ran(
    two: list[TestClient], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the file of corrections goes."""
    learn = retraining.learn

    def slowly(plan: Plan, evidence: Corpus, path: Path) -> None:
        annotate(two[1], 2, EVE, (0, 9), (14, 17))
        until(lambda: places(two[0], EVE) == ("ner-0.2", [0, 14]))
        learn(plan, evidence, path)
        assert "Eve" not in {form for sentence in evidence for form in sentence.forms}

    monkeypatch.setattr(retraining, "learn", slowly)
    monkeypatch.setattr(retraining, "run_child", lambda _lock, _log, _ended, work, *arguments: work(*arguments))
    annotate(two[0], 1, "Ida met Ida.", (0, 3), (8, 11))
    until(lambda: places(two[1], "Ida met Ida.")[1] == [0, 8])
    assert two[0].post("/webhook", json={"action": "START_TRAINING", "project": PROJECT}).status_code == 201
    until(lambda: places(two[1], EVE) == ("ner-1.1", [0, 14]))
    until(lambda: files(tmp_path / "new") == ["ner-1.1.model", "ner-1.model"])
    site_of(two[0]).retrainer("ner").correct()
    assert places(two[0], "Ida met Ida.")[1] == [0, 8]
    assert files(tmp_path / "new") == ["ner-1.1.model", "ner-1.model"]


def test_what_a_process_left_when_it_died_corrects_the_next(
    served_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Annotations without their correction, a correction beside the one before, and one that could not be written."""
    monkeypatch.setattr("tagweave.serve.served_models._PAUSE", 0.0)
    folder = tmp_path / "new"
    folder.mkdir()
    for name in ("ner-1.model", "ner-1.1.model", "ner-1.2.model"):
        shutil.copy(served_files / "ner.model", folder / name)
    settings = ServerSettings((("ner", "not needed"),), retraining=Retraining(str(folder)))
    kept = retraining.Annotations(f"sqlite:///{folder / 'annotations.db'}", "ner")
    kept.put({("7", 1): [(("Eve", "Frost", "met", "Eve", "."), ("B-LOC", "I-LOC", "O", "B-LOC", "O"))]})
    kept.close()
    with TestClient(application(settings)) as client:
        until(lambda: places(client, EVE) == ("ner-1.3", [0, 14]))
        until(lambda: files(folder) == ["ner-1.3.model", "ner-1.model"])
        with monkeypatch.context() as full:
            full.setattr(retraining, "save_correction", lambda *_: (folder / "none" / "none").touch())
            annotate(client, 2, "Ida.", (0, 3))
            until(lambda: "cannot be corrected" in caplog.text)
        annotate(client, 3, "Uwe.", (0, 3))
        until(lambda: places(client, "Uwe.") == ("ner-1.4", [0]) and places(client, "Ida.")[1] == [0])


def test_a_first_model_that_has_been_replaced_is_served_and_corrected(
    served_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tagweave.serve.served_models._PAUSE", 0.0)
    shutil.copy(served_files / "ner.model", tmp_path / "ner-0.7.model")  # a correction of the one before
    os.utime(tmp_path / "ner-0.7.model", (0, 0))
    first = str(served_files / "ner.model")
    with TestClient(application(ServerSettings((("ner", first),), retraining=Retraining(str(tmp_path))))) as client:
        assert places(client, EVE) == ("ner", [])
        annotate(client, 1, EVE, (0, 9), (14, 17))
        until(lambda: places(client, EVE) == ("ner-0.1", [0, 14]))


def test_annotations_that_no_model_can_follow_are_in_the_log(
    two: list[TestClient], caplog: pytest.LogCaptureFixture
) -> None:
    annotate(two[0], 5, EVE, (0, 9), label="ORG")
    until(lambda: "annotation 5 of project 7: found" in caplog.text and "ORG" in caplog.text)
    annotate(two[0], 6, EVE, (0, 9), (14, 17))
    until(lambda: places(two[0], EVE) == ("ner-0.1", [0, 14]))
    assert caplog.text.count("annotation 5 of project 7") == 1


def test_a_model_that_cannot_be_corrected_says_so_once(
    served_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("tagweave.models.correction.ChainParameters", int)  # a network has others
    settings = ServerSettings((("ner", str(served_files / "ner.model")),), retraining=Retraining(str(tmp_path)))
    with TestClient(application(settings)) as client:
        for number in range(3):
            annotate(client, number, EVE, (0, 9), (14, 17))
        until(lambda: "wait for the next training" in caplog.text)
        assert places(client, EVE)[0] == "ner"
    assert len(caplog.records) == 1 and files(tmp_path) == []


def test_annotations_that_fit_nothing(training: TestClient) -> None:
    begun = training.post("/webhook", json={"action": "START_TRAINING", "project": PROJECT})
    assert (begun.status_code, begun.json()["error"][:24]) == (422, "found no annotations for")
    for wrong in (result(0, 99, "PER"), result(3, 1, "PER"), result(0, 3, "")):
        tasks = [{**TASK, "annotations": [annotated(1, wrong)]}]
        sent = {"annotations": tasks, "project": "7.1", "label_config": CONFIG}
        assert training.post("/train", json=sent).status_code == 422
    for sent in ({}, {"task": TASK}, {"annotation": annotated(1)}, {"task": 1, "annotation": {"id": "x"}}):
        found = training.post("/webhook", json={"action": "ANNOTATION_CREATED", **sent})
        assert (found.status_code, "the request: found" in found.json()["error"]) == (422, True)


@pytest.mark.parametrize("label", ["a\nb", "a\tb", "a\r", "\0", "\0" * 10**6, "x" * 201, "", 7, None])
def test_a_label_that_no_corpus_can_hold_is_refused_when_it_comes(
    training: TestClient, label: Any, caplog: pytest.LogCaptureFixture
) -> None:
    sent = {"task": TASK, "project": PROJECT, "annotation": annotated(1, result(0, 3, label))}
    assert training.post("/webhook", json={"action": "ANNOTATION_CREATED", **sent}).status_code == 422
    annotations = site_of(training).retrainer("ner").annotations
    assert not annotations.read()
    tasks = [{**TASK, "annotations": [annotated(1, result(0, 3, label)), annotated(2, result(0, 3, "PER"))]}]
    with take(site_of(training).settings.retraining.folder) or nullcontext():  # type: ignore[union-attr]
        assert training.post("/train", json={"annotations": tasks, "project": PROJECT}).status_code == 429
    assert annotations.read() == {("7", 2): [[["Ann", "Bell", "left", "Graz", "."], ["B-PER", "O", "O", "O", "O"]]]}
    assert "an annotation is left out" in caplog.text


@contextmanager
def label_studio_of(answers: dict[str, Any]) -> Iterator[tuple[str, list[tuple[str, str | None]]]]:
    """A stand-in of Label Studio: its address, and paths with their authorization, as they were asked for."""
    seen: list[tuple[str, str | None]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append((self.path, self.headers["Authorization"]))
            status, body = answers.get(self.path, (404, b"{}"))
            self.send_response(status)
            self.send_header("Location", "/elsewhere")
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", seen
        finally:
            server.shutdown()
            thread.join()


EXPORT = "/api/projects/7/export?exportType=JSON"
TASKS = json.dumps([{**TASK, "annotations": [annotated(3, result(0, 8, "PER"))]}]).encode()


def test_annotations_are_fetched_with_either_key() -> None:
    with label_studio_of({EXPORT: (200, TASKS), "/api/token/refresh": (200, b'{"access": "short"}')}) as (url, seen):
        for key in ("legacy", "a.b.c"):
            [task] = annotated_tasks(url, key, "7")
            assert task.values["data"]["body"] == TEXT
    assert seen == [(EXPORT, "Token legacy"), ("/api/token/refresh", None), (EXPORT, "Bearer short")]


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (401, b"", "401"),
        (302, b"", "302"),
        (200, b"x", "Expecting value"),
        (200, b"{}", "found no tasks at"),
        (200, b"[1]", "found no tasks at"),
        (200, b"[" * 100_000, "recursion"),
    ],
)
def test_label_studio_that_does_not_answer(status: int, body: bytes, reason: str) -> None:
    with label_studio_of({EXPORT: (status, body)}) as (url, seen):
        with pytest.raises(RequestError, match=reason) as error:
            annotated_tasks(url, "k", "7")
        assert error.value.status == 502 and len(seen) == 1
    with pytest.raises(RequestError, match="found the project '7/x', expected a number"):
        annotated_tasks(url, "k", "7/x")
    with pytest.raises(RequestError, match=EXPORT.replace("?", ".")):
        annotated_tasks(url, "k", "7")


def test_what_is_fetched_replaces_what_was_kept(served_files: Path, tmp_path: Path) -> None:
    def exported(*numbers: int) -> tuple[int, bytes]:
        task = {**TASK, "annotations": [annotated(number, result(0, 8, "PER")) for number in numbers]}
        return 200, json.dumps([task]).encode()

    answers = {EXPORT: exported(3, 4)}
    with label_studio_of(answers) as (url, _):
        retraining = Retraining(str(tmp_path), f"sqlite:///{tmp_path}/here.db", label_studio=url, key="k")
        settings = ServerSettings((("ner", str(served_files / "ner.model")),), retraining=retraining)
        with TestClient(application(settings)) as client:
            sent = {"task": TASK, "project": {"id": 8, "label_config": CONFIG}, "annotation": annotated(9)}
            client.post("/webhook", json={"action": "ANNOTATION_CREATED", **sent})
            kept = site_of(client).retrainer("ner").annotations
            with take(tmp_path) or nullcontext():  # so that nothing is trained
                start = {"action": "START_TRAINING", "project": PROJECT}
                for expected in ([("8", 9), ("7", 3), ("7", 4)], [("8", 9), ("7", 4), ("7", 5)]):
                    assert client.post("/webhook", json=start).status_code == 429
                    assert list(kept.read()) == expected
                    answers[EXPORT] = exported(4, 5)


def site_of(client: TestClient) -> ServerSite:
    return client.app.state.site  # type: ignore[attr-defined, no-any-return]
