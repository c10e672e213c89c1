"""Evidence about heads from tensors, the positions that exist, and where their arcs are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tagweave.evidence.sequences import pointers
from tagweave.evidence.trees import ANY, SEVERAL, ArcEvidence
from tagweave.labels.sets import Reading, sums_to_one
from tagweave.torch.evidence import UNKNOWN, kept_positions
from tagweave.torch.positions import NO_POSITION, Floats, Positions, array


@dataclass(frozen=True)
class TreePositions:
    """The positions of B rows of T. A row that has positions has a root before the first; other rows are left out."""

    tokens: Positions  # [B, T]
    kept: NDArray[np.bool_]  # [B, T + 1]: the root and the positions that exist

    @classmethod
    def of(cls, kept: NDArray[np.bool_]) -> TreePositions:
        """Take those that are True in bool[B, T]."""
        return cls(Positions.of(kept), np.concatenate([kept.any(axis=1, keepdims=True), kept], axis=1))

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """int64[S]: the rows that have positions."""
        return np.flatnonzero(self.kept[:, 0])

    @cached_property
    def position_ptr(self) -> NDArray[np.int64]:
        """int64[S + 1]: the first position, the root, of each of these."""
        return pointers(self.kept.sum(axis=1)[self.rows])

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """int64[N + S]: where each position stands in its row; the root at 0."""
        return np.nonzero(self.kept)[1]

    def heads(self, heads: NDArray[np.int32]) -> NDArray[np.int64]:
        """[B, T, ...]: heads [N, ...], which count the positions that exist, as heads of rows; -100 elsewhere."""
        first = np.repeat(self.position_ptr[:-1], np.diff(self.position_ptr) - 1)
        at = np.maximum(heads, 0) + first.reshape(-1, *[1] * (heads.ndim - 1))
        return self.tokens.put(np.where(heads >= 0, self.places[at], NO_POSITION), NO_POSITION)

    @cached_property
    def arcs(self) -> Positions:
        """The arcs of [B, (T + 1)^2], by head and modifier, between positions."""
        return Positions.of((self.kept[:, :, None] & self.kept[:, None, :]).reshape(len(self.kept), -1))

    @cached_property
    def siblings(self) -> Positions:
        """The pairs of [B, (T + 1)^3], by head, sibling and modifier, in the order of `kernels.tree`."""
        rows, wide = self.kept.shape
        indices = [np.zeros(0, np.int64)]
        ptr = self.position_ptr
        for row, low, high in zip(self.rows.tolist(), ptr, ptr[1:], strict=False):
            place = self.places[low:high]
            head, sibling, modifier = (place[numbers] for numbers in _pairs(int(high - low)))
            indices.append(((row * wide + head) * wide + sibling) * wide + modifier)
        return Positions((rows, wide**3), np.concatenate(indices), pointers(np.array(list(map(len, indices)))[1:]))


@lru_cache(64)
def _pairs(n: int) -> tuple[NDArray[np.int64], ...]:
    """Return head, sibling and modifier of each pair of n positions; the head stands for no sibling."""
    at = np.arange(n)
    order = (at[:, None, None] <= at[:, None]) & (at[:, None] < at)
    i, k, x = np.nonzero(order)
    return np.concatenate([i, x]), np.concatenate([k, np.where(k > i, k, x)]), np.concatenate([x, i])


def of_heads(
    given: Tensor | None, mask: Tensor | None, shape: tuple[int, int], reading: Reading
) -> tuple[TreePositions, ArcEvidence, NDArray[np.float64]]:
    """Return positions, the evidence about the heads of their words, and the logarithms of its scales, [S].

    Args:
        given: int[B, T], heads, which count positions of the row from 1, 0 being the root; -1 is unknown, -100 no
            position. Or bool or float[B, T + 1, T + 1], by head and modifier: sets, or numbers, read by `reading`.
        mask: bool[B, T], where there are positions; `None`: everywhere.
        shape: B, T.
        reading: how numbers are read.
    """
    kept = kept_positions(mask, shape)
    wide = shape[1] + 1
    if given is None:
        positions = TreePositions.of(kept)
        nothing = np.full(int(positions.tokens.ptr[-1]), ANY)
        return positions, _evidence(positions, nothing, []), np.zeros(len(positions.rows))
    is_id = not given.is_floating_point() and given.dtype != torch.bool
    if tuple(given.shape) != (shape if is_id else (shape[0], wide, wide)):
        kinds = f"heads of the shape {shape}, or sets (bool) or numbers (float) of the shape {(shape[0], wide, wide)}"
        raise ValueError(
            f"found evidence of the shape {tuple(given.shape)} and the type {given.dtype}, expected {kinds}"
        )
    numbers = array(given, torch.int64 if is_id else torch.float64)
    if is_id:
        positions = TreePositions.of(kept & (numbers != NO_POSITION))
        heads = _known_heads(numbers, positions)
        allowed = []
        if heads.min(initial=0) < 0 <= heads.max(initial=ANY):
            allowed = list(map(_only, np.split(heads, positions.tokens.ptr[positions.rows][1:])))
        return positions, _evidence(positions, heads, allowed), np.zeros(len(positions.rows))
    positions = TreePositions.of(kept)
    how = reading if given.is_floating_point() else "likelihood"
    cells = positions.arcs.take(numbers.reshape(len(numbers), -1)).copy()
    of_sentences = np.split(cells, positions.arcs.ptr[positions.rows][1:])
    read = [
        _of_numbers(of_sentence, positions, sentence, how)
        for sentence, of_sentence in enumerate(of_sentences)
        if of_sentence.size
    ]
    heads = np.concatenate([np.zeros(0, np.int64), *(sentence_heads for sentence_heads, _, _ in read)])
    evidence = _evidence(positions, heads, [arcs for _, arcs, _ in read], how == "posterior")
    return positions, evidence, np.array([scale for *_, scale in read])


def _evidence(
    positions: TreePositions, heads: NDArray[np.int64], allowed: list[Floats], posterior: bool = False
) -> ArcEvidence:
    """Return evidence from the heads of words and the arcs that each sentence allows, if these say more."""
    ptr = positions.position_ptr
    count = len(ptr) - 1
    of_positions = np.insert(heads, ptr[:-1] - np.arange(count), ANY).astype(np.int32)
    allowed = allowed or [np.zeros(0, np.uint8)] * count
    cells = np.concatenate([np.zeros(0, np.uint8), *(arcs.reshape(-1) for arcs in allowed)])
    is_posterior = np.array([posterior and arcs.dtype != np.uint8 and arcs.size > 0 for arcs in allowed], np.bool_)
    allowed_ptr = pointers(np.array([arcs.size for arcs in allowed], np.int64))
    is_posterior = is_posterior if is_posterior.any() else is_posterior[:0]
    return ArcEvidence(ptr, of_positions, cells, allowed_ptr, np.ones(count), positions.rows, is_posterior)


def _known_heads(heads_of_rows: NDArray[np.int64], positions: TreePositions) -> NDArray[np.int64]:
    """Return int64[N]: the known heads, counted in the positions that exist; `ANY` for others."""
    tokens, kept = positions.tokens, positions.kept
    heads = tokens.take(heads_of_rows)
    rows = tokens.rows
    places = np.arange(heads_of_rows.size) if tokens.index is None else tokens.index
    modifiers = 1 + places % max(1, heads_of_rows.shape[1])
    fine = (heads >= UNKNOWN) & (heads < kept.shape[1]) & (heads != modifiers)
    fine &= (heads < 0) | kept[rows, np.where(fine, heads, 0)]
    if not fine.all():
        at = int(fine.argmin())
        expected = f"another position of the row, from 1, 0 (the root), {UNKNOWN} or {NO_POSITION} (no position)"
        raise ValueError(f"{tokens.place(at)}: found the head {heads[at]}, expected {expected}")
    rank = kept.cumsum(axis=1) - 1
    return np.where(heads < 0, ANY, rank[rows, np.maximum(heads, 0)])


def _only(heads: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return uint8[L + 1, L + 1]: the arcs that known heads leave; nothing if all are known, or none."""
    if (heads >= 0).all() or (heads < 0).all():
        return np.zeros(0, np.uint8)
    words = np.flatnonzero(heads >= 0)
    allowed = np.ones((len(heads) + 1,) * 2, np.uint8)
    allowed[:, words + 1] = 0
    allowed[heads[words], words + 1] = 1
    allowed[:, 0] = 0
    np.fill_diagonal(allowed, 0)
    return allowed


