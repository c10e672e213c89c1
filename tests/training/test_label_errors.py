"""How far annotation is doubted, from what models of other folds say of it."""

from __future__ import annotations

import numpy as np
import pytest

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.training.cascades.label_errors import _ADDED, _STEPS, LabelJudge, Part, Suspect
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import Task


def test_doubts_are_those_of_a_noisy_channel_and_none_where_nothing_is_known() -> None:
    layer = (("NN",), ("VV",), None, ("NN",))
    judge = LabelJudge(Corpus((Sentence(tuple("abcd"), {"tag": layer}),), "tag"), Recipe(Task("tag")))
    table, labels, known = np.array([[0.9, 0.1], [0.7, 0.3], [0.5, 0.5], [0.2, 0.8]]), [0, 1, 0, 0], [0, 1, 3]
    doubts, told = judge.doubts([[(table, {})]])
    noise = [[0.95, 0.05], [0.05, 0.95]]  # said, true
    for _ in range(_STEPS):
        counts = np.full((2, 2), _ADDED)
        for at in known:
            shares = [table[at, k] * noise[labels[at]][k] for k in range(2)]
            counts[labels[at]] += np.array(shares) / sum(shares)
        noise = [[counts[a, k] / counts[:, k].sum() for k in range(2)] for a in range(2)]
    for at in known:
        shares = [table[at, k] * noise[labels[at]][k] for k in range(2)]
        doubt = 1 - shares[labels[at]] / sum(shares)
        assert doubts[at] == pytest.approx(doubt, abs=1e-6)
        assert told[at] == pytest.approx((doubt + 1 - table[at, labels[at]]) / 2, abs=1e-6)
    assert doubts[2] == told[2] == 0


def test_a_span_is_as_probably_none_as_its_surest_token_and_a_missing_one_is_beside_none() -> None:
    layer = (("B-PER",), ("I-PER",), ("O",), ("O",))
    judge = LabelJudge(Corpus((Sentence(tuple("abcd"), {"tag": layer}),), "tag"), Recipe(Task("spans")))
    columns = [judge._tokens.index(name) for name in ("O", "B-PER", "I-PER")]
    table = np.zeros((4, 3))
    table[:, columns] = [[0.3, 0.6, 0.1], [0.2, 0.1, 0.7], [0.6, 0.4, 0.0], [0.9, 0.1, 0.0]]
    whole, missing = Part(0, 2, "PER"), Part(2, 3, "PER")
    assert sorted(judge.suspects(0, [(table, {whole: 0.55, missing: 0.4})])) == [
        Suspect(0, 0, 0, 2, (whole,), Part(0, 2, "O"), 0.55, 0.2),
        Suspect(0, 0, 2, 3, (Part(2, 3, "O"),), missing, 0.6, 0.4),
    ]


def test_a_label_is_beside_the_most_probable_one_that_it_excludes() -> None:
    layer = (("VV", "NN"), ("JJ",), None)
    judge = LabelJudge(Corpus((Sentence(tuple("abc"), {"tag": layer}),), "tag"), Recipe(Task("tag")))
    table = np.array([[0.2, 0.5, 0.3], [0.1, 0.6, 0.3], [0.4, 0.3, 0.3]])  # JJ, NN, VV
    assert [*judge.suspects(0, [(table, {})])] == [
        Suspect(0, 0, 0, 1, (Part(0, 1, "NN|VV"),), Part(0, 1, "JJ"), pytest.approx(0.8), 0.2),
        Suspect(0, 0, 1, 2, (Part(1, 2, "JJ"),), Part(1, 2, "NN"), 0.1, 0.6),
    ]
