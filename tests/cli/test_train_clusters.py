"""`tagweave harvest clusters` and `tagweave train --clusters`: words that training never saw."""

from __future__ import annotations

import pytest
from model_files import contents, write

import tagweave as tw
from tagweave.features.templates import PRESETS
from tagweave.models.storage import describe_model, load_model


@pytest.fixture(scope="module")
def files(run, tmp_path_factory):
    """A corpus, and the clusters of a larger text, which tell a1 .. a9 from b1 .. b9."""
    folder = tmp_path_factory.mktemp("clusters")
    write(folder / "raw.seg", [f"a{n} b{m} a{m} b{n}" for n in range(1, 10) for m in range(1, 10)])
    run("harvest", "clusters", folder / "raw.seg", "--classes", 2, "-o", folder / "words.paths")
    return write(folder / "train.col", ["a1\tA", "b1\tB", "a2\tA", "b2\tB"]), folder / "words.paths"


@pytest.fixture(scope="module")
def model(run, files, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m"
    run("train", files[0], "--iterations", 5, "--template", "cluster_1[0]", "--clusters", files[1], "-o", path)
    return path


def test_words_that_training_never_saw(run, model):
    assert run("tag", model, "--format", "segmented", stdin="b9 a8\n").stdout == "b9/B a8/A\n"


def test_the_model_tells_of_its_clusters(run, model, files):
    [file] = describe_model(model)["about"]["plan"]["clusters"]
    assert (file["path"], file["size"]) == (files[1].name, 18)
    assert f"with {files[1].name}: 18 words in clusters, sha256 {file['sha256'][:12]}" in run("info", model).stdout


def test_without_templates_the_preset_is_added(files, run, tmp_path):
    run("train", files[0], "--iterations", 1, "--clusters", files[1], "-o", tmp_path / "m")
    tw.train(files[0], clusters=files[1], iterations=1).save(tmp_path / "again")
    preset = PRESETS["clusters"].texts
    assert load_model(tmp_path / "m").encoder.templates.texts[-len(preset) :] == preset
    assert contents(tmp_path / "m")[0] == contents(tmp_path / "again")[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--task", "segment"), "found --clusters with the task segment, expected a task of words"),
        (("--task", "parse"), "found --clusters with the task parse"),
        (("--preset", "words"), "found word clusters, expected templates that look at them"),
    ],
)
def test_options_that_do_not_fit(run, files, tmp_path, options, message):
    result = run("train", files[0], *options, "--clusters", files[1], "-o", tmp_path / "m", code=2)
    assert message in result.stderr
