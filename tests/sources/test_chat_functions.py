"""A chat model as a labelling function: what it is asked, what its answers become, and what happens when it fails.

The server is one of the tests' own.
"""

from __future__ import annotations

import json
import pickle
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from chat_server import ChatServer, Response, chat_server, quotes, says
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError
from tagweave.exchange.load import load
from tagweave.sources import chat_client
from tagweave.sources.answer_functions import AnswerFile
from tagweave.sources.builtin_functions import read_functions
from tagweave.sources.chat_client import ChatClient
from tagweave.sources.chat_functions import ChatFunction
from tagweave.sources.functions import FunctionError, apply_functions

TEXT = [Sentence(("Ann", "Bell", "left", "Graz")), Sentence(("Bob", "slept"))]
ANSWERS = {"Ann Bell left Graz": quotes(("Ann Bell", "PER"), ("Graz", "LOC")), "Bob slept": quotes(("Bob", "PER"))}
LAYERS = [(("B-PER",), ("I-PER",), None, ("B-LOC",)), (("B-PER",), None)]
TYPES = {"PER": "a person's name", "LOC": ""}
KEY = "sk-nobody-may-read-this"


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server(ANSWERS.__getitem__) as served:
        yield served


@pytest.fixture
def pauses(monkeypatch) -> list[float]:
    """How long is waited before other tries, which nobody waits for."""
    waited: list[float] = []

    class Event(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            waited.append(timeout or 0.0)
            return self.is_set()

    monkeypatch.setattr(chat_client, "Event", Event)
    return waited


@pytest.fixture
def made(server, tmp_path) -> Callable[..., ChatFunction]:
    def make(**fields: Any) -> ChatFunction:
        return ChatFunction(
            "chat", **{"url": server.url, "types": TYPES, "answers": str(tmp_path / "a.jsonl"), **fields}
        )

    return make


def _run(function: ChatFunction, text: list[Sentence] = TEXT, progress=lambda done, total: None) -> tuple[Any, str]:
    """The labels of a text, and what is told."""
    told: list[str] = []
    function.check(text)
    return function.prepared(text, progress, told.append).layers(text), "\n".join(told)


class TestAnswers:
    def test_quotations_become_labels(self, made, server):
        layers, told = _run(made())
        assert layers == LAYERS
        assert f"0 answers are in {made().answers}, 2 texts go to {server.url}" in told
        assert "2 requests, 0 cached, 0 retries, 20 prompt tokens, 6 completion tokens" in told
        assert "3 quotations, 3 found as they are" in told

    def test_quotations_that_are_absent_and_other_types_are_left_out_and_counted(self, made, server):
        server.respond = lambda text: quotes(("Bobb", "PER"), ("Rome", "LOC"), ("slept", "VERB"), ("Bob", "VERB"))
        layers, told = _run(made(), TEXT[1:])
        assert layers == [(None, None)]
        server.respond = lambda text: quotes(("Bob", "PER"), ("Rome", "LOC"), ("slept", "VERB"))
        layers, told = _run(made(model="other"), TEXT[1:])
        assert layers == [(("B-PER",), None)]
        assert "3 quotations, 2 found as they are, 1 not found (line 2: 'Rome')" in told
        assert "1 of them left out for their label ('VERB')" in told

    @pytest.mark.parametrize(
        "content",
        [
            '```json\n{"spans": [{"text": "Bob", "label": "PER"}]}\n```',
            'Here it is: {"spans": [["Bob", "PER"]]} Anything else?',
            '<think>{"spans": [["slept", "PER"]]}, or [not]</think>{"entities": {"PER": ["Bob"]}}',
            [{"text": "Bob", "type": "PER"}],
        ],
    )
    def test_json_in_a_fence_in_words_and_of_other_shapes(self, made, server, content):
        server.respond = lambda text: says(content)
        assert _run(made(), TEXT[1:])[0] == LAYERS[1:]

    @pytest.mark.parametrize(
        "content", ["I cannot.", "{", '{"spans": "Bob"}', '{"spans": [{"text": "Bob"}]}', "3", "[" * 9999]
    )
    def test_useless_answers_are_told_and_not_kept(self, made, server, content):
        server.respond = lambda text: says(content) if text == "Bob slept" else ANSWERS[text]
        layers, told = _run(made(outside=True))
        assert layers[1] == (None, None)
        assert layers[0] == (("B-PER",), ("I-PER",), ("O",), ("B-LOC",))
        assert "1 useless answers, the first: sentence" not in told
        assert "1 useless answers, the first: found '" in told
        server.respond = ANSWERS.__getitem__
        assert _run(made())[0] == LAYERS
        assert server.texts[2:] == ["Bob slept"]

    def test_an_answer_that_is_no_completion_or_refused(self, made, server):
        for content in (
            b"<html>",
            b'{"x": "\xff"}',
            b'{"x": ' + b"[" * 9999,
            b'{"choices": []}',
            b'{"choices": [{"message": {"content": null}}]}',
            b"filtered",
        ):
            bad = Response(400 if content == b"filtered" else 200, content)
            server.respond = lambda text, bad=bad: bad if text == "Bob slept" else ANSWERS[text]
            layers, told = _run(made())
            assert layers == [LAYERS[0], (None, None)]
            assert "1 useless answers" in told
            assert ("'' (no JSON" if b"null" in content else content[:20].decode("utf-8", "replace")) in told

    def test_nothing_but_useless_answers_end_the_run(self, made, server):
        server.respond = lambda text: says("no")
        text = [Sentence((str(number), "x")) for number in range(30)]
        with pytest.raises(FunctionError, match="chat: found 10 useless answers and no other, the first: found 'no'"):
            _run(made(parallel=1), text)
        assert 10 <= len(server.texts) <= 12
        with pytest.raises(FunctionError, match="found 2 useless answers"):
            _run(made(), text[:2])

    def test_useless_answers_beside_useful_or_cached_ones_end_nothing(self, made, server):
        server.respond = lambda text: quotes() if text == "n0 x" else says("no")
        told = _run(made(parallel=1, outside=True), [Sentence((f"n{number}", "x")) for number in range(12)])[1]
        assert "11 useless answers" in told
        server.respond = ANSWERS.__getitem__
        _run(made(), TEXT[:1])
        server.respond = lambda text: says("no")
        assert _run(made())[0] == [LAYERS[0], (None, None)]

    def test_characters_are_sent_without_blanks_and_what_json_escapes_is_kept(self, made, server):
        server.respond = lambda text: says('{"spans": [["王明", "PER"], ["\\ud800", "PER"]]}')
        layers, _ = _run(made(), [Sentence(tuple("王明来"))])
        assert server.texts == ["王明来"]
        assert layers == [(("B-PER",), ("I-PER",), None)]
        assert "王明来" in Path(made().answers).read_text("utf-8")

    def test_the_same_text_is_asked_once_and_an_empty_one_never(self, made, server):
        layers, _ = _run(made(), [TEXT[1], Sentence(()), TEXT[1]])
        assert layers == [LAYERS[1], (), LAYERS[1]]
        assert server.texts == ["Bob slept"]


class TestRequests:
    def test_what_is_sent(self, made, server, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\n")
        _run(made(parameters={"max_tokens": 9}), TEXT[1:])
        (body,), (headers,) = server.bodies, server.headers
        assert {**body, "messages": 0} == {"model": "tiny", "messages": 0, "max_tokens": 9}
        system, user = body["messages"]
        assert (system["role"], user) == ("system", {"role": "user", "content": "Bob slept"})
        assert "PER: a person's name\nLOC\n" in system["content"]
        assert '{"spans": [{"text": "...", "label": "..."}]}' in system["content"]
        assert headers["Authorization"] == f"Bearer {KEY}"
        _run(made(key_variable="NO_SUCH_KEY", url=f"{server.url}/"), TEXT[:1])
        assert "Authorization" not in server.headers[1]
        assert server.bodies[1]["temperature"] == 0

    def test_examples_cover_all_types_and_one_has_none(self, made, server, tmp_path):
        rows = [
            "he O\nslept O",
            "Ann B-PER",
            "Bob B-PER\nof O\nRome B-LOC",
            "Eve B-PER",
            *["Al B-PER"] * 4,
            "UN I-ORG",
            "x _",
        ]
        path = tmp_path / "checked.col"
        path.write_text("\n\n".join(rows) + "\n", "utf-8")
        _run(made(types=None, examples=str(path)), TEXT[1:])
        system, *shown = server.bodies[0]["messages"]
        assert "PER\nLOC\nORG\n" in system["content"]
        assert [turn["content"] for turn in shown[::2]] == [
            "Bob of Rome",
            "UN",
            "Ann",
            "Eve",
            "Al",
            "he slept",
            "Bob slept",
        ]
        assert [turn["role"] for turn in shown] == ["user", "assistant"] * 6 + ["user"]
        spans = [{"text": "Bob", "label": "PER"}, {"text": "Rome", "label": "LOC"}]
        assert [json.loads(shown[at]["content"])["spans"] for at in (1, 11)] == [spans, []]

    def test_no_text_is_shown_its_own_answer_and_other_types_are_not_shown(self, made, server, tmp_path):
        path = tmp_path / "checked.col"
        path.write_text("Bob B-PER\nslept O\n\nUN B-ORG\nin O\nNew I-LOC\nYork I-LOC\n\nhe O\n\nshe O\n", "utf-8")
        _run(made(examples=str(path)), TEXT[1:])
        assert [turn["content"] for turn in server.bodies[0]["messages"][1:]] == [
            "UN in New York",
            '{"spans": [{"text": "New York", "label": "LOC"}]}',
            "he",
            '{"spans": []}',
            "Bob slept",
        ]

    def test_there_are_as_many_examples_as_types_need(self, made, server, tmp_path):
        path = tmp_path / "checked.col"
        path.write_text("\n".join(f"{letter} U-{letter}\n" for letter in "ABCDEFG"), "utf-8")
        _run(made(types={}, examples=str(path)), TEXT[1:])
        assert [turn["content"] for turn in server.bodies[0]["messages"][1::2]] == [*"ABCDEFG", "Bob slept"]

    @pytest.mark.parametrize(
        ("rows", "error", "message"),
        [
            ("x _\n", FunctionError, "found no spans in sentences without unknown tokens"),
            ("x O\n", FunctionError, "found no spans in sentences"),
            ("x B-*\n", FunctionError, "found no spans in sentences"),
            ("x B-PER|B-LOC\n", FunctionError, "found no spans in sentences"),
            ("dog NN\n", CorpusError, "found the label 'NN'"),
        ],
    )
    def test_examples_without_spans(self, made, tmp_path, rows, error, message):
        (tmp_path / "checked.col").write_text(rows, "utf-8")
        with pytest.raises(error, match=message):
            made(types=None, examples=str(tmp_path / "checked.col")).check(TEXT)

    def test_several_at_the_same_time_and_no_more(self, made, server):
        barrier, now, most, daemons = threading.Barrier(3), set(), [], set()

        def respond(text: str) -> Response:
            now.add(text)
            most.append(len(now))
            barrier.wait(10)
            now.discard(text)
            daemons.update(thread.daemon for thread in threading.enumerate() if "(work)" in thread.name)
            return quotes()

        server.respond = respond
        _run(made(parallel=3), [Sentence((str(number), "x")) for number in range(6)])
        assert max(most) == 3
        assert daemons == {True}  # so Ctrl-C waits for none of them

    @pytest.mark.parametrize(
        ("names", "listed"), [([], r"\(none\)"), (["a", "b"], "a, b"), ([*"abcdefg"], r"a, b, c, d, e \.\.\.")]
    )
    def test_the_model_of_a_server_with_others(self, made, server, names, listed):
        server.models = names
        with pytest.raises(FunctionError, match=rf"found the models {listed}, expected one of them as \"model\""):
            _run(made())
        assert _run(made(model="b"))[0] == LAYERS


class TestKept:
    def test_what_was_answered_is_not_asked_again(self, made, server):
        heard: list[tuple[int, int]] = []
        _run(made(), TEXT[:1])
        layers, told = _run(made(), progress=lambda *numbers: heard.append(numbers))
        assert layers == LAYERS
        assert server.texts == ["Ann Bell left Graz", "Bob slept"]
        assert "1 answers are in" in told
        assert "1 requests, 1 cached" in told
        assert heard == [(1, 1)]
        assert _run(made(url="http://127.0.0.1:9/v1", model="tiny"))[0] == LAYERS
        for other in ({"types": {"PER": ""}}, {"parameters": {}}, {"model": "other"}):
            before = len(server.texts)
            _run(made(**other))
            assert len(server.texts) == before + 2

    def test_the_file_is_one_of_answers(self, made):
        _run(made())
        assert AnswerFile("f", made().answers).layers(TEXT) == LAYERS
        assert {json.loads(line)["model"] for line in Path(made().answers).read_text("utf-8").splitlines()} == {"tiny"}
        assert sorted(sentence.forms for sentence in load(made().answers)) == [sentence.forms for sentence in TEXT]

    def test_other_processes_read_the_file(self, made):
        function = made().prepared(TEXT, lambda done, total: None, lambda line: None)
        assert pickle.loads(pickle.dumps(function)).layers(TEXT) == LAYERS  # noqa: S301 - made here

    def test_a_run_that_dies_keeps_its_answers_and_tells_what_they_took(self, made, server):
        told: list[str] = []

        def interrupt(done: int, total: int) -> None:
            assert Path(made().answers).read_bytes().endswith(b"\n")
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            made(parallel=1).prepared(TEXT, interrupt, told.append)
        assert "1 requests" in told[-1]
        before = len(server.texts)
        layers, told_then = _run(made(parallel=1))
        assert layers == LAYERS
        assert "1 requests, 1 cached" in told_then
        assert server.texts[before:] == ["Bob slept"]

    def test_a_last_line_that_was_cut_off_is_left_out(self, made, server):
        _run(made())
        path = Path(made().answers)
        content = path.read_bytes()
        for length in (1, 20, 150):
            path.write_bytes(content + '{"key": "é'.encode()[:-1] if length == 1 else content[:-length])
            layers, told = _run(made())
            assert layers == LAYERS
            assert f"{path}: the last line was cut off" in told
            assert sorted(path.read_bytes().splitlines()) == sorted(content.splitlines())

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            (b'{"key": "x', "found no JSON"),
            (b"", "found no JSON"),
            (b"\xff", "found no JSON"),
            (b"[]", r"found \[\], expected an object"),
            (b'{"text": "x", "spans": []}', "found no 'key'"),
        ],
    )
    def test_other_damage_is_refused_and_nothing_is_sent(self, made, server, line, message):
        _run(made())
        path, before = Path(made().answers), len(server.texts)
        first, second = path.read_bytes().splitlines()
        path.write_bytes(b"\n".join((first, line, second, b"")))
        with pytest.raises(CorpusError, match=rf"a\.jsonl:2: {message}"):
            made().check(TEXT)
        assert len(server.texts) == before

    @pytest.mark.parametrize("content", [b"a text", b"a text\n", b'{"text": "x"}'])
    def test_another_file_stays_as_it_is(self, made, content):
        Path(made().answers).write_bytes(content)
        with pytest.raises(CorpusError, match=r"a\.jsonl:1: "):
            _run(made())
        assert Path(made().answers).read_bytes() == content

    def test_an_answer_for_another_text_is_refused_by_its_line(self, made):
        _run(made())
        path = Path(made().answers)
        path.write_text(path.read_text("utf-8").replace("left Graz", "left Linz"), "utf-8")
        with pytest.raises(CorpusError, match=r"a\.jsonl:\d: found no labels and no spans"):
            _run(made())


