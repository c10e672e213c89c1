"""Label Studio itself: predictions and annotations, and a model that `tagweave serve` lends it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tagweave as tw

CONFIG = """<View><Labels name="label" toName="text"><Label value="PER"/><Label value="LOC"/></Labels>
<Text name="text" value="$text"/></View>"""
NAMES = "Ann\tB-PER\nBell\tI-PER\nleft\tO\nGraz\tB-LOC\n.\tO\n\nBob\tB-PER\nstays\tO\nin\tO\nLima\tB-LOC\n.\tO\n"
TEXTS = ["Ann Bell left Graz.", "\U0001f600 Bob left Lima.", "It rains."]


class Project:
    """A project in Label Studio, through its API."""

    def __init__(self, tool: Any) -> None:
        self._tool = tool
        self.number = self.call("POST", "projects", {"title": "names", "label_config": CONFIG})["id"]

    def call(self, method: str, path: str, content: Any = None, **options: Any) -> Any:
        address = f"{self._tool.address}/api/{path}"
        answer = self._tool.session.request(method, address, json=content, timeout=120, **options)
        assert answer.ok, answer.text
        return answer.json() if answer.content else None

    def load(self, tasks: Any) -> list[int]:
        """The numbers of tasks that it takes."""
        path = f"projects/{self.number}/import"
        return self.call("POST", path, tasks, params={"return_task_ids": "true"})["task_ids"]

    def answer(self, task: int, result: Any, **more: Any) -> None:
        self.call("POST", f"tasks/{task}/annotations/", {"result": result, **more})

    def export(self, file: Path, **options: str) -> Path:
        found = self.call("GET", f"projects/{self.number}/export", params={"exportType": "JSON", **options})
        file.write_text(json.dumps(found), "utf-8")
        return file


def marked(text: str, name: str, label: str) -> dict[str, Any]:
    """A span as somebody keeps it who agrees with a prediction of little probability."""
    value = {"start": text.index(name), "end": text.index(name) + len(name), "text": name, "labels": [label]}
    return {"from_name": "label", "to_name": "text", "type": "labels", "score": 0.4, "value": value}


@pytest.fixture
def model(run: Callable[..., None], tmp_path: Path) -> Path:
    (tmp_path / "names.col").write_text(NAMES, "utf-8")
    run("train", tmp_path / "names.col", "--task", "spans", "--iterations", "20", "-o", tmp_path / "names.model")
    return tmp_path / "names.model"


def test_predictions_annotation_and_training(
    label_studio: Any, model: Path, run: Callable[..., None], tmp_path: Path
) -> None:
    """One text is annotated from its prediction, one skipped, one left alone; the scores come back with the rest."""
    raw = tmp_path / "raw.json"
    raw.write_text(json.dumps([{"data": {"text": text}} for text in TEXTS]), "utf-8")
    run("import", "label-studio", raw, "-o", tmp_path / "raw.col")
    run("tag", model, tmp_path / "raw.col", "--retag", "-o", tmp_path / "found.col")
    run("export", "label-studio", tmp_path / "found.col", "-o", tmp_path / "tasks.json")
    project = Project(label_studio)
    sent = json.loads((tmp_path / "tasks.json").read_text("utf-8"))
    tasks = project.load(sent)
    kept = project.call("GET", f"tasks/{tasks[1]}")["predictions"][0]
    assert kept["result"] == sent[1]["predictions"][0]["result"]
    project.answer(tasks[1], [marked(TEXTS[1], "Bob", "PER"), marked(TEXTS[1], "Lima", "LOC")])
    project.answer(tasks[2], [], was_cancelled=True)
    export = project.export(tmp_path / "export.json", download_all_tasks="true")
    run("import", "label-studio", export, "-o", tmp_path / "both.col")
    corpus = tw.load(str(tmp_path / "both.col"))
    annotated = {"".join(each.forms): each.layers["annotator1"] for each in corpus}
    assert annotated["\U0001f600BobleftLima."] == (("O",), ("B-PER",), ("O",), ("B-LOC",), ("O",))
    assert set(annotated["Itrains."]) == {None}
    run("train", tmp_path / "both.col#annotator1", "--task", "spans", "-o", tmp_path / "again.model")


@pytest.fixture
def served(model: Path) -> Iterator[str]:
    """The address where `tagweave serve` serves the model."""
    command = [str(Path(sys.executable).with_name("tagweave")), "serve", str(model), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout
        told = ""
        while not (address := re.search(r"http://\S+", told)):
            line = process.stdout.readline()
            assert line, told
            told += line
        yield address.group().rstrip("/")
        process.terminate()
        process.stdout.read()


def test_a_model_that_is_served(label_studio: Any, served: str) -> None:
    """Label Studio takes it for an ML backend, and keeps its predictions with their scores."""
    project = Project(label_studio)
    tasks = project.load([{"text": text} for text in TEXTS])
    project.call("POST", "ml", {"url": served, "project": project.number, "title": "names"})
    chosen = {"selectedItems": {"all": True, "excluded": []}}
    action = {"id": "retrieve_tasks_predictions", "project": str(project.number)}
    project.call("POST", "dm/actions", chosen, params=action)
    begin, found = time.monotonic(), []
    while not found and time.monotonic() - begin < 60:
        found = project.call("GET", f"tasks/{tasks[0]}")["predictions"]
        time.sleep(0.2)
    (prediction,) = found
    assert [each["value"]["text"] for each in prediction["result"]] == ["Ann Bell", "Graz"]
    assert all(0.5 < each["score"] <= 1 for each in prediction["result"])
