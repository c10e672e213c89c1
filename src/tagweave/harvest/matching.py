"""Finding words of lexicons in raw text by forward and backward maximum matching (liu-2014, section 2.1).

Forward maximum matching scans a text from left to right and takes at each position the longest entry that begins there.
Backward maximum matching does the same with text and entries reversed. A word that both find is more certain than one
that only one finds, and so is a word on which several lexicons agree.

The characters of a word that was found are fixed to B M E or S (Figure 2). The character before it can only end a word
(E, S), the one after it can only begin one (B, S). Other labels are unknown, except that a sentence begins and ends
with a word. Of an entry that may be several words, only the ends are known, as of a marked span (section 2.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from sys import intern

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.characters import RAW_BLANKS
from tagweave.corpus.files import line_blocks
from tagweave.corpus.formats.kytea import SEGMENTATION, TAG, segmentation_layer
from tagweave.corpus.sentence import Candidates, Location, Sentence
from tagweave.harvest.lexicon import Lexicon
from tagweave.harvest.options import HarvestOptions, LexiconOptions
from tagweave.kernels.trie import Spans, Trie, code_points


@dataclass(frozen=True)
class LexiconMatcher:
    """Finds the words of lexicons in text.

    No word begins or ends inside a run of cased letters (Latin, Greek, Cyrillic) and digits: `AI` is neither in `MAIL`
    nor in `AI5`. Words of other scripts are found anywhere.

    Args:
        matching, minimum, agree: as in `LexiconOptions`.
        phrases: entries of at least this many characters may be several words: a word begins and ends where they do,
            but their inside and their tags are unknown. `None`: every entry without blanks is one word.
    """

    lexicons: tuple[Lexicon, ...]
    matching: str = LexiconOptions.matching
    minimum: int = LexiconOptions.minimum
    agree: str = LexiconOptions.agree
    phrases: int | None = LexiconOptions.phrases

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Return the words of all lexicons; `Spans` refer to them by position."""
        return tuple(dict.fromkeys(word for lexicon in self.lexicons for word in lexicon.words))

    @cached_property
    def tags(self) -> tuple[Candidates, ...]:
        """Return the tags of each word: given by all lexicons if they must agree, otherwise by any.

        `None` if no lexicon gives tags, or they have none in common.
        """
        tags_of: dict[str, tuple[tuple[str, ...], ...]] = {}
        for lexicon in self.lexicons:
            for word, candidates in zip(lexicon.words, lexicon.tags, strict=True):
                if candidates is not None:
                    tags_of[word] = (*tags_of.get(word, ()), candidates)

        @cache  # a few sets, of very many words
        def joined(sets: tuple[tuple[str, ...], ...]) -> Candidates:
            named = dict.fromkeys(tag for candidates in sets for tag in candidates)
            if self.agree == "all":
                named = {tag: None for tag in named if all(tag in candidates for candidates in sets)}
            return tuple(named) or None

        return tuple(joined(tags_of[word]) if word in tags_of else None for word in self.words)

    def is_phrase(self, spans: Spans) -> NDArray[np.bool_]:
        """Return bool[K]: whether each span may be several words."""
        longest = np.inf if self.phrases is None else self.phrases - 1
        return np.asarray((spans.stop - spans.start > longest) | self._with_blanks[spans.word])

    @cached_property
    def _with_blanks(self) -> NDArray[np.bool_]:
        """bool[words]: whether each has a blank, which is a boundary in text."""
        return np.array([not set(RAW_BLANKS).isdisjoint(word) for word in self.words], np.bool_)

    @cached_property
    def _tries(self) -> tuple[tuple[Trie | None, Trie | None], ...]:
        """Return for every lexicon the tries of its words and of its words reversed, if needed."""
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
        """Find the words in a text, which may have many lines: no word contains a line break."""
        by_lexicon = []
        reverse, length = np.ascontiguousarray(points[::-1]), len(points)
        for forward, backward in self._tries:
            sides = [forward.match(points)] if forward else []
            if backward:
                reversed_spans = backward.match(reverse)
                sides.append(
                    Spans(length - reversed_spans.stop, length - reversed_spans.start, reversed_spans.word).only(
                        slice(None, None, -1)
                    )
                )
            by_lexicon.append(common(sides))
        return common(by_lexicon) if self.agree == "all" else united(by_lexicon)


