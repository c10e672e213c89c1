"""The scorer of a pretrained network and features: emission(t, y) = w[features(t), y] + h(t) V[y] + bias[y].

The weights of the network, a module of PyTorch (`token_scorer`), lie in a model behind all others:

    | linear: features, transitions, edges | for each view with weights: V [T, H], bias [T] | the network's, in order |

Sentences longer than the network reads are read in windows that overlap by half; a token is taken from the window in
whose middle it lies.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tagweave.errors import PlanError
from tagweave.evidence.sequences import rows
from tagweave.features.encoded import Encoded
from tagweave.features.rules import ArrayRule, Description, refuse
from tagweave.features.subwords import EXTRA, POOLING, NetworkError, Reading, Subwords
from tagweave.labels.space import LabelSpace
from tagweave.labels.transition_scheme import TransitionScheme
from tagweave.models.linear_scorer import ChainParameters, LinearDescription
from tagweave.models.packing import Arrays
from tagweave.models.pretrained import pretrained, stored_weights
from tagweave.models.scorer import Blocks, ChainScoring, Floats, ScorerParameters
from tagweave.structures.chain import ChainGradient

if TYPE_CHECKING:
    import torch

    from tagweave.models.token_scorer import TokenScorer


class NetworkDescription(LinearDescription):
    """A chain model with a network beside features."""

    pooling: str

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pooling not in POOLING:
            refuse(self.pooling, "pooling", f"one of {', '.join(POOLING)}")


@dataclass(frozen=True)
class NetworkParameters(ScorerParameters):
    """The parameters of features and of a network."""

    kind: ClassVar[str] = "network"
    schema: ClassVar[type[NetworkDescription]] = NetworkDescription

    linear: ChainParameters
    subwords: Subwords
    pooling: str
    device: str = "auto"  # that it is trained on; models do not keep it
    most: int | None = None  # weights that its file has; `None`: those of the folder
    _bound: list[tuple[Floats, TokenScorer]] = field(default_factory=list, init=False, repr=False, compare=False)

    @property
    def space(self) -> LabelSpace:  # type: ignore[override]
        return self.linear.space

    @property
    def scheme(self) -> TransitionScheme:  # type: ignore[override]
        return self.linear.scheme

    @property
    def transitions(self) -> bool:  # type: ignore[override]
        return self.linear.transitions

    @property
    def edges(self) -> bool:  # type: ignore[override]
        return self.linear.edges

    @property
    def size(self) -> int:
        return self.linear.size + self._unbound.size

    @property
    def weights_by_view(self) -> dict[str, int]:
        return self.linear.weights_by_view

    @property
    def has_network(self) -> bool:
        return True

    @cached_property
    def _unbound(self) -> TokenScorer:
        """The module without weights."""
        try:
            from tagweave.models.token_scorer import TokenScorer, encoder_of
        except ModuleNotFoundError as error:
            raise PlanError(f"found no {error.name}, {EXTRA}") from None
        try:
            most = stored_weights(self.subwords.folder) if self.most is None else self.most
            encoder, plan = encoder_of(self.subwords, most)
        except ValueError as error:
            if self.most is not None:
                raise
            raise NetworkError(f"{self.subwords.folder}: {error}") from None
        return TokenScorer(encoder, plan.width, [view for view, _ in self.linear.weighted], self.pooling)

    def network(self, weights: Floats) -> TokenScorer:
        """Return the module under these weights.

        The last one is kept: as long as a learner and its objective have the same array, they have the same module.
        """
        from tagweave.models.token_scorer import device_of

        if self._bound and self._bound[0][0] is weights:
            return self._bound[0][1]
        module = self._unbound.bound(weights[self.linear.size :], device_of(self.device))
        self._bound[:] = [(weights, module)]
        return module

    def initial(self, dtype: Any) -> Floats:
        """Return 0 for features and labels, and the network's own weights."""
        weights = np.zeros(self.size, dtype)
        of_module = self._unbound.views(weights[self.linear.size :])
        of_network = list(pretrained(self.subwords).parameters())
        for view, parameter in zip(of_module[-len(of_network) :], of_network, strict=True):
            view.copy_(parameter.detach())
        return weights

    def carried(self, weights: Floats, into: NetworkParameters, features: NDArray[np.int64]) -> Floats:
        """Return weights among those of other parameters of the same network (`ChainParameters.carried`)."""
        vector = np.zeros(into.size, weights.dtype)
        linear = self.linear.size
        vector[: into.linear.size] = self.linear.carried(weights[:linear], into.linear, features)
        old = self._unbound.views(np.ascontiguousarray(weights[linear:]))
        new = into._unbound.views(vector[into.linear.size :])
        views = zip(self.linear.weighted, into.linear.weighted, strict=True)
        rows = [view.numbers_of(before.names) for (before, _), (view, _) in views for _ in ("V", "bias")]
        for number, (target, values) in enumerate(zip(new, old, strict=True)):
            if number < len(rows):
                target[rows[number]] = values
            else:
                target.copy_(values)
        return vector

    def scoring(self, weights: Floats) -> NetworkScoring:
        return NetworkScoring(self, weights)

    def touched(self, encoded: Encoded) -> Callable[[int, int], Blocks]:
        """Return those of features alone: every sentence touches the whole network."""
        return self.linear.touched(encoded)

    def to_json(self) -> Description:
        return {"pooling": self.pooling, **self.linear.to_json()}

    def arrays(self) -> Arrays:
        return self.linear.arrays()

    @classmethod
    def array_rules(cls, description: NetworkDescription, arrays: Arrays) -> dict[str, ArrayRule]:
        return ChainParameters.array_rules(description, arrays)

    @classmethod
    def of_parts(cls, description: NetworkDescription, space: LabelSpace, arrays: Arrays) -> NetworkParameters:
        if (subwords := Subwords.of_arrays(arrays)) is None:
            raise ValueError("found a network without its configuration, expected it among the arrays")
        linear = ChainParameters.of_parts(description, space, arrays)
        parameters = cls(linear, subwords, description.pooling, most=len(arrays["weights"]))
        parameters.size  # noqa: B018 - whatever does not fit is refused here
        return parameters

    def check_encoder(self, windows: NDArray[np.int64]) -> None:
        self.linear.check_encoder(windows)


