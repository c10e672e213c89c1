"""Features that the user supplies: a list of attributes with values for every token, as in CRFsuite."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, repeat
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.characters import decoded, is_text
from tagweave.corpus.formats.attributes import ATTRIBUTES, weighted
from tagweave.corpus.sentence import Sentence, is_missing
from tagweave.errors import CorpusError
from tagweave.evidence.sequences import Evidence
from tagweave.features.columns import FormColumns
from tagweave.features.encoded import Encoded
from tagweave.features.encoder import INDEX, Encoder, FeatureIndex
from tagweave.features.rules import BYTES, CODES, ArrayRule, Arrays, read_texts, text_array
from tagweave.kernels import hashing
from tagweave.labels.space import LabelSpace

Attributes = Iterable[str] | Mapping[str, Any]

_TEXT = frozenset({str})
_PLAIN = {bool, int, float}  # not nested: no slow `isinstance` needed


class AttributeEncoder(Encoder):
    """Maps attribute names to features. The features of a token are its own attributes, not its neighbours'."""

    kind = "attributes"
    has_values = True
    can_grow = True

    def __init__(self, index: FeatureIndex | None = None, names: Sequence[str] = ()) -> None:
        self.index = FeatureIndex() if index is None else index
        self.names = list(names)

    @classmethod
    def array_rules(cls, arrays: Arrays) -> dict[str, ArrayRule]:
        return {INDEX: ArrayRule(CODES, (None,)), "index.attributes": ArrayRule(BYTES, (None,))}

    @classmethod
    def of_parts(cls, description: Any, space: LabelSpace, arrays: Arrays, models: Sequence[Any]) -> Self:
        names = read_texts(arrays["index.attributes"], "index.attributes")
        if len(names) != len(arrays[INDEX]):
            raise ValueError(f"found {len(names)} attributes, expected {len(arrays[INDEX])}")
        return cls(FeatureIndex.of_codes(arrays[INDEX]), names)

    @property
    def windows(self) -> NDArray[np.int64]:
        return np.ones(len(self.index), np.int64)

    def encode(self, sentences: Sequence[Sentence], threads: int = 1) -> Encoded:
        """Return the features of sentences with a column of attributes; uses one thread."""
        weights = [sentence.weight for sentence in sentences]
        tokens = [[_parse(token, sentence) for token in _column(sentence)] for sentence in sentences]
        return self.encode_attributes(tokens, weights)

    def encode_attributes(
        self, sentences: Sequence[Sequence[Attributes]], weights: Sequence[float] | None = None
    ) -> Encoded:
        """Encode tokens given as lists of attribute names, or as dicts from names to values.

        In a dict, a number (or bool) is the value of the attribute, a string is joined to its name (`name:string`),
        and nested dicts and lists are flattened the same way. Raises ValueError for a value of another kind (`None`).
        """
        names: list[str] = []
        values: list[float] = []
        ends = [0]
        for number, sentence in enumerate(sentences):
            for at, token in enumerate(sentence):
                try:
                    expand(token, names, values)
                except TypeError as error:
                    raise ValueError(f"sentence {number} of X, token {at}: {error}") from None
                ends.append(len(names))
        if self.index.frozen:
            features = np.array(list(map(self.numbers.get, names, repeat(-1))), np.int32)
        else:
            features = self._numbered(names)
        ptr = np.array([0, *accumulate(map(len, sentences))], np.int64)
        factors, tokens, none = np.array(values, np.float64), len(ends) - 1, np.zeros(0, np.int64)
        return Encoded(
            evidence=Evidence.unknown(ptr, None if weights is None else np.array(weights, np.float64)),
            word_types=np.arange(tokens, dtype=np.int32),
            type_ptr=np.array(ends, np.int64),
            type_features=features,
            type_values=np.zeros(0) if (factors == 1).all() else factors,
            grams=np.zeros((tokens, 0), np.int32),
            lead=0,
            low=none,
            high=none,
        )

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Return the numbers of attributes in a frozen index: a dict, since hashing codes takes longer than scoring."""
        return {name: number for number, name in enumerate(self.names)}

    def _numbered(self, names: list[str]) -> NDArray[np.int32]:
        """Return the features of attributes in a growing index, which adds unknown ones."""
        if strange := next((name for name in set(names) if not is_text(name)), None):
            raise ValueError(f"found half of a surrogate pair in the attribute {strange!r}, expected Unicode text")
        distinct: dict[str, int] = {}
        order = np.fromiter((distinct.setdefault(name, len(distinct)) for name in names), np.int64, len(names))
        codes = FormColumns(list(distinct)).form()
        features = self.index.ids(codes[order] if len(order) else np.zeros(0, np.uint64))
        distinct_names, ids, before = list(distinct), np.full(len(distinct), -1, np.int64), len(self.names)
        ids[order] = features
        self.names.extend([""] * (len(self.index) - before))
        for at in np.flatnonzero(ids >= before):
            self.names[ids[at]] = distinct_names[at]
        return features

    def growing(self, counts: NDArray[np.int64]) -> Self:
        return type(self)(self.index.growing(counts), self.names)

    def freeze(self, encoded: Encoded, minimum_count: int = 1) -> NDArray[np.int64]:
        counts = self.index.counts[: len(self.index)]
        new = self.index.freeze(minimum_count)
        if (new < 0).any():
            self.names = [name for name, number in zip(self.names, new.tolist(), strict=True) if number >= 0]
            hashing.renumber(encoded.type_features, new)
        return counts[new >= 0]

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {INDEX: self.index.codes(), "index.attributes": text_array(self.names)}


def expand(token: Attributes, names: list[str], values: list[float], prefix: str = "") -> None:
    """Add attribute names and values of one token, nested names joined by colons (sklearn-crfsuite); bytes are text.

    Raises TypeError for what is neither text nor a number.
    """
    if not isinstance(token, dict | Mapping):  # dict first: the check against Mapping is slower
        items = token if type(token) is list else list(token)
        if not _TEXT.issuperset(map(type, items)):
            items = list(map(decoded, items))
            if missing := [item for item in items if is_missing(item)]:
                raise TypeError(f"found {missing[0]!r} as an attribute, expected text; leave it out")
        names.extend([f"{prefix}{name}" for name in items] if prefix else map(str, items))
        values.extend([1.0] * (len(names) - len(values)))
        return
    if bytes in map(type, token) or bytes in map(type, token.values()):
        token = {decoded(name): decoded(value) for name, value in token.items()}
    for name, value in token.items():
        value_type = type(value)
        if value_type is str or isinstance(value, str):
            names.append(f"{prefix}{name}:{value}")
            values.append(1.0)
        elif value_type not in _PLAIN and isinstance(value, Iterable):
            expand(value, names, values, f"{prefix}{name}:")
        else:
            names.append(f"{prefix}{name}")
            try:
                values.append(float(value))
            except TypeError:
                expected = "text, a number, or a list or dict of these; leave it out"
                raise TypeError(f"found {value!r} as the value of {prefix + name!r}, expected {expected}") from None


def _column(sentence: Sentence) -> tuple[str, ...]:
    if ATTRIBUTES not in sentence.columns:
        raise CorpusError(
            "no attributes", "a corpus of attribute lists, as the model was trained on", *sentence.location
        )
    return sentence.columns[ATTRIBUTES]


def _parse(token: str, sentence: Sentence) -> dict[str, float]:
    """Return the weight of each attribute of a token; weights of the same attribute are added."""
    attributes: dict[str, float] = {}
    for name, weight in weighted(token, sentence.location):
        attributes[name] = attributes.get(name, 0.0) + weight
    return attributes
