"""Natural annotation: word boundaries from the markup of pages (liu-2014, section 2.2; Jiang et al. 2013).

A span that a link, emphasis or heading sets off has a word boundary on either side. A side counts only if the character
of the span next to it is Chinese: markup of English words and of numbers is no evidence (liu-2014, section 5.2). A span
of two Chinese characters is a word (ibid.). Runs of cased letters and of digits are not segmented (section 5: a
preprocessor finds them); if they were left open, they could become words of one letter each.

The block: a paragraph, heading or list item of a page, as text and the spans that its markup sets off.

A parser turns a page into events; a block is assembled from the events between two ends of blocks.

Splitting a block of text into sentences, after the punctuation that ends one.

Converting traditional Chinese characters to simplified ones, by OpenCC.
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
    """Whether a character is Chinese (Han script)."""
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
    """The blocks of a page that have text.

    A run of blanks becomes one blank between letters or digits (`two words`), and is dropped next to Chinese characters
    and punctuation, where it is typography. Spans begin and end with a letter, digit or Chinese character, since
    quotation marks and the like are words of their own. A mark that is still open at the end of a block sets off a
    passage, not a span.

    Args:
        events: the events of the page.
        of_words: whether words are between blanks: every run of blanks then becomes one, and only links and bold text
            are spans.
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


def _block(text: str, spans: Iterable[Span], of_words: bool) -> Iterator[Passage]:
    text, spans = _closed_up(text, spans, of_words)
    if text:
        yield Passage(text, tuple(sorted(_trimmed(text, spans))))


def _closed_up(text: str, spans: Iterable[Span], of_words: bool) -> tuple[str, list[Span]]:
    kept = bytearray(b"\1") * len(text)
    for blank in _BLANKS.finditer(text):
        start, stop = blank.span()
        kept[start:stop] = bytes(stop - start)
        if of_words:
            kept[start] = start > 0 and stop < len(text)
        elif (
            start
            and stop < len(text)
            and _IN_FOREIGN_WORD.match(text[start - 1])
            and _IN_FOREIGN_WORD.match(text[stop])
        ):
            kept[start] = 1
    position = list(accumulate(kept, initial=0))
    shorter = "".join(compress(text, kept))
    return _BLANKS.sub(" ", shorter), [(position[start], position[stop]) for start, stop in spans]


def _trimmed(text: str, spans: Sequence[Span]) -> set[Span]:
    """Spans cut to their first and last letter or digit; those without any are left out."""
    trimmed = set()
    # computed once, however many spans there are
    inside = [at for at, character in enumerate(text) if character.isalnum()] if spans else []
    for start, stop in spans:
        first, after = bisect_left(inside, start), bisect_left(inside, stop)
        if first < after:
            trimmed.add((inside[first], inside[after - 1] + 1))
    return trimmed


_END = re.compile(r"[。！？!?；…]+[”’」』）)】》〉〕\]]*")


# before a blank and what is no small letter: `3.14`, `e.g. this`
_END_OF_WORDS = re.compile(r"[.!?…。！？]+[\"'”’)\]]*(?= [^a-z])")


def sentences(block: Passage, of_words: bool = False) -> Iterator[Passage]:
    """The sentences of a block, each with its spans; a span that crosses the end of a sentence is left out.

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
    """Converts text one code point to one, so that spans stay valid.

    Raises:
        CorpusError: OpenCC is not installed.
    """

    def __init__(self) -> None:
        try:
            from opencc import OpenCC
        except ModuleNotFoundError as error:
            raise CorpusError(
                "no package 'opencc'", "it installed: pip install '.[markup]' in a checkout of tagweave"
            ) from error
        self._convert = OpenCC("t2s").convert

    def text(self, text: str) -> str:
        """The text in simplified characters, converted character by character if phrases would change its length."""
        converted = str(self._convert(text))
        return converted if len(converted) == len(text) else "".join(map(self._character, text))

    def _character(self, character: str) -> str:
        converted = str(self._convert(character))
        return converted if len(converted) == 1 else character

    def blocks(self, blocks: Iterable[Passage]) -> Iterator[Passage]:
        """The blocks with their text converted."""
        return (block._replace(text=self.text(block.text)) for block in blocks)


_BOUNDARY, _INSIDE, _UNKNOWN = "|", "-", " "
# Latin, Greek and Cyrillic letters, half and full width
_RUN = re.compile(r"[A-Za-zÀ-ÖØ-öø-ʯͰ-ԯＡ-Ｚａ-ｚ]{2,}|\d{2,}")


def is_word_of_two(text: str, span: Span) -> bool:
    """Whether a span of the text consists of two Chinese characters."""
    start, stop = span
    return stop - start == 2 and is_chinese(text[start]) and is_chinese(text[start + 1])


def boundaries(sentence: Passage, words_of_two: bool = True) -> list[str]:
    """The T - 1 marks between the T characters of a sentence, from its spans: `|`, `-`, or a blank.

    A mark is unknown if one span implies a boundary there and another implies none.

    Args:
        sentence: text without a line break, and its spans.
        words_of_two: whether a span of two Chinese characters is a word, without a boundary inside.
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


def _with_whole_runs(text: str, marks: list[str]) -> list[str]:
    whole = list(marks)
    for run in _RUN.finditer(text):
        start, stop = run.span()
        whole[start : stop - 1] = _INSIDE * (stop - start - 1)
    return whole


def _without_blanks(text: str, marks: list[str]) -> tuple[str, list[str]]:
    """A blank between two words becomes a boundary, as in segmenting raw text."""
    kept = [at for at, character in enumerate(text) if character != " "]
    return "".join(text[at] for at in kept), [_BOUNDARY if text[at + 1] == " " else marks[at] for at in kept[:-1]]


@dataclass
class MarkupHarvest:
    """Partially annotated sentences from blocks, and their statistics.

    Args:
        words_of_two: whether a span of two Chinese characters is a word.
        everything: whether to keep sentences without evidence.

    Attributes:
        sentences: the number of sentences produced.
        known: the number of marks between their characters that spans determine.
        spans: the number of spans in these sentences.
        spans_of_two: the number of spans of two Chinese characters.
    """

    words_of_two: bool = not MarkupOptions.free_pairs
    everything: bool = MarkupOptions.every
    sentences: int = field(default=0, init=False)
    known: int = field(default=0, init=False)
    spans: int = field(default=0, init=False)
    spans_of_two: int = field(default=0, init=False)
    _seen: set[bytes] = field(default_factory=set, init=False, repr=False)

    def of(self, blocks: Iterable[Passage], path: str = "") -> Iterator[Sentence]:
        """The sentences of characters, each text once, with the layer `segmentation`."""
        for block in blocks:
            for sentence in sentences(block):
                marks = boundaries(sentence, self.words_of_two)
                known = len(marks) - marks.count(_UNKNOWN)
                if (known or self.everything) and self._is_new(sentence.text):
                    self._count(sentence, known)
                    text, marks = _without_blanks(sentence.text, _with_whole_runs(sentence.text, marks))
                    yield Sentence(tuple(text), {SEGMENTATION: segmentation_layer(marks)}, location=Location(path))

    def _is_new(self, text: str) -> bool:
        digest = blake2b(text.encode(), digest_size=16).digest()
        size = len(self._seen)
        self._seen.add(digest)
        return len(self._seen) > size

    def _count(self, sentence: Passage, known: int) -> None:
        self.sentences += 1
        self.known += known
        self.spans += len(sentence.spans)
        self.spans_of_two += sum(is_word_of_two(sentence.text, span) for span in sentence.spans)
