"""Steps of the perceptron against decoding by enumeration, with features by their texts."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import naive
from problems import PAIRS, TEMPLATES, TEXTS, Problem, bundles, plain
from tagweave.kernels.mistakes import AROW, PASSIVE_AGGRESSIVE, StepRule
from tagweave.labels.space import LabelSpace
from tagweave.labels.transition_scheme import TransitionScheme
from tagweave.models.objective import ChainObjective, views_of_kernel
from tagweave.structures.loss import ContradictionError

Labels = tuple[int, ...]
SEED = st.integers(0, 10_000)
SWITCHES = st.fixed_dictionaries(
    {name: st.booleans() for name in ("observed", "transitions", "edges", "observed_transitions", "weighted")}
)
SPACES = st.sampled_from([plain(), bundles(), plain(1), plain(2)])


# The twin


def add_path(problem: Problem, vector: NDArray[Any], sentence: int, labels: Labels, by: float) -> None:
    """Add `by` times the features of a label sequence."""
    parameters = problem.parameters
    texts = naive.features(TEMPLATES.texts, problem.sentences[sentence].forms)
    numbered = zip(parameters.space.views, problem.weight_numbers, parameters.split(vector), strict=True)
    for i, (view, number_of, part) in enumerate(numbered):
        tags = [int(view.projection[y]) for y in labels]
        for features, tag in zip(texts, tags, strict=True):
            for text in features:
                if (text, tag) in number_of:
                    vector[number_of[text, tag]] += by
        observed = parameters.observed_transitions
        for pair in pairwise(tags):
            if parameters.transitions and (observed is None or observed[i][pair]):
                part.transition[pair] += by
        if parameters.edges:
            part.start[tags[0]] += by
            part.end[tags[-1]] += by


def mistake(problem: Problem, sentence: int) -> tuple[Labels, Labels] | None:
    """The best sequence and the best that the evidence allows, if they differ; `ValueError` where it allows none."""
    free, restricted = (problem.chains(only)[sentence] for only in (False, True))
    if free is None or restricted is None:
        return None
    best = best_of(free)
    tokens = slice(problem.encoded.sentence_ptr[sentence], problem.encoded.sentence_ptr[sentence + 1])
    if problem.masks[problem.encoded.evidence.sets[tokens], best].all():
        return None
    return best, best_of(restricted)


def best_of(chain: naive.Chain) -> Labels:
    """The best sequence, of a chain that has just one."""
    first, *others = naive.k_best(chain, 2)
    assume(not others or first[0] - others[0][0] > 1e-6)
    return first[1]


def corrected(problem: Problem, batch: int, step: int) -> tuple[NDArray[Any], NDArray[Any], int]:
    """Weights, totals and mistakes after one pass over the sentences that say anything."""
    weights, totals, mistakes = problem.weights, np.zeros(problem.parameters.size), 0
    informative = np.flatnonzero(problem.encoded.evidence.informative()).tolist()
    try:
        for low in range(0, len(informative), batch):
            moved = np.zeros(problem.parameters.size)
            for sentence in informative[low : low + batch]:
                if found := mistake(problem, sentence):
                    by = problem.sentences[sentence].weight
                    add_path(problem, moved, sentence, found[0], -by)
                    add_path(problem, moved, sentence, found[1], by)
                    mistakes += 1
            problem.weights = problem.weights + moved
            totals += step * moved
            step += 1
        return problem.weights, totals, mistakes
    finally:
        problem.weights = weights


def start(problem: Problem) -> tuple[ChainObjective, NDArray[np.float32], NDArray[np.float64]]:
    """An objective in the type of a perceptron's weights; these, rounded so that all sums are exact; and no totals."""
    problem.weights = np.round(4096 * problem.weights) / 4096
    return problem.objective(dtype=np.float32), problem.weights.astype(np.float32), np.zeros_like(problem.weights)


def check(problem: Problem, batch: int, step: int = 5) -> None:
    objective, weights, totals = start(problem)
    try:
        expected, expected_totals, mistakes = corrected(problem, batch, step)
    except ValueError:
        with pytest.raises(ContradictionError, match="training sentence"):
            objective.correct(weights, totals, 0, len(objective), batch, step, StepRule())
        return
    assert objective.correct(weights, totals, 0, len(objective), batch, step, StepRule()) == mistakes
    np.testing.assert_array_equal(weights, expected)
    np.testing.assert_array_equal(totals, expected_totals)


