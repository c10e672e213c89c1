"""`tagweave train --gazetteer` and `--clusters`: features that the model keeps and tells of."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest
from model_files import contents, write

import tagweave as tw
from tagweave.features.templates import PRESETS
from tagweave.models.storage import describe_model, load_model


class Case(NamedTuple):
    """An option, and the file that knows words which training never saw."""

    option: str
    train: Path
    file: Path
    template: str
    tokens: str
    labels: list[str]
    told: str
    size: int


@pytest.fixture(scope="module", params=["gazetteer", "clusters"])
def case(request: Any, run: Any, tmp_path_factory: pytest.TempPathFactory) -> Case:
    folder, name = tmp_path_factory.mktemp(request.param), request.param
    if name == "gazetteer":
        blocks = [(f"p{n}\tB-X", f"q{n}\tI-X", "", f"r{n}\tB-Y", "", f"s{n}\tO", f"t{n}\tO", "") for n in range(30)]
        train = write(folder / "train.col", [line for block in blocks for line in block])
        file = write(folder / "a.tsv", [line for n in range(40) for line in (f"X\tp{n} q{n}", f"Y\tr{n}")])
        return Case(name, train, file, "gazetteer[0]", "p39 q39 r39", ["B-X", "I-X", "B-Y"], "80 phrases", 80)
    write(folder / "raw.seg", [f"a{n} b{m} a{m} b{n}" for n in range(1, 10) for m in range(1, 10)])
    run("harvest", "clusters", folder / "raw.seg", "--classes", 2, "-o", folder / "words.paths")
    train = write(folder / "train.col", ["a1\tA", "b1\tB", "a2\tA", "b2\tB"])
    return Case(name, train, folder / "words.paths", "cluster_1[0]", "b9 a8", ["B", "A"], "18 words in clusters", 18)


def test_words_that_training_never_saw_and_what_the_model_tells(run: Any, case: Case, tmp_path: Path) -> None:
    options = (f"--{case.option}", case.file, "--template", case.template, "--iterations", 5)
    run("train", case.train, *options, "-o", tmp_path / "m")
    words = ("--format", "segmented", "--output-format", "columns")
    rows = run("tag", tmp_path / "m", *words, stdin=f"{case.tokens}\n").stdout.splitlines()
    assert [line.split("\t")[-1] for line in rows if line and not line.startswith("#")] == case.labels
    plan = describe_model(tmp_path / "m")["about"]["plan"]
    [file] = plan["gazetteers" if case.option == "gazetteer" else "clusters"]
    assert (file["path"], file["size"]) == (case.file.name, case.size)
    assert f"with {case.file.name}: {case.told}, sha256 {file['sha256'][:12]}" in run("info", tmp_path / "m").stdout


def test_without_templates_the_preset_is_added(run: Any, case: Case, tmp_path: Path) -> None:
    run("train", case.train, "--iterations", 1, f"--{case.option}", case.file, "-o", tmp_path / "m")
    files: dict[str, Any] = {"gazetteers": [case.file]} if case.option == "gazetteer" else {"clusters": case.file}
    tw.train(case.train, iterations=1, **files).save(tmp_path / "again")
    preset = PRESETS[case.option].texts
    assert load_model(tmp_path / "m").encoder.templates.texts[-len(preset) :] == preset
    assert contents(tmp_path / "m")[0] == contents(tmp_path / "again")[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--task", "segment"), "found --{} with the task segment, expected a task of words"),
        (("--preset", "words"), "expected templates that look at"),
    ],
)
def test_options_that_do_not_fit(run: Any, case: Case, tmp_path: Path, options: tuple[str, ...], message: str) -> None:
    words = (*options, f"--{case.option}", case.file, "-o", tmp_path / "m")
    assert message.format(case.option) in run("train", case.train, *words, code=2).stderr


def test_parsers_have_no_gazetteers(run: Any, case: Case, tmp_path: Path) -> None:
    words = ("--task", "parse", "--gazetteer", case.file, "-o", tmp_path / "m")
    assert "found --gazetteer with the task parse" in run("train", case.train, *words, code=2).stderr
