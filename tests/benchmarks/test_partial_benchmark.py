"""The benchmark of training on partial annotation: its data, what it measures, and the page that it writes."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import pytest

from benchmarks import partial_measure
from benchmarks.characters import attributes, bmes, plain_words
from benchmarks.partial_measure import (
    COMPLETED,
    PARTIAL,
    SOURCE,
    TEST,
    crfsuite,
    make_data,
    tagweave,
)
from tagweave.corpus import sample
from tagweave.corpus.load import load


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Training data of the shape of the benchmark's, from the sample."""
    corpora = tmp_path_factory.mktemp("corpora")
    for name in ("pd199801", "zx", "lexicons"):
        (corpora / "zh" / name).mkdir(parents=True)
    lines = sample.path("pd.txt").read_text("utf-8").splitlines(keepends=True)
    underlined = [" ".join("_".join(token.rsplit("/", 1)) for token in line.split()) + "\n" for line in lines]
    (corpora / "zh" / "pd199801" / "train.txt").write_text("".join(lines[:60]), encoding="utf-8")
    (corpora / "zh" / "zx" / "train.txt").write_text("".join(underlined[60:90]), encoding="utf-8")
    (corpora / "zh" / "zx" / "test.txt").write_text("".join(underlined[90:]), encoding="utf-8")
    words = sorted({token.rsplit("/", 1)[0] for line in lines[60:90] for token in line.split()})
    names = [word for word in words if len(word) > 1][:20]
    (corpora / "zh" / "lexicons" / "zhuxian-names.txt").write_text("\n".join(names) + "\n", encoding="utf-8")
    folder = tmp_path_factory.mktemp("data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partial_measure, "corpora_folder", lambda: corpora)
        assert make_data(folder, 50, 1)["sentences"] <= 30
    return folder


def test_the_data_are_the_partial_sentences_and_what_completes_them(folder: Path) -> None:
    assert len(list(plain_words(folder / SOURCE))) == 50
    assert list(plain_words(folder / TEST))
    partial = load(f"pd={folder / PARTIAL}")
    done = list(plain_words(folder / COMPLETED))
    assert ["".join(s.forms) for s in partial] == list(map("".join, done))
    assert any(None in s.layers["pd"] for s in partial)
    for sentence, words in zip(partial, done, strict=True):
        for allowed, letter in zip(sentence.layers["pd"], bmes(words), strict=True):
            assert allowed is None or letter in allowed


def test_both_programs_have_the_same_weights(folder: Path) -> None:
    """Pairs of feature and letter, and of letters; tagweave has 8 more for the ends of sentences, which stay 0."""
    pairs = set()
    for words in chain(plain_words(folder / SOURCE), plain_words(folder / COMPLETED)):
        for strings, letter in zip(attributes("".join(words)), bmes(words), strict=True):
            pairs.update((string, letter) for string in strings)
    ours, theirs = tagweave(folder, "completed", "lbfgs", 20, 1), crfsuite(folder, 20)
    assert theirs["weights"] == len(pairs) + 16
    assert ours["weights"] == len(pairs) + 16 + 8
    assert ours["f"] == pytest.approx(theirs["f"], abs=0.05)
    assert theirs["iterations"] == ours["iterations"] == 20
