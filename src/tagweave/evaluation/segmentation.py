"""The words of a sentence, as far as its annotation determines them.

Characters have labels B, M, E, S, alone or with a tag (`B-NN`; `B-*` if the tag is unknown). A label says whether there
is a word boundary before its character and whether there is one after it. So the labels of a sentence leave to each gap
between characters a set: boundary, no boundary, or both. The sets are computed exactly, by a pass forward and a pass
backward.

A *word* is a stretch between two certain boundaries with certainly no boundary inside. Any other stretch between two
certain boundaries is kept as one form, marked as uncertain, since its words are unknown.

Labels that contradict each other at a gap (`B` before `S`, `E` before `M`, `M` at the start of a sentence) are decoded
leniently: the gap is a boundary, since one side says so, and the other gaps of both characters are not affected.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.errors import CorpusError
from tagweave.corpus.sentence import Candidates, Location, Sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tagweave.corpus.corpus import Unit

# Sets as bits: of labels, and of the values of a gap.
B, M, E, S = 1, 2, 4, 8
BITS = {"B": B, "M": M, "E": E, "S": S}
ANY_LABEL = B | M | E | S
NONE, BOUNDARY, EITHER = 1, 2, 3
AFTER_GAP = (0, M | E, B | S, ANY_LABEL)  # for each set of a gap: the labels that may follow it
BEFORE_GAP = (0, B | M, E | S, ANY_LABEL)  # ... and those that may precede it


def _gap_sets(none: int, boundary: int) -> tuple[int, ...]:
    """For each set of labels the values of a gap, given the labels that imply no boundary and those that imply one."""
    return tuple((NONE if labels & none else 0) | (BOUNDARY if labels & boundary else 0) for labels in range(16))


GAP_BEFORE, GAP_AFTER = _gap_sets(M | E, B | S), _gap_sets(B | M, E | S)


@dataclass(frozen=True, slots=True)
class Segmentation:
    """The words of a sentence.

    Attributes:
        forms: the words and the uncertain stretches, in order; together they are the text.
        tags: for each form the candidates of its tag; `None` if the sentence has no tags at all.
        certain: for each form, whether it is certainly a word; `None`: every form is.
        location: file and line, for messages.

    Raises:
        CorpusError: an empty form, or tags or marks of certainty of a different length.
    """

    forms: tuple[str, ...]
    tags: tuple[Candidates, ...] | None = None
    certain: tuple[bool, ...] | None = None
    location: Location = field(default_factory=Location)

    def __post_init__(self) -> None:
        for name, values in (("tags", self.tags), ("marks of certainty", self.certain)):
            if values is not None and len(values) != len(self.forms):
                raise CorpusError(f"{len(values)} {name}", f"{len(self.forms)}, one a word", *self.location)
        if not all(self.forms):
            raise CorpusError("an empty word", "words of at least one character", *self.location)


class _Reading(NamedTuple):
    """The candidates of one character: the set of its letters, and for each label its bit and tag (`None`: no tag)."""

    positions: int
    labels: tuple[tuple[int, str | None], ...]


UNKNOWN = _Reading(ANY_LABEL, ((ANY_LABEL, None),))


def segmentations(sentences: Iterable[Sentence], guideline: str, unit: Unit) -> tuple[Segmentation, ...]:
    """The words of each sentence: its tokens, or those that the guideline layer of its characters determines.

    A sentence without the layer is unknown throughout: its words have no tags, its characters no certain boundaries.

    Raises:
        CorpusError: a label of a character other than B, M, E, S, alone or followed by `-` and a tag.
    """
    if unit == "word":
        return tuple(Segmentation(item.forms, item.layers.get(guideline), None, item.location) for item in sentences)
    readings: dict[Candidates, _Reading] = {None: UNKNOWN}
    return tuple(_from_characters(item, guideline, readings) for item in sentences)


def _from_characters(sentence: Sentence, guideline: str, readings: dict[Candidates, _Reading]) -> Segmentation:
    layer = sentence.layers.get(guideline, (None,) * len(sentence))
    for candidates in layer:
        if candidates is not None and candidates not in readings:
            readings[candidates] = _read(candidates, sentence.location)
    of_characters = [readings[candidates] for candidates in layer]
    gaps, kept = settle([reading.positions for reading in of_characters])
    ends = [gap for gap in range(1, len(gaps)) if gaps[gap] == BOUNDARY]
    spans = list(zip([0, *ends], ends, strict=False))
    certain = tuple(all(gap == NONE for gap in gaps[start + 1 : end]) for start, end in spans)
    tags = tuple(
        _tag(of_characters[start:end], kept[start:end]) if sure else None
        for (start, end), sure in zip(spans, certain, strict=True)
    )
    tagged = any(tag is not None for reading in of_characters for _, tag in reading.labels)
    forms = tuple("".join(sentence.forms[start:end]) for start, end in spans)
    return Segmentation(forms, tags if tagged else None, certain, sentence.location)


def _read(candidates: tuple[str, ...], location: Location) -> _Reading:
    labels = []
    positions = 0
    for label in candidates:
        position, hyphen, tag = label.partition("-")
        if position not in BITS or (hyphen and not tag):
            raise CorpusError(f"the label {label!r}", "B, M, E or S, alone or with a tag as in B-NN", *location)
        labels.append((BITS[position], None if tag in ("", "*") else tag))
        positions |= BITS[position]
    return _Reading(positions, tuple(labels))


def settle(positions: Sequence[int]) -> tuple[list[int], list[int]]:
    """The values of the T + 1 gaps and the labels of the T characters that the label sets of a sentence allow.

    Exact if some sequence of labels fits: a value is kept if and only if a fitting sequence has it.

    Returns:
        the T + 1 sets of the gaps (bits NONE and BOUNDARY), and the T sets of labels (bits B, M, E, S) that remain.
    """
    gaps, kept = [BOUNDARY], []
    for labels in positions:
        fitting = labels & AFTER_GAP[gaps[-1]]
        if not fitting:  # a contradiction: one side says boundary
            gaps[-1], fitting = BOUNDARY, labels
        kept.append(fitting)
        gaps.append(GAP_AFTER[fitting])
    gaps[-1] = BOUNDARY
    for at in reversed(range(len(kept))):
        kept[at] = kept[at] & BEFORE_GAP[gaps[at + 1]] or kept[at]
        gaps[at] = gaps[at] & GAP_BEFORE[kept[at]] or gaps[at]
    return gaps, kept


def _tag(readings: Sequence[_Reading], kept: Sequence[int]) -> Candidates:
    """The tags that every character of a word allows; those of its first tagged character if they disagree."""
    first: Candidates = None
    common: Candidates = None
    for reading, positions in zip(readings, kept, strict=True):
        tags = dict.fromkeys(tag for position, tag in reading.labels if position & positions)
        if None in tags:  # a label without a tag allows every tag
            continue
        allowed = tuple(tag for tag in tags if tag is not None)
        first = first or allowed
        common = allowed if common is None else tuple(tag for tag in common if tag in tags)
    return common or first


def training_words(corpus: Corpus) -> frozenset[str]:
    """The words of a corpus: of a corpus of characters those that its annotation settles."""
    return frozenset(
        form
        for sentence in segmentations(corpus.sentences, corpus.guideline, corpus.unit)
        for form, sure in zip(sentence.forms, sentence.certain or (True,) * len(sentence.forms), strict=True)
        if sure
    )
