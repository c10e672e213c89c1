"""Models of Wapiti: CRFs and maximum entropy models whose features are attributes, or patterns over columns.

    #mdl#TYPE#WEIGHTS       0: maximum entropy, 1: maximum entropy Markov model, 2: CRF; older files have no TYPE: a CRF
    #rdr#PATTERNS/COLUMNS/AUTO   as many lines with patterns follow; AUTO 1: "u" is put before every attribute
    LENGTH:TEXT,            in bytes
    #qrk#COUNT              the labels, then once more: the observations
    NUMBER=WEIGHT           the weights that are not 0, WEIGHT in hexadecimal

Weights are numbered through the observations: one that begins with "u" has a weight for each label, with "b" for each
pair of labels (before, label), with "*" both. Pairs of labels have weights here if one observation of every token has
them, such as the pattern `b`; if they depend on other attributes, the model is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.models.attribute_model import Weights, attribute_model
from tagweave.models.chain import ChainModel
from tagweave.models.wapiti_patterns import Pattern, text_of

_TYPES = {0: "maximum entropy", 1: "maximum entropy Markov", 2: "CRF"}
_MARKOV = 1
_CONSTANT = ("b", "*")
"""The observations of pairs of labels that data without patterns is expected to have at every token."""


@dataclass
class _Reader:
    """Reads the parts of a file one after the other."""

    data: bytes
    at: int = 0

    def line(self, pattern: bytes, expected: str) -> tuple[int, ...]:
        """The numbers of a line, which follows a pattern."""
        found = re.compile(pattern + rb"\n").match(self.data, self.at)
        if found is None:
            raise ValueError(f"{self.data[self.at : self.at + 40]!r} at byte {self.at}, expected {expected}")
        self.at = found.end()
        return tuple(int(group) for group in found.groups() if group is not None)

    def text(self) -> str:
        """A text after its length."""
        (length,) = self._length()
        end = self.at + length
        if self.data[end : end + 2] != b",\n":
            raise ValueError(f"a text of {length} bytes at byte {self.at}, expected a comma and a line end after it")
        text = text_of(self.data[self.at : end])
        self.at = end + 2
        return text

    def _length(self) -> tuple[int, ...]:
        found = re.compile(rb"(\d{1,9}):").match(self.data, self.at)
        if found is None:
            raise ValueError(f"{self.data[self.at : self.at + 40]!r} at byte {self.at}, expected a length and a colon")
        self.at = found.end()
        return (int(found.group(1)),)

    def texts(self, what: str) -> list[str]:
        """A list of texts after their number."""
        (count,) = self.line(rb"#qrk#(\d{1,9})", f"the number of {what}, `#qrk#...`")
        return [self.text() for _ in range(count)]


def model_of(data: bytes) -> ChainModel:
    """The model in the bytes of a file.

    Raises:
        ValueError: not such a model, a damaged one, or one of a kind that has no counterpart here.
    """
    reader = _Reader(data)
    *given, weights = reader.line(rb"#mdl#(?:(\d)#)?(\d{1,18})", "a model, `#mdl#...`")
    kind = given[0] if given else 2
    if kind not in _TYPES or kind == _MARKOV:
        raise ValueError(f"a model of the type {kind}, {_TYPES.get(kind, 'unknown')}, expected 0 or 2")
    counts = reader.line(rb"#rdr#(\d{1,6})/\d{1,9}(?:/(\d))?", "the patterns, `#rdr#...`")
    patterns = [Pattern.of(reader.text()) for _ in range(counts[0])]
    labels, observations = reader.texts("labels"), reader.texts("observations")
    number, value = _weights(data[reader.at :], weights)
    constant = [each.text for each in patterns if each.is_constant] if patterns else _CONSTANT
    automatic = counts[1:] == (1,)
    return _assembled(labels, observations, number, value, tuple(constant), automatic, [each.text for each in patterns])


def _weights(data: bytes, count: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The numbers and values of the weights."""
    lines = data.split()
    if len(lines) != count:
        raise ValueError(f"{len(lines)} weights, expected {count}, as the file begins")
    pairs = [line.partition(b"=") for line in lines]
    try:
        number = np.array([int(number) for number, _, _ in pairs], np.int64)
        return number, np.array([float.fromhex(value.decode("ascii")) for _, _, value in pairs])
    except (ValueError, OverflowError) as error:
        raise ValueError(f"a weight that cannot be read ({error}), expected NUMBER=HEXADECIMAL") from None


def _assembled(
    labels: list[str],
    observations: list[str],
    number: NDArray[np.int64],
    value: NDArray[np.float64],
    constant: tuple[str, ...],
    automatic: bool,
    patterns: list[str],
) -> ChainModel:
    """The model of weights by number."""
    Y = len(labels)
    kinds = [each[:1] for each in observations]
    singles, doubles = (np.array([kind in own for kind in kinds], bool) for own in (("u", "*"), ("b", "*")))
    if not (singles | doubles).all():
        wrong = observations[int((singles | doubles).argmin())]
        raise ValueError(f"the observation {wrong!r}, expected one that begins with u, b or *")
    ends = np.cumsum(singles * Y + doubles * Y * Y)
    if len(number) and not 0 <= number.min() <= number.max() < (ends[-1] if len(ends) else 0):
        raise ValueError(f"a weight of number {number.max()}, expected numbers below {ends[-1] if len(ends) else 0}")
    of = np.searchsorted(ends, number, side="right")
    place = number - (ends - singles * Y - doubles * Y * Y)[of] if len(number) else number
    of_pair = ~singles[of] | (place >= Y) if len(number) else np.zeros(0, bool)
    if used := {observations[i] for i in of[of_pair].tolist()} - set(constant):
        raise ValueError(
            f"weights of pairs of labels that depend on the observation {min(used)!r}, expected those of every token:"
            f" {' '.join(constant) or 'none'}"
        )
    pair = place[of_pair] - singles[of[of_pair]] * Y
    states = Weights(of[~of_pair], place[~of_pair], value[~of_pair])
    names = [each.removeprefix("u") for each in observations] if automatic else observations
    about: dict[str, Any] = {"program": "Wapiti", **({"patterns": patterns} if patterns else {})}
    return attribute_model(labels, names, states, _summed(pair, value[of_pair], Y), about)


def _summed(pair: NDArray[np.int64], value: NDArray[np.float64], labels: int) -> Weights:
    """The weights of pairs of labels, summed over observations."""
    distinct, inverse = np.unique(pair, return_inverse=True)
    totals = np.zeros(len(distinct))
    np.add.at(totals, inverse, value)
    return Weights(distinct // max(1, labels), distinct % max(1, labels), totals)
