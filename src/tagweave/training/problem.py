"""Training data made ready for a learner, and what a training returns, for any structure."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.corpus import Corpus
from tagweave.learning.loop import FitOutcome
from tagweave.learning.run import SILENT, Run
from tagweave.learning.trainer import Objective, Trainer
from tagweave.models.packing import rounded
from tagweave.training.recipe import Recipe

if TYPE_CHECKING:
    from tagweave.training.tree_problem import TreebankCounts

Floats = NDArray[Any]


@dataclass(frozen=True)
class Fitted:
    """A model and how its training went. `counts`: counts of the training trees; `None` for chains."""

    model: Any
    outcome: FitOutcome
    counts: TreebankCounts | None = None

    def finished_model(self) -> Any:
        """Return the model; raise KeyboardInterrupt if the user stopped its training, and with it all that follows."""
        self.outcome.check_finished()
        return self.model


@dataclass(frozen=True)
class Problem(ABC):
    """Training data made ready: everything that a learner needs, nothing trained yet."""

    model: Any
    objective: Objective

    @property
    def beginning(self) -> Self | None:
        """The problem to solve first, whose weights this one starts from; `None` starts from the initial weights."""
        return None

    def trainer(self, recipe: Recipe) -> Trainer:
        """Return the learner of a recipe, adapted to the objective."""
        return recipe.trainer()

    def kept(self, weights: Floats) -> Floats:
        """Return the weights to store and measure: rounded."""
        return rounded(np.asarray(weights, self.model.weights.dtype))

    def about(self, recipe: Recipe) -> dict[str, Any]:
        """Return facts about the training for the model."""
        return {"recipe": recipe.to_json()}

    def finished(self, model: Any, outcome: FitOutcome, run: Run = SILENT) -> Fitted:
        """Return the result for a model with trained weights."""
        return Fitted(model, outcome)

    @abstractmethod
    def summary(self, recipe: Recipe) -> list[str]:
        """Return lines that tell the size of the problem."""

    @abstractmethod
    def dev_score(self, dev: Corpus, recipe: Recipe) -> Callable[[Floats], float]:
        """Return a function from weights to the score on development data, higher is better."""
