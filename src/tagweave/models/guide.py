"""Models that annotate sentences before a model's templates look at them: guides and proposals.

A guide labels the same tokens by another guideline (the two-stage CRF of Jiang et al. 2009, with which li-2015
compares, sections 1 and 5.2; feature-based stacking in sun-wan-2012, 4.3; Model 1 in jiang-2015, 4.2):

    sentence ── guide of GUIDELINE ──> column guide:GUIDELINE ── templates `user:guide:GUIDELINE[0]` ──> features

Known labels of that guideline replace the guide's, so the model converts a corpus between guidelines (li-2015, 5.4).
The column's name differs from the layer's, since a column file gives every layer a string column of its name, from
which training would take gold labels for features.

A proposal prunes a coupled model (Li, Chao and Zhang 2016): a bundle is a candidate at a token if both of its sides are
likely under the marginals of a tagger of that side:

    sentence ── a model of each side ──> columns proposed:GUIDELINE ("NN VV") ── all pairs of these ──> candidates
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Self

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Layer, Sentence
from tagweave.evidence.sequences import CandidateLabels
from tagweave.features.columns import LIST_COLUMNS
from tagweave.features.encoded import Encoded
from tagweave.features.encoder import Encoder, TemplateDescription, TemplateEncoder
from tagweave.features.rules import ArrayRule, Arrays, Schema, Share
from tagweave.features.templates import Templates
from tagweave.labels.space import LabelSpace, is_wildcard
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.packing import nested

_CELLS = 1 << 24  # tokens x labels that are held at a time
MOST_MODELS = 1000  # in one encoder: checking a file must not take long


class CascadeEncoder(Encoder):
    """Templates that may use columns which other models fill; `parts` are these models, by their names in files."""

    def __init__(self, encoder: Encoder, parts: Mapping[str, ChainModel]) -> None:
        self.encoder, self._parts = encoder, parts
        self.subwords, self.has_values = encoder.subwords, encoder.has_values

    @property
    def windows(self) -> NDArray[np.int64]:
        return self.encoder.windows

    def freeze(self, encoded: Encoded, minimum_count: int = 1) -> None:
        self.encoder.freeze(encoded, minimum_count)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of a model file; arrays of a part are named `PART.NAME`."""
        arrays = self.encoder.arrays()
        for part, model in self._parts.items():
            arrays |= nested(model.arrays(), part)
        return arrays

    @classmethod
    def array_rules(cls, arrays: Arrays) -> dict[str, ArrayRule]:
        return TemplateEncoder.array_rules(arrays)


def proposal_column(guideline: str) -> str:
    """Return the column of the proposed tags of a guideline."""
    return f"proposed:{guideline}"


def proposals(
    model: ChainModel, sentences: Sequence[Sentence], threshold: float, threads: int = 1
) -> list[tuple[str, ...]]:
    """Return the likely tags under a model that sees no layer of the sentences."""
    return likely_tags(model, [replace(sentence, layers={}) for sentence in sentences], threshold, threads)


def likely_tags(
    model: ChainModel, sentences: Sequence[Sentence], threshold: float, threads: int = 1
) -> list[tuple[str, ...]]:
    """For every token, the best tag and all whose marginal reaches the threshold, separated by blanks."""
    tagger, likely = ChainPredictor(model, threads), []
    for table in tagger.probabilities(sentences):
        chosen = (table >= threshold) | (table == table.max(axis=1, keepdims=True))
        likely.append(tuple(" ".join(tagger.labels[tag] for tag in np.flatnonzero(row).tolist()) for row in chosen))
    return likely


Models = Annotated[list[dict[str, Any]], Meta(min_length=1, max_length=MOST_MODELS)]


class _Proposals(Schema):
    models: Models
    threshold: Share


class ProposingDescription(TemplateDescription):
    """Templates, and what proposes the candidates."""

    proposals: _Proposals


