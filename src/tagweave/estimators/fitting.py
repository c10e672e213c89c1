"""Fits a chain model to the user's own features, with weights only for pairs that the evidence has observed.

A pair of attribute and label occurs if a token has the attribute and its set contains the label; a pair of labels
occurs if the sets of two neighbours contain them. An unknown position counts only for pairs of labels, next to a known
one. If every position has one label, this is CRFsuite's rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress, pairwise
from typing import Any
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.sentence import Layer
from tagweave.estimators.answers import GUIDELINE, allowed, encode, finite
from tagweave.estimators.parameters import check
from tagweave.estimators.sequences import TokenSequence
from tagweave.features.attributes import AttributeEncoder
from tagweave.features.encoded import Encoded
from tagweave.features.rules import ArrayRule
from tagweave.labels import SPANS
from tagweave.labels.sets import ALL, LabelSets
from tagweave.labels.space import LabelSpace
from tagweave.learning.run import Iteration, Run, Schedule
from tagweave.learning.staying_near import RATE
from tagweave.learning.trainer import UNWATCHED, Objective, StateRules, Trainer, TrainerAround, TrainerState, Watch
from tagweave.models.batches import chunk_bounds
from tagweave.models.chain import ChainModel
from tagweave.models.linear_scorer import ChainParameters, Layout, ViewEmission
from tagweave.models.occurrences import in_bytes
from tagweave.training.fit.chain_problem import (
    ChainProblem,
    lay_out,
    layout_of,
    scheme_of,
    scorer,
    with_pairs_of,
)
from tagweave.training.fit.problem import fit_problem
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import Task

Floats = NDArray[Any]
_SMALL = 1e-6  # largest value of an attribute below which it is told


@dataclass(frozen=True)
class Algorithm:
    """One value of the parameter `algorithm`."""

    learner: str  # the name of the learner in a recipe
    settings: Mapping[str, str]  # the parameters that it takes, with their names in the recipe
    iterations: int  # the default of `max_iterations`
    delta: float | None = None  # the default of `delta`; `None` if the learner tests for convergence itself
    weighs: bool = True  # whether it supports sentence weights
    ignored: tuple[str, ...] = ()  # parameters of CRFsuite's that it takes and that change nothing
    largest: float = 1e3  # value of an attribute from which it learns from others; larger ones are scaled


def _same(*names: str) -> dict[str, str]:
    return {name: name for name in names}


_UNLIMITED = 2**31 - 1
PERIOD = 10

ALGORITHMS: Mapping[str, Algorithm] = {
    "lbfgs": Algorithm(
        "lbfgs",
        {**_same("c1", "c2", "epsilon", "period", "delta"), "num_memories": "memory", "max_linesearch": "trials"},
        _UNLIMITED,
        ignored=("linesearch",),
    ),
    "l2sgd": Algorithm(
        "sgd",
        {**_same("c2"), "calibration_eta": "trial", "calibration_rate": "growth", "calibration_samples": "sample"},
        1000,
        delta=1e-6,
        ignored=("calibration_candidates", "calibration_max_trials"),
        largest=10,
    ),
    "ap": Algorithm("perceptron", _same("epsilon"), 100, weighs=False, largest=10),
    "pa": Algorithm(
        "pa", {**_same("c", "error_sensitive", "averaging", "epsilon"), "pa_type": "slack"}, 100, largest=10
    ),
    "arow": Algorithm("arow", _same("variance", "gamma", "epsilon"), 100),
    "adagrad": Algorithm("adagrad", _same(), 100, delta=1e-5),
}
"""The algorithms by name. The first five are CRFsuite's, with its defaults."""


def algorithm_of(name: str | None) -> Algorithm:
    """Look up an algorithm; `None` is L-BFGS. Raises ValueError for an unknown name."""
    if (name or "lbfgs") not in ALGORITHMS:
        raise ValueError(f"unknown algorithm {name!r}, expected one of {', '.join(ALGORITHMS)}")
    return ALGORITHMS[name or "lbfgs"]


