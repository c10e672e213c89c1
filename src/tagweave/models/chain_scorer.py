"""What a scorer of chains consists of: the parameters that a model keeps, and the scorers made of them.

A new scorer is a file with subclasses of these three classes, and its parameters in `SCORERS` (`chain_scorers`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tagweave.features.encoded import Encoded
from tagweave.features.rules import ArrayRule, Rule
from tagweave.labels.space import LabelSpace
from tagweave.labels.transition_scheme import TransitionScheme
from tagweave.models.parts import Arrays
from tagweave.structures.chain import ChainGradient, ChainScores
from tagweave.structures.lockstep import Batch, Workspace
from tagweave.structures.transitions import Transitions

Floats = NDArray[Any]
Blocks = tuple[NDArray[np.int64], NDArray[np.int64]]
Description = dict[str, Any]


class ChainScorer(ABC):
    """The scores of batches, and the gradient of the weights, for one thread.

    The gradient of transition scores, the same in all batches, is accumulated in `pairs` and `paths`; a scorer with
    weights of transitions adds it in `finish`.

    Args:
        space: buffers, used by one thread.
        transitions: the transition scores.
    """

    def __init__(self, space: Workspace, transitions: Transitions) -> None:
        self.space, self.transitions = space, transitions
        self.pairs, self.paths = np.zeros_like(transitions.score), np.zeros_like(transitions.score)

    @abstractmethod
    def scores(self, batch: Batch) -> ChainScores:
        """The scores of a batch of sentences, from which the structure computes; the next call overwrites them."""

    @abstractmethod
    def add_gradient(self, batch: Batch, d_scores: ChainGradient) -> None:
        """Add to the gradient of the weights, given that of the loss with respect to the scores of the batch.

        `d_scores` comes from `gradient`.
        """

    def gradient(self, batch: Batch) -> ChainGradient:
        """The gradient with respect to the scores of a batch, of emission scores 0, to be added to."""
        emission = self.space.matrix("difference", len(batch.rows))
        emission[:] = 0
        return ChainGradient(emission, self.pairs, self.paths)

    def merge(self, other: Any) -> None:  # noqa: B027 - nothing is accumulated by default
        """Add what another thread has accumulated for `finish`."""

    def finish(self, gradient: Floats) -> None:  # noqa: B027
        """Add what was accumulated over all batches to the gradient."""

    def merge_pass(self, other: Any) -> None:  # noqa: B027
        """Add what another thread has accumulated for `finish_pass`."""

    def finish_pass(self, encoded: Encoded) -> None:  # noqa: B027
        """Add what was accumulated for the whole corpus over a full pass."""


class ChainScoring(ABC):
    """All scores under one weight vector, shared by threads.

    Attributes:
        transitions: the transition scores.
    """

    transitions: Transitions

    def prepared(self, encoded: Encoded) -> ChainScoring:
        """The same, with what is worth computing once for a whole corpus."""
        return self

    @abstractmethod
    def write(self, encoded: Encoded, first: int, last: int, scores: Floats) -> None:
        """Set scores [n, Y] to those of the labels of sentences first .. last - 1."""

    @abstractmethod
    def scorer(self, gradient: Floats, space: Workspace) -> ChainScorer:
        """The scorer of a thread; gradients are added to `gradient`."""


class ScorerParameters(ABC):
    """The parameters of a scorer of chains: what its weights mean.

    Attributes:
        kind: the name of the scorer in model files.
        space: the labels and their views.
        scheme: the transitions that the coding of the labels allows.
        transitions: whether labels depend on their neighbours; if not, every position is classified by itself.
    """

    kind: ClassVar[str]

    space: LabelSpace
    scheme: TransitionScheme
    transitions: bool

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of weights."""

    @abstractmethod
    def scoring(self, weights: Floats) -> ChainScoring:
        """The scores under a weight vector [size]."""

    def touched(self, encoded: Encoded) -> Callable[[int, int], Blocks]:
        """A function from first, last to the weights that sentences first .. last - 1 can touch, by default all: blocks
        start[i] .. stop[i] - 1 of the vector."""
        every = np.array([0]), np.array([self.size])
        return lambda first, last: every

    def correct(
        self, weights: Floats, totals: Floats, encoded: Encoded, masks: Floats, first: int, last: int, *steps: int
    ) -> int:
        """Perceptron steps: see `ChainObjective.correct`. Raises ValueError unless the scorer is linear."""
        raise ValueError(f"found the perceptron with {self.kind} scores, expected another learner")

    def mistake(
        self, weights: Floats, encoded: Encoded, masks: Floats, sentence: int, gradient: Floats, space: Workspace
    ) -> int:
        """The difference of features of a mistake: see `ChainObjective.mistake`. Returns the number of wrong labels.

        Raises:
            ValueError: the scorer is not linear.
        """
        raise ValueError(f"found a mistake-driven learner with {self.kind} scores, expected another learner")

    @abstractmethod
    def to_json(self) -> Description:
        """The entries of a model's description that `of_parts` needs, besides the label space."""

    @abstractmethod
    def arrays(self) -> Arrays:
        """The arrays of a model file, by name, without the weights."""

    @classmethod
    @abstractmethod
    def rules(cls) -> dict[str, Rule]:
        """The rules for `to_json`."""

    @classmethod  # noqa: B027
    def check(cls, description: Description, where: str) -> None:
        """Raise ValueError if entries of a description, each of which follows its rule, do not fit together."""

    @classmethod
    @abstractmethod
    def array_rules(cls, description: Description, arrays: Arrays) -> dict[str, ArrayRule]:
        """The rules for `arrays`."""

    @classmethod
    @abstractmethod
    def of_parts(cls, description: Description, space: LabelSpace, arrays: Arrays) -> ScorerParameters:
        """The parameters whose `to_json` and `arrays`, which follow the rules, these are."""

    def check_encoder(self, windows: NDArray[np.int64]) -> None:  # noqa: B027
        """Raise ValueError unless the weights are those of features that so many tokens each see, int64[F]."""
