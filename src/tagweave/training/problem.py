"""Training data made ready: everything that a trainer of a chain model needs, nothing trained yet."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tagweave.labels.sets import LabelSets
from tagweave.models.chain import ChainModel
from tagweave.models.objective import ChainObjective

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
        """Whether a model of labels that depend on their neighbours should begin with one in which they do not."""
        allow = self.objective.encoded.allow
        views = self.model.space.sides
        known = np.any([self.sets.projected(view).sum(axis=1) == 1 for view in views], axis=0)[allow]
        return self.model.parameters.transitions and len(allow) > 0 and bool(known.mean() < _MOSTLY)

    def pointwise(self) -> Problem:
        """The same problem without the weights of transitions and edges, which stay as they are."""
        parameters = replace(self.model.linear, transitions=False, edges=False)
        return Problem(
            replace(self.model, parameters=parameters), self.objective.with_parameters(parameters), self.sets
        )
