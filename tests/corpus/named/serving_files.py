"""A server of files on loopback, which can answer ranges and break off."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Files:
    """What the server has, and what it was asked for.

    Attributes:
        content: the bytes by path.
        asked: path and header `Range` of every request.
        breaks_after: how many bytes of an answer are sent; `None`: all.
        ranges: whether ranges are answered as such.
    """

    content: dict[str, bytes] = field(default_factory=dict)
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    breaks_after: int | None = None
    ranges: bool = True
    url: str = ""


@contextmanager
def served() -> Iterator[Files]:
    """A server, as long as the block runs."""
    state = Files()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = self.headers["Range"]
            state.asked.append((self.path, wanted))
            content = state.content.get(self.path)
            if content is None:
                self.send_error(404)
                return
            first = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and state.ranges else 0
            if first and first >= len(content):
                self.send_error(416)
                return
            self.send_response(206 if first else 200)
            self.send_header("Content-Length", str(len(content) - first))
            self.end_headers()
            self.wfile.write(content[first:][: state.breaks_after])

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
