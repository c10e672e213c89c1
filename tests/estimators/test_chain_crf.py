"""ChainCRF: evidence in, answers out, by enumeration of all label sequences."""

from __future__ import annotations

import doctest
import itertools
import math
import random
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_sentences import LABELS, sentences, with_gaps

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.estimators import ChainCRF, chain_crf
from tagweave.estimators.fitting import ALGORITHMS, Sequences, _prepare, _unscaled
from tagweave.estimators.sequences import layers_of
from tagweave.features.attributes import expand
from tagweave.learning.run import Run, Schedule
from tagweave.models.storage import ModelFileError, load_model
from tagweave.training.fit.fit import fit
from tagweave.training.fit.recipe import LEARNERS, Recipe

Labels = tuple[str, ...]


def case(algorithm: str, *rest: Any) -> Any:
    """Perceptrons in double precision are compiled for these tests alone, which takes fifteen seconds."""
    is_slow = LEARNERS[ALGORITHMS[algorithm].learner].mistake_driven
    return pytest.param(algorithm, *rest, marks=pytest.mark.slow if is_slow else ())


ALL_ALGORITHMS = pytest.mark.parametrize("algorithm", [case(name) for name in ALGORITHMS])


def as_set(position: Any) -> set[str]:
    """What a position of y allows, in the words of the test."""
    return set(LABELS) if position is None else {position} if isinstance(position, str) else set(position)


def attributes_of(token: Any) -> list[tuple[str, float]]:
    names: list[str] = []
    values: list[float] = []
    expand(token, names, values)
    return list(zip(names, values, strict=True))


def scores(crf: ChainCRF, sentence: Any, labels: list[str]) -> dict[Labels, float]:
    """The score of every label sequence, from the weights that the estimator shows."""
    state, transition = crf.state_features_, crf.transition_features_
    attributes = [attributes_of(token) for token in sentence]

    def score(sequence: Labels) -> float:
        emission = (
            value * state.get((name, label), 0.0)
            for token, label in zip(attributes, sequence, strict=True)
            for name, value in token
        )
        return math.fsum(emission) + math.fsum(transition.get(pair, 0.0) for pair in itertools.pairwise(sequence))

    return {sequence: score(sequence) for sequence in itertools.product(labels, repeat=len(sentence))}


def log_sum(values: list[float]) -> float:
    largest = max(values)
    return largest + math.log(math.fsum(math.exp(value - largest) for value in values))


def allowed(found: dict[Labels, float], row: list[Any]) -> dict[Labels, float]:
    sets = [as_set(position) for position in row]
    return {s: score for s, score in found.items() if all(label in a for label, a in zip(s, sets, strict=True))}


def test_the_example_in_the_docstring() -> None:
    assert doctest.testmod(chain_crf) == (0, 5)


@pytest.fixture(scope="module")
def partial() -> tuple[Any, Any, ChainCRF]:
    X, y = sentences(25, longest=4)
    gaps = with_gaps(y)
    return X, gaps, ChainCRF(c2=0.1, max_iterations=8).fit(X, gaps)


def test_the_loss_is_that_of_the_evidence(partial: tuple[Any, Any, ChainCRF]) -> None:
    X, y, crf = partial
    loss = 0.0
    for sentence, row in zip(X, y, strict=True):
        found = scores(crf, sentence, crf.classes_)
        loss += log_sum(list(found.values())) - log_sum(list(allowed(found, row).values()))
    squares = [weight**2 for part in (crf.state_features_, crf.transition_features_) for weight in part.values()]
    assert crf.training_log_[-1].loss == pytest.approx(loss + 0.1 * math.fsum(squares), rel=1e-9)


