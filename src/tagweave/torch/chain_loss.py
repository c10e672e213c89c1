"""The loss of label sequences as a PyTorch module."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from tagweave.corpus.corpus import Corpus
from tagweave.evidence.sequences import Evidence
from tagweave.kernels import decode
from tagweave.labels.sets import LabelRows, LabelSets, Reading, reading
from tagweave.labels.space import LabelSpace
from tagweave.labels.transition_scheme import TransitionScheme
from tagweave.structures.chain import Chain, ChainGradient, ChainScores, entropies, log_partitions
from tagweave.structures.lockstep import Sums, TransitionScores
from tagweave.structures.loss import LossTerm, loss
from tagweave.torch.evidence import encoded, model_of, of_labels, space_of
from tagweave.torch.positions import NO_POSITION, Floats, Positions, precision
from tagweave.torch.scored_batch import Distribution, ScoredBatch, over_rows
from tagweave.torch.structure_loss import Scores, StructureLoss

if TYPE_CHECKING:  # a model knows features
    from tagweave.models.chain import ChainModel


_idle: list[Chain] = []  # structures with their buffers that no thread uses


class ChainLoss(StructureLoss):
    """-log P(evidence) of a linear-chain CRF over emission scores: `torchcrf.CRF` for any evidence.

    Rows have B sequences, padded to T positions; Y is the number of labels. Evidence is a tensor:

    - int[B, T]: labels, -1 where nothing is known, and -100 where there is no position, anywhere in a row; such
      positions are taken out, and their neighbours are adjacent. `encode` makes numbers of label sets, too.
    - bool[B, T, Y]: the labels that are possible.
    - float[B, T, Y]: P(observation | label); with `soft_labels="posterior"`, P(label | observation).

    `mask`, bool[B, T], has positions anywhere in a row. Scores of half precision are summed in float32.

    Args:
        labels: their names or their number, a corpus that has them, a space of labels (`labels.mapping.bundle`: of
            several guidelines), or a model of tagweave, whose transition scores are the first ones here.
        coding: how labels code spans or words (BIOES, IOB2, BMES ...): what cannot follow one another never does. Or
            the transitions that are possible.
        transitions: whether labels depend on their neighbours; else only the coding counts.
        terms: further terms of the loss (`structures.terms.LabelShare`).
        soft_labels: how numbers are read.

    Attributes:
        transitions: [Y, Y], the scores of consecutive labels (row: from).
        start_transitions, end_transitions: [Y], of first and of last labels.
    """

    def __init__(
        self,
        labels: int | Iterable[str] | Corpus | LabelSpace | ChainModel,
        coding: str | TransitionScheme = "",
        *,
        transitions: bool = True,
        terms: Sequence[LossTerm] = (),
        soft_labels: Reading = "likelihood",
    ) -> None:
        super().__init__()
        model = model_of(labels)
        self.coding = model.coding if model else coding if isinstance(coding, str) else ""
        self.space = model.space if model else space_of(labels, self.coding)
        size = len(self.space)
        if size < 2:
            raise ValueError(f"found {size} labels, expected 2 or more")
        self.scheme = TransitionScheme.free(size)
        if model:
            self.scheme = model.parameters.scheme
        elif coding:
            names = self.space.names
            self.scheme = coding if isinstance(coding, TransitionScheme) else TransitionScheme.of(coding, names)
        self.terms = tuple(terms)
        self.soft_labels = reading(soft_labels)
        self.transitions, self.start_transitions, self.end_transitions = (
            nn.Parameter(torch.empty(shape), requires_grad=transitions) for shape in ((size, size), size, size)
        )
        self.reset_parameters()
        if model:
            self._begin_with(model.linear.transition_scores(model.weights))
        self._sets = LabelSets(self.space, self.soft_labels)
        for label in range(size):
            self._sets.of_labels([label])
        self._tables: dict[torch.dtype, LabelRows] = {}

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the labels."""
        return self.space.names

    def reset_parameters(self) -> None:
        """Draw transition scores from -0.1 to 0.1; all are 0 if labels do not depend on their neighbours."""
        for parameter in (self.transitions, self.start_transitions, self.end_transitions):
            nn.init.uniform_(parameter, -0.1, 0.1) if parameter.requires_grad else nn.init.zeros_(parameter)

    def _begin_with(self, scores: TransitionScores) -> None:
        initial = scores.score, scores.start_score, scores.end_score
        with torch.no_grad():
            for parameter, scores_of_model in zip(self._scores, initial, strict=True):
                parameter.copy_(torch.from_numpy(np.where(np.isfinite(scores_of_model), scores_of_model, 0)))

    @property
    def _scores(self) -> tuple[Tensor, Tensor, Tensor]:
        return self.transitions, self.start_transitions, self.end_transitions

    def encode(self, corpus: Corpus) -> list[Tensor]:
        """Return for each sentence its evidence, int64[L], as numbers that mean labels and sets of labels here.

        `torch.nn.utils.rnn.pad_sequence(..., padding_value=-100)` makes a batch of them, `at_first_pieces` brings them
        to the pieces of a tokenizer. Numbers from Y on are known to this module alone, and to its copies. Confidence
        becomes likelihoods.
        """
        numbers, lengths = encoded(corpus, self._sets, self.coding)
        self._tables.clear()
        return list(torch.split(torch.from_numpy(numbers.astype(np.int64) - 1), lengths))

    def joint(self, *emissions: Tensor) -> Tensor:
        """Return [..., Y]: the sum of scores [..., tags] of each view, in the order of the space, the joint one last.

        Views that are left out at the end have no scores.
        """
        views = self.space.views
        total = emissions[0].new_zeros(())
        for view, tag_scores in zip(views, emissions, strict=False):
            if tag_scores.shape[-1] != len(view.names):
                expected = f"{len(view.names)}, the tags of {view.guideline}"
                raise ValueError(
                    f"found scores of the shape {tuple(tag_scores.shape)}, expected the last to be {expected}"
                )
            total = total + tag_scores[..., torch.from_numpy(view.projection).long().to(tag_scores.device)]
        return total

    def extra_repr(self) -> str:
        return f"{len(self.labels)} labels" + (f", coding={self.coding}" if self.coding else "")

    def _scored(self, scores: Scores, evidence: Tensor | None, mask: Tensor | None) -> ScoredChains:
        emissions = scores if isinstance(scores, Tensor) else scores[0]
        shape = tuple(emissions.shape)
        size = len(self.labels)
        if len(shape) != 3 or shape[2] != size:
            raise ValueError(f"found emissions of the shape {shape}, expected rows, positions, {size} labels")
        dtype = precision(emissions, *self._scores)
        if dtype not in self._tables:
            self._tables[dtype] = self._sets.rows.in_precision(np.float64 if dtype == torch.float64 else np.float32)
        positions, evidence_of_rows = of_labels(
            evidence, mask, (*shape[:2], size), self._tables[dtype], self.soft_labels
        )
        inputs = (emissions, *self._scores)
        return ScoredChains(
            inputs, dtype, positions=positions, evidence=evidence_of_rows, scheme=self.scheme, terms=self.terms
        )


