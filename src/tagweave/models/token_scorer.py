"""The PyTorch module of a pretrained network: emission(t, y) = h(t) V[y] + bias[y].

h(t) is what the last layer of a `transformers` model makes of the pieces of token t. The module owns its parameters;
on the processor they share memory with the vector that they come from (`bind`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import lru_cache
from hashlib import sha256
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from tagweave.errors import PlanError
from tagweave.features.subwords import NetworkError, Reading, Subwords, refusing
from tagweave.labels.space import View
from tagweave.models.frozen_layers import FrozenLayers
from tagweave.models.pretrained import Blueprint, blueprint, quiet

_TOGETHER = 32  # rows of pieces that are read at a time when nothing is learnt
_REMEMBERED = 1 << 22  # numbers of scores that are kept for text that is read again, as calibration does


class TokenScorer(nn.Module):
    """Emission scores of tokens from the states of a network at their pieces. `bound` gives it weights.

    Args:
        encoder: the network, without memory for its weights.
        width: the length of its states, H.
        views: those of the labels that have weights, in the order of the label space.
        pooling: which piece of a token its vector comes from: `first`, `mean` or `last`.
    """

    def __init__(self, encoder: nn.Module, width: int, views: Sequence[View], pooling: str) -> None:
        super().__init__()
        self.heads = nn.ModuleList(nn.Linear(width, len(view.names)) for view in views)
        _without_memory(self.heads)
        self.encoder = encoder
        self.width, self.pooling = width, pooling
        self._frozen: FrozenLayers | None = None
        self._remembered: dict[bytes, NDArray[Any]] = {}
        self.int8: Callable[..., NDArray[np.float32]] | None = None  # what reads pieces and mask instead of the encoder
        self._projections = [None if view.is_identity else torch.from_numpy(view.projection).long() for view in views]

    @property
    def size(self) -> int:
        """The number of weights."""
        return sum(weight.numel() for weight in self.parameters())

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    def bound(self, vector: NDArray[Any], device: torch.device) -> TokenScorer:
        """Return the module with the weights of a vector [size], on a device."""
        module = deepcopy(self)
        for weight, values in zip(module.parameters(), self.views(vector), strict=True):
            weight.data = values
        return module.to(device)

    def views(self, vector: NDArray[Any]) -> list[Tensor]:
        """Return a vector [size] cut to the shapes of the parameters; memory is shared."""
        shapes = [weight.shape for weight in self.parameters()]
        parts = torch.split(torch.from_numpy(vector), [shape.numel() for shape in shapes])
        return [values.view(shape) for values, shape in zip(parts, shapes, strict=True)]

    def layers(self) -> list[tuple[int, list[nn.Parameter]]]:
        """Return how many layers are above each layer, and its parameters; -1: those of labels, above all."""
        names = dict(self.encoder.named_parameters())
        count = 1 + max((_layer(name) for name in names), default=0)
        layers: dict[int, list[nn.Parameter]] = {-1: list(self.heads.parameters())}
        for name, weight in names.items():
            layers.setdefault(count - 1 - _layer(name), []).append(weight)
        return list(layers.items())

    def train(self, mode: bool = True) -> TokenScorer:
        self._remembered.clear()
        super().train(mode)
        if mode and self._frozen is not None:
            self._frozen.train()
        return self

    def scores(self, reading: Reading) -> NDArray[Any]:
        """Return the emission scores [n, Y] of tokens out of training, those of the last text from memory."""
        key = sha256(b"".join(array.tobytes() for array in (reading.pieces, reading.first_piece))).digest()
        if (scores := self._remembered.get(key)) is None:
            with torch.no_grad():
                scores = self(reading).cpu().numpy()
            if scores.size + sum(kept.size for kept in [*self._remembered.values()]) > _REMEMBERED:  # other threads add
                self._remembered.clear()
            self._remembered[key] = scores
        return scores

    def freeze(self, layers: int) -> None:
        """Keep so many of the lowest layers, and what lies below them, as they are in training."""
        for name, weight in self.encoder.named_parameters():
            weight.requires_grad_(_layer(name) >= layers)
        if layers and self._frozen is None:
            self._frozen = FrozenLayers(self.encoder, layers)

    def forward(self, reading: Reading) -> Tensor:
        """Return the emission scores [n, Y] of the tokens of rows of pieces."""
        hidden = pooled(self._states(reading), reading, self.pooling)
        scores = [
            score if projection is None else score[:, projection.to(score.device)]
            for score, projection in zip((head(hidden) for head in self.heads), self._projections, strict=True)
        ]
        return torch.stack(scores).sum(0) if len(scores) > 1 else scores[0]

    def _states(self, reading: Reading) -> Tensor:
        """Return the states [R * longest, H] of all pieces."""
        rows, longest = reading.pieces.shape
        dtype = next(self.heads.parameters()).dtype
        if self.training:
            return self._read(reading.pieces, reading.mask).reshape(-1, self.width).to(dtype)
        states = torch.zeros((rows, longest, self.width), dtype=dtype, device=self.device)
        lengths = reading.mask.sum(axis=1)
        order = np.argsort(lengths, kind="stable")  # rows of like length have little padding
        for batch in np.split(order, np.arange(_TOGETHER, rows, _TOGETHER)) if rows else ():
            width = int(lengths[batch].max())
            states[torch.from_numpy(batch), :width] = self._read(
                reading.pieces[batch, :width], reading.mask[batch, :width]
            ).to(dtype)
        if not torch.isfinite(states).all():
            raise NetworkError("found a network whose states are not finite, expected numbers")
        return states.reshape(-1, self.width)

    def _read(self, pieces: NDArray[np.int64], mask: NDArray[np.bool_]) -> Tensor:
        """Return the states [r, l, H] of rows of pieces [r, l]."""
        device = self.device
        inputs = {
            "input_ids": torch.from_numpy(pieces).to(device),
            "attention_mask": torch.from_numpy(mask.astype(np.int64)).to(device),
        }
        states: Tensor
        with refusing("a network"), torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            if self.int8 is not None and not self.training:
                states = torch.from_numpy(self.int8(pieces, mask))
            elif self.training and self._frozen is not None:
                states = self._frozen.read(inputs)
            else:
                states = self.encoder(**inputs).last_hidden_state
        if states.shape != (*inputs["input_ids"].shape, self.width):
            raise NetworkError(f"found states {list(states.shape)} of a network, expected a vector for each piece")
        return states


def pooled(states: Tensor, reading: Reading, pooling: str) -> Tensor:
    """Return the vector [n, H] of each token, from the vectors of all pieces."""
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


def _layer(name: str) -> int:
    """Return the layer of a weight of a network by its name, as in `encoder.layer.3.output`; -1 below all of them."""
    numbers = [piece for piece in name.split(".") if piece.isdigit()]
    return int(numbers[0]) if numbers else -1


@lru_cache(maxsize=4)
def encoder_of(subwords: Subwords, most: int) -> tuple[nn.Module, Blueprint]:
    """Return the network of a configuration, whose weights have no memory, and its blueprint.

    Raises:
        ValueError: it is none, or has more than `most` weights.
    """
    plan = blueprint(subwords, most)
    torch.set_num_threads(1)  # as everywhere; training has more if asked for more
    with refusing("a network whose configuration"), quiet():
        encoder = plan.kind(plan.config)
    _without_memory(encoder)
    return encoder, plan


def _without_memory(module: nn.Module) -> None:
    """Give parameters one number of memory, in all places of their shapes."""
    for weight in module.parameters():
        weight.data = weight.data.new_empty(()).expand(weight.shape)


def device_of(name: str) -> torch.device:
    """Return the device that networks run on; `auto` is a GPU if there is one. Raises PlanError if there is none."""
    available = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == "auto":
        return torch.device("cuda" if available["cuda"] else "cpu")
    if not available[name]:
        raise PlanError(f"found no {name} device, expected one as `device` says")
    return torch.device(name)
