"""Segmenters as tokenizers of spaCy: every character of a text is in its document."""

from __future__ import annotations

import shutil
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tagweave.pipelines.spacy import SegmenterTokenizer

spacy = pytest.importorskip("spacy", reason="the extra spacy is not installed")
import_module("tagweave.pipelines.spacy")  # as the entry points do

ODD = [
    "",
    " ",
    "\n",
    "他在看书。\n\n我  看书\u3000。",
    "他\x1c在\u2028看书\r\n。 \u200b",
    " abc他 \t",
    "他\ufeff在\x00看书\x85",
]


def blank(model: Path | str | None) -> Any:
    tokenizer = {"@tokenizers": "tagweave.Segmenter.v1", "model": None if model is None else str(model)}
    return spacy.blank("zh", config={"nlp": {"tokenizer": tokenizer}})


def test_many_texts_are_what_each_is(piped: Path) -> None:
    nlp = blank(piped / "words.model")
    singles = [nlp(text) for text in ODD]
    assert [each.text for each in singles] == ODD
    for size in (1, 3, 100):
        found = nlp.tokenizer.pipe(ODD, batch_size=size)
        assert [[each.text for each in doc] for doc in found] == [[each.text for each in doc] for doc in singles]


def test_a_saved_pipeline_needs_no_other_file(piped: Path, tmp_path: Path) -> None:
    model = Path(shutil.copy(piped / "words.model", tmp_path / "here.model"))
    nlp = blank(model)
    nlp.to_disk(tmp_path / "saved")
    data = nlp.to_bytes()
    model.unlink()
    for again in (spacy.load(tmp_path / "saved"), type(nlp).from_config(nlp.config, meta=nlp.meta).from_bytes(data)):
        assert [each.text for each in again("我在看书")] == [each.text for each in nlp("我在看书")]


def test_in_python(piped: Path) -> None:
    nlp = spacy.blank("xx")
    nlp.tokenizer = SegmenterTokenizer(nlp.vocab, str(piped / "words.model"))
    assert [each.text for each in nlp("我看书")] == ["我", "看书"]


def test_a_model_of_words_cuts_as_it_learned(piped: Path) -> None:
    nlp = blank(piped / "names.model")
    for text, words in (
        ("Ann sang, in\u00a0Graz.", ["Ann", "sang", ",", "in", "\u00a0", "Graz", "."]),
        ("a-b , c", ["a-b", ",", "c"]),
    ):
        assert [each.text for each in nlp(text)] == words and nlp(text).text == text
