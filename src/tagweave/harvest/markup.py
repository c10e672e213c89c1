"""Natural annotation: word boundaries from the markup of pages (liu-2014, section 2.2; Jiang et al. 2013).

A span that a link, emphasis or heading sets off has a word boundary on either side. A side counts only if the character
of the span next to it is Chinese: markup of English words and of numbers is no evidence (liu-2014, section 5.2). A span
of two Chinese characters is a word (ibid.). Runs of cased letters and of digits are not segmented (section 5: a
preprocessor finds them); if they were left open, they could become words of one letter each.

A parser turns a page into events. The events between two ends of blocks make a block: the text of a paragraph, heading
or list item, and the spans that its markup sets off. Blocks are split into sentences after final punctuation.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from enum import Enum
from hashlib import blake2b
from itertools import accumulate, compress
from typing import TYPE_CHECKING, NamedTuple

from tagweave.corpus.formats.kytea import SEGMENTATION, segmentation_layer
from tagweave.corpus.sentence import Location, Sentence
from tagweave.errors import CorpusError
from tagweave.harvest.options import MarkupOptions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Span = tuple[int, int]

# blanks, control and formatting characters (zero-width blanks, direction marks), and halves of surrogate pairs
_BLANKS = re.compile("[\\s\0-\x1f\x7f-\x9f\xad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff\ud800-\udfff]+")
_CHINESE = "々〇\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_IS_CHINESE = re.compile(f"[{_CHINESE}]")
_IN_FOREIGN_WORD = re.compile(rf"[^\W{_CHINESE}]")


def is_chinese(character: str) -> bool:
    """Return whether a character is Chinese (Han script)."""
    return _IS_CHINESE.match(character) is not None


class Markup(Enum):
    """The events of a parser that are not text."""

    OPEN = "emphasis or a heading begins"
    NAME = "a link or bold text begins"
    CLOSE = "the mark that began last ends"
    END = "a block ends"


Event = str | Markup


class Passage(NamedTuple):
    """Text, and the spans [start, stop) of its code points that are set off: sorted, non-empty and different."""

    text: str
    spans: tuple[Span, ...] = ()


def blocks(events: Iterable[Event], of_words: bool = False) -> Iterator[Passage]:
    """Yield the blocks of a page that have text.

    A run of blanks becomes one blank between letters or digits (`two words`), and is dropped next to Chinese characters
    and punctuation, where it is typography. Spans begin and end with a letter, digit or Chinese character, since
    quotation marks and the like are words of their own. A mark that is still open at the end of a block sets off a
    passage, not a span.

    If words are between blanks (`of_words`), every run of blanks becomes one, and only links and bold text are spans.
    """
    pieces: list[str] = []
    spans: list[Span] = []
    opened: list[tuple[int, bool]] = []
    length = 0
    for event in events:
        if isinstance(event, str):
            pieces.append(event)
            length += len(event)
        elif event in (Markup.OPEN, Markup.NAME):
            opened.append((length, event is Markup.NAME or not of_words))
        elif event is Markup.END:
            yield from _block("".join(pieces), spans, of_words)
            pieces, spans, opened, length = [], [], [], 0
        elif opened:
            start, is_span = opened.pop()
            spans += [(start, length)] if is_span else []
    yield from _block("".join(pieces), spans, of_words)


def _block(text: str, spans: Sequence[Span], of_words: bool) -> Iterator[Passage]:
    kept = bytearray(b"\1") * len(text)
    for blank in _BLANKS.finditer(text):
        start, stop = blank.span()
        kept[start:stop] = bytes(stop - start)
        if start > 0 and stop < len(text):
            sides = (text[start - 1], text[stop])
            kept[start] = of_words or all(_IN_FOREIGN_WORD.match(side) for side in sides)
    position = list(accumulate(kept, initial=0))
    if not (text := _BLANKS.sub(" ", "".join(compress(text, kept)))):
        return
    trimmed = set()
    # computed once, however many spans there are
    inside = [at for at, character in enumerate(text) if character.isalnum()] if spans else []
    for start, stop in spans:
        first, after = bisect_left(inside, position[start]), bisect_left(inside, position[stop])
        if first < after:
            trimmed.add((inside[first], inside[after - 1] + 1))
    yield Passage(text, tuple(sorted(trimmed)))


_END = re.compile(r"[。！？!?；…]+[”’」』）)】》〉〕\]]*")
# before a blank and no small letter, so not in `3.14` or `e.g. this`
_END_OF_WORDS = re.compile(r"[.!?…。！？]+[\"'”’)\]]*(?= [^a-z])")


def sentences(block: Passage, of_words: bool = False) -> Iterator[Passage]:
    """Yield the sentences of a block with their spans; a span that crosses the end of a sentence is left out.

    With blanks between words (`of_words`), a sentence ends with punctuation, a blank and no small letter after it.
    """
    start, first = 0, 0
    stops = [end.end() for end in (_END_OF_WORDS if of_words else _END).finditer(block.text)]
    for stop in [*stops, len(block.text)]:
        after = bisect_left(block.spans, (stop, 0), first)
        if start < stop:
            spans = ((begin - start, end - start) for begin, end in block.spans[first:after] if end <= stop)
            yield Passage(block.text[start:stop], tuple(span for span in spans if span[0] >= 0))
        start, first = stop, after


class Simplifier:
    """Converts traditional Chinese characters to simplified ones, one code point to one, so that spans stay valid."""

    def __init__(self) -> None:
        try:
            from opencc import OpenCC
        except ModuleNotFoundError as error:
            expected = "it installed: pip install '.[markup]' in a checkout of tagweave"
            raise CorpusError("no package 'opencc'", expected) from error
        self._convert = OpenCC("t2s").convert

    def text(self, text: str) -> str:
        """Convert a text, character by character if phrases would change its length."""
        converted = str(self._convert(text))
        if len(converted) == len(text):
            return converted
        characters = ((character, str(self._convert(character))) for character in text)
        return "".join(simple if len(simple) == 1 else character for character, simple in characters)

    def blocks(self, blocks: Iterable[Passage]) -> Iterator[Passage]:
        return (block._replace(text=self.text(block.text)) for block in blocks)


_BOUNDARY, _INSIDE, _UNKNOWN = "|", "-", " "
# Latin, Greek and Cyrillic letters, half and full width
_RUN = re.compile(r"[A-Za-zÀ-ÖØ-öø-ʯͰ-ԯＡ-Ｚａ-ｚ]{2,}|\d{2,}")


def is_word_of_two(text: str, span: Span) -> bool:
    """Return whether a span of the text consists of two Chinese characters."""
    start, stop = span
    return stop - start == 2 and is_chinese(text[start]) and is_chinese(text[start + 1])


def boundaries(sentence: Passage, words_of_two: bool = True) -> list[str]:
    """Return the T - 1 marks between the T characters of a sentence, from its spans: `|`, `-`, or a blank.

    A mark is unknown if one span implies a boundary there and another implies none. For `words_of_two`, a span of two
    Chinese characters is a word, without a boundary inside.
    """
    text = sentence.text
    marks = [_UNKNOWN] * (len(text) - 1)
    for start, stop in sentence.spans:
        if start > 0 and is_chinese(text[start]):
            marks[start - 1] = _BOUNDARY
        if stop < len(text) and is_chinese(text[stop - 1]):
            marks[stop - 1] = _BOUNDARY
    if words_of_two:
        for start in (span[0] for span in sentence.spans if is_word_of_two(text, span)):
            marks[start] = _UNKNOWN if marks[start] == _BOUNDARY else _INSIDE
    return marks


@dataclass
class MarkupHarvest:
    """Partially annotated sentences from blocks, and their statistics.

    Args:
        words_of_two: whether a span of two Chinese characters is a word.
        everything: whether to keep sentences without evidence.
    """

    words_of_two: bool = not MarkupOptions.free_pairs
    everything: bool = MarkupOptions.every
    sentences: int = field(default=0, init=False)  # the number of sentences produced
    determined: int = field(default=0, init=False)  # the number of marks between their characters that spans determine
    spans: int = field(default=0, init=False)  # the number of spans in these sentences
    spans_of_two: int = field(default=0, init=False)  # the number of spans of two Chinese characters
    _seen: set[bytes] = field(default_factory=set, init=False, repr=False)

    def of(self, blocks: Iterable[Passage], path: str = "") -> Iterator[Sentence]:
        """Yield sentences of characters, each text once, with the layer `segmentation`."""
        for sentence in (sentence for block in blocks for sentence in sentences(block)):
            text, spans = sentence
            marks = boundaries(sentence, self.words_of_two)
            known_marks = len(marks) - marks.count(_UNKNOWN)
            digest = blake2b(text.encode(), digest_size=16).digest()
            if digest in self._seen or not (known_marks or self.everything):
                continue
            self._seen.add(digest)
            self.sentences += 1
            self.determined += known_marks
            self.spans += len(spans)
            self.spans_of_two += sum(is_word_of_two(text, span) for span in spans)
            for start, stop in (run.span() for run in _RUN.finditer(text)):
                marks[start : stop - 1] = _INSIDE * (stop - start - 1)
            kept = [at for at, character in enumerate(text) if character != " "]
            # a blank between two words becomes a boundary, as in segmenting raw text
            layer = segmentation_layer([_BOUNDARY if text[at + 1] == " " else marks[at] for at in kept[:-1]])
            yield Sentence(tuple(text[at] for at in kept), {SEGMENTATION: layer}, location=Location(path))
