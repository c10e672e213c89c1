"""A simulated language of freer word order: phrases of a treebank moved out of the phrase that they belong to.

The words, tags and arcs of a sentence stay, their order changes; arcs into what has been moved then cross others.

- Modifiers after a noun go to the end of the phrase above ("a talk was given on trees"), as in German.
- Objects and adverbials of a verb below another verb go to its front ("trees I want to talk about").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Arc, Sentence

_BACK = ("nmod", "acl", "appos", "advcl")
_FRONT = ("obj", "obl", "advmod")
_CLAUSES = ("xcomp", "ccomp", "acl", "advcl")


def extraposed(corpus: Corpus, share: float, seed: int = 0) -> Corpus:
    """The corpus with a random share of the phrases moved that can be; every head must be known."""
    random = np.random.default_rng(seed)
    return corpus.map(lambda sentence: _moved(sentence, corpus.guideline, share, random))


def _moved(sentence: Sentence, layer: str, share: float, random: np.random.Generator) -> Sentence:
    arcs = [(each or (Arc(0, None),))[0] for each in sentence.heads[layer]]
    heads, relations = [arc.head or 0 for arc in arcs], [(arc.relation or "").partition(":")[0] for arc in arcs]
    order = list(range(1, len(arcs) + 1))
    for word, head in enumerate(heads, 1):
        above = heads[head - 1] if head else 0
        if above == 0 or random.random() >= share:
            continue
        if relations[word - 1] in _BACK and head < word:
            _move(order, _phrase(heads, word), _phrase(heads, above), relations, to_front=False)
        elif relations[word - 1] in _FRONT and relations[head - 1] in _CLAUSES:
            _move(order, _phrase(heads, word), _phrase(heads, above), relations, to_front=True)
    return _reordered(sentence, layer, order)


def _phrase(heads: Sequence[int], top: int) -> set[int]:
    """A word and all below it."""
    found, size = {top}, 0
    while len(found) > size:
        size = len(found)
        found |= {word for word, head in enumerate(heads, 1) if head in found}
    return found


def _move(order: list[int], moved: set[int], phrase: set[int], relations: Sequence[str], to_front: bool) -> None:
    """Move words to the front of a phrase, or behind its last word that is not punctuation."""
    words = [word for word in order if word in moved]
    rest = [word for word in order if word not in moved]
    places = [at for at, word in enumerate(rest) if word in phrase and relations[word - 1] != "punct"]
    at = min(places) if to_front else max(places) + 1
    order[:] = [*rest[:at], *words, *rest[at:]]


def _reordered(sentence: Sentence, layer: str, order: Sequence[int]) -> Sentence:
    """The tokens of a sentence, numbered from 1, in another order."""
    place: Mapping[int, int] = {0: 0} | {word: at for at, word in enumerate(order, 1)}
    arcs = [(sentence.heads[layer][word - 1] or (Arc(0, None),))[0] for word in order]
    return replace(
        sentence,
        forms=tuple(sentence.forms[word - 1] for word in order),
        layers={name: tuple(values[word - 1] for word in order) for name, values in sentence.layers.items()},
        columns={name: tuple(values[word - 1] for word in order) for name, values in sentence.columns.items()},
        heads={layer: tuple((Arc(place[arc.head or 0], arc.relation),) for arc in arcs)},
        comments=(),
        extra_rows=(),
    )
