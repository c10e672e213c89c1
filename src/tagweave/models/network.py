"""The scorer of a pretrained network and features: emission(t, y) = w[features(t), y] + h(t) V[y].

h(t) is what the last layer of a `transformers` model makes of the pieces of token t. Its weights lie in the same vector
as all others, so that every learner, checkpoint and average is the usual one:

    | linear: features, transitions, edges | for each view with weights: V [H, T], bias [T] | the network's, in order |

Sentences longer than the network reads are read in windows that overlap by half; a token is taken from the window in
whose middle it lies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.errors import PlanError
from tagweave.evidence.sequences import rows
from tagweave.features.encoded import Encoded
from tagweave.features.rules import ArrayRule, Description, refuse
from tagweave.features.subwords import POOLING, NetworkError, Reading, Subwords, refusing
from tagweave.labels.space import LabelSpace, View
from tagweave.labels.transition_scheme import TransitionScheme
from tagweave.models.linear_scorer import ChainParameters, LinearDescription
from tagweave.models.packing import Arrays
from tagweave.models.pretrained import blueprint, pretrained, quiet, stored_weights
from tagweave.models.scorer import Blocks, ChainScoring, Floats, ScorerParameters
from tagweave.structures.chain import ChainGradient

if TYPE_CHECKING:
    import torch

_TOGETHER = 32  # rows of pieces that are read at a time when nothing is learnt


class Module(NamedTuple):
    """A network without weights, and the names, shapes and places of these."""

    module: Any  # torch.nn.Module
    shapes: dict[str, tuple[int, ...]]
    width: int  # H

    @property
    def size(self) -> int:
        return sum(int(np.prod(shape)) for shape in self.shapes.values())


@lru_cache(maxsize=4)
def module_of(subwords: Subwords, most: int) -> Module:
    """Return the network of a configuration. Raises ValueError where it is none, or has more than `most` weights."""
    plan = blueprint(subwords, most)  # it imports torch, or says how
    import torch

    torch.set_num_threads(1)  # as everywhere; training has more if asked for more
    with refusing("a network whose configuration"), quiet():
        module = plan.kind(plan.config)
    for weight in module.parameters():
        weight.data = weight.data.new_empty(0)  # they come from the weight vector
    return Module(module, plan.shapes, plan.width)


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
    pooling: str = "first"
    device: str = "auto"  # that it is trained on; models do not keep it
    most: int | None = None  # weights that its file has; `None`: those of the folder

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

    @cached_property
    def module(self) -> Module:
        if self.most is not None:
            return module_of(self.subwords, self.most)
        try:
            return module_of(self.subwords, stored_weights(self.subwords.folder))
        except ValueError as error:
            raise NetworkError(f"{self.subwords.folder}: {error}") from None

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """Where the weights of each view's labels begin, and where the network's begin."""
        ends = [self.linear.size]
        for view, _ in self.linear.weighted:
            ends.append(ends[-1] + (self.module.width + 1) * len(view.names))
        return tuple(ends)

    @property
    def size(self) -> int:
        return self.offsets[-1] + self.module.size

    @property
    def weights_by_view(self) -> dict[str, int]:
        return self.linear.weights_by_view

    def initial(self, dtype: Any) -> Floats:
        """Return 0 for features and labels, and the network's own weights."""
        weights = np.zeros(self.size, dtype)
        network = pretrained(self.subwords)
        parameters = dict(network.named_parameters())
        for name, array in self._parts(weights).items():
            array[...] = parameters[name].detach().numpy()
        return weights

    def heads(self, vector: Floats) -> list[tuple[View, Floats, Floats]]:
        """Return each view with weights, its V [H, T] and its bias [T]; nothing is copied."""
        heads = []
        for (view, _), start in zip(self.linear.weighted, self.offsets, strict=False):
            middle = start + self.module.width * len(view.names)
            V = vector[start:middle].reshape(self.module.width, len(view.names))
            heads.append((view, V, vector[middle : middle + len(view.names)]))
        return heads

    def _parts(self, vector: Floats) -> dict[str, Floats]:
        """Return the weights of the network by name; nothing is copied."""
        weights_of_name = {}
        start = self.offsets[-1]
        for name, shape in self.module.shapes.items():
            stop = start + int(np.prod(shape))
            weights_of_name[name] = vector[start:stop].reshape(shape)
            start = stop
        return weights_of_name

    def tensors(self, vector: Floats, device: Any = None) -> list[Any]:
        """Return the weights of labels and of the network as tensors, which share memory on the processor."""
        import torch

        tensors = [array for _, V, bias in self.heads(vector) for array in (V, bias)]
        return [torch.from_numpy(array).to(device) for array in (*tensors, *self._parts(vector).values())]

    @cached_property
    def network(self) -> Sequence[tuple[int, int, float]]:
        start = self.offsets[-1]
        groups = [(self.linear.size, start, -1.0)]
        names = self.module.shapes
        layers = 1 + max((_layer(name) for name in names), default=0)
        for name, shape in names.items():
            stop = start + int(np.prod(shape))
            groups.append((start, stop, float(layers - 1 - _layer(name))))
            start = stop
        return groups

    def scoring(self, weights: Floats) -> NetworkScoring:
        return NetworkScoring(self, weights)

    def touched(self, encoded: Encoded) -> Callable[[int, int], Blocks]:
        of_features = self.linear.touched(encoded)

        def touched_by(first: int, last: int) -> Blocks:
            starts, stops = of_features(first, last)
            return np.append(starts, self.linear.size), np.append(stops, self.size)

        return touched_by

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
        parameters.module  # noqa: B018 - whatever does not fit is refused here
        return parameters

    def check_encoder(self, windows: NDArray[np.int64]) -> None:
        self.linear.check_encoder(windows)


