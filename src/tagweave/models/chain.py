"""The chain model: plain data (label space, templates, index, weights), with inference."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tagweave.features.encoded import Encoded
from tagweave.features.encoder import Encoder
from tagweave.features.lookups import Lookups
from tagweave.kernels import decode
from tagweave.labels import OF_CHARACTERS
from tagweave.labels.sets import LabelRows
from tagweave.labels.space import LabelSpace
from tagweave.models.batches import chunk_bounds
from tagweave.models.linear_scorer import ChainParameters
from tagweave.models.packing import Arrays
from tagweave.models.scorer import CalibratedScoring, ChainScoring, Floats, ScorerParameters, temperature_in
from tagweave.structures import CHAIN
from tagweave.structures.chain import Chain, ChainScores, best_labels, log_partitions, pair_marginals
from tagweave.structures.lockstep import Batch, Steps, Sums
from tagweave.structures.terms import best_without_rejected

Masks = NDArray[Any]


@dataclass(frozen=True)
class ChainModel:
    """A trained model over label sequences.

    Every method takes an `Encoded` corpus of N tokens and, to respect its evidence, `masks` [sets, Y]: the label sets
    to which `encoded.evidence.sets` refers by number. Without masks every label is allowed.
    """

    kind: ClassVar[str] = CHAIN

    parameters: ScorerParameters  # the label space, and what the weights mean
    encoder: Encoder  # turns sentences into features
    weights: Floats  # [parameters.size]; never changed in place
    task: str = "tag"  # `tag`, `segment`, `segtag` or `spans`
    coding: str = ""  # the coding of words in labels of characters, or of spans in labels of words; else ""
    # further facts about the model: version, training corpora, scores
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def space(self) -> LabelSpace:
        return self.parameters.space

    @property
    def label_names(self) -> tuple[str, ...]:
        return self.space.names

    @property
    def lookups(self) -> Lookups:
        """What features look up."""
        return self.encoder.lookups

    @property
    def weights_by_view(self) -> dict[str, int]:
        return self.parameters.weights_by_view

    def layers(self, guideline: str) -> tuple[str, ...]:
        """Return the layers of files that a guideline was learned from; () if the files did not name them."""
        return tuple(self.about.get("layers", {}).get(guideline, ()))

    @property
    def of_characters(self) -> bool:
        return self.task in OF_CHARACTERS

    def to_json(self) -> dict[str, Any]:
        parameters = self.parameters
        return {
            "kind": self.kind,
            "task": self.task,
            "coding": self.coding,
            "space": parameters.space.to_json(),
            "scorer": parameters.kind,
            **parameters.to_json(),
            "encoder": self.encoder.to_json(),
            "about": self.about,
        }

    def arrays(self) -> Arrays:
        return {"weights": self.weights, **self.parameters.arrays(), **self.encoder.arrays()}

    def best(
        self, encoded: Encoded, masks: Masks | None = None, threads: int = 1, scoring: ChainScoring | None = None
    ) -> NDArray[np.int32]:
        """Return int32[N]: the labels of the best sequences without rejected spans; -1 where none is allowed.

        `scoring` has the scores of `encoded`, if these are not to come from its features.
        """
        labels = np.empty(encoded.tokens, np.int32)
        masks = self._in_precision(masks)

        def run(first: int, last: int, scores: ChainScores) -> None:
            tokens = slice(encoded.sentence_ptr[first], encoded.sentence_ptr[last])
            evidence = encoded.evidence.part(first, last)
            if masks is not None and evidence.sets.any():  # set 0 excludes nothing
                decode.exclude(scores.emission, evidence.sets, masks)
            at, restricted_labels = best_without_rejected(self.space.names, scores, evidence)
            labels[tokens] = best_labels(scores, evidence.sentence_ptr)
            labels[tokens][at] = restricted_labels

        self._over_chunks(encoded, run, threads, scoring or self.scoring.prepared(encoded))
        return labels

    def marginals(
        self, encoded: Encoded, masks: Masks | None = None, threads: int = 1
    ) -> tuple[Floats, NDArray[np.float64]]:
        """float[N, Y], the probability of every label at every token, and float64[S], log Z of every sentence."""
        gamma = np.empty((encoded.tokens, len(self.space)), self.weights.dtype)
        log_z = np.zeros(len(encoded))

        def run(first: int, last: int, scores: ChainScores) -> None:
            batch, sums = self._sums(encoded, first, last, scores, masks)
            tokens = slice(encoded.sentence_ptr[first], encoded.sentence_ptr[last])
            gamma[tokens] = sums.marginals()[batch.rows]
            log_z[first:last] = log_partitions(sums, batch, scores.transitions)

        self._over_chunks(encoded, run, threads)
        return gamma, log_z

    def pair_marginals(self, encoded: Encoded, sentence: int, masks: Masks | None = None) -> tuple[Floats, Floats]:
        """[L, Y] state and [L, Y, Y] pair marginals of a sentence; pairs[t, i, j] = P(y[t-1] = i, y[t] = j), 0 at 0."""
        scores = self.calibrated.scores(encoded, sentence, sentence + 1)
        batch, sums = self._sums(encoded, sentence, sentence + 1, scores, masks)
        return sums.marginals()[batch.rows], pair_marginals(sums, batch, scores.transitions)

    def visit_pair_marginals(
        self, encoded: Encoded, visit: Callable[[slice, Floats, Floats], None], masks: Masks | None = None
    ) -> None:
        """Call `visit` with the tokens, marginals and pair marginals [n, Y, Y] of each batch, one at a time."""

        def run(first: int, last: int, scores: ChainScores) -> None:
            batch, sums = self._sums(encoded, first, last, scores, masks)
            tokens = slice(int(encoded.sentence_ptr[first]), int(encoded.sentence_ptr[last]))
            visit(tokens, sums.marginals()[batch.rows], pair_marginals(sums, batch, scores.transitions))

        self._over_chunks(encoded, run, 1)

    def best_and_steps(
        self,
        encoded: Encoded,
        visit: Callable[[slice, NDArray[np.int32], Steps], None],
        threads: int = 1,
        scoring: ChainScoring | None = None,
    ) -> NDArray[np.int32]:
        """Return labels as `best` without evidence, and call `visit` with the tokens, labels and marginals of each
        batch: tokens are scored once for both."""
        labels = np.empty(encoded.tokens, np.int32)
        temperature = temperature_in(self.about)

        def run(first: int, last: int, scores: ChainScores) -> None:
            tokens = slice(int(encoded.sentence_ptr[first]), int(encoded.sentence_ptr[last]))
            if temperature == 1:
                cooled = scores
            else:
                cooled = ChainScores(scores.emission / temperature, self.calibrated.transitions)
            batch, sums = self._sums(encoded, first, last, cooled, None)
            steps = sums.factored(batch.rows, cooled.transitions.potential)
            labels[tokens] = best_labels(scores, batch.evidence.sentence_ptr)  # it overwrites the scores
            visit(tokens, labels[tokens], steps)

        self._over_chunks(encoded, run, threads, scoring or self.scoring.prepared(encoded))
        return labels

    def k_best(
        self, encoded: Encoded, sentence: int, k: int, masks: Masks | None = None
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """The n <= k best sequences of one sentence, exactly: labels int32[n, L] and scores float64[n], best first."""
        if k < 1:
            raise ValueError(f"found k = {k}, expected 1 or more")
        scores, evidence = self.calibrated.scores(encoded, sentence, sentence + 1), encoded.evidence
        if masks is not None:
            decode.exclude(scores.emission, evidence.part(sentence, sentence + 1).sets, self._in_precision(masks))
        return Chain.k_best(scores, self._batch(encoded, sentence, sentence + 1, None), k)

    def sequence_scores(self, encoded: Encoded, labels: NDArray[np.int32], threads: int = 1) -> NDArray[np.float64]:
        """float64[S]: the score of one label sequence for every sentence, given as labels int32[N] of all tokens.

        The probability of a sequence is exp(score - log Z).
        """
        totals = np.zeros(len(encoded))
        ptr = encoded.sentence_ptr

        def run(first: int, last: int, scores: ChainScores) -> None:
            t = scores.transitions
            for s in range(first, last):
                emission = scores.emission[ptr[s] - ptr[first] : ptr[s + 1] - ptr[first]]
                if len(emission):
                    path = labels[ptr[s] : ptr[s + 1]]
                    totals[s] = decode.path_score(emission, t.score, t.start_score, t.end_score, path)

        self._over_chunks(encoded, run, threads)
        return totals

    def _sums(
        self, encoded: Encoded, first: int, last: int, scores: ChainScores, masks: Masks | None
    ) -> tuple[Batch, Sums]:
        batch = self._batch(encoded, first, last, masks)
        chain = Chain()
        return batch, (chain.sums if masks is None else chain.restricted_product)(scores, batch)

    def _batch(self, encoded: Encoded, first: int, last: int, masks: Masks | None) -> Batch:
        rows = None if masks is None else LabelRows(masks.astype(self.weights.dtype, copy=False))
        return Batch.of(encoded.evidence.part(first, last).under(rows))

    def _in_precision(self, masks: Masks | None) -> Masks | None:
        """Numbers in the precision of the weights, for which kernels are compiled."""
        return masks if masks is None or masks.dtype == np.uint8 else masks.astype(self.weights.dtype)

    @cached_property
    def scoring(self) -> ChainScoring:
        return self.parameters.scoring(self.weights)

    @cached_property
    def calibrated(self) -> ChainScoring:
        """The scores that probabilities come from: divided by the temperature that development data taught."""
        temperature = temperature_in(self.about)
        return self.scoring if temperature == 1 else CalibratedScoring(self.scoring, temperature)

    @property
    def features(self) -> ChainParameters:
        """The parameters of features, alone or beside a network."""
        parameters: Any = self.parameters
        linear: ChainParameters = parameters.linear if parameters.has_network else self.linear
        return linear

    @property
    def linear(self) -> ChainParameters:
        if not isinstance(self.parameters, ChainParameters):
            raise ValueError(f"found a model with {self.parameters.kind} scores, expected linear ones")
        return self.parameters

    def _over_chunks(
        self,
        encoded: Encoded,
        run: Callable[[int, int, ChainScores], None],
        threads: int,
        given: ChainScoring | None = None,
    ) -> None:
        """Call `run` with the scores of every batch of sentences, on several threads."""
        scoring, bounds = given or self.calibrated.prepared(encoded), chunk_bounds(encoded, len(self.space))

        def chunk(first: int, last: int) -> None:
            run(first, last, scoring.scores(encoded, first, last))

        with nullcontext() if threads == 1 else ThreadPoolExecutor(threads) as pool:
            list((pool.map if pool else map)(chunk, bounds[:-1], bounds[1:]))
