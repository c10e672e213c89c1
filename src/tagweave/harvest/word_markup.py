"""Links and bold text among words: evidence for spans of unknown type.

The tokens of a marked span are a span of some type (`B-*`, `I-*`), and all others are unknown. Where marks nest, the
outermost one is the span. A mark that begins or ends inside a token, or crosses another one, is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from tagweave.corpus.sentence import Location, Sentence
from tagweave.corpus.spans import Span, labels_of
from tagweave.harvest.options import MarkupOptions
from tagweave.harvest.phrases import LAYER
from tagweave.harvest.sentences import sentences
from tagweave.kernels.phrases import pieces_of_text

if TYPE_CHECKING:
    from tagweave.harvest.block import Block


@dataclass
class WordMarkupHarvest:
    """Sentences of words with marked spans, and their statistics.

    Args:
        everything: whether to keep sentences without spans.

    Attributes:
        sentences: the number of sentences produced.
        spans: the number of spans in them.
        known: the number of tokens in these.
    """

    everything: bool = MarkupOptions.every
    sentences: int = field(default=0, init=False)
    spans: int = field(default=0, init=False)
    known: int = field(default=0, init=False)
    _seen: set[tuple[str, ...]] = field(default_factory=set, init=False, repr=False)

    def of(self, blocks: Iterable[Block], path: str = "") -> Iterator[Sentence]:
        """The sentences of words, each once, with the layer `tag`."""
        for block in blocks:
            for sentence in sentences(block, of_words=True):
                forms, spans = _tokens(sentence)
                if forms and (spans or self.everything) and forms not in self._seen:
                    self._seen.add(forms)
                    self.sentences += 1
                    self.spans += len(spans)
                    self.known += sum(stop - start for start, stop in spans)
                    labels = labels_of([(Span(*span, None),) for span in spans], len(forms), None)
                    yield Sentence(forms, {LAYER: labels}, location=Location(path))


def _tokens(sentence: Block) -> tuple[tuple[str, ...], list[tuple[int, int]]]:
    """The tokens of a sentence, by the rule for raw text, and its spans of tokens."""
    cut = pieces_of_text(f"{sentence.text}\n", False)
    starts, stops = cut.start[:-1].tolist(), cut.stop[:-1].tolist()
    first = {start: at for at, start in enumerate(starts)}
    last = {stop: at for at, stop in enumerate(stops)}
    marked = [(first[a], last[b] + 1) for a, b in sentence.spans if a in first and b in last]
    forms = tuple(sentence.text[start:stop] for start, stop in zip(starts, stops, strict=True))
    return forms, outermost(marked)


def outermost(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans in no other one, from left to right; of spans that cross, neither."""
    kept: list[tuple[int, int]] = []
    for span in sorted(set(spans), key=lambda each: (each[0], -each[1])):
        if not kept or span[1] > kept[-1][1]:
            kept.append(span)
    crossing = {span for one, other in pairwise(kept) if other[0] < one[1] for span in (one, other)}
    return [span for span in kept if span not in crossing]
