"""`tw.harvest_...` and `tagweave harvest` make the same corpus of the same arguments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import tagweave as tw
from tagweave.cli.main import application

LINES = ["他昨天在图书馆看书。", "好。", "我们 明天开会。", "图书馆明天开会", "研究生命"]
LEXICONS = [["图书馆\tNN", "开会\tNN|VV", "书馆", "书"], ["图书馆", "开会\tVV", "研究生", "生命"]]
PAGE = "# 安裝\n\n我們在[北京](x)住，也在**圖書館** 看書。沒有標記。\n"

FOUND: list[dict[str, Any]] = [
    {},
    {"agree": "any"},
    {"agree": "any", "matching": "forward", "minimum": 1},
    {"agree": "any", "phrases": 3, "every": True},
    {"like": "field.raw"},
    {"agree": "any", "sample": 2, "seed": 3},
]
MARKED: list[dict[str, Any]] = [
    {},
    {"free_pairs": True, "every": True},
    {"simplified": True, "like": "field.raw"},
    {"sample": 1, "seed": 5},
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    texts = {"text.raw": LINES, "field.raw": ["图书馆开门了"], "page.md": PAGE.split("\n")}
    for name, lines in {**texts, "a.txt": LEXICONS[0], "b.txt": LEXICONS[1]}.items():
        Path(name).write_text("\n".join(lines) + "\n", "utf-8")


def by_command(source: str, *words: str, **options: Any) -> bytes:
    for name, value in options.items():
        words += (f"--{'all' if name == 'every' else name.replace('_', '-')}", *([] if value is True else [str(value)]))
    told = CliRunner().invoke(application(["harvest"]), ["harvest", source, *words, "-o", "by-command.kytea"])
    assert told.exit_code == 0, told.output
    return Path("by-command.kytea").read_bytes()


def agree(corpus: tw.Corpus, written: bytes) -> bool:
    """Whether a corpus is written as these bytes, and is what is read from them."""
    tw.save(corpus, "by-corpus.kytea")
    read = tw.load("ctb=by-command.kytea")
    return (
        [(s.forms, known(s)) for s in corpus] == [(s.forms, known(s)) for s in read]
        and bool(written)
        and Path("by-corpus.kytea").read_bytes() == written
    )


def known(sentence: tw.Sentence) -> dict[str, object]:
    return {name: layer for name, layer in sentence.layers.items() if any(layer)}


@pytest.mark.parametrize("options", FOUND)
def test_words_of_lexicons(options: dict[str, Any]) -> None:
    written = by_command("lexicon", "text.raw", "--lexicon", "a.txt", "--lexicon", "b.txt", **options)
    assert agree(tw.harvest_lexicon(LINES, *LEXICONS, guideline="ctb", **options), written)
    counts = tw.harvest_lexicon_files("text.raw", ["a.txt", "b.txt"], "by-files.kytea", **options)
    assert Path("by-files.kytea").read_bytes() == written
    assert counts.sentences == len(LINES) and counts.written == written.count(b"\n") <= counts.kept


@pytest.mark.parametrize("options", MARKED)
def test_markup(options: dict[str, Any]) -> None:
    written = by_command("markup", "page.md", **options)
    assert agree(tw.harvest_markup("page.md", guideline="ctb", **options), written)
    counts = tw.harvest_markup_files(["page.md"], "by-files.kytea", **options)
    assert Path("by-files.kytea").read_bytes() == written
    assert counts.pages == 1 and counts.written == written.count(b"\n") <= counts.sentences


@pytest.mark.parametrize("options", [{}, {"classes": 3, "minimum_count": 2}])
def test_clusters(options: dict[str, Any]) -> None:
    lines = ["the dog sleeps and the cat eats", "a cat sleeps", "a dog eats and the dog sleeps"]
    Path("words.seg").write_text("\n".join(lines) + "\n", "utf-8")
    written = by_command("clusters", "words.seg", **options).decode()
    made = tw.harvest_clusters_files("words.seg", "by-files.paths", **options)
    assert tw.harvest_clusters(lines, **options) == made
    assert Path("by-files.paths").read_text("utf-8") == written and written.count("\n") == len(made)
