"""Models to and from a stand-in of the Hugging Face hub on loopback, with the part of its API that is used."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import tagweave as tw
from tagweave.cli.main import application
from tagweave.models.hub import HubError, HubName, hub_name, model_file

pytest.importorskip("huggingface_hub", reason="huggingface_hub is not installed (pip install '.[hub]')")


OID = "a" * 40
_RESOLVE = re.compile(r"/(?P<name>[^/]+/[^/]+)/resolve/(?P<revision>[^/]+)/(?P<file>.+)")


@dataclass
class Hub:
    """What the hub has and was asked for.

    Attributes:
        files: by repository, the bytes by name.
        token: the only one that may write.
        asked: method and path of every request, and the token in it.
        private: repositories that were made private.
    """

    token: str = "hf_stand_in"  # noqa: S105
    files: dict[str, dict[str, bytes]] = field(default_factory=dict)
    asked: list[tuple[str, str, str]] = field(default_factory=list)
    private: set[str] = field(default_factory=set)
    url: str = ""


@contextmanager
def stand_in() -> Iterator[Hub]:
    """The hub, as long as the block runs."""
    hub = Hub()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self, status: int, value: object = None, content: bytes | None = None, **headers: str) -> None:
            body = json.dumps(value).encode() if content is None else content
            self.send_response(status)
            for name, text in headers.items():
                self.send_header(name.replace("_", "-"), text)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def do_GET(self) -> None:
            hub.asked.append((self.command, self.path, self.headers.get("Authorization", "")))
            match = _RESOLVE.fullmatch(self.path)
            if match is None or match["name"] not in hub.files:
                self.answer(404, {}, X_Error_Code="RepoNotFound")
            elif match["revision"] not in ("main", "v1", OID):
                self.answer(404, {}, X_Error_Code="RevisionNotFound")
            elif match["file"] not in hub.files[match["name"]]:
                self.answer(404, {}, X_Error_Code="EntryNotFound", X_Repo_Commit=OID)
            else:
                content = hub.files[match["name"]][match["file"]]
                etag = f'"{hashlib.sha256(content).hexdigest()}"'
                self.answer(200, content=content, ETag=etag, X_Repo_Commit=OID)

        do_HEAD = do_GET  # noqa: N815 - the name is that of the base class

        def do_POST(self) -> None:
            text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.headers.get("Transfer-Encoding") == "chunked":
                text = b"".join(iter(self.chunk, b""))
            token = self.headers.get("Authorization", "")
            hub.asked.append((self.command, self.path, token))
            if self.path == "/api/validate-yaml":
                self.answer(200, {"errors": [], "warnings": []})
            elif token != f"Bearer {hub.token}":
                self.answer(401, {"error": "Invalid credentials"})
            elif self.path == "/api/repos/create":
                self.create(json.loads(text))
            elif "/preupload/" in self.path:
                named = [each["path"] for each in json.loads(text)["files"]]
                modes = [{"path": each, "uploadMode": "regular", "shouldIgnore": False} for each in named]
                self.answer(200, {"files": modes})
            else:
                self.commit([json.loads(line) for line in text.splitlines()])

        def chunk(self) -> bytes:
            size = int(self.rfile.readline(), 16)
            content = self.rfile.read(size)
            self.rfile.readline()
            return content

        def create(self, wanted: dict[str, Any]) -> None:
            name = f"{wanted['organization']}/{wanted['name']}"
            status = 409 if name in hub.files else 200
            hub.files.setdefault(name, {})
            if wanted.get("visibility") == "private" or wanted.get("private"):
                hub.private.add(name)
            self.answer(status, {"url": f"{hub.url}/{name}", "id": name})

        def commit(self, lines: list[dict[str, Any]]) -> None:
            name = "/".join(self.path.split("/")[3:5])
            for line in lines:
                if line["key"] == "file":
                    hub.files[name][line["value"]["path"]] = base64.b64decode(line["value"]["content"])
            self.answer(200, {"success": True, "commitOid": OID, "commitUrl": f"{hub.url}/{name}/commit/{OID}"})

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    hub.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hub")
    (folder / "train.txt").write_text("we/PRP walk/VBP\nthe/DT walk/NN\n", "utf-8")
    tw.train(folder / "train.txt", iterations=1).save(folder / "tags.model")
    return folder / "tags.model"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """The hub, its own folder of caches, and the right token."""
    from huggingface_hub import constants

    with stand_in() as found:
        monkeypatch.setenv("HF_ENDPOINT", found.url)
        monkeypatch.setenv("HF_TOKEN", found.token)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        yield found


def run(*words: str, code: int = 0) -> str:
    done = CliRunner().invoke(application(), list(words))
    assert done.exit_code == code, done.output
    return done.output


class TestNames:
    def test_parts(self) -> None:
        assert hub_name("hf:ada/tags@v1") == HubName("ada/tags", "v1")
        assert hub_name("ada/tags") == HubName("ada/tags")
        assert str(HubName("ada/tags", "v1")) == "hf:ada/tags@v1"

    @pytest.mark.parametrize("text", ["hf:tags", "hf:a/b/c", "hf:../b", "hf:a/..", "hf:a/b@", "hf:a/b?x", "hf:/b"])
    def test_what_is_none(self, text: str) -> None:
        with pytest.raises(HubError, match="expected a repository: hf:OWNER/NAME"):
            hub_name(text)

    def test_a_file_of_that_name_is_a_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        Path("hf:own").touch()
        assert model_file("hf:own") == "hf:own"


class TestPush:
    def test_a_model_and_its_card_are_one_commit(self, hub: Hub, model: Path) -> None:
        address = run("push", str(model), "ada/tags")
        assert address == f"{hub.url}/ada/tags/commit/{OID}\n"
        assert hub.files["ada/tags"]["model.tagweave"] == model.read_bytes()
        card = hub.files["ada/tags"]["README.md"].decode()
        assert 'library_name: "tagweave"' in card
        assert "tagweave tag hf:ada/tags TEXT" in card
        assert sum("/commit/" in path for _, path, _ in hub.asked) == 1
        assert not hub.private

    def test_a_card_of_ones_own_and_a_repository_that_is_there(self, hub: Hub, model: Path, tmp_path: Path) -> None:
        (tmp_path / "card.md").write_text("# Mine\n", "utf-8")
        for _ in range(2):
            run("push", str(model), "ada/tags", "--card", str(tmp_path / "card.md"), "--private")
        assert hub.files["ada/tags"]["README.md"] == b"# Mine\n"
        assert hub.private == {"ada/tags"}

    def test_the_wrong_token_is_not_told(self, hub: Hub, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HF_TOKEN", "hf_wrong_and_secret")
        shown = run("push", str(model), "ada/tags", code=2)
        assert shown.startswith("tagweave: hf:ada/tags: found the answer 401 of the hub, expected a token")
        assert "secret" not in shown
        assert any("hf_wrong_and_secret" in token for _, _, token in hub.asked)

    def test_the_token_is_in_no_file(self, hub: Hub, model: Path, tmp_path: Path) -> None:
        run("push", str(model), "ada/tags")
        run("pull", "ada/tags", "-o", str(tmp_path / "m"))
        written = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert written
        assert not [path for path in written if hub.token.encode() in path.read_bytes()]

    def test_what_is_no_model_is_not_sent(self, hub: Hub, tmp_path: Path) -> None:
        (tmp_path / "x").write_text("x", "utf-8")
        assert "x: " in run("push", str(tmp_path / "x"), "ada/tags", code=2)
        assert hub.asked == []


class TestPull:
    def test_the_same_model(self, hub: Hub, model: Path, tmp_path: Path) -> None:
        tw.push(model, "ada/tags", "# Card\n")
        run("pull", "ada/tags@v1", "-o", str(tmp_path / "m"))
        assert (tmp_path / "m").read_bytes() == model.read_bytes()

    def test_what_is_no_model_is_not_written(self, hub: Hub, tmp_path: Path) -> None:
        hub.files["ada/tags"] = {"model.tagweave": b"x"}
        run("pull", "ada/tags", "-o", str(tmp_path / "m"), code=2)
        assert not (tmp_path / "m").exists()

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("ada/none", "hf:ada/none: found no such repository, expected one, or a token"),
            ("ada/empty", "hf:ada/empty: found a repository without model.tagweave"),
            ("ada/empty@v9", "hf:ada/empty@v9: found no such revision"),
        ],
    )
    def test_what_is_not_there(self, hub: Hub, tmp_path: Path, name: str, message: str) -> None:
        hub.files["ada/empty"] = {}
        assert run("pull", name, "-o", str(tmp_path / "m"), code=2).startswith(f"tagweave: {message}")


class TestNamesInPlaceOfFiles:
    @pytest.fixture(autouse=True)
    def pushed(self, hub: Hub, model: Path) -> None:
        hub.files["ada/tags"] = {"model.tagweave": model.read_bytes()}

    def test_load_model(self, model: Path) -> None:
        assert tw.load_model("hf:ada/tags").tag("we walk") == tw.load_model(model).tag("we walk")

    def test_commands(self, tmp_path: Path) -> None:
        (tmp_path / "text.txt").write_text("we walk\n", "utf-8")
        run("tag", "hf:ada/tags@v1", str(tmp_path / "text.txt"), "-o", str(tmp_path / "out.txt"))
        assert (tmp_path / "out.txt").read_text("utf-8").startswith("we/")
        assert run("info", "hf:ada/tags").startswith("hf:ada/tags: model, task tag")

    def test_it_is_downloaded_once(self, hub: Hub) -> None:
        for _ in range(2):
            tw.load_model("hf:ada/tags")
        assert [method for method, _, _ in hub.asked].count("GET") == 1


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "huggingface_hub", None)
    with pytest.raises(HubError, match=r"expected the extra hub: pip install '\.\[hub\]'"):
        tw.load_model("hf:ada/tags")


def test_no_network(monkeypatch: pytest.MonkeyPatch, model: Path) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    with pytest.raises(HubError, match="hf:ada/tags: found no answer of the hub, expected a network"):
        tw.push(model, "ada/tags", "")
