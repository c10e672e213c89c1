"""`tagweave harvest lexicon`: what is written, what is said, and that one can train on it."""

from __future__ import annotations

import pytest
from model_files import write


@pytest.fixture
def files(tmp_path):
    write(tmp_path / "names.txt", ["图书馆", "开会\tn|v", "书馆"])
    write(tmp_path / "more.txt", ["开会 30 v", "昨天"])
    write(tmp_path / "text.raw", ["他昨天在图书馆看书。", "好。", "", "我们明天开会。"])
    return tmp_path


def harvest(run, files, *arguments, raw=("text.raw",), lexicons=("names.txt",)):
    named = [argument for name in lexicons for argument in ("--lexicon", files / name)]
    return run("harvest", "lexicon", *named, *(files / name for name in raw), "-o", files / "out.kytea", *arguments)


def lines(files):
    return (files / "out.kytea").read_text("utf-8").splitlines()


def test_sentences_with_words(run, files):
    result = harvest(run, files)
    assert lines(files) == ["他 昨 天 在|图-书-馆|看 书 。", "我 们 明 天|开-会/n&v|。"]
    assert result.stderr == f"{files / 'out.kytea'}: 2 of 4 sentences, 2 words found\n" and result.stdout == ""


def test_all_sentences_of_several_files_in_order(run, files):
    result = harvest(run, files, "--all", raw=("text.raw", "text.raw"))
    once = ["他 昨 天 在|图-书-馆|看 书 。", "好 。", "", "我 们 明 天|开-会/n&v|。"]
    assert lines(files) == once * 2
    assert "8 of 8 sentences, 4 words" in result.stderr


def test_several_lexicons(run, files):
    both = ("names.txt", "more.txt")
    harvest(run, files, lexicons=both)
    assert lines(files) == ["我 们 明 天|开-会/v|。"]
    harvest(run, files, "--agree", "any", lexicons=both)
    assert lines(files) == ["他|昨-天|在|图-书-馆|看 书 。", "我 们 明 天|开-会/n&v|。"]


def test_matching_and_minimum(run, files):
    write(files / "text.raw", ["研究生命"])
    write(files / "names.txt", ["研究生", "研究", "生命", "生"])
    for matching, expected in (("forward", ["研-究-生|命"]), ("backward", ["研-究|生-命"]), ("agreement", [])):
        harvest(run, files, "--matching", matching)
        assert lines(files) == expected
    harvest(run, files, "--matching", "backward", "--minimum", "3")
    assert lines(files) == ["研-究-生|命"]


def test_phrases(run, files):
    harvest(run, files, "--phrases", "3")
    assert lines(files) == ["他 昨 天 在|图 书 馆|看 书 。", "我 们 明 天|开-会/n&v|。"]


def test_streams(run, files):
    result = run("harvest", "lexicon", "--lexicon", files / "names.txt", "-", "-o", "-", stdin="我们开会\n好\n")
    assert result.stdout == "我 们|开-会/n&v\n"
    assert result.stderr == "-: 1 of 2 sentences, 2 words found\n".replace("2 words", "1 words")


@pytest.mark.parametrize("task", ["segment", "segtag"])
def test_it_trains_beside_an_annotated_corpus(run, corpora, files, task):
    write(files / "text.raw", ["黑山老妖来了", "他看见黑山老妖。"])
    write(files / "names.txt", ["黑山老妖\tNR"])
    harvest(run, files)
    arguments = ["--task", task, "--iterations", 4, "-o", files / "m"]
    text = "我们看见黑山老妖\n"
    run("train", f"ctb={corpora / 'train.txt'}", "--source", f"ctb={files / 'out.kytea'}", *arguments)
    assert "黑山老妖" in run("tag", files / "m", stdin=text).stdout.replace("/", " ").split()
    run("train", f"ctb={corpora / 'train.txt'}", *arguments)
    assert "黑山老妖" not in run("tag", files / "m", stdin=text).stdout.replace("/", " ").split()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--matching", "both"], "unknown matching 'both', expected one of agreement, forward, backward"),
        (["--agree", "most"], "unknown agreement 'most', expected one of all, any"),
    ],
)
def test_options_that_are_wrong(run, files, arguments, message):
    result = run("harvest", "lexicon", files / "text.raw", "--lexicon", files / "none", "-o", "-", *arguments, code=2)
    assert result.stderr == f"tagweave: {message}\n"


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("names.txt", b"a\nb c\n", "names.txt:2: found the fields 'b c'"),
        ("text.raw", "开会\n".encode() + b"\xff\n", "text.raw:2: found the byte 0xff"),
        ("text.raw", "开会\n开\0会\n".encode(), "text.raw:2: found a NUL"),
    ],
)
def test_bad_input_leaves_the_output_as_it_was(run, files, name, content, found):
    (files / name).write_bytes(content)
    (files / "out.kytea").write_text("before")
    named = ["--lexicon", files / "names.txt", files / "text.raw", "-o", files / "out.kytea"]
    result = run("harvest", "lexicon", *named, code=2)
    assert found in result.stderr and lines(files) == ["before"]


def test_nothing_found_is_an_empty_file(run, files):
    write(files / "text.raw", ["好"])
    result = harvest(run, files)
    assert lines(files) == [] and "0 of 1 sentences, 0 words" in result.stderr
