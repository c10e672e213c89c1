"""`precision` and `recall` in files, in Python and over HTTP: what is not sure stays unknown, or becomes a set."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import tagweave as tw
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Arc, Sentence
from tagweave.errors import StreamError
from tagweave.front.card import model_card
from tagweave.front.description import describe_model, model_lines
from tagweave.serve.app import application
from tagweave.serve.settings import ServerSettings
from treebank import treebank

LABELS: dict[str, Callable[[str, bool], str]] = {
    "tag": lambda word, heads: "N" if word == "a" or (word == "x" and heads) else "V",
    "spans": lambda word, heads: "B-P" if word == "a" or (word == "x" and heads) else "O",
}


def drawn(task: str, seed: int, count: int = 150) -> Corpus:
    """Words a and b, whose labels are sure, and x, which has those of either, by chance."""
    draw = random.Random(seed)
    words = [draw.choices("aabbx", k=6) for _ in range(count)]
    rows: Any = [(row, [LABELS[task](word, draw.random() < 0.5) for word in row]) for row in words]
    return Corpus(rows)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A tagger of tags and one of spans, from files."""
    folder = tmp_path_factory.mktemp("models")
    for task in LABELS:
        tw.train(drawn(task, 0), dev=drawn(task, 1), task=task, iterations=5, span_confidence=1.0).save(folder / task)
    return {task: tw.load_model(folder / task) for task in LABELS}


def test_only_what_is_sure_is_said_or_all_that_might_be(models: dict[str, Any], tmp_path: Path) -> None:
    tags, spans = models["tag"], models["spans"]
    words = ["a", "x", "b", "a"]
    assert tags.tag(words, precision=0.95) == ["N", None, "V", "N"]
    first, sets, *rest = tags.tag(words, recall=0.95)
    assert [first, *rest] == ["N", "V", "N"] and sets in ("N|V", "V|N")
    assert spans.tag(words, precision=0.95) == ["B-P", None, "O", "B-P"]
    assert spans.tag(words, recall=0.95)[1] in ("B-P|O", "O|B-P")
    assert [(span.first, span.label) for span in spans.spans(words, precision=0.95)] == [(0, "P"), (3, "P")]
    assert [span.first for span in spans.spans(words, recall=0.95)] == [0, 1, 3]
    assert tags.tag("a x b", precision=0.95) == "a/N x b/V"
    corpus = tags.tag(Corpus((Sentence(tuple(words)),)), recall=0.95)
    assert sorted(corpus[0].layers["tag"][1]) == ["N", "V"]
    text = tmp_path / "text.txt"
    text.write_text("a x x/V b\n", encoding="utf-8")
    for options, line in (({"precision": 0.95}, "a/N x x/V b/V"), ({"precision": 0.93}, "a/N x x/V b/V")):
        tags.label_file(text, tmp_path / "out.txt", **options)
        assert (tmp_path / "out.txt").read_text(encoding="utf-8") == f"{line}\n", "and what is known stays"
    tags.label_file(text, tmp_path / "out.col", recall=0.95, output_format="columns")
    rows = [row.split() for row in (tmp_path / "out.col").read_text(encoding="utf-8").splitlines() if row]
    assert [row[0] for row in rows] == ["a", "x", "x", "b"] and "|" in rows[1][1] and rows[2][1] == "V"


def test_the_promise_holds_in_new_text(models: dict[str, Any]) -> None:
    for task, model in models.items():
        new = drawn(task, 2)
        text = [list(sentence.forms) for sentence in new]
        right = [labels[0] for sentence in new for labels in sentence.layers["tag"] if labels]
        for level in (0.9, 0.95):
            said = [label for labels in model.tag(text, precision=level) for label in labels]
            pairs = [(one, other) for one, other in zip(said, right, strict=True) if one is not None]
            assert sum(one == other for one, other in pairs) / len(pairs) >= level
            assert len(pairs) > 0.75 * len(right)
            wide = [label for labels in model.tag(text, recall=level) for label in labels]
            assert sum(one in other.split("|") for one, other in zip(right, wide, strict=True)) / len(right) >= level


def test_levels_and_what_they_cost_are_told(models: dict[str, Any]) -> None:
    card = model_card(models["spans"].name)
    assert "150 sentences of development data" in card and "| recall | 0.99 |" in card
    lines = [*model_lines(describe_model(models["tag"].name))]
    assert [line for line in lines if "tokens that are said at a precision of 0.8: 100 %" in line]
    assert [line for line in lines if "tokens that are said for one right one at a recall of 0.8: 1.00" in line]
    told: list[str] = []
    rows = [{"level": 0.9, "least": {"P": 0.5, "Q": None, "O": None}, "said": 1.0}]
    trained = models["spans"].trained
    about = {"selective": {**trained.about["selective"], "precision": rows}}
    few = replace(models["spans"], trained=replace(trained, about=about), tell=told.append)
    for _ in range(2):
        assert few.tag(["a", "b"], precision=0.9) == ["B-P", None]
    assert told == ["development data promise no precision of 0.9 for O, Q, which stay unknown"]


