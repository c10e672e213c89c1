"""Models of CRFsuite (`lCRF`, version 100), whose features are attributes of tokens, as chain models.

Numbers are little-endian; offsets of chunks count from the file's begin.

    header      magic "lCRF", size u4, type "FOMC", version u4, features u4, labels u4, attributes u4,
                offsets u4 of: features, labels, attributes, references of labels, references of attributes
    features    "FEAT", size u4, count u4, then for each: type u4 (0: attribute and label, 1: label and next label),
                source u4, label u4, weight f8
    names       "CQDB", size u4, flag u4, byte order u4, backward count u4, backward offset u4 (from the chunk's begin),
                hash tables; the backward array has u4 the offset of every number's record: number u4, length u4, the
                text with a zero at its end

References only list the features of each label and attribute, so they are not read.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.features.attributes import AttributeEncoder
from tagweave.features.columns import FormColumns
from tagweave.features.encoder import FeatureIndex
from tagweave.features.rules import LARGEST
from tagweave.labels.space import LabelSpace
from tagweave.labels.transition_scheme import TransitionScheme
from tagweave.models.chain import ChainModel
from tagweave.models.linear_scorer import ChainParameters, Layout
from tagweave.models.memory import check_labels_of_file

GUIDELINE = "label"
_CODE_BITS = 40
MAGIC = b"lCRF"
_HEADER, _DATABASE = struct.Struct("<4sI4s9I"), struct.Struct("<4sI4I")
_FEATURE = np.dtype([("type", "<u4"), ("source", "<u4"), ("label", "<u4"), ("weight", "<f8")])
_VERSION, _BYTE_ORDER = 100, 0x62445371


@dataclass(frozen=True)
class PairWeights:
    """Weights of pairs, each pair at most once."""

    source: NDArray[np.int64]  # [n], attributes, or labels before
    label: NDArray[np.int64]  # [n], labels
    value: NDArray[np.float64]  # [n]


def attribute_model(
    labels: Sequence[str],
    attributes: Sequence[str],
    states: PairWeights,
    transitions: PairWeights,
    about: dict[str, Any],
) -> ChainModel:
    """Return the model of these weights; the numbers of labels and attributes are their places in the lists."""
    if not labels:
        raise ValueError("no labels, expected some")
    if "" in labels:
        raise ValueError("a label without a name, expected names")
    for what, names in (("label", labels), ("attribute", attributes)):
        if repeated := [name for name, count in Counter(names).items() if count > 1]:
            raise ValueError(f"the {what} {repeated[0]!r} twice, expected each once")
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


def _sorted(weights: PairWeights, sources: int, labels: int) -> PairWeights:
    for numbers, limit in ((weights.source, sources), (weights.label, labels)):
        if len(numbers) and not 0 <= numbers.min() <= numbers.max() < limit:
            raise ValueError(f"a feature of number {numbers.max()}, expected numbers below {limit}")
    if not (np.abs(weights.value) <= LARGEST).all():
        raise ValueError(f"a weight that is nan or larger than {LARGEST:g}, expected finite numbers")
    pair = weights.source * labels + weights.label
    order = np.argsort(pair, kind="stable")
    if (np.diff(pair[order]) == 0).any():
        raise ValueError("a feature twice, expected each once")
    return PairWeights(weights.source[order], weights.label[order], weights.value[order])


def _codes(names: Sequence[str]) -> NDArray[np.uint64]:
    """Return a code for each name, no two the same: the next free one where hashes are equal."""
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


def model_of(data: bytes) -> ChainModel:
    """Return the model in the bytes of a file."""
    magic, size, kind, version, _, *counts_and_offsets = _unpacked(_HEADER, data, 0, "header")
    label_count, attribute_count, at_features, at_labels, at_attributes, *_ = counts_and_offsets
    if (magic, kind) != (MAGIC, b"FOMC"):
        raise ValueError(f"a model of the type {kind!r}, expected b'FOMC', a first-order chain")
    if version != _VERSION:
        raise ValueError(f"version {version} of CRFsuite's models, expected {_VERSION}")
    if size != len(data):
        raise ValueError(f"{len(data)} bytes, expected {size}, as the header says")
    check_labels_of_file(label_count, len(data))
    features = _features(data, at_features)
    labels = _names(data, at_labels, label_count, "label")
    attributes = _names(data, at_attributes, attribute_count, "attribute")
    of_states, of_pairs = features["type"] == 0, features["type"] == 1
    if not (of_states | of_pairs).all():
        raise ValueError(f"a feature of the type {features['type'].max()}, expected 0 or 1")
    states, transitions = (
        PairWeights(rows["source"].astype(np.int64), rows["label"].astype(np.int64), rows["weight"].copy())
        for rows in (features[of_states], features[of_pairs])
    )
    return attribute_model(labels, attributes, states, transitions, {"program": "CRFsuite"})


def _unpacked(form: struct.Struct, data: bytes, at: int, what: str) -> tuple[Any, ...]:
    if at + form.size > len(data):
        raise ValueError(f"a {what} at byte {at} of {len(data)}, expected a whole file")
    return form.unpack_from(data, at)


def _features(data: bytes, at: int) -> Any:
    magic, _, count = _unpacked(struct.Struct("<4sII"), data, at, "list of features")
    if magic != b"FEAT":
        raise ValueError(f"{magic!r} at byte {at}, expected the features, b'FEAT'")
    if at + 12 + count * _FEATURE.itemsize > len(data):
        raise ValueError(f"{count} features at byte {at} of {len(data)}, expected a whole file")
    return np.frombuffer(data, _FEATURE, count, at + 12)


def _names(data: bytes, at: int, expected: int, what: str) -> list[str]:
    magic, _, _, byte_order, count, backward = _unpacked(_DATABASE, data, at, f"database of {what}s")
    if (magic, byte_order) != (b"CQDB", _BYTE_ORDER):
        raise ValueError(f"{magic!r} at byte {at}, expected the {what}s, b'CQDB'")
    if count != expected:
        raise ValueError(f"names of {count} {what}s, expected {expected}, as the header says")
    if count and at + backward + 4 * count > len(data):
        raise ValueError(f"names of {count} {what}s at byte {at + backward} of {len(data)}, expected a whole file")
    offsets = np.frombuffer(data, "<u4", count, at + backward).tolist() if count else []
    names, rest = [], len(data)
    for number, offset in enumerate(offsets):
        names.append(_name(data, at + offset, number, what))
        rest -= len(names[-1])
        if rest < 0:
            raise ValueError(f"names of {what}s that overlap, expected each in bytes of its own")
    return names


def _name(data: bytes, at: int, number: int, what: str) -> str:
    stored_number, length = _unpacked(struct.Struct("<II"), data, at, f"name of a {what}")
    text = data[at + 8 : at + 8 + length]
    if stored_number != number or not length or len(text) < length or text[-1]:
        raise ValueError(f"the record of {what} {stored_number} at byte {at}, expected that of {what} {number}")
    try:
        return text[:-1].decode()
    except UnicodeDecodeError:
        raise ValueError(f"the {what} {text[:-1]!r:.60}, expected UTF-8") from None
