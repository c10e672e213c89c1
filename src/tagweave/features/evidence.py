"""From annotation layers to label sets: what the evidence of every token allows, as numbers into a table of sets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.errors import CorpusError
from tagweave.corpus.sentence import Candidates, Sentence
from tagweave.labels.sets import ALL, LabelSets
from tagweave.labels.space import LabelSpace, UnknownLabelError
from tagweave.labels.transition_scheme import TransitionScheme

OUTSIDE = "O"
"""The label that says "nothing of what we look for"."""
_SHOWN = 12  # labels in a message


def allowed_sets(
    sentences: Sequence[Sentence],
    sets: LabelSets,
    scheme: TransitionScheme | None = None,
    covered: Iterable[str] | None = None,
) -> NDArray[np.int32]:
    """int32[N]: the number of the label set that each token allows.

    Every layer of a sentence that is a guideline of the label space counts; a token with several allows what all of
    them allow. A set that only excludes what the scheme excludes anyway says nothing, and becomes the set of all
    labels.

    Args:
        sentences: N tokens in all.
        sets: the table, which grows.
        scheme: the transitions of the coding.
        covered: the labels (or types, the part after `B-`) that the annotators looked for. `O` then also allows every
            label of other types.

    Raises:
        CorpusError: a label that the space does not have, also a covered one, or layers that exclude one another.
    """
    resolve = _Resolver(sets, None if covered is None else _known(covered, sets.space, sentences))
    edges = _Edges(sets, scheme) if scheme else None
    allowed: list[int] = []
    for sentence in sentences:
        numbers = resolve.sentence(sentence)
        allowed.extend(edges.widened(numbers) if edges else numbers)
    return np.array(allowed, np.int32)


def _known(covered: Iterable[str], space: LabelSpace, sentences: Sequence[Sentence]) -> tuple[str, ...]:
    """The covered labels, each of which is a label of some guideline, or has the type of one."""
    known = {name for view in space.sides for label in view.names for name in (label, label.partition("-")[2] or label)}
    for label in (labels := tuple(covered)):
        if label not in known and label.partition("-")[2] not in known:
            near = get_close_matches(label, sorted(known), 1, 0.5)
            hint = f" (perhaps {near[0]})" if near else ""
            path = sentences[0].location.path if sentences else ""
            names = " ".join(sorted(known)[:_SHOWN]) + (" ..." if len(known) > _SHOWN else "")
            raise CorpusError(f"the covered label {label!r}", f"labels or types of labels, {names}{hint}", path)
    return labels


class _Resolver:
    """Looks candidates up, with every distinct candidate tuple resolved once."""

    def __init__(self, sets: LabelSets, covered: Iterable[str] | None) -> None:
        self._sets = sets
        self._covered = None if covered is None else frozenset(covered)
        self._cache: dict[tuple[str, Candidates], int] = {}

    def sentence(self, sentence: Sentence) -> list[int]:
        numbers: list[int] = [ALL] * len(sentence)
        for guideline in self._sets.space.guidelines:
            if guideline not in sentence.layers:
                continue
            own = [self._number(guideline, candidates, sentence) for candidates in sentence.layers[guideline]]
            if any(numbers):
                own = [self._join(a, b, sentence, at) for at, (a, b) in enumerate(zip(numbers, own, strict=True))]
            numbers = own
        return numbers

    def _number(self, guideline: str, candidates: Candidates, sentence: Sentence) -> int:
        key = (guideline, candidates)
        if key not in self._cache:
            try:
                self._cache[key] = self._sets.of_candidates(guideline, self._widen(guideline, candidates))
            except UnknownLabelError as error:
                raise CorpusError(str(error), "labels of the model", *sentence.location) from error
        return self._cache[key]

    def _join(self, first: int, second: int, sentence: Sentence, at: int) -> int:
        try:
            return self._sets.join(first, second)
        except ValueError as error:
            known = (
                (name, sentence.layers[name][at]) for name in self._sets.space.guidelines if name in sentence.layers
            )
            told = ", ".join(f"{name} {'|'.join(candidates)}" for name, candidates in known if candidates)
            found = f"layers that exclude one another at token {at + 1}, {sentence.forms[at]!r} ({told})"
            raise CorpusError(found, "a label that all allow", *sentence.location) from error

    def _widen(self, guideline: str, candidates: Candidates) -> Candidates:
        """`O` in a corpus that covers only some types allows the labels of the other types too."""
        if self._covered is None or candidates is None or OUTSIDE not in candidates:
            return candidates
        names = self._sets.space.view(guideline).names
        others = [name for name in names if name != OUTSIDE and not self._covered & {name, name.partition("-")[2]}]
        return tuple(dict.fromkeys([*candidates, *others]))


class _Edges:
    """Turns sets that say no more than the scheme does, at the edges of a sentence, into the set of all labels."""

    def __init__(self, sets: LabelSets, scheme: TransitionScheme) -> None:
        self._sets, self._scheme = sets, scheme
        self._empty: dict[tuple[int, bool, bool], bool] = {}

    def widened(self, numbers: list[int]) -> list[int]:
        for at in {0, len(numbers) - 1} if numbers else ():
            key = (numbers[at], at == 0, at == len(numbers) - 1)
            if key not in self._empty:
                self._empty[key] = self._says_nothing(*key)
            if self._empty[key]:
                numbers[at] = ALL
        return numbers

    def _says_nothing(self, number: int, first: bool, last: bool) -> bool:
        possible = np.ones(len(self._sets.space), bool)
        if first:
            possible &= self._scheme.start
        if last:
            possible &= self._scheme.end
        labels = self._sets.labels(number)
        return bool(np.isin(np.flatnonzero(possible), labels).all())
