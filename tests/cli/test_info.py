"""`tagweave info`: corpora and models in numbers."""

from __future__ import annotations

import json

from model_files import write

from tagweave.corpus.files import digest
from tagweave.models.storage import load_model


def test_a_corpus(run, tmp_path):
    file = write(tmp_path / "t", ["a/N b/N|V c", "d/V e/V"])
    told = json.loads(run("info", file, "--json").stdout)
    assert told == {
        "file": str(file),
        "kind": "corpus",
        "guideline": "tag",
        "unit": "word",
        "covered": None,
        "sentences": 2,
        "tokens": 5,
        "forms": 5,
        "layers": {
            "tag": {"full": 3, "ambiguous": 1, "unknown": 1, "labels": {"V": 2, "N": 1}, "candidates": {"N": 1, "V": 1}}
        },
        "heads": {},
        "reading": f"{file} is read as words with labels, which 4 of its first 5 words have, layer tag; first row: "
        "form=a tag=N",
        "warnings": [],
    }
    shown = run("info", file).stdout
    assert "corpus of words, 2 sentences, 5 tokens, 5 forms" in " ".join(shown.split())
    for cell in ("3 (60.0 %)", "1 (20.0 %)", "V 2 N 1"):
        assert cell in shown


def test_a_layer_of_spans(run, tmp_path):
    rows = ["Ann\tI-PER", "Bell\tI-PER", "in\tO", "Graz\tI-LOC", "", "Graz\tI-LOC", "Porto\tB-LOC", "is\tO", "far\tO"]
    file = write(tmp_path / "iob1.conll", rows)
    assert "tag: 4 spans: LOC 3 PER 1; 62.5 % of the tokens are inside spans" in run("info", file).stdout
    rows = ["# rejected = tag 2-3 LOC", "Ann\tB-PER", "in\t_", "Graz\tB-LOC|B-PER"]
    partial = write(tmp_path / "partial.conll", rows)
    assert run("info", partial).stdout.endswith("tag: 1 spans: PER 1\n  tag: 1 rejected spans\n")
    told = json.loads(run("info", partial, "--json").stdout)["layers"]["tag"]
    assert (told["spans"], told["rejected"]) == ({"PER": 1}, 1)


def test_sources(run, tmp_path):
    file = write(tmp_path / "t.conll", ["Ann B-PER B-PER B-ORG", "ran O _ O"])
    described = json.loads(run("info", file, "--sources", "2:", "--json").stdout)
    assert described["tokens"] == 2
    assert described["all"]["conflict"] == 1
    found = described["sources"]["column3"]
    assert [found[key] for key in ("coverage", "overlap", "conflict", "labels")] == [1, 1, 1, {"B-PER": 1}]
    assert described["labels"]["B-PER"]["sources"] == {"column2": 1, "column3": 1}
    shown = run("info", file, "--sources", "2:").stdout
    assert "3 sources on a corpus of words, 1 sentences, 2 tokens" in shown
    assert all(cell in shown for cell in ("2 (100.0 %)", "B-PER 1", "column3 1"))
    assert "no column 'bob'" in run("info", file, "--sources", "bob", code=2).stderr


def test_labels_are_no_markup(run, tmp_path):
    assert "[b] 2" in run("info", write(tmp_path / "t", ["a/[b] b/[b]"])).stdout


def test_characters_and_files_without_annotation(run, tmp_path):
    assert "corpus of characters" in run("info", write(tmp_path / "p.kytea", ["a|b c"])).stdout
    assert "nothing is annotated but the words" in run("info", write(tmp_path / "t.seg", ["a b"])).stdout


def test_a_format_and_several_files(run, tmp_path):
    one, two = write(tmp_path / "one", ["a_N b c d e f g h i j k l m"]), write(tmp_path / "two", ["b_V"])
    lines = run("info", one, two, "--format", "tagged-underscore", "--json").stdout.splitlines()
    assert [json.loads(line)["layers"]["tag"]["full"] for line in lines] == [1, 1]


def test_a_model(run, tagger, corpora):
    told = json.loads(run("info", tagger, "--json").stdout)
    assert told["kind"] == "model" and told["task"] == "tag" and told["coding"] == ""
    assert told["labels"] == {"ctb": list(load_model(tagger).space.names)}
    assert told["about"]["plan"]["target"][0]["sha256"] == digest(str(corpora / "train.txt"))
    assert told["bytes"] == tagger.stat().st_size
    shown = " ".join(run("info", tagger).stdout.split())
    assert f"{len(told['labels']['ctb'])} labels of ctb" in shown
    assert "4 iterations, learner adagrad" in shown
    assert digest(str(corpora / "train.txt"))[:12] in shown


def test_a_model_of_characters(run, segmenter):
    assert "task segment (BMES)" in " ".join(run("info", segmenter).stdout.split())
