"""`tagweave train --gazetteer`: phrases as features, kept with the model, which tells of them."""

from __future__ import annotations

import pytest
from model_files import contents, write

import tagweave as tw
from tagweave.features.templates import PRESETS
from tagweave.models.storage import describe_model, load_model


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A corpus, text whose entities only a gazetteer can know, and the gazetteer."""
    folder = tmp_path_factory.mktemp("gazetteer")
    rows = [
        line
        for n in range(30)
        for line in (f"p{n}\tB-X", f"q{n}\tI-X", "", f"r{n}\tB-Y", "", f"s{n}\tO", f"t{n}\tO", "")
    ]
    entries = [line for n in range(40) for line in (f"X\tp{n} q{n}", f"Y\tr{n}")]
    return write(folder / "train.col", rows), write(folder / "gazetteer.tsv", entries)


@pytest.fixture(scope="module")
def model(run, files, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m"
    run("train", files[0], "--iterations", 3, "--template", "gazetteer[0]", "--gazetteer", files[1], "-o", path)
    return path


def test_phrases_that_training_never_saw(run, model):
    tagged = run("tag", model, "--format", "segmented", "--output-format", "columns", stdin="p39 q39\nr39\n").stdout
    assert [line.split("\t")[-1] for line in tagged.splitlines() if line] == ["B-X", "I-X", "B-Y"]


def test_the_model_tells_of_its_gazetteer(run, model, files):
    [file] = describe_model(model)["about"]["plan"]["gazetteers"]
    assert (file["path"], file["size"]) == (files[1].name, 80)
    assert f"with {files[1].name}: 80 phrases, sha256 {file['sha256'][:12]}" in run("info", model).stdout


def test_without_templates_the_preset_is_added(files, run, tmp_path):
    run("train", files[0], "--iterations", 1, "--gazetteer", files[1], "-o", tmp_path / "m")
    fitted = tw.train(files[0], gazetteers=[files[1]], iterations=1)
    fitted.save(tmp_path / "again")
    assert load_model(tmp_path / "m").encoder.templates.texts[-6:] == PRESETS["gazetteer"].texts
    assert contents(tmp_path / "m")[0] == contents(tmp_path / "again")[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--task", "segment"), "found --gazetteer with the task segment, expected a task of words"),
        (("--task", "parse"), "found --gazetteer with the task parse"),
        (("--preset", "words"), "found a gazetteer, expected templates that look at it"),
    ],
)
def test_options_that_do_not_fit(run, files, tmp_path, options, message):
    result = run("train", files[0], *options, "--gazetteer", files[1], "-o", tmp_path / "m", code=2)
    assert message in result.stderr