def test_answers_are_those_of_enumeration(partial: tuple[Any, Any, ChainCRF]) -> None:
    X, y, crf = partial
    best, marginals, ranked = crf.predict(X), crf.predict_marginals(X), crf.predict_best(X, 4)
    completed = crf.predict(X, constraints=y)
    for i, sentence in enumerate(X):
        found = scores(crf, sentence, crf.classes_)
        log_z = log_sum(list(found.values()))
        assert found[tuple(best[i])] == pytest.approx(max(found.values()))
        assert found[tuple(completed[i])] == pytest.approx(max(allowed(found, y[i]).values()))
        assert all(label in as_set(position) for label, position in zip(completed[i], y[i], strict=True))
        expected = sorted((math.exp(score - log_z) for score in found.values()), reverse=True)[:4]
        assert [probability for _, probability in ranked[i]] == pytest.approx(expected)
        for labels, probability in ranked[i]:
            assert math.exp(found[tuple(labels)] - log_z) == pytest.approx(probability)
        for t, dictionary in enumerate(marginals[i]):
            for label in crf.classes_:
                expected_marginal = math.fsum(math.exp(v - log_z) for s, v in found.items() if s[t] == label)
                assert dictionary[label] == pytest.approx(expected_marginal, abs=1e-9)


@settings(max_examples=10)
@given(st.data())
def test_what_has_a_weight_is_what_the_evidence_observes(data: st.DataObject) -> None:
    position = st.one_of(st.none(), st.sampled_from("ABC"), st.sets(st.sampled_from("ABC"), min_size=1))
    y = data.draw(st.lists(st.lists(position, min_size=1, max_size=4), min_size=1, max_size=4))
    y.append(["A", "B", "C"])  # so that all three labels are there
    X = [[[f"{i}.{t}", "shared"] for t in range(len(row))] for i, row in enumerate(y)]
    crf = ChainCRF(max_iterations=3).fit(X, y)
    everything = {"A", "B", "C"}
    known = [[everything if p is None else {*p} for p in row] for row in y]
    pairs = {
        pair
        for row in known
        for a, b in itertools.pairwise(row)
        if a != everything or b != everything
        for pair in itertools.product(a, b)
    }
    states = {
        (name, label)
        for i, row in enumerate(known)
        for t, labels in enumerate(row)
        if labels != everything
        for label in labels
        for name in (f"{i}.{t}", "shared")
    }
    assert set(crf.transition_features_) <= pairs
    assert set(crf.state_features_) <= states
    wide = ChainCRF(max_iterations=3, all_possible_states=True, all_possible_transitions=True).fit(X, y)
    assert set(crf.transition_features_) == set(wide.transition_features_) & pairs
    assert set(crf.state_features_) == set(wide.state_features_) & states


def test_min_freq_counts_what_is_known() -> None:
    X = [[["a", "b"], ["a"], ["b"]], [["a"], ["a", "b"], ["c"]]]
    y: list[list[Any]] = [[{"A", "B"}, None, "C"], ["A", {"B", "A"}, None]]
    counts = {("a", "A"): 3, ("a", "B"): 2, ("b", "A"): 2, ("b", "B"): 2, ("b", "C"): 1}
    # after A or B anything; before C anything; A before A or B; after A or B anything again
    pairs = {"AA": 3, "AB": 3, "AC": 3, "BA": 2, "BB": 2, "BC": 3, "CC": 1}
    for least in (1, 2, 3, 4):
        crf = ChainCRF(c2=0.1, min_freq=least, max_iterations=5).fit(X, y)
        assert set(crf.state_features_) == {pair for pair, count in counts.items() if count >= least}
        assert set(crf.transition_features_) == {tuple(pair) for pair, count in pairs.items() if count >= least}


@ALL_ALGORITHMS
def test_weights_that_nothing_observes_stay_zero(algorithm: str) -> None:
    X, y = sentences(30)
    y = [["A" if i % 2 else "B" for i in range(len(row))] for row in y]  # never A after A, nor B after B
    crf = ChainCRF(algorithm, max_iterations=3).fit(X, y)
    (weights,) = crf.model_.parameters.split(crf.model_.weights)
    assert not weights.transition.diagonal().any()
    assert set(crf.transition_features_) == {("A", "B"), ("B", "A")}
    assert not weights.start.any() and not weights.end.any()
    full = ChainCRF("lbfgs", max_iterations=3, all_possible_transitions=True).fit(X, y)
    assert len(full.transition_features_) == 4


