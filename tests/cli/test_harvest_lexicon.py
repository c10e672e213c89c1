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
        (["--matching", "both"], "found --matching both, expected one of agreement, forward, backward"),
        (["--agree", "most"], "found --agree most, expected one of all, any"),
    ],
)
def test_options_that_are_wrong(run, files, arguments, message):
    result = run("harvest", "lexicon", files / "text.raw", "--lexicon", files / "none", "-o", "-", *arguments, code=2)
    assert result.stderr == f"tagweave: {message}\n"
