"""The best label sequences of a sentence, as tag sequences of one view of the labels, with their probabilities.

Where every label is its own tag, these are the k best sequences of the chain. Where several labels project to one tag
(a bundle of two guidelines, seen from one of them), a tag sequence t stands for many label sequences y:

    p(t | x) = sum over y that project to t of p(y | x) = Z(x; labels that project to t) / Z(x)

so its probability is a quotient of the same sums as in the loss. Finding the most probable tag sequence would take
trying all of them; the candidates are the distinct projections of the best label sequences. They are found by Lawler's
division of the space of sequences (1972, "A procedure for computing the k best solutions to discrete optimization
problems"): without the projection of its best sequence, a space falls into one part for each position i, whose
sequences agree with the best one's tags before i and have another tag at i. Constrained decoding finds the best
sequence of a part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.features.encoded import Encoded
from tagweave.labels.sets import LabelSets
from tagweave.labels.space import View
from tagweave.models.chain import ChainModel

Ints = NDArray[np.int32]


@dataclass(frozen=True)
class Ranked:
    """One of the best label sequences of a sentence.

    Attributes:
        labels: one per token.
        probability: the probability of the whole sequence.
    """

    labels: tuple[str, ...]
    probability: float


def ranked(model: ChainModel, sentence: Encoded, sets: LabelSets, view: View, k: int) -> list[Ranked]:
    """The n <= k best tag sequences of one encoded sentence that its evidence allows, the most probable first.

    Args:
        model: the model.
        sentence: one sentence of L tokens, with its evidence.
        sets: the label sets of the evidence, which may grow.
        view: the view whose tags are ranked. If several labels share a tag, the result are the tag sequences of the
            best label sequences, and the most probable one need not be that of the best label sequence.
        k: how many; the result is shorter if there are fewer, and empty if the evidence allows none.

    Raises:
        ValueError: k < 1.
    """
    if k < 1:
        raise ValueError(f"found k = {k}, expected 1 or more")
    if view.is_identity:
        tags, scores = model.k_best(sentence, 0, k, sets.masks)
        _, log_z = model.marginals(sentence, sets.masks)
        logarithms = scores - log_z[0]
    else:
        tags = _Division(model, sentence, sets, view).best(k)
        logarithms = _log_probabilities(model, sentence, sets, view, tags)
    order = np.argsort(-logarithms, kind="stable")
    probabilities = np.minimum(np.exp(logarithms), 1).tolist()
    return [Ranked(tuple(view.names[tag] for tag in tags[i]), probabilities[i]) for i in order]


def _log_probabilities(
    model: ChainModel, sentence: Encoded, sets: LabelSets, view: View, tags: NDArray[Any]
) -> NDArray[np.float64]:
    """float64[n]: log p of tag sequences [n, L] under the evidence: log Z restricted to the tags, minus log Z."""
    of_tag, allow = _TagSets(sets, view), sentence.allow.tolist()
    given = [[sets.join(a, of_tag.only(tag)) for a, tag in zip(allow, row, strict=True)] for row in tags.tolist()]
    _, log_z = model.marginals(_copies(sentence, [allow, *given]), sets.masks)
    return np.asarray(log_z[1:] - log_z[0])


def _copies(sentence: Encoded, evidence: Sequence[Sequence[int]]) -> Encoded:
    """The sentence once for each of several evidences."""
    allow = np.array(evidence, np.int32).reshape(-1)
    return sentence.take(np.zeros(len(evidence), np.int64)).with_evidence(allow)


class _TagSets:
    """For a tag of a view, the set of labels that project to it, and of those that do not."""

    def __init__(self, sets: LabelSets, view: View) -> None:
        self._sets, self._view = sets, view

    def only(self, tag: int) -> int:
        return self._sets.of_labels(np.flatnonzero(self._view.projection == tag))

    def without(self, number: int, tag: int) -> int | None:
        """The set `number` without the labels of a tag; `None` if nothing is left."""
        left = [label for label in self._sets.labels(number) if self._view.projection[label] != tag]
        return self._sets.of_labels(left) if left else None


class _Division:
    """The label sequences of a sentence, divided into parts by their tags, with a queue of the best of each part."""

    def __init__(self, model: ChainModel, sentence: Encoded, sets: LabelSets, view: View) -> None:
        self._model, self._sentence, self._sets, self._view = model, sentence, sets, view
        self._of_tag = _TagSets(sets, view)
        self._queue: list[tuple[float, int, list[int], list[int], int]] = []
        self._parts = 0

    def best(self, k: int) -> NDArray[Any]:
        """[n, L], n <= k: the distinct tag sequences of the best label sequences, best first."""
        found: list[list[int]] = []
        self._add([(self._sentence.allow.tolist(), 0)])
        while self._queue and len(found) < k:
            _, _, tags, allow, first = heappop(self._queue)
            found.append(tags)
            if len(found) < k:
                self._add(self._divided(tags, allow, first))
        return np.array(found, np.int32).reshape(len(found), self._sentence.tokens)

    def _divided(self, tags: list[int], allow: list[int], first: int) -> list[tuple[list[int], int]]:
        """The parts of a part without its best sequence; its tags before `first` are fixed."""
        parts, prefix = [], list(allow)
        for i in range(first, len(tags)):
            if (other := self._of_tag.without(allow[i], tags[i])) is not None:
                parts.append(([*prefix[:i], other, *allow[i + 1 :]], i))
            prefix[i] = self._sets.join(allow[i], self._of_tag.only(tags[i]))
        return parts

    def _add(self, parts: Sequence[tuple[list[int], int]]) -> None:
        """Decode parts, all at once, and queue those that have a sequence."""
        if not parts:
            return
        copies, length = _copies(self._sentence, [allow for allow, _ in parts]), self._sentence.tokens
        labels = self._model.best(copies, self._sets.masks)
        possible = labels.reshape(len(parts), length).min(axis=1, initial=0) >= 0
        scores = self._model.sequence_scores(copies, np.maximum(labels, 0))
        for number in np.flatnonzero(possible).tolist():
            tags = self._view.projection[labels[number * length : (number + 1) * length]].tolist()
            allow, first = parts[number]
            # the running number breaks ties, so that the order is always the same
            heappush(self._queue, (-float(scores[number]), self._parts, tags, allow, first))
            self._parts += 1