class TestFailures:
    @pytest.mark.parametrize(
        "first",
        [Response(429), Response(408), Response(500, b"oops"), Response(503), Response(200, b"{", cut=True)],
    )
    def test_another_try(self, made, server, pauses, first):
        responses = iter([first, first])
        server.respond = lambda text: next(responses, None) or ANSWERS[text]
        layers, told = _run(made(), TEXT[1:])
        assert layers == LAYERS[1:]
        assert "1 requests, 0 cached, 2 retries" in told
        assert told.count("trying again") == 1
        assert len(server.texts) == 3
        assert 0.5 <= pauses[0] <= 1 <= pauses[1] <= 2

    @pytest.mark.parametrize(
        ("header", "seconds"),
        [
            ("7", 7),
            ("0", 0.5),
            ("soon", 0.5),
            ("in five minutes", 300),
            ("Mon, 01 Jan 0001 00:00:00 +2400", 0.5),
        ],
    )
    def test_a_server_says_how_long_to_wait(self, made, server, pauses, header, seconds):
        if header == "in five minutes":
            header = format_datetime(datetime.now(UTC) + timedelta(seconds=300))
        responses = iter([Response(429, headers={"Retry-After": header})])
        server.respond = lambda text: next(responses, None) or ANSWERS[text]
        assert _run(made(), TEXT[1:])[0] == LAYERS[1:]
        assert pauses == [pytest.approx(seconds, abs=0.6 if seconds < 1 else 60 * (seconds > 60))]

    def test_too_long_a_pause_ends_the_run(self, made, server, pauses):
        server.respond = lambda text: Response(429, b"quota", {"Retry-After": "86400"})
        with pytest.raises(FunctionError, match=r"found HTTP 429 \(quota\), to be asked in 86,400 seconds"):
            _run(made(), TEXT[1:])
        assert (pauses, len(server.texts)) == ([], 1)

    def test_failing_for_ever(self, made, server, pauses, monkeypatch):
        monkeypatch.setattr(chat_client.random, "uniform", lambda low, high: high)
        server.respond = lambda text: Response(500, b"oops") if text == "Bob slept" else ANSWERS[text]
        with pytest.raises(
            FunctionError, match=r"completions: found HTTP 500 \(oops\) after 8 tries, expected an answer"
        ):
            _run(made(parallel=1))
        assert server.texts.count("Bob slept") == 8
        assert pauses == [1, 2, 4, 8, 16, 32, 60]
        server.respond = ANSWERS.__getitem__
        assert "1 cached" in _run(made())[1]

    def test_no_server(self, made, pauses):
        with pytest.raises(FunctionError, match=r"127\.0\.0\.1:9/v1/models: found .*refused.* after 8 tries"):
            _run(made(url="http://127.0.0.1:9/v1"))

    @pytest.mark.parametrize(
        ("pause", "problem"), [(0.1, "a response that takes more than 0 seconds"), (0.6, "timed out")]
    )
    def test_a_server_that_takes_too_long(self, made, server, pauses, monkeypatch, pause, problem):
        monkeypatch.setattr(chat_client, "_PATIENCE", 0.3)
        responses = iter([Response(200, b"12345", pause=pause)])
        server.respond = lambda text: next(responses, None) or ANSWERS[text]
        layers, told = _run(made(model="tiny"), TEXT[1:])
        assert layers == LAYERS[1:]
        assert f"found {problem}, trying again" in told
        assert "1 retries" in told

    def test_a_response_that_is_too_large(self, made, server, monkeypatch):
        monkeypatch.setattr(chat_client, "_LARGEST", 500)
        server.respond = lambda text: says("x" * 600) if text == "Bob slept" else ANSWERS[text]
        layers, told = _run(made())
        assert layers == [LAYERS[0], (None, None)]
        assert "found a response above 500 bytes" in told

    @pytest.mark.parametrize(
        ("response", "message"),
        [
            (
                Response(401, b"bad key"),
                r"HTTP 401 \(bad key\), expected a key .* in the environment variable OPENAI_API_KEY$",
            ),
            (Response(403), "HTTP 403, expected a key"),
            (
                Response(404, b"no model"),
                r"HTTP 404 \(no model\), expected an address before /chat/completions .* and a \"model\"",
            ),
            (Response(307, headers={"Location": "http://127.0.0.1:9/"}), "HTTP 307, expected the address itself"),
            (Response(402, b"pay"), r"HTTP 402 \(pay\), expected an answer"),
        ],
    )
    def test_what_no_other_try_would_change(self, made, server, pauses, monkeypatch, response, message):
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        server.respond = lambda text: response
        with pytest.raises(FunctionError, match=message):
            _run(made(), TEXT[1:])
        assert (pauses, len(server.texts)) == ([], 1)

    def test_a_redirect_gets_no_request(self, made, server, pauses):
        with chat_server(ANSWERS.__getitem__) as other:
            server.respond = lambda text: Response(308, headers={"Location": f"{other.url}/chat/completions"})
            with pytest.raises(FunctionError, match="HTTP 308"):
                _run(made())
            assert other.texts == []

    def test_other_requests_end_with_one_that_fails(self, made, server, monkeypatch):
        """Nobody waits for the pauses of the others."""
        server.respond = lambda text: (
            Response(401) if text == "Bob slept" else Response(429, headers={"Retry-After": "60"})
        )
        begun = time.monotonic()
        with pytest.raises(FunctionError, match="HTTP 401"):
            _run(made())
        assert time.monotonic() - begun < 20

    def test_what_fails_afterwards_is_not_tried_again(self, made, server):
        told: list[str] = []

        def respond(text: str) -> Response:
            if text == "Bob slept":
                return Response(401)
            time.sleep(0.3)
            return Response(500)

        server.respond = respond
        with pytest.raises(FunctionError, match="HTTP 401"):
            made().prepared(TEXT, lambda done, total: None, told.append)
        assert "trying again" not in "".join(told)


