"""What those who come from sklearn-crfsuite rely on: bytes, shapes, files, logs, and attributes before `fit`."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from random_sentences import sentences

from tagweave.estimators import ChainCRF
from tagweave.estimators.sequences import Predictions

X = [[{"w": "the"}, {"w": "run"}], [{"w": "they"}, {"w": "run"}], [{"w": "the"}, {"w": "run"}, {"w": "they"}]]
Y = [["DT", "NN"], ["PRP", "VB"], ["DT", "NN", "PRP"]]


@pytest.fixture(scope="module")
def crf() -> ChainCRF:
    return ChainCRF(c2=0.1).fit(X, Y)


# Bytes


def test_bytes_are_text(crf: ChainCRF) -> None:
    in_bytes = [[{b"w": token["w"].encode()} for token in sentence] for sentence in X]
    labels = [[label.encode() for label in row] for row in Y]
    same = ChainCRF(c2=0.1).fit(in_bytes, labels)
    assert same.attributes_ == crf.attributes_ and same.classes_ == crf.classes_
    assert np.array_equal(same.model_.weights, crf.model_.weights)
    for sentence, other in zip(X, in_bytes, strict=True):
        assert crf.predict_single(other) == crf.predict_single(sentence)
        listed = [[b"w:" + token["w"].encode(), "x"] for token in sentence]
        assert crf.predict_single(listed) == crf.predict_single(sentence)
    assert ChainCRF().fit([[[b"a", "b"]]], [[{b"A", "B"}]]).attributes_ is not None


def test_nested_bytes_are_text() -> None:
    token = {b"near": {"left": "käse".encode(), b"right": [b"a", "b"]}, "size": 2}
    crf = ChainCRF(c2=0.1).fit([[token, ["z"]]], [["A", "B"]])
    assert set(crf.attributes_ or ()) == {"near:left:käse", "near:right:a", "near:right:b", "size", "z"}


@pytest.mark.parametrize(
    ("token", "label"),
    [({b"\xff": 1}, "A"), ({"a": b"\xff"}, "A"), ([b"\xff"], "A"), (["a"], b"\xff"), (["a"], {b"\xff"})],
)
def test_bytes_that_are_no_text(token: Any, label: Any) -> None:
    with pytest.raises(ValueError, match=r"found the bytes b'\\xff', expected UTF-8"):
        ChainCRF().fit([[token, ["b"]]], [[label, "B"]])


# Shapes


def test_predictions_have_the_shape_of_nested_lists(crf: ChainCRF) -> None:
    assert crf.predict(X[:2]).shape == (2, 2)
    assert (crf.predict(X[:2]) == Y[:2]).all()
    assert crf.predict(X).shape == (3,)
    assert list(crf.predict(X)) == Y
    assert crf.predict_marginals(X[:1]).shape == (1, 2)
    assert crf.predict_single(X[0]) == Y[0] and type(crf.predict_single(X[0])) is list


def test_predictions_of_folds_can_be_concatenated(crf: ChainCRF) -> None:
    square, ragged = crf.predict(X[:2]), crf.predict(X[1:])
    assert np.concatenate([square, ragged]).tolist() == [*Y[:2], *Y[1:]]
    assert np.concatenate([square, square]).shape == (4, 2)
    assert np.concatenate([square, crf.predict(X[2:])]).tolist() == Y
    copy = pickle.loads(pickle.dumps(square))  # noqa: S301 - what was written one line above
    assert isinstance(copy, Predictions) and copy.tolist() == square.tolist()
    assert np.stack([square, square]).shape == (2, 2, 2)


# Before and after fit


def test_attributes_are_none_before_fit() -> None:
    crf = ChainCRF()
    names = ("classes_", "attributes_", "state_features_", "transition_features_", "training_log_")
    assert all(getattr(crf, name) is None for name in names)


# Files


def test_a_file_for_the_model(tmp_path: Path, crf: ChainCRF) -> None:
    path = tmp_path / "model"
    named = ChainCRF(c2=0.1, model_filename=path)
    assert named.classes_ is None
    named.fit(X, Y)
    read = ChainCRF(model_filename=str(path))
    assert list(read.predict(X)) == list(crf.predict(X)) == Y
    assert read.classes_ == crf.classes_
    assert read.__sklearn_is_fitted__()
    copy = pickle.loads(pickle.dumps(read))  # noqa: S301
    path.unlink()
    assert list(copy.predict(X)) == Y
    assert ChainCRF.load(_saved(named, tmp_path)).model_filename is None


def _saved(crf: ChainCRF, folder: Path) -> Path:
    crf.save(folder / "saved")
    return folder / "saved"


def test_parameters_without_effect_are_taken() -> None:
    crf = ChainCRF(c2=0.1, linesearch="Backtracking", max_linesearch=20, keep_tempfiles=True).fit(X, Y)
    assert crf.state_features_ == ChainCRF(c2=0.1).fit(X, Y).state_features_
    one, other = (ChainCRF("l2sgd", max_iterations=3, calibration_candidates=n).fit(X, Y) for n in (None, 3))
    assert one.state_features_ == other.state_features_
    warm = ChainCRF("l2sgd", max_iterations=3, calibration_eta=0.001, calibration_rate=1.01).fit(X, Y)
    assert warm.state_features_ != one.state_features_


# The log


def test_development_data_are_only_reported() -> None:
    A, a = sentences(60)
    B, b = sentences(20, seed=1)
    without, reported = (ChainCRF("adagrad", max_iterations=15).fit(A, a, *dev) for dev in ((), (B, b)))
    assert np.array_equal(without.model_.weights, reported.model_.weights)
    log = reported.training_log_
    assert log is not None
    scores = [each.score or 0.0 for each in log]
    assert len(set(scores)) > 1 and log[-1].score == reported.score(B, b)
    assert [each.best for each in log] == [score > max(scores[:i], default=0) for i, score in enumerate(scores)]
    assert reported.model_.about["dev_score"] == log[-1].score


# Learners beside CRFsuite's


@pytest.mark.parametrize(
    ("algorithm", "parameters"),
    [
        ("pa", {}),
        ("pa", {"pa_type": 0, "averaging": False}),
        ("pa", {"pa_type": 2, "c": 0.3}),
        ("pa", {"c": 0.01, "error_sensitive": False}),
        ("arow", {}),
        ("arow", {"variance": 2.0, "gamma": 0.5}),
    ],
    ids=str,
)
@pytest.mark.parametrize("iterations", [1, 3, 40])
@pytest.mark.slow  # perceptrons in double precision are compiled for it
def test_one_sentence_gives_crfsuites_weights(algorithm: str, parameters: dict[str, Any], iterations: int) -> None:
    """Of one sentence, the order cannot differ. Labels first occur in the order of their names, which breaks ties."""
    theirs = pytest.importorskip("sklearn_crfsuite", reason="sklearn-crfsuite is not installed")
    rng = np.random.default_rng(0)
    x = [{f"a{rng.integers(6)}": float(rng.integers(1, 3)), f"b{rng.integers(4)}": 1.0} for _ in range(12)]
    y = ["0", "1", "2", *map(str, rng.integers(3, size=9))]
    crf = ChainCRF(algorithm, max_iterations=iterations, **parameters).fit([x], [y])
    other = theirs.CRF(algorithm, max_iterations=iterations, **parameters).fit([x], [y])
    for found, expected in (
        (crf.state_features_ or {}, other.state_features_),
        (crf.transition_features_ or {}, other.transition_features_),
    ):
        for key in {*found, *expected}:
            assert found.get(key, 0) == pytest.approx(expected.get(key, 0), abs=1e-6)
    assert crf.training_log_ is not None
    assert crf.training_log_[-1].loss == pytest.approx(other.training_log_.last_iteration["loss"], abs=1e-6)


def test_single_sentences_with_values_that_are_kept_and_that_are_not() -> None:
    rng = np.random.default_rng(0)
    A = [
        [
            {"w": f"{rng.integers(5)}", "on": bool(rng.integers(2)), "size": float(rng.normal()), "one": 1}
            for _ in range(4)
        ]
        for _ in range(30)
    ]
    a = [[str(rng.choice(["x", "y", "z"])) for _ in sentence] for sentence in A]
    crf = ChainCRF(c2=0.01, max_iterations=20).fit(A, a)
    expected = crf.predict(A).tolist()
    plain = [[{name: value for name, value in token.items() if name != "size"} for token in each] for each in A]
    assert [crf.predict_single(sentence) for sentence in A] == expected == [crf.predict_single(each) for each in A]
    assert [crf.predict_single(sentence) for sentence in plain * 2] == crf.predict(plain * 2).tolist()
    assert (
        crf.predict_single([{"w": np.str_("1"), "on": np.True_}]) == crf.predict([[{"w": "1", "on": True}]])[0].tolist()
    )


def test_weights_are_explained_as_by_eli5(crf: ChainCRF) -> None:
    tables = crf.explain_weights(top=1)
    states = crf.state_features_ or {}
    of_noun = {feature: weight for (feature, label), weight in states.items() if label == "NN"}
    strongest = max(of_noun, key=lambda feature: abs(of_noun[feature]))
    rows = list(tables.rows("NN"))
    assert (f"{of_noun[strongest]:+.3f}", strongest) in rows
    signs = [sum(weight * sign > 0 for weight in of_noun.values()) for sign in (1, -1)]
    signs[of_noun[strongest] < 0] -= 1
    assert [name for weight, name in rows if not weight] == [
        f"{count} more {what}" for count, what in zip(signs, ("positive", "negative"), strict=True) if count
    ]
    transitions = crf.transition_features_ or {}
    assert f"{transitions['DT', 'NN']:+.3f}" in str(tables)
    assert "<table>" in tables._repr_html_() and "w:run" in tables._repr_html_()
    with pytest.raises(ValueError, match="at least 1"):
        crf.explain_weights(top=0)
