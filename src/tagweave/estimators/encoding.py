"""The user's sentences and labels in a model's terms: features, label sets, and weights by name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.sentence import Layer
from tagweave.estimators.sequences import TokenSequence
from tagweave.features.attributes import AttributeEncoder
from tagweave.features.encoded import Encoded
from tagweave.labels.sets import LabelSets
from tagweave.labels.space import UnknownLabelError
from tagweave.models.chain import ChainModel

GUIDELINE = "label"
"""The name of the only view of the models."""


def encode(model: ChainModel, sentences: Sequence[TokenSequence]) -> Encoded:
    """The features of sentences, without evidence."""
    assert isinstance(model.encoder, AttributeEncoder)  # noqa: S101 - for the type checker: `ChainCRF` has no other
    return finite(model.encoder.encode_attributes(sentences))


def finite(encoded: Encoded) -> Encoded:
    """The same sentences, if all feature values are finite: nan or infinity would spread to every weight.

    Raises:
        ValueError: a value is nan or infinite.
    """
    if not np.isfinite(encoded.type_values).all():
        raise ValueError("found an attribute whose value is nan or infinite, expected finite numbers")
    return encoded


def evidence(model: ChainModel, encoded: Encoded, layers: Sequence[Layer]) -> tuple[Encoded, NDArray[np.uint8]]:
    """The sentences with the evidence of `layers`, and the label sets, uint8[sets, Y].

    Raises:
        UnknownLabelError: a label that the model does not know.
    """
    sets = LabelSets(model.space)
    numbers = [allowed(layer, sets) for layer in layers]
    return encoded.with_evidence(np.concatenate([np.zeros(0, np.int32), *numbers])), sets.masks


def allowed(layer: Layer, sets: LabelSets) -> NDArray[np.int32]:
    """int32[T]: the number of the label set of each position. Names are taken literally, never as wildcards.

    Raises:
        UnknownLabelError: a label that is not in the space.
    """
    number = sets.space.views[0].number
    for name in {name for candidates in set(layer) for name in candidates or ()} - number.keys():
        raise UnknownLabelError(f"found the label {name!r}, expected labels of the model: {' '.join(number)}")
    return np.array([sets.of_candidates(GUIDELINE, candidates) for candidates in layer], np.int32)


def state_weights(model: ChainModel) -> dict[tuple[str, str], float]:
    """The nonzero weights by (attribute, label)."""
    ((_, layout),), labels = model.linear.weighted, model.space.names
    (weights,) = model.linear.split(model.weights)
    names = model.encoder.names if isinstance(model.encoder, AttributeEncoder) else []
    features = np.repeat(np.arange(len(names)), np.diff(layout.ptr))
    cells = layout.cell if len(layout.cell) else np.arange(layout.size) % len(labels)
    kept = np.flatnonzero(weights.emission)
    rows = zip(features[kept].tolist(), cells[kept].tolist(), weights.emission[kept].tolist(), strict=True)
    return {(names[feature], labels[label]): value for feature, label, value in rows}


def transition_weights(model: ChainModel) -> dict[tuple[str, str], float]:
    """The nonzero weights by (label, next label)."""
    names = model.space.names
    (weights,) = model.linear.split(model.weights)
    rows, columns = np.nonzero(weights.transition)
    values = weights.transition[rows, columns].tolist()
    return {(names[i], names[j]): value for i, j, value in zip(rows, columns, values, strict=True)}
