"""Proposals: the tags that models of one guideline each hold possible, and the bundles of these.

Context-aware pruning of the coupled model (Li, Chao and Zhang 2016): of all bundles, those come into question at a
token both of whose sides are likely by the marginals of a tagger of that side.

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
from tagweave.models.chain import ChainModel
from tagweave.models.parts import nested
from tagweave.models.tagger import Tagger

_CELLS = 1 << 24  # tokens x labels that are held at a time


def proposal_column(guideline: str) -> str:
    """The column of the tags of a guideline that come into question."""
    return f"proposed:{guideline}"


def proposals(
    model: ChainModel, sentences: Sequence[Sentence], threshold: float, threads: int = 1
) -> list[tuple[str, ...]]:
    """For every token of every sentence the tags whose marginal reaches the threshold, and the best, with blanks.

    The layers of the sentences are not looked at.
    """
    tagger = Tagger(model, threads)
    bare = [replace(sentence, layers={}) for sentence in sentences]
    return [_likely(table, tagger.labels, threshold) for table in tagger.probabilities(bare)]


def _likely(table: NDArray[Any], names: Sequence[str], threshold: float) -> tuple[str, ...]:
    chosen = (table >= threshold) | (table == table.max(axis=1, keepdims=True))
    return tuple(" ".join(names[tag] for tag in np.flatnonzero(row).tolist()) for row in chosen)


class ProposingEncoder:
    """Templates, and for every token the labels that come into question.

    A sentence keeps the columns `proposed:GUIDELINE` that it has; the others are what the models propose.

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
        self.encoder, self.space, self.models, self.threshold = encoder, space, tuple(models), threshold

    @property
    def windows(self) -> NDArray[np.int64]:
        """int64[F], how many tokens see each feature."""
        return self.encoder.windows

    def tokens(self, sentences: Sequence[Sentence], threads: int = 1, layer: str | None = None) -> Sequence[Sentence]:
        """The sentences whose tokens are labelled: these."""
        return sentences

    def encode(self, sentences: Sequence[Sentence], threads: int = 1) -> Encoded:
        """The features of sentences and their candidate labels, with no evidence."""
        encoded = self.encoder.encode(sentences, threads)
        numbers, masks = [], []
        for view, model in zip(self.space.sides, self.models, strict=True):
            told = self._told(sentences, view, model, threads)
            kinds = {each: number for number, each in enumerate(dict.fromkeys(each for row in told for each in row))}
            numbers.append(np.array([kinds[each] for row in told for each in row], np.int64))
            masks.append(np.array([_mask(each, view) for each in kinds], bool).reshape(len(kinds), len(self.space)))
        size = max(1, _CELLS // len(self.space))
        parts = [
            CandidateLabels.of_mask(
                np.all([m[n[low : low + size]] for n, m in zip(numbers, masks, strict=True)], axis=0)
            )
            for low in range(0, encoded.tokens, size)
        ]
        return replace(encoded, candidates=CandidateLabels.concatenate(parts))

    def _told(
        self, sentences: Sequence[Sentence], view: View, model: ChainModel, threads: int
    ) -> list[tuple[str, ...]]:
        """What is proposed for every sentence, by its column or by the model."""
        column = proposal_column(view.guideline)
        known = [sentence.columns.get(column) for sentence in sentences]
        unknown = [sentence for sentence, own in zip(sentences, known, strict=True) if own is None]
        told = iter(proposals(model, unknown, self.threshold, threads))
        return [next(told) if own is None else own for own in known]

    def freeze(self, encoded: Encoded, minimum_count: int = 1) -> None:
        """Stop growing, as the templates' encoder does."""
        self.encoder.freeze(encoded, minimum_count)

    def to_json(self) -> dict[str, Any]:
        """The templates, the threshold and the descriptions of the models."""
        proposals = {"models": [model.to_json() for model in self.models], "threshold": self.threshold}
        return {**self.encoder.to_json(), "kind": self.kind, "proposals": proposals}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What a model on disk keeps of the encoder: the arrays of the models are named `proposals.NUMBER.NAME`."""
        parts = [nested(model.arrays(), f"proposals.{i}") for i, model in enumerate(self.models)]
        return {**self.encoder.arrays(), **{name: array for part in parts for name, array in part.items()}}


def _mask(proposed: str, view: View) -> NDArray[np.bool_]:
    """bool[Y]: the labels that project to one of these tags; tags that the view does not have are passed over."""
    tags = [view.number[tag] for tag in proposed.split(" ") if tag in view.number]
    return np.isin(view.projection, tags)