def test_a_server_says_so_too(models: dict[str, Any]) -> None:
    paths = tuple((task, str(model.name)) for task, model in models.items())
    with TestClient(application(ServerSettings(paths))) as client:

        def answer(**asked: Any) -> Any:
            return client.post("/tag", json={"tokens": ["a", "x", "b"], **asked}).json()

        assert answer(precision=0.95)["results"][0]["labels"] == ["N", None, "V"]
        sure = answer(precision=0.95, model="spans", probabilities=True)["results"][0]
        assert [span["first"] for span in sure["spans"]] == [0] and sure["labels"] == ["B-P", None, "O"]
        assert sure["probabilities"][1] is None and sure["probabilities"][0] > 0.9
        assert answer(recall=0.95)["results"][0]["labels"][1] in ("N|V", "V|N")
        assert "at most" in answer(precision=0.999)["error"]
        assert "one of them" in answer(precision=0.9, recall=0.9)["error"]


def test_words_stay_unknown_in_files_of_boundaries(tmp_path: Path) -> None:
    """Two characters, 甲 always a word, 乙丙 one word or two, by chance."""
    draw = random.Random(0)

    def text(count: int) -> Corpus:
        def words() -> list[str]:
            drawn = draw.choices(["甲", "乙丙"], k=8)
            return [part for word in drawn for part in (list(word) if draw.random() < 0.5 else [word])]

        return Corpus(tuple(Sentence(tuple(words())) for _ in range(count)))

    model: Any = tw.train(text(150), dev=text(150), task="segment", iterations=5)
    raw = tmp_path / "text.raw"
    raw.write_text("甲甲乙丙甲\n", encoding="utf-8")
    model.label_file(raw, tmp_path / "out.kytea", precision=0.95)
    assert (tmp_path / "out.kytea").read_text(encoding="utf-8") == "甲|甲|乙 丙|甲\n"
    with pytest.raises(StreamError, match="kytea"):
        model.label_file(raw, tmp_path / "out.seg", precision=0.95)
    with pytest.raises(StreamError, match="says words, expected `precision`"):
        model.label_file(raw, tmp_path / "out.kytea", recall=0.95)


def test_heads_stay_unknown(tmp_path: Path) -> None:
    """A head that is said is that of the whole tree; heads of determiners, which are drawn, are not."""
    draw = random.Random(0)

    def trees(seed: int, count: int) -> Corpus:
        """Trees in which every second determiner, by chance, depends on the verb."""
        sentences = []
        for each in treebank(count, seed):
            verb = each.layers["upos"].index(("V",)) + 1
            pairs = zip(each.heads["head"], each.layers["upos"], strict=True)
            heads = [(Arc(verb, "det"),) if tag == ("D",) and draw.random() < 0.5 else arcs for arcs, tag in pairs]
            sentences.append(replace(each, heads={"head": tuple(heads)}))
        return Corpus(tuple(sentences), "head")

    model: Any = tw.train(trees(0, 60), dev=trees(1, 200), task="parse", iterations=2)
    gold = trees(2, 200)
    tw.save(gold, tmp_path / "test.conllu")
    for name, options in (("all", {}), ("sure", {"precision": 0.95})):
        model.label_file(tmp_path / "test.conllu", tmp_path / f"{name}.conllu", retag=True, **options)
    heads = [
        [arcs and arcs[0].head for sentence in corpus for arcs in sentence.heads["head"]]
        for corpus in (gold, tw.load(tmp_path / "all.conllu"), tw.load(tmp_path / "sure.conllu"))
    ]
    said = [row for row in zip(*heads, strict=True) if row[2] is not None]
    assert all(best == sure for _, best, sure in said)
    assert sum(right == sure for right, _, sure in said) >= 0.95 * len(said)
    assert 0.5 * len(heads[0]) < len(said) < 0.95 * len(heads[0])


def test_what_is_not_promised_is_refused(models: dict[str, Any], tmp_path: Path) -> None:
    model = models["tag"]
    alone: Any = tw.train(drawn("tag", 0, 20), task="tag", iterations=1)
    for tagger, options, message in (
        (alone, {"precision": 0.9}, "trained with development data"),
        (model, {"precision": 0.9, "recall": 0.9}, "one of them"),
        (model, {"precision": 1}, "expected at most 0.9"),
        (model, {"precision": 1.5}, "expected a number above 0, at most 1"),
        (model, {"recall": 0}, "expected a number above 0, at most 1"),
        (model, {"recall": "0.9"}, "expected a number above 0, at most 1"),
    ):
        with pytest.raises(StreamError, match=message):
            tagger.tag(["a"], **options)
    coded: Any = tw.train(drawn("spans", 0), dev=drawn("spans", 1), task="tag", iterations=2)
    with pytest.raises(TypeError, match="sure of tokens"):
        coded.spans(["a"], precision=0.9)
    unfit: list[dict[str, Any]] = [{"best": 2}, {"probabilities": True}, {"to": ["tag"]}, {"then": ["x"]}]
    for options in unfit:
        with pytest.raises(StreamError, match="expected it without"):
            model.label_file(tmp_path / "none", precision=0.9, **options)
