"""From annotation layers to evidence: the label set that every token allows, as a number into a table of sets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from functools import cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.candidates import Soft
from tagweave.corpus.sentence import Candidates, Sentence
from tagweave.corpus.spans import ANY, OUTSIDE
from tagweave.errors import CorpusError
from tagweave.labels.sets import ALL, LabelSets
from tagweave.labels.space import LabelSpace
from tagweave.labels.spans import span_types
from tagweave.labels.transition_scheme import TransitionScheme, codes_spans, type_of

_SHOWN = 12  # most labels in a message


def token_noise(sentences: Sequence[Sentence]) -> NDArray[np.float64]:
    """Return float64[N]: 1 - confidence, the share of its potential that an excluded label keeps; empty without any."""
    if not any(sentence.confidence for sentence in sentences):
        return np.zeros(0)
    confidences = (sentence.confidence or (1.0,) * len(sentence) for sentence in sentences)
    return 1 - np.fromiter(chain.from_iterable(confidences), np.float64)


def allowed_sets(
    sentences: Sequence[Sentence],
    sets: LabelSets,
    scheme: TransitionScheme | None = None,
    covered: Iterable[str] | None = None,
) -> NDArray[np.int32]:
    """Return int32[N]: the number of the label set that each token allows; new sets are added to the table.

    Every layer of a sentence that is a guideline of the label space counts; a token with several layers allows the
    intersection of their sets. A set that excludes no more than the scheme does becomes the set of all labels.
    `covered` are the labels (or types, the part after `B-`) that annotators looked for, unless a sentence names its
    own: `O` then also allows every label of other types.
    """
    named = None if covered is None else tuple(covered)
    check_covered(sentences, sets.space, named)
    resolver, allowed = _Resolver(sets, named), list[int]()

    @cache
    def excludes_nothing(number: int, first: bool, last: bool) -> bool:
        possible = np.ones(len(sets.space), bool)
        if scheme and first:
            possible &= scheme.start
        if scheme and last:
            possible &= scheme.end
        return sets.is_level(number, possible)

    for sentence in sentences:
        numbers = resolver.numbers(sentence)
        for at in {0, len(numbers) - 1} if scheme and numbers else ():
            if excludes_nothing(numbers[at], at == 0, at == len(numbers) - 1):
                numbers[at] = ALL
        allowed += numbers
    return np.array(allowed, np.int32)


def rejected_spans(sentences: Sequence[Sentence], space: LabelSpace) -> NDArray[np.int32]:
    """Return int32[R, 5], the rejected spans in the layers of the space's guidelines, as `Evidence` has them.

    A span of the type `*` is rejected with every type; one of a type that no label has is not there anyway.
    """
    rows: list[tuple[int, ...]] = []
    for number, sentence in enumerate(sentences):
        if any(map(sentence.rejected.get, space.guidelines)):
            if len(space.views) > 1:
                raise CorpusError("rejected spans for a model of several guidelines", "none", *sentence.location)
            spans = sentence.rejected[space.guidelines[0]]
            for kind, name in enumerate(span_types(space.names)):
                bounds = [(start, stop) for start, stop, label in spans if label in (name, ANY) and stop is not None]
                starts = sorted({start for start, _ in bounds})
                rows += [(number, start, stop, kind, starts.index(start)) for start, stop in bounds]
    return np.array(rows, np.int32).reshape(-1, 5)


def check_covered(sentences: Sequence[Sentence], space: LabelSpace, covered: tuple[str, ...] | None) -> None:
    """Raise CorpusError for covered labels, of all sentences or of single ones, that are unknown to a space."""
    for labels in {covered, *(sentence.covered for sentence in sentences)} - {None}:
        _check_known(labels or (), space, sentences)


def _check_known(covered: Iterable[str], space: LabelSpace, sentences: Sequence[Sentence]) -> None:
    """Raise unless each covered label is a label of some guideline, or has the type of one; of spans, types are told.

    Covered types of spans have become labels of the coding of the space.
    """
    names = [name for view in space.sides for name in view.names]
    types = {type_of(name) or name for name in names}
    possible, what = (types, "type") if codes_spans(names) else (types.union(names), "label or type")
    for label in covered:
        if possible.union(names).isdisjoint({label, type_of(label)}):
            said = type_of(label) or label if what == "type" else label
            near = get_close_matches(said, sorted(possible), 1, 0.5)
            hint = f" (perhaps {near[0]})" if near else ""
            path = sentences[0].location.path if sentences else ""
            listed = " ".join(sorted(possible)[:_SHOWN]) + (" ..." if len(possible) > _SHOWN else "")
            raise CorpusError(f"the covered {what} {said!r}", f"one of {listed}{hint}", path)


class _Resolver:
    """Looks up label sets, resolving every distinct tuple of candidates once."""

    def __init__(self, sets: LabelSets, covered: tuple[str, ...] | None) -> None:
        self._sets, self._covered = sets, covered
        self._known: dict[tuple[str, tuple[str, ...] | None], dict[Candidates, int]] = {}

    def numbers(self, sentence: Sentence) -> list[int]:
        numbers: list[int] = [ALL] * len(sentence)
        covered = self._covered if sentence.covered is None else sentence.covered
        for guideline in self._sets.space.guidelines:
            layer = sentence.layers.get(guideline, ())
            if not any(layer):
                continue
            number_of = self._known.setdefault((guideline, covered), {})
            for candidates in dict.fromkeys(layer):
                if candidates not in number_of:
                    number_of[candidates] = self._resolved(guideline, candidates, covered, sentence)
            layer_numbers = list(map(number_of.__getitem__, layer))
            if any(numbers):
                layer_numbers = [
                    self._join(a, b, sentence, at) for at, (a, b) in enumerate(zip(numbers, layer_numbers, strict=True))
                ]
            numbers = layer_numbers
        return numbers

    def _resolved(
        self, guideline: str, candidates: Candidates, covered: tuple[str, ...] | None, sentence: Sentence
    ) -> int:
        try:
            return self._sets.of_candidates(guideline, self._widen(guideline, candidates, covered))
        except CorpusError as error:
            raise CorpusError(error.found, error.expected, *sentence.location) from error
        except ValueError as error:  # an unknown label, or candidates that no label stands for
            raise CorpusError(str(error), "labels of the model", *sentence.location) from error

    def _join(self, first: int, second: int, sentence: Sentence, at: int) -> int:
        try:
            return self._sets.join(first, second)
        except ValueError as error:
            names = (name for name in self._sets.space.guidelines if name in sentence.layers)
            layers_there = ((name, sentence.layers[name][at]) for name in names)
            layers = ", ".join(f"{name} {'|'.join(candidates)}" for name, candidates in layers_there if candidates)
            problem = f"layers that exclude one another at token {at + 1}, {sentence.forms[at]!r} ({layers})"
            raise CorpusError(problem, "a label that all allow", *sentence.location) from error

    def _widen(self, guideline: str, candidates: Candidates, covered: tuple[str, ...] | None) -> Candidates:
        """If only some types are covered, `O` also allows the labels of the other types."""
        if covered is None or candidates is None or OUTSIDE not in candidates:
            return candidates
        names = self._sets.space.view(guideline).names
        uncovered = [name for name in names if name != OUTSIDE and {name, type_of(name)}.isdisjoint(covered)]
        if isinstance(candidates, Soft):
            return candidates.spelled([*candidates, *uncovered], [*candidates, *[OUTSIDE] * len(uncovered)])
        return tuple(dict.fromkeys([*candidates, *uncovered]))
