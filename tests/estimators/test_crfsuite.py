"""ChainCRF beside sklearn-crfsuite: the same data and parameters give the same model."""

from __future__ import annotations

from typing import Any

import pytest
from random_sentences import sentences

from tagweave.estimators import ChainCRF

sklearn_crfsuite = pytest.importorskip("sklearn_crfsuite", reason="sklearn-crfsuite is not installed")

LONG_ENOUGH = {"epsilon": 1e-6, "delta": 1e-10}


def both(X: Any, y: Any, **parameters: Any) -> tuple[Any, ChainCRF]:
    theirs = sklearn_crfsuite.CRF(algorithm="lbfgs", **parameters).fit(X, y)
    return theirs, ChainCRF(algorithm="lbfgs", **parameters).fit(X, y)


def assert_same_answers(theirs: Any, ours: ChainCRF, X: Any) -> None:
    assert [list(labels) for labels in theirs.predict(X)] == list(ours.predict(X))
    for expected, found in zip(theirs.predict_marginals(X), ours.predict_marginals(X), strict=True):
        assert len(expected) == len(found)
        for a, b in zip(expected, found, strict=True):
            assert b == pytest.approx(a, abs=1e-3)


@pytest.mark.parametrize(
    "parameters",
    [
        {"c2": 0.1},
        {},
        {"c1": 0, "c2": 0.1, "num_memories": 3},
        {"c2": 0.1, "all_possible_states": True},
        {"c2": 0.1, "all_possible_transitions": True},
        {"c2": 0.1, "min_freq": 3},
        {"c2": 0.1, "min_freq": 2.5, "all_possible_states": True, "all_possible_transitions": True},
    ],
    ids=str,
)
def test_the_same_objective_features_and_answers(parameters: dict[str, Any]) -> None:
    X, y = sentences(60)
    theirs, ours = both(X, y, **parameters, **LONG_ENOUGH)
    assert ours.training_log_[-1].loss == pytest.approx(theirs.training_log_.last_iteration["loss"], rel=1e-6)
    assert ours.classes_ == sorted(theirs.classes_)
    assert set(ours.attributes_) == set(theirs.attributes_)
    assert ours.state_features_ == pytest.approx(theirs.state_features_, abs=1e-3)
    assert ours.transition_features_ == pytest.approx(theirs.transition_features_, abs=1e-3)
    assert_same_answers(theirs, ours, sentences(20, seed=1, words=80)[0])


def test_rare_transitions_fall_to_min_freq_too() -> None:
    X = [[["a"], ["b"]]] * 3 + [[["b"], ["a"]]]
    y = [["A", "B"]] * 3 + [["B", "A"]]
    theirs, ours = both(X, y, min_freq=2, **LONG_ENOUGH)
    assert set(ours.transition_features_) == set(theirs.transition_features_) == {("A", "B")}


def test_the_l1_penalty_leaves_the_same_features() -> None:
    X, y = sentences(30)
    theirs, ours = both(X, y, c1=0.5, c2=0.1, epsilon=1e-6, delta=1e-6)
    assert ours.training_log_[-1].loss == pytest.approx(theirs.training_log_.last_iteration["loss"], rel=1e-6)
    assert set(ours.state_features_) == set(theirs.state_features_)
    assert len(ours.state_features_) < len(ChainCRF(c2=0.1, max_iterations=2).fit(X, y).state_features_)
    for expected, found in zip(theirs.predict_marginals(X), ours.predict_marginals(X), strict=True):
        for a, b in zip(expected, found, strict=True):
            assert b == pytest.approx(a, abs=1e-3)


def test_negative_values_count_as_much_as_positive_ones() -> None:
    """CRFsuite drops a pair whose values sum to less than 0; with a least frequency above 0 so do we."""
    X, y = sentences(60)
    shifted = [[{**token, "size": token["size"] - 1.5} for token in sentence] for sentence in X]
    theirs, ours = both(shifted, y, c2=0.1, **LONG_ENOUGH)
    assert ours.training_log_[-1].loss < theirs.training_log_.last_iteration["loss"]
    assert {name for name, _ in set(ours.state_features_) - set(theirs.state_features_)} == {"size"}
    strict = ChainCRF(c2=0.1, min_freq=1e-9, **LONG_ENOUGH).fit(shifted, y)
    assert strict.state_features_ == pytest.approx(theirs.state_features_, abs=1e-3)
