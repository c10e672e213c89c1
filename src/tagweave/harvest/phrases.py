"""Phrases of gazetteers in text, as evidence for spans: labels in IOB2 that the tokens of a text may have.

Maximum matching finds phrases from left to right. A phrase of several types gives alternatives (`B-LOC|B-PER`, then
`I-LOC|I-PER`), one of unknown type allows every type (`B-*`, `I-*`). Where a phrase overlaps the one that was taken,
the rest of it stays unknown, even if the tokens in no phrase are said to be in no entity.

Links and bold text among words are evidence for spans of unknown type, too; all other tokens are unknown. Where marks
nest, the outermost one is the span. A mark that begins or ends inside a token, or crosses another one, is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.candidates import format_candidates
from tagweave.corpus.gazetteer import Gazetteer
from tagweave.corpus.sentence import Candidates, Location, Sentence
from tagweave.corpus.spans import Span, span_labels
from tagweave.harvest.markup import sentences
from tagweave.harvest.options import GazetteerOptions, MarkupOptions
from tagweave.kernels import text_arrays as kernels
from tagweave.kernels.trie import PhraseTrie, Pieces, Spans, pieces_of_text, pieces_of_tokens

if TYPE_CHECKING:
    from tagweave.harvest.markup import Passage

LAYER = "tag"
"""The usual layer of the labels."""
UNKNOWN, OUTSIDE = 0, 1
"""The numbers of the first two labels; the labels of a set of types follow, the one that begins a phrase first."""
_ANY = "*"
_BLOCK = 4096  # sentences matched at a time


class PhraseLabels(NamedTuple):
    """The label of each token, by its number in `PhraseMatcher.labels`, and how many phrases were found."""

    number: NDArray[np.int32]
    phrases: int


@dataclass(frozen=True)
class PhraseMatcher:
    """Finds the phrases of a gazetteer in text; the other fields are as in `GazetteerOptions`."""

    gazetteer: Gazetteer
    stop: tuple[str, ...] = ()
    fold: bool = GazetteerOptions.fold
    elsewhere: str = GazetteerOptions.elsewhere

    @cached_property
    def labels(self) -> tuple[Candidates, ...]:
        labels: list[Candidates] = [None, ("O",)]
        for types in self._types[1]:
            labels += [tuple(f"{place}-{name}" for name in types) for place in "BI"]
        return tuple(labels)

    def types(self, labels: NDArray[np.int32]) -> set[str]:
        found_types = np.flatnonzero(np.bincount(labels, minlength=len(self.labels))[2::2])
        return {name for number in found_types for name in self._types[1][number]} - {_ANY}

    def in_text(self, cut: Pieces) -> PhraseLabels:
        """Label the pieces of raw text: tokens and ends of sentences."""
        return self._labels(cut, len(cut.ends), lambda spans: spans)

    def in_tokens(self, cut: Pieces, tokens: int) -> PhraseLabels:
        return self._labels(cut, tokens, cut.of_tokens)

    def _labels(self, cut: Pieces, tokens: int, placed: Callable[[Spans], Spans]) -> PhraseLabels:
        if self.elsewhere == "unknown":
            labels = np.full(tokens, UNKNOWN, np.int32)
        else:
            labels = np.where(covered(placed(self.trie.occurrences(cut)), tokens), UNKNOWN, OUTSIDE).astype(np.int32)
        spans = placed(self.trie.match(cut))
        kernels.mark(spans.start, spans.stop, self._types[0][spans.word], labels)
        return PhraseLabels(labels, len(spans.start))

    @cached_property
    def trie(self) -> PhraseTrie:
        return PhraseTrie(self.gazetteer.phrases, self.stop, self.fold)

    @cached_property
    def _types(self) -> tuple[NDArray[np.int32], list[tuple[str, ...]]]:
        """Return the number of the types of each entry of the trie, and all different types."""
        types = self.gazetteer.types_of(self.trie.entry.tolist(), self.trie.size)
        names = {candidates: tuple(sorted(candidates or _ANY)) for candidates in dict.fromkeys(types)}
        number = {candidates: i for i, candidates in enumerate(dict.fromkeys(names.values()))}
        return np.array([number[names[candidates]] for candidates in types], np.int32), list(number)


def covered(spans: Spans, tokens: int) -> NDArray[np.bool_]:
    """Return bool[tokens]: which tokens are in any of the spans."""
    depth = np.zeros(tokens + 1, np.int64)
    np.add.at(depth, spans.start, 1)
    np.add.at(depth, spans.stop, -1)
    return np.cumsum(depth[:-1]) > 0


@dataclass
class PhraseHarvest:
    """Sentences with phrases of gazetteers, or all (`everything`), and their statistics."""

    matcher: PhraseMatcher
    everything: bool = GazetteerOptions.every
    layer: str = LAYER
    sentences: int = field(default=0, init=False)  # the number of sentences read, empty ones not counted
    kept: int = field(default=0, init=False)
    phrases: int = field(default=0, init=False)
    types: set[str] = field(default_factory=set, init=False)  # the types of the phrases found, as far as they are known

    @property
    def covered(self) -> tuple[str, ...] | None:
        """Return after the harvest the types that `O` excludes: those found; `None`: all, or there is no `O`.

        A type that occurs nowhere is left out, because training refuses a covered type that no label has.
        """
        return tuple(sorted(self.types)) if self.matcher.elsewhere == "O-for-others" else None

    def of(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """Yield the sentences of words, in order, with the labels.

        Other labels, columns that show them, and heads are left out.
        """
        source = iter(sentences)
        while block := list(islice(source, _BLOCK)):
            cut = pieces_of_tokens([sentence.forms for sentence in block], self.matcher.fold)
            labels = self.matcher.in_tokens(cut, sum(map(len, block)))
            self._count(labels)
            of_tokens = map(self.matcher.labels.__getitem__, labels.number.tolist())
            for sentence in block:
                layer = tuple(islice(of_tokens, len(sentence)))
                if not layer:
                    continue
                self.sentences += 1
                if self.everything or any(layer):
                    self.kept += 1
                    hidden = (*sentence.layers, self.layer)
                    columns = {name: column for name, column in sentence.columns.items() if name not in hidden}
                    labelled = {self.layer: layer}
                    weight, location = sentence.weight, sentence.location
                    yield Sentence(sentence.forms, labelled, columns, weight=weight, location=location)

    def _count(self, labels: PhraseLabels) -> None:
        self.phrases += labels.phrases
        self.types |= self.matcher.types(labels.number)

    def rows(self, blocks: Iterable[str]) -> Iterator[bytes]:
        """Turn blocks of whole lines of raw text into rows of a column file, without an object for each token.

        The format `columns` writes the same for the sentences that `tokenised` and `of` make of these lines.
        """
        fields = ["_" if candidates is None else format_candidates(candidates) for candidates in self.matcher.labels]
        texts = [f"\t{field}\n".encode() for field in fields]
        text, ptr = np.frombuffer(b"".join(texts), np.uint8), np.cumsum([0, *map(len, texts)])
        lengths = np.diff(ptr)
        for block in blocks:
            cut = pieces_of_text(block, self.matcher.fold)
            labels = self.matcher.in_text(cut)
            self._count(labels)
            counts = np.zeros(2, np.int64)
            out = np.empty(4 * len(cut.points) + int(lengths[labels.number].sum()), np.uint8)
            size = kernels.rows(cut.points, cut.start, cut.stop, labels.number, text, ptr, self.everything, out, counts)
            self.sentences += int(counts[0])
            self.kept += int(counts[1])
            yield out[:size].tobytes()


def tokenised(lines: Iterable[str]) -> Iterator[Sentence]:
    """Cut lines of raw text into sentences of words, by the rule of `tagweave.kernels.trie`."""
    for number, line in enumerate(lines, 1):
        cut = pieces_of_text(f"{line}\n", False)
        forms = (line[start:stop] for start, stop in zip(cut.start[:-1], cut.stop[:-1], strict=True))
        yield Sentence(tuple(forms), location=Location("", number))


@dataclass
class WordMarkupHarvest:
    """Sentences of words with marked spans, or all (`everything`), and the numbers of spans and of tokens in these."""

    everything: bool = MarkupOptions.every
    sentences: int = field(default=0, init=False)
    spans: int = field(default=0, init=False)
    determined: int = field(default=0, init=False)
    _seen: set[tuple[str, ...]] = field(default_factory=set, init=False, repr=False)

    def of(self, blocks: Iterable[Passage], path: str = "") -> Iterator[Sentence]:
        """Yield sentences of words, each once, with the layer `tag`."""
        for sentence in (sentence for block in blocks for sentence in sentences(block, of_words=True)):
            forms, spans = _tokens(sentence)
            if forms and (spans or self.everything) and forms not in self._seen:
                self._seen.add(forms)
                self.sentences += 1
                self.spans += len(spans)
                self.determined += sum(stop - start for start, stop in spans)
                labels = span_labels([(Span(*span, None),) for span in spans], len(forms), None)
                yield Sentence(forms, {LAYER: labels}, location=Location(path))


def _tokens(sentence: Passage) -> tuple[tuple[str, ...], list[tuple[int, int]]]:
    """Return the tokens of a sentence, by the rule for raw text, and its spans of tokens."""
    cut = pieces_of_text(f"{sentence.text}\n", False)
    starts, stops = cut.start[:-1].tolist(), cut.stop[:-1].tolist()
    first = {start: at for at, start in enumerate(starts)}
    last = {stop: at for at, stop in enumerate(stops)}
    marked = [(first[a], last[b] + 1) for a, b in sentence.spans if a in first and b in last]
    forms = tuple(sentence.text[start:stop] for start, stop in zip(starts, stops, strict=True))
    return forms, outermost(marked)


def outermost(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans in no other one, from left to right; of spans that cross, neither."""
    kept: list[tuple[int, int]] = []
    for span in sorted(set(spans), key=lambda pair: (pair[0], -pair[1])):
        if not kept or span[1] > kept[-1][1]:
            kept.append(span)
    crossing = {span for one, other in pairwise(kept) if other[0] < one[1] for span in (one, other)}
    return [span for span in kept if span not in crossing]
