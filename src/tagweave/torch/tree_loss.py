"""The loss of dependency trees as a PyTorch module."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from tagweave.evidence.trees import ANY, ArcEvidence
from tagweave.kernels.tree_sums import entropies
from tagweave.labels.sets import Reading, reading
from tagweave.structures.loss import contradiction, loss
from tagweave.structures.tree import Tree, TreeBatch, TreeSums, are_whole, exclude, tree_structure
from tagweave.torch.positions import Floats, Positions, precision
from tagweave.torch.scored_batch import Distribution, ScoredBatch, over_rows
from tagweave.torch.structure_loss import Scores, StructureLoss
from tagweave.torch.tree_evidence import TreePositions, of_heads

_LONGEST = 255  # words of rows whose siblings have scores (`structures.tree`)


class TreeLoss(StructureLoss):
    """-log P(evidence) of dependency trees over the scores of arcs, projective or not; it has no parameters.

    Rows have B sentences, padded to T words. Scores of arcs are [B, T + 1, T + 1], by head and modifier, and the root
    is 0; the column of the root and the diagonal do not count. Evidence is a tensor:

    - int[B, T]: heads, which count the words of the row from 1, 0 for the root; -1 where nothing is known, and -100
      where there is no word, anywhere in a row.
    - bool[B, T + 1, T + 1]: the arcs that are possible.
    - float[B, T + 1, T + 1]: P(observation | head) for every word; with `soft_labels="posterior"` P(head |
      observation), of all words of a row.

    `mask`, bool[B, T], has words anywhere in a row. Projective trees may have scores of pairs of siblings as well: the
    scores are then (arcs, siblings), siblings [B, T + 1, T + 1, T + 1] by head, sibling and modifier. The sibling is
    the modifier of the same head that is nearest, between the two; where there is none, the head stands for it.

    Relations of known arcs are independent labels: their scores at these arcs go to a cross-entropy, or, with sets of
    relations, to `ChainLoss(relations, transitions=False)`.

    Args:
        projective: whether arcs may not cross.
        single_root: whether the root has exactly one child.
        soft_labels: how numbers are read.
    """

    def __init__(
        self, projective: bool = True, single_root: bool = True, *, soft_labels: Reading = "likelihood"
    ) -> None:
        super().__init__()
        self.structure = tree_structure(single_root, projective)
        self.soft_labels = reading(soft_labels)

    def _scored(self, scores: Scores, evidence: Tensor | None, mask: Tensor | None) -> ScoredTrees:
        arcs, *siblings = scores if isinstance(scores, tuple) else (scores,)
        shape = tuple(arcs.shape)
        if len(shape) != 3 or shape[1] != shape[2] or not shape[1]:
            raise ValueError(f"found arcs of the shape {shape}, expected rows, 1 + words, 1 + words")
        if siblings and not self.structure.projective:
            raise ValueError("found scores of siblings for trees whose arcs may cross, expected projective trees")
        if siblings and (tuple(siblings[0].shape) != (*shape, shape[1]) or shape[1] > _LONGEST + 1):
            expected = f"{(*shape, shape[1])}, of {_LONGEST} words or fewer"
            raise ValueError(f"found siblings of the shape {tuple(siblings[0].shape)}, expected {expected}")
        positions, evidence_of_rows, scales = of_heads(evidence, mask, (shape[0], shape[1] - 1), self.soft_labels)
        return ScoredTrees(
            (arcs, *siblings),
            precision(arcs, *siblings),
            structure=self.structure,
            positions=positions,
            evidence=evidence_of_rows,
            scales=scales,
        )

    def extra_repr(self) -> str:
        return f"projective={self.structure.projective}, single_root={self.structure.single_root}"


_COST = 60  # multiplications for each cube of a length, about


@dataclass(frozen=True)
class ScoredTrees(ScoredBatch):
    """Its scores are of arcs, [B, T + 1, T + 1], and perhaps of siblings, [B, T + 1, T + 1, T + 1]."""

    structure: Tree = field(kw_only=True)
    positions: TreePositions = field(kw_only=True)
    evidence: ArcEvidence = field(kw_only=True)  # of the rows that have words, S of them
    scales: NDArray[np.float64] = field(kw_only=True)  # [S], what is added to the log Z under evidence

    @property
    def words(self) -> int:
        return int(self.positions.tokens.ptr[-1])

    def solve(
        self, scores: list[Floats], needed: tuple[bool, ...], weights: NDArray[np.float64] | None
    ) -> tuple[NDArray[np.float64], list[Floats]]:
        rows = self.positions.rows
        evidence = self.evidence
        flat = self._flat(scores)
        values = np.zeros(len(self.positions.kept))
        gradient = np.empty_like(flat)
        if weights is not None:
            evidence = replace(evidence, weights=weights[rows])
        batch = self.structure.batch(evidence, flat)
        step = self._partition if self.is_partition else self._loss

        def run(first: int, last: int) -> None:
            with np.errstate(invalid="ignore"):  # nan is an answer
                scores_of_part = part_of(flat, batch, first, last)
                values[rows[first:last]], gradient_of_part = step(scores_of_part, evidence.part(first, last))
            arcs, pairs = (slice(ptr[first], ptr[last]) for ptr in (batch.cells, batch.pair_ptr))
            gradient[arcs] = gradient_of_part[: arcs.stop - arcs.start]
            gradient[pairs] = gradient_of_part[arcs.stop - arcs.start :]

        if len(rows):
            self._check()
            over_rows(run, evidence.token_ptr, _COST * float((evidence.lengths**3).sum()))
        values[rows] += self.scales if self.is_partition else -self.scales
        if not np.isfinite(values).all():  # so that a scaler of gradients sees it
            gradient.fill(np.nan)
        return values, np.split(gradient, [batch.cells[-1]])[: len(scores)]

    def scaled(self, at: int, gradient: Floats, factor: float) -> Floats:
        wide = self.positions.kept.shape[1]
        return self._of_scores(at + 1)[at].scaled(gradient, factor).reshape(-1, *[wide] * (at + 2))

    def _loss(self, scores: Floats, evidence: ArcEvidence) -> tuple[NDArray[np.float64], Floats]:
        values, gradient = loss(self.structure, scores, evidence)
        return values, gradient

    def _partition(self, scores: Floats, evidence: ArcEvidence) -> tuple[NDArray[np.float64], Floats]:
        scores, batch = _conditioned_on(scores, evidence, self.structure)
        gradient = self.structure.gradient(scores, batch)
        values = self.structure.add_expectations(self.structure.sums(scores, batch), scores, batch, +1, gradient)
        return values, gradient.arcs

    def _of_scores(self, count: int) -> tuple[Positions, ...]:
        """Return where the scores of arcs are, and with two tensors the scores of siblings."""
        return (self.positions.arcs, self.positions.siblings) if count > 1 else (self.positions.arcs,)

    def _flat(self, scores: list[Floats]) -> Floats:
        """Return the scores of all arcs, and of siblings behind them, as `structures.tree` has them."""
        flat = [
            positions.take(numbers.reshape(len(numbers), -1))
            for positions, numbers in zip(self._of_scores(len(scores)), scores, strict=True)
        ]
        return flat[0] if len(flat) == 1 else np.concatenate(flat)

    def _check(self) -> None:
        """Raise ContradictionError where all heads of a sentence are known, but are no tree."""
        evidence = self.evidence
        is_open = np.logical_or.reduceat(evidence.token_heads < 0, evidence.token_ptr[:-1])
        if (wrong := ~is_open & ~are_whole(evidence, self.structure)).any():
            raise contradiction(evidence.ids[wrong.argmax()], self.structure.contradiction)

    def distribution(self) -> Distribution:
        scores, batch = _conditioned_on(self._flat(self.arrays()), self.evidence, self.structure)
        ptr = batch.evidence.token_ptr
        count = len(self.positions.kept)
        return _Trees(self.structure, scores, batch, count, self.positions.rows, ptr, self.positions, self.scales)


def part_of(scores: Floats, batch: TreeBatch, first: int, last: int) -> Floats:
    """Return the scores of sentences first .. last - 1, arcs before siblings."""
    arcs, pairs = (scores[ptr[first] : ptr[last]] for ptr in (batch.cells, batch.pair_ptr))
    return np.concatenate([arcs, pairs]) if len(pairs) else arcs


def _conditioned_on(scores: Floats, evidence: ArcEvidence, structure: Tree) -> tuple[Floats, TreeBatch]:
    """Return a copy of scores with the logarithms of the evidence, and sentences about which nothing else is known."""
    scores = scores.copy()
    exclude(scores, structure.batch(evidence, scores))
    heads, empty = np.full_like(evidence.heads, ANY), np.zeros_like(evidence.allowed_ptr)
    nothing = np.zeros(0, np.bool_)
    unknown = replace(evidence, heads=heads, allowed=evidence.allowed[:0], allowed_ptr=empty, posterior=nothing)
    return scores, structure.batch(unknown, scores)


@dataclass(frozen=True)
class _Trees(Distribution):
    """Dependency trees."""

    positions: TreePositions
    scales: NDArray[np.float64]  # [S]

    def part(self, sentence: int) -> tuple[Any, Any]:
        scores = part_of(self.scores, self.batch, sentence, sentence + 1)
        return scores, self.structure.batch(self.batch.evidence.part(sentence, sentence + 1), scores)

    def padded(self, outputs: NDArray[np.int32]) -> NDArray[Any]:
        return self.positions.heads(outputs)

    def k_best(self, k: int) -> tuple[NDArray[Any], NDArray[np.float64]]:
        heads, totals = super().k_best(k)
        totals[self.rows] += self.scales[:, None]
        return heads, totals

    def log_z(self, sums: TreeSums) -> NDArray[np.float64]:
        return sums.log_z

    def marginals(self) -> Floats:
        marginals = self.sums().marginals
        wide = self.positions.kept.shape[1]
        return self.positions.arcs.put(marginals[: self.batch.cells[-1]]).reshape(-1, wide, wide)

    def entropies(self) -> NDArray[np.float64]:
        sums = self.sums()
        values = np.empty(len(self.rows))
        ptr = self.batch.cells, self.batch.pair_ptr
        entropies(self.scores, *ptr, self.batch.lengths, sums.marginals, sums.log_z, values)
        return values
