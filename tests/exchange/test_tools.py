"""What each annotation tool writes is read, and what is written for it is what it reads."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tagweave as tw
from tagweave.corpus.spans import Span
from tagweave.errors import CorpusError, ExchangeError
from tagweave.exchange import TOOL_NAMES, members
from tagweave.exchange.document import Document, Mark
from tagweave.exchange.exports import NAMES, TOOLS, tool
from tagweave.exchange.load import check_tool, recognized
from tagweave.exchange.sentences import Misalignment

TEXT = "Ann left Graz.\nBob stays."
MARKS = (Mark(0, 3, "PER"), Mark(9, 13, "LOC"), Mark(15, 18, "PER"))


def read(name: str, path: Path, content: str) -> list[Document]:
    path.write_text(content, "utf-8")
    return list(tool(name).read(str(path)))


def test_the_help_of_commands_names_every_tool() -> None:
    assert TOOL_NAMES == NAMES


@pytest.mark.timeout(5)
def test_braces_that_begin_no_object_are_looked_at_once(tmp_path: Path) -> None:
    path = tmp_path / "braces.jsonl"
    path.write_text("{\n" * 400_000)
    assert recognized(str(path)) is None
    path.write_text('{"text": "Ann le\n{"text": "Ann left", "spans": [["Ann", "PER"]]}\n')
    assert recognized(str(path)) == "answers"


def test_doccano(tmp_path: Path) -> None:
    spans = [[each.start, each.stop, each.label] for each in MARKS]
    relational = [{"id": 1, "label": a.label, "start_offset": a.start, "end_offset": a.stop} for a in MARKS]
    forms = ({"label": spans}, {"labels": spans}, {"entities": relational, "relations": []})
    lines = "\n".join(json.dumps({"id": 7, "text": TEXT, **form}) for form in forms)
    found = read("doccano", tmp_path / "ann.jsonl", lines)
    assert [(each.text, each.marks, each.name) for each in found] == [(TEXT, {"ann": MARKS}, "7")] * 3
    assert [each.location.line for each in found] == [1, 2, 3]


def test_prodigy(tmp_path: Path) -> None:
    spans = [{"start": each.start, "end": each.stop, "label": each.label} for each in MARKS]
    tokens = [{"text": "Ann", "start": 0, "end": 3, "id": 0}, {"text": "left", "start": 4, "end": 8, "id": 1}]
    tasks = [
        {"text": TEXT, "spans": spans, "answer": "accept", "_annotator_id": "ann", "tokens": tokens},
        {"text": TEXT, "spans": spans, "answer": "reject", "_session_id": "bob"},
        {"text": TEXT, "spans": spans, "answer": "ignore"},
        {"text": TEXT},
    ]
    found = read("prodigy", tmp_path / "a.jsonl", "\n".join(map(json.dumps, tasks)))
    assert [each.marks for each in found] == [{"ann": MARKS}, {"bob": None}, {"annotator": ()}]
    assert found[0].tokens == ((0, 3), (4, 8)) and found[1].tokens is None
    assert found[1].left_out == {"rejected answers with several spans": 1}


def test_probabilities_of_prodigy_are_of_spans(tmp_path: Path) -> None:
    """A task says it of all its spans; that of a text without any, or of a rejected span, has no place."""
    span = {"start": 0, "end": 3, "label": "PER"}
    tasks = [
        {"text": TEXT, "spans": [{**span, "probability": 0.75}], "answer": "accept"},
        {"text": TEXT, "spans": [span, {**span, "probability": 1}], "answer": "accept", "probability": 0.5},
        {"text": TEXT, "spans": [span], "answer": "reject", "probability": 0.5},
        {"text": TEXT, "spans": [], "answer": "accept", "probability": 0.5},
    ]
    found = read("prodigy", tmp_path / "a.jsonl", "\n".join(map(json.dumps, tasks)))
    marks = [[mark.probability for own in each.marks.values() for mark in own or ()] for each in found]
    assert marks == [[0.75], [0.5, 1], [1], []]
    lost = {"probabilities of rejected spans, or of texts without spans": 1}
    assert [each.left_out for each in found] == [{}, {}, lost, lost]


@pytest.mark.parametrize("misaligned", ["widen", "unknown"])
def test_a_rejected_span_of_prodigy_says_nothing_of_the_rest(tmp_path: Path, misaligned: Misalignment) -> None:
    """One within a token is no span of tokens anyway, and a wider one may be right."""
    places = ((0, 8, "PER"), (9, 13, "LOC"), (10, 13, "LOC"))
    answers = [{"spans": [{"start": a, "end": b, "label": kind}], "answer": "reject"} for a, b, kind in places]
    tasks = [
        {"text": "Ann left Graz.", **answer, "_annotator_id": name} for answer, name in zip(answers, "aba", strict=True)
    ]
    file, again, told = tmp_path / "a.jsonl", tmp_path / "b.jsonl", list[str]()
    file.write_text("\n".join(map(json.dumps, tasks)), "utf-8")
    corpus = tw.read_documents("prodigy", file, misaligned=misaligned, tell=told.append)
    assert [each.rejected for each in corpus] == [{"a": (Span(0, 2, "PER"),), "b": (Span(2, 3, "LOC"),)}, {}]
    assert not any(any(layer) for each in corpus for layer in each.layers.values())
    tw.write_documents("prodigy", corpus, again, ["a", "b"])
    assert [each.marks for each in read("prodigy", again, again.read_text("utf-8"))] == [
        {"annotator": (Mark(0, 8, "PER", rejected=True),)},
        {"annotator": (Mark(9, 13, "LOC", rejected=True),)},
        {"annotator": ()},
    ]
    for name in sorted({*NAMES} - {"prodigy", "spacy", "datasets", "docbin"} & {*TOOLS}):
        with pytest.raises(CorpusError, match=f":1: found rejected spans, expected none: {name} has no place"):
            tw.write_documents(name, corpus, tmp_path / "c", ["a", "b"])
    of_tags = tw.read_documents("prodigy", file, misaligned=misaligned, task="tags", tell=told.append)
    assert not any(each.rejected for each in of_tags)
    assert any("not kept: 2 rejected labels of tokens" in line for line in told)


def test_label_studio(tmp_path: Path) -> None:
    def result(mark: Mark, **more: object) -> dict[str, object]:
        value = {"start": mark.start, "end": mark.stop, "text": TEXT[mark.start : mark.stop], "labels": [mark.label]}
        return {"from_name": "ner", "to_name": "body", "type": "labels", "value": value, **more}

    choice = {"from_name": "mood", "to_name": "body", "type": "choices", "value": {"choices": ["good"]}}
    task = {
        "id": 7,
        "data": {"body": TEXT, "number": 3},
        "annotations": [
            {"completed_by": 1, "result": [*(result(mark, score=0.5) for mark in MARKS), choice]},
            {"completed_by": {"id": 2, "email": "bob@there"}, "result": []},
            {"completed_by": 3, "was_cancelled": True, "result": [result(MARKS[0])]},
        ],
        "predictions": [{"model_version": "m1", "result": [result(MARKS[0], score=0.75)]}],
    }
    (found,) = read("label-studio", tmp_path / "a.json", json.dumps([task]))
    assert found.marks == {"annotator1": MARKS, "bob@there": (), "m1": (Mark(0, 3, "PER", 0.75),)}
    assert (found.text, found.name) == (TEXT, "7")


def test_predictions_that_label_studio_only_numbers(tmp_path: Path) -> None:
    """Its usual export has numbers of predictions; only those that somebody began with are there, in the annotation."""
    mark = {"type": "labels", "score": 0.75, "value": {"start": 0, "end": 3, "labels": ["PER"]}}
    first = {"id": 4, "model_version": "m1", "result": [mark]}
    annotation = {"completed_by": 1, "result": [mark], "prediction": first}
    task = {"data": {"text": TEXT}, "annotations": [annotation], "predictions": [4, 5]}
    (found,) = read("label-studio", tmp_path / "a.json", json.dumps([task]))
    assert found.marks == {"annotator1": MARKS[:1], "m1": (Mark(0, 3, "PER", 0.75),)}
    assert found.left_out == {"predictions without content": 1}


def test_offsets_of_label_studio_are_those_of_the_marked_text(tmp_path: Path) -> None:
    """Versions before 2022 count UTF-16 units; line breaks are written out in the marked text."""
    text = "\U0001f600 Ann\nleft"

    def task(start: int, end: int, marked: str) -> str:
        value = {"start": start, "end": end, "text": marked, "labels": ["X"]}
        return json.dumps([{"data": {"text": text}, "annotations": [{"result": [{"type": "labels", "value": value}]}]}])

    for content, mark in ((task(2, 5, "Ann"), Mark(2, 5, "X")), (task(3, 6, "Ann"), Mark(2, 5, "X"))):
        (found,) = read("label-studio", tmp_path / "a.json", content)
        assert found.marks == {"annotator1": (mark,)}
    (found,) = read("label-studio", tmp_path / "a.json", task(2, 10, "Ann\\nleft"))
    assert found.marks == {"annotator1": (Mark(2, 10, "X"),)}
    with pytest.raises(CorpusError, match=r"a\.json:1: found 'Bob' marked from 2 to 5, expected 'Ann', the text there"):
        read("label-studio", tmp_path / "a.json", task(2, 5, "Bob"))


def rewritten(name: str, path: Path, documents: list[Document]) -> list[Document]:
    binary = tool(name).binary
    with path.open("wb" if binary else "w", encoding=None if binary else "utf-8") as stream:
        tool(name).write(documents, stream)
    return list(tool(name).read(str(path)))


SPANS = st.lists(st.tuples(st.integers(0, 20), st.integers(1, 4), st.sampled_from(["PER", "LOC"])), max_size=4)


@pytest.mark.parametrize("name", TOOLS)
@given(text=st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=24, max_size=40), spans=SPANS)
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, name: str, text: str, spans: list) -> None:
    """Characters beyond the first plane count as one."""
    marks = tuple(Mark(start, start + length, label) for start, length, label in spans)
    path = tmp_path_factory.getbasetemp() / f"written{tool(name).extension}"
    found = rewritten(name, path, [Document(text, {"x": marks}), Document("y", {"x": ()})])
    assert [(each.text, *map(sorted, each.marks.values())) for each in found] == [(text, sorted(marks)), ("y", [])]


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("doccano", "{", "a.json:1: found no JSON"),
        ("doccano", "[]", "a.json:1: found [], expected an object"),
        ("doccano", '{"label": []}', "found no 'text', expected \"text\", a text"),
        ("doccano", '{"text": "a"}', "found no 'label', expected \"label\", a list"),
        ("doccano", '{"text": "a", "label": [[0, "x"]]}', 'expected spans [start, end, "LABEL"]'),
        ("doccano", '{"text": "a", "label": [[0, 2, "X"]]}', "found a span from 0 to 2, expected characters of the"),
        ("doccano", '{"text": "a", "label": [[0, 1, ""]]}', "found a span from 0 to 1 without a label"),
        ("doccano", '{"text": "a", "label": [[true, 1, "X"]]}', "found the label [true"),
        ("prodigy", '{"text": "a", "answer": "perhaps"}', 'found the answer "perhaps", expected one of accept'),
        ("prodigy", '{"text": "a", "spans": [{"start": "0"}]}', 'found start "0", expected "start", a whole number'),
        ("label-studio", "{}", "found {}, expected a list of objects"),
        ("label-studio", '[{"data": {"a": "x", "b": "y"}}]', "found no 'text'"),
        ("label-studio", "[" * 100_000, "found no JSON"),
    ],
)
def test_mistakes_are_named_with_their_place(tmp_path: Path, name: str, content: str, told: str) -> None:
    with pytest.raises(CorpusError) as error:
        read(name, tmp_path / "a.json", content)
    assert told in str(error.value) and str(error.value).startswith(str(tmp_path / "a.json"))


def test_a_pipe_has_no_size_to_be_in_proportion_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(members, "UNPACKED", 10)
    tasks = b'[{"id": 1, "data": {"text": "a"}}]'
    with pytest.raises(CorpusError, match=r"a.json: found more than [\d,]+ bytes in \d+ on disk"):
        (tmp_path / "a.json").write_bytes(gzip.compress(b"[" + b" " * 100_000 + b"]"))
        tw.read_documents("label-studio", tmp_path / "a.json")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(tasks)))
    assert len(tw.read_documents("label-studio", "-")) == 1


OF_TOOLS = {
    "doccano": '{"id": 1, "text": "a", "label": []}\n',
    "label-studio": json.dumps([{"id": 1, "data": {"text": "a"}, "annotations": []}], indent=2),
    "prodigy": '{"text": "a", "spans": [], "answer": "accept"}\n',
    "datasets": '{"tokens": ["a"], "tags": ["X"]}\n',
}


@pytest.mark.parametrize("found", OF_TOOLS)
@pytest.mark.parametrize("packed", [False, True])
def test_a_file_of_another_tool_names_its_command(tmp_path: Path, found: str, packed: bool) -> None:
    """Nothing is read of it: Prodigy's reader would find texts without spans in doccano's export."""
    file = tmp_path / "a.txt"
    data = OF_TOOLS[found].encode()
    file.write_bytes(gzip.compress(data) if packed else b"\xef\xbb\xbf" + data)
    for name in NAMES:
        if name == found:
            check_tool(name, str(file))
        else:
            with pytest.raises(ExchangeError, match=f"a file of {found}, expected one of {name}: .* import {found}"):
                tw.read_documents(name, file)


def test_folders_and_zips_of_another_tool(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "a.ann").write_text("")
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as zipped:
        zipped.writestr("a.txt", "")
        zipped.writestr("a.ann", "")
    (tmp_path / "broken.zip").write_bytes((tmp_path / "x.zip").read_bytes()[:-5])
    (tmp_path / "none.jsonl").write_text("{")
    found = {each.name: recognized(str(each)) for each in tmp_path.iterdir()}
    assert found == {"x": "brat", "x.zip": "brat", "broken.zip": None, "none.jsonl": None}
