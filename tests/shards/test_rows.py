"""Tables pass through with all of their columns, and a further one."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tagweave.corpus.text_file import read_lines
from tagweave.shards import rows
from tagweave.shards.errors import ShardError
from tagweave.shards.rows import through_rows
from tests.shards.conftest import UpperCase

ROWS: list[dict[str, Any]] = [
    {"id": 1, "text": "one\ntwo"},
    {"id": 2, "text": None},
    {"id": 3, "text": ""},
    {"id": 4, "text": " \n"},
    {"id": 5, "text": "three"},
]
ANNOTATED = ["ONE\nTWO", None, "", "", "THREE"]


@pytest.fixture(params=[2, 8192])
def _blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "_ROWS", request.param)


@pytest.mark.usefixtures("_blocks")
def test_json_lines(tmp_path: Path) -> None:
    source, target = tmp_path / "a.jsonl.gz", tmp_path / "b.jsonl.gz"
    source.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in ROWS).encode()))
    through_rows(UpperCase().carry_out, str(source), str(target), "text")
    found = [json.loads(line) for line in read_lines(str(target))]
    assert found == [{**row, "annotated": value} for row, value in zip(ROWS, ANNOTATED, strict=True)]


@pytest.mark.usefixtures("_blocks")
def test_parquet(tmp_path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    source, target = tmp_path / "a.parquet", tmp_path / "b.parquet"
    table = pa.Table.from_pylist(ROWS).replace_schema_metadata({"from": "somewhere"})
    pq.write_table(table, source, row_group_size=3, compression="zstd")
    through_rows(UpperCase().carry_out, str(source), str(target), "text")
    found = pq.read_table(target)
    assert found.drop_columns(["annotated"]).equals(table)
    assert found["annotated"].to_pylist() == ANNOTATED
    assert found.schema.metadata[b"from"] == b"somewhere"
    written = pq.ParquetFile(target).metadata
    assert (written.num_row_groups, written.row_group(0).column(0).compression) == (2, "ZSTD")


def test_annotation_of_several_lines(tmp_path: Path) -> None:
    """A sentence in CoNLL-U ends with an empty line."""
    (tmp_path / "a.jsonl").write_text('{"text": "a b\\nc"}\n{"text": "d"}\n')

    def in_columns(source: str, target: str) -> list[str]:
        lines = Path(source).read_text().splitlines()
        Path(target).write_text("".join("".join(f"{word}\t_\n" for word in line.split()) + "\n" for line in lines))
        return []

    through_rows(in_columns, str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl"), "text")
    found = [json.loads(line)["annotated"] for line in read_lines(str(tmp_path / "b.jsonl"))]
    assert found == ["a\t_\nb\t_\n\nc\t_", "d\t_"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"words": "a"}', r"a\.jsonl:1: found the columns words, expected 'text' \(--text-column\)"),
        ('{"text": 1}', "found int in 'text', expected text"),
        ('{"text": "a", "annotated": "b"}', "found a column 'annotated', expected none"),
        ("[1]", "found list, expected an object"),
        ("{", "found broken JSON"),
        ('{"text": ' + "[" * 100_000, "found broken JSON"),
    ],
)
def test_bad_rows_are_named(tmp_path: Path, line: str, problem: str) -> None:
    (tmp_path / "a.jsonl").write_text(line + "\n")
    with pytest.raises(ShardError, match=problem):
        through_rows(UpperCase().carry_out, str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl"), "text")
    assert not (tmp_path / "b.jsonl").exists()


@pytest.mark.parametrize("content", [b"", b"PAR1", b"no table"])
def test_damaged_parquet(tmp_path: Path, content: bytes) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "a.parquet").write_bytes(content)
    with pytest.raises(ShardError, match="found a damaged file"):
        through_rows(UpperCase().carry_out, str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet"), "text")


def test_a_function_that_loses_lines_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a\\nb\\nc"}\n')

    def two_lines(source: str, target: str) -> list[str]:
        Path(target).write_text("a\nb\n")
        return []

    with pytest.raises(ShardError, match="found annotation of other sentences, expected 3"):
        through_rows(two_lines, str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl"), "text")
