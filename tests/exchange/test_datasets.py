"""Rows of Hugging Face datasets in JSON, with the description that datasets 5 writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tagweave as tw
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Arc, Sentence
from tagweave.errors import CorpusError, ExchangeError

NAMES = ["O", "B-PER", "I-PER"]
ROWS = [
    {"id": "7", "tokens": ["Ann", "Bell", "left"], "ner_tags": [1, -100, 0], "pos": ["N", "N", None]},
    {"id": "8", "tokens": ["Bob"], "ner_tags": [-1], "pos": ["_"]},
    {"id": "9", "tokens": [], "ner_tags": [], "pos": []},
]
FEATURES = {"ner_tags": {"feature": {"names": NAMES, "_type": "ClassLabel"}, "_type": "List"}, "pos": {"_type": "List"}}


def file(folder: Path, name: str, rows: list[dict[str, Any]] | None = None) -> Path:
    path, rows = folder / name, ROWS if rows is None else rows
    path.write_text(json.dumps(rows) if path.suffix == ".json" else "\n".join(map(json.dumps, rows)), "utf-8")
    return path


@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_labels_by_their_names(tmp_path: Path, name: str) -> None:
    (tmp_path / "dataset_info.json").write_text(json.dumps({"features": FEATURES}))
    first, second = tw.read_documents("datasets", file(tmp_path, name))
    assert first.layers == {"ner_tags": (("B-PER",), None, ("O",)), "pos": (("N",), ("N",), None)}
    assert second.layers == {"ner_tags": (None,), "pos": (None,)} and first.comments == ("# id = 7",)


def test_numbers_without_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r":1: found 1 in ner_tags, expected texts, or their names in dataset_info"):
        tw.read_documents("datasets", file(tmp_path, "a.jsonl"))


def test_treebanks(tmp_path: Path) -> None:
    row = {
        "tokens": ["Ann", "left"],
        "lemmas": ["Ann", None],
        "upos": ["PROPN", "VERB"],
        "head": ["2", "None"],
        "deprel": ["nsubj", "_"],
        "vectors": [[1.0], [2.0]],
        "text": "Ann\nleft",
    }
    told: list[str] = []
    (found,) = tw.read_documents("datasets", file(tmp_path, "a.jsonl", [row]), tell=told.append)
    assert found.heads == {"head": ((Arc(2, "nsubj"),), None)} and found.columns == {"lemma": ("Ann", "_")}
    assert list(found.layers) == ["upos"] and told == ["not kept: 1 values of vectors"]
    assert found.comments == ("# text = Ann left",)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    heads = {"head": ((Arc(2, "x"),), (Arc(0, "root"),), None)}
    given = Sentence(("a", "b", "c"), {"ne": (("B-X",), None, ("O",)), "pos": (("N",), ("V",), None)}, heads=heads)
    path = tmp_path / "a.jsonl"
    assert tw.write_documents("datasets", Corpus((given,), "ne"), path) == 1
    (found,) = tw.read_documents("datasets", path)
    assert (found.forms, found.layers, found.heads) == (given.forms, given.layers, given.heads)
    tw.write_documents("datasets", Corpus((given,), "ne"), path, ["pos"])
    assert list(tw.read_documents("datasets", path)[0].layers) == ["pos"]


def test_what_it_cannot_hold(tmp_path: Path) -> None:
    corpus = Corpus((Sentence(("a",), {"ne": (("X", "Y"),)}),), "ne")
    with pytest.raises(CorpusError, match="found the candidates X Y, expected one label or none, as datasets has them"):
        tw.write_documents("datasets", corpus, tmp_path / "a.jsonl")
    with pytest.raises(ExchangeError, match=r"found the file name .*a.csv', expected one that ends in .jsonl"):
        tw.write_documents("datasets", corpus, tmp_path / "a.csv")
    with pytest.raises(CorpusError, match="found no layer 'x', expected one of ne"):
        tw.write_documents("datasets", corpus, tmp_path / "a.jsonl", ["x"])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"text": "a"}, ":1: found the columns text, expected a column tokens"),
        ({"tokens": "a"}, ":1: found the tokens 'a', expected a list of texts"),
        ({"tokens": ["a", ""]}, ":1: found the tokens .*, expected a list of texts, none of them empty"),
        ({"tokens": ["a"], "ner_tags": [1, 1]}, ":1: found 2 values of ner_tags, expected 1, one a token"),
        ({"tokens": ["a"], "ner_tags": [3]}, ":1: found the label 3 of ner_tags, expected 0 to 2, or -100"),
        ({"tokens": ["a"], "head": ["7"]}, ":1: found the head '7' of token 1, expected 0 or another token, 1 to 1"),
        ({"tokens": ["a"], "head": ["0", "1"]}, ":1: found heads or relations of another number, expected 1"),
    ],
)
def test_mistakes_are_named_with_their_row(tmp_path: Path, row: dict[str, Any], told: str) -> None:
    (tmp_path / "dataset_info.json").write_text(json.dumps({"features": FEATURES}))
    with pytest.raises(CorpusError, match=told):
        tw.read_documents("datasets", file(tmp_path, "a.jsonl", [row]))
