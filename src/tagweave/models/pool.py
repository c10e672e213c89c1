"""The mean of a coupled model and of a tagger of its target that looks at a guide's labels.

Both are linear, so the mean of their weights, over the features of both, is one model: the geometric mean of their
distributions (a logarithmic opinion pool), with a share s for the tagger,

    log p(y, z | x) = (1 - s) coupled(x, y, z) + s guided(x, y) - log Z        y: labels of the target, z: of the source
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.features.encoder import INDEX, FeatureIndex, TemplateEncoder
from tagweave.kernels.perceptron import Weights
from tagweave.models.cascades import GuidedEncoder
from tagweave.models.chain import ChainModel
from tagweave.models.linear_scorer import ChainParameters, Layout

Floats = NDArray[Any]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Pool:
    """A coupled model over the features of both, and the weights of each model among these, [parameters.size]."""

    model: ChainModel
    coupled: Floats
    guided: Floats

    @classmethod
    def of(cls, coupled: ChainModel, guided: ChainModel) -> Pool:
        """Pool two linear models; the guided one has all templates of the coupled one.

        Raises:
            ValueError: their labels of the target differ.
        """
        looking = guided.encoder
        if coupled.space.views[0].names != guided.space.views[0].names:
            raise ValueError("found a tagger of other labels than those of the coupled model's target")
        assert isinstance(looking, GuidedEncoder) and isinstance(looking.encoder, TemplateEncoder)  # noqa: S101
        coupled_codes, guided_codes = (encoder.arrays()[INDEX] for encoder in (coupled.encoder, looking.encoder))
        is_new = ~np.isin(guided_codes, coupled_codes)
        index = FeatureIndex.of_codes(np.concatenate([coupled_codes, guided_codes[is_new]]))
        encoder = TemplateEncoder(looking.encoder.templates, index, looking.encoder.lookups)
        parts = [
            _Part(model, index.ids(codes).astype(np.int64))
            for model, codes in ((coupled, coupled_codes), (guided, guided_codes))
        ]

        views = range(len(coupled.space.views))
        parts_codes = {at: [pooled.codes[at] for pooled in parts if at in pooled.codes] for at in views}
        codes = {at: np.unique(np.concatenate(view_codes)) for at, view_codes in parts_codes.items() if view_codes}
        layouts = tuple(Layout.of_codes(codes[at], len(index)) if at in codes else None for at in views)
        occurrences = np.concatenate([coupled.linear.occurrences, guided.linear.occurrences[is_new]])
        parameters = replace(coupled.linear, layouts=layouts, observed_transitions=None, occurrences=occurrences)
        vectors = [pooled.among(parameters, codes) for pooled in parts]
        model = replace(coupled, encoder=GuidedEncoder(encoder, looking.guide), parameters=parameters)
        return cls(replace(model, weights=vectors[0]), *vectors)

    def weights(self, share: float) -> Floats:
        """Return the mean, with a share from 0 to 1 for the guided model."""
        return (1 - share) * self.coupled + share * self.guided


class _Part:
    """The weights of one model by views, and the codes of these in a layout of `features`, the new number of each."""

    def __init__(self, model: ChainModel, features: Ints) -> None:
        self.weights = _by_view(model.linear, model.weights)
        self.dtype = model.weights.dtype
        layouts = model.linear.layouts
        self.codes = {at: layout.codes(features) for at, layout in enumerate(layouts) if layout is not None}

    def among(self, parameters: ChainParameters, codes: Mapping[int, Ints]) -> Floats:
        """Return the same weights as a vector of parameters with more of them; `codes`: of theirs, by views."""
        vector = np.zeros(parameters.size, self.dtype)
        for at, weights in _by_view(parameters, vector).items():
            if at in self.weights:
                weights.emission[np.searchsorted(codes[at], self.codes[at])] = self.weights[at].emission
                for new, old in zip(weights[1:], self.weights[at][1:], strict=True):
                    new[...] = old
        return vector


def _by_view(parameters: ChainParameters, vector: Floats) -> dict[int, Weights]:
    weighted = [at for at, layout in enumerate(parameters.layouts) if layout is not None]
    return dict(zip(weighted, parameters.split(vector), strict=True))
