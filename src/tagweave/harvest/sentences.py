"""Splitting a block of text into sentences, after the punctuation that ends one."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING

from tagweave.harvest.block import Block

if TYPE_CHECKING:
    from collections.abc import Iterator

_END = re.compile(r"[。！？!?；…]+[”’」』）)】》〉〕\]]*")


# before a blank and what is no small letter: `3.14`, `e.g. this`
_END_OF_WORDS = re.compile(r"[.!?…。！？]+[\"'”’)\]]*(?= [^a-z])")


def sentences(block: Block, of_words: bool = False) -> Iterator[Block]:
    """The sentences of a block, each with its spans; a span that crosses the end of a sentence is left out.

    With blanks between words (`of_words`), a sentence ends with punctuation, a blank and no small letter after it.
    """
    start, first = 0, 0
    stops = [end.end() for end in (_END_OF_WORDS if of_words else _END).finditer(block.text)]
    for stop in [*stops, len(block.text)]:
        after = bisect_left(block.spans, (stop, 0), first)
        if start < stop:
            spans = ((begin - start, end - start) for begin, end in block.spans[first:after] if end <= stop)
            yield Block(block.text[start:stop], tuple(span for span in spans if span[0] >= 0))
        start, first = stop, after