def common(sides: Sequence[Spans]) -> Spans:
    """Return the spans in all of these (liu-2014, 2.1: recognised as words by all methods)."""
    first, *rest = sides
    for other in rest:
        at = np.searchsorted(other.start, first.start)
        at[at == len(other.start)] = 0
        same = (other.start[at] == first.start) & (other.stop[at] == first.stop) if len(other.start) else at < 0
        first = first.only(same)
    return first


def united(sides: Iterable[Spans]) -> Spans:
    """Return the spans in any of these, without overlapping ones, which contradict each other."""
    every = Spans(*(np.concatenate(arrays) for arrays in zip(*sides, strict=True)))
    _, first = np.unique(np.stack([every.start, every.stop]), axis=1, return_index=True)
    every = every.only(first)
    if not len(every.start):
        return every
    before = np.concatenate([[-1], np.maximum.accumulate(every.stop)[:-1]])
    after = np.append(every.start[1:], every.stop[-1])
    return every.only((every.start >= before) & (every.stop <= after))


_UNKNOWN, _BOUNDARY, _INSIDE = (ord(mark) for mark in " |-")


@dataclass
class LexiconHarvest:
    """Sentences with words of lexicons in raw text, or all (`everything`), and the numbers of those read and kept."""

    matcher: LexiconMatcher
    everything: bool = HarvestOptions.every
    sentences: int = field(default=0, init=False)
    kept: int = field(default=0, init=False)
    words: int = field(default=0, init=False)

    def of(self, lines: Iterable[str], path: str = "") -> Iterator[Sentence]:
        """Yield lines as sentences of characters.

        Sentences have the layer `segmentation` and, if a lexicon has tags, `tag`. Blanks are word boundaries and are
        dropped, as in segmenting raw text. A blank line is an empty sentence.
        """
        matcher = self.matcher
        has_tags = any(candidates is not None for lexicon in matcher.lexicons for candidates in lexicon.tags)
        number = 1
        for block in line_blocks(lines):
            text = "\n".join(block)
            spans = matcher.spans(code_points(text))
            is_phrase = matcher.is_phrase(spans)
            marks = word_marks(len(text), spans.start, spans.stop, is_phrase)
            tags: list[Candidates] | None = [None] * len(text) if has_tags else None
            if tags is not None:
                for start, stop, word in zip(*(array.tolist() for array in spans.only(~is_phrase)), strict=True):
                    tags[start:stop] = [matcher.tags[word]] * (stop - start)
            ends = np.cumsum([len(line) + 1 for line in block])
            last = np.searchsorted(spans.start, ends).tolist()
            begin = first = 0
            for line, end, until in zip(block, ends.tolist(), last, strict=True):
                self.sentences += 1
                self.words += until - first
                if until > first or self.everything:
                    self.kept += 1
                    of_line = slice(begin, end - 1)
                    yield _sentence(line, marks[of_line], tags and tags[of_line], Location(path, number))
                begin, first, number = end, until, number + 1


def word_marks(
    length: int, start: NDArray[np.int64], stop: NDArray[np.int64], is_phrase: NDArray[np.bool_] | None = None
) -> str:
    """Return the mark after each character of a text: `|` (a boundary), `-` (no boundary), or a blank (unknown).

    The characters start[k] .. stop[k] - 1 are a word, or one or more words if `is_phrase[k]`. Words may be repeated,
    but do not overlap.
    """
    marks = np.full(length, _UNKNOWN, np.uint8)
    inside = np.zeros(length + 1, np.int64)
    joined = 1 if is_phrase is None else (~is_phrase).astype(np.int64)
    np.add.at(inside, start, joined)
    np.add.at(inside, stop - 1, -joined)
    marks[np.cumsum(inside[:-1]) > 0] = _INSIDE
    marks[stop - 1] = _BOUNDARY
    marks[start[start > 0] - 1] = _BOUNDARY
    return marks.tobytes().decode("ascii")


def _sentence(line: str, marks: str, tags: list[Candidates] | None, location: Location) -> Sentence:
    if any(blank in line for blank in RAW_BLANKS):
        kept = [at for at, character in enumerate(line) if character not in RAW_BLANKS]
        followed = [at + 1 == len(line) or line[at + 1] in RAW_BLANKS for at in kept]
        marks = "".join("|" if blank else marks[at] for at, blank in zip(kept, followed, strict=True))
        tags = tags and [tags[at] for at in kept]
        line = "".join(line[at] for at in kept)
    layers = {SEGMENTATION: segmentation_layer(marks[:-1]) if line else ()}
    if tags is not None:
        layers[TAG] = tuple(tags)
    return Sentence(tuple(map(intern, line)), layers, location=location)