def _layer(name: str) -> int:
    """Return the layer of a weight of a network by its name, as in `encoder.layer.3.output`; -1 below all of them."""
    numbers = [piece for piece in name.split(".") if piece.isdigit()]
    return int(numbers[0]) if numbers else -1


class NetworkScoring(ChainScoring):
    """The scores of features and of the network under a weight vector."""

    def __init__(self, parameters: NetworkParameters, weights: Floats, learns: bool = False) -> None:
        self.parameters, self._weights, self._learns = parameters, weights, learns
        self._linear = parameters.linear.scoring(weights[: parameters.linear.size])
        self.transitions = self._linear.transitions
        self._device = device_of(parameters.device)
        self._scored: dict[tuple[int, int], torch.Tensor] = {}  # those whose gradient is asked for next

    @cached_property
    def _tensors(self) -> list[torch.Tensor]:
        tensors = self.parameters.tensors(self._weights, self._device)
        return [tensor.requires_grad_() for tensor in tensors] if self._learns else tensors

    def in_training(self) -> NetworkScoring:
        return NetworkScoring(self.parameters, self._weights, True)

    def prepared(self, encoded: Encoded) -> NetworkScoring:
        return self

    def write(self, encoded: Encoded, first: int, last: int, scores: Floats) -> None:
        import torch

        self._linear.write(encoded, first, last, scores)
        with torch.set_grad_enabled(self._learns):
            emission = self._emission(encoded, first, last, scores.shape[1])
        if self._learns:
            self._scored[first, last] = emission
        scores += emission.detach().cpu().numpy()

    def add_gradient(self, encoded: Encoded, first: int, last: int, emission: Floats, gradient: Floats) -> None:
        import torch

        parameters = self.parameters
        self._linear.add_gradient(encoded, first, last, emission, gradient[: parameters.linear.size])
        output = self._scored.pop((first, last))
        upstream = torch.from_numpy(np.nan_to_num(emission)).to(output)
        gradients = torch.autograd.grad(output, self._tensors, upstream, allow_unused=True)
        for into, tensor_gradient in zip(parameters.tensors(gradient), gradients, strict=True):
            if tensor_gradient is not None:
                into.add_(tensor_gradient.cpu())

    def add_transition_gradient(self, d_scores: ChainGradient, gradient: Floats) -> None:
        self._linear.add_transition_gradient(d_scores, gradient[: self.parameters.linear.size])

    def _emission(self, encoded: Encoded, first: int, last: int, labels: int) -> torch.Tensor:
        """Return the network's scores [n, Y] of the tokens of sentences first .. last - 1."""
        import torch

        hidden = self._hidden(encoded, first, last)
        at = 0
        total = torch.zeros((len(hidden), labels), dtype=hidden.dtype, device=hidden.device)
        for view, _ in self.parameters.linear.weighted:
            V, bias = self._tensors[at : at + 2]
            scores = hidden @ V + bias
            total = total + (
                scores if view.is_identity else scores[:, torch.from_numpy(view.projection.astype(np.int64))]
            )
            at += 2
        return total

    def _hidden(self, encoded: Encoded, first: int, last: int) -> torch.Tensor:
        """Return h [n, H]."""
        import torch

        parameters = self.parameters
        reading = read(encoded, first, last, parameters.subwords)
        module, names = parameters.module.module, list(parameters.module.shapes)
        weights = dict(zip(names, self._tensors[len(self._tensors) - len(names) :], strict=True))
        module.train(self._learns)
        states = []
        size = max(1, len(reading.pieces) if self._learns else _TOGETHER)
        for low in range(0, len(reading.pieces), size):
            batch = slice(low, low + size)
            inputs = {
                "input_ids": torch.from_numpy(reading.pieces[batch]).to(self._device),
                "attention_mask": torch.from_numpy(reading.mask[batch].astype(np.int64)).to(self._device),
            }
            with refusing("a network"):
                batch_states = torch.func.functional_call(module, weights, kwargs=inputs).last_hidden_state
            if batch_states.shape != (*inputs["input_ids"].shape, parameters.module.width):
                raise NetworkError(
                    f"found states {list(batch_states.shape)} of a network, expected a vector for each piece"
                )
            states.append(batch_states.reshape(-1, batch_states.shape[-1]).to(self._tensors[0].dtype))
        if not states:
            return self._tensors[0].new_zeros((0, parameters.module.width))
        every = torch.cat(states)
        if not self._learns and not torch.isfinite(every).all():
            raise NetworkError("found a network whose states are not finite, expected numbers")
        return pooled(every, reading, parameters.pooling)


