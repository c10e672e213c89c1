"""What a labelling function is, and the labels that it finds as a layer.

A function says something of some tokens and abstains on all others: these are unknown. Only a function that is declared
with `outside` says `O` of every token in none of its spans.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from tagweave import __version__
from tagweave.corpus.describe import digest
from tagweave.corpus.errors import CorpusError
from tagweave.corpus.sentence import Candidates, Layer, Sentence
from tagweave.corpus.soft import Soft
from tagweave.corpus.spans import OUTSIDE

SPANS, TAGS = "spans", "tags"
"""What functions of a file find: spans, coded in IOB2, or labels of single tokens."""


class FunctionError(ValueError):
    """A labelling function that cannot be read or applied, or gives what is no labels."""


class LabellingFunction(Protocol):
    """A source of labels that is computed.

    Attributes:
        name: the name of its layer.
    """

    @property
    def name(self) -> str:
        """The name of its layer."""
        ...

    def digest(self) -> str | None:
        """A digest of all that determines its answers; `None`: nobody knows, and nothing can be kept.

        Raises:
            OSError: a file that it needs cannot be read.
        """
        ...

    def check(self, sentences: Sequence[Sentence]) -> None:
        """Raise if the function does not fit the text as a whole."""
        ...

    def layers(self, sentences: Sequence[Sentence]) -> list[Layer]:
        """What it says of each sentence. Sentences have forms and columns, and no labels."""
        ...


class FoundSpan(NamedTuple):
    """The tokens start .. stop - 1, the types that the span may have, and the probability that it is one of these."""

    start: int
    stop: int
    types: tuple[str, ...]
    probability: float = 1.0


def layer_of(spans: Iterable[FoundSpan], length: int, outside: bool, task: str = SPANS) -> Layer:
    """The labels of spans in IOB2, or with `TAGS` their types as the labels of each token.

    Of spans that overlap, the longest counts, and of equally long ones the first. A span with a probability below 1 is
    either one or, with the rest of the probability, nothing.

    Raises:
        CorpusError: a span without tokens, or beyond the sentence; a probability that is not above 0 and at most 1.
    """
    labels: list[Candidates] = [(OUTSIDE,) if outside else None] * length
    taken = bytearray(length)
    for span in sorted(spans, key=lambda each: (each.start - each.stop, each.start)):
        if not 0 <= span.start < span.stop <= length:
            raise CorpusError(f"the span {span.start}:{span.stop}", f"tokens from 0 to {length}")
        if not 0 < span.probability <= 1:
            raise CorpusError(f"the probability {span.probability}", "a number above 0, and at most 1")
        if any(taken[span.start : span.stop]):
            continue
        taken[span.start : span.stop] = b"\1" * (span.stop - span.start)
        for at in range(span.start, span.stop):
            place = "" if task == TAGS else "I-" if at > span.start else "B-"
            labels[at] = _weighted(tuple(f"{place}{each}" for each in span.types), span.probability)
    return tuple(labels)


def _weighted(names: tuple[str, ...], probability: float) -> tuple[str, ...]:
    """The labels, and `O` with the rest of the probability, the most probable first."""
    if probability == 1:
        return names
    shares = {**dict.fromkeys(names, probability / len(names)), OUTSIDE: 1 - probability}
    ordered = sorted(shares.items(), key=lambda item: -item[1])
    return Soft((name for name, _ in ordered), (round(share, 6) for _, share in ordered))


def digest_of(function: Any, *paths: str) -> str:
    """The digest of a declared function: its class and fields but the name, and the bytes of files.

    Raises:
        OSError: a file cannot be read.
    """
    own = {each.name: getattr(function, each.name) for each in fields(function) if each.name != "name"}
    text = json.dumps([__version__, type(function).__name__, own], sort_keys=True, ensure_ascii=False)
    contents = [digest(path) for path in paths]
    return hashlib.sha256("\n".join([text, *contents]).encode()).hexdigest()


def stamp(path: str) -> tuple[int, int]:
    """What changes when a file does: its time of change and its size. Raises OSError without the file."""
    about = Path(path).stat()
    return about.st_mtime_ns, about.st_size