@contextmanager
def _lent_chain(transitions: bool) -> Iterator[Chain]:
    """Lend a structure with its buffers, which no other thread uses meanwhile."""
    try:
        chain = _idle.pop()
    except IndexError:
        chain = Chain()
    chain.transitions = chain.edges = transitions
    yield chain
    _idle.append(chain)


@dataclass(frozen=True)
class ScoredChains(ScoredBatch):
    """Its scores are of emissions, [B, T, Y], of pairs of labels, [Y, Y], of first and of last labels, [Y]."""

    positions: Positions = field(kw_only=True)
    evidence: Evidence = field(kw_only=True)
    scheme: TransitionScheme = field(kw_only=True)
    terms: Sequence[LossTerm] = ()

    @property
    def has_terms(self) -> bool:
        return bool(self.terms)

    @property
    def words(self) -> int:
        return int(self.positions.ptr[-1])

    def solve(
        self, scores: list[Floats], needed: tuple[bool, ...], weights: NDArray[np.float64] | None
    ) -> tuple[NDArray[np.float64], list[Floats]]:
        evidence = self.evidence if weights is None else replace(self.evidence, weights=weights)
        all_scores = ChainScores(self.positions.take(scores[0]), self._transitions(scores))
        ptr = evidence.sentence_ptr

        def run(first: int, last: int) -> tuple[NDArray[np.float64], ChainGradient]:
            scores_of_part, evidence_of_part = all_scores, evidence
            if last - first < len(evidence):
                scores_of_part = all_scores._replace(emission=all_scores.emission[ptr[first] : ptr[last]])
                evidence_of_part = evidence.part(first, last)
            with _lent_chain(any(needed[1:])) as chain, np.errstate(invalid="ignore"):  # nan is an answer
                return (self._partition if self.is_partition else self._loss)(chain, scores_of_part, evidence_of_part)

        work = len(all_scores.emission) * len(scores[1]) ** 2
        parts = over_rows(run, ptr, 0 if self.terms else work)  # terms are of all rows
        values, gradient = parts[0]
        emission = gradient.emission
        if len(parts) > 1:
            values = np.concatenate([values_of_part for values_of_part, _ in parts])
            emission = np.concatenate([gradient_of_part.emission for _, gradient_of_part in parts])
        for _, gradient_of_part in parts[1:]:
            gradient.merge(gradient_of_part)
        gradients = [emission, gradient.transition, gradient.start, gradient.end]
        if not np.isfinite(values).all():  # so that a scaler of gradients sees it
            for array in gradients:
                array.fill(np.nan)
        return values, gradients

    def scaled(self, at: int, gradient: Floats, factor: float) -> Floats:
        return gradient * gradient.dtype.type(factor) if at else self.positions.scaled(gradient, factor)

    def _transitions(self, scores: list[Floats]) -> TransitionScores:
        transitions = scores[1:]
        scheme = self.scheme
        if not scheme.is_free:
            allowed = scheme.transition, scheme.start, scheme.end
            transitions = [
                np.where(is_allowed, numbers, numbers.dtype.type(-np.inf))
                for numbers, is_allowed in zip(transitions, allowed, strict=True)
            ]
        return TransitionScores.of_scores(*transitions)

    def _loss(self, chain: Chain, scores: ChainScores, evidence: Evidence) -> tuple[NDArray[np.float64], ChainGradient]:
        values, gradient = loss(chain, scores, evidence, self.terms)
        return values, gradient

    @staticmethod
    def _partition(chain: Chain, scores: ChainScores, evidence: Evidence) -> tuple[NDArray[np.float64], ChainGradient]:
        batch = chain.batch(evidence.under(None))
        conditioned = _conditioned_on(scores, evidence)
        gradient = chain.gradient(scores, batch)
        sums = chain.sums(conditioned, batch)
        chain.add_expectations(sums, conditioned, batch, +1, gradient)
        return log_partitions(sums, batch, scores.transitions), chain.finish(batch, gradient)

    def distribution(self) -> Distribution:
        scores = self.arrays()
        evidence = self.evidence
        unconditioned = ChainScores(self.positions.take(scores[0]), self._transitions(scores))
        batch = Chain().batch(evidence.under(None))
        rows = np.arange(len(evidence))
        conditioned = _conditioned_on(unconditioned, evidence)
        return _Chains(Chain(), conditioned, batch, len(rows), rows, evidence.sentence_ptr, self.positions)


