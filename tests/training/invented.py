"""A tiny treebank of invented words under two guidelines.

Under `content`, adpositions and auxiliaries depend on what they go with; under `function` it is the reverse.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Arc, Sentence

_SYLLABLES = ("ba", "de", "ki", "lo", "mu", "ra", "se", "to")
_SIZES = {"NOUN": 12, "VERB": 8, "ADJ": 6, "DET": 2, "ADP": 3, "AUX": 2, "PUNCT": 1}
_WORDS = {
    tag: tuple(first + second + tag[0].lower() for first in _SYLLABLES for second in _SYLLABLES)[:size]
    for tag, size in _SIZES.items()
}


def treebank(count: int, seed: int = 0) -> tuple[Corpus, Corpus]:
    """So many sentences, under `content` and under `function`."""
    rng = random.Random(seed)
    drafts = [_Draft(rng) for _ in range(count)]
    for draft in drafts:
        draft.write()
    content = Corpus(tuple(draft.under("content", draft.content) for draft in drafts), "content")
    function = Corpus(tuple(draft.under("function", draft.function) for draft in drafts), "function")
    return content, function


@dataclass
class _Draft:
    """A sentence that grows to the right: its tokens from 1 on, and by token the arcs of both guidelines."""

    rng: random.Random
    forms: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    content: dict[int, Arc] = field(default_factory=dict)
    function: dict[int, Arc] = field(default_factory=dict)

    def write(self) -> None:
        """Subject, verb with or without an auxiliary, object, phrase, and a full stop."""
        subject = self._noun_phrase()
        auxiliary = self._token("AUX") if self._happens(0.5) else None
        verb = self._token("VERB")
        root = self._pair(auxiliary, verb, (0, 0), "root", "aux")
        self._attach(subject, (verb, root), "nsubj")
        if self._happens(0.7):
            self._attach(self._noun_phrase(), (verb, verb), "obj")
        if self._happens(0.4):
            self._phrase((verb, verb), "obl")
        self._attach(self._token("PUNCT"), (verb, root), "punct")

    def under(self, guideline: str, arcs: dict[int, Arc]) -> Sentence:
        """The sentence with the arcs of a guideline."""
        tags, layer = tuple((tag,) for tag in self.tags), tuple((arcs[at + 1],) for at in range(len(arcs)))
        return Sentence(tuple(self.forms), {"upos": tags}, heads={guideline: layer})

    def _noun_phrase(self) -> int:
        """The number of its noun, which is not attached yet."""
        before = [(tag, name) for tag, name in (("DET", "det"), ("ADJ", "amod")) if self._happens(0.5)]
        numbers = [(self._token(tag), name) for tag, name in before]
        noun = self._token("NOUN")
        for number, name in numbers:
            self._attach(number, (noun, noun), name)
        if self._happens(0.3):
            self._phrase((noun, noun), "nmod")
        return noun

    def _phrase(self, heads: tuple[int, int], relation: str) -> None:
        """An adposition with its nouns."""
        adposition = self._token("ADP")
        self._pair(adposition, self._noun_phrase(), heads, relation, "case")

    def _pair(self, function: int | None, content: int, heads: tuple[int, int], relation: str, functional: str) -> int:
        """A function word and its content word, attached to a head under each guideline; gives the second's top."""
        if function is None:
            self._attach(content, heads, relation)
            return content
        self.content[content], self.content[function] = Arc(heads[0], relation), Arc(content, functional)
        self.function[function], self.function[content] = Arc(heads[1], relation), Arc(function, "comp")
        return function

    def _attach(self, number: int, heads: tuple[int, int], relation: str) -> None:
        self.content[number], self.function[number] = Arc(heads[0], relation), Arc(heads[1], relation)

    def _token(self, tag: str) -> int:
        self.forms.append(self.rng.choice(_WORDS[tag]))
        self.tags.append(tag)
        return len(self.tags)

    def _happens(self, probability: float) -> bool:
        return self.rng.random() < probability
