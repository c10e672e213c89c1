"""Votes of sources on whole spans."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tagweave.labels.transition_scheme import split_label
from tagweave.sources.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from tagweave.sources.answers import Answers


class _Marked(NamedTuple):
    """A span of positions, as one source marked it."""

    start: int
    stop: int
    type: str


def whole_spans(answers: Answers) -> NDArray[np.int32]:
    """int32[N]: the labels of the spans that more than half of those who answered at their start mark; others are O.

    Raises:
        SourceError: the labels are not those of spans.
    """
    if answers.scheme.is_free:
        raise SourceError(f"found the labels {' '.join(answers.labels[:8])}, expected those of spans, as B-X I-X O")
    number = {label: i for i, label in enumerate(answers.labels)}
    votes = Counter(_marked(answers))
    voters = np.bincount(answers.position, answers.shares, answers.positions)
    best = np.full(answers.positions, number["O"], np.int32)
    for span, count in votes.most_common():
        if 2 * count > voters[span.start] and (best[span.start : span.stop] == number["O"]).all():
            best[span.start : span.stop] = number[_label("I", span.type)]
            best[span.start] = number[_label("B", span.type)]
    return best


def _label(letter: str, kind: str) -> str:
    return f"{letter}-{kind}" if kind else letter


def _marked(answers: Answers) -> Iterator[_Marked]:
    """The spans of every source; of several labels at a position the first with the largest share counts."""
    parts = [split_label(label) for label in answers.labels]
    sentence = np.searchsorted(answers.sentence_ptr, answers.position, side="right")
    order = np.lexsort((-answers.shares, answers.position, answers.source))
    start, stop, kind, last = -1, -1, "", (-1, -1, -1)
    for row in order:
        at, source, label = int(answers.position[row]), int(answers.source[row]), int(answers.label[row])
        if (source, at) == last[:2]:
            continue
        letter, own = parts[label]
        goes_on = letter == "I" and own == kind and start >= 0 and (source, at - 1, sentence[row]) == last
        if start >= 0 and not goes_on:
            yield _Marked(start, stop, kind)
            start = -1
        if letter != "O":
            start, stop, kind = start if goes_on else at, at + 1, own
        last = (source, at, int(sentence[row]))
    if start >= 0:
        yield _Marked(start, stop, kind)
