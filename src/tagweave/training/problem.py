"""Training data made ready: everything that a trainer of a chain model needs, nothing trained yet."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tagweave.labels.sets import LabelSets
from tagweave.labels.tasks import SPANS
from tagweave.learning.trainer import Objective, Trainer
from tagweave.models.chain import ChainModel
from tagweave.models.objective import ChainObjective
from tagweave.training.recipe import Recipe
from tagweave.training.summary import summary

_MOSTLY = 0.5  # share of positions with one label below which training begins pointwise


@dataclass(frozen=True)
class Problem:
    """Training data made ready: everything that a trainer needs, nothing trained yet.

    Attributes:
        model: the model with its initial weights.
        objective: the loss on the training data.
        sets: the label sets of its evidence.
    """

    model: ChainModel
    objective: ChainObjective
    sets: LabelSets

    @property
    def starts_pointwise(self) -> bool:
        """Whether training should begin with a model of labels that do not depend on their neighbours."""
        allow = self.objective.encoded.allow
        return starts_pointwise(self.model, count_known(self.sets, allow), len(allow))

    def pointwise(self) -> Problem:
        """The same problem without the weights of transitions and edges, which stay as they are."""
        model = pointwise_model(self.model)
        return Problem(model, self.objective.with_parameters(model.linear), self.sets)

    def with_weights(self, weights: NDArray[Any]) -> Problem:
        """The same problem with other initial weights."""
        return replace(self, model=replace(self.model, weights=weights))

    def trainer(self, recipe: Recipe) -> Trainer:
        """The learner of a recipe, as it has to be for the objective."""
        return recipe.trainer()

    def summary(self, recipe: Recipe) -> list[str]:
        """Lines that tell the size of the problem."""
        return summary(self, recipe)


class AnyProblem(Protocol):
    """Training data made ready, here (`Problem`) or on workers (`ShardedProblem`)."""

    @property
    def model(self) -> ChainModel:
        """The model with its initial weights."""
        ...

    @property
    def objective(self) -> Objective:
        """The loss on the training data."""
        ...

    @property
    def starts_pointwise(self) -> bool:
        """See `Problem.starts_pointwise`."""
        ...

    def pointwise(self) -> AnyProblem:
        """See `Problem.pointwise`."""
        ...

    def with_weights(self, weights: NDArray[Any]) -> AnyProblem:
        """See `Problem.with_weights`."""
        ...

    def trainer(self, recipe: Recipe) -> Trainer:
        """See `Problem.trainer`."""
        ...

    def summary(self, recipe: Recipe) -> list[str]:
        """See `Problem.summary`."""
        ...


def pointwise_model(model: ChainModel) -> ChainModel:
    """The model without the weights of transitions and edges."""
    return replace(model, parameters=replace(model.linear, transitions=False, edges=False))


def count_known(sets: LabelSets, allow: NDArray[np.int32]) -> int:
    """Count the tokens that have one label under some guideline, or probabilities of labels."""
    known = np.any([sets.projected(view).sum(axis=1) == 1 for view in sets.space.sides], axis=0)
    if sets.posteriors is not None:
        known |= sets.posteriors.of_set >= 0
    return int(np.count_nonzero(known[allow]))


def starts_pointwise(model: ChainModel, known: int, tokens: int) -> bool:
    """Return whether a model of labels that depend on their neighbours should begin with one in which they do not.

    It should if too few tokens have one label. Not for spans: a token by itself says nothing of what is outside.
    """
    has_few = tokens > 0 and known / tokens < _MOSTLY
    return has_few and model.task != SPANS and model.parameters.transitions
