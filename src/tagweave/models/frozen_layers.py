"""The lowest layers of a network, which training leaves as they are: what they make of a row of pieces is kept.

An epoch then computes the layers above alone. Networks differ in what they do between layers, so kept states take the
place of whatever reaches the lowest layer that is trained, and layers below pass on what they get.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import torch
from torch import Tensor, nn

from tagweave.models.memory import machine_memory

_SHARE = 8  # one part of the machine's memory is for states
_EXACTNESS = 0.05  # of the last states, for kept ones of half precision
Inputs = dict[str, Tensor]  # of a network: `input_ids` and `attention_mask`, [r, l]


class FrozenLayers:
    """A network whose lowest layers stay as they are.

    Args:
        encoder: the network.
        count: how many layers.
    """

    def __init__(self, encoder: nn.Module, count: int) -> None:
        self._encoder = encoder
        layers = _layers_of(encoder)
        self._below, self._above = layers[:count], layers[count:]
        self._states: dict[bytes, Tensor] = {}  # [l, H] of each row, in half precision
        self._room = machine_memory() // _SHARE
        self._is_kept: bool | None = None  # whether kept states give the right ones; `None`: not known yet

    def train(self) -> None:
        """Leave out states at random above frozen layers alone, so that those below are always the same."""
        self._encoder.eval()
        for layer in self._above:
            layer.train()

    def read(self, inputs: Inputs) -> Tensor:
        """Return the states [r, l, H] of the last layer in training."""
        if self._is_kept is None:
            self._is_kept = bool(self._below and self._above) and self._works(inputs)
        if not self._is_kept or self._room <= 0:
            states: Tensor = self._encoder(**inputs).last_hidden_state
            return states
        keys = [row[mask > 0].cpu().numpy().tobytes() for row, mask in zip(*inputs.values(), strict=True)]
        if missing := [at for at, key in enumerate(keys) if key not in self._states]:
            below = self._reaching({name: values[missing] for name, values in inputs.items()})
            for at, states in zip(missing, below, strict=True):
                self._states[keys[at]] = states[: len(keys[at]) // inputs["input_ids"].element_size()].half()
                self._room -= self._states[keys[at]].nbytes
        rows = nn.utils.rnn.pad_sequence([self._states[key] for key in keys], batch_first=True)
        return self._read_above(inputs, rows)

    def _works(self, inputs: Inputs) -> bool:
        """Return whether the network gives the same states with those of frozen layers put in."""
        self._encoder.eval()
        try:
            with torch.no_grad():
                expected = self._encoder(**inputs).last_hidden_state
                states = self._read_above(inputs, self._reaching(inputs).half())
            return states.shape == expected.shape and float((states - expected).abs().max()) < _EXACTNESS
        except Exception:  # layers take other arguments
            return False
        finally:
            self.train()

    @torch.no_grad()
    def _reaching(self, inputs: Inputs) -> Tensor:
        """Return the states [r, l, H] that reach the lowest layer that is trained."""
        reached = list[Tensor]()

        def stop(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            reached.append(args[0] if args else kwargs[_STATES])
            raise _Reached

        with _hook(self._above[0], stop), suppress(_Reached):
            self._encoder(**inputs)
        return reached[0]

    def _read_above(self, inputs: Inputs, below: Tensor) -> Tensor:
        """Return the states [r, l, H] of the last layer, from those that reach the lowest layer that is trained."""

        def put(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
            states = below.to(next(self._above[0].parameters()).dtype)
            return ((states, *args[1:]), kwargs) if args else (args, {**kwargs, _STATES: states})

        with ExitStack() as stack:
            stack.enter_context(_hook(self._above[0], put))
            for layer in self._below:
                stack.enter_context(_passing(layer))
            states: Tensor = self._encoder(**inputs).last_hidden_state
        return states


_STATES = "hidden_states"


class _Reached(Exception):  # noqa: N818 - no error
    """The lowest layer that is trained is reached."""


@contextmanager
def _hook(layer: nn.Module, before: Callable[..., Any]) -> Iterator[None]:
    handle = layer.register_forward_pre_hook(before, with_kwargs=True)
    try:
        yield
    finally:
        handle.remove()


@contextmanager
def _passing(layer: nn.Module) -> Iterator[None]:
    """Let a layer pass on what it gets."""
    layer.forward = lambda *args, **kwargs: args[0] if args else kwargs[_STATES]
    try:
        yield
    finally:
        del layer.forward


def _layers_of(encoder: nn.Module) -> list[nn.Module]:
    """Return the layers of a network, from the lowest on; none where they are not one list."""
    count = getattr(getattr(encoder, "config", None), "num_hidden_layers", 0)
    lists = (module for module in encoder.modules() if isinstance(module, nn.ModuleList) and len(module) == count)
    return list(next(lists, ()))
