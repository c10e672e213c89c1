"""The mean of a coupled model and of a tagger of its target that looks at a guide's labels.

Both are linear, so the mean of their weights, over the features of both, is one model: the geometric mean of their
distributions (a logarithmic opinion pool), with a share s for the tagger,

    log p(y, z | x) = (1 - s) coupled(x, y, z) + s guided(x, y) - log Z        y: labels of the target, z: of the source
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.features.encoder import INDEX, FeatureIndex, TemplateEncoder
from tagweave.models.cascades import GuidedEncoder
from tagweave.models.chain import ChainModel
from tagweave.models.linear_scorer import Layout, pair_codes

Floats = NDArray[Any]


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
        members = [
            (model.linear, model.weights, index.ids(codes).astype(np.int64))
            for model, codes in ((coupled, coupled_codes), (guided, guided_codes))
        ]
        layouts: list[Layout | None] = []
        for view in coupled.space.views:
            codes = [
                pair_codes(*linear.carried_pairs(number, view, features))
                for linear, _, features in members
                for number, (weighted, _) in enumerate(linear.weighted)
                if weighted.guideline == view.guideline
            ]
            layouts.append(Layout.of_codes(np.unique(np.concatenate(codes)), len(index)) if codes else None)
        occurrences = np.concatenate([coupled.linear.occurrences, guided.linear.occurrences[is_new]])
        parameters = replace(coupled.linear, layouts=tuple(layouts), observed_transitions=None, occurrences=occurrences)
        vectors = [linear.carried(weights, parameters, features) for linear, weights, features in members]
        model = replace(coupled, encoder=GuidedEncoder(encoder, looking.guide), parameters=parameters)
        return cls(replace(model, weights=vectors[0]), *vectors)

    def weights(self, share: float) -> Floats:
        """Return the mean, with a share from 0 to 1 for the guided model."""
        return (1 - share) * self.coupled + share * self.guided
