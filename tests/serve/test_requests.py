"""Requests that cannot be answered get a reason, whatever they are, and no request harms the next one."""

from __future__ import annotations

import json

import pytest
from clients import Connect

from tagweave.serve.settings import Limits

JSON = {"content-type": "application/json"}


@pytest.mark.parametrize(
    ("path", "body", "status", "reason"),
    [
        ("/tag", {}, 422, "found none of them, expected one of text, texts, tokens"),
        ("/tag", {"text": "a", "texts": []}, 422, "found text and texts, expected one of"),
        ("/tag", {"text": 1}, 422, "Expected `str | null`, got `int` - at `$.text`"),
        ("/tag", {"texts": ["a", None]}, 422, "at `$.texts[1]`"),
        ("/tag", {"tokens": ["a", ["b"]]}, 422, "found tokens beside lists of tokens"),
        ("/tag", {"tokens": ["a", ""]}, 422, "found a token without a character"),
        ("/tag", {"tokens": [["a", " "]]}, 422, "found a token without a character"),
        ("/tag", {"text": "a", "colums": {}}, 422, "unknown field `colums`"),
        ("/tag", {"text": "a", "columns": {}}, 422, "found columns with text, expected tokens"),
        ("/tag", {"tokens": ["a"], "columns": {"x": ["b", "c"]}}, 422, "found a column 'x' of another shape"),
        ("/tag", {"tokens": ["a"], "columns": {"x": [["b"]]}}, 422, "found a column 'x' of another shape"),
        ("/tag", {"text": "a", "probabilities": "some"}, 422, "some"),
        ("/tag", {"text": "a", "model": "no"}, 404, "found the model 'no', expected one that is served (ctb: tag; "),
        ("/tag", {"text": "a", "model": "dep"}, 422, "found no model that can tag in 'dep', only ctb: tag; seg: segm"),
        ("/tag", {"tokens": ["a"], "model": "segtag"}, 422, "found tokens, expected text or texts"),
        ("/segment", {"text": "a", "probabilities": "all"}, 422, 'found "all", expected true or false'),
        ("/parse", {"text": "a", "probabilities": "all"}, 422, 'found "all", expected true or false'),
        ("/parse", {"text": "a " * 257}, 413, "found 257 tokens, expected at most 256 in a sentence"),
        ("/tag", {"texts": ["a"] * 1001}, 413, "found 1,001 texts, expected at most 1,000"),
        ("/tag", {"text": "a" * 200_001}, 413, "found 200,001 characters, expected at most 200,000"),
        ("/tag", {"tokens": [["ab"] * 100_001]}, 413, "found 200,002 characters"),
    ],
)
def test_a_reason_for_every_refusal(connect: Connect, path: str, body: object, status: int, reason: str) -> None:
    found = connect("ctb", "seg", "segtag", "dep", tokens="words").post(path, json=body)
    assert (found.status_code, found.json().keys()) == (status, {"error"})
    assert reason in found.json()["error"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"\xff", 400),
        (b"\xef\xbb\xbf{}", 400),
        (b'{"text": "\\ud800"}', 400),
        (b'{"text": "\\udc00 and more text behind it"}', 400),
        (b'{"text": "\xed\xa0\x80"}', 400),
        (b'{"text": NaN}', 400),
        (b'{"text": "a"} {"text": "b"}', 400),
        (b'{"probabilities": 1e999}', 422),
        (b'{"text": 99999999999999999999999999999}', 422),
        (b"[" * 1_000_000, 422),
        (b'{"tokens": ' + b"[" * 1_000_000, 422),
        (b'{"model": ' + b'{"a":' * 1_000_000, 422),
        (b"null", 422),
    ],
)
def test_bodies_that_are_no_request(connect: Connect, body: bytes, status: int) -> None:
    found = connect("ctb").post("/tag", content=body, headers=JSON)
    assert found.status_code == status and found.json()["error"]


def test_characters_that_are_strange(connect: Connect) -> None:
    text = "a\x00b\x0b\x0c\x1c\x85c\u2028\u200b\ufeff\u3000e\u0301 😀\U00020000 \x7f/_|\\\n\x1e\n学\x00习"
    for path, names in (("/tag", ("ner",)), ("/tag", ("segtag",)), ("/segment", ("seg",)), ("/parse", ("dep",))):
        for probabilities in (False, True):
            found = connect(*names).post(path, json={"texts": [text, *text], "probabilities": probabilities})
            assert found.status_code == 200, found.text
            first = found.json()["results"][0]
            assert [text[a:b] for a, b in first["offsets"]] == first["tokens"]


