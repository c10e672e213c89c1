"""Simulated people who mark spans: they miss some, take one type for another, get boundaries wrong, and mark too much.

Priors are chosen on these, never on the answers of real people that they are then scored by.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from tagweave.corpus.sentence import Sentence

Spans = list[tuple[int, int, str]]
Beta = tuple[float, float]


@dataclass(frozen=True)
class Crowd:
    """How many people there are, and how they err: each rate of a person is drawn from a Beta distribution.

    Attributes:
        people: how many.
        answers: how many people see a document, on average.
        document: how many sentences a document has.
        miss: a span is not marked.
        mistype: a span that is marked gets another type, mostly the one that this person prefers.
        shift: a boundary of a span is wrong by a token.
        split: every token of a span becomes a span.
        spurious: a span is marked where a token outside of spans is.
    """

    people: int = 47
    answers: float = 5
    document: int = 14
    miss: Beta = (2, 4)
    mistype: Beta = (1, 8)
    shift: Beta = (1, 8)
    split: Beta = (1, 30)
    spurious: Beta = (1, 150)


class _Person:
    """One of a crowd."""

    def __init__(self, crowd: Crowd, types: Sequence[str], random: Generator) -> None:
        self._types, self._random = types, random
        self._miss = {each: random.beta(*crowd.miss) for each in types}
        self._mistype, self._shift = random.beta(*crowd.mistype), random.beta(*crowd.shift)
        self._split, self._spurious = random.beta(*crowd.split), random.beta(*crowd.spurious)
        self._prefers = {each: types[int(random.integers(len(types)))] for each in types}

    def marks(self, spans: Spans, size: int) -> list[str]:
        """The labels that this person gives to a sentence."""
        labels = ["O"] * size
        for start, stop, kind in [*self._own(spans, size), *self._extra(spans, size)]:
            if all(label == "O" for label in labels[start:stop]):
                labels[start:stop] = [f"B-{kind}"] + [f"I-{kind}"] * (stop - start - 1)
        return labels

    def _own(self, spans: Spans, size: int) -> Iterator[tuple[int, int, str]]:
        chance = self._random.random
        for first, last, kind in spans:
            if chance() < self._miss[kind]:
                continue
            start, stop, own = first, last, kind
            if chance() < self._mistype:
                own = self._prefers[kind] if chance() < 0.7 else self._any()
            if chance() < self._shift:
                moved = [(start + 1, stop), (start, stop - 1), (start - 1, stop), (start, stop + 1)]
                start, stop = moved[int(self._random.integers(4))]
            if 0 <= start < stop <= size:
                yield from (
                    [(t, t + 1, own) for t in range(start, stop)] if chance() < self._split else [(start, stop, own)]
                )

    def _extra(self, spans: Spans, size: int) -> Iterator[tuple[int, int, str]]:
        for start in np.flatnonzero(self._random.random(size) < self._spurious):
            stop = min(size, int(start) + int(self._random.integers(1, 4)))
            yield int(start), stop, self._any()

    def _any(self) -> str:
        return self._types[int(self._random.integers(len(self._types)))]


def _spans(sentence: Sentence, layer: str) -> Spans:
    """The spans of a layer, start, stop and type; it is certain everywhere."""
    found = (each for each, *_ in sentence.spans(layer))
    return [(each.start, each.stop, each.label) for each in found if each.stop and each.label not in (None, "O")]


def crowded(sentences: Sequence[Sentence], layer: str, crowd: Crowd, seed: int) -> tuple[list[Sentence], list[str]]:
    """The sentences with a layer for every person, and the names of these layers; people see whole documents."""
    random = np.random.default_rng(seed)
    types = sorted({kind for sentence in sentences for _, _, kind in _spans(sentence, layer)})
    people = [_Person(crowd, types, random) for _ in range(crowd.people)]
    busy = random.dirichlet(np.full(crowd.people, 0.7))
    names = [f"person{number}" for number in range(crowd.people)]
    marked = []
    for at in range(0, len(sentences), crowd.document):
        count = int(np.clip(random.poisson(crowd.answers), 1, crowd.people // 2))
        chosen = random.choice(crowd.people, count, replace=False, p=busy * 0.9 + 0.1 / crowd.people)
        for sentence in sentences[at : at + crowd.document]:
            spans = _spans(sentence, layer)
            for number in chosen:
                labels = people[number].marks(spans, len(sentence))
                sentence = sentence.with_layer(names[number], [(label,) for label in labels])  # noqa: PLW2901
            marked.append(sentence)
    return marked, names