@pytest.mark.parametrize(
    ("algorithm", "extra"),
    [
        *((algorithm, {}) for algorithm in ALGORITHMS),
        *(("lbfgs", {"min_freq": 2}), ("lbfgs", {"all_possible_states": True, "all_possible_transitions": True})),
    ],
)
def test_unknown_sentences_change_no_bit(algorithm: str, extra: dict[str, Any]) -> None:
    X, y = sentences(20)
    gaps = with_gaps(y)
    foreign = [[{"word": "new", "only": "here"}, ["new too", "bias"]], X[3], []]
    without = ChainCRF(algorithm, max_iterations=3, **extra).fit(X, gaps)
    unknown: list[list[Any]] = [[None] * len(sentence) for sentence in foreign]
    with_them = ChainCRF(algorithm, max_iterations=3, **extra).fit(
        [*foreign, *X[:7], *foreign, *X[7:]], [*unknown, *gaps[:7], *unknown, *gaps[7:]]
    )
    everything = [[set(LABELS)] * len(sentence) for sentence in foreign]
    with_sets = ChainCRF(algorithm, max_iterations=3, **extra).fit(foreign + X, everything + gaps)
    for other in (with_them, with_sets):
        assert np.array_equal(without.model_.weights, other.model_.weights)
        assert without.attributes_ == other.attributes_
        assert [i.loss for i in without.training_log_] == [i.loss for i in other.training_log_]


def test_ambiguity_is_resolved_by_the_rest_of_the_data() -> None:
    X = [[["run"]], [["run"], ["they"]], [["they"], ["run"]]]
    y: list[list[Any]] = [[("NN", "VB")], ["VB", "PRP"], ["PRP", {"NN", "VB"}]]
    crf = ChainCRF(c2=0.1).fit(X, y)
    assert crf.predict_single(X[0]) == ["VB"]
    assert crf.predict_marginals_single(X[0])[0]["VB"] > 0.6
    assert crf.predict_single(X[0], constraints=[{"NN", "PRP"}]) in (["NN"], ["PRP"])
    assert crf.predict_single(X[0], constraints=["NN"]) == ["NN"]
    assert crf.predict_single(X[0], constraints=[None]) == ["VB"]


def test_single_sentences_are_predicted_as_many_are_whatever_their_tokens() -> None:
    flat = [{"w": "a", "long": True, "at": 2}, {"w": "b", "new": 0.5, 3: "c"}]
    others = [{"w": "a", "near": ["w"]}, ("w:b", "long")], [{"w", "x"}, {"at": np.float32(2)}], []
    sentences = [flat, [["w:a", "long"], ["unknown", 3]], tuple(flat), *others]
    crf = ChainCRF(max_iterations=5).fit(sentences, [["A", "B"]] * 5 + [[]])
    for sentence in sentences:
        assert [crf.predict_single(sentence)] == crf.predict([sentence]).tolist()
    with pytest.raises(ValueError, match="nan or infinite"):
        crf.predict_single([{"at": float("nan")}, {"unknown": float("inf")}])
    again = crf.predict_single(flat)
    assert crf.fit(sentences, [["B", "A"]] * 5 + [[]]).predict_single(flat) != again


def test_names_that_look_like_wildcards_are_names() -> None:
    X = [[["a"], ["b"], ["c"]], [["b"], ["a"], ["c"]]]
    y: list[list[Any]] = [["!A", "B-*", "A"], ["B-*", "!A", {"A", "B-X"}]]
    crf = ChainCRF(c2=0.01).fit(X, y)
    assert crf.classes_ == ["!A", "A", "B-*", "B-X"]
    assert crf.predict_single(X[0]) == y[0]
    assert crf.predict_single(X[0], constraints=["!A", "!A", "!A"]) == ["!A"] * 3


def test_sample_weight_counts_sentences() -> None:
    X, y = sentences(20, longest=4)
    gaps = with_gaps(y)
    parameters: dict[str, Any] = {"c2": 0.1, "epsilon": 1e-6, "delta": 1e-10}
    twice = ChainCRF(**parameters).fit(X + X[:5], gaps + gaps[:5])
    weighted = ChainCRF(**parameters).fit(X, gaps, sample_weight=[2.0] * 5 + [1.0] * 15)
    assert weighted.training_log_[-1].loss == pytest.approx(twice.training_log_[-1].loss, rel=1e-7)
    assert weighted.state_features_ == pytest.approx(twice.state_features_, abs=1e-3)
    absent = ChainCRF(**parameters).fit(X, gaps, sample_weight=np.arange(20) >= 5)
    assert np.array_equal(absent.model_.weights, ChainCRF(**parameters).fit(X[5:], gaps[5:]).model_.weights)


