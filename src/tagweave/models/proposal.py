"""Proposals: the likely tags under a model of each guideline, and the bundles of these tags.

Context-aware pruning of the coupled model (Li, Chao and Zhang 2016): a bundle is a candidate at a token if both of its
sides are likely under the marginals of a tagger of that side.

    sentence ── a model of each side ──> columns proposed:GUIDELINE ("NN VV") ── all pairs of these ──> candidates
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.sentence import Sentence
from tagweave.features.candidate_labels import CandidateLabels
from tagweave.features.encoded import Encoded
from tagweave.features.encoder import TemplateEncoder
from tagweave.labels.space import LabelSpace, View
from tagweave.models.cascade_encoder import CascadeEncoder
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.parts import nested

_CELLS = 1 << 24  # tokens x labels that are held at a time


def proposal_column(guideline: str) -> str:
    """The column of the proposed tags of a guideline."""
    return f"proposed:{guideline}"


def proposals(
    model: ChainModel, sentences: Sequence[Sentence], threshold: float, threads: int = 1
) -> list[tuple[str, ...]]:
    """The likely tags under a model that sees no layer of the sentences."""
    return likely_tags(model, [replace(sentence, layers={}) for sentence in sentences], threshold, threads)


def likely_tags(
    model: ChainModel, sentences: Sequence[Sentence], threshold: float, threads: int = 1
) -> list[tuple[str, ...]]:
    """For every token, the best tag and all whose marginal reaches the threshold, separated by blanks."""
    tagger = ChainPredictor(model, threads)
    return [_likely(table, tagger.labels, threshold) for table in tagger.probabilities(sentences)]


def _likely(table: NDArray[Any], names: Sequence[str], threshold: float) -> tuple[str, ...]:
    chosen = (table >= threshold) | (table == table.max(axis=1, keepdims=True))
    return tuple(" ".join(names[tag] for tag in np.flatnonzero(row).tolist()) for row in chosen)


class ProposingEncoder(CascadeEncoder):
    """Templates, and candidate labels for every token.

    A sentence keeps the columns `proposed:GUIDELINE` that it has; the models propose the others.

    Args:
        encoder: the templates.
        space: the labels, bundles of the tags of its sides.
        models: one for each side, in their order.
        threshold: the probability from which a tag is proposed.
    """

    kind = "proposing"

    def __init__(
        self, encoder: TemplateEncoder, space: LabelSpace, models: Sequence[ChainModel], threshold: float
    ) -> None:
        super().__init__(encoder)
        self.space, self.models, self.threshold = space, tuple(models), threshold

    def encode(self, sentences: Sequence[Sentence], threads: int = 1) -> Encoded:
        """The features of sentences and their candidate labels, without evidence."""
        encoded = self.encoder.encode(sentences, threads)
        numbers, masks = [], []
        for view, model in zip(self.space.sides, self.models, strict=True):
            proposed = [each for row in self._proposals(sentences, view, model, threads) for each in row]
            number = {each: i for i, each in enumerate(dict.fromkeys(proposed))}
            numbers.append(np.array([number[each] for each in proposed], np.int64))
            masks.append(np.array([_mask(each, view) for each in number], bool).reshape(len(number), len(self.space)))
        size = max(1, _CELLS // len(self.space))
        parts = [
            CandidateLabels.of_mask(
                np.all([m[n[low : low + size]] for n, m in zip(numbers, masks, strict=True)], axis=0)
            )
            for low in range(0, encoded.tokens, size)
        ]
        return replace(encoded, candidates=CandidateLabels.concatenate(parts))

    def _proposals(
        self, sentences: Sequence[Sentence], view: View, model: ChainModel, threads: int
    ) -> list[tuple[str, ...]]:
        """The proposals for every sentence, from its column or from the model."""
        column = proposal_column(view.guideline)
        known = [sentence.columns.get(column) for sentence in sentences]
        unknown = [sentence for sentence, own in zip(sentences, known, strict=True) if own is None]
        of_model = iter(proposals(model, unknown, self.threshold, threads))
        return [next(of_model) if own is None else own for own in known]

    def to_json(self) -> dict[str, Any]:
        """The templates, the threshold and the descriptions of the models."""
        proposals = {"models": [model.to_json() for model in self.models], "threshold": self.threshold}
        return {**self.encoder.to_json(), "kind": self.kind, "proposals": proposals}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays stored with a model; those of the proposing models are named `proposals.NUMBER.NAME`."""
        parts = [nested(model.arrays(), f"proposals.{i}") for i, model in enumerate(self.models)]
        return {**self.encoder.arrays(), **{name: array for part in parts for name, array in part.items()}}


def _mask(proposed: str, view: View) -> NDArray[np.bool_]:
    """bool[Y]: the labels that project to one of these tags; unknown tags are ignored."""
    tags = [view.number[tag] for tag in proposed.split(" ") if tag in view.number]
    return np.isin(view.projection, tags)
