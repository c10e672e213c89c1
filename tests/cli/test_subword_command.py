"""`tagweave train --method subword`, and what other commands make of the model."""

from __future__ import annotations

import json

import numpy as np
import pytest
from model_files import write

from tagweave.models.storage import load_model

PD = ("--source", "pd={}/pd.txt")
OPTIONS = ("--task", "segtag", "--method", "subword", "--set", "folds=2", "--iterations", 2)


@pytest.fixture(scope="module")
def files(corpora, tmp_path_factory):
    """30 sentences under CTB, 30 under PD, 10 to develop on."""
    folder = tmp_path_factory.mktemp("stacked")
    for name, given, count in (("ctb", "train", 30), ("pd", "words", 30), ("dev", "dev", 10)):
        write(folder / f"{name}.txt", (corpora / f"{given}.txt").read_text("utf-8").splitlines()[:count])
    return folder


def train(run, files, model, *options, code=0):
    two = (f"ctb={files / 'ctb.txt'}", "--source", f"pd={files / 'pd.txt'}")
    return run("train", *two, "-o", model, *OPTIONS, *options, code=code).stderr.splitlines()


@pytest.fixture(scope="module")
def stacked(run, files):
    """A model of pieces, and what was said while it was trained."""
    said = train(run, files, files / "m", "--dev", f"ctb={files / 'dev.txt'}")
    return files / "m", said


def test_every_step_is_told(stacked):
    steps = [line for line in stacked[1] if not line.startswith(("iteration", " "))]
    told = "what models of ctb say of text that they have not seen"
    expected = ["a tagger of pd", "a tagger of ctb", *(f"{told}: {n} of 2 folds" for n in (1, 2))]
    assert steps[3] == "first a plain model of ctb, of TRAIN alone, to compare with"
    steps = steps[steps.index("a tagger of pd") :]
    assert [line for line in steps if line.startswith(("a ", "what"))] == expected
    assert steps[steps.index("the model of pieces of ctb") + 1].startswith("30 sentences with evidence, ")
    assert steps[-1].startswith(f"{stacked[0]}: ")
    assert sum(line.startswith("iteration") and "loss" in line for line in stacked[1]) == 8


def test_info_names_the_taggers(stacked, run):
    assert "of pieces that taggers of ctb and pd cut, which are parts of it" in run("info", stacked[0]).stdout
    told = json.loads(run("info", stacked[0], "--json").stdout)
    assert told["taggers"] == ["ctb", "pd"] and told["about"]["plan"]["method"] == "subword"
    assert told["about"]["plan"]["options"] == {"folds": 2, "retrain": False}


def test_it_tags_raw_text_and_text_of_words(stacked, run, files):
    lines = run("tag", stacked[0], stdin="他看书。\n\n他 在 看书。\n").stdout.splitlines()
    assert [line.replace(" ", "").count("/") > 0 for line in lines] == [True, False, True]
    words = [[token.rpartition("/")[0] for token in line.split()] for line in lines]
    assert ["".join(each) for each in words] == ["他看书。", "", "他在看书。"]
    assert words[2][:2] == ["他", "在"]  # blanks are boundaries, whatever the taggers say
    out = run("tag", "--retag", stacked[0], files / "dev.txt").stdout
    assert [line.replace(" ", "") for line in out.splitlines()] != []


def test_partial_annotation_is_kept(stacked, run, tmp_path):
    given = write(tmp_path / "a.kytea", ["他|昨-天|在 图-书|馆 看-书 。"])
    (line,) = run("complete", stacked[0], given).stdout.splitlines()
    words = [word.partition("/")[0] for word in line.split("|")]
    forms = [word.replace("-", "") for word in words]
    assert "".join(forms) == "他昨天在图书馆看书。"
    assert {"他", "昨天"} <= set(forms)
    at = np.cumsum([len(form) for form in forms]).tolist()
    assert {1, 3, 6} <= set(at) and not {2, 5, 8} & set(at)


def test_probabilities_and_the_best_are_of_pieces(stacked, run):
    rows = [
        row.split("\t") for row in run("tag", stacked[0], "--probabilities", stdin="他看书。\n").stdout.splitlines()
    ]
    assert "".join(row[0] for row in rows[:-1]) == "他看书。"
    assert all(0 < float(row[1].split("|")[0].rpartition(":")[2]) <= 1 for row in rows[:-1])
    best = [json.loads(line) for line in run("tag", stacked[0], "--best", 2, stdin="他看书。\n").stdout.splitlines()]
    assert [each["rank"] for each in best] == [1, 2]
    assert {"".join(each["tokens"]) for each in best} == {"他看书。"}
    assert best[0]["probability"] >= best[1]["probability"]


def test_training_again(run, files, tmp_path):
    said = train(run, files, tmp_path / "m", "--set", "retrain=true", "--learner", "perceptron")
    steps = [line for line in said if line.startswith("a model of")]
    assert steps == [
        "a model of ctb that looks at their labels, to relabel their corpora",
        "a model of pieces of ctb, to relabel the other corpora",
    ]
    assert load_model(tmp_path / "m").about["plan"]["options"]["retrain"]
    assert any(line.startswith("60 sentences with evidence") for line in said)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            (*PD, "--method", "merged", "--set", "retrain=true"),
            "found --set retrain with the method merged, expected subword",
        ),
        ((*PD, "--method", "subword"), "found the task tag, expected segment or segtag"),
        ((*PD, *OPTIONS, "--set", "folds=31"), "found 31 folds, expected 2 to 30"),
        (OPTIONS, "expected --source of another guideline, for --method subword"),
    ],
)
def test_options_that_do_not_fit(run, files, tmp_path, options, message):
    words = [str(option).format(files) for option in options]
    assert message in run("train", f"ctb={files / 'ctb.txt'}", "-o", tmp_path / "m", *words, code=2).stderr
