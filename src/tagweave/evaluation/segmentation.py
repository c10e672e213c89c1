"""Words of a sentence, as far as its annotation says where they end.

Characters carry labels B, M, E, S, alone or with a tag (`B-NN`; `B-*` where it is unknown). A label says whether a word
boundary stands before its character and whether one stands after it, so the labels of a sentence leave to each of the
gaps around its characters a set: boundary, no boundary, or both. That set is computed exactly, by one pass forward and
one back over the chain: an unknown position between two known ones is settled where they settle it, and nowhere else.

A *word* is a stretch between two certain boundaries with no boundary, for certain, inside. Other stretches between two
certain boundaries are kept as one form, marked as not certain: nobody knows what the words in them are.

Labels that contradict each other at a gap (`B` before `S`, `E` before `M`, a sentence that starts with `M`) are decoded
leniently: the gap is a boundary, since one side says so, and each character keeps what it says about its other gap.
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

# Sets as bits: of labels, and of what a gap may be.
B, M, E, S = 1, 2, 4, 8
BITS = {"B": B, "M": M, "E": E, "S": S}
ANY_LABEL = B | M | E | S
NONE, BOUNDARY, EITHER = 1, 2, 3
AFTER_GAP = (0, M | E, B | S, ANY_LABEL)  # per set of a gap: the labels that may follow it
BEFORE_GAP = (0, B | M, E | S, ANY_LABEL)  # ... and those that may precede it


def _gap_sets(none: int, boundary: int) -> tuple[int, ...]:
    """Per set of labels, what a gap may be, given the labels that say `none` and those that say `boundary`."""
    return tuple((NONE if labels & none else 0) | (BOUNDARY if labels & boundary else 0) for labels in range(16))


GAP_BEFORE, GAP_AFTER = _gap_sets(M | E, B | S), _gap_sets(B | M, E | S)


@dataclass(frozen=True, slots=True)
class Segmentation:
    """The words of a sentence.

    Attributes:
        forms: the words, and the stretches whose words are not certain, in order; together the text.
        tags: per form the candidates of its tag; `None` where the sentence has no tags at all.
        certain: per form, whether it is a word for certain; `None`: every form is.
        location: file and line, for messages.

    Raises:
        CorpusError: an empty form, or tags or certainty of another length.
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
    """What the labels of one character allow: a set of positions, and per label its bit and tag (`None`: untagged)."""

    positions: int
    labels: tuple[tuple[int, str | None], ...]


UNKNOWN = _Reading(ANY_LABEL, ((ANY_LABEL, None),))


def segmentations(sentences: Iterable[Sentence], guideline: str, unit: Unit) -> tuple[Segmentation, ...]:
    """The words of each sentence: its tokens, or what the guideline layer says of its characters.

    A sentence without the layer is unknown throughout: its words have no tags, its characters no certain boundary.

    Raises:
        CorpusError: a label of a character that is none of B, M, E, S, alone or followed by `-` and a tag.
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
    found = [readings[candidates] for candidates in layer]
    gaps, kept = settle([reading.positions for reading in found])
    ends = [gap for gap in range(1, len(gaps)) if gaps[gap] == BOUNDARY]
    spans = list(zip([0, *ends], ends, strict=False))
    certain = tuple(all(gap == NONE for gap in gaps[start + 1 : end]) for start, end in spans)
    tags = tuple(
        _tag(found[start:end], kept[start:end]) if sure else None
        for (start, end), sure in zip(spans, certain, strict=True)
    )
    tagged = any(tag is not None for reading in found for _, tag in reading.labels)
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
    """What the T label sets of a sentence leave to its T + 1 gaps and to its characters.

    Exact where some sequence of labels fits: a value is kept if and only if a fitting sequence has it.

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
    """The tags that every character of a word allows; those of its first tagged character where they disagree."""
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
