"""Words of lexicons in raw text (liu-2014, section 2.1): forward and backward maximum matching, and their agreement.

Forward maximum matching goes through a text from left to right and takes at each place the longest entry that begins
there. Backward maximum matching is the same with text and entries reversed. Where both find the same word it is more
certain than where only one does, and so it is where several lexicons agree.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.sentence import Candidates
from tagweave.evidence.lexicon import Lexicon

_POINTS = 0x110000
_RUN = ("Lu", "Ll", "Lt", "Nd", "Mn")

SCHEMES = ("agreement", "forward", "backward")
"""Which maximum matching has to find a word; `agreement`: both."""
AGREES = ("all", "any")
"""How many of the lexicons have to find a word."""


class Spans(NamedTuple):
    """Words in a text, from left to right.

    points[start[k]:stop[k]] is the word with the number word[k]; int64[K], int64[K], int32[K].
    """

    start: NDArray[np.int64]
    stop: NDArray[np.int64]
    word: NDArray[np.int32]

    def only(self, chosen: slice | NDArray[Any]) -> Spans:
        """Some of the spans, by a slice, a mask or their numbers."""
        return Spans(self.start[chosen], self.stop[chosen], self.word[chosen])


def code_points(text: str) -> NDArray[np.uint32]:
    """uint32[n], one a character."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


@cache
def run_characters() -> NDArray[np.bool_]:
    """bool[code points]: letters that have case, digits, and marks on them, of which several in a row are one run."""
    category = unicodedata.category
    return np.fromiter((category(chr(point)) in _RUN for point in range(_POINTS)), np.bool_, _POINTS)


class Trie:
    """The words of a lexicon, laid out for `tagweave.kernels.matching`.

    Args:
        words: different, non-empty.
        numbers: what a match of each word is called.
    """

    def __init__(self, words: Sequence[str], numbers: Sequence[int]) -> None:
        from tagweave.kernels.matching import NONE, count_nodes, grow

        order = sorted(range(len(words)), key=words.__getitem__)
        points = code_points("".join(words[i] for i in order))
        lengths = np.fromiter((len(words[i]) for i in order), np.int64, len(order))
        ptr = np.concatenate([[0], np.cumsum(lengths)])
        common, counts = np.zeros(len(order), np.int64), np.zeros(lengths.max(initial=0) + 2, np.int64)
        count_nodes(points, ptr, common, counts)
        size, following = int(counts.sum()), np.cumsum(counts) - counts
        following = np.append(following, size)
        self.root = np.full(_POINTS, NONE, np.int32)
        self.label, self.word = np.empty(size, np.int32), np.empty(size, np.int32)
        self.child = np.empty(size + 1, np.int32)
        chosen = np.array([numbers[i] for i in order], np.int32)
        grow(points, ptr, common, following, chosen, self.label, self.child, self.word, self.root)

    def match(self, points: NDArray[np.uint32]) -> Spans:
        """The words that maximum matching finds from left to right, none overlapping another."""
        from tagweave.kernels.matching import match

        return self._spans(match, points, len(points))

    def occurrences(self, points: NDArray[np.uint32]) -> Spans:
        """All occurrences of all words in the text, overlapping others or not."""
        from tagweave.kernels.matching import occurrences

        return self._spans(occurrences, points, len(points))

    def _spans(self, kernel: Callable[..., int], points: NDArray[np.uint32], room: int) -> Spans:
        """What a kernel of the trie finds, with room for so many spans at first."""
        spans = Spans(np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int32))
        found = kernel(points, run_characters(), self.root, self.label, self.child, self.word, *spans)
        return spans.only(slice(found)) if found <= room else self._spans(kernel, points, found)