def _of_numbers(
    cells: Floats, positions: TreePositions, sentence: int, reading: Reading
) -> tuple[NDArray[np.int64], NDArray[Any], float]:
    """Return the heads of a sentence, the numbers of arcs where these do not say all, and the logarithm of a scale."""
    n = int(np.diff(positions.position_ptr)[sentence])
    cells = cells.reshape(n, n)
    cells[:, 0] = 0
    np.fill_diagonal(cells, 0)
    incoming = cells[:, 1:]
    scale = 0.0

    def check(fine: NDArray[np.bool_], message: str) -> None:
        if not fine.all():
            at = positions.places[positions.position_ptr[sentence] + 1 + fine.argmin()] - 1
            raise ValueError(f"row {positions.rows[sentence]}, position {at}: found {message}")

    largest = incoming.max(axis=0)
    check(np.isfinite(largest) & (largest > 0), "no head that is possible, expected one or more")
    check(incoming.min(axis=0) >= 0, "a number below 0, expected 0 or more")
    if reading == "likelihood":
        scale = float(np.log(largest).sum())
        incoming /= largest
    is_open = (incoming == 1).sum(axis=0) == n - 1
    if reading == "posterior" and not is_open.all():
        check(
            np.array(list(map(sums_to_one, incoming.T))), "probabilities of heads without the sum of 1, expected that"
        )
    is_single = (incoming > 0).sum(axis=0) == 1
    heads = np.where(is_single, incoming.argmax(axis=0), np.where(is_open, ANY, SEVERAL))
    return heads, np.zeros(0, np.uint8) if is_single.all() or is_open.all() else cells, scale
