"""What a model found, as the marks of a document, which annotation tools show."""

from __future__ import annotations

from collections.abc import Iterator

from tagweave.exchange.document import Mark
from tagweave.serve.messages import TextResult


def marks(result: TextResult) -> Iterator[Mark]:
    """The spans of a result; of labels that code none, the tokens. Probabilities are at least a millionth."""
    offsets, numbers = result.offsets or [], result.probabilities or []
    if result.spans is not None:
        for each in result.spans:
            if each.start is not None and each.end is not None:
                yield Mark(each.start, each.end, each.label, _probability(each.probability))
        return
    for at, label in enumerate(result.labels or ()):
        number = numbers[at] if at < len(numbers) else None
        yield Mark(*offsets[at], label, _probability(number))


def _probability(number: object) -> float:
    return min(1.0, max(number, 1e-6)) if isinstance(number, float) else 1.0
