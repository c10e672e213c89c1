"""What models say over HTTP is what they say in Python."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from clients import Connect

import tagweave as tw
from tagweave.corpus.sentence import Sentence
from tagweave.labels.coding import to_words
from tagweave.streams.characters import raw_evidence


def test_labels_of_tokens(connect: Connect, served_files: Path) -> None:
    words = [["他", "在", "研究", "生命"], [], ["走"]]
    found = connect("ctb").post("/tag", json={"tokens": words, "probabilities": True}).json()
    model = tw.load_model(served_files / "ctb.model")
    assert (found["model"], found["version"], found["guideline"]) == ("ctb", "ctb", "ctb")
    assert [each["tokens"] for each in found["results"]] == words
    assert [each["labels"] for each in found["results"]] == [model.tag(words[0]), [], model.tag(words[2])]
    assert found["results"][0]["sentences"] == [[0, 4]]
    assert "offsets" not in found["results"][0] and "spans" not in found["results"][0]
    for each in (found["results"][0], found["results"][2]):
        table = model.probabilities(each["tokens"])  # type: ignore[attr-defined]
        assert each["probabilities"] == pytest.approx(table.max(axis=1), abs=1e-5)


def test_probabilities_of_all_labels(connect: Connect, served_files: Path) -> None:
    found = connect("ctb").post("/tag", json={"tokens": ["他", "走"], "probabilities": "all"}).json()["results"][0]
    model: Any = tw.load_model(served_files / "ctb.model")
    for shown, row, label in zip(
        found["probabilities"], model.probabilities(["他", "走"]), found["labels"], strict=True
    ):
        assert next(iter(shown)) == label
        assert shown == pytest.approx({name: row[model.labels.index(name)] for name in shown}, abs=1e-5)
        assert sum(shown.values()) == pytest.approx(1, abs=1e-4)


def test_spans_of_texts_by_offsets(connect: Connect, served_files: Path) -> None:
    text = "Ann Bell left Graz.\n\n  Bob lives in West Hill."
    found = connect("ner").post("/tag", json={"texts": ["", text], "probabilities": True}).json()["results"]
    assert (found[0]["tokens"], found[0]["spans"], found[0]["sentences"]) == ([], [], [])
    marked = [(text[each["start"] : each["end"]], each["label"]) for each in found[1]["spans"]]
    assert marked == [("Ann Bell", "PER"), ("Graz", "LOC"), ("Bob", "PER"), ("West Hill", "LOC")]
    assert [" ".join(found[1]["tokens"][each["first"] : each["last"]]) for each in found[1]["spans"]] == [
        name for name, _ in marked
    ]
    assert found[1]["sentences"] == [[0, 5], [5, 11]]
    assert [text[a:b] for a, b in found[1]["offsets"]] == found[1]["tokens"]
    model: Any = tw.load_model(served_files / "ner.model")
    known = next(model.under().spans([Sentence(tuple(found[1]["tokens"][:5]))], 1e-6))
    exact = {(each.start, each.stop, each.label): each.probability for each in known}
    assert [each["probability"] for each in found[1]["spans"][:2]] == pytest.approx(
        [exact[0, 2, "PER"], exact[3, 4, "LOC"]], abs=1e-5
    )


def test_words_of_texts(connect: Connect, served_files: Path) -> None:
    texts = ["他在 University 研究生命。\r\n走了", " \n", "😀研究"]
    found = connect("seg").post("/segment", json={"texts": texts}).json()["results"]
    model = tw.load_model(served_files / "seg.model")
    assert [each["tokens"] for each in found] == [model.cut(text) for text in texts]
    for text, each in zip(texts, found, strict=True):
        assert [text[a:b] for a, b in each["offsets"]] == each["tokens"]
    more = connect("seg").post("/segment", json={"texts": texts, "probabilities": True}).json()["results"]
    assert [each["tokens"] for each in more] == [each["tokens"] for each in found]
    numbers = [number for each in more for number in each["probabilities"]]
    assert len(numbers) == sum(len(each["tokens"]) for each in found) and all(0 < number <= 1 for number in numbers)


def test_tags_of_a_segmenter(connect: Connect, served_files: Path) -> None:
    found = connect("segtag").post("/tag", json={"text": "他在研究。", "probabilities": True}).json()["results"][0]
    tagged = tw.load_model(served_files / "segtag.model").tag("他在研究。")
    assert " ".join(map("/".join, zip(found["tokens"], found["labels"], strict=True))) == tagged
    assert len(found["probabilities"]) == len(found["tokens"])


def test_a_segmenter_cuts_texts_for_taggers(connect: Connect) -> None:
    client = connect("ctb", "seg")
    words = client.post("/segment", json={"text": "他在研究生命"}).json()["results"][0]["tokens"]
    assert client.post("/tag", json={"text": "他在研究生命"}).json()["results"][0]["tokens"] == words
    assert client.get("/health").json()["models"][0]["tokens"] == "seg"
    other = connect("ctb", "seg", tokens="characters")
    assert other.post("/tag", json={"text": "他 在"}).json()["results"][0]["offsets"] == [[0, 1], [2, 3]]


def test_trees_of_tokens(connect: Connect, served_files: Path) -> None:
    asked = {"tokens": ["She", "sees", "Ann"], "columns": {"upos": ["NN", "VB", "NN"], "xpos": ["NN", "VB", None]}}
    found = connect("dep").post("/parse", json={**asked, "probabilities": True}).json()
    tree = found["results"][0]
    model: Any = tw.load_model(served_files / "dep.model")
    layers = {name: tuple(value and (value,) for value in values) for name, values in asked["columns"].items()}  # type: ignore[attr-defined]
    [layer] = model.parse(Sentence(tuple(asked["tokens"]), layers)).heads.values()
    assert tree["heads"] == [arc.head - 1 if arc.head else None for (arc,) in layer]
    assert tree["relations"] == [arc.relation for (arc,) in layer]
    assert tree["columns"] == asked["columns"]
    assert all(0 < number <= 1 for number in tree["probabilities"])
    assert "missing" not in found or "upos" not in found["missing"]


def test_trees_of_texts_have_tags_of_a_tagger(connect: Connect) -> None:
    text = "Ann sleeps\nShe sees Bob"
    alone, tagged = (
        connect(*names).post("/parse", json={"text": text}).json() for names in (("dep",), ("upos", "dep"))
    )
    assert {"upos", "xpos"} <= {*alone["missing"]}
    assert "columns" not in alone["results"][0]
    assert "upos" not in tagged["missing"]
    assert tagged["results"][0]["columns"]["upos"] == ["NN", "VB", "NN", "VB", "NN"]
    assert tagged["results"][0]["heads"] == [1, None, 3, None, 3]  # of the second line behind those of the first


def test_the_model_that_is_named(connect: Connect) -> None:
    client = connect("ctb", "ner", "segtag")
    found = [client.post("/tag", json={"text": "Ann", "model": name}).json() for name in (None, "ner", "segtag")]
    assert [each["model"] for each in found] == ["ctb", "ner", "segtag"]


def test_probabilities_of_words_are_sums_over_what_the_blanks_allow(connect: Connect, served_files: Path) -> None:
    text = "他在 研究a"
    found = connect("seg").post("/segment", json={"text": text, "probabilities": True}).json()["results"][0]
    tagger = tw.load_model(served_files / "seg.model").under()
    evidence = raw_evidence(tagger, [Sentence(tuple(text))])
    [characters], layer = evidence.sentences, evidence.guideline
    ranked = tagger.k_best(characters, 10_000, layer)
    assert sum(each.probability for each in ranked) == pytest.approx(1, abs=1e-6)
    for word, start, number in zip(found["tokens"], _starts(found["tokens"]), found["probabilities"], strict=True):
        with_it = [each for each in ranked if (word, start) in _words(characters.forms, each.labels)]
        assert number == pytest.approx(sum(each.probability for each in with_it), abs=1e-5)


def _starts(words: Sequence[str]) -> list[int]:
    return [sum(map(len, words[:at])) for at in range(len(words))]


def _words(characters: Sequence[str], labels: Sequence[str]) -> set[tuple[str, int]]:
    words, _ = to_words(tuple(characters), list(labels))
    return set(zip(words, _starts(words), strict=True))
