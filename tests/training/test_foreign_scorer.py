"""A scorer that is no matrix of weights goes the whole way: method, fit, every learner of a loss, file, labels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

import tagweave as tw
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Location, Sentence
from tagweave.errors import PlanError
from tagweave.evidence.sequences import rows
from tagweave.features.encoded import Encoded
from tagweave.features.rules import Description, Whole
from tagweave.front.description import describe
from tagweave.labels.space import LabelSpace
from tagweave.labels.transition_scheme import TransitionScheme
from tagweave.learning.run import Iteration, Run, Schedule
from tagweave.models.assembly import SCORERS
from tagweave.models.packing import Arrays
from tagweave.models.schema import ChainDescription
from tagweave.models.scorer import ChainScoring, ScorerParameters
from tagweave.structures import CHAIN
from tagweave.structures.chain import ChainGradient
from tagweave.training.fit.chain_problem import ChainProblem, lay_out
from tagweave.training.fit.fit import prepare
from tagweave.training.fit.problem import Fitted, fit_problem
from tagweave.training.fit.recipe import FEATURE_LEARNERS, Recipe
from tagweave.training.job import Job, Method
from tagweave.training.methods import METHODS
from tagweave.training.plan import Options

Floats = NDArray[Any]
HIDDEN = 4
TAGS = {"a": "N", "b": "V", "c": "N", "d": "O"}


class NetworkScoring(ChainScoring):
    """Scores tanh(sum of U[feature] over the features of a word) V, and transitions."""

    def __init__(self, parameters: Network, weights: Floats) -> None:
        self.parameters = parameters
        self.U, self.V, T, start, end = parameters.split(weights)
        self.transitions = parameters.under_scheme(T.copy(), start.copy(), end.copy())

    def write(self, encoded: Encoded, first: int, last: int, scores: Floats) -> None:
        scores[:] = self._hidden(encoded, first, last) @ self.V

    def add_gradient(self, encoded: Encoded, first: int, last: int, emission: Floats, gradient: Floats) -> None:
        dU, dV, *_ = self.parameters.split(gradient)
        hidden, (token, feature) = self._hidden(encoded, first, last), _features(encoded, first, last)
        dV += hidden.T @ emission
        np.add.at(dU, feature, (emission @ self.V.T * (1 - hidden**2))[token])

    def add_transition_gradient(self, d_scores: ChainGradient, gradient: Floats) -> None:
        _, _, dT, dstart, dend = self.parameters.split(gradient)
        dT += d_scores.transition
        dstart += d_scores.start
        dend += d_scores.end

    def _hidden(self, encoded: Encoded, first: int, last: int) -> Floats:
        token, feature = _features(encoded, first, last)
        sums = np.zeros((encoded.sentence_ptr[last] - encoded.sentence_ptr[first], HIDDEN), self.U.dtype)
        np.add.at(sums, token, self.U[feature])
        return np.asarray(np.tanh(sums))


def _features(encoded: Encoded, first: int, last: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The features of words in these sentences that the model knows: the token of each, and its number."""
    types = encoded.word_types[encoded.sentence_ptr[first] : encoded.sentence_ptr[last]]
    at, ptr = rows(encoded.type_ptr, types)
    token, feature = np.repeat(np.arange(len(types)), np.diff(ptr)), encoded.type_features[at]
    return token[feature >= 0], feature[feature >= 0]


class NetworkDescription(ChainDescription):
    """What a model file says of it."""

    features: Whole


@dataclass(frozen=True)
class Network(ScorerParameters):
    """Two layers over the features of words."""

    kind: ClassVar[str] = "network"
    schema: ClassVar[type[NetworkDescription]] = NetworkDescription

    space: LabelSpace
    scheme: TransitionScheme
    features: int
    transitions: bool = True
    edges: bool = True

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        labels = len(self.space)
        return [(self.features, HIDDEN), (HIDDEN, labels), (labels, labels), (labels,), (labels,)]

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

    def to_json(self) -> Description:
        return {"features": self.features, **super().to_json()}

    @classmethod
    def of_parts(cls, description: NetworkDescription, space: LabelSpace, arrays: Arrays) -> Network:
        scheme = cls.scheme_of(arrays)
        return cls(space, scheme, description.features, description.transitions, description.edges)

    def check_encoder(self, windows: NDArray[np.int64]) -> None:
        if len(windows) != self.features:
            raise ValueError(f"found a network over {self.features} features, expected {len(windows)}")


def with_network(usual: ChainProblem, recipe: Recipe) -> ChainProblem:
    """The same problem with a network as its scorer."""
    model, encoded = usual.model, usual.objective.encoded
    network = Network(model.space, model.parameters.scheme, len(model.encoder.windows))
    return lay_out(network, model.encoder, encoded, usual.sets, recipe)


def fit_network(job: Job) -> Fitted:
    return fit_problem(with_network(prepare(job.data.targets, job.recipe), job.recipe), job.recipe, job.dev, job.run)


METHOD = Method("network", "one model, a network", (CHAIN,), Options, fit_network, several=False)


class Losses(list[float]):
    """The loss of each iteration."""

    def iteration(self, iteration: Iteration, limit: int) -> None:
        self.append(iteration.loss)


def corpus(known: float = 1.0, seed: int = 3) -> Corpus:
    random = np.random.default_rng(seed)
    sentences = []
    for number in range(40):
        forms = tuple(random.choice(list(TAGS), 5))
        layer = tuple((TAGS[form],) if random.random() < known else None for form in forms)
        sentences.append(Sentence(forms, {"g": layer}, location=Location("f", number + 1)))
    return Corpus(tuple(sentences), "g", path="f")


def problem(recipe: Recipe, known: float = 1.0) -> ChainProblem:
    return with_network(prepare([corpus(known)], recipe), recipe)


def test_a_method_trains_it_and_its_file_is_a_model_like_any_other(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(SCORERS, Network.kind, Network)
    monkeypatch.setitem(METHODS, METHOD.name, METHOD)
    model = tw.train(corpus(), dev=corpus(seed=4), method="network", iterations=15)
    assert model.score is not None
    assert model.score > 0.9
    model.save(tmp_path / "m")
    again = tw.load_model(tmp_path / "m")
    texts = [["d", "c", "b", "a", "unseen"], ["b"]]
    assert again.tag(texts) == model.tag(texts)
    assert describe(str(tmp_path / "m"))["labels"] == {"g": ["N", "O", "V"]}
    with pytest.raises(PlanError, match="found a mistake-driven learner with network scores, expected a learner that"):
        tw.train(corpus(), method="network", learner="perceptron")


@pytest.mark.parametrize("learner", [name for name, each in FEATURE_LEARNERS.items() if not each.mistake_driven])
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