def test_other_paths_methods_and_types(connect: Connect) -> None:
    client = connect("ctb")
    for path, status in {"/tag": 405, "/none": 404, "/tag/": 404, "/../etc/passwd": 404}.items():
        assert client.get(path).status_code == status
    assert client.get("/none").json() == {"error": "Not Found"}
    for kind in ("text/plain", "application/x-www-form-urlencoded", "", "application/jsonx"):
        found = client.post("/tag", content=b'{"text": "a"}', headers={"content-type": kind})
        assert (found.status_code, repr(kind) in found.json()["error"]) == (415, True)
    assert client.post("/tag", content=b'{"text": "a"}', headers={"content-type": "Application/JSON; charset=utf-8"})


def test_bodies_that_are_too_long(connect: Connect) -> None:
    client = connect("ctb", limits=Limits(bytes=1_000))
    assert client.post("/tag", content=b" " * 1_001, headers=JSON).status_code == 413
    assert client.post("/tag", content=(b" " * 600 for _ in range(2)), headers=JSON).status_code == 413
    assert client.post("/tag", content=b'{"text": "a"}'.ljust(1_000), headers=JSON).status_code == 200


@pytest.mark.parametrize(
    ("given", "status"),
    [
        (None, 401),
        ("Bearer secret", 200),
        ("bearer  secret ", 200),
        ("Bearer other", 401),
        ("Bearer s\xe9cret", 401),
        ("secret", 401),
        ("Basic YW55Ym9keTpzZWNyZXQ=", 200),
        ("Basic YW55Ym9keTpvdGhlcg==", 401),
        ("Basic !", 401),
        ("Basic \xff\xe9", 401),
        ("Basic /////w==", 401),
    ],
)
def test_a_token(connect: Connect, given: str | None, status: int) -> None:
    client = connect("ctb", token="secret")  # noqa: S106
    headers = {} if given is None else {"authorization": given.encode("latin-1")}
    found = client.post("/tag", json={"text": "a"}, headers=headers)
    assert found.status_code == status
    assert found.headers.get("www-authenticate") == (None if status == 200 else "Bearer")
    assert client.get("/metrics", headers=headers).status_code == status
    assert client.get("/health").json()["models"] == []
    assert len(client.get("/health", headers=headers).json()["models"]) == (status == 200)


@pytest.mark.parametrize(
    ("host", "status"), [("localhost:80", 200), ("[::1]:1", 200), ("evil.example", 400), ("", 400)]
)
def test_other_names_of_the_server(connect: Connect, host: str, status: int) -> None:
    client = connect("ctb", hosts=("localhost", "[::1]"))
    assert client.get("/health", headers={"host": host}).status_code == status


def test_the_description(connect: Connect) -> None:
    client = connect("ctb")
    document = client.get("/openapi.json").json()
    schemas = document["components"]["schemas"]
    references = {each.partition('"')[0] for each in json.dumps(document).split("#/components/schemas/")[1:]}
    assert references <= schemas.keys() and {"LabelRequest", "TextResult", "SpanResult"} <= references
    page = client.get("/")
    assert page.headers["content-type"].startswith("text/html")
    assert "POST /tag" in page.text and "<td>string or null</td>" in page.text
    assert "//" not in page.text.replace("curl /", "").partition("<h2>JSON")[0].replace("</", "")  # from nowhere else
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert client.get("/static/style.css").status_code == 200


def test_numbers(connect: Connect) -> None:
    client = connect("ner", tokens="blanks")
    client.post("/tag", json={"text": "a b c"})
    client.post("/tag", json={"text": 1})
    text = client.get("/metrics").text
    for line in (
        'tagweave_requests_total{path="/tag",status="200"} 1.0',
        'tagweave_requests_total{path="/tag",status="422"} 1.0',
        'tagweave_tokens_total{operation="tag"} 3.0',
        "tagweave_batch_requests_count 1.0",
        'tagweave_request_seconds_count{path="/tag"} 2.0',
    ):
        assert line in text.splitlines()


def test_what_is_served(connect: Connect) -> None:
    found = connect("ner", "segtag", "dep").get("/health").json()
    assert found["status"] == "UP"
    by_name = {each["name"]: each for each in found["models"]}
    assert {name: each["operations"] for name, each in by_name.items()} == {
        "ner": ["tag"],
        "segtag": ["segment", "tag"],
        "dep": ["parse"],
    }
    assert {"B-PER", "O"} <= {*by_name["ner"]["labels"]}
    assert "n" in by_name["segtag"]["labels"] and "B-n" not in by_name["segtag"]["labels"]