def _conditioned_on(scores: ChainScores, evidence: Evidence) -> ChainScores:
    """Return a copy of scores with the logarithms of the evidence."""
    emission = scores.emission.copy()
    if evidence.rows is not None:
        decode.exclude(emission, evidence.sets, evidence.rows.in_precision(emission.dtype).masks)
        if evidence.rows.log_scales is not None:
            emission += evidence.rows.log_scales[evidence.sets, None].astype(emission.dtype)
    return scores._replace(emission=emission)


@dataclass(frozen=True)
class _Chains(Distribution):
    """Label sequences."""

    positions: Positions

    def part(self, sentence: int) -> tuple[Any, Any]:
        emission = self.scores.emission[self.ptr[sentence] : self.ptr[sentence + 1]]
        return self.scores._replace(emission=emission), Chain().batch(self.batch.evidence.part(sentence, sentence + 1))

    def padded(self, outputs: NDArray[np.int32]) -> NDArray[Any]:
        return self.positions.put(outputs, NO_POSITION)

    def log_z(self, sums: Sums) -> NDArray[np.float64]:
        return log_partitions(sums, self.batch, self.scores.transitions)

    def marginals(self) -> Floats:
        return self.positions.put(self.sums().marginals()[self.batch.rows])

    def entropies(self) -> NDArray[np.float64]:
        return entropies(self.sums(), self.batch, self.scores)
