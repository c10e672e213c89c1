"""Base classes of scorers of chains: the parameters that a model keeps, and the scores under a weight vector.

A new scorer is a file with subclasses of both, and its parameters in `SCORERS` (`linear_scorer`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tagweave.features.encoded import Encoded
from tagweave.features.rules import ArrayRule, Rule
from tagweave.labels.space import LabelSpace
from tagweave.labels.transition_scheme import TransitionScheme
from tagweave.models.packing import Arrays
from tagweave.structures.chain import ChainGradient, ChainScores
from tagweave.structures.lockstep import TransitionScores

Floats = NDArray[Any]
Blocks = tuple[NDArray[np.int64], NDArray[np.int64]]
Description = dict[str, Any]


class ChainScoring(ABC):
    """The scores under a weight vector, shared by threads, and how their gradient becomes one of the weights."""

    transitions: TransitionScores  # the transition scores

    def scores(self, encoded: Encoded, first: int, last: int) -> ChainScores:
        """Return the scores of sentences first .. last - 1."""
        ptr, transitions = encoded.sentence_ptr, self.transitions
        scores = np.empty((int(ptr[last] - ptr[first]), len(transitions.start)), transitions.score.dtype)
        self.write(encoded, first, last, scores)
        return ChainScores(scores, transitions)

    @abstractmethod
    def write(self, encoded: Encoded, first: int, last: int, scores: Floats) -> None:
        """Set scores [n, Y] to the emission scores of sentences first .. last - 1."""

    @abstractmethod
    def add_gradient(self, encoded: Encoded, first: int, last: int, emission: Floats, gradient: Floats) -> None:
        """Add to the gradient of the weights, given that of emission scores [n, Y]."""

    def add_transition_gradient(self, d_scores: ChainGradient, gradient: Floats) -> None:  # noqa: B027
        """Add to the gradient of the weights, given that of transition scores over several batches."""

    def prepared(self, encoded: Encoded) -> ChainScoring:
        """Return the same scores, with what is worth computing once for a whole corpus."""
        return self

    def fork(self) -> ChainScoring:
        """Return the same scores for one thread of a full pass."""
        return self

    def finish_pass(self, others: Sequence[Any], encoded: Encoded, gradient: Floats) -> None:  # noqa: B027
        """Add the gradient that this thread and others have not added yet, after a full pass."""


class ScorerParameters(ABC):
    """The parameters of a scorer of chains: what its weights mean."""

    kind: ClassVar[str]  # the name of the scorer in model files

    space: LabelSpace  # the labels and their views
    scheme: TransitionScheme  # the transitions that the coding of the labels allows
    transitions: bool  # whether labels depend on their neighbours; if not, every position is classified by itself
    edges: bool = False  # whether first and last labels have scores

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of weights."""

    @property
    def weights_by_view(self) -> dict[str, int]:
        """The number of weights of each guideline's view, if the scorer divides them so."""
        return {}

    def initial(self, dtype: Any) -> Floats:
        """Return the weights that training starts from, [size]; a network's must not all be equal."""
        return np.zeros(self.size, dtype)

    def pointwise(self) -> ScorerParameters | None:
        """Return the parameters without scores of neighbours, for the same weights, or `None`."""
        return None

    @abstractmethod
    def scoring(self, weights: Floats) -> ChainScoring:
        """Return the scores under a weight vector [size]."""

    def touched(self, encoded: Encoded) -> Callable[[int, int], Blocks]:
        """Return a function of first, last to the weights that they can touch: blocks start[i] .. stop[i] - 1."""
        every = np.array([0]), np.array([self.size])
        return lambda first, last: every

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
