"""Raw text and the words found in it, as partially annotated sentences (liu-2014, section 2.1, Figure 2).

The characters of a word that was found are fixed to B M E or S. The character before it can only end a word (E, S), the
one after it can only begin one (B, S). Other labels are unknown, except that a sentence begins and ends with a word. Of
an entry that may be several words, only the ends are known, as of a marked span (section 2.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.blanks import BLANKS
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats.kytea import SEGMENTATION, TAG, segmentation_layer
from tagweave.corpus.sentence import Candidates, Location, Sentence
from tagweave.corpus.text_blocks import line_blocks
from tagweave.harvest.matching import LexiconMatcher
from tagweave.harvest.options import HarvestOptions
from tagweave.kernels.trie import Spans, code_points

_UNKNOWN, _BOUNDARY, _INSIDE = (ord(mark) for mark in " |-")


class Annotated(NamedTuple):
    """A sentence of characters with the layer `segmentation` and, if a lexicon has tags, `tag`; and how many words it
    has."""

    sentence: Sentence
    words: int


def annotated(lines: Iterable[str], matcher: LexiconMatcher, path: str = "") -> Iterator[Annotated]:
    """Every line as a sentence, in order, with the words that the matcher finds in it.

    Blanks are word boundaries and are dropped, as in segmenting raw text. A blank line is an empty sentence.
    """
    number = 1
    for block in line_blocks(lines):
        text = "\n".join(block)
        spans = matcher.spans(code_points(text))
        is_phrase = matcher.is_phrase(spans)
        marks = word_marks(len(text), spans.start, spans.stop, is_phrase)
        tags = _tags(len(text), spans.only(~is_phrase), matcher.tags) if matcher.has_tags else None
        ends = np.cumsum([len(line) + 1 for line in block])
        last = np.searchsorted(spans.start, ends).tolist()
        begin = first = 0
        for line, end, until in zip(block, ends.tolist(), last, strict=True):
            of_line = slice(begin, end - 1)
            sentence = _sentence(line, marks[of_line], tags and tags[of_line], Location(path, number))
            yield Annotated(sentence, until - first)
            begin, first, number = end, until, number + 1


@dataclass
class LexiconHarvest:
    """The sentences with words of lexicons in raw text, and their statistics.

    Args:
        matcher: finds the words.
        everything: whether to keep sentences without words.

    Attributes:
        sentences: the number of sentences read.
        kept: the number of sentences produced.
        words: the number of words found.
    """

    matcher: LexiconMatcher
    everything: bool = HarvestOptions.every
    sentences: int = field(default=0, init=False)
    kept: int = field(default=0, init=False)
    words: int = field(default=0, init=False)

    def of(self, lines: Iterable[str], path: str = "") -> Iterator[Sentence]:
        """The sentences of characters, in order: see `annotated`."""
        for sentence, words in annotated(lines, self.matcher, path):
            self.sentences += 1
            self.words += words
            if words or self.everything:
                self.kept += 1
                yield sentence


def annotated_corpus(lines: Iterable[str], matcher: LexiconMatcher, path: str = "") -> Corpus:
    """The lines in which a word is found, as a corpus of characters."""
    return Corpus(tuple(LexiconHarvest(matcher).of(lines, path)), SEGMENTATION, "character", None, path)


def word_marks(
    length: int, start: NDArray[np.int64], stop: NDArray[np.int64], is_phrase: NDArray[np.bool_] | None = None
) -> str:
    """The mark after each character of a text: `|` (a boundary), `-` (no boundary), or a blank (unknown).

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
    if any(blank in line for blank in BLANKS):
        kept = [at for at, character in enumerate(line) if character not in BLANKS]
        followed = [at + 1 == len(line) or line[at + 1] in BLANKS for at in kept]
        marks = "".join("|" if blank else marks[at] for at, blank in zip(kept, followed, strict=True))
        tags = tags and [tags[at] for at in kept]
        line = "".join(line[at] for at in kept)
    layers = {SEGMENTATION: segmentation_layer(marks[:-1]) if line else ()}
    if tags is not None:
        layers[TAG] = tuple(tags)
    return Sentence(tuple(line), layers, location=location)


def _tags(length: int, spans: Spans, tags: Sequence[Candidates]) -> list[Candidates]:
    """For each character of a text, the tags of the word that it belongs to."""
    layer: list[Candidates] = [None] * length
    for start, stop, word in zip(spans.start.tolist(), spans.stop.tolist(), spans.word.tolist(), strict=True):
        layer[start:stop] = [tags[word]] * (stop - start)
    return layer