class TestKey:
    def test_it_is_in_no_file_and_no_message(self, made, server, pauses, monkeypatch):
        monkeypatch.setenv("MY_KEY", KEY)
        echo = quotes((f"Bob {KEY}", "PER"), ("Bob", "PER"))
        server.respond = lambda text: echo if len(server.texts) > 1 else Response(500, f"bad {KEY}".encode())
        layers, told = _run(made(key_variable="MY_KEY"), TEXT[1:])
        assert layers == LAYERS[1:]
        assert server.headers[0]["Authorization"].endswith(KEY)
        assert "bad ***" in told
        assert KEY not in told
        assert KEY not in Path(made().answers).read_text("utf-8")
        server.respond = lambda text: Response(401, KEY.encode())
        with pytest.raises(FunctionError) as raised:
            _run(made(key_variable="MY_KEY"))
        assert "(***)" in str(raised.value)
        assert "MY_KEY" in str(raised.value)

    def test_without_a_key_it_is_said(self, made, server, monkeypatch):
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        server.respond = lambda text: Response(401)
        with pytest.raises(FunctionError, match="environment variable OPENAI_API_KEY, which is not set"):
            _run(made())

    @pytest.mark.parametrize("key", ["a\nb", "ключ"])
    def test_what_is_no_key(self, made, monkeypatch, key):
        monkeypatch.setenv("OPENAI_API_KEY", key)
        with pytest.raises(FunctionError, match="another sign in OPENAI_API_KEY") as raised:
            _run(made())
        assert key not in str(raised.value)

    @pytest.mark.parametrize("name", [KEY, "", "A=B"])
    def test_a_key_in_place_of_its_variable_is_refused_unseen(self, made, name):
        with pytest.raises(FunctionError, match="found no name of an environment variable") as raised:
            _run(made(key_variable=name))
        assert KEY not in str(raised.value)

    @pytest.mark.parametrize(
        "url", ["localhost:8000/v1", "ftp://x/v1", "http:///v1", "http://k@x/v1", "http://x/v1?key=k", "http://x:abc/"]
    )
    def test_addresses_that_are_refused_unseen(self, url):
        with pytest.raises(FunctionError, match='found another "url" than') as raised:
            ChatClient(url, "OPENAI_API_KEY")
        assert url not in str(raised.value)

    def test_without_the_extra_it_is_named(self, made, monkeypatch):
        monkeypatch.setitem(sys.modules, "httpx2", None)
        with pytest.raises(FunctionError, match=r"found no httpx2, expected the extra chat: pip install '\.\[chat\]'"):
            made().check(TEXT)


