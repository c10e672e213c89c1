"""`tagweave why`: tables, a page and JSON on why a model says what it says, and what it refuses to explain."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tagweave as tw

SPANS = [
    (["we", "saw", "Ann", "in", "Rome", "."], ["O", "O", "B-PER", "O", "B-LOC", "O"]),
    (["Bob", "went", "to", "Paris", "."], ["B-PER", "O", "O", "B-LOC", "O"]),
    (["they", "like", "Ann", "and", "Bob", "."], ["O", "O", "B-PER", "O", "B-PER", "O"]),
    (["rain", "in", "Paris", "again"], ["O", "O", "B-LOC", "O"]),
]


@pytest.fixture(scope="module")
def spans(run: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A corpus of spans, and a model of it."""
    folder = tmp_path_factory.mktemp("spans")
    corpus, model = folder / "spans.col", folder / "model"
    tw.save(tw.Corpus(SPANS * 5, "ner"), corpus)
    run("train", corpus, "--task", "spans", "--iterations", "5", "-o", model)
    return corpus, model


def test_spans_are_explained_with_training_sentences(run: Any, spans: tuple[Path, Path]) -> None:
    corpus, model = spans
    shown = run("why", model, "Ann ran in Paris", "--corpus", corpus).stdout
    assert "Ann: PER (" in shown and "Paris: LOC (" in shown and ", not " in shown
    assert 'normal[-1] = "in"' in shown and 'form[0] = "Paris"' in shown
    assert "[Paris/B-LOC]" in shown and f"{corpus}:" in shown
    [span] = tw.load_model(model).why(["Ann", "ran", "in", "Paris"], 3)
    assert (span.start, span.stop, span.answer) == (3, 4, "LOC")
    assert span.score == pytest.approx(sum(one.score for one in span.contributions))


def test_a_token_is_explained_by_its_number_from_1(run: Any, spans: tuple[Path, Path]) -> None:
    [told] = json.loads(run("why", spans[1], "Ann ran in Paris", "--token", 2, "--json").stdout)
    assert (told["start"], told["stop"], told["answer"]) == (1, 2, "O")
    assert told["score"] == pytest.approx(sum(one["score"] for one in told["contributions"]))
    assert (
        "beyond the sentence, expected one of its 4"
        in run("why", spans[1], "Ann ran in Paris", "--token", 5, code=2).stderr
    )


def test_without_spans_the_least_sure_tokens_are_explained(run: Any, spans: tuple[Path, Path]) -> None:
    told = json.loads(run("why", spans[1], "they like rain again .", "--json").stdout)
    assert [one["answer"] for one in told] == ["O"] * 3
    assert sorted(one["start"] for one in told) == [one["start"] for one in told]


def test_a_page_has_all(run: Any, spans: tuple[Path, Path], tmp_path: Path) -> None:
    page = tmp_path / "why.html"
    assert run("why", spans[1], "Ann <b> in Paris", "--html", page).stdout == ""
    written = page.read_text("utf-8")
    assert written.startswith("<!DOCTYPE html>") and "Paris: LOC" in written and "<script" not in written
    assert "<b>" not in written and "&lt; b &gt;" in written
    assert "<table>" in tw.load_model(spans[1]).why("Ann <b> in Paris")._repr_html_()


def test_characters_and_guidelines_are_explained(run: Any, segtagger: Path, coupled: Path) -> None:
    assert "S-" in run("why", segtagger, "他在看书").stdout or "B-" in run("why", segtagger, "他在看书").stdout
    shown = run("why", coupled, "他 在 看 书").stdout
    assert "guideline ctb: " in shown and "guideline pd: " in shown


def test_heads_are_explained_and_what_cannot_be_is_refused(run: Any, spans: tuple[Path, Path], tmp_path: Path) -> None:
    corpus, model = spans
    assert "found no text" in run("why", model, " ", code=2).stderr
    trees = tmp_path / "trees.conllu"
    rows = ["1\tAnn\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_", "2\tran\t_\tVERB\t_\t_\t0\troot\t_\t_", ""]
    trees.write_text("\n".join(rows * 8) + "\n")
    parser = tmp_path / "parser"
    run("train", trees, "--task", "parse", "--iterations", "2", "-o", parser)
    assert "Ann: head ran (" in run("why", parser, "Ann ran", "--token", 1).stdout
    assert "found a parser and --corpus" in run("why", parser, "Ann ran", "--corpus", corpus, code=2).stderr


def test_mistakes_say_why(run: Any, spans: tuple[Path, Path], tmp_path: Path) -> None:
    gold, table, page = tmp_path / "gold.col", tmp_path / "errors.tsv", tmp_path / "errors.html"
    wrong = [(tokens, ["B-LOC" if label == "B-PER" else label for label in labels]) for tokens, labels in SPANS]
    tw.save(tw.Corpus(wrong, "ner"), gold)
    run("evaluate", gold, spans[1], "--errors", table)
    header, *rows = [line.split("\t") for line in table.read_text("utf-8").splitlines()]
    at = header.index("why")
    assert len(rows) == 4 and all(row[at].startswith("+") and '[0] = "' in row[at] for row in rows)
    run("evaluate", gold, spans[1], "--errors", page)
    assert ">why<" in page.read_text("utf-8")
    tw.save(
        tw.Corpus([(tokens, [label.replace("PER", "NEW") for label in labels]) for tokens, labels in SPANS], "ner"),
        gold,
    )
    run("evaluate", gold, spans[1], "--errors", table)  # a type that the model does not know
    assert [line.split("\t")[at] for line in table.read_text("utf-8").splitlines()[1:]] == [""] * 4