@dataclass(frozen=True)
class LexiconMatcher:
    """Finds the words of lexicons in text.

    No word begins or ends inside a run of letters that have case (Latin, Greek, Cyrillic) and digits: `AI` is not in
    `MAIL` nor in `AI5`. Words of other scripts are found anywhere.

    Args:
        lexicons: one or more.
        scheme: one of `SCHEMES`.
        minimum: entries of fewer characters are not used.
        agree: one of `AGREES`. With `any`, words of different lexicons that overlap are left out.
        phrases: entries of so many characters and more may be several words: where one begins and ends a word does,
            but nothing is said of its inside, nor of its tags. `None`: every entry is one word.

    Raises:
        ValueError: an unknown scheme or agreement.
    """

    lexicons: tuple[Lexicon, ...]
    scheme: str = "agreement"
    minimum: int = 2
    agree: str = "all"
    phrases: int | None = None

    def __post_init__(self) -> None:
        if self.scheme not in SCHEMES:
            raise ValueError(f"unknown matching {self.scheme!r}, expected one of {', '.join(SCHEMES)}")
        if self.agree not in AGREES:
            raise ValueError(f"unknown agreement {self.agree!r}, expected one of {', '.join(AGREES)}")

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of all lexicons; their places are the numbers of `Spans`."""
        return tuple(dict.fromkeys(word for lexicon in self.lexicons for word in lexicon.words))

    @cached_property
    def has_tags(self) -> bool:
        """Whether any lexicon has tags."""
        return any(lexicon.has_tags for lexicon in self.lexicons)

    @cached_property
    def tags(self) -> tuple[Candidates, ...]:
        """Per word its tags: where all lexicons have to agree, those that all of them allow, else those of any of them.

        `None` where no lexicon gives tags, or they have none in common.
        """
        given: dict[str, list[tuple[str, ...]]] = {}
        for lexicon in self.lexicons:
            for word, candidates in zip(lexicon.words, lexicon.tags, strict=True):
                if candidates is not None:
                    given.setdefault(word, []).append(candidates)
        return tuple(self._joined(given[word]) if word in given else None for word in self.words)

    def is_phrase(self, spans: Spans) -> NDArray[np.bool_]:
        """bool[K]: which of the spans may be several words."""
        longest = np.inf if self.phrases is None else self.phrases - 1
        return np.asarray(spans.stop - spans.start > longest)

    def _joined(self, sets: Sequence[tuple[str, ...]]) -> Candidates:
        named = dict.fromkeys(tag for candidates in sets for tag in candidates)
        if self.agree == "all":
            named = {tag: None for tag in named if all(tag in candidates for candidates in sets)}
        return tuple(named) or None

    @cached_property
    def _tries(self) -> tuple[tuple[Trie | None, Trie | None], ...]:
        """Of every lexicon the trie of its words and that of its words reversed, if needed."""
        number = {word: i for i, word in enumerate(self.words)}
        tries = []
        for lexicon in self.lexicons:
            words = [word for word in lexicon.words if len(word) >= self.minimum]
            numbers = [number[word] for word in words]
            forward = Trie(words, numbers) if self.scheme != "backward" else None
            backward = Trie([word[::-1] for word in words], numbers) if self.scheme != "forward" else None
            tries.append((forward, backward))
        return tuple(tries)

    def spans(self, points: NDArray[np.uint32]) -> Spans:
        """The words in a text, which may be many lines: no word contains a line break."""
        found = []
        reverse = np.ascontiguousarray(points[::-1])
        for forward, backward in self._tries:
            sides = [forward.match(points)] if forward else []
            sides += [_turned(backward.match(reverse), len(points))] if backward else []
            found.append(common(sides))
        return common(found) if self.agree == "all" else united(found)


def _turned(spans: Spans, length: int) -> Spans:
    """Spans of the reversed text as spans of the text."""
    return Spans(length - spans.stop, length - spans.start, spans.word).only(slice(None, None, -1))


def common(found: Sequence[Spans]) -> Spans:
    """The spans that all have (liu-2014, 2.1: recognised as words by all methods)."""
    first, *others = found
    for other in others:
        at = np.searchsorted(other.start, first.start)
        at[at == len(other.start)] = 0
        same = (other.start[at] == first.start) & (other.stop[at] == first.stop) if len(other.start) else at < 0
        first = first.only(same)
    return first


def united(found: Iterable[Spans]) -> Spans:
    """The spans that any has, without those that overlap another: they contradict each other."""
    every = Spans(*(np.concatenate(arrays) for arrays in zip(*found, strict=True)))
    _, first = np.unique(np.stack([every.start, every.stop]), axis=1, return_index=True)
    every = every.only(first)
    if not len(every.start):
        return every
    before = np.concatenate([[-1], np.maximum.accumulate(every.stop)[:-1]])
    after = np.append(every.start[1:], every.stop[-1])
    return every.only((every.start >= before) & (every.stop <= after))