class TestDeclaration:
    def _read(self, folder: Path, **fields: object) -> Any:
        declared = {"name": "llm", "type": "chat", "url": "http://x/v1", **fields}
        (folder / "f.json").write_text(json.dumps({"functions": [declared]}), "utf-8")
        return read_functions(str(folder / "f.json"))[0]

    def test_files_are_beside_the_declaration(self, tmp_path):
        assert self._read(tmp_path, types=TYPES, model="m", parallel=2) == ChatFunction(
            "llm", "http://x/v1", "m", TYPES, answers=str(tmp_path / "llm.jsonl"), parallel=2
        )
        function = self._read(tmp_path, examples="c.col", answers="kept.jsonl")
        assert (function.examples, function.answers) == (str(tmp_path / "c.col"), str(tmp_path / "kept.jsonl"))

    @pytest.mark.parametrize(
        ("fields", "message"),
        [
            ({}, 'found no types, expected "types" with their meanings, or "examples"'),
            ({"types": {}}, "found no types"),
            ({"types": {"a b": ""}}, "found the type 'a b', expected one without blanks"),
            ({"types": {"": ""}}, "found the type ''"),
            ({"types": TYPES, "task": "tags"}, "found the task tags, expected spans"),
            ({"types": TYPES, "parameters": {"stream": True}}, "found 'stream' in parameters"),
            ({"types": TYPES, "parallel": 0}, "found parallel 0, expected at least 1"),
            ({"types": TYPES, "key": "x"}, "found 'key' in a function of type chat"),
        ],
    )
    def test_what_is_refused(self, tmp_path, fields, message):
        with pytest.raises(FunctionError, match=message):
            self._read(tmp_path, **fields)

    def test_all_functions_are_checked_before_anything_is_sent(self, made, server, tmp_path):
        broken = AnswerFile("other", str(tmp_path / "none.jsonl"))
        with pytest.raises(FileNotFoundError):
            apply_functions(_corpus(), [made(), broken])
        assert server.texts == []
        labelled = apply_functions(_corpus(), [made()])
        assert [sentence.layers["chat"] for sentence in labelled] == LAYERS


def _corpus() -> Any:
    from tagweave.corpus.corpus import Corpus

    return Corpus(tuple(TEXT))