def test_development_data_choose_the_iteration() -> None:
    X, y = sentences(60)
    Z, z = sentences(30, seed=1)
    dev: list[list[Any]] = [[None, *row[1:]] for row in z]
    crf = ChainCRF("adagrad", max_iterations=30, period=3, early_stopping=True).fit(X, y, Z, dev)
    logged = [iteration.score for iteration in crf.training_log_]
    assert crf.score(Z, dev) == max(score for score in logged if score is not None)
    assert len(logged) < 30 and logged.index(max(logged)) == len(logged) - 4
    right = [a == b for p, row in zip(crf.predict(Z), z, strict=True) for a, b in list(zip(p, row, strict=True))[1:]]
    assert crf.score(Z, dev) == pytest.approx(sum(right) / len(right))


def test_score_counts_positions_with_one_label() -> None:
    X = [[["a"], ["b"], ["a"]]]
    crf = ChainCRF(c2=0.01).fit(X, [["A", "B", "A"]])
    assert crf.score(X, [["A", None, {"B"}]]) == 0.5
    assert crf.score(X, [[("A", "B"), "new", None]]) == 0
    with pytest.raises(ValueError, match="no position with one label"):
        crf.score(X, [[None, None, {"A", "B"}]])


def test_save_and_load(tmp_path: Path, partial: tuple[Any, Any, ChainCRF]) -> None:
    X, y, crf = partial
    path = tmp_path / "model"
    crf.set_params(max_iterations=np.int64(8)).save(path)
    loaded = ChainCRF.load(path)
    assert loaded.get_params() == crf.get_params()
    assert loaded.training_log_ == [replace(each, seconds=0.0) for each in crf.training_log_]
    assert loaded.state_features_ == crf.state_features_ and loaded.attributes_ == crf.attributes_
    assert list(loaded.predict(X, y)) == list(crf.predict(X, y))
    assert list(loaded.predict_marginals(X)) == list(crf.predict_marginals(X))
    assert np.array_equal(load_model(path).weights, crf.model_.weights)
    assert "parameters" not in crf.model_.about  # saving does not change the model


def test_load_refuses_other_files(tmp_path: Path, partial: tuple[Any, Any, ChainCRF]) -> None:
    from tagweave.models.storage import save_model

    with pytest.raises(FileNotFoundError):
        ChainCRF.load(tmp_path / "none")
    model = partial[2].model_
    save_model(model, tmp_path / "plain")
    assert ChainCRF.load(tmp_path / "plain").state_features_ == partial[2].state_features_
    templates = fit(
        [Corpus((Sentence(("a", "b"), {"g": (("A",), ("B",))}),), "g")], Recipe(), run=Run(Schedule(1))
    ).model
    save_model(templates, tmp_path / "templates")
    with pytest.raises(ModelFileError, match="found a model of templates, expected one whose features are attributes"):
        ChainCRF.load(tmp_path / "templates")
    save_model(replace(model, about={"parameters": {"c3": 1}}), tmp_path / "later")
    with pytest.raises(ModelFileError, match="found a model of other parameters"):
        ChainCRF.load(tmp_path / "later")


@ALL_ALGORITHMS
def test_one_label_leaves_nothing_to_learn(algorithm: str) -> None:
    crf = ChainCRF(algorithm).fit([[["a"]], [["b"], ["c"]]], [["A"], ["A", None]])
    assert crf.predict([[["a"], ["z"]]]).tolist() == [["A", "A"]]
    assert crf.predict_marginals_single([["a"]]) == [{"A": 1.0}]
    assert crf.state_features_ == {} and crf.attributes_ == []