class ProposingEncoder(CascadeEncoder):
    """Templates, and candidate labels: tags that a model of each side of the space finds probable.

    A sentence keeps the columns `proposed:GUIDELINE` that it has; the models propose the others.
    """

    kind = "proposing"
    schema = ProposingDescription

    def __init__(
        self, encoder: TemplateEncoder, space: LabelSpace, models: Sequence[ChainModel], threshold: float
    ) -> None:
        super().__init__(encoder, {f"proposals.{i}": model for i, model in enumerate(models)})
        self.space, self.models, self.threshold = space, tuple(models), threshold

    def encode(self, sentences: Sequence[Sentence], threads: int = 1) -> Encoded:
        """Return the features of sentences and their candidate labels, without evidence."""
        encoded = self.encoder.encode(sentences, threads)
        numbers, masks = [], []
        for view, model in zip(self.space.sides, self.models, strict=True):
            known = [sentence.columns.get(proposal_column(view.guideline)) for sentence in sentences]
            unknown = [sentence for sentence, own in zip(sentences, known, strict=True) if own is None]
            of_model = iter(proposals(model, unknown, self.threshold, threads))
            proposed = [each for own in known for each in (next(of_model) if own is None else own)]
            number = {each: i for i, each in enumerate(dict.fromkeys(proposed))}
            numbers.append(np.array([number[each] for each in proposed], np.int64))
            tags = [[view.number[tag] for tag in each.split(" ") if tag in view.number] for each in number]
            allowed = [np.isin(view.projection, own) for own in tags]  # labels that project to one of the tags
            masks.append(np.array(allowed, bool).reshape(len(number), len(self.space)))
        size = max(1, _CELLS // len(self.space))
        parts = [
            CandidateLabels.of_mask(
                np.all([m[n[low : low + size]] for n, m in zip(numbers, masks, strict=True)], axis=0)
            )
            for low in range(0, encoded.tokens, size)
        ]
        return encoded.with_evidence(encoded.evidence.sets, candidates=CandidateLabels.concatenate(parts))

    def to_json(self) -> dict[str, Any]:
        proposals = {"models": [model.to_json() for model in self.models], "threshold": self.threshold}
        return {**self.encoder.to_json(), "kind": self.kind, "proposals": proposals}

    @classmethod
    def models_in(cls, description: ProposingDescription) -> dict[str, Any]:
        return {f"proposals.{i}": model for i, model in enumerate(description.proposals.models)}

    @classmethod
    def of_parts(
        cls, description: ProposingDescription, space: LabelSpace, arrays: Arrays, models: Sequence[Any]
    ) -> Self:
        if guidelines_of(models) != tuple(side.guideline for side in space.sides):
            raise ValueError("models of other guidelines than the sides of the label space")
        encoder = TemplateEncoder.of_parts(description, space, arrays, ())
        return cls(encoder, space, models, description.proposals.threshold)


def guidelines_of(models: Sequence[ChainModel]) -> tuple[str, ...]:
    """Return the target guideline of every model."""
    return tuple(model.space.views[0].guideline for model in models)


def guide_column(guideline: str) -> str:
    """Return the column of a guide's labels."""
    return f"guide:{guideline}"


def guide_templates(guideline: str, base: Templates | None = None) -> tuple[str, ...]:
    """Templates over a guide's labels t', for words and for characters.

    With `base`, the templates of the model: t'[0] alone and joined to each of them (jiang-2015, 4.1 and Table 3) except
    those with list columns, which cannot be joined to others. Without it, a window of labels:

    | template | from |
    |---|---|
    | t'[-1], t'[0], t'[1] | sun-wan-2012, 4.3, label unigrams in a window of 1 |
    | t'[-1] t'[0], t'[0] t'[1] | sun-wan-2012, 4.3, label bigrams |
    | t'[-1] t'[1] | like the bigram of characters around the token: jiang-2015, Table 1 |
    | t'[0] with form[-1], form[0], form[1] | jiang-2015, Table 3, the guiding features of single tokens |
    """
    if base is not None:
        alone = f"user:{guide_column(guideline)}[0]"
        scalar = (each for each in base.parsed if not any(term.column in LIST_COLUMNS for term in each.terms))
        return (alone, *(f"{each} {alone}" for each in scalar))
    before, here, after = (f"user:{guide_column(guideline)}[{offset}]" for offset in (-1, 0, 1))
    labels = (before, here, after, f"{before} {here}", f"{here} {after}", f"{before} {after}")
    return (*labels, *(f"form[{offset}] {here}" for offset in (-1, 0, 1)))


class GuidedDescription(TemplateDescription):
    """Templates and a guide."""

    guide: dict[str, Any]


class GuidedEncoder(CascadeEncoder):
    """Templates over tokens and over the labels that another model gives them.

    A sentence without the column gets it from its own layer of the guide's guideline if every position of the layer has
    one label. If only some have, the guide fills in the others with the best sequence that the layer allows; without
    such a layer, it labels all tokens. The guide sees no other layer, so that the answer cannot leak into its labels.
    """

    kind = "guided"
    schema = GuidedDescription

    def __init__(self, encoder: Encoder, guide: ChainModel) -> None:
        super().__init__(encoder, {"guide": guide})
        self.guide = guide
        self.guideline = guide.space.views[0].guideline
        self.column = guide_column(self.guideline)

    def encode(self, sentences: Sequence[Sentence], threads: int = 1) -> Encoded:
        return self.encoder.encode(self.guided(sentences, threads))

    def guided(self, sentences: Sequence[Sentence], threads: int = 1) -> list[Sentence]:
        """Return the sentences, each with the column; the guide labels all that need it at once."""
        name, names = self.guideline, self.guide.space.views[0].number
        labels = [s.columns.get(self.column) or one_label_each(s.layers.get(name), names) for s in sentences]
        unlabelled = tuple(
            replace(sentence, layers={name: sentence.layers.get(name, (None,) * len(sentence))})
            for sentence, known in zip(sentences, labels, strict=True)
            if known is None
        )
        completed = iter(ChainPredictor(self.guide, threads).complete(Corpus(unlabelled, name)))
        return [
            sentence.with_column(self.column, labels_of(next(completed), name) if known is None else known)
            for sentence, known in zip(sentences, labels, strict=True)
        ]

    def to_json(self) -> dict[str, Any]:
        return {**self.encoder.to_json(), "kind": self.kind, "guide": self.guide.to_json()}

    @classmethod
    def models_in(cls, description: GuidedDescription) -> dict[str, Any]:
        return {"guide": description.guide}

    @classmethod
    def of_parts(cls, description: GuidedDescription, space: LabelSpace, arrays: Arrays, models: Sequence[Any]) -> Self:
        return cls(TemplateEncoder.of_parts(description, space, arrays, ()), *models)


def one_label_each(layer: Layer | None, names: Container[str]) -> tuple[str, ...] | None:
    """Return the labels of a layer with one label everywhere, else None; a wildcard is one only if `names` has it."""
    if layer is None:
        return None
    labels = [candidates[0] for candidates in layer if candidates is not None and len(candidates) == 1]
    if len(labels) < len(layer) or any(is_wildcard(label) and label not in names for label in set(labels)):
        return None
    return tuple(labels)


def labels_of(sentence: Sentence, layer: str) -> tuple[str, ...]:
    """Return the labels of a layer that a model has filled in: one per position."""
    return tuple(candidates[0] for candidates in sentence.layers[layer] if candidates)
