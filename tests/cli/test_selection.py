"""`--like`, `--sample` and `--seed` of `tagweave harvest`: which sentences are kept, and what is said of them."""

from __future__ import annotations

import pytest
from model_files import write

from tagweave.corpus.formats import kytea
from tagweave.corpus.load import load
from tagweave.harvest.selection import Selection, sampled, selected

PAGE = [
    "我们去**北京**看书。",
    "他在[南京](x)住。",
    "去图书馆的**北京**人。",
    "在[图书馆](x)看书。",
    "**上海**很大。",
    "没有标记。",
]
FOUND = ["我 们 去|北-京|看 书 。", "他 在|南-京|住 。", "去 图 书 馆 的|北-京|人 。", "在|图 书 馆|看 书 。"]
FOUND += ["上-海|很 大 。"]


@pytest.fixture
def markup(run, tmp_path):
    """Harvests the page; gives the lines and the last words of what is said."""

    def call(*options):
        write(tmp_path / "page.md", [text for line in PAGE for text in (line, "")])
        result = run("harvest", "markup", tmp_path / "page.md", *options, "-o", tmp_path / "out.kytea")
        return (tmp_path / "out.kytea").read_text("utf-8").splitlines(), result.stderr.rpartition(";")[2].strip()

    return call


@pytest.fixture
def lexicon(run, tmp_path):
    def call(*options, every=False):
        write(tmp_path / "text.raw", ["他在北京住。", "好。", "在北京的图书馆", "图书馆"])
        write(tmp_path / "words.txt", ["北京\tns", "图书馆"])
        files = [tmp_path / "text.raw", "--lexicon", tmp_path / "words.txt", "-o", tmp_path / "out.kytea"]
        result = run("harvest", "lexicon", *files, *options, *["--all"] * every)
        return (tmp_path / "out.kytea").read_text("utf-8").splitlines(), result.stderr.rpartition(":")[2].strip()

    return call


def test_without_options_all_are_kept_and_nothing_more_is_said(markup):
    lines, said = markup()
    assert lines == FOUND and said.endswith("places between characters known")


def test_sentences_that_mark_a_span_of_the_target(markup, tmp_path):
    target = write(tmp_path / "target.raw", ["图书馆里", "我在北京。"])
    library = "在|图 书 馆|看 书 。"  # its inside is open, but it is marked
    assert markup("--like", target) == ([FOUND[0], FOUND[2], library], "3 sentences kept")
    assert markup("--like", write(tmp_path / "library.raw", ["图书馆"])) == ([library], "1 sentences kept")


def test_several_targets(markup, tmp_path):
    north, south = write(tmp_path / "n.raw", ["北京"]), write(tmp_path / "s.raw", ["南京市"])
    assert markup("--like", north, "--like", south) == (FOUND[:3], "3 sentences kept")


def test_lexicons(lexicon, tmp_path):
    target = write(tmp_path / "target.raw", ["图书馆"])
    assert lexicon() == (
        ["他 在|北-京/ns|住 。", "在|北-京/ns|的|图-书-馆", "图-书-馆"],
        "3 of 4 sentences, 4 words found",
    )
    expected = (["在|北-京/ns|的|图-书-馆", "图-书-馆"], "3 of 4 sentences, 4 words found; 2 sentences kept")
    assert lexicon("--like", target) == expected
    assert lexicon("--like", target, every=True)[0] == expected[0]
    assert lexicon("--sample", 1, every=True)[1] == "4 of 4 sentences, 4 words found; 1 sentences kept"


@pytest.mark.parametrize("seed", [0, 7])
def test_the_command_keeps_what_python_keeps(markup, tmp_path, seed):
    markup()
    corpus = load(str(tmp_path / "out.kytea"))
    write(tmp_path / "target.raw", ["北京和南京"])
    kept = sampled(selected(corpus, ["北京和南京"]), 2, seed)
    markup("--like", tmp_path / "target.raw", "--sample", 2, "--seed", seed)
    again = load(str(tmp_path / "out.kytea"))
    assert [sentence.layers for sentence in again] == [sentence.layers for sentence in kept]


def test_sentences_pass_one_by_one_where_nothing_is_chosen():
    taken = []
    sentences = (taken.append(number) or sentence for number, sentence in enumerate(kytea.read(["甲-乙", "丙", "丁"])))
    passing = Selection((), None, 0, ()).of(sentences)
    next(passing)
    assert taken == [0]


def test_the_target_from_standard_input(run, markup, tmp_path):
    markup()
    result = run("harvest", "markup", tmp_path / "page.md", "--like", "-", "-o", "-", stdin="在上海\n")
    assert result.stdout == FOUND[4] + "\n"


# What is wrong


def test_standard_input_is_read_once(run, tmp_path):
    expected = "tagweave: found - several times, expected it once: standard input is read once\n"
    markup = run("harvest", "markup", "-", "--format", "markdown", "--like", "-", "-o", "-", code=2)
    lexicon = run("harvest", "lexicon", "-", "--lexicon", "-", "-o", "-", code=2)
    assert markup.stderr == lexicon.stderr == expected


def test_a_target_that_is_not_there_is_told_before_anything_is_read(run, tmp_path):
    missing = tmp_path / "none.raw"
    result = run("harvest", "markup", tmp_path / "no page.md", "--like", missing, "-o", tmp_path / "out", code=2)
    assert result.stderr == f"tagweave: {missing}: No such file or directory\n"
    assert not list(tmp_path.iterdir())


def test_a_sample_of_nothing(run, tmp_path):
    assert "--sample" in run("harvest", "markup", tmp_path, "--sample", 0, "-o", "-", code=2).stderr
