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
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.features.attributes import AttributeEncoder
from tagweave.features.columns import FormColumns
from tagweave.features.encoder import FeatureIndex
from tagweave.features.rules import LARGEST
from tagweave.labels.space import LabelSpace
from tagweave.labels.transition_scheme import TransitionScheme
from tagweave.models.chain import ChainModel
from tagweave.models.layout import Layout
from tagweave.models.linear_scorer import ChainParameters
from tagweave.models.storage import check_labels_of_file

GUIDELINE = "label"
_CODE_BITS = 40
MAGIC = b"lCRF"
_HEADER, _DATABASE = struct.Struct("<4sI4s9I"), struct.Struct("<4sI4I")
_FEATURE = np.dtype([("type", "<u4"), ("source", "<u4"), ("label", "<u4"), ("weight", "<f8")])
_VERSION, _BYTE_ORDER = 100, 0x62445371


@dataclass(frozen=True)
class PairWeights:
    """PairWeights of pairs, each pair at most once."""

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


class _Header(NamedTuple):
    magic: bytes
    size: int
    type: bytes
    version: int
    features: int
    labels: int
    attributes: int
    at_features: int
    at_labels: int
    at_attributes: int
    at_label_references: int
    at_attribute_references: int


def model_of(data: bytes) -> ChainModel:
    """Return the model in the bytes of a file."""
    header = _Header(*_unpacked(_HEADER, data, 0, "header"))
    if (header.magic, header.type) != (MAGIC, b"FOMC"):
        raise ValueError(f"a model of the type {header.type!r}, expected b'FOMC', a first-order chain")
    if header.version != _VERSION:
        raise ValueError(f"version {header.version} of CRFsuite's models, expected {_VERSION}")
    if header.size != len(data):
        raise ValueError(f"{len(data)} bytes, expected {header.size}, as the header says")
    check_labels_of_file(header.labels, len(data))
    features = _features(data, header.at_features)
    labels = _names(data, header.at_labels, header.labels, "label")
    attributes = _names(data, header.at_attributes, header.attributes, "attribute")
    of_states, of_pairs = features["type"] == 0, features["type"] == 1
    if not (of_states | of_pairs).all():
        raise ValueError(f"a feature of the type {features['type'].max()}, expected 0 or 1")
    return attribute_model(
        labels, attributes, _weights(features[of_states]), _weights(features[of_pairs]), {"program": "CRFsuite"}
    )


def _weights(features: Any) -> PairWeights:
    return PairWeights(
        features["source"].astype(np.int64), features["label"].astype(np.int64), features["weight"].copy()
    )


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
    found, length = _unpacked(struct.Struct("<II"), data, at, f"name of a {what}")
    text = data[at + 8 : at + 8 + length]
    if found != number or not length or len(text) < length or text[-1]:
        raise ValueError(f"the record of {what} {found} at byte {at}, expected that of {what} {number}")
    try:
        return text[:-1].decode()
    except UnicodeDecodeError:
        raise ValueError(f"the {what} {text[:-1]!r:.60}, expected UTF-8") from None
