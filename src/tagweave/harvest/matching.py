"""Finding words of lexicons in raw text by forward and backward maximum matching (liu-2014, section 2.1).

Forward maximum matching scans a text from left to right and takes at each position the longest entry that begins there.
Backward maximum matching does the same with text and entries reversed. A word that both find is more certain than one
that only one finds, and so is a word on which several lexicons agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.sentence import Candidates
from tagweave.harvest.lexicon import Lexicon
from tagweave.harvest.options import LexiconOptions, check_matching
from tagweave.kernels.trie import Spans, Trie


@dataclass(frozen=True)
class LexiconMatcher:
    """Finds the words of lexicons in text.

    No word begins or ends inside a run of cased letters (Latin, Greek, Cyrillic) and digits: `AI` is neither in `MAIL`
    nor in `AI5`. Words of other scripts are found anywhere.

    Args:
        lexicons: one or more lexicons.
        matching, minimum, agree: as in `LexiconOptions`.
        phrases: entries of at least so many characters may be several words: a word begins and ends where they do, but
            their inside and their tags are unknown. `None`: every entry is one word.

    Raises:
        HarvestError: an unknown matching or agreement.
    """

    lexicons: tuple[Lexicon, ...]
    matching: str = LexiconOptions.matching
    minimum: int = LexiconOptions.minimum
    agree: str = LexiconOptions.agree
    phrases: int | None = LexiconOptions.phrases

    def __post_init__(self) -> None:
        check_matching(self.matching, self.agree)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of all lexicons; `Spans` refer to them by position."""
        return tuple(dict.fromkeys(word for lexicon in self.lexicons for word in lexicon.words))

    @cached_property
    def has_tags(self) -> bool:
        """Whether any lexicon has tags."""
        return any(lexicon.has_tags for lexicon in self.lexicons)

    @cached_property
    def tags(self) -> tuple[Candidates, ...]:
        """The tags of each word: if all lexicons must agree, those that all of them give, otherwise those of any.

        `None` if no lexicon gives tags, or they have none in common.
        """
        given: dict[str, tuple[tuple[str, ...], ...]] = {}
        for lexicon in self.lexicons:
            for word, candidates in zip(lexicon.words, lexicon.tags, strict=True):
                if candidates is not None:
                    given[word] = (*given.get(word, ()), candidates)
        joined = cache(self._joined)  # a few sets, of very many words
        return tuple(joined(given[word]) if word in given else None for word in self.words)

    def is_phrase(self, spans: Spans) -> NDArray[np.bool_]:
        """bool[K]: whether each span may be several words."""
        longest = np.inf if self.phrases is None else self.phrases - 1
        return np.asarray(spans.stop - spans.start > longest)

    def _joined(self, sets: Sequence[tuple[str, ...]]) -> Candidates:
        named = dict.fromkeys(tag for candidates in sets for tag in candidates)
        if self.agree == "all":
            named = {tag: None for tag in named if all(tag in candidates for candidates in sets)}
        return tuple(named) or None

    @cached_property
    def _tries(self) -> tuple[tuple[Trie | None, Trie | None], ...]:
        """For every lexicon the tries of its words and of its words reversed, if needed."""
        number = {word: i for i, word in enumerate(self.words)}
        tries = []
        for lexicon in self.lexicons:
            words = [word for word in lexicon.words if len(word) >= self.minimum]
            numbers = [number[word] for word in words]
            forward = Trie(words, numbers) if self.matching != "backward" else None
            backward = Trie([word[::-1] for word in words], numbers) if self.matching != "forward" else None
            tries.append((forward, backward))
        return tuple(tries)

    def spans(self, points: NDArray[np.uint32]) -> Spans:
        """The words in a text, which may have many lines: no word contains a line break."""
        by_lexicon = []
        reverse = np.ascontiguousarray(points[::-1])
        for forward, backward in self._tries:
            sides = [forward.match(points)] if forward else []
            sides += [_reversed(backward.match(reverse), len(points))] if backward else []
            by_lexicon.append(common(sides))
        return common(by_lexicon) if self.agree == "all" else united(by_lexicon)


def _reversed(spans: Spans, length: int) -> Spans:
    """Spans of the reversed text as spans of the text."""
    return Spans(length - spans.stop, length - spans.start, spans.word).only(slice(None, None, -1))


def common(found: Sequence[Spans]) -> Spans:
    """The spans in all of these (liu-2014, 2.1: recognised as words by all methods)."""
    first, *others = found
    for other in others:
        at = np.searchsorted(other.start, first.start)
        at[at == len(other.start)] = 0
        same = (other.start[at] == first.start) & (other.stop[at] == first.stop) if len(other.start) else at < 0
        first = first.only(same)
    return first


def united(found: Iterable[Spans]) -> Spans:
    """The spans in any of these, except those that overlap, since they contradict each other."""
    every = Spans(*(np.concatenate(arrays) for arrays in zip(*found, strict=True)))
    _, first = np.unique(np.stack([every.start, every.stop]), axis=1, return_index=True)
    every = every.only(first)
    if not len(every.start):
        return every
    before = np.concatenate([[-1], np.maximum.accumulate(every.stop)[:-1]])
    after = np.append(every.start[1:], every.stop[-1])
    return every.only((every.start >= before) & (every.stop <= after))
