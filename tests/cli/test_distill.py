"""`tagweave distill`: from teachers and raw text to one model, as `tw.distill` makes it."""

from __future__ import annotations

import numpy as np
import pytest
from model_files import write

import tagweave as tw
from tagweave.learning.run import Silence

GOLD = ["Ann B-PER", "sang O", "in O", "Oslo B-LOC", ". O", "", "Bell B-PER", "saw O", "Rome B-LOC", ". O"]
TEXT = ["Ann saw Oslo.", "Bell sang in Rome."]


@pytest.fixture
def files(tmp_path, run):
    write(tmp_path / "gold.conll", GOLD)
    write(tmp_path / "raw.txt", TEXT)
    for seed in (1, 2):
        model = tmp_path / f"{seed}.model"
        run(
            "train", tmp_path / "gold.conll", "--iterations", 3, "--seed", seed, "--set", "average_seeds=1", "-o", model
        )
    return tmp_path


def test_the_command_makes_the_model_of_the_function(files, run):
    one, two, raw, gold, out = (files / name for name in ("1.model", "2.model", "raw.txt", "gold.conll", "out.model"))
    words = ("distill", one, raw, "--teacher", two, "--with", gold, "--tokens", "words", "--iterations", 4)
    told = run(*words, "-o", out).stderr
    assert f"{raw}: 2 sentences, 9 words" in told
    assert f"{out}: " in told
    model = tw.distill([one, two], raw, gold, tokens="words", iterations=4, callback=Silence())
    student = tw.load_model(out)
    assert np.allclose(student.chain.weights, model.chain.weights, atol=1e-3)
    assert student.about["teachers"] == ["1.model", "2.model"]
    assert run("tag", out, "-", "--tokens", "words", stdin="Ann sang.\n").stdout == "Ann/B-PER sang/O ./O\n"


def test_columns_and_trees_without_labels_are_text_too(files, run):
    write(files / "raw.conllu", [f"{at}\t{form}" + "\t_" * 8 for at, form in enumerate(("Ann", "sang"), 1)])
    write(files / "raw.col", ["Ann", "sang"])
    for name in ("raw.conllu", "raw.col"):
        words = ("distill", files / "1.model", files / name, "--iterations", 2, "-o", files / "out.model")
        assert f"{name}: 1 sentences, 2 words" in run(*words).stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("{}/none.model", "{}/raw.txt", "-o", "{}/m"), "none.model: no such model file"),
        (("{}/1.model", "{}/none.txt", "-o", "{}/m"), "none.txt: No such file or directory"),
        (("{}/1.model", "{}/raw.txt", "-o", "{}/1.model"), "found a file that is read as the output"),
        (("{}/1.model", "{}/raw.txt", "--preset", "x", "-o", "{}/m"), "unknown preset 'x'"),
    ],
)
def test_mistakes_are_told(files, run, words, message):
    assert message in run("distill", *(each.format(files) for each in words), code=2).stderr
