"""`tagweave label`: functions as columns, their table, and its report."""

from __future__ import annotations

import csv
import json

import pytest
from model_files import write

from chat_server import chat_server, quotes

RULES = """{"functions": [
    {"name": "places", "type": "lexicon", "file": "places.txt", "label": "LOC"},
    {"name": "titles", "type": "expression", "pattern": "Mr (\\\\w+)", "group": 1, "label": "PER"}
]}"""
PYTHON = "def short(sentence):\n    return ['O' if len(form) < 3 else None for form in sentence.forms]\n"


@pytest.fixture
def files(tmp_path):
    write(tmp_path / "places.txt", ["Graz"])
    write(tmp_path / "rules.json", [RULES])
    write(tmp_path / "mine.py", [PYTHON])
    return write(tmp_path / "text.conll", ["Mr O", "Bell B-PER", "of O", "Graz B-LOC"]).parent


def test_every_function_becomes_a_column(run, files, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    out, report = files / "out.conll", files / "report.csv"
    words = (
        "label",
        files / "text.conll",
        "--functions",
        files / "rules.json",
        "--python",
        f"{files / 'mine.py'}:short",
    )
    told = run(*words, "-o", out, "--report", report)
    assert out.read_text("utf-8") == (
        "# columns = form tag places titles short\n"
        "Mr\tO\t_\t_\tO\nBell\tB-PER\t_\tB-PER\t_\nof\tO\t_\t_\tO\nGraz\tB-LOC\tB-LOC\t_\t_\n\n"
    )
    assert "1 sentences, 3 sources: places, titles, short" in told.stderr
    assert all(cell in told.stdout for cell in ("places", "recall", "2 (50.0 %)", "0.500"))
    rows = list(csv.DictReader(report.read_text("utf-8").splitlines()))
    assert [(row["source"], row["coverage"], row["recall"]) for row in rows] == [
        ("places", "1", "0.5"),
        ("titles", "1", "0.5"),
        ("short", "2", "0.0"),
    ]
    described = json.loads(run("info", out, "--sources", "3:", "--json").stdout)
    assert [*described["sources"]] == ["places", "titles", "short"]


def test_text_without_labels_and_a_report_in_json(run, files):
    write(files / "text.txt", ["Mr Bell of Graz"])
    words = ("label", files / "text.txt", "--functions", files / "rules.json", "-o", "-")
    told = run(*words, "--report", files / "report.json")
    assert told.stdout.startswith("# columns = form places titles\n")
    assert "recall" not in told.stderr
    assert json.loads((files / "report.json").read_text("utf-8"))["sources"]["places"]["labels"] == {"B-LOC": 1}


def test_functions_that_find_nothing(run, files):
    write(files / "text.conll", ["x O"])
    told = run("label", files / "text.conll", "--functions", files / "rules.json", "-o", files / "out.conll")
    assert "no function found anything" in told.stderr
    assert (files / "out.conll").read_text("utf-8").endswith("x\tO\t_\t_\n\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "found no --functions and no --python"),
        (("--functions", "rules.json", "--report", "r.txt"), "expected a name that ends in .csv or .json"),
        (("--functions", "none.json"), "none.json"),
        (("--python", "mine.py"), "found no labelling function"),
        (("--functions", "rules.json", "--functions", "rules.json"), "found the function name 'places' in use"),
        (("--functions", "chat:http://x/v1"), "found chat:http://x/v1 alone, expected --examples with it"),
        (("--functions", "rules.json", "--examples", "text.conll"), "alone, expected --functions chat:URL with it"),
        (("--functions", "chat:x", "--examples", "text.conll"), 'found another "url" than http:// or https://'),
    ],
)
def test_what_is_refused(run, files, monkeypatch, words, message):
    monkeypatch.chdir(files)
    assert message in run("label", "text.conll", *words, "-o", "out.conll", code=2).stderr
    assert not (files / "out.conll").exists()


def test_a_model_is_compared_with_the_layer_that_it_learned(run, tmp_path):
    rows = ["\t".join(row.split()) for row in ("1 the _ DET DT", "2 dog _ NOUN NN")]
    write(tmp_path / "text.conllu", [*(row + "\t_" * 5 for row in rows), ""])
    run("train", f"PTB={tmp_path / 'text.conllu'}#xpos", "--iterations", "5", "-o", tmp_path / "m")
    write(tmp_path / "f.json", ['{"task": "tags", "functions": [{"name": "m", "type": "tagweave", "model": "m"}]}'])
    words = ("label", tmp_path / "text.conllu", "--functions", tmp_path / "f.json", "-o", tmp_path / "out.conll")
    told = run(*words, "--report", tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text())["sources"]["m"]["recall"] == 1
    assert "its layer xpos" in told.stderr


def test_a_chat_model_behind_an_address(run, files, monkeypatch):
    monkeypatch.chdir(files)
    write(files / "checked.col", ["Ann B-PER", "", "Rome B-LOC"])
    with chat_server(lambda text: quotes(("Bell", "PER"), ("Graz", "LOC"))) as server:
        words = ("label", "text.conll", "--functions", f"chat:{server.url}", "--examples", "checked.col")
        assert "a file that is read as the output" in run(*words, "-o", "checked.col", code=2).stderr
        assert "one file for two outputs" in run(*words, "-o", "chat.jsonl", code=2).stderr
        told = run(*words, "-o", "out.conll", "--processes", "2")
        assert [len(body["messages"]) for body in server.bodies] == [6]
    assert "2 quotations, 2 found as they are" in told.stderr
    assert "1 sentences, 1 sources: chat" in told.stderr
    rows = (files / "out.conll").read_text("utf-8").split("\n")
    assert [row.split("\t")[-1] for row in rows[1:5]] == ["_", "B-PER", "_", "B-LOC"]
    assert len((files / "chat.jsonl").read_text("utf-8").splitlines()) == 1
