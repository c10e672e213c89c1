"""`tagweave serve`: a process that starts, answers, and ends."""

from __future__ import annotations

import json
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from serving import served

Run = Any


def post(url: str, **body: object) -> Any:
    request = Request(url, json.dumps(body).encode(), {"content-type": "application/json"})  # noqa: S310
    with urlopen(request, timeout=60) as answer:  # noqa: S310
        return json.load(answer)


def metrics(address: str) -> str:
    with urlopen(f"{address}metrics", timeout=60) as answer:  # noqa: S310
        return str(answer.read(), "utf-8")


@pytest.mark.slow
def test_two_processes_answer_until_they_are_told_to_end(tagger: Path) -> None:
    with served("serve", f"ctb={tagger}", "--workers", 2) as (process, address, _):
        for _ in range(6):
            found = post(f"{address}tag", tokens=["他", "走"])
            assert (found["model"], len(found["results"][0]["labels"])) == ("ctb", 2)
        assert 'tagweave_requests_total{path="/tag",status="200"} 6.0' in metrics(address)  # of both processes
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        assert process.stderr and process.stderr.read() == ""


@pytest.mark.slow
def test_processes_end_with_a_parent_that_is_killed(tagger: Path) -> None:
    with served("serve", tagger, "--workers", 2) as (process, address, _):
        post(f"{address}tag", tokens=["a"])
        process.kill()
        process.wait(60)
        host, _, port = address.removeprefix("http://").strip("/").partition(":")
        until = time.monotonic() + 60  # it takes a tenth of a second on an idle machine
        while True:
            try:
                socket.create_server((host, int(port))).close()
                break
            except OSError:
                assert time.monotonic() < until, "the port is still in use"
                time.sleep(0.02)


@contextmanager
def request(address: str, size: int) -> Iterator[socket.socket]:
    """A connection on which the headers of a request to tag have been sent, and a body of so many bytes has not."""
    host, _, port = address.removeprefix("http://").strip("/").partition(":")
    head = b"POST /tag HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
    with socket.create_connection((host, int(port)), 60) as opened:
        opened.sendall(head + b"Content-Length: %d\r\n\r\n" % size)
        yield opened


def test_a_request_that_has_begun_is_answered(tagger: Path) -> None:
    with served("serve", tagger) as (process, address, _):
        body = b'{"tokens": ["a"]}'
        with request(address, len(body)) as slow:
            slow.sendall(body[:5])
            post(f"{address}tag", tokens=["b"])  # by now the first one has arrived, too
            process.send_signal(signal.SIGTERM)
            slow.sendall(body[5:])
            answer = b"".join(iter(lambda: slow.recv(65_536), b""))
        assert answer.startswith(b"HTTP/1.1 200 ") and b'"labels"' in answer
        assert process.wait(60) == -signal.SIGTERM
        assert process.stderr and "Traceback" not in process.stderr.read()


@pytest.mark.slow
def test_the_end_comes_in_time_whatever_is_computed(tagger: Path) -> None:
    with served("serve", tagger, "--most-seconds", 1, "--most-characters", 10**8) as (process, address, _):
        body = json.dumps({"text": "a b c\n" * 400_000, "probabilities": True}).encode()  # takes longer than we wait
        with request(address, len(body)) as slow:
            slow.sendall(body)
            while "tagweave_batch_requests_count 1.0" not in metrics(address):
                time.sleep(0.05)
            process.send_signal(signal.SIGTERM)
            assert process.wait(15) == -signal.SIGTERM
        assert process.stderr and "Traceback" not in process.stderr.read()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("a/b={tagger}",), "found the model 'a/b={tagger}', expected NAME=FILE, with a name of letters"),
        (("x=",), "found the model 'x=', expected NAME=FILE"),
        (("{tagger}", "{tagger}"), "found the models tagger, tagger, expected one or more of different names"),
        (("none.model",), "none.model: no such model file"),
        (("{corpus}",), "train.txt: found"),
        (("{tagger}", "--tokens", "letters"), "found the tokens 'letters', expected one of blanks, words, characters"),
        (("{tagger}", "--token", "TAGWEAVE_NONE"), "found nothing in the environment variable TAGWEAVE_NONE of"),
        (("{tagger}", "--host", "192.0.2.1"), "Cannot assign requested address"),
    ],
)
def test_what_cannot_be_served(run: Run, tagger: Path, corpora: Path, options: tuple[str, ...], reason: str) -> None:
    names = {"tagger": tagger, "corpus": corpora / "train.txt"}
    told = run("serve", *(each.format(**names) for each in options), "--port", 0, code=2)
    assert told.stderr.startswith("tagweave: ") and reason.format(**names) in told.stderr
    assert told.stderr.count("\n") == 1


def test_settings_of_options(run: Run, tagger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr("tagweave.serve.serving.run", lambda *arguments: seen.append(arguments))
    monkeypatch.setenv("SECRET", "s3")
    options = "--most-texts 3 --token SECRET --allow-host a.example --workers 4"
    run("serve", tagger, f"b={tagger}", *options.split())
    run("serve", tagger, "--host", "0.0.0.0", "--port", 9090)  # noqa: S104
    (settings, host, port, workers, _), (other, *_) = seen
    assert settings.models == (("tagger", str(tagger)), ("b", str(tagger)))
    assert (settings.limits.texts, settings.token, host, port, workers) == (3, "s3", "127.0.0.1", 8766, 4)
    assert settings.hosts == ("127.0.0.1", "localhost", "[::1]", "a.example")
    assert other.hosts == () and other.token is None


def test_an_extra_that_is_missing(run: Run, tagger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tagweave.cli.serve.find_spec", lambda name: None if name == "uvicorn" else name)
    assert "found no uvicorn, expected the extra serve: pip install '.[serve]'" in run("serve", tagger, code=2).stderr
