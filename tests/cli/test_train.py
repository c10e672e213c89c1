"""`tagweave train`: options reach the recipe, runs repeat exactly, and the model tells what it is made of."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from itertools import cycle

import numpy as np
import pytest
from model_files import contents, corpora_of, write

import tagweave as tw
from benchmarks.fuzz_bases import save_network
from tagweave.corpus.files import digest
from tagweave.corpus.load import load
from tagweave.learning.run import Silence
from tagweave.models.storage import describe_model, load_model
from tagweave.training.cascades.coupled import Coupling, prepare_coupled
from tagweave.training.fit.chain_problem import estimated_bytes, peak_bytes
from tagweave.training.fit.fit import prepare
from tagweave.training.fit.recipe import FEATURE_LEARNERS, LEARNERS, Recipe
from tagweave.training.methods import read_plan
from tagweave.training.methods.single import SingleOptions
from tagweave.training.plan import Source

RUN = ("--iterations", 2)


def about(model):
    return describe_model(model)["about"]


def test_it_tells_the_size_of_the_problem_and_every_iteration(run, corpora, tmp_path):
    result = run("train", corpora / "train.txt", "--dev", corpora / "dev.txt", "-o", tmp_path / "m", *RUN)
    assert result.stdout == ""
    corpus = load(str(corpora / "train.txt"))
    problem = prepare([corpus], Recipe())
    read, lines = result.stderr.splitlines()[:2], result.stderr.splitlines()[2:]
    assert read[0].startswith(f"{corpora / 'train.txt'} is read as tagged-underscore, layer tag; first row: form=")
    assert lines[0] == (
        f"{len(corpus)} sentences with evidence, {corpus.tokens()} tokens ({corpus.tokens()} with evidence)"
    )
    labels, features = len(problem.model.space), len(problem.model.encoder.index)
    assert lines[1] == f"{labels} labels, {features:,} features, {problem.model.parameters.size:,} weights"
    assert re.fullmatch(r"about \d+ MB of memory for training, \d+ MB in all|about .* GB in all", lines[2])
    assert [line.split("  ")[0] for line in lines[3:5]] == ["iteration 1/2", "iteration 2/2"]
    assert [line.split(" a ")[1].split(" 0.8")[0] for line in lines[5:7]] == ["precision of", "recall of"]
    assert lines[7].startswith(f"{tmp_path / 'm'}: 2 iterations, dev 0.")
    assert len(lines) == 8


def test_the_model_tells_what_it_was_made_of(run, corpora, tmp_path):
    train, dev, model = corpora / "train.txt", corpora / "dev.txt", tmp_path / "m"
    run("train", f"ctb={train}", "--dev", dev, "-o", model, *RUN, "--seed", 7, "--set", "rate=0.2")
    told = about(model)
    plan = read_plan(told["plan"])
    assert plan.target == (Source("train.txt", digest(str(train)), 60, guideline="ctb"),)
    assert plan.dev.sha256 == digest(str(dev)) and 0 < told["dev_score"] < 1
    assert told["recipe"]["settings"] == {"seed": 7, "rate": 0.2}
    assert plan.seed == 7 and plan.options == SingleOptions() and told["iterations"] == 2
    assert load_model(model).space.views[0].guideline == "ctb"
    assert not (tmp_path / "m.checkpoint").exists()


@pytest.mark.parametrize(("learner", "threads"), list(zip(LEARNERS, cycle((1, 2)), strict=False)))
def test_the_same_run_gives_the_same_bytes(run, corpora, tmp_path, learner, threads):
    models = [tmp_path / "a", tmp_path / "b"]
    options = ["--learner", learner, "--threads", threads, "--seed", 3, *RUN]
    if learner == "adamw":
        save_network(tmp_path)
        options += ["--encoder", f"{tmp_path}"]
    for model in models:
        run("train", corpora / "dev.txt", "-o", model, *options)
    assert models[0].read_bytes() == models[1].read_bytes()


KINDS = {
    "tagger": ["ctb=train.txt", "--dev", "dev.txt"],
    "segmenter": ["--task", "segment", "words.txt", "--lexicon", "lexicon.txt"],
    "spans": ["--task", "spans", "spans.col", "--set", "entity_ratio=spans.col"],
    "parser": ["--task", "parse", "trees.conllu", "--dev", "more.conllu"],
    "coupled": ["ctb=train.txt", "--source", "pd=words.txt", "--method", "coupled"],
    "stacked": ["ctb=train.txt", "--source", "pd=words.txt", "--method", "stacked"],
}


def test_equal_trainings_are_equal_files_in_any_process_and_folder(run, corpora, tmp_path, monkeypatch):
    """Hashes of texts differ between processes, so this would find an order that depends on them."""
    trees = [f"{n}\t{form}\t_\tN\tN\t_\t{n - 1}\t{'dep' if n > 1 else 'root'}\t_\t_" for n, form in enumerate("xyz", 1)]
    folders = [tmp_path / name / "of-ada" for name in ("here", "there")]
    for folder in folders:
        folder.mkdir(parents=True)
        for name in ("train.txt", "dev.txt", "words.txt"):
            write(folder / name, (corpora / name).read_text("utf-8").splitlines()[:10])
        write(folder / "trees.conllu", [*trees, ""] * 4)
        write(folder / "more.conllu", [*trees, ""] * 2)
        write(folder / "spans.col", ["Ada\tB-PER", "Lovelace\tI-PER", "sings\tO", ""] * 4)
        write(folder / "lexicon.txt", ["图书馆"])
    runs = [["train", *words, *map(str, RUN), "-o", f"{name}.model"] for name, words in KINDS.items()]
    here, there = (
        [[re.sub(r"\w+\.(txt|col|conllu)$", rf"{folder}/\g<0>", word) for word in words] for words in runs]
        for folder in folders
    )
    program = "import sys, json; from tagweave.cli.main import application as a; app = a()\n"
    program += "for words in json.loads(sys.argv[1]): app(words, standalone_mode=False)"
    seeded = {**os.environ, "PYTHONHASHSEED": "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"}
    command = [sys.executable, "-c", program, json.dumps(there)]
    subprocess.run(command, check=True, cwd=folders[1], env=seeded, capture_output=True)
    monkeypatch.chdir(folders[0])
    for words in here:
        run(*words)
    for name in KINDS:
        first, second = ((folder / f"{name}.model").read_bytes() for folder in folders)
        assert first == second, name
        assert b"of-ada" not in first, name


def test_two_files_are_one_corpus(run, corpora, tmp_path):
    lines = (corpora / "train.txt").read_text("utf-8").splitlines()
    halves = [write(tmp_path / f"{i}.txt", lines[30 * i : 30 * i + 30]) for i in (0, 1)]
    run("train", corpora / "train.txt", "-o", tmp_path / "whole", *RUN)
    run("train", *halves, "-o", tmp_path / "both", *RUN)
    run("train", halves[0], "--source", halves[1], "-o", tmp_path / "source", *RUN)
    whole, both, source = (contents(tmp_path / name) for name in ("whole", "both", "source"))
    assert whole[0] == both[0] == source[0]
    assert [each["size"] for each in corpora_of(source[1]["about"])] == [30, 30]


def test_weights_of_corpora(run, corpora, tmp_path):
    """A corpus of weight 2 counts as if it stood there twice, to a learner that sees all sentences at once."""
    train = corpora / "train.txt"
    other = write(tmp_path / "other.txt", (corpora / "dev.txt").read_text("utf-8").splitlines())
    options = ("--learner", "lbfgs", "--set", "precision=float64", "--iterations", 4)
    run("train", train, other, "--weights", "1,2", "-o", tmp_path / "weighted", *options)
    run("train", train, other, other, "-o", tmp_path / "twice", *options)
    weighted, twice = (load_model(tmp_path / name).weights for name in ("weighted", "twice"))
    np.testing.assert_allclose(weighted, twice, rtol=1e-6)
    assert [each["weight"] for each in corpora_of(about(tmp_path / "weighted"))] == [1.0, 2.0]


def test_options_reach_the_recipe(run, corpora, tmp_path):
    options = (
        "--set",
        "feature_weights=observed",
        "--set",
        "minimum_count=2",
        "--set",
        "precision=float64",
        "--incomplete",
        "posterior",
    )
    templates = ("--preset", "tsuboi-2008", "--template", "form[0]", "--template", "form[-1] form[0]")
    run("train", corpora / "train.txt", "-o", tmp_path / "m", *RUN, *options, *templates, "--method", "single")
    recipe = about(tmp_path / "m")["recipe"]
    assert (recipe["features"], recipe["minimum_count"], recipe["precision"]) == ("observed", 2, "float64")
    assert recipe["templates"][0] == "lower[0]" and recipe["templates"][-2:] == ["form[0]", "form[-1] form[0]"]
    assert load_model(tmp_path / "m").weights.dtype == np.float64


@pytest.mark.parametrize("coding", ["BMES", "BI", "boundary"])
def test_codings(run, corpora, tmp_path, coding):
    run("train", corpora / "words.txt", "--task", "segment", "--set", f"coding={coding}", "-o", tmp_path / "m", *RUN)
    assert load_model(tmp_path / "m").coding == coding


def test_formats_of_words_and_characters_share_a_guideline_for_a_segmenter(run, corpora, tmp_path):
    partial = write(tmp_path / "p.kytea", ["我-们|的 书", "他 说"])
    segmented = write(tmp_path / "s.seg", ["我们 的 书"])
    run("train", partial, segmented, corpora / "words.txt", "--task", "segment", "-o", tmp_path / "m", *RUN)
    assert [each["guideline"] for each in corpora_of(about(tmp_path / "m"))] == ["segmentation"] * 3


def test_a_format_that_the_lines_do_not_tell(run, tmp_path):
    text = write(tmp_path / "t", ["a/X b c d e f g h i j k l m n o p", "b/Y c"])
    run("train", text, "--format", "tagged", "-o", tmp_path / "m", *RUN)
    assert set(load_model(tmp_path / "m").space.names) == {"X", "Y"}


def test_patience_and_the_log(run, corpora, tmp_path):
    log = tmp_path / "log.jsonl"
    options = ("--dev", corpora / "dev.txt", "--set", "patience=1", "--iterations", 50, "--log", log)
    run("train", corpora / "train.txt", "-o", tmp_path / "m", *options)
    lines = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    assert [line["number"] for line in lines] == list(range(1, len(lines) + 1))
    assert [line["best"] for line in lines] == [True] * (len(lines) - 1) + [False]
    assert about(tmp_path / "m")["dev_score"] == max(line["score"] for line in lines)
    assert len(lines) < 50


def test_an_interrupt_keeps_the_best_model_and_says_how_to_go_on(run, corpora, tmp_path, interrupted):
    command = ("train", corpora / "train.txt", "-o", tmp_path / "m", "--iterations", 4)
    with interrupted(2):
        told = run(*command, code=130).stderr.splitlines()
    assert told[-2:] == [f"{tmp_path / 'm'}: 2 iterations", "interrupted: the same command with --resume goes on"]
    assert about(tmp_path / "m")["iterations"] == 2
    run(*command, "--resume")
    run(*command[:-3], tmp_path / "straight", *command[-2:])
    assert contents(tmp_path / "m") == contents(tmp_path / "straight")


@pytest.mark.parametrize(
    ("stopped", "options", "told"),
    [
        ("learning.learners.adagrad.AdaGrad.step", (), "interrupted in the first iteration: no model is written"),
        ("learning.learners.adagrad.AdaGrad.step", ("--incomplete", "posterior"), "tagweave: interrupted"),
        ("training.fit.fit.prepare", (), "tagweave: interrupted"),
    ],
)
def test_an_interrupt_before_there_is_a_model(run, corpora, tmp_path, monkeypatch, stopped, options, told):
    calls = []

    def stop(*_arguments, **_named):
        calls.append(1)
        raise KeyboardInterrupt

    monkeypatch.setattr(f"tagweave.{stopped}", stop)
    result = run("train", corpora / "train.txt", "-o", tmp_path / "m", *RUN, *options, code=130)
    assert result.stderr.splitlines()[-1] == told and calls == [1]
    assert list(tmp_path.iterdir()) == []


def test_a_checkpoint_of_another_run_is_refused_and_without_resume_announced(run, corpora, tmp_path, interrupted):
    model = tmp_path / "m"
    with interrupted(1):
        run("train", corpora / "train.txt", "-o", model, *RUN, code=130)
    changes = [("--seed", 1), ("--weights", "2"), ("--covers", "NN"), ("--set", "minimum_count=2")]
    changes.append(("--dev", corpora / "dev.txt"))
    for change in changes:
        result = run("train", corpora / "train.txt", "-o", model, *RUN, *change, "--resume", code=2)
        told = f"tagweave: {model}.checkpoint: a checkpoint of another training run; delete it to start anew"
        assert result.stderr.splitlines()[-1] == told
    result = run("train", corpora / "train.txt", "-o", model, *RUN)
    told = f"{model}.checkpoint of an earlier run is overwritten; --resume would go on from it"
    assert result.stderr.splitlines()[1] == told
    assert not (tmp_path / "m.checkpoint").exists()


@pytest.mark.parametrize("learner", FEATURE_LEARNERS)
def test_the_estimate_of_memory_covers_what_the_learner_keeps(corpora, learner):
    recipe = Recipe(learner=learner)
    problem = prepare([load(str(corpora / "train.txt"))], recipe)
    state = recipe.trainer().start(problem.objective, problem.model.weights)
    kept = sum(array.nbytes for array in state.arrays.values())
    assert kept < estimated_bytes(problem, recipe) < 12 * kept
    assert "memory" in problem.summary(recipe)[-1]


def test_the_estimate_grows_with_the_square_of_the_labels(corpora):
    words = load(f"pd={corpora / 'words.txt'}")
    recipe = Recipe(threads=2)
    problem = prepare_coupled([load(f"ctb={corpora / 'train.txt'}"), words], recipe, Coupling())
    labels = len(problem.model.space)
    assert estimated_bytes(problem, recipe) > 8 * 4 * labels**2 + 6 * 4 * problem.model.parameters.size
    assert estimated_bytes(problem, recipe) - estimated_bytes(problem, Recipe()) == 2 * 4 * labels**2
    assert peak_bytes() > 50e6


def test_a_plan_is_carried_out_and_goes_on_from_a_model(run, corpora, tmp_path):
    words = ("train", f"ctb={corpora / 'train.txt'}", "--iterations", 1, "--set", "rate=0.2", "-o", tmp_path / "m")
    run(*words)
    (tmp_path / "plan.json").write_text(run(*words[:-2], "--print-plan").stdout, "utf-8")
    run("train", "--plan", tmp_path / "plan.json", "-o", tmp_path / "planned")
    run("train", "--like", tmp_path / "m", f"ctb={corpora / 'train.txt'}", "-o", tmp_path / "like")
    assert contents(tmp_path / "m") == contents(tmp_path / "planned") == contents(tmp_path / "like")
    refused = run("train", "--plan", tmp_path / "plan.json", "--seed", 3, "-o", tmp_path / "n", code=2)
    assert "found --seed with --plan, expected it in the plan" in refused.stderr
    for words, name in (
        ((corpora / "train.txt",), "[G=]TRAIN"),
        (("--from", tmp_path / "m"), "--from"),
        (("--set", "rate=1"), "--set"),
    ):
        refused = run("train", *words, "--plan", tmp_path / "plan.json", "-o", tmp_path / "n", code=2)
        assert f"found {name} with --plan, expected it in the plan" in refused.stderr
    (tmp_path / "bad.json").write_text('{"colour": 1}', "utf-8")
    refused = run("train", "--plan", tmp_path / "bad.json", "-o", tmp_path / "n", code=2)
    assert "bad.json: plan: found the field 'colour', expected target" in refused.stderr


def test_training_goes_on_from_a_model(run, corpora, tmp_path):
    train, dev, first, model = corpora / "train.txt", corpora / "dev.txt", tmp_path / "first", tmp_path / "m"
    run("train", train, "-o", first, *RUN)
    result = run("train", dev, "--from", first, "--replay", train, "--covers", "all", "-o", model)
    assert f"{train}: " in result.stderr and "sentences join, of text that is known already" in result.stderr
    printed = run("train", dev, "--from", first, "--replay", train, "--covers", "all", "--print-plan").stdout
    (tmp_path / "plan.json").write_text(printed, "utf-8")
    run("train", "--plan", tmp_path / "plan.json", "-o", tmp_path / "planned")
    assert contents(tmp_path / "planned") == contents(model)
    told = about(model)
    in_python = tw.train(str(dev), sources=str(train), start=first, covers=["all"], callback=Silence())
    assert np.array_equal(in_python.trained.weights, load_model(model).weights)
    assert [source["path"] for source in told["plan"]["target"]] == ["train.txt", "dev.txt"]
    assert told["updates"][0]["start"] == {"path": "first", "sha256": digest(str(first)), "size": None}
    assert "| first (" in run("card", model).stdout
    run("train", "--like", model, train, dev, "-o", tmp_path / "again")
    assert "first" in run("train", dev, "--from", first, "-o", first, code=2).stderr
    for options, problem in (
        (("--replay", train), "found --replay without --from"),
        (("--from", first, "--source", train), "found --source with --from"),
        (("--from", first, "--template", "form[0]"), "found --template with --from, expected it without"),
    ):
        assert problem in run("train", dev, *options, "-o", model, code=2).stderr
