"""Results in files: computed once, written whole, refused where they are not what they should be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reproductions.lab.cache import Cache
from reproductions.lab.page import DISCUSSION, write_page
from tagweave.errors import CorpusError

DESCRIPTION = {"seed": 1, "sizes": (2, 3), "text": "词"}


def never() -> dict[str, Any]:
    pytest.fail("computed again")


def test_a_result_is_computed_once(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "new")
    first = cache.result("a, b", DESCRIPTION, lambda: {"score": 0.5, "tags": ["词 N"]})
    assert cache.result("a, b", DESCRIPTION, never) == first
    (file,) = (tmp_path / "new").iterdir()
    assert file.name.startswith("a-b-")


def test_an_interrupted_computation_leaves_nothing(tmp_path: Path) -> None:
    def stop() -> dict[str, Any]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Cache(tmp_path).result("x", DESCRIPTION, stop)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        '{"cell": {}, "result": {}}',
        json.dumps({"cell": DESCRIPTION}),
        json.dumps({"cell": DESCRIPTION, "result": [1]}),
        "\ud800".encode("utf-8", "surrogatepass"),
    ],
)
def test_a_damaged_file_is_refused_by_name(text: str | bytes, tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    path = cache.path("x", json.loads(json.dumps(DESCRIPTION)))
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(CorpusError, match=path.name):
        cache.result("x", DESCRIPTION, never)


# pages


def test_a_page_keeps_its_discussion(tmp_path: Path) -> None:
    write_page(tmp_path, "p", {"a": 1}, ["# One"])
    page = tmp_path / "p.md"
    assert page.read_text("utf-8") == "# One\n"
    page.write_text(f"# Old\n\n{DISCUSSION}\n\nMine.\n\n## More\n", "utf-8")
    for _ in range(2):
        write_page(tmp_path, "p", {"a": 2}, ["# Two", "", "Text."])
        assert page.read_text("utf-8") == f"# Two\n\nText.\n\n{DISCUSSION}\n\nMine.\n\n## More\n"
    assert json.loads((tmp_path / "data" / "p.json").read_text("utf-8")) == {"a": 2}
