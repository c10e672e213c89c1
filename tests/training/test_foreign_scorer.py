"""A scorer that is no matrix of weights goes the whole way of a fit: size, beginning, learner, score and record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Location, Sentence
from tagweave.features.encoded import Encoded
from tagweave.labels.space import LabelSpace
from tagweave.labels.transition_scheme import TransitionScheme
from tagweave.learning.run import Iteration, Run, Schedule
from tagweave.models.scorer import ChainScoring, ScorerParameters
from tagweave.structures.chain import ChainGradient
from tagweave.structures.lockstep import TransitionScores
from tagweave.training.chain_problem import ChainProblem, lay_out
from tagweave.training.fit import fit_problem, prepare
from tagweave.training.recipe import LEARNERS, Recipe

Floats = NDArray[Any]
HIDDEN = 4
TAGS = {"a": "N", "b": "V", "c": "N", "d": "O"}


class NetworkScoring(ChainScoring):
    """Scores tanh(U[word type]) V, and transitions."""

    def __init__(self, parameters: Network, weights: Floats) -> None:
        self.parameters = parameters
        self.U, self.V, T, start, end = parameters.split(weights)
        self.transitions = TransitionScores.of_scores(T, start, end)

    def write(self, encoded: Encoded, first: int, last: int, scores: Floats) -> None:
        scores[:] = np.tanh(self._rows(encoded, first, last)) @ self.V

    def add_gradient(self, encoded: Encoded, first: int, last: int, emission: Floats, gradient: Floats) -> None:
        dU, dV, *_ = self.parameters.split(gradient)
        hidden, types = np.tanh(self._rows(encoded, first, last)), self._types(encoded, first, last)
        dV += hidden.T @ emission
        np.add.at(dU, types, emission @ self.V.T * (1 - hidden**2))

    def add_transition_gradient(self, d_scores: ChainGradient, gradient: Floats) -> None:
        _, _, dT, dstart, dend = self.parameters.split(gradient)
        dT += d_scores.transition
        dstart += d_scores.start
        dend += d_scores.end

    def _types(self, encoded: Encoded, first: int, last: int) -> NDArray[np.int32]:
        return encoded.word_types[encoded.sentence_ptr[first] : encoded.sentence_ptr[last]]

    def _rows(self, encoded: Encoded, first: int, last: int) -> Floats:
        return np.asarray(self.U[self._types(encoded, first, last)])


@dataclass(frozen=True)
class Network(ScorerParameters):
    """Two layers over word types."""

    kind: ClassVar[str] = "network"

    space: LabelSpace
    scheme: TransitionScheme
    types: int
    transitions: bool = True
    edges: bool = True

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        labels = len(self.space)
        return [(self.types, HIDDEN), (HIDDEN, labels), (labels, labels), (labels,), (labels,)]

    @property
    def size(self) -> int:
        return sum(int(np.prod(shape)) for shape in self.shapes)

    def initial(self, dtype: Any) -> Floats:
        return np.random.default_rng(0).normal(0, 0.3, self.size).astype(dtype)

    def split(self, weights: Floats) -> list[Floats]:
        ends = np.cumsum([int(np.prod(shape)) for shape in self.shapes])[:-1]
        return [part.reshape(shape) for part, shape in zip(np.split(weights, ends), self.shapes, strict=True)]

    def scoring(self, weights: Floats) -> NetworkScoring:
        return NetworkScoring(self, weights)

    def to_json(self) -> dict[str, Any]:
        return {"types": self.types}

    def arrays(self) -> dict[str, Any]:
        return {}

    @classmethod
    def rules(cls) -> dict[str, Callable[..., Any]]:
        return {}

    @classmethod
    def array_rules(cls, description: dict[str, Any], arrays: Any) -> dict[str, Any]:
        return {}

    @classmethod
    def of_parts(cls, description: dict[str, Any], space: LabelSpace, arrays: Any) -> Network:
        raise NotImplementedError


class Losses(list[float]):
    """The loss of each iteration."""

    def iteration(self, iteration: Iteration, limit: int) -> None:
        self.append(iteration.loss)


def problem(recipe: Recipe, known: float = 1.0) -> ChainProblem:
    random = np.random.default_rng(3)
    sentences = []
    for number in range(40):
        forms = tuple(random.choice(list(TAGS), 5))
        layer = tuple((TAGS[form],) if random.random() < known else None for form in forms)
        sentences.append(Sentence(forms, {"g": layer}, location=Location("f", number + 1)))
    usual = prepare([Corpus(tuple(sentences), "g", path="f")], recipe)
    encoded = usual.objective.encoded
    network = Network(usual.model.space, usual.model.parameters.scheme, len(encoded.type_ptr) - 1)
    return lay_out(network, usual.model.encoder, encoded, usual.sets, recipe)


@pytest.mark.parametrize("learner", [name for name, each in LEARNERS.items() if not each.mistake_driven])
def test_every_learner_of_a_loss_trains_it(learner: str) -> None:
    recipe, losses, told = Recipe(learner=learner, precision="float64"), Losses(), list[str]()
    given = problem(recipe)
    start = given.objective.add_batch(
        given.model.weights, 0, len(given.objective.encoded), np.zeros(given.objective.size)
    )
    fitted = fit_problem(given, recipe, run=Run(Schedule(15), callback=losses, tell=told.append))
    assert losses[-1] < 0.5 * start
    assert "weights" in told[1]
    assert fitted.model.parameters.weights_by_view == {}


def test_few_known_labels_need_no_pointwise_beginning() -> None:
    recipe = Recipe(precision="float64")
    assert problem(recipe, 0.3).beginning is None
    fit_problem(problem(recipe, 0.3), recipe, run=Run(Schedule(2)))


def test_its_gradient_is_that_of_differences() -> None:
    recipe = Recipe(precision="float64")
    objective, model = problem(recipe).objective, problem(recipe).model
    weights, gradient = model.weights, np.zeros(len(model.weights))
    objective.add_batch(weights, 0, len(objective.encoded), gradient)
    for at in range(0, len(weights), 7):
        losses = []
        for step in (1e-5, -1e-5):
            moved = weights.copy()
            moved[at] += step
            losses.append(objective.add_batch(moved, 0, len(objective.encoded), np.zeros_like(weights)))
        assert gradient[at] == pytest.approx((losses[0] - losses[1]) / 2e-5, abs=1e-5)
