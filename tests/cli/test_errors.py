"""Whatever a user can get wrong is one clear line and exit code 2; what is a defect of ours is not hidden."""

from __future__ import annotations

import ast
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from model_files import write
from safetensors.numpy import save_file

from tagweave.cli.console import OptionError, in_flags
from tagweave.cli.train import SETTINGS
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Location, Sentence
from tagweave.errors import CorpusError, ExchangeError
from tagweave.features.templates import PRESETS
from tagweave.front.options import message
from tagweave.learning import learners
from tagweave.learning.loop import CheckpointError
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.storage import load_model
from tagweave.streams import say
from tagweave.structures.loss import ContradictionError

TRAIN = "train {c}/train.txt -o {t}/m"
MEGABYTE = "x" * (1 << 20)
OPTIONS = [
    ("{train} --task x", "unknown task 'x', expected one of tag, segment, segtag, spans, parse"),
    ("{train} --set coding=BIO", "unknown coding 'BIO', expected none, for the task tag"),
    ("{train} --task spans --set coding=BIO", "unknown coding 'BIO', expected one of BIOES, IOB2, IOB1"),
    ("{train} --method x", "unknown method 'x', expected one of single, auto, coupled, iterate, merged,"),
    ("{train} --incomplete x", "unknown incomplete 'x', expected one of marginal, posterior, outside, folds"),
    ("{train} --set feature_weights=x", "unknown feature_weights 'x', expected one of all, observed"),
    ("{train} --set precision=x", "unknown precision 'x', expected one of float32, float64"),
    ("{train} --learner x", f"unknown learner 'x', expected one of {', '.join(learners.NAMES)}"),
    ("{train} --set x=1", "unknown setting 'x' of adagrad, expected one of rate, batch, average_from, initial"),
    ("{train} --set seed=1", "found --set seed, expected --seed 1"),
    ("{train} --set rate", "found --set rate, expected NAME=VALUE"),
    ("{train} --set rate=fast", "found --set rate=fast, expected a number"),
    ("{train} --set batch=1.5", "found --set batch=1.5, expected a whole number"),
    ("{train} --preset x", f"unknown preset 'x', expected one of {', '.join(PRESETS)}"),
    ("{train} --template form", "found 'form' in template 'form', expected COLUMN[OFFSET] or"),
    ("{train} --weights 1,2", "found 2 numbers as weights, expected 1, one for each corpus"),
    ("{train} --weights 0", "found a corpus of weight 0.0, expected a positive number"),
    ("{train} --weights nan", "found a corpus of weight nan, expected a positive number"),
    ("{train} --weights x", "found --weights x, expected numbers, as in 0,0.3"),
    ("train - -o {t}/m", "found standard input as a corpus, expected a file: its digest identifies the training run"),
    ("train ctb={c}/train.txt pd={c}/words.txt -o {t}/m", "{c}/words.txt: found the guideline 'pd', expected 'ctb'"),
    ("train {c}/train.txt -o {t}/none/m", "{t}/none/m: found no folder {t}/none, expected one to write the model to"),
    ("train {c}/train.txt -o {t}", "{t}: found a folder, expected the name of a file to write the model to"),
    ("train {c}/none.txt -o {t}/m", "{c}/none.txt: No such file or directory"),
    ("{train} --dev {c}/none.txt", "{c}/none.txt: No such file or directory"),
    ("{train} --dev {c}/dev.seg", "{c}/dev.seg: found no position with one label, expected development data to"),
    ("{train} --log {t}/none/log", "{t}/none/log: No such file or directory"),
    ("{train} --format x", "found the format 'x', expected one of attributes, columns, conllu, kytea,"),
    ("train {c}/dev.seg -o {t}/m", "{c}/dev.seg: found no label in layer 'tag', expected an annotated training"),
    ("train {t}/part.kytea -o {t}/m", "{t}/part.kytea: found a corpus of characters, expected words, for the task"),
    ("train {t}/bad.txt -o {t}/m", "{t}/bad.txt:2: found nothing after the '/' of 'b/', expected form/TAG, or \\/"),
    ("tag {t}/none", "{t}/none: no such model file"),
    ("tag {t}/other", "{t}/other: found a safetensors file of another program, expected a tagweave model"),
    ("info {t}/checkpoint", "{t}/checkpoint: found a checkpoint or another file of tagweave, expected a tagweave"),
    ("tag {m} {t}/none", "{t}/none: No such file or directory"),
    ("tag {m} --best 2 --probabilities", "found --probabilities and --best, expected one of them"),
    ("tag {m} --best 2 --output-format tagged", "found --output-format with --probabilities or --best, expected it"),
    ("tag {m} {c}/dev.raw", "{c}/dev.raw: found raw text, characters, expected words, for a model of words (or"),
    ("tag {m} {c}/dev.seg --output-format raw", "found raw as the format of the output, expected a format of words"),
    ("complete {m} {c}/dev.seg -o {t}/x.kytea", "found kytea as the format of the output, expected a format of words"),
    ("tag {m} {c}/dev.seg -o {t}/none/x", None),
    ("evaluate {c}/dev.txt {c}/dev.txt {c}/dev.txt", "found the system {c}/dev.txt twice, expected each once"),
    ("evaluate {c}/dev.txt {c}/none.txt", "{c}/none.txt: No such file or directory"),
    ("evaluate {c}/dev.txt {c}/dev.txt --layer x", "{c}/dev.txt: found the layers tag, expected a layer 'x'"),
    ("info {c}", "{c}: Is a directory"),
]


