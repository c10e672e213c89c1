"""Splitting a block of text into sentences, after the punctuation that ends one."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING

from tagweave.harvest.block import Block

if TYPE_CHECKING:
    from collections.abc import Iterator

_END = re.compile(r"[。！？!?；…]+[”’」』）)】》〉〕\]]*")


def sentences(block: Block) -> Iterator[Block]:
    """The sentences of a block, each with its spans; a span that crosses the end of a sentence is left out."""
    start, first = 0, 0
    stops = [end.end() for end in _END.finditer(block.text)]
    for stop in [*stops, len(block.text)]:
        after = bisect_left(block.spans, (stop, 0), first)
        if start < stop:
            spans = ((begin - start, end - start) for begin, end in block.spans[first:after] if end <= stop)
            yield Block(block.text[start:stop], tuple(span for span in spans if span[0] >= 0))
        start, first = stop, after
