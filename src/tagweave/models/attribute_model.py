"""A chain model from the weights of another program, whose features are attributes of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.features.attributes import AttributeEncoder
from tagweave.features.columns import FormColumns
from tagweave.features.index import FeatureIndex
from tagweave.features.rules import LARGEST
from tagweave.labels.space import LabelSpace
from tagweave.labels.transition_scheme import TransitionScheme
from tagweave.models.chain import ChainModel
from tagweave.models.layout import Layout
from tagweave.models.parameters import ChainParameters

GUIDELINE = "label"
_CODE_BITS = 40


@dataclass(frozen=True)
class Weights:
    """Weights of pairs, each pair at most once.

    Attributes:
        source: int64[n], attributes, or labels before.
        label: int64[n], labels.
        value: float64[n].
    """

    source: NDArray[np.int64]
    label: NDArray[np.int64]
    value: NDArray[np.float64]


def attribute_model(
    labels: Sequence[str], attributes: Sequence[str], states: Weights, transitions: Weights, about: dict[str, Any]
) -> ChainModel:
    """The model of these weights; the numbers of labels and attributes are their places in the lists.

    Raises:
        ValueError: no names or names that repeat, numbers out of range, pairs that repeat, or weights that are no
            finite numbers.
    """
    if not labels:
        raise ValueError("no labels, expected some")
    _check_names(labels, "label")
    _check_names(attributes, "attribute")
    states, transitions = _sorted(states, len(attributes), len(labels)), _sorted(transitions, *[len(labels)] * 2)
    ends = np.searchsorted(states.source, np.arange(len(attributes) + 1))
    cells = np.promote_types(np.uint16, np.min_scalar_type(len(labels)))
    layout = Layout(ends.astype(np.int32), states.label.astype(cells))
    pairs = np.zeros((len(labels), len(labels)))
    pairs[transitions.source, transitions.label] = transitions.value
    space = LabelSpace.plain(GUIDELINE, labels)
    scheme = TransitionScheme.free(len(labels))
    parameters = ChainParameters(space, (layout,), scheme, True, False, (pairs != 0,))
    weights = np.concatenate([states.value, pairs.reshape(-1), np.zeros(2 * len(labels))])
    index = FeatureIndex.of_codes(_codes(attributes))
    return ChainModel(parameters, AttributeEncoder(index, attributes), weights, about=about)


def _check_names(names: Sequence[str], what: str) -> None:
    if len(set(names)) < len(names):
        repeated = next(name for i, name in enumerate(names) if name in names[:i])
        raise ValueError(f"the {what} {repeated!r} twice, expected each once")
    if what == "label" and "" in names:
        raise ValueError("a label without a name, expected names")


def _sorted(weights: Weights, sources: int, labels: int) -> Weights:
    """The weights in the order of their pairs.

    Raises:
        ValueError: a number out of range, a pair that repeats, or a weight that is no finite number.
    """
    for numbers, limit in ((weights.source, sources), (weights.label, labels)):
        if len(numbers) and not 0 <= numbers.min() <= numbers.max() < limit:
            raise ValueError(f"a feature of number {numbers.max()}, expected numbers below {limit}")
    if not (np.abs(weights.value) <= LARGEST).all():
        raise ValueError(f"a weight that is nan or larger than {LARGEST:g}, expected finite numbers")
    pair = weights.source * labels + weights.label
    order = np.argsort(pair, kind="stable")
    if (np.diff(pair[order]) == 0).any():
        raise ValueError("a feature twice, expected each once")
    return Weights(weights.source[order], weights.label[order], weights.value[order])


def _codes(names: Sequence[str]) -> NDArray[np.uint64]:
    """A code for each name, no two the same: the next free one where hashes are equal."""
    codes = FormColumns(list(names)).form() if names else np.zeros(0, np.uint64)
    codes &= np.uint64((1 << _CODE_BITS) - 1)
    _, first = np.unique(codes, return_index=True)
    repeated = np.setdiff1d(np.arange(len(codes)), first)
    used = set(codes.tolist()) | {0}
    for at in [*repeated.tolist(), *np.flatnonzero(codes == 0).tolist()]:
        code = int(codes[at]) + 1
        while code in used:
            code += 1
        used.add(code)
        codes[at] = code
    return codes