def pooled(states: torch.Tensor, reading: Reading, pooling: str) -> torch.Tensor:
    """Return the vector [n, H] of each token, from the vectors of all pieces."""
    import torch

    at = reading.first_piece + (reading.piece_count - 1 if pooling == "last" else 0)
    if pooling != "mean":
        return states[torch.from_numpy(at).to(states.device)]
    token = torch.from_numpy(np.repeat(np.arange(len(at)), reading.piece_count)).to(states.device)
    every = np.repeat(
        reading.first_piece - np.cumsum(reading.piece_count) + reading.piece_count, reading.piece_count
    ) + np.arange(len(token))
    total = states.new_zeros((len(at), states.shape[1]))
    total = total.index_add(0, token, states[torch.from_numpy(every).to(states.device)])
    return total / torch.from_numpy(reading.piece_count).to(states)[:, None]


def device_of(name: str) -> torch.device:
    """Return the device that networks run on; `auto` is a GPU if there is one. Raises PlanError if there is none."""
    import torch

    available = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == "auto":
        return torch.device("cuda" if available["cuda"] else "cpu")
    if not available[name]:
        raise PlanError(f"found no {name} device, expected one as `device` says")
    return torch.device(name)


def read(encoded: Encoded, first: int, last: int, subwords: Subwords) -> Reading:
    """Lay out the pieces of sentences first .. last - 1."""
    ptr = encoded.sentence_ptr[first : last + 1]
    pieces, piece_ptr = rows(encoded.piece_ptr, encoded.word_types[ptr[0] : ptr[-1]].astype(np.int64))
    return subwords.laid_out(encoded.pieces[pieces], piece_ptr, ptr - ptr[0])