def settings_of(name: str | None, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of the recipe's learner. Raise ValueError for a parameter that is wrong, or not its own."""
    algorithm = algorithm_of(name)
    present = {key: value for key, value in parameters.items() if value is not None}
    stopping = () if algorithm.delta is None else ("period", "delta")
    for key, value in present.items():
        if key not in (*algorithm.settings, *algorithm.ignored, *stopping):
            raise ValueError(f"{key}={value!r}: the algorithm {name or 'lbfgs'!r} has no such parameter, leave it None")
        check(key, value)
    return {algorithm.settings[key]: value for key, value in present.items() if key in algorithm.settings}


@dataclass(frozen=True)
class UntilSettled(TrainerAround):
    """A trainer with CRFsuite's stopping criterion: (loss `period` iterations ago - loss) / loss < `delta`."""

    period: int = PERIOD
    delta: float = 1e-5

    def start(self, objective: Objective, weights: Floats) -> TrainerState:
        state = super().start(objective, weights)
        state.arrays["past"] = np.full(self.period, np.inf)
        return state

    def rules(self, objective: Objective) -> StateRules:
        rules = super().rules(objective)
        return replace(rules, arrays={**rules.arrays, "past": ArrayRule(("float64",), (self.period,))})

    def step(self, objective: Objective, state: TrainerState, watch: Watch = UNWATCHED) -> None:
        super().step(objective, state, watch)
        past, at = state.arrays["past"], state.iteration % self.period
        before, past[at] = past[at], state.loss
        state.converged |= bool(np.isfinite(before) and before - state.loss < self.delta * abs(state.loss))


def trainer_of(name: str | None, trainer: Trainer, period: int | None, delta: float | None) -> Trainer:
    """The trainer of an algorithm, stopped by its loss unless it tests for convergence itself."""
    default = algorithm_of(name).delta
    if default is None:
        return trainer
    return UntilSettled(trainer, PERIOD if period is None else period, default if delta is None else delta)


@dataclass
class _Recording:
    """A `Callback` that keeps the iterations, and prints them if that is wanted."""

    prints: bool
    log: list[Iteration] = field(default_factory=list)

    def iteration(self, iteration: Iteration, limit: int) -> None:
        self.log.append(iteration)
        if self.prints:
            score = "" if iteration.score is None else f", development score {iteration.score:.4f}"
            print(f"iteration {iteration.number}: loss {iteration.loss:.6f}{score}, {iteration.seconds:.1f} s")


_LEARNER = tuple(
    dict.fromkeys(name for algorithm in ALGORITHMS.values() for name in (*algorithm.settings, *algorithm.ignored))
)
_LEARNER += ("period", "delta")


@dataclass(frozen=True)
class Sequences:
    """Sentences with their evidence and weights."""

    sentences: Sequence[TokenSequence]
    layers: Sequence[Layer]
    weights: Sequence[float]

    def where(self, kept: Sequence[bool]) -> Sequences:
        return Sequences(
            list(compress(self.sentences, kept)), list(compress(self.layers, kept)), list(compress(self.weights, kept))
        )


def fit_sequences(
    train: Sequences,
    dev: Sequences | None,
    parameters: Mapping[str, Any],
    start: ChainModel | None = None,
    goes_on: bool = False,
) -> tuple[ChainModel, list[Iteration]]:
    """Fit a model by the parameters of `ChainCRF`, or as a part of a stream (`goes_on`), after `start` if there is one.

    Raises ValueError: no data, or what does not fit together.
    """
    name = "adagrad" if goes_on else parameters["algorithm"]
    algorithm = algorithm_of(name)
    if not algorithm.weighs and set(train.weights) - {0.0, 1.0}:
        raise ValueError(f"sample_weight: the algorithm {name!r} cannot weigh sentences")
    if (threads := parameters["threads"]) is not None:
        check("threads", threads)
    coding = parameters["coding"]
    recipe = Recipe(
        Task(SPANS, coding) if coding else Task(),
        learner=algorithm.learner,
        settings={"rate": RATE} if goes_on else settings_of(name, {key: parameters[key] for key in _LEARNER}),
        features=_features(parameters["all_possible_states"], goes_on),
        edges=False,
        precision="float64",
        threads=threads or 1,
    )
    min_freq = parameters["min_freq"] or 0
    check("min_freq", min_freq)
    all_transitions = parameters["all_possible_transitions"]
    all_transitions = goes_on if all_transitions is None else bool(all_transitions)
    problem, scales = _prepare(train, recipe, min_freq, all_transitions, algorithm.largest, start)
    recording = _Recording(bool(parameters["verbose"]))
    trainer = problem.trainer(recipe)
    if not goes_on:
        trainer = trainer_of(name, trainer, parameters["period"], parameters["delta"])
    evaluate = None if dev is None else _evaluation(problem, scales, dev)
    if (limit := parameters["max_iterations"]) is not None:
        check("max_iterations", limit)
    if limit is None:
        limit = trainer.epochs if goes_on else algorithm.iterations
    schedule = Schedule(limit, parameters["period"] or PERIOD, selects=bool(parameters["early_stopping"]))
    model = fit_problem(problem, recipe, run=Run(schedule, recording), trainer=trainer, evaluate=evaluate).model
    about = {name: value for name, value in model.about.items() if name != "recipe"}  # `get_params` tells it
    return replace(model, about=about, weights=_unscaled(model, model.weights, scales)), recording.log


def _features(every_state: bool | None, goes_on: bool) -> str | None:
    """Return which weights attributes have (`Recipe.features`): in a stream, labels that did not occur yet may come.

    After ten parts of CoNLL-2002 (Spanish), NCBI and WNUT-17, F of entities, dev, is 0.3, 1.4 and 1.8 higher than with
    observed weights alone.
    """
    if every_state is None:
        return None if goes_on else "observed"
    return "all" if every_state else "observed"


def _evaluation(problem: ChainProblem, scales: Floats | None, dev: Sequences) -> Callable[[Floats], float]:
    """Return a function from weights to the score on development data."""
    score = scorer(problem.model, encode(problem.model, dev.sentences), dev.layers, GUIDELINE)
    return lambda weights: score(_unscaled(problem.model, weights, scales))


def _prepare(
    train: Sequences,
    recipe: Recipe,
    min_freq: float,
    all_transitions: bool,
    limit: float,
    start: ChainModel | None = None,
) -> tuple[ChainProblem, Floats | None]:
    """Return the problem, and the scale of each attribute if the values of some were scaled."""
    train = train.where([weight > 0 for weight in train.weights])
    if not train.sentences:
        raise ValueError("found no sentence, expected training data")
    names = sorted({name for layer in train.layers for candidates in set(layer) for name in candidates or ()})
    if not names:
        raise ValueError("found no label in y, only None: there is nothing to learn from")
    if start is not None:
        names = sorted({*names, *start.space.names})
    sets = LabelSets(LabelSpace.plain(GUIDELINE, recipe.task.labels(names)))
    allow = [allowed(layer, sets) for layer in train.layers]
    # a sentence without evidence has loss 0; dropped here, it does not even change the order of the attributes
    train = train.where([bool(numbers.any()) for numbers in allow])
    encoder = AttributeEncoder() if start is None else start.encoder.growing(start.linear.counts)
    assert isinstance(encoder, AttributeEncoder)  # noqa: S101 - as `load` and `fit` make it
    encoded = finite(encoder.encode_attributes(train.sentences, train.weights), encoder)
    counts = encoder.freeze(encoded)
    evidence = [numbers for numbers in allow if numbers.any()]
    encoded = encoded.with_evidence(np.concatenate([np.zeros(0, np.int32), *evidence]), rows=sets.rows)
    parameters = _parameters(encoder, encoded, sets, recipe, min_freq, all_transitions)
    parameters = replace(parameters, occurrences=in_bytes(counts))
    if start is not None:
        parameters = _with_those_of(start.linear, parameters)
    if (scales := _scales(encoder, encoded, limit)) is not None:
        encoded = replace(encoded, type_values=encoded.type_values * scales[encoded.type_features])
        if start is not None:  # its weights are for values as they are
            start = replace(start, weights=_unscaled(start, start.weights, 1 / scales[: len(start.linear.counts)]))
    return lay_out(parameters, encoder, encoded, sets, recipe, start=start), scales


def _with_those_of(before: ChainParameters, parameters: ChainParameters) -> ChainParameters:
    """Return parameters that have the weights of an earlier model, too, whose features are the first."""
    ((view, layout),) = parameters.weighted
    observed = parameters.observed_transitions
    if observed is not None and before.observed_transitions is not None:
        columns = view.numbers_of(before.space.names)
        table = observed[0].copy()
        table[np.ix_(columns, columns)] |= before.observed_transitions[0]
        observed = (table,)
    elif before.observed_transitions is None:
        observed = None
    return replace(parameters, layouts=(with_pairs_of(before, 0, view, layout),), observed_transitions=observed)


def _scales(encoder: AttributeEncoder, encoded: Encoded, limit: float) -> Floats | None:
    """Return a factor for the values of each attribute if some exceed `limit`, and warn of these; otherwise `None`.

    A value of a million makes one direction of the weights so steep that no step helps in the others. Factors are
    powers of two, so scaling loses no digits.
    """
    largest = np.zeros(len(encoder.names))
    if len(encoded.type_values):
        np.maximum.at(largest, encoded.type_features, np.abs(encoded.type_values))
    large, small = largest > limit, (largest > 0) & (largest < _SMALL)
    if small.any():
        shown = _shown(encoder, small, largest)
        warn(f"values near 0 of {shown} teach hardly anything: scale them to about 1 before `fit`", stacklevel=4)
    if not large.any():
        return None
    shown = _shown(encoder, large, largest)
    how = "scaled to at most 1 during training, and c1 and c2 apply to the scaled ones: scale them before `fit`"
    warn(f"large values of {shown} are {how}", stacklevel=4)
    return np.where(large, np.exp2(-np.ceil(np.log2(np.where(large, largest, 1)))), 1.0)


def _shown(encoder: AttributeEncoder, which: NDArray[np.bool_], largest: Floats) -> str:
    first, *rest = np.flatnonzero(which).tolist()
    more = f", and {len(rest):,} more attributes" if rest else ""
    return f"{encoder.names[first]!r} (up to {largest[first]:g}{more})"


def _unscaled(model: ChainModel, weights: Floats, scales: Floats | None) -> Floats:
    """Return the weights for values as they are."""
    if scales is None:
        return weights
    weights = weights.copy()
    ((_, layout),), (views,) = model.linear.weighted, model.linear.split(weights)
    np.multiply(views.emission, np.repeat(scales, np.diff(layout.ptr)), out=views.emission)
    return weights


def _parameters(
    encoder: AttributeEncoder, encoded: Encoded, sets: LabelSets, recipe: Recipe, min_freq: float, all_transitions: bool
) -> ChainParameters:
    view = sets.space.views[0]
    layout = layout_of(encoder, encoded, sets, view, recipe.dense(len(view.names)) and not min_freq)
    if min_freq:  # CRFsuite also drops pairs that do not occur at all
        layout = _frequent(layout, encoded, sets, min_freq)
    observed = None
    if min_freq or not all_transitions:
        counts = transition_counts(encoded, sets)
        observed = ((counts > 0) & (counts >= min_freq),)
    return ChainParameters(
        sets.space, (layout,), scheme_of(recipe, sets.space), recipe.transitions, recipe.edges, observed
    )


def transition_counts(encoded: Encoded, sets: LabelSets) -> NDArray[np.float64]:
    """[Y, Y]: at how many positions one label may follow another; two unknown neighbours do not count."""
    inside = np.ones(encoded.tokens, bool)
    inside[encoded.sentence_ptr[:-1]] = False
    after = np.flatnonzero(inside)
    pairs = np.stack([encoded.evidence.sets[after - 1], encoded.evidence.sets[after]], axis=1)
    distinct, times = np.unique(pairs[(pairs != ALL).any(axis=1)], axis=0, return_counts=True)
    masks = sets.masks.astype(np.float64)
    counts: NDArray[np.float64] = (masks[distinct[:, 0]] * times[:, None]).T @ masks[distinct[:, 1]]
    return counts


def _frequent(layout: Layout, encoded: Encoded, sets: LabelSets, min_freq: float) -> Layout:
    """The layout without pairs whose frequency, the sum of the attribute's values, is below `min_freq`."""
    masks = sets.masks.astype(np.float64)
    masks[ALL] = 0
    frequency = np.zeros(layout.size)
    emission = ViewEmission(sets.space.views[0], layout, frequency)
    bounds = chunk_bounds(encoded, len(sets.space))
    for first, last in pairwise(bounds):
        tokens = slice(encoded.sentence_ptr[first], encoded.sentence_ptr[last])
        emission.add_gradient(encoded, first, last, masks[encoded.evidence.sets[tokens]])
    kept = frequency >= min_freq
    ends = np.concatenate([[0], np.cumsum(kept)])
    return replace(layout, ptr=ends[layout.ptr].astype(layout.ptr.dtype), cell=layout.cell[kept])
