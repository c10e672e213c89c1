"""A stand-in of the Hugging Face hub on loopback: the part of its API that `tagweave push` and `hf:` use."""

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
from typing import Any

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
