"""The loss of label sequences as a PyTorch module."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from tagweave.corpus.corpus import Corpus
from tagweave.evidence.sequences import Evidence
from tagweave.kernels import decode
from tagweave.labels.sets import LabelRows, LabelSets, Reading, reading
from tagweave.labels.space import LabelSpace
from tagweave.labels.transition_scheme import TransitionScheme
from tagweave.structures.chain import Chain, ChainScores, entropies
from tagweave.structures.lockstep import TransitionScores
from tagweave.structures.loss import LossTerm, contradiction
from tagweave.torch.chain_sums import ChainLosses, LogPartitions, lent_chain, transition_scores
from tagweave.torch.corpora import encoded, model_of, space_of
from tagweave.torch.evidence import of_labels
from tagweave.torch.gradients import Reduction, eager, reduced, values
from tagweave.torch.positions import NO_POSITION, Positions, array, precision, tensor

if TYPE_CHECKING:
    from tagweave.models.chain import ChainModel


class ChainLoss(nn.Module):
    """-log P(evidence) of a linear-chain CRF over emission scores; what `torchcrf.CRF` is, for any evidence.

    Rows have B sequences, padded to T positions; Y is the number of labels. Evidence is a tensor:

    - int[B, T]: labels, -1 where nothing is known, and -100 where there is no position, anywhere in a row; such
      positions are taken out, and their neighbours are adjacent. `encode` makes numbers of label sets, too.
    - bool[B, T, Y]: the labels that are possible.
    - float[B, T, Y]: P(what was said | label); with `soft_labels="posterior"`, P(label | what was said).

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
        self.terms, self.soft_labels = tuple(terms), reading(soft_labels)
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
        for each in (self.transitions, self.start_transitions, self.end_transitions):
            nn.init.uniform_(each, -0.1, 0.1) if each.requires_grad else nn.init.zeros_(each)

    def _begin_with(self, scores: TransitionScores) -> None:
        given = scores.score, scores.start_score, scores.end_score
        with torch.no_grad():
            for own, each in zip(self._scores, given, strict=True):
                own.copy_(torch.from_numpy(np.where(np.isfinite(each), each, 0)))

    @property
    def _scores(self) -> tuple[Tensor, Tensor, Tensor]:
        return self.transitions, self.start_transitions, self.end_transitions

    @eager
    def forward(
        self, emissions: Tensor, evidence: Tensor, mask: Tensor | None = None, reduction: Reduction = "mean"
    ) -> Tensor:
        """Return log Z - log Z(what the evidence allows): a loss of 0 or more; 0 for rows without positions.

        Args:
            emissions: [B, T, Y].
            evidence, mask: see the class.
            reduction: `mean` over rows, `sum`, `none`: [B], or `token_mean`.

        Raises:
            ContradictionError: no label sequence agrees with the evidence of a row and the coding.
        """
        if self.terms and reduction == "none":
            raise ValueError("found the reduction 'none' with terms, expected another: terms are of all rows together")
        positions, given = self._read(emissions, evidence, mask)
        problem = ChainLosses(positions, given, self.scheme, self.terms)
        losses = values(problem, emissions, *self._scores)
        return reduced(losses, reduction, int(positions.ptr[-1]))

    @eager
    def log_partition(self, emissions: Tensor, mask: Tensor | None = None, evidence: Tensor | None = None) -> Tensor:
        """Return [B]: log Z, of the label sequences that the evidence allows; its gradient are marginals."""
        positions, given = self._read(emissions, evidence, mask)
        problem = LogPartitions(positions, given, self.scheme)
        return values(problem, emissions, *self._scores)

    @eager
    def decode(self, emissions: Tensor, mask: Tensor | None = None, evidence: Tensor | None = None) -> Tensor:
        """Return int64[B, T]: the best labels that the evidence allows; -100 where there is no position."""
        positions, given, scores = self._under(emissions, mask, evidence)
        best = Chain.best(scores, Chain().batch(given))
        if len(best) and best.min() < 0:
            raise contradiction(int(positions.rows[best.argmin()]), Chain.contradiction)
        return tensor(positions.put(best, NO_POSITION), emissions, torch.int64)

    @eager
    def topk(
        self, emissions: Tensor, k: int, mask: Tensor | None = None, evidence: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return int64[B, k, T], the k best label sequences, and [B, k], their scores, the best first.

        Where there are fewer, labels are -100, and scores -inf.
        """
        positions, given, scores = self._under(emissions, mask, evidence)
        labels = np.full((len(scores.emission), k), NO_POSITION, np.int32)
        totals = np.full((len(given), k), -np.inf)
        for row, tokens, own, part in _sentences(scores, given):
            found, total = Chain.k_best(own, Chain().batch(part), k)
            labels[tokens, : len(found)], totals[row, : len(total)] = found.T, total
        padded = positions.put(labels, NO_POSITION).transpose(0, 2, 1)
        return tensor(np.ascontiguousarray(padded), emissions, torch.int64), tensor(totals, emissions)

    @eager
    def sample(
        self,
        emissions: Tensor,
        n: int = 1,
        mask: Tensor | None = None,
        evidence: Tensor | None = None,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """Return int64[B, n, T]: label sequences drawn from their distribution; -100 where there is no position."""
        positions, given, scores = self._under(emissions, mask, evidence)
        labels = np.empty((len(scores.emission), n), np.int32)
        seeds = torch.randint(2**31, (len(given),), generator=generator).tolist()
        for row, tokens, own, part in _sentences(scores, given):
            if len(own.emission):
                labels[tokens] = Chain().samples(own, Chain().batch(part), n, seeds[row]).T
        padded = positions.put(labels, NO_POSITION).transpose(0, 2, 1)
        return tensor(np.ascontiguousarray(padded), emissions, torch.int64)

    @eager
    def marginals(self, emissions: Tensor, mask: Tensor | None = None, evidence: Tensor | None = None) -> Tensor:
        """Return [B, T, Y]: the probability of each label, given the evidence; 0 where there is no position."""
        positions, given, scores = self._under(emissions, mask, evidence)
        with lent_chain() as chain:
            batch = chain.batch(given)
            gamma = chain.sums(scores, batch).marginals()[batch.rows]
        return tensor(positions.put(gamma), emissions)

    @eager
    def entropy(self, emissions: Tensor, mask: Tensor | None = None, evidence: Tensor | None = None) -> Tensor:
        """Return [B]: the entropy of the label sequences, in nats, given the evidence."""
        _, given, scores = self._under(emissions, mask, evidence)
        with lent_chain() as chain:
            batch = chain.batch(given)
            return tensor(entropies(chain.sums(scores, batch), batch, scores), emissions)

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
        for view, own in zip(views, emissions, strict=False):
            if own.shape[-1] != len(view.names):
                expected = f"{len(view.names)}, the tags of {view.guideline}"
                raise ValueError(f"found scores of the shape {tuple(own.shape)}, expected the last to be {expected}")
            total = total + own[..., torch.from_numpy(view.projection).long().to(own.device)]
        return total

    def extra_repr(self) -> str:
        return f"{len(self.labels)} labels" + (f", coding={self.coding}" if self.coding else "")

    def _read(self, emissions: Tensor, evidence: Tensor | None, mask: Tensor | None) -> tuple[Positions, Evidence]:
        shape, size = tuple(emissions.shape), len(self.labels)
        if len(shape) != 3 or shape[2] != size:
            raise ValueError(f"found emissions of the shape {shape}, expected rows, positions, {size} labels")
        dtype = precision(emissions, *self._scores)
        if dtype not in self._tables:
            self._tables[dtype] = self._sets.rows.in_precision(np.float64 if dtype == torch.float64 else np.float32)
        return of_labels(evidence, mask, (shape[0], shape[1], size), self._tables[dtype], self.soft_labels)

    def _under(
        self, emissions: Tensor, mask: Tensor | None, evidence: Tensor | None
    ) -> tuple[Positions, Evidence, ChainScores]:
        """Return positions, sentences without evidence, and their scores with the logarithms of the evidence."""
        positions, given = self._read(emissions, evidence, mask)
        dtype = precision(emissions, *self._scores)
        emission = positions.take(array(emissions, dtype))
        if positions.index is None:
            emission = emission.copy()
        if given.rows is not None:
            decode.exclude(emission, given.sets, given.rows.in_precision(emission.dtype).masks)
            if given.rows.log_scales is not None:
                emission += given.rows.log_scales[given.sets, None].astype(emission.dtype)
        pairs = transition_scores([array(each, dtype) for each in self._scores], self.scheme)
        return positions, given.under(None), ChainScores(emission, pairs)


def _sentences(scores: ChainScores, given: Evidence) -> Iterator[tuple[int, slice, ChainScores, Evidence]]:
    """Yield for each row its number, its tokens, and what is of it."""
    for row in range(len(given)):
        tokens = slice(int(given.sentence_ptr[row]), int(given.sentence_ptr[row + 1]))
        yield row, tokens, scores._replace(emission=scores.emission[tokens]), given.part(row, row + 1)
