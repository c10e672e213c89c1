"""`tagweave harvest markup`: pages to partial annotation, whole or not at all."""

from __future__ import annotations

import gzip
import re
import sys

import pytest

from tagweave.corpus.load import load
from tagweave.errors import CorpusError
from tagweave.harvest.markup import Passage, Simplifier
from tagweave.harvest.page import find, read

PAGES = {
    "a.md": "---\ntitle: 甲\n---\n\n# 安装\n\n他在[北京](x)住。没有。\n",
    "deep/b.HTML": "<p>我们去<a href='x'>图书馆</a>看书。</p>",
    "deep/c.wiki": "我们在[[北京]]见'''面'''。\n",
    "deep/d.md.gz": gzip.compress("他在[北京](x)住。".encode()),
    ".hidden/e.md": "**隐藏**的",
    "notes.txt": "**别的**东西",
}


@pytest.fixture
def pages(tmp_path):
    for name, text in PAGES.items():
        file = tmp_path / "pages" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return tmp_path / "pages"


def test_a_folder_is_searched_for_pages(run, pages, tmp_path):
    result = run("harvest", "markup", pages, "-o", tmp_path / "found.kytea")
    found = (tmp_path / "found.kytea").read_text("utf-8").splitlines()
    assert found == ["安-装", "他 在|北-京|住 。", "我 们 去|图 书 馆|看 书 。", "我 们 在|北-京|见|面|。"]
    expected = "4 pages, 4 sentences, 5 marked spans (3 of two characters), 11 places between characters known"
    assert result.stderr == f"{tmp_path / 'found.kytea'}: {expected}\n"
    assert result.stdout == ""


def test_several_inputs_and_standard_output(run, pages):
    result = run("harvest", "markup", pages / "deep/c.wiki", pages / "a.md", "-o", "-")
    assert result.stdout.splitlines() == ["我 们 在|北-京|见|面|。", "安-装", "他 在|北-京|住 。"]


def test_standard_input_and_a_format_that_is_told(run, pages):
    lines = run("harvest", "markup", "-", "--format", "mediawiki", "-o", "-", stdin="在[[北京]]住").stdout
    assert lines == "在|北-京|住\n"
    assert run("harvest", "markup", pages / "notes.txt", "--format", "markdown", "-o", "-").stdout == "别-的|东 西\n"


def test_the_output_trains(run, pages, corpora, tmp_path):
    run("harvest", "markup", pages, "-o", tmp_path / "found.kytea")
    corpus = load(str(tmp_path / "found.kytea"))
    assert [len(sentence) for sentence in corpus] == [2, 6, 9, 8]
    model = tmp_path / "segmenter.model"
    files = (f"ctb={corpora / 'train.txt'}", f"ctb={tmp_path / 'found.kytea'}")
    result = run("train", *files, "--task", "segment", "--iterations", 2, "-o", model)
    assert re.search(r"64 sentences with evidence", result.stdout + result.stderr)


# What is wrong


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.html", b"<p>" + b"<i>" * 300, r"a\.html: found elements nested more than 256 deep"),
        ("a.wiki", b"[[a|" * 20_000, r"a\.wiki: found 20,000 brackets and tags unclosed"),
        ("a.md", b"a" * 4_000_001, r"a\.md: found more than 4,000,000 characters, expected one page in a file"),
        ("a.md.gz", gzip.compress(b"a" * 4_000_001), r"a\.md\.gz: found more than 4,000,000 characters"),
        ("a.txt", b"", r"a\.txt: found a page whose name does not tell its format, expected --format, or one of \.md"),
    ],
)
def test_a_bad_page_is_named_and_nothing_is_written(run, tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    (tmp_path / "good.md").write_text("**北京**人")
    output = tmp_path / "out.kytea"
    output.write_text("before")
    result = run("harvest", "markup", tmp_path / "good.md", tmp_path / name, "-o", output, code=2)
    assert re.search(message, result.stderr)
    assert result.stderr.count("\n") == 1
    assert output.read_text() == "before"
    assert len(list(tmp_path.iterdir())) == 3


def test_bad_arguments(run, tmp_path):
    assert (
        "expected one of markdown, html" in run("harvest", "markup", "-", "--format", "rtf", "-o", "-", code=2).stderr
    )
    assert "No such file" in run("harvest", "markup", tmp_path / "none.md", "-o", "-", code=2).stderr
    assert "a folder without pages" in run("harvest", "markup", tmp_path, "-o", "-", code=2).stderr
    assert "a page whose name" in run("harvest", "markup", "-", "-o", "-", code=2).stderr


@pytest.mark.parametrize("name", ["a.md", "deep/b.HTML", "deep/c.wiki", "a.md.gz"])
def test_empty_pages_are_no_error(run, tmp_path, name):
    (tmp_path / "deep").mkdir()
    (tmp_path / name).write_bytes(gzip.compress(b"") if name.endswith("gz") else b"")
    assert run("harvest", "markup", tmp_path, "-o", "-").stdout == ""


@pytest.mark.parametrize(
    ("package", "name"), [("markdown_it", "a.md"), ("lxml", "deep/b.HTML"), ("mwparserfromhell", "deep/c.wiki")]
)
def test_a_parser_that_is_not_installed(monkeypatch, pages, package, name):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(CorpusError, match=rf"found no package '{package}', expected .*\.\[markup\]"):
        read(*find(str(pages / name))[0])


# Simplified characters


def test_conversion_keeps_the_number_of_characters():
    simplifier = Simplifier()
    assert simplifier.text("漢字與資訊") == "汉字与资讯"
    assert list(simplifier.blocks([Passage("在圖書館", ((1, 4),))])) == [Passage("在图书馆", ((1, 4),))]
    characters = "".join(map(chr, range(0x4E00, 0xA000)))
    assert len(simplifier.text(characters)) == len(characters)


def test_phrases_that_would_change_in_length_go_character_by_character():
    simplifier = Simplifier()
    simplifier._convert = {"甲乙": "丙", "甲": "丁", "乙": "戊己"}.get
    assert simplifier.text("甲乙") == "丁乙"


def test_opencc_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "opencc", None)
    with pytest.raises(CorpusError, match=r"\.\[markup\]"):
        Simplifier()