def test_empty_sentences_and_none_at_all(partial: tuple[Any, Any, ChainCRF]) -> None:
    X, _, crf = partial
    mixed = crf.predict([[], X[0], []])
    assert list(mixed) == [[], crf.predict_single(X[0]), []]
    assert crf.predict_best([[]], 3) == [[([], 1.0)]]
    assert crf.predict_single([[]]) in [[label] for label in LABELS]  # a token without features
    for answers in (crf.predict([]), crf.predict([], []), crf.predict_marginals([])):
        assert answers.shape == (0,)
    assert crf.predict_best([], 1) == []
    again = ChainCRF(max_iterations=2).fit([[], *X], [[], *[["A"] * len(x) for x in X[:-1]], ["B"] * len(X[-1])])
    assert again.classes_ == ["A", "B"]


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([], [], "no sentence"),
        ([[["a"]]], [["A", "B"]], "sentence 0 of y: found 2 positions, expected 1"),
        ([[["a"], ["b"]]], [[None, None]], "only None"),
        ([["a"]], [["A"]], "found 'a' as token 0"),
        ([[{"size": float("nan")}], [["b"]]], [["A"], ["B"]], "nan or infinite"),
    ],
)
def test_what_cannot_be_fitted_is_explained(X: Any, y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ChainCRF().fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"algorithm": "svm"}, "unknown algorithm 'svm', expected one of lbfgs"),
        ({"pa_type": 1}, "'lbfgs' has no such parameter"),
        ({"algorithm": "pa", "pa_type": 3}, "found pa_type=3, expected one of 0, 1, 2"),
        ({"algorithm": "arow", "gamma": 0.0}, "found gamma=0.0, expected a number above 0"),
        ({"linesearch": "Newton"}, "found linesearch='Newton', expected one of MoreThuente"),
        ({"max_linesearch": 0}, "max_linesearch=0, expected at least 1"),
        ({"algorithm": "ap", "c2": 1.0}, "'ap' has no such parameter"),
        ({"algorithm": "l2sgd", "c1": 1.0}, "'l2sgd' has no such parameter"),
        ({"c2": -1.0}, "c2=-1.0, expected at least 0"),
        ({"c2": float("nan")}, "c2=nan, expected at least 0"),
        ({"period": 0}, "period=0, expected at least 1"),
        ({"max_iterations": 0}, "max_iterations=0, expected at least 1"),
        ({"min_freq": -1}, "min_freq=-1, expected at least 0"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ChainCRF(**parameters).fit([[["a"], ["b"]]], [["A", "B"]])


def test_weights_and_development_data_that_do_not_fit() -> None:
    X, y = [[["a"], ["b"]]], [["A", "B"]]
    for weights, message in (([1, 1], "found 2 weights"), ([-1], "found -1.0"), ([0], "no sentence")):
        with pytest.raises(ValueError, match=message):
            ChainCRF().fit(X, y, sample_weight=weights)
    with pytest.raises(ValueError, match="cannot weigh"):
        ChainCRF("ap").fit(X, y, sample_weight=[2])
    with pytest.raises(ValueError, match="only one of"):
        ChainCRF().fit(X, y, X_dev=X)
    with pytest.raises(ValueError, match="sentence 0 of y_dev"):
        ChainCRF().fit(X, y, X, [["A"]])
    with pytest.raises(ValueError, match="no position with one label"):
        ChainCRF().fit(X, y, X, [[None, None]])


def test_constraints_that_do_not_fit(partial: tuple[Any, Any, ChainCRF]) -> None:
    X, _, crf = partial
    sentence = [X[0][0], X[0][0]]
    for constraints, message in (
        ([["A"]], "sentence 0 of constraints: found 1 positions"),
        ([["A", "Z"]], "the label 'Z'"),
        ([["A", {"A", "Z"}]], "the label 'Z'"),
        ([["A", ()]], "an empty set"),
        ([], "constraints: found 0 sentences"),
    ):
        with pytest.raises(ValueError, match=message):
            crf.predict([sentence], constraints)
    with pytest.raises(ValueError, match="k=0"):
        crf.predict_best([sentence], 0)
    with pytest.raises(ValueError, match="nan"):
        crf.predict([[{"size": float("inf")}]])


def test_verbose_prints_every_iteration(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = sentences(10)
    ChainCRF(max_iterations=2, verbose=True).fit(X, y, X, y)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["iteration 1", "iteration 2"]
    assert all("development score" in line for line in lines)
    ChainCRF(max_iterations=2).fit(X, y)
    assert capsys.readouterr().out == ""


@pytest.mark.slow
def test_a_thousand_sentences() -> None:
    import tracemalloc

    X, y = sentences(1000, words=500, longest=30)
    gaps = with_gaps(y)
    ChainCRF(max_iterations=1).fit(X[:5], gaps[:5])  # compiles the kernels
    tracemalloc.start()
    begin = time.process_time()
    crf = ChainCRF(max_iterations=5).fit(X, gaps)
    assert time.process_time() - begin < 20  # it takes 1
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    tokens = sum(map(len, X))
    assert peak < 4000 * tokens
    assert crf.score(X, y) > 0.3


WORDS = ["we", "met", "Anna", "Bell", "in", "Paris", "and", "Carl"]
WORD_FEATURES = [[[f"w={word}", f"upper={word[0].isupper()}"] for word in WORDS]]
SPAN_LABELS = ["O", "O", "B-PER", "I-PER", "O", "B-LOC", "O", "B-PER"]


@pytest.mark.parametrize("algorithm", ["lbfgs", case("ap"), "adagrad"])
def test_only_legal_sequences_are_predicted(algorithm: str) -> None:
    crf = ChainCRF(algorithm, max_iterations=20, coding="IOB2").fit(WORD_FEATURES, [SPAN_LABELS])
    assert crf.predict_single(WORD_FEATURES[0]) == crf.predict(WORD_FEATURES).tolist()[0]
    shuffled = [
        [WORD_FEATURES[0][at] for at in np.random.default_rng(seed).permutation(len(WORDS))] for seed in range(20)
    ]
    for labels in [*crf.predict(shuffled), *map(crf.predict_single, shuffled)]:
        for last, label in pairwise(["O", *labels]):
            assert label[0] != "I" or last[1:] == label[1:]


def test_labels_that_training_lacks_but_the_coding_has_are_known() -> None:
    crf = ChainCRF(coding="BIOES").fit(WORD_FEATURES, [["O", "O", "B-PER", "E-PER", "O", "S-LOC", "O", None]])
    assert {"S-PER", "B-LOC", "I-LOC", "E-LOC"} <= set(crf.classes_)


def test_the_score_is_the_f_of_spans() -> None:
    crf = ChainCRF(coding="IOB2").fit(WORD_FEATURES, [SPAN_LABELS])
    wrong = ["O", "O", "B-PER", "O", "O", "B-LOC", "O", "B-PER"]
    assert crf.score(WORD_FEATURES, [SPAN_LABELS]) == 1
    assert crf.score(WORD_FEATURES, [wrong]) == pytest.approx(2 / 3)
    assert ChainCRF().fit(WORD_FEATURES, [SPAN_LABELS]).score(WORD_FEATURES, [wrong]) == 7 / 8


def test_the_coding_comes_back_from_a_file(tmp_path: Path) -> None:
    ChainCRF(coding="IOB2").fit(WORD_FEATURES, [SPAN_LABELS]).save(tmp_path / "m")
    again = ChainCRF.load(tmp_path / "m")
    assert again.coding == "IOB2"
    assert again.predict(WORD_FEATURES).tolist()[0] == SPAN_LABELS


@pytest.mark.parametrize(("coding", "labels"), [("BI", SPAN_LABELS), ("IOB2", ["N"] * len(SPAN_LABELS))])
def test_other_codings_and_labels_are_refused(coding: str, labels: list[str]) -> None:
    with pytest.raises(ValueError, match="expected"):
        ChainCRF(coding=coding).fit(WORD_FEATURES, [labels])


@ALL_ALGORITHMS
def test_a_feature_of_any_size_leaves_the_others_to_be_learnt(algorithm: str) -> None:
    draw = random.Random(0)
    words = [[draw.choice("abcdef") for _ in range(4)] for _ in range(40)]
    y = [["P" if word < "d" else "Q" for word in sentence] for sentence in words]
    for size, told in (
        (1.6e9, "large values of 'time' "),
        (-1e6, "large values of 'time' "),
        (1e-9, "values near 0 of "),
    ):
        X = [[{"w": word, "time": size * (1 + draw.random() / 10)} for word in sentence] for sentence in words]
        with pytest.warns(UserWarning, match=told):
            crf = ChainCRF(algorithm, max_iterations=30).fit(X, y, X, y)
        assert crf.score(X, y) == crf.training_log_[-1].score == 1.0
        assert [crf.predict_single(sentence) for sentence in X] == y


def test_what_is_no_feature_is_named() -> None:
    missing = type("NAType", (), {})()
    for token, told in (
        (
            {"w": "a", "x": {"y": None}},
            "sentence 1 of X, token 0: found None as the value of 'x:y', expected text, a num",
        ),
        ({"w": missing}, "sentence 1 of X, token 0: found .*NAType.* as the value of 'w'"),
        (["w=a", None], "sentence 1 of X, token 0: found None as an attribute, expected text"),
        (["w=a", float("nan")], "sentence 1 of X, token 0: found nan as an attribute"),
        ({"size": math.inf}, "the value inf of an attribute, 'size': found nan or infinite"),
    ):
        with pytest.raises(ValueError, match=told):
            ChainCRF().fit([[["w=a"]], [token]], [["A"], ["B"]])
    crf = ChainCRF().fit([[["w=a"]], [["w=b"]]], [["A"], ["B"]])
    with pytest.raises(ValueError, match="token 0: found None as an attribute"):
        crf.predict_single([[None]])


@pytest.mark.parametrize("name", ["c1", "c2", "epsilon", "max_iterations", "min_freq", "period", "threads"])
def test_a_number_that_is_text_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"found {name}='0.1', expected a number"):
        ChainCRF(**{name: "0.1"}).fit([[["a"]]], [["A"]])


def test_partial_fit_goes_on_without_the_sentences_of_before() -> None:
    first = (
        [[["the"], ["dog"]], [["a"], ["cat"]], [["the"], ["cat"], ["runs"]]] * 10,
        [list("DN"), list("DN"), list("DNV")] * 10,
    )
    second = [[["oh"], ["the"], ["cow"]]] * 10, [["I", None, {"N", "V"}]] * 10
    crf = ChainCRF().partial_fit(*first)
    weights = dict(crf.state_features_ or {})
    crf.partial_fit(*second)
    assert crf.classes_ == ["D", "I", "N", "V"]
    assert crf.predict_single([["oh"], ["the"], ["cat"], ["runs"]]) == ["I", "D", "N", "V"]
    assert crf.transition_features_ and len(crf.transition_features_) == 16  # pairs that may come have weights, too
    assert ("dog", "V") in weights and ("oh", "V") in (crf.state_features_ or {})
    few = ChainCRF(all_possible_states=False, all_possible_transitions=False).partial_fit(*first)
    assert ("dog", "V") not in (few.state_features_ or {}) and ("V", "D") not in (few.transition_features_ or {})
    now = crf.state_features_ or {}
    assert set(weights) <= set(now) and ("oh", "I") in now
    assert max(abs(now[pair] - weight) for pair, weight in weights.items()) < 0.7
    fitted = ChainCRF(algorithm="lbfgs", c2=0.1).fit(*first)
    assert fitted.partial_fit(*second).predict_single([["oh"], ["a"], ["dog"]]) == ["I", "D", "N"]


def test_partial_fit_takes_values_of_any_size() -> None:
    sentences = [[{"size": 1e6, "big": True}, {"size": 2e5}]] * 5
    with pytest.warns(UserWarning, match="scaled to at most 1"):
        crf = ChainCRF(algorithm="adagrad").fit(sentences, [["B", "S"]] * 5)
    with pytest.warns(UserWarning, match="scaled to at most 1"):
        crf.partial_fit(sentences, [["B", "S"]] * 5)
    assert crf.predict_single(sentences[0]) == ["B", "S"]


@pytest.mark.filterwarnings("ignore:large values")
def test_weights_that_training_goes_on_from_are_for_scaled_values_as_new_ones_are() -> None:
    sentences, labels = [[{"size": 1e6, "big": True}, {"size": 2e5}]] * 5, [["B", "S"]] * 5
    crf = ChainCRF(algorithm="adagrad").fit(sentences, labels)
    train = Sequences(sentences, layers_of(labels, [2] * 5), [1.0] * 5)
    recipe = Recipe(features="observed", edges=False, precision="float64")
    problem, scales = _prepare(train, recipe, 0, True, 1e3, crf.model_)
    assert scales is not None and scales.min() < 1
    begun = problem.model.weights
    assert np.allclose(problem.kept(begun), begun)  # the mean of equal weights
    assert np.allclose(_unscaled(problem.model, begun, scales), crf.model_.weights)