@pytest.mark.parametrize(("command", "line"), OPTIONS)
def test_one_clear_line_and_nothing_is_written(run, corpora, tagger, tmp_path, command, line):
    write(tmp_path / "bad.txt", ["a/N", "b/ c/N"])
    write(tmp_path / "part.kytea", ["a|b c"])
    save_file({"x": np.zeros(1)}, tmp_path / "other")
    save_file({"x": np.zeros(1)}, tmp_path / "checkpoint", {"tagweave": '{"run": ""}'})
    before = sorted(tmp_path.iterdir())
    names = {"c": corpora, "t": tmp_path, "m": tagger}
    result = run(*command.replace("{train}", TRAIN).format(**names).split(), code=2)
    assert result.stdout == "" and "Traceback" not in result.stderr
    assert result.stderr.splitlines()[-1].startswith(f"tagweave: {(line or '').format(**names)}")
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("arguments", [("train", "--x"), ("tag",), ("nothing",), ("tag", "m", "--best", "0")])
def test_what_the_parser_refuses_is_usage(run, arguments):
    assert "Usage: " in (result := run(*arguments, code=2)).stderr + result.stdout


def test_an_output_file_is_whole_or_not_there(run, tagger, tmp_path):
    text = write(tmp_path / "t.txt", ["a/NN b", "c/", "d"])
    old = write(tmp_path / "old", ["as it was"])
    for arguments in ((), ("--probabilities",), ("--best", 2)):
        run("tag", tagger, text, "--format", "tagged", "-o", old, *arguments, code=2)
        assert old.read_text("utf-8") == "as it was\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["old", "t.txt"]


def test_labels_of_another_guideline_can_be_put_aside(run, tagger, corpora):
    result = run("tag", tagger, corpora / "words.txt", code=2)
    assert result.stderr.startswith(f"tagweave: {corpora / 'words.txt'}:1: found label 't' is not one of the ")
    assert result.stderr.endswith("; --retag puts the labels of the input aside\n")
    assert len(run("tag", tagger, corpora / "words.txt", "--retag").stdout.splitlines()) == 60
    completed = run("complete", tagger, corpora / "words.txt", code=2)
    assert completed.stderr == result.stderr.replace("; --retag puts the labels of the input aside", "")


def test_evidence_that_nothing_satisfies_is_told_with_its_line(segmenter):
    """No file of a format with boundaries can say it, but sentences can."""
    tagger = ChainPredictor(load_model(segmenter))
    fine = Sentence(("a", "b"), {"s": (("B",), ("E",))}, location=Location("file", 1))
    wrong = Sentence(("a", "b", "c"), {"s": (("B",), ("B", "S"), None)}, location=Location("file", 7))
    told = "file:7: found labels that exclude one another, expected a sequence that they allow"
    with pytest.raises(CorpusError, match=told):
        tagger.complete(Corpus((fine, wrong), "s", "character"))
    with pytest.raises(CorpusError, match=told):
        tagger.k_best(wrong, 2, "s")
    with pytest.raises(CorpusError, match=told):
        tagger.probabilities([fine, wrong], "s")
    assert [list(map(float, row)) for row in tagger.probabilities([fine], "s")[0].round(3)] == [
        [float(name == label) for name in tagger.labels] for label in "BE"
    ]


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (CorpusError("x", "y", "file", 3), "file:3: found x, expected y"),
        (CheckpointError("broken"), "broken"),
        (ContradictionError("two\nlines"), "two lines"),
        (OptionError("x"), "x"),
        (FileNotFoundError("a: no such model file"), "a: no such model file"),
        (FileNotFoundError(2, "No such file or directory", "a"), "a: No such file or directory"),
        (PermissionError(13, "Permission denied", "a"), "a: Permission denied"),
        (ValueError("a defect"), None),
        (KeyError("a defect"), None),
        (np.linalg.LinAlgError("a defect"), None),
    ],
)
def test_which_errors_are_for_users(error, line):
    assert message(error) == line


