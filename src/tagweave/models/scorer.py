"""Base classes of scorers: the parameters that a model keeps, and the scores under a weight vector.

A new scorer is a file with a subclass of `ScorerParameters` and one of `ChainScoring`, and a line in `SCORERS`
(`assembly`). Scorers of arcs: `arc_scorer`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from math import exp
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tagweave.features.encoded import Encoded
from tagweave.features.rules import BOOLEANS, ArrayRule, Description
from tagweave.labels.space import LabelSpace
from tagweave.labels.transition_scheme import TransitionScheme
from tagweave.models.packing import Arrays
from tagweave.models.schema import ChainDescription, ModelDescription
from tagweave.structures.chain import ChainGradient, ChainScores
from tagweave.structures.lockstep import TransitionScores

Floats = NDArray[Any]
Blocks = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Parts of a weight vector: start[i] .. stop[i] - 1."""
_OF_SCHEME = {"transition": 2, "start": 1, "end": 1}  # the arrays of a transition scheme, and how many axes they have


def temperature_in(about: Mapping[str, Any]) -> float:
    """Return the temperature of a model by what is known about it; 1 if none was fitted."""
    return float(about.get("calibration", {}).get("temperature", 1))


def slope_and_offset(about: Mapping[str, Any]) -> tuple[float, float]:
    """Return the line that logits of spans as wholes follow by what is known about a model (`calibrated_spans`)."""
    spans = about.get("calibration", {}).get("spans", {})
    return float(spans.get("slope", 1)), float(spans.get("offset", 0))


def calibrated_spans(probabilities: Floats, slope: float, offset: float) -> Floats:
    """Return p' with logit p' = slope * logit p + offset; 0 and 1 stay."""
    if (slope, offset) == (1, 0):
        return probabilities
    right = np.clip(probabilities, 0.0, 1.0)
    odds = right**slope * exp(offset)
    mapped: Floats = odds / (odds + (1 - right) ** slope)
    return mapped


class Parameters(ABC):
    """The parameters of a scorer of any structure: what its weights mean."""

    kind: ClassVar[str]  # the name of the scorer in model files
    schema: ClassVar[type[ModelDescription]]  # of the description of a model with this scorer

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of weights."""

    def initial(self, dtype: Any) -> Floats:
        """Return the weights that training starts from, [size]; a network's must not all be equal."""
        return np.zeros(self.size, dtype)

    @abstractmethod
    def to_json(self) -> Description:
        """The entries of a model's description that `of_parts` needs, besides the label space or the templates."""


class ChainScoring(ABC):
    """The scores under a weight vector, shared by threads, and how their gradient becomes one of the weights."""

    transitions: TransitionScores

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
        """Add to the gradient of the weights, given the gradient of emission scores [n, Y]."""

    def add_transition_gradient(self, d_scores: ChainGradient, gradient: Floats) -> None:  # noqa: B027
        """Add to the gradient of the weights, given the gradient of transition scores over several batches."""

    def in_training(self) -> ChainScoring:
        """Return the same scores for a batch whose gradient is asked for next."""
        return self

    def prepared(self, encoded: Encoded) -> ChainScoring:
        """Return the same scores, with sums that pay off over a whole corpus computed once."""
        return self

    def fork(self) -> ChainScoring:
        """Return the same scores for one thread of a full pass."""
        return self

    def finish_pass(self, others: Sequence[Any], encoded: Encoded, gradient: Floats) -> None:  # noqa: B027
        """Add the gradient that this thread and others have not added yet, after a full pass."""


class CalibratedScoring(ChainScoring):
    """The scores of another scoring divided by a temperature, for probabilities alone."""

    def __init__(self, scoring: ChainScoring, temperature: float) -> None:
        self._scoring, self._temperature = scoring, temperature
        t = scoring.transitions
        cooled = (scores / temperature for scores in (t.score, t.start_score, t.end_score))
        self.transitions = TransitionScores.of_scores(*cooled)

    def write(self, encoded: Encoded, first: int, last: int, scores: Floats) -> None:
        self._scoring.write(encoded, first, last, scores)
        scores /= self._temperature

    def add_gradient(self, encoded: Encoded, first: int, last: int, emission: Floats, gradient: Floats) -> None:
        self._scoring.add_gradient(encoded, first, last, emission / self._temperature, gradient)

    def prepared(self, encoded: Encoded) -> CalibratedScoring:
        return CalibratedScoring(self._scoring.prepared(encoded), self._temperature)


class ScorerParameters(Parameters):
    """The parameters of a scorer of chains."""

    schema = ChainDescription

    space: LabelSpace  # the labels and their views
    scheme: TransitionScheme  # the transitions that the coding of the labels allows
    transitions: bool  # whether labels depend on their neighbours; if not, every position is classified by itself
    edges: bool = False  # whether first and last labels have scores

    @property
    def weights_by_view(self) -> dict[str, int]:
        """The number of weights of each guideline's view, if the scorer divides them so."""
        return {}

    def pointwise(self) -> ScorerParameters | None:
        """Return the parameters without scores of neighbours, for the same weights, or `None`."""
        return None

    @abstractmethod
    def scoring(self, weights: Floats) -> ChainScoring:
        """Return the scores under a weight vector [size]."""

    def touched(self, encoded: Encoded) -> Callable[[int, int], Blocks]:
        """Return a function of first, last to the weights that these sentences can touch."""
        every = np.array([0]), np.array([self.size])
        return lambda first, last: every

    @property
    def has_network(self) -> bool:
        """Whether a network scores, too: `network` is its module under weights, which is trained as a whole."""
        return False

    def under_scheme(self, transition: Floats, start: Floats, end: Floats) -> TransitionScores:
        """Return transition scores [Y, Y], [Y], [Y], which become -inf where the scheme forbids."""
        if not self.scheme.is_free:
            transition[~self.scheme.transition] = -np.inf
            start[~self.scheme.start], end[~self.scheme.end] = -np.inf, -np.inf
        return TransitionScores.of_scores(transition, start, end)

    def to_json(self) -> Description:
        return {"transitions": self.transitions, "edges": self.edges}

    def arrays(self) -> Arrays:
        """The arrays of a model file, by name, without the weights."""
        return {f"scheme.{table}": getattr(self.scheme, table) for table in _OF_SCHEME}

    @classmethod
    def array_rules(cls, description: Any, arrays: Arrays) -> dict[str, ArrayRule]:
        """The rules for `arrays`."""
        labels = len(description.space.names)
        return {f"scheme.{table}": ArrayRule(BOOLEANS, (labels,) * axes) for table, axes in _OF_SCHEME.items()}

    @staticmethod
    def scheme_of(arrays: Arrays) -> TransitionScheme:
        """The scheme in the arrays of a model file."""
        return TransitionScheme(*(arrays[f"scheme.{table}"] for table in _OF_SCHEME))

    @classmethod
    @abstractmethod
    def of_parts(cls, description: Any, space: LabelSpace, arrays: Arrays) -> ScorerParameters:
        """The parameters whose `to_json` and `arrays`, which follow the rules, these are."""

    def check_encoder(self, windows: NDArray[np.int64]) -> None:
        """Raise ValueError unless the weights fit F features, each seen by so many tokens, int64[F]."""
