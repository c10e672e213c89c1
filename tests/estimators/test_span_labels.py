"""ChainCRF over labels that code spans."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from tagweave.estimators import ChainCRF

WORDS = ["we", "met", "Anna", "Bell", "in", "Paris", "and", "Carl"]
X = [[[f"w={word}", f"upper={word[0].isupper()}"] for word in WORDS]]
Y = ["O", "O", "B-PER", "I-PER", "O", "B-LOC", "O", "B-PER"]


@pytest.mark.parametrize("algorithm", ["lbfgs", "ap", "adagrad"])
def test_only_legal_sequences_are_predicted(algorithm: str) -> None:
    crf = ChainCRF(algorithm, max_iterations=20, coding="IOB2").fit(X, [Y])
    assert crf.predict_single(X[0]) == crf.predict(X).tolist()[0]
    shuffled = [[X[0][at] for at in np.random.default_rng(seed).permutation(len(WORDS))] for seed in range(20)]
    for labels in [*crf.predict(shuffled), *map(crf.predict_single, shuffled)]:
        for last, label in pairwise(["O", *labels]):
            assert label[0] != "I" or last[1:] == label[1:]


def test_labels_that_training_lacks_but_the_coding_has_are_known() -> None:
    crf = ChainCRF(coding="BIOES").fit(X, [["O", "O", "B-PER", "E-PER", "O", "S-LOC", "O", None]])
    assert {"S-PER", "B-LOC", "I-LOC", "E-LOC"} <= set(crf.classes_)


def test_the_score_is_the_f_of_spans() -> None:
    crf = ChainCRF(coding="IOB2").fit(X, [Y])
    wrong = ["O", "O", "B-PER", "O", "O", "B-LOC", "O", "B-PER"]
    assert crf.score(X, [Y]) == 1
    assert crf.score(X, [wrong]) == pytest.approx(2 / 3)
    assert ChainCRF().fit(X, [Y]).score(X, [wrong]) == 7 / 8


def test_the_coding_comes_back_from_a_file(tmp_path: Path) -> None:
    ChainCRF(coding="IOB2").fit(X, [Y]).save(tmp_path / "m")
    again = ChainCRF.load(tmp_path / "m")
    assert again.coding == "IOB2"
    assert again.predict(X).tolist()[0] == Y


@pytest.mark.parametrize(("coding", "labels"), [("BI", Y), ("IOB2", ["N"] * len(Y))])
def test_other_codings_and_labels_are_refused(coding: str, labels: list[str]) -> None:
    with pytest.raises(ValueError, match="expected"):
        ChainCRF(coding=coding).fit(X, [labels])
