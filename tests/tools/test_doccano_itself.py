"""doccano itself: what a model finds is looked over there, by two people, and learned from."""

from __future__ import annotations

import io
import json
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import requests

import tagweave as tw

NAMES = {"Ann Bell": "PER", "Bob": "PER", "Graz": "LOC", "Lima": "LOC"}
TEXTS = ["Ann Bell left Graz.", "\U0001f600 Bob stays in Lima.", "Bob met Ann Bell in Graz!", "It rains."]


def spans(text: str) -> list[list[Any]]:
    return sorted(
        [text.index(each), text.index(each) + len(each), kind] for each, kind in NAMES.items() if each in text
    )


class Doccano:
    """Its API, as its own pages use it, for somebody who is logged in."""

    def __init__(self, address: str, user: str) -> None:
        self._address, self._session = f"{address}/v1", requests.Session()
        self.post("auth/login/", {"username": user, "password": f"{user}-1234"})
        self._session.headers["X-CSRFToken"] = self._session.cookies["csrftoken"]

    def close(self) -> None:
        self._session.close()

    def get(self, path: str, **options: Any) -> Any:
        answer = self._session.get(f"{self._address}/{path}", **options)
        answer.raise_for_status()
        return answer

    def post(self, path: str, content: Any = None, **options: Any) -> Any:
        answer = self._session.post(f"{self._address}/{path}", json=content, **options)
        answer.raise_for_status()
        return answer.json() if answer.headers["Content-Type"] == "application/json" else answer.text

    def done(self, task: str) -> str:
        """Wait for a task, whose number it is."""
        while not (state := self.get(f"tasks/status/{task}").json())["ready"]:
            time.sleep(0.2)
        assert not state["error"] and not (isinstance(state["result"], dict) and state["result"]["error"]), state
        return task

    def project(self) -> str:
        kind = {"project_type": "SequenceLabeling", "resourcetype": "SequenceLabelingProject"}
        made = self.post("projects", {"name": "names", "description": "-", "guideline": "", "tags": [], **kind})
        return f"projects/{made['id']}"

    def upload(self, project: str, file: Path) -> None:
        kept = self.post("fp/process/", files={"filepond": (file.name, file.read_bytes())}).strip('"')
        how = {"format": "JSONL", "task": "SequenceLabeling", "column_data": "text", "column_label": "label"}
        self.done(self.post(f"{project}/upload", {**how, "uploadIds": [kept], "encoding": "utf_8"})["task_id"])

    def mark(self, project: str, wanted: dict[str, list[list[Any]]]) -> None:
        """Mark what is missing in each text, and delete what is too much."""
        labels = {each["text"]: each["id"] for each in self.get(f"{project}/span-types").json()}
        for example in self.get(f"{project}/examples").json()["results"]:
            path = f"{project}/examples/{example['id']}/spans"
            names = {number: label for label, number in labels.items()}
            there = {
                (each["start_offset"], each["end_offset"], names[each["label"]]): each["id"]
                for each in self.get(path).json()
            }
            for start, stop, label in wanted[example["text"]]:
                if there.pop((start, stop, label), None) is None:
                    self.post(path, {"start_offset": start, "end_offset": stop, "label": labels[label]})
            for number in there.values():
                self._session.delete(f"{self._address}/{path}/{number}").raise_for_status()

    def add(self, project: str, user: str) -> None:
        """Let a user annotate."""
        member = next(each["id"] for each in self.get("users").json() if each["username"] == user)
        role = next(each["id"] for each in self.get("roles").json() if each["name"] == "annotator")
        self.post(f"{project}/members", {"user": member, "role": role})

    def export(self, project: str, folder: Path) -> list[Path]:
        task = self.done(self.post(f"{project}/download", {"format": "JSONL", "exportApproved": False})["task_id"])
        content = self.get(f"{project}/download", params={"taskId": task}).content
        zipfile.ZipFile(io.BytesIO(content)).extractall(folder)
        return sorted(folder.iterdir())


@pytest.fixture
def people(doccano: Any) -> Iterator[tuple[Doccano, Doccano]]:
    ann, bob = (Doccano(doccano.address, user) for user in ("ann", "bob"))
    with closing(ann), closing(bob):
        yield ann, bob


def test_suggestions_annotation_by_two_and_training(
    people: tuple[Doccano, Doccano], run: Callable[..., None], tmp_path: Path
) -> None:
    """Characters beyond the first plane count as one, on the way there and on the way back."""
    ann, bob = people
    names, model = tmp_path / "names.col", tmp_path / "names.model"
    names.write_text("Ann\tB-PER\nBell\tI-PER\nleft\tO\nGraz\tB-LOC\n.\tO\n\nBob\tB-PER\nstays\tO\n", "utf-8")
    run("train", names, "--task", "spans", "--iterations", "20", "-o", model)
    raw = "".join(json.dumps({"text": each, "label": []}) + "\n" for each in TEXTS)
    (tmp_path / "raw.jsonl").write_text(raw, "utf-8")
    run("import", "doccano", tmp_path / "raw.jsonl", "-o", tmp_path / "raw.col")
    run("tag", model, tmp_path / "raw.col", "--retag", "-o", tmp_path / "found.col")
    run("export", "doccano", tmp_path / "found.col", "-o", tmp_path / "tasks.jsonl")
    project = ann.project()
    ann.upload(project, tmp_path / "tasks.jsonl")
    ann.add(project, "bob")
    ann.mark(project, {text: spans(text) for text in TEXTS})
    bob.mark(project, {text: [each for each in spans(text) if each[2] == "PER"] for text in TEXTS})
    files = ann.export(project, tmp_path / "export")
    assert [each.name for each in files] == ["ann.jsonl", "bob.jsonl"]
    run("import", "doccano", *files, "-o", tmp_path / "both.col")
    corpus = tw.load(str(tmp_path / "both.col"))
    assert ["".join(each.forms) for each in corpus] == [text.replace(" ", "") for text in TEXTS]
    places = [[name for name, layer in each.layers.items() if ("B-LOC",) in layer] for each in corpus]
    assert places == [["ann"], ["ann"], ["ann"], []]
    options = ["--method", "sources", "--set", "source_columns=ann,bob", "--task", "spans"]
    run("train", tmp_path / "both.col", *options, "-o", model)
    assert tw.load_model(str(model)).tag(["Bob", "left", "Lima", "."])[0] == "B-PER"
