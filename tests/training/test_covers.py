"""Labels that were annotated in a corpus: said in the file, in Python, in a plan, on the command line, to workers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import tagweave as tw
from tagweave.cli.main import application
from tagweave.learning.run import Silence

PEOPLE = "Ann\tB-PER\nsaw\tO\nGraz\tO\n\nBob\tB-PER\nleft\tO\n\n"
PLACES = "Carl\tO\nleft\tO\nOslo\tB-LOC\n\nGraz\tB-LOC\ngrew\tO\n\n"
COVERS = ["PER", "LOC"]
QUICK: dict[str, Any] = {"task": "spans", "iterations": 2, "callback": Silence()}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Files that say nothing of what was annotated; `said-FILE` says it."""
    monkeypatch.chdir(tmp_path)
    for name, text, covered in (("people", PEOPLE, "PER"), ("places", PLACES, "LOC")):
        Path(f"{name}.conll").write_text(text)
        Path(f"said-{name}.conll").write_text(f"# labels_covered = {covered}\n{text}")
    return ["people.conll", "places.conll"]


def weights(*arguments: Any, **options: Any) -> Any:
    return tw.train(*arguments, **QUICK, **options).trained.weights


def test_every_way_to_say_it_gives_the_same_model(files: list[str]) -> None:
    said = weights([f"said-{each}" for each in files])
    command = ["train", *files, "--task", "spans", "--iterations", "2", "--covers", "PER", "--covers", "LOC"]
    assert CliRunner().invoke(application(["train"]), [*command, "-o", "m"]).exit_code == 0
    planned = CliRunner().invoke(application(["train"]), [*command, "--print-plan"]).stdout
    assert [each["covers"] for each in json.loads(planned)["target"]] == [["PER"], ["LOC"]]
    Path("plan.json").write_text(planned)
    for name, words in {"planned": ["--plan", "plan.json"], "like": ["--like", "m", *files]}.items():
        assert CliRunner().invoke(application(["train"]), ["train", *words, "-o", name]).exit_code == 0
    found = [tw.load_model(name).trained.weights for name in ("m", "planned", "like")]
    found += [weights(files, covers=COVERS), weights(files[0], files[1:], covers=[["PER"], "LOC"])]
    found += [weights(tw.load(each, covers=covered) for each, covered in zip(files, COVERS, strict=True))]
    found += [weights(map(tw.load, files), covers=COVERS)]
    assert all(np.array_equal(said, other) for other in found)
    assert not np.array_equal(said, weights(files))


def test_all_overrules_the_file(files: list[str]) -> None:
    said = [f"said-{each}" for each in files]
    assert np.array_equal(weights(said, covers=["all", "all"]), weights(files))
    assert np.array_equal(weights(said, covers=[None, "LOC"]), weights(said))


def test_documents_of_a_file_may_differ_until_an_option_speaks_for_all(files: list[str]) -> None:
    Path("both.conll").write_text(f"# labels_covered = PER\n{PEOPLE}# labels_covered = LOC\n{PLACES}")
    assert [tw.load("both.conll").covered_in(each) for each in tw.load("both.conll")] == [("PER",)] * 2 + [("LOC",)] * 2
    for given, covered in (("PER,LOC", ("PER", "LOC")), ("all", None)):
        corpus = tw.load("both.conll", covers=given)
        assert {corpus.covered_in(each) for each in corpus} == {covered}


def test_spans_have_a_rate_of_their_own(files: list[str]) -> None:
    usual = weights(files, covers=["all"] * 2)
    assert np.array_equal(usual, weights(files, covers=["all"] * 2, settings={"rate": 0.1}))
    assert not np.array_equal(usual, weights(files, covers=["all"] * 2, settings={"rate": 0.2}))


def test_a_parser_has_no_such_labels(files: list[str]) -> None:
    Path("x.conllu").write_text("1\tAnn\t_\tPROPN\t_\t_\t0\troot\t_\t_\n\n")
    with pytest.raises(ValueError, match="found `covers`"):
        tw.train("x.conllu", task="parse", covers=["PER"])
