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
        """Whether a model of labels that depend on their neighbours should begin with one in which they do not.

        Not for spans: a token by itself says nothing of what is outside.
        """
        if self.model.task == SPANS:
            return False
        allow = self.objective.encoded.allow
        views = self.model.space.sides
        given = self.sets.posteriors
        known = np.any([self.sets.projected(view).sum(axis=1) == 1 for view in views], axis=0)
        known = (known if given is None else known | (given.of_set >= 0))[allow]
        return mostly_unknown(self.model, int(np.count_nonzero(known)), len(allow))

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


def mostly_unknown(model: ChainModel, known: int, tokens: int) -> bool:
    """Whether labels depend on their neighbours, and too few tokens have one label to begin with that."""
    return model.parameters.transitions and tokens > 0 and known / tokens < _MOSTLY
