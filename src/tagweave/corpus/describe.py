"""Statistics of a corpus, and words in their context."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from tagweave.corpus.chunk_schemes import codes_chunks, convert, readable, standard_labels
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Candidates, Location, Sentence
from tagweave.errors import CorpusError


@dataclass(frozen=True, slots=True)
class LayerDescription:
    """The known part of a layer. Labels and types are counted, the most frequent first."""

    labels: Mapping[str, int]  # that are the only candidate
    candidates: Mapping[str, int]  # labels that are one of several
    full: int  # positions with one candidate
    ambiguous: int
    unknown: int  # with all positions of sentences without the layer
    spans: Mapping[str, int]  # that certainly begin, by type, if the labels code spans
    rejected: int = 0  # spans that are known not to be there

    @property
    def positions(self) -> int:
        return self.full + self.ambiguous + self.unknown

    def share(self, count: int) -> float:
        """Return a count (`full`, `ambiguous` or `unknown`) as a share of all positions; 0 if there are none."""
        return count / self.positions if self.positions else 0.0


@dataclass(frozen=True, slots=True)
class CorpusDescription:
    """Statistics of a corpus, its layers of labels, and its head layers."""

    sentences: int
    tokens: int
    forms: int  # different ones
    layers: Mapping[str, LayerDescription]
    heads: Mapping[str, LayerDescription]  # whose labels are relations, `_` where the relation is unknown


def describe(corpus: Corpus) -> CorpusDescription:
    """Compute statistics of a corpus and all its layers."""
    layers: dict[str, Counter[Candidates]] = {}
    heads: dict[str, Counter[Candidates]] = {}
    rejected: Counter[str] = Counter()
    for sentence in corpus:
        for name, layer in sentence.layers.items():
            layers.setdefault(name, Counter()).update(layer)
        rejected.update({name: len(spans) for name, spans in sentence.rejected.items()})
        for name, arcs in sentence.heads.items():
            heads.setdefault(name, Counter()).update(
                None
                if candidates is None
                else tuple("_" if arc.relation is None else arc.relation for arc in candidates)
                for candidates in arcs
            )
    tokens = corpus.tokens()
    forms = {form for sentence in corpus for form in sentence.forms}
    of_labels = {
        name: _describe_layer(counts, tokens, _count_spans(corpus, name), rejected[name])
        for name, counts in layers.items()
    }
    of_heads = {name: _describe_layer(counts, tokens, {}, 0) for name, counts in heads.items()}
    return CorpusDescription(len(corpus), tokens, len(forms), of_labels, of_heads)


def _count_spans(corpus: Corpus, layer: str) -> dict[str, int]:
    """Count the spans of each type that certainly begin; none if the labels are no consistent code of spans."""
    annotated = corpus.with_sentences(sentence for sentence in corpus if layer in sentence.layers)
    if not codes_chunks(
        {label for sentence in annotated for candidates in sentence.layers[layer] for label in candidates or ()}
    ):
        return {}
    try:
        scheme = readable(annotated, layer)
        annotated = standard_labels(annotated, layer) if scheme == "IOB2" else convert(annotated, "IOB2", scheme, layer)
    except CorpusError:
        return {}
    single = (
        position[0]
        for sentence in annotated
        for position in sentence.layers[layer]
        if position is not None and len(position) == 1
    )
    return _ordered(Counter(label[2:] for label in single if label.startswith("B-")))


def _describe_layer(
    counts: Mapping[Candidates, int], tokens: int, spans: Mapping[str, int], rejected: int
) -> LayerDescription:
    counted = {candidates: count for candidates, count in counts.items() if candidates is not None}
    single = {candidates[0]: count for candidates, count in counted.items() if len(candidates) == 1}
    several: Counter[str] = Counter()
    for candidates, count in counted.items():
        if len(candidates) > 1:
            several.update(dict.fromkeys(candidates, count))
    full, total = sum(single.values()), sum(counted.values())
    return LayerDescription(_ordered(single), _ordered(several), full, total - full, tokens - total, spans, rejected)


def _ordered(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


WIDTH = 4
"""How many tokens are shown on either side of the word."""
_LEFT_OUT = "…"


@dataclass(frozen=True, slots=True)
class Context:
    """A token and its neighbours, `…` for tokens left out."""

    left: tuple[str, ...]
    word: str
    right: tuple[str, ...]
    position: int  # in the sentence; 1 is the first token
    location: Location = Location()  # of the sentence

    @classmethod
    def of(cls, sentence: Sentence, at: int, width: int = WIDTH) -> Context:
        """Return the token `at` (0 is the first) with up to `width` tokens on either side."""
        forms, start, stop = sentence.forms, max(0, at - width), at + 1 + width
        left, right = forms[start:at], forms[at + 1 : stop]
        before, after = (_LEFT_OUT,) * (start > 0), (_LEFT_OUT,) * (stop < len(forms))
        return cls((*before, *left), forms[at], (*right, *after), at + 1, sentence.location)

    def __str__(self) -> str:
        return " ".join((*self.left, f"[{self.word}]", *self.right))

    @property
    def source(self) -> str:
        path, line = self.location
        return f"{path}:{line}" if line else path