class NetworkScoring(ChainScoring):
    """The scores of features and of the network under a weight vector."""

    def __init__(self, parameters: NetworkParameters, weights: Floats, learns: bool = False) -> None:
        self.parameters, self._weights, self._learns = parameters, weights, learns
        self._linear = parameters.linear.scoring(weights[: parameters.linear.size])
        self.transitions = self._linear.transitions
        self._scored: dict[tuple[int, int], torch.Tensor] = {}  # those whose gradient is asked for next

    def in_training(self) -> NetworkScoring:
        """Return the same scores, whose gradient goes to the parameters of the module (`.grad`)."""
        return NetworkScoring(self.parameters, self._weights, True)

    def prepared(self, encoded: Encoded) -> NetworkScoring:
        return self

    def write(self, encoded: Encoded, first: int, last: int, scores: Floats) -> None:
        self._linear.write(encoded, first, last, scores)
        if not len(scores):
            return
        module = self.parameters.network(self._weights)
        reading = read(encoded, first, last, self.parameters.subwords)
        if self._learns:
            emission = self._scored[first, last] = module.train()(reading)
            scores += emission.detach().cpu().numpy()
        else:
            scores += (module.eval() if module.training else module).scores(reading)

    def add_gradient(self, encoded: Encoded, first: int, last: int, emission: Floats, gradient: Floats) -> None:
        import torch

        self._linear.add_gradient(encoded, first, last, emission, gradient[: self.parameters.linear.size])
        if (output := self._scored.pop((first, last), None)) is not None:
            torch.autograd.backward(output, torch.from_numpy(np.nan_to_num(emission)).to(output))

    def add_transition_gradient(self, d_scores: ChainGradient, gradient: Floats) -> None:
        self._linear.add_transition_gradient(d_scores, gradient[: self.parameters.linear.size])


def read(encoded: Encoded, first: int, last: int, subwords: Subwords) -> Reading:
    """Lay out the pieces of sentences first .. last - 1."""
    ptr = encoded.sentence_ptr[first : last + 1]
    pieces, piece_ptr = rows(encoded.piece_ptr, encoded.word_types[ptr[0] : ptr[-1]].astype(np.int64))
    return subwords.laid_out(encoded.pieces[pieces], piece_ptr, ptr - ptr[0])