def test_a_defect_is_not_swallowed(run, tagger, monkeypatch):
    def broken(*_arguments):
        raise ValueError("a defect of ours")

    monkeypatch.setattr("tagweave.models.chain.ChainModel.best", broken)
    with pytest.raises(ValueError, match="a defect of ours"):
        run("tag", tagger, stdin="a b\n")


@pytest.mark.parametrize(
    "error",
    [
        CorpusError(MEGABYTE, MEGABYTE, MEGABYTE, 7),
        ExchangeError(MEGABYTE),
        OptionError(MEGABYTE),
        OSError(2, MEGABYTE, MEGABYTE),
    ],
    ids=lambda error: type(error).__name__,
)
def test_no_message_is_a_megabyte(error: ValueError, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever an error or a note quotes of a file, also in Python; place, line and expectation remain."""
    assert len(message(error) or "") <= 2000
    if isinstance(error, ValueError):
        assert len(str(error)) <= 1000 and len(pickle.dumps(error)) <= 2000
    if isinstance(error, CorpusError):
        assert "x:7: found xxx" in str(error) and ", expected xxx" in str(error)
    say(MEGABYTE)
    assert len(capsys.readouterr().err) <= 2001


SOURCES = sorted((Path(__file__).parents[2] / "src" / "tagweave").rglob("*.py"))
STYLES = {"divergence.py"}  # of pages: custom properties of CSS


def texts(tree: ast.AST) -> Iterator[str]:
    """The texts of a module that are not docstrings."""
    docstrings = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
    for each in ast.walk(tree):
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and id(each) not in docstrings:
            yield each.value


def test_the_library_names_fields_and_no_flags() -> None:
    """Python users have no flags; the command line makes them of fields, in one place."""
    command, flag = re.compile(r"tagweave [a-z][^()`]*"), re.compile(r"(?<![\w-])--[a-z]|found --$")
    paths = [path for path in SOURCES if "cli" not in path.parts and path.name not in STYLES]
    found = [
        (path.name, text)
        for path in paths
        if "--" in (source := path.read_text(encoding="utf-8"))
        for text in texts(ast.parse(source))
        if flag.search(command.sub("", text))
    ]
    assert len(paths) > 200 and found == []


@pytest.mark.parametrize(
    ("fields", "flags"),
    [
        ("found `drop_columns` without `task=parse`", "found --set drop_columns without --task parse"),
        ("`sources`, `settings=rate=1`, `views=joint`", "--source, --set rate=1, --set views=joint"),
        ("rows of `token TAB label`, one of `tagweave train`", "rows of `token TAB label`, one of `tagweave train`"),
    ],
)
def test_fields_become_flags(fields: str, flags: str) -> None:
    assert in_flags(fields, settings=lambda: SETTINGS) == flags


def test_what_is_no_option_of_the_command_stays(run, tmp_path) -> None:
    """As fields of a plan, and types in messages of other libraries."""
    plan = '{"target": [{"path": 3}], "method": "iterate"}'
    (tmp_path / "a.json").write_text(plan, encoding="utf-8")
    told = run("tune", tmp_path / "a.json", "-o", tmp_path / "b.json", code=2).stderr
    assert "Expected `str`" in told and "--str" not in told


def test_notes_of_the_command_line_name_flags(run, tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_text("Jan/B-PER lives/O in/O Bern/B-LOC\n" * 3, encoding="utf-8")
    told = run("train", tmp_path / "a.txt", "-o", tmp_path / "a.model", "--iterations", "1").stderr
    assert "--task tag takes them" in told
    say("`task=tag`")
    assert capsys.readouterr().err == "`task=tag`\n"