# Against enumeration


@settings(max_examples=50, deadline=None)
@given(TEXTS, SPACES, SEED, SWITCHES, st.integers(1, 3))
def test_an_epoch(texts: list[list[str]], space: LabelSpace, seed: int, switches: dict[str, bool], batch: int) -> None:
    check(Problem(texts, space, seed, **switches), batch)


@settings(max_examples=40, deadline=None)
@given(TEXTS, SEED, st.booleans())
def test_forbidden_sequences_are_neither_best_nor_targets(texts: list[list[str]], seed: int, observed: bool) -> None:
    scheme = TransitionScheme.of("BMES", tuple("BMES"))
    check(Problem(texts, LabelSpace.plain("seg", "BMES"), seed, observed, scheme=scheme), 1)


@settings(max_examples=25, deadline=None)
@given(TEXTS, SEED, st.sampled_from([plain(), bundles()]))
def test_the_order_of_views_does_not_matter(texts: list[list[str]], seed: int, space: LabelSpace) -> None:
    turned = LabelSpace(space.names, space.views[::-1])
    problem = Problem(texts, turned, seed)
    assert views_of_kernel(problem.parameters, problem.weights)[0].labels_are_tags
    check(problem, 1)


@settings(max_examples=8, deadline=None)
@given(SEED)
def test_views_none_of_which_is_whole_add_up(seed: int) -> None:
    """Sentences of more tokens than labels, whose scores are sums in a buffer that others have used."""
    space = bundles(PAIRS[:3])
    problem = Problem([["a", "B", "abbc", "Aa", "a"]] * 3, LabelSpace(space.names, space.views[1:]), seed)
    assert not any(view.labels_are_tags for view in views_of_kernel(problem.parameters, problem.weights))
    check(problem, 1)


