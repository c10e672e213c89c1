"""ChainCRF among scikit-learn's tools, and without scikit-learn."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from random_sentences import sentences, with_gaps

from tagweave.estimators import ChainCRF


def run(code: str) -> str:
    """What a new interpreter prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_parameters_by_name() -> None:
    crf = ChainCRF("l2sgd", c2=0.5)
    parameters = crf.get_params()
    assert parameters["algorithm"] == "l2sgd" and parameters["c2"] == 0.5 and parameters["c1"] is None
    assert ChainCRF(**parameters).get_params(deep=False) == parameters
    assert crf.set_params(c2=0.25, verbose=True) is crf
    assert (crf.c2, crf.verbose) == (0.25, True)
    with pytest.raises(ValueError, match="invalid parameter 'c3' for ChainCRF"):
        crf.set_params(c3=1)
    assert repr(crf) == "ChainCRF(algorithm='l2sgd', c2=0.25, verbose=True)"
    assert repr(ChainCRF()) == "ChainCRF()"


def test_pickling_keeps_the_model() -> None:
    X, y = sentences(20)
    crf = ChainCRF(max_iterations=3).fit(X, with_gaps(y))
    crf.predict_single(X[0])
    copy = pickle.loads(pickle.dumps(crf))  # noqa: S301 - what was written one line above
    assert "_prepared" in vars(crf) and "_prepared" not in vars(copy)
    assert copy.get_params() == crf.get_params()
    assert list(copy.predict(X)) == list(crf.predict(X))
    assert copy.state_features_ == crf.state_features_
    assert copy.training_log_ == crf.training_log_


@pytest.mark.parametrize(
    "question",
    [
        lambda crf: crf.predict([[["a"]]]),
        lambda crf: crf.predict_single([["a"]]),
        lambda crf: crf.predict_marginals([[["a"]]]),
        lambda crf: crf.predict_best([[["a"]]], 1),
        lambda crf: crf.score([[["a"]]], [["A"]]),
        lambda crf: crf.save("nowhere"),
        lambda crf: crf.model_,
    ],
)
def test_questions_before_fit(question: Any) -> None:
    exceptions = pytest.importorskip("sklearn.exceptions", reason="scikit-learn is not installed")
    with pytest.raises(exceptions.NotFittedError, match="ChainCRF is not fitted yet"):
        question(ChainCRF())


class TestWithScikitLearn:
    @pytest.fixture(autouse=True)
    def installed(self) -> None:
        pytest.importorskip("sklearn", reason="scikit-learn is not installed")

    def test_clone_is_unfitted(self) -> None:
        from sklearn.base import clone
        from sklearn.exceptions import NotFittedError
        from sklearn.utils.validation import check_is_fitted

        crf = ChainCRF(c2=0.5).fit([[["a"], ["b"]]], [["A", "B"]])
        check_is_fitted(crf)
        copy = clone(crf)
        assert copy.get_params() == crf.get_params() and not hasattr(copy, "model_")
        with pytest.raises(NotFittedError):
            check_is_fitted(copy)

    def test_its_tags_say_lists_of_dicts(self) -> None:
        from sklearn.utils import get_tags

        tags = get_tags(ChainCRF())
        assert tags.input_tags.dict and not (tags.input_tags.two_d_array or tags.input_tags.one_d_array)
        assert tags.target_tags.required and not tags.target_tags.single_output

    def test_cross_validation(self) -> None:
        from sklearn.model_selection import KFold, cross_val_predict, cross_val_score

        X, y = sentences(24)
        gaps = with_gaps(y)
        crf = ChainCRF(max_iterations=4)
        predicted = cross_val_predict(crf, X, gaps, cv=3)
        assert [len(labels) for labels in predicted] == [len(sentence) for sentence in X]
        scores = []
        for train, test in KFold(3).split(X):
            fitted = ChainCRF(max_iterations=4).fit([X[i] for i in train], [gaps[i] for i in train])
            assert list(predicted[test]) == list(fitted.predict([X[i] for i in test]))
            scores.append(fitted.score([X[i] for i in test], [gaps[i] for i in test]))
        assert cross_val_score(crf, X, gaps, cv=3) == pytest.approx(scores)

    def test_searches(self) -> None:
        from sklearn.model_selection import GridSearchCV, RandomizedSearchCV

        X, y = sentences(24)
        search = GridSearchCV(ChainCRF(max_iterations=4), {"c2": [0.1, 100.0], "min_freq": [None, 2]}, cv=2)
        search.fit(X, with_gaps(y))
        assert search.best_params_["c2"] == 0.1
        assert search.score(X, y) == search.best_estimator_.score(X, y)
        assert len(search.predict(X[:3])) == 3
        random = RandomizedSearchCV(ChainCRF(), {"max_iterations": np.arange(2, 4)}, n_iter=1, cv=2, random_state=0)
        assert len(random.fit(X, y).best_estimator_.training_log_) in (2, 3)


def test_importing_needs_no_other_tool() -> None:
    heavy = "[name for name in ('sklearn', 'matplotlib') if name in sys.modules]"
    assert run(f"import sys, tagweave.estimators; tagweave.estimators.ChainCRF(c2=1); print({heavy})") == "[]"


def test_scikit_learn_is_never_needed() -> None:
    code = """
import sys
sys.modules["sklearn"] = sys.modules["sklearn.exceptions"] = None
from tagweave.estimators import ChainCRF
crf = ChainCRF(c2=0.1)
try:
    crf.predict([[["a"]]])
except ValueError as error:
    print(type(error).__name__, isinstance(error, AttributeError), hasattr(crf, "model_"))
crf.fit([[["a"], ["b"]], [["b"]]], [["A", None], ["B"]])
print(crf.predict_single([["a"], ["b"]]), crf.set_params(c2=1))
"""
    assert run(code).splitlines() == ["_BeforeFitError True False", "['A', 'B'] ChainCRF(c2=1)"]
