"""Conversion to all labels with their probabilities."""

from __future__ import annotations

import numpy as np
import pytest

from tagweave.conversion import convert
from tagweave.corpus.candidates import Soft
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.training.fit import fit
from tagweave.training.recipe import Recipe

_ROWS = [("ab", "NN"), ("cb", "VV"), ("ab", "VV"), ("d", "NN")]
TRAIN = Corpus(tuple(Sentence((form, "d"), {"g": ((tag,), ("NN",))}) for form, tag in _ROWS), "g")


def test_soft_labels_are_marginals_with_the_best_in_front() -> None:
    model = fit([TRAIN], Recipe()).model
    text = Corpus((Sentence(("ab", "d")), Sentence(("x",))), "h")
    soft, hard = convert(model, text, "g", soft=True), convert(model, text, "g")
    tables = ChainPredictor(model).probabilities(text.sentences)
    for sentence, plain, table in zip(soft, hard, tables, strict=True):
        assert sentence.confidence is None
        for candidates, best, row in zip(sentence.layers["g"], plain.layers["g"], table, strict=True):
            assert isinstance(candidates, Soft) and best is not None and candidates[0] == best[0]
            own = dict(zip(candidates, candidates.numbers, strict=True))
            np.testing.assert_allclose([own.get(name, 0) for name in model.space.names], row, atol=6e-5)


@pytest.mark.parametrize("learner", ["adagrad", "lbfgs"])
def test_a_model_learns_the_probabilities_that_it_is_given(learner: str) -> None:
    soft = Corpus(tuple(Sentence(("w",), {"g": (Soft(("A", "B"), (0.8, 0.2)),)}) for _ in range(20)), "g")
    settings = {"c2": 1e-6} if learner == "lbfgs" else {}
    model = fit([soft], Recipe(learner=learner, settings=settings, precision="float64")).model
    (table,) = ChainPredictor(model).probabilities([Sentence(("w",))])
    assert table[0, model.space.names.index("A")] == pytest.approx(0.8, abs=0.03)
    alike = fit([soft], Recipe(learner=learner, settings=settings, precision="float64", soft_labels="likelihood")).model
    (collapsed,) = ChainPredictor(alike).probabilities([Sentence(("w",))])
    assert collapsed[0, 0] > 0.9
