"""`tagweave evaluate`: the report of the corpora that it is given."""

from __future__ import annotations

import json

import pytest
from model_files import write

from tagweave.corpus.load import load
from tagweave.evaluation.report import evaluate

GOLD = ["a/N b/V", "c/N d/V"]
SYSTEM = ["a/N b/N", "c/N d/V"]


@pytest.fixture
def files(tmp_path):
    return write(tmp_path / "gold", GOLD), write(tmp_path / "one", SYSTEM), write(tmp_path / "two", GOLD)


def test_json_is_the_report(run, files):
    gold, *systems = map(str, files)
    told = json.loads(run("evaluate", gold, *systems, "--json").stdout)
    assert told == evaluate(load(gold), {system: load(system) for system in systems}).to_json()
    assert told["systems"][systems[0]]["accuracy"]["right"] == 3
    assert told["comparisons"][0]["difference"] == 0.25


def test_tables(run, files):
    gold, one, _ = files
    output = run("evaluate", gold, one).stdout
    assert "75.00" in output and "accuracy" in output


def test_errors_are_written_as_a_page_and_as_a_table(run, files, tmp_path):
    gold, one, _ = files
    page, table = tmp_path / "errors.html", tmp_path / "errors.tsv"
    for path in (page, table):
        run("evaluate", gold, one, "--errors", str(path))
    assert "<html" in page.read_text("utf-8")
    header, *rows = [line.split("\t") for line in table.read_text("utf-8").splitlines()]
    assert len(rows) == 1 and {"V", "N"} <= set(rows[0]) and len(header) == len(rows[0])


def test_words_of_training(run, files, tmp_path):
    gold, one, _ = files
    train = write(tmp_path / "train", ["a/N d/N"])
    scores = json.loads(run("evaluate", gold, one, "--train", train, "--json").stdout)["systems"][str(one)]
    assert scores["oov_accuracy"]["right"] == 1 and scores["iv_accuracy"]["right"] == 2


def test_the_layer_to_compare(run, tmp_path):
    gold = write(tmp_path / "gold.tsv", ["# columns = form x y", "a\tN\tV", "b\tN\tN", ""])
    system = write(tmp_path / "system.tsv", ["# columns = form x y", "a\tN\tN", "b\tN\tV", ""])

    def right(*arguments):
        told = json.loads(run("evaluate", *arguments, "--json").stdout)
        return next(iter(told["systems"].values()))["accuracy"]["right"]

    told = json.loads(run("evaluate", gold, system, "--json").stdout)
    assert told["copied"] == ["x"]
    assert told["layers"]["y"]["systems"][str(system)]["accuracy"]["right"] == 0
    assert right(gold, system, "--layer", "x") == 2
    assert right(f"{gold}#x", f"{system}#y", "--layer", "x") == 1


def test_a_copy_of_the_gold_standard_beside_what_a_tagger_added_is_no_score_in_silence(run, tmp_path):
    gold = write(tmp_path / "gold.tsv", ["a\tN", "b\tV", ""])
    system = write(tmp_path / "system.tsv", ["# columns = form tag mine", "a\tN\tN", "b\tV\tN", ""])
    told = f"{system} has all labels of the gold standard, and a layer mine besides: {system}#mine compares that one"
    assert told in run("evaluate", gold, system, "--json").stderr
    other = run("evaluate", gold, f"{system}#mine", "--json")
    assert "besides" not in other.stderr
    assert next(iter(json.loads(other.stdout)["systems"].values()))["accuracy"]["right"] == 1


def test_a_system_is_read_as_the_gold_standard_is(run, tmp_path):
    """A layer that is named for the gold standard alone is that of the systems, too, if they know it."""
    fields = "\t_" * 5
    gold = write(tmp_path / "gold.conllu", [f"1\ta\t_\tN\tn{fields}", f"2\tb\t_\tV\tv{fields}", ""])
    other = write(tmp_path / "upos.conllu", [f"1\ta\t_\tn\t_{fields}", f"2\tb\t_\tn\t_{fields}", ""])

    def right(*arguments):
        told = json.loads(run("evaluate", *arguments, "--json").stdout)
        return next(iter(told["systems"].values()))["accuracy"]["right"]

    assert right(f"{gold}#xpos", gold) == 2
    assert right(f"{gold}#xpos", f"{gold}#upos") == 0
    assert right(f"{gold}#xpos", other) == 1


def test_a_format_for_all(run, tmp_path):
    gold, system = write(tmp_path / "gold", ["a_N b"]), write(tmp_path / "system", ["a_N b_V"])
    options = ("--format", "tagged-underscore", "--json")
    told = json.loads(run("evaluate", gold, system, *options).stdout)["systems"][str(system)]
    assert told["unscored"] == 1 and told["accuracy"]["right"] == 1
