"""`tagweave train` on corpora of several guidelines: every method is that of the library, and tells what it does."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from model_files import contents, corpora_of, write

from tagweave.corpus import sample
from tagweave.corpus.load import load
from tagweave.labels.mapping import CTB_PD, read_mapping
from tagweave.learning.run import Run, Schedule
from tagweave.models.storage import describe_model, load_model
from tagweave.training import race
from tagweave.training.cascades.coupled import Coupling, fit_coupled
from tagweave.training.fit.recipe import Recipe

RUN = ("--iterations", 2)
SHORT = Schedule(2)
RECIPE = Recipe(settings={"seed": 0})


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """20 sentences under CTB and 25 under PD, 8 of the texts with both."""
    folder = tmp_path_factory.mktemp("two")
    for name, count in (("ctb", 20), ("pd", 25)):
        write(folder / f"{name}.txt", sample.path(f"{name}.txt").read_text("utf-8").splitlines()[:count])
    blocks = sample.path("both.tsv").read_text("utf-8").split("\n\n")[:8]
    write(folder / "dev.tsv", ["\n\n".join(blocks), ""])
    return folder


@pytest.fixture
def couple(run, files, tmp_path):
    """Trains on both corpora, for two iterations; gives the model and what was said, line by line."""

    def call(*options, code=0, source=f"pd={files / 'pd.txt'}"):
        result = run(
            "train", f"ctb={files / 'ctb.txt'}", "--source", source, "-o", tmp_path / "m", *RUN, *options, code=code
        )
        return result.stderr.splitlines() if code else (load_model(tmp_path / "m"), result.stderr.splitlines())

    return call


def corpora(files):
    return [load(f"{name}={files / name}.txt") for name in ("ctb", "pd")]


def bundles(model):
    return len(model.space)


# Steps


def test_coupled_is_the_default_for_few_sentences(couple):
    """Narrowed by taggers, which also give the mapping."""
    model, lines = couple()
    assert model.space.guidelines == ("ctb", "pd", "ctb&pd")
    assert lines[0] == "method coupled, for corpora of ctb and pd"
    assert any(line.startswith("automatic mapping of ctb and pd: ") for line in lines)
    assert lines[-2].startswith("no --dev: nothing tells whether the sources made the model better or worse")
    iterations = [line.split("  ")[0] for line in lines if line.startswith("iteration")]
    assert iterations == ["iteration 1/2", "iteration 2/2"] * 3


@pytest.mark.parametrize("dev", [False, True], ids=["held out", "dev"])
def test_a_race_of_the_methods_is_the_default_for_more(run, files, tmp_path, monkeypatch, dev):
    monkeypatch.setattr(race, "RACED", 20)  # not 50
    corpora = [f"{name}={files / name}.txt" for name in ("ctb", "pd")]
    options = ("--dev", f"{files / 'dev.tsv'}#ctb") if dev else ()
    lines = run("train", corpora[0], "--source", corpora[1], *options, "-o", tmp_path / "m", *RUN).stderr.splitlines()
    about = describe_model(tmp_path / "m")["about"]
    scores, method = about["race"], about["plan"]["method"]
    assert list(scores) == ["single", "stacked", "coupled"]
    assert all(any(line.startswith(f"{name}: {score:.4f}") for line in lines) for name, score in scores.items())
    first = next(line for line in lines if line.startswith("methods race on"))
    assert first.endswith("the development data" if dev else "sentences of TRAIN that are held out")
    best = max(scores, key=scores.get)
    assert f"method {best} (--method would name another)" in lines
    if dev:  # the plain model is kept where the race was wrong
        assert method in (best, "single")
    else:
        assert method == best
        assert not any(line.startswith("no --dev") for line in lines)
    again = run("train", "--like", tmp_path / "m", corpora[0], "--source", corpora[1], "--print-plan").stdout
    assert json.loads(again)["method"] == "auto"  # also where `single` has won, which takes no sources
    in_order = run("train", "--like", tmp_path / "m", *corpora[:2], "--print-plan")
    assert (in_order.stdout, "becomes a source (--source)" in in_order.stderr) == (again, True)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ((), "first taggers, which allow labels with a probability of at least 0.01"),
        (("--set", "narrow=0"), "first a model of ctb, whose labels of the other corpora give the automatic"),
        (("--method", "stacked"), "first a model of pd, then one of ctb that looks at its labels"),
    ],
    ids=["narrowed", "mapped", "stacked"],
)
def test_first_models_are_told(couple, run, tmp_path, options, told):
    _, lines = couple(*options)
    assert any(line.startswith(told) for line in lines)
    assert "guided by a model of pd, which is part of it" in run("info", tmp_path / "m").stdout


@pytest.mark.parametrize("task", ["tag", "segment", "segtag"])
@pytest.mark.parametrize("method", ["coupled", "stacked", "merged", "transform"])
def test_a_model_of_every_method_and_task_tags(run, files, tmp_path, task, method):
    """Words of lexicons and clusters are features with every method."""
    lines = [f"{name}-few.txt" for name in ("ctb", "pd")]
    for name in lines:
        write(tmp_path / name, (files / name.replace("-few", "")).read_text("utf-8").splitlines()[:6])
    write(tmp_path / "clusters", ["0\t他\t1", "1\t书\t1"])
    write(tmp_path / "lexicon", ["看书"])
    model, learner = tmp_path / "m", ("--learner", "perceptron") if task == "segtag" else ()
    looked_up = ("--clusters", tmp_path / "clusters") if task == "tag" else ("--lexicon", tmp_path / "lexicon")
    corpora = [tmp_path / lines[0], "--source", tmp_path / lines[1], *looked_up]
    run("train", "--task", task, "--method", method, *corpora, "-o", model, "--iterations", 1, *learner)
    assert any(name.endswith(("clusters.words", "lexicon.words")) for name in contents(model)[0])
    out = run("tag", model, stdin="他 看 书 。\n").stdout
    assert len(out.splitlines()) == 1 and ("/" in out) == (task != "segment")
    if method == "coupled":
        assert load_model(model).space.guidelines == ("target", "source", "target&source")
        other = run("tag", model, "--to", "source", stdin="他 看 书 。\n").stdout
        assert other.replace("\n", "") != ""
    assert describe_model(model)["about"]["plan"]["method"] == method


def test_three_guidelines(run, tmp_path):
    for name, line in (("a", "x/N y/V"), ("b", "x/n y/v"), ("c", "x/1 y/2")):
        write(tmp_path / name, [line])
    a, b, c = (f"{name}={tmp_path / name}" for name in "abc")
    lines = run("train", a, "--source", b, "--source", c, "-o", tmp_path / "m", *RUN).stderr.splitlines()
    assert lines[0] == "method coupled, for corpora of a and b and c"
    assert load_model(tmp_path / "m").space.guidelines == ("a", "b", "c", "a&b&c")
    assert sum(line.startswith("automatic mapping of a and ") for line in lines) == 2


def test_development_data_of_the_source(couple, files):
    model, _ = couple("--mapping", "ctb-pd", "--dev", f"{files / 'dev.tsv'}#pd")
    assert model.about["plan"]["dev"]["guideline"] == "pd" and model.about["dev_score"] > 0.5
    couple("--mapping", "automatic", "--dev", f"{files / 'dev.tsv'}#pd")


# Text that is annotated twice


def test_a_layer_that_is_named_is_the_only_one(couple, files):
    """Its sentences are evidence of one side; without a name of a layer both layers of the file are."""
    options = ("--mapping", "complete", "--set", "narrow=0", "--set", "guided=0", "--set", "average_seeds=1")
    alone, _ = couple(*options, source=f"{files / 'dev.tsv'}#pd")
    both, _ = couple(*options, source=str(files / "dev.tsv"))
    assert not np.array_equal(alone.weights, both.weights)
    one_layer = load(f"{files / 'dev.tsv'}#pd").map(lambda sentence: sentence.with_layers_of(["pd"]))
    recipe = replace(RECIPE, sample=tuple(alone.about["recipe"]["sample"]))
    fitted = fit_coupled([load(f"ctb={files / 'ctb.txt'}"), one_layer], recipe, Coupling(), None, Run(SHORT))
    assert np.array_equal(alone.weights, fitted.model.weights)


def test_a_mapping_that_the_corpora_contradict_is_refused_before_anything_is_trained(couple, files, tmp_path):
    write(tmp_path / "wrong", ["# ctb\tpd", "NN\tv", "VV\tn"])
    options = ("--mapping", tmp_path / "wrong", "--mapping", "automatic")
    options += ("--dev", f"{files / 'dev.tsv'}#ctb")
    lines = couple(*options, source=str(files / "dev.tsv"), code=2)
    assert "layers that exclude one another" in lines[-1]
    assert not any("iteration" in line or line.startswith("first") for line in lines)


# Mappings


def test_mappings_of_every_kind(couple, files, tmp_path):
    sides = {}

    def size(*options):
        model, lines = couple(*options)
        sides.update({view.guideline: len(view.names) for view in model.space.sides})
        told = f"{bundles(model):,} bundles of labels ({sides['ctb']} of ctb and {sides['pd']} of pd), "
        assert any(line.startswith(told) for line in lines)
        assert model.about["plan"]["options"]["mapping"] == [str(each) for each in options[1:2]] or ["automatic"]
        return bundles(model)

    complete, relaxed, tight = (
        size("--mapping", "complete"),
        size("--mapping", "ctb-pd"),
        size("--mapping", "ctb-pd", "--set", "mapping_tight=true"),
    )
    assert complete == sides["ctb"] * sides["pd"] > relaxed > tight
    assert size("--mapping", CTB_PD) == relaxed
    plain = write(tmp_path / "plain.tsv", [f"{a}\t{b}" for a, b in read_mapping(CTB_PD).counts])
    assert size("--mapping", plain) == relaxed
    assert size("--mapping", "automatic") == size()


def test_several_mappings_are_what_all_of_them_allow(couple, tmp_path):
    write(tmp_path / "a", ["# ctb\tpd", "NN\tn", "NN\tvn", "VV\tv", "VV\tvn"])
    write(tmp_path / "b", ["# pd\tctb", "n\tNN", "v\tNN", "v\tVV", "vn\tVV"])
    model, _ = couple("--mapping", tmp_path / "a", "--mapping", tmp_path / "b")
    names = {name for name in model.space.names if name.split("&")[0] in ("NN", "VV")}
    assert {"NN&n", "VV&v", "VV&vn"} <= names and not {"NN&vn", "NN&v", "VV&n"} & names


@pytest.mark.parametrize("task", ["tag", "segtag"])
def test_a_mapping_of_no_tag_of_the_corpora_is_told(run, tmp_path, task):
    """Of labels of characters, too, it is the tags that a mapping names."""
    for name, line in (("a", "ab/N c/V"), ("b", "ab/n c/v")):
        write(tmp_path / name, [line])
    write(tmp_path / "x", ["# a\tb", "X\ty"])
    write(tmp_path / "n", ["# a\tb", "N\tn"])
    command = ("train", "--task", task, f"a={tmp_path / 'a'}", "--source", f"b={tmp_path / 'b'}", "-o", tmp_path / "m")
    told = run(*command, *RUN, "--mapping", tmp_path / "x").stderr
    assert "warning: the mapping of a and b names no tag of these corpora: every pair is possible\n" in told
    told = run(*command, *RUN, "--mapping", tmp_path / "n").stderr
    assert "warning" not in told
    assert "so possible with every tag of b: V of a\n" in told and "so possible with every tag of a: v of b\n" in told


def test_boundaries_alone_have_the_complete_mapping(run, files, tmp_path):
    command = ("train", "--task", "segment", f"ctb={files / 'ctb.txt'}", "--source", f"pd={files / 'pd.txt'}")
    lines = run(*command, "--set", "guided=0", "-o", tmp_path / "m", *RUN).stderr.splitlines()
    assert any(line.startswith("16 bundles of labels (4 of ctb and 4 of pd)") for line in lines)
    assert not any(line.startswith("first") for line in lines)
    assert describe_model(tmp_path / "m")["about"]["plan"]["options"]["mapping"] == ["complete"]


# Weights and samples


def test_a_sample_of_each_corpus(couple, files):
    model, lines = couple("--mapping", "ctb-pd", "--sample", "all,7")
    assert model.about["recipe"]["sample"] == [20, 7]
    visited = f"20 of 20 in {files / 'ctb.txt'}, 7 of 25 in {files / 'pd.txt'}"
    assert f"an iteration visits sentences: {visited}" in lines


@pytest.mark.parametrize("method", ["coupled", "merged"])
def test_of_a_large_source_an_iteration_visits_as_many_words(couple, files, method):
    options = ("--mapping", "ctb-pd") if method == "coupled" else ()
    target, source = (load(str(files / name)) for name in ("ctb.txt", "pd.txt"))
    share = target.tokens() / source.tokens()
    assert share < 1
    model, _ = couple("--method", method, *options)
    visited = model.about["recipe"]["sample"]
    assert visited[0] == len(target)
    assert len(source) * share <= visited[1] < len(source) * share + 1
    model, _ = couple("--method", method, *options, "--learner", "lbfgs")
    assert model.about["recipe"]["sample"] == []


def test_the_sample_of_merged_corpora_goes_with_them(run, files, tmp_path):
    corpora = (f"ctb={files / 'ctb.txt'}", "--source", f"pd={files / 'pd.txt'}", "--source", f"{files / 'dev.tsv'}#ctb")
    run("train", *corpora, "--method", "merged", "--sample", "5,10,all", "-o", tmp_path / "m", *RUN)
    assert load_model(tmp_path / "m").about["recipe"]["sample"] == [5, 8, 10]


# What is kept, shown and logged


def test_info_shows_guidelines_bundles_and_weights(run, couple, tmp_path):
    model, _ = couple("--mapping", "ctb-pd")
    told = json.loads(run("info", tmp_path / "m", "--json").stdout)
    sides = {view.guideline: list(view.names) for view in model.space.sides}
    assert told["labels"] == sides and told["bundles"] == bundles(model) and told["guide"] == "pd"
    assert told["weighted"] == ["ctb", "pd", "ctb&pd"]
    assert [each["guideline"] for each in corpora_of(told["about"])] == ["ctb", "pd"]
    shown = run("info", tmp_path / "m").stdout
    assert f"{len(sides['pd'])} labels of pd: " in shown
    assert f"{bundles(model):,} bundles of these labels; target guideline ctb" in shown
    sizes = ", ".join(f"{name} {count:,}" for name, count in model.parameters.weights_by_view.items())
    assert f"weights: {sizes}\n" in shown and "method coupled, mapping ctb-pd" in shown


@pytest.mark.parametrize(("options", "models"), [((), 3), (("--set", "narrow=0"), 4), (("--method", "stacked"), 2)])
def test_the_log_has_the_iterations_of_all_models(couple, tmp_path, options, models):
    couple(*options, "--log", tmp_path / "log")
    numbers = [json.loads(line)["number"] for line in (tmp_path / "log").read_text("utf-8").splitlines()]
    assert numbers == [1, 2] * models


@pytest.mark.parametrize(
    ("options", "stop", "models"),
    [
        pytest.param((), 2, 3, marks=pytest.mark.slow),
        ((), 5, 3),
        (("--set", "narrow=0"), 1, 4),
        (("--method", "stacked"), 3, 2),
    ],
)
def test_an_interrupt_of_any_model_is_resumed(couple, tmp_path, interrupted, options, stop, models):
    couple(*options)
    straight = contents(tmp_path / "m")
    (tmp_path / "m").unlink()
    with interrupted(stop):
        last = couple(*options, code=130)[-1]
    whole = "interrupted: the same command with --resume goes on"
    of_last = stop > 2 * (models - 1)
    assert last == (whole if of_last else "interrupted before the model itself: the same command with --resume goes on")
    assert (tmp_path / "m").exists() == of_last
    _, lines = couple(*options, "--resume")
    assert contents(tmp_path / "m") == straight
    assert len([line for line in lines if line.startswith("iteration")]) == 2 * models - stop
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m"]


@pytest.mark.parametrize("stop", [1, 3])
def test_an_interrupt_of_either_step_is_resumed(run, files, tmp_path, interrupted, stop):
    command = ("train", f"ctb={files / 'ctb.txt'}", "--task", "segtag", "--method", "pipeline", *RUN)
    run(*command, "-o", tmp_path / "m")
    straight = contents(tmp_path / "m")
    (tmp_path / "m").unlink()
    with interrupted(stop):
        lines = run(*command, "-o", tmp_path / "m", code=130).stderr.splitlines()
    whole, first = "interrupted: the", "interrupted before the model itself: the"
    assert lines[-1] == f"{first if stop == 1 else whole} same command with --resume goes on"
    lines = run(*command, "-o", tmp_path / "m", "--resume").stderr.splitlines()
    assert contents(tmp_path / "m") == straight
    assert sum(", iteration " in line for line in lines) == 4 - stop
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m"]


def test_a_checkpoint_of_another_coupling_is_refused(couple, tmp_path, interrupted):
    own = write(tmp_path / "own", ["# ctb\tpd", "NN\tn"])
    command = ("--mapping", own, "--set", "narrow=0", "--set", "guided=0")
    with interrupted(1):
        couple(*command, code=130)
    refused = f"tagweave: {tmp_path / 'm'}.checkpoint: a checkpoint of another training run; delete it to start anew"
    others = [
        ("--set", "views=joint"),
        (
            "--set",
            "mapping_tight=true",
        ),
        ("--sample", "5,5"),
    ]
    for other in others:
        assert couple(*command, *other, "--resume", code=2)[-1] == refused
    assert couple(*command[2:], "--mapping", "complete", "--resume", code=2)[-1] == refused
    write(own, ["# ctb\tpd", "NN\tvn"])
    assert couple(*command, "--resume", code=2)[-1] == refused


# What a user can get wrong


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ("--mapping x", "found --mapping x, expected automatic, complete, ctb-pd, or a file"),
        (
            "--mapping complete --set mapping_tight=true",
            "found --mapping complete with another --mapping or --set mapping_tight",
        ),
        ("--mapping {t}/bad", "{t}/bad:2: found 'NN', expected TAG<TAB>TAG or TAG<TAB>TAG<TAB>COUNT, tags with"),
        ("--mapping {t}/ud", "--mapping {t}/ud: found a mapping of ctb and ud, expected two of ctb, pd (corpora can"),
        ("--mapping {t}/nameless --source ud={f}/dev.tsv#ctb", "--mapping {t}/nameless: found a mapping of no"),
        ("--set narrow=0.01 --task segtag", "found --set narrow with the task segtag, expected tag"),
        ("--set narrow=0.01 --method merged", "found --set narrow with the method merged, expected coupled"),
        ("--set views=x", "unknown views 'x', expected one of both, joint, separate"),
        ("--sample 5", "found 1 numbers as sample, expected 2, one for each corpus"),
        ("--sample 5,0", "found --sample 0, expected a whole number from 1 or all"),
        ("--sample 5,-", "found --sample -, expected a whole number from 1 or all"),
        ("--sample 5,5 --learner lbfgs", "found --sample with the learner lbfgs, expected one of adagrad, adamw,"),
        ("--sample 5,5 --method stacked", "found --sample with the method stacked, expected single or coupled or"),
        ("--incomplete posterior", "found --incomplete with the method coupled, expected single"),
        ("--mapping ctb-pd --method merged", "found --mapping with the method merged, expected coupled"),
        ("--set views=joint --method stacked", "found --set views with the method stacked, expected coupled"),
        (
            "--set mapping_tight=true --method stacked",
            "found --set mapping_tight with the method stacked, expected coupled",
        ),
        ("--dev x={f}/ctb.txt", "{f}/ctb.txt: found development data of the guideline 'x', expected 'ctb' or 'pd'"),
    ],
)
def test_one_clear_line(couple, files, tmp_path, options, line):
    write(tmp_path / "bad", ["# ctb\tpd", "NN"])
    write(tmp_path / "ud", ["# ctb\tud", "NN\tNOUN"])
    write(tmp_path / "nameless", ["NN\tn"])
    before = sorted(tmp_path.iterdir())
    names = {"t": tmp_path, "f": files}
    lines = couple(*options.format(**names).split(), code=2)
    assert lines[-1].startswith(f"tagweave: {line.format(**names)}")
    assert not any(each.startswith("iteration") for each in lines)  # nothing is trained in vain
    assert sorted(tmp_path.iterdir()) == before
