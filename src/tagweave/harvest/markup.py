"""Natural annotation: word boundaries from the markup of pages (liu-2014, section 2.2; Jiang et al. 2013).

A span that a link, emphasis or heading sets off has a word boundary on either side. A side counts only if the character
of the span next to it is Chinese: markup of English words and of numbers is no evidence (liu-2014, section 5.2). A span
of two Chinese characters is a word (ibid.). Runs of cased letters and of digits are not segmented (section 5: a
preprocessor finds them); if they were left open, they could become words of one letter each.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING

from tagweave.corpus.formats.kytea import SEGMENTATION, segmentation_layer
from tagweave.corpus.sentence import Location, Sentence
from tagweave.harvest.block import Block, is_chinese
from tagweave.harvest.options import MarkupOptions
from tagweave.harvest.sentences import sentences

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tagweave.harvest.block import Span

_BOUNDARY, _INSIDE, _UNKNOWN = "|", "-", " "
# Latin, Greek and Cyrillic letters, half and full width
_RUN = re.compile(r"[A-Za-zÀ-ÖØ-öø-ʯͰ-ԯＡ-Ｚａ-ｚ]{2,}|\d{2,}")


def is_word_of_two(text: str, span: Span) -> bool:
    """Whether a span of the text consists of two Chinese characters."""
    start, stop = span
    return stop - start == 2 and is_chinese(text[start]) and is_chinese(text[start + 1])


def boundaries(sentence: Block, words_of_two: bool = True) -> list[str]:
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

    def of(self, blocks: Iterable[Block], path: str = "") -> Iterator[Sentence]:
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

    def _count(self, sentence: Block, known: int) -> None:
        self.sentences += 1
        self.known += known
        self.spans += len(sentence.spans)
        self.spans_of_two += sum(is_word_of_two(sentence.text, span) for span in sentence.spans)
