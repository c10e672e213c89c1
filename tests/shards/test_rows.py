"""Tables pass through with all of their columns, and a further one."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from random import randbytes
from typing import Any

import pytest

from tagweave.corpus.files import read_lines
from tagweave.errors import ShardError
from tagweave.shards.rows import FileFunction, through_rows
from tests.shards.conftest import UpperCase

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed (pip install '.[ray]')")
pq = pytest.importorskip("pyarrow.parquet")

ROWS: list[dict[str, Any]] = [
    {"id": 1, "text": "one\ntwo"},
    {"id": 2, "text": None},
    {"id": 3, "text": ""},
    {"id": 4, "text": " \n"},
    {"id": 5, "text": "three"},
]
ANNOTATED = ["ONE\nTWO", None, "", "", "THREE"]


def _in_columns(source: str, target: str) -> list[str]:
    """A sentence in CoNLL-U ends with an empty line."""
    lines = Path(source).read_text().split("\n")[:-1]
    Path(target).write_text("".join("".join(f"{word}\t_\n" for word in line.split()) + "\n" for line in lines))
    return []


def _annotations(folder: Path, content: str, function: FileFunction) -> list[Any]:
    """The annotation of JSON Lines."""
    source, target = folder / "a.jsonl", folder / "b.jsonl"
    source.write_text(content)
    through_rows(function, str(source), str(target), "text")
    return [json.loads(line)["annotated"] for line in read_lines(str(target))]


@pytest.mark.parametrize("rows", [2, 8192])
def test_json_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    monkeypatch.setattr("tagweave.shards.rows.BLOCK_ROWS", rows)
    source, target = tmp_path / "a.jsonl.gz", tmp_path / "b.jsonl.gz"
    source.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in ROWS).encode()))
    through_rows(UpperCase().carry_out, str(source), str(target), "text")
    found = [json.loads(line) for line in read_lines(str(target))]
    assert found == [{**row, "annotated": value} for row, value in zip(ROWS, ANNOTATED, strict=True)]


@pytest.mark.parametrize("rows", [2, 8192])
def test_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    monkeypatch.setattr("tagweave.shards.parquet.BLOCK_ROWS", rows)
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


def _through_parquet(folder: Path, table: Any, **options: Any) -> Any:
    """The table that was written, as a file."""
    pq.write_table(table, folder / "a.parquet", **options)
    through_rows(UpperCase().carry_out, str(folder / "a.parquet"), str(folder / "b.parquet"), "text")
    return pq.ParquetFile(folder / "b.parquet")


@pytest.mark.parametrize("kind", ["large_string", "string_view", "dictionary", "null"])
def test_types_of_text(tmp_path: Path, kind: str) -> None:
    own = pa.dictionary(pa.int32(), pa.string()) if kind == "dictionary" else getattr(pa, kind)()
    texts = [None, None] if kind == "null" else ["a", None]
    found = _through_parquet(tmp_path, pa.table({"text": pa.array(texts, own)})).read()
    assert found.schema.types == [own, pa.string()]
    assert found["annotated"].to_pylist() == [text and text.upper() for text in texts]


def test_every_column_keeps_its_compression(tmp_path: Path) -> None:
    table = pa.table({"n": [1], "m": [[{"k": 1}]], "text": ["a"]})
    codecs = {"n": "none", "m.list.item.k": "gzip", "text": "zstd"}
    group = _through_parquet(tmp_path, table, compression=codecs, use_compliant_nested_type=False).metadata.row_group(0)
    found = [group.column(number).compression for number in range(group.num_columns)]
    assert found == ["UNCOMPRESSED", "GZIP", "ZSTD", "ZSTD"]


@pytest.mark.parametrize("limit", ["GROUP_ROWS", "GROUP_BYTES"])
def test_large_row_groups_are_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    """Also blocks of long rows, whose number is that of bytes."""
    monkeypatch.setattr("tagweave.shards.parquet.BLOCK_SIZE", 200)
    monkeypatch.setattr(f"tagweave.shards.parquet.{limit}", {"GROUP_ROWS": 2, "GROUP_BYTES": 300}[limit])
    texts = [letter * 100 for letter in "abcde"]
    found = _through_parquet(tmp_path, pa.table({"text": texts}), compression="none", use_dictionary=False)
    rows = [found.metadata.row_group(number).num_rows for number in range(found.num_row_groups)]
    assert rows == [2, 2, 1]
    assert found.read()["annotated"].to_pylist() == [text.upper() for text in texts]


def test_memory_is_not_that_of_a_row_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tagweave.shards.parquet.GROUP_BYTES", 1 << 20)
    monkeypatch.setattr("tagweave.shards.parquet.BLOCK_SIZE", 1 << 20)
    table = pa.table({"text": ["a"] * 400, "other": [randbytes(50_000) for _ in range(400)]})
    before, after = pa.total_allocated_bytes(), []

    def measured(source: str, target: str) -> list[str]:
        after.append(pa.total_allocated_bytes() - before)
        return UpperCase().carry_out(source, target)

    pq.write_table(table, tmp_path / "a.parquet", use_dictionary=False, write_batch_size=10)  # or it is one page
    through_rows(measured, str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet"), "text")
    assert len(after) > 10
    assert max(after) < table.nbytes / 2


def test_parquet_without_rows(tmp_path: Path) -> None:
    assert _through_parquet(tmp_path, pa.table({"text": pa.array([], pa.string())})).read().num_columns == 2


def test_bad_columns_of_parquet(tmp_path: Path) -> None:
    for name in ("text", "other"):
        table = pa.table([pa.array(["a"])] * 3, names=["text", name, "other"])
        with pytest.raises(ShardError, match=rf"a\.parquet: found several columns named '{name}'"):
            _through_parquet(tmp_path, table)
    with pytest.raises(ShardError, match=r"a\.parquet: found binary in 'text', expected text"):
        _through_parquet(tmp_path, pa.table({"text": [b"a"]}))
    data = [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0\3\0\0\0"), pa.py_buffer(b"a\xff\xfe")]
    with pytest.raises(ShardError, match=r"a\.parquet:2: found text that is not UTF-8"):
        _through_parquet(tmp_path, pa.table({"text": pa.Array.from_buffers(pa.string(), 2, data)}))
    assert {path.name for path in tmp_path.iterdir()} == {"a.parquet"}


def test_damaged_pages_of_parquet(tmp_path: Path) -> None:
    source = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": [str(number) for number in range(2000)]}), source)
    data = source.read_bytes()
    source.write_bytes(data[:200] + b"\xff" * 1000 + data[1200:])
    with pytest.raises(ShardError, match=r"a\.parquet: found a damaged file"):
        through_rows(UpperCase().carry_out, str(source), str(tmp_path / "b.parquet"), "text")
    assert not (tmp_path / "b.parquet").exists()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a b\nc", "a\t_\nb\t_\n\nc\t_"),
        ("a\nb c\nd", "a\t_\n\nb\t_\nc\t_\n\nd\t_"),
        ("a", "a\t_"),
    ],
)
def test_annotation_of_several_lines(tmp_path: Path, text: str, expected: str) -> None:
    assert _annotations(tmp_path, json.dumps({"text": text}), _in_columns) == [expected]


def test_cells_are_cut_as_files_are(tmp_path: Path) -> None:
    """At line breaks alone, and a byte order mark is not text."""
    texts = ["\ufeffa\u2028b\x0bc\x1cd\x85e\r\nf", "\ufeff\ng", "\ufeff", "\n\ufeff"]
    content = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    found = _annotations(tmp_path, content, UpperCase().carry_out)
    assert found == ["A\u2028B\x0bC\x1cD\x85E\nF", "G", "", "\ufeff"]
    assert _annotations(tmp_path, json.dumps({"text": texts[3]}), UpperCase().carry_out) == ["\ufeff"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("b\\u0000", "found a NUL character at character 2"),
        ("c\\rd", "found a carriage return"),
        ("\\ud83d", "found half of a surrogate pair at character 1"),
        ("bad", "found bad, expected good"),
    ],
)
def test_bad_text_is_named_by_its_row(tmp_path: Path, text: str, problem: str) -> None:
    content = f'{{"text": "one\\ntwo"}}\n\n{{"text": "three\\n{text}"}}\n'
    with pytest.raises(ShardError, match=rf"^{tmp_path}/a\.jsonl:3: {problem}"):
        _annotations(tmp_path, content.replace("three\\n\\ud", "\\ud"), UpperCase().carry_out)


def test_notes_name_the_table(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n{"text": "note"}\n')
    notes = through_rows(UpperCase().carry_out, str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl"), "text")
    assert notes == [f"the text of {tmp_path}/a.jsonl is taken for text"]


@pytest.mark.parametrize(
    "before",
    [
        '{"x": 1e400, "y": 0.12345678901234567890123, "z": 1E2, "text": "a"',
        '{"d": 1, "d": 2, "n": NaN,"text":"a" ',
        '{"x": "\\ud83d", "text": "a"',
        '\t{"text": "a", "o": {"k": [{}]}',
        '{"text": "a", "n": ' + "9" * 5000,
    ],
)
def test_other_columns_of_json_lines_stay(tmp_path: Path, before: str) -> None:
    (tmp_path / "a.jsonl").write_text(before + "} \n")
    through_rows(UpperCase().carry_out, str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl"), "text")
    assert list(read_lines(str(tmp_path / "b.jsonl"))) == [before + ', "annotated": "A"} ']


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"words": "a"}', r"a\.jsonl:1: found the columns words, expected 'text' \(`text_column`\)"),
        ('{"text": 1}', "found float in 'text', expected text"),
        ('{"text": "a", "annotated": "b"}', "found a column 'annotated', expected none"),
        ("[1]", "found list, expected an object"),
        ("{}", "found no columns, expected 'text'"),
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
    (tmp_path / "a.parquet").write_bytes(content)
    with pytest.raises(ShardError, match="found a damaged file"):
        through_rows(UpperCase().carry_out, str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet"), "text")


@pytest.mark.parametrize(
    ("output", "problem"),
    [
        ("a\nb\n", r"another number of annotated sentences \(2\) than rows 1 to 2 have \(3\), expected one"),
        ("a\n\nb\n", r"another number of annotated sentences \(2\)"),
        ('{"sentence": 1, "rank": 1, "tokens": []}\n' * 3, r"ranked sequences \(`best`\), expected one"),
    ],
)
def test_annotation_of_other_sentences_is_refused(tmp_path: Path, output: str, problem: str) -> None:
    """Also where it has as many lines as the text by accident."""

    def other(_: str, target: str) -> list[str]:
        Path(target).write_text(output)
        return []

    with pytest.raises(ShardError, match=rf"a\.jsonl: found {problem}"):
        _annotations(tmp_path, '{"text": "a\\nb"}\n{"text": "c"}\n', other)
