"""`tagweave simulate`: rows, what may be compared, and what is wrong."""

from __future__ import annotations

import json

import pytest
from model_files import write


@pytest.fixture
def words(tmp_path):
    return write(tmp_path / "listed.txt", ["我们", "昨天", "今天", "学校", "老师", "的", "图书馆", "大学", "在"])


@pytest.fixture
def simulate(run, segmenter, corpora, words):
    def call(*arguments, model=segmenter, code=0):
        files = ["--words", words, "--train", corpora / "words.txt", "--test", corpora / "dev.txt"]
        return run("simulate", model, corpora / "train.txt", *files, "--iterations", 2, *arguments, code=code)

    return call


def rows(result):
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_rows_as_json_lines(simulate):
    arguments = [
        "--numbers",
        "9,3",
        "--strategy",
        "entropy,random",
        "--treatment",
        "marginal,argmax,pointwise",
        "--json",
    ]
    first, *others = rows(simulate(*arguments))
    assert first.keys() == {"strategy", "treatment", "words", "questions", "f", "oov_recall"}
    assert (first["strategy"], first["words"], first["questions"]) == (None, 0, 0)
    treatments = ("marginal", "argmax", "pointwise")
    expected = [(strategy, t, n) for strategy in ("entropy", "random") for n in (3, 9) for t in treatments]
    assert [(row["strategy"], row["treatment"], row["words"]) for row in others] == expected
    assert all(row["questions"] >= row["words"] and 0 < row["f"] < 100 for row in others)
    assert len({row["f"] for row in others}) > 3


def test_a_seed_repeats_it_and_another_one_does_not(simulate):
    arguments = ["--numbers", "5", "--strategy", "random", "--json"]
    same, again, other = (rows(simulate(*arguments, "--seed", seed)) for seed in (0, 0, 1))
    assert same == again
    assert same[1:] != other[1:]


def test_a_table_with_all_there_are_where_there_are_no_more(simulate):
    result = simulate("--numbers", "100000", "--strategy", "marginal")
    assert "OOV recall" in result.stdout and "MODEL" in result.stdout and "marginal" in result.stdout
    assert "100000" not in result.stdout
    assert "--numbers 100000: only" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--strategy", "best"], "unknown strategy 'best', expected some of entropy, marginal, random"),
        (["--treatment", "first"], "unknown treatment 'first', expected some of marginal, argmax, pointwise"),
        (["--numbers", "1,x"], "found --numbers 1,x, expected whole numbers separated by commas"),
        (["--numbers", ""], "found --numbers , expected whole numbers separated by commas"),
    ],
)
def test_options_that_are_wrong(simulate, arguments, message):
    assert simulate(*arguments, code=2).stderr == f"tagweave: {message}\n"


def test_a_model_that_does_not_segment(simulate, tagger):
    found = simulate(model=tagger, code=2).stderr
    assert found == f"tagweave: {tagger}: found a model of the task tag, expected segment\n"
