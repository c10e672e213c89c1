"""A chat model for tests: a server on this machine that responds as a test says, and keeps what it was asked."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, NamedTuple


class Response(NamedTuple):
    """A response; one that is `cut` promises a byte more than it has, and one with a pause has it before every byte."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = {}
    cut: bool = False
    pause: float = 0.0


def says(content: object, prompt_tokens: int = 10, completion_tokens: int = 3) -> Response:
    """The response of a model that says a text, or anything else as JSON."""
    text = content if isinstance(content, str) else json.dumps(content)
    usage = {"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens}
    message = {"role": "assistant", "content": text}
    return Response(200, json.dumps({"choices": [{"message": message}], "usage": usage}).encode())


def quotes(*spans: tuple[str, str]) -> Response:
    return says({"spans": [{"text": text, "label": label} for text, label in spans]})


@dataclass
class ChatServer:
    """A server whose `respond` is given the text that is asked about; the other lists have an item for each request."""

    url: str
    respond: Callable[[str], Response]
    models: list[str] = field(default_factory=lambda: ["tiny"])
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)

    @property
    def texts(self) -> list[str]:
        return [body["messages"][-1]["content"] for body in self.bodies]


@contextmanager
def chat_server(respond: Callable[[str], Response]) -> Iterator[ChatServer]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            found = Response(404) if self.path != "/v1/models" else says("")
            self._send(found._replace(body=json.dumps({"data": [{"id": name} for name in served.models]}).encode()))

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            served.bodies.append(body)
            served.headers.append(dict(self.headers))
            is_there = self.path == "/v1/chat/completions"
            self._send(served.respond(body["messages"][-1]["content"]) if is_there else Response(404, b"no such page"))

        def _send(self, response: Response) -> None:
            self.send_response(response.status)
            for name, value in response.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(response.body) + response.cut))
            self.end_headers()
            with suppress(OSError):  # whoever asked may be gone
                for part in map(bytes, zip(response.body)) if response.pause else [response.body]:
                    time.sleep(response.pause)
                    self.wfile.write(part)
            self.close_connection = response.cut

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    served = ChatServer(f"http://127.0.0.1:{server.server_port}/v1", respond)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