@settings(max_examples=25, deadline=None)
@given(TEXTS, SEED, st.integers(1, 4), st.integers(1, 4))
def test_an_epoch_in_parts_is_the_same(texts: list[list[str]], seed: int, batch: int, cut: int) -> None:
    problem = Problem([*texts, ["a", "B"], ["Aa"]], plain(), seed)
    found = []
    for parts in (1, 2):
        objective, weights, totals = start(problem)
        middle = min(cut * batch, len(objective)) if parts == 2 else 0
        mistakes = objective.correct(weights, totals, 0, middle, batch, 0, StepRule())
        mistakes += objective.correct(weights, totals, middle, len(objective), batch, -(-middle // batch), StepRule())
        found.append((weights, totals, mistakes))
    assert found[0][2] == found[1][2]
    np.testing.assert_array_equal(found[0][:2], found[1][:2])


# What must hold


def nothing(problem: Problem) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Weights and totals before the first step."""
    return np.zeros(problem.parameters.size, np.float32), np.zeros(problem.parameters.size)


def test_the_only_sequence_is_the_target_whatever_it_scores() -> None:
    problem = Problem([["a", "B", "Aa"]], plain(), 0)
    numbers = [problem.sets.of_labels([y]) for y in (2, 0, 3)]
    encoded = problem.encoded.with_evidence(np.array(numbers, np.int32), rows=problem.sets.rows)
    objective = ChainObjective(problem.parameters, encoded, dtype=np.float32)
    weights, totals = nothing(problem)
    assert objective.correct(weights, totals, 0, 1, 1, 0, StepRule()) == 1
    expected = np.zeros(problem.parameters.size)
    add_path(problem, expected, 0, (2, 0, 3), 1)
    add_path(problem, expected, 0, (0, 0, 0), -1)
    np.testing.assert_array_equal(weights, expected)
    assert not totals.any()  # it was step 0


def test_an_only_sequence_that_is_forbidden_is_a_contradiction() -> None:
    problem = Problem([["a", "B"], ["a", "B"]], LabelSpace.plain("seg", "BMES"), 0)
    problem.parameters = replace(problem.parameters, scheme=TransitionScheme.of("BMES", tuple("BMES")))
    single, begin, end = (problem.sets.of_labels([y]) for y in (3, 0, 2))
    allow = np.array([begin, end, single, end], np.int32)
    evidence = problem.encoded.with_evidence(allow, rows=problem.sets.rows)
    objective = ChainObjective(problem.parameters, evidence, dtype=np.float32)
    weights, totals = nothing(problem)
    with pytest.raises(ContradictionError, match="training sentence 2: no label sequence"):
        objective.correct(weights, totals, 0, 2, 1, 0, StepRule())


def test_a_sentence_of_weight_0_moves_nothing_and_is_no_mistake() -> None:
    problem = Problem([["a", "B", "Aa", "B"]] * 3, plain(), 1)
    allow = np.full(problem.encoded.tokens, problem.sets.of_labels([1]), np.int32)
    encoded = problem.encoded.with_evidence(allow, weights=np.zeros(3), rows=problem.sets.rows)
    objective = ChainObjective(problem.parameters, encoded, dtype=np.float32)
    _, weights, totals = start(problem)
    assert objective.correct(weights, totals, 0, 3, 1, 1, StepRule()) == 0
    np.testing.assert_array_equal(weights, problem.weights)


# Other learners


@settings(max_examples=60, deadline=None)
@given(TEXTS, SPACES, SEED, SWITCHES, st.sampled_from([StepRule(PASSIVE_AGGRESSIVE, 1, 0.3), StepRule(AROW)]))
def test_steps_along_the_difference_of_a_sentence(
    texts: list[list[str]], space: LabelSpace, seed: int, switches: dict[str, bool], rule: StepRule
) -> None:
    """One sentence after another, by the formulas on dense vectors."""
    problem = Problem(texts, space, seed, **switches)
    objective, weights, _ = start(problem)
    memory = np.full(problem.parameters.size, 0.5 if rule.learner == AROW else 0.0)
    expected_memory, cost = memory.copy(), 0.0
    for number, sentence in enumerate(np.flatnonzero(problem.encoded.evidence.informative()).tolist()):
        problem.weights = weights.astype(np.float64)
        try:
            found = mistake(problem, sentence)
        except ValueError:
            with pytest.raises(ContradictionError, match="training sentence"):
                objective.correct(weights, memory, number, number + 1, 1, number, rule)
            return
        moved = 0.0
        if found and (d := difference(problem, sentence, found)).any():
            allow = problem.encoded.evidence.sets[slice(*problem.encoded.sentence_ptr[sentence : sentence + 2])]
            errors = int((problem.masks[allow, found[0]] == 0).sum())
            moved, move, expected_memory = dense_step(rule, problem.weights, expected_memory, d, errors, number)
            problem.weights = problem.weights - problem.sentences[sentence].weight * move
            if rule.learner != AROW:
                expected_memory = memory - number * problem.sentences[sentence].weight * move
            moved *= problem.sentences[sentence].weight
        cost = objective.correct(weights, memory, number, number + 1, 1, number, rule)
        assert cost == pytest.approx(moved, rel=1e-5, abs=1e-5)
        np.testing.assert_allclose(weights, problem.weights, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(memory, expected_memory, rtol=1e-5, atol=1e-5)
        expected_memory = memory.copy()


def difference(problem: Problem, sentence: int, found: tuple[Labels, Labels]) -> NDArray[Any]:
    """The features of the best labels less those of the best allowed ones."""
    d = np.zeros(problem.parameters.size)
    add_path(problem, d, sentence, found[0], 1)
    add_path(problem, d, sentence, found[1], -1)
    return d


def dense_step(
    rule: StepRule, weights: NDArray[Any], memory: NDArray[Any], d: NDArray[Any], errors: int, number: int
) -> tuple[float, NDArray[Any], NDArray[Any]]:
    """The cost, what is subtracted from the weights, and the variances after it."""
    if rule.learner == AROW:
        cost = float(weights @ d) + errors
        return cost, cost / (rule.bound + memory @ d**2) * memory * d, 1 / (1 / memory + d**2 / rule.bound)
    cost = float(weights @ d) + errors**0.5
    return cost, min(rule.bound, cost / (d @ d)) * d, memory
