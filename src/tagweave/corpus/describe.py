"""Statistics of a corpus, and the digest by which a model identifies its training data."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from tagweave.corpus.chunk_labels import codes_chunks
from tagweave.corpus.chunk_schemes import convert, readable
from tagweave.corpus.errors import CorpusError
from tagweave.corpus.named.name import located

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tagweave.corpus.corpus import Corpus
    from tagweave.corpus.sentence import Arc


@dataclass(frozen=True, slots=True)
class LayerDescription:
    """How much of a layer is known.

    Attributes:
        labels: how often each label is the only candidate, the most frequent first.
        candidates: how often each label is one of several candidates, the most frequent first.
        full: positions with one candidate.
        ambiguous: positions with several.
        unknown: positions without candidates, including all positions of sentences without the layer.
        spans: if the labels code spans, how many certainly begin, by type, the most frequent first; else empty.
        rejected: how many spans are known not to be there.
    """

    labels: Mapping[str, int]
    candidates: Mapping[str, int]
    full: int
    ambiguous: int
    unknown: int
    spans: Mapping[str, int]
    rejected: int = 0

    @property
    def positions(self) -> int:
        """All positions: the tokens of the corpus."""
        return self.full + self.ambiguous + self.unknown

    def share(self, count: int) -> float:
        """The count (`full`, `ambiguous` or `unknown`) as a share of all positions, 0 if there are none."""
        return count / self.positions if self.positions else 0.0


@dataclass(frozen=True, slots=True)
class CorpusDescription:
    """Statistics of a corpus.

    Attributes:
        sentences, tokens: how many there are.
        forms: how many different forms there are.
        layers: a description of each layer of labels.
        heads: a description of each head layer; its labels are relations, `_` where the relation is unknown.
    """

    sentences: int
    tokens: int
    forms: int
    layers: Mapping[str, LayerDescription]
    heads: Mapping[str, LayerDescription]


def describe(corpus: Corpus) -> CorpusDescription:
    """Statistics of the corpus and all its layers."""
    layers: dict[str, Counter[tuple[str, ...] | None]] = {}
    heads: dict[str, Counter[tuple[str, ...] | None]] = {}
    rejected: Counter[str] = Counter()
    for sentence in corpus:
        for name, layer in sentence.layers.items():
            layers.setdefault(name, Counter()).update(layer)
        rejected.update({name: len(spans) for name, spans in sentence.rejected.items()})
        for name, arcs in sentence.heads.items():
            relations = (each if each is None else tuple(_relation(arc) for arc in each) for each in arcs)
            heads.setdefault(name, Counter()).update(relations)
    tokens = corpus.tokens()
    return CorpusDescription(
        sentences=len(corpus),
        tokens=tokens,
        forms=len({form for sentence in corpus for form in sentence.forms}),
        layers={
            name: _described(counts, tokens, _spans(corpus, name), rejected[name]) for name, counts in layers.items()
        },
        heads={name: _described(counts, tokens) for name, counts in heads.items()},
    )


def _relation(arc: Arc) -> str:
    return "_" if arc.relation is None else arc.relation


def _spans(corpus: Corpus, layer: str) -> dict[str, int]:
    """How many spans of each type the layer has; empty if its labels are no consistent code of spans."""
    own = corpus.with_sentences(sentence for sentence in corpus if layer in sentence.layers)
    if not codes_chunks({label for each in own for candidates in each.layers[layer] for label in candidates or ()}):
        return {}
    try:
        scheme = readable(own, layer)
        own = own if scheme == "IOB2" else convert(own, "IOB2", scheme, layer)
    except CorpusError:
        return {}
    single = (each[0] for sentence in own for each in sentence.layers[layer] if each is not None and len(each) == 1)
    return _ordered(Counter(label[2:] for label in single if label.startswith("B-")))


def _described(
    counts: Mapping[tuple[str, ...] | None, int],
    tokens: int,
    spans: Mapping[str, int] = MappingProxyType({}),
    rejected: int = 0,
) -> LayerDescription:
    known = {candidates: count for candidates, count in counts.items() if candidates is not None}
    single = {candidates[0]: count for candidates, count in known.items() if len(candidates) == 1}
    several: Counter[str] = Counter()
    for candidates, count in known.items():
        if len(candidates) > 1:
            several.update(dict.fromkeys(candidates, count))
    full, total = sum(single.values()), sum(known.values())
    return LayerDescription(_ordered(single), _ordered(several), full, total - full, tokens - total, spans, rejected)


def _ordered(counts: Mapping[str, int]) -> dict[str, int]:
    items: Iterable[tuple[str, int]] = counts.items()
    return dict(sorted(items, key=lambda item: (-item[1], item[0])))


def digest(path: str) -> str:
    """The SHA-256 digest of the file's bytes, in hexadecimal.

    Raises:
        OSError: the file cannot be read.
    """
    with Path(located(path)).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
