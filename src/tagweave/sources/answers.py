"""Answers: what many sources of annotation say of the same positions, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus import chunk_schemes
from tagweave.corpus.candidates import Soft
from tagweave.corpus.spans import OUTSIDE
from tagweave.errors import CorpusError, SourceError
from tagweave.evidence.sequences import pointers, rows
from tagweave.kernels.distributions import link_previous
from tagweave.labels.space import LabelSpace, View, collect_names
from tagweave.labels.transition_scheme import TransitionScheme, type_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tagweave.corpus.sentence import Sentence

_EXPECTED = 10  # labels of a type that a source lacks, if it marked all types as the others do
_LEAST_OVERLAP = 0.1  # ten labelling functions, 2 % of whose answers met, had F 0 by `bsc`, 69 by votes


@dataclass(frozen=True)
class Answers:
    """The answers of K sources to the N positions of S sentences, as A rows (position, source, label).

    Where a source says nothing, there is no row. A source that answers with probabilities, or with a set of candidates,
    has several rows at a position, whose shares sum to 1. Labels of spans are in IOB2.
    """

    labels: tuple[str, ...]  # the Y labels
    sources: tuple[str, ...]  # the K names of sources
    sentence_ptr: NDArray[np.int64]  # int64[S + 1], the first position of every sentence
    position: NDArray[np.int32]  # int32[A], rising
    source: NDArray[np.int32]  # int32[A], rising within a position
    label: NDArray[np.int32]  # int32[A]
    share: NDArray[np.float32]  # float32[A], how much of the source's answer this label is; empty: 1 everywhere

    def __len__(self) -> int:
        return len(self.position)

    @property
    def positions(self) -> int:
        return int(self.sentence_ptr[-1])

    @cached_property
    def scheme(self) -> TransitionScheme:
        """Which label may follow which: as in IOB2 for labels of spans; otherwise every label may."""
        if chunk_schemes.codes_chunks(self.labels):
            return TransitionScheme.of("IOB2", self.labels)
        return TransitionScheme.free(len(self.labels))

    @cached_property
    def shares(self) -> NDArray[np.float32]:
        """float32[A]: the share of every row."""
        return self.share if len(self.share) else np.ones(len(self), np.float32)

    @cached_property
    def previous(self) -> NDArray[np.int64]:
        """int64[A]: the first row of the same source at the position before, -1 if it said nothing there."""
        previous = np.empty(len(self), np.int64)
        link_previous(self.sentence_ptr, self.position, self.source, previous)
        return previous

    @cached_property
    def first(self) -> NDArray[np.bool_]:
        """bool[A]: whether a row is the first one of its answer."""
        first = np.ones(len(self), bool)
        first[1:] = (np.diff(self.position) != 0) | (np.diff(self.source) != 0)
        return first

    @cached_property
    def answered(self) -> NDArray[np.int64]:
        """int64[N]: how many sources answer each position."""
        answered: NDArray[np.int64] = np.bincount(self.position[self.first], minlength=self.positions)
        return answered

    def overlap(self) -> float:
        """Return the share of answered positions where answers can show who is right: several sources meet.

        Beside a list, which two answers do not tell from one that misses names, three are needed.
        """
        needed = np.full(self.positions, 2)
        needed[self.position[np.isin(self.source, self.lists)]] = 3
        meets = (self.answered >= needed)[self.answered > 0]
        return float(meets.mean()) if len(meets) else 0.0

    @property
    def hardly_overlap(self) -> bool:
        return self.overlap() < _LEAST_OVERLAP

    @cached_property
    def given(self) -> NDArray[np.float64]:
        """float64[K, Y]: how often each source gave each label."""
        cells = self.source.astype(np.int64) * len(self.labels) + self.label
        counts = np.bincount(cells, self.shares, len(self.sources) * len(self.labels))
        return counts.astype(np.float64).reshape(-1, len(self.labels))

    @cached_property
    def lists(self) -> tuple[int, ...]:
        """The numbers of sources that give labels of spans and never `O`, which others give: lists and rules."""
        outside = self._outside
        return tuple(np.flatnonzero(outside.any() & (outside == 0) & (self.given.sum(axis=1) > 0)).tolist())

    @cached_property
    def excluders(self) -> tuple[int, ...]:
        """The numbers of sources that give no label but `O`."""
        outside = self._outside
        return tuple(np.flatnonzero((outside > 0) & (self.given.sum(axis=1) == outside)).tolist())

    @property
    def _outside(self) -> NDArray[np.float64]:
        """float64[K]: how often each source said that there is no span; 0 where labels do not code spans."""
        return np.zeros(len(self.sources)) if self.scheme.is_free else self.given[:, self.labels.index(OUTSIDE)]

    @cached_property
    def partial(self) -> dict[int, tuple[str, ...]]:
        """By number, the types of spans that a source marks if it never marks others, where ten would be expected."""
        if self.scheme.is_free:
            return {}
        kinds = [*map(type_of, self.labels)]
        types = sorted({*kinds} - {OUTSIDE})
        columns = [[y for y, kind in enumerate(kinds) if kind == wanted] for wanted in types]
        counts = np.stack([self.given[:, labels].sum(axis=1) for labels in columns], axis=1)
        expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / max(counts.sum(), 1)
        lacks = ((counts == 0) & (expected >= _EXPECTED)).any(axis=1)
        return {k: tuple(types[i] for i in np.flatnonzero(counts[k])) for k in np.flatnonzero(lacks).tolist()}

    def counts(self) -> NDArray[np.float64]:
        """Return float64[K]: how many positions each source answered."""
        counts: NDArray[np.float64] = np.bincount(self.source, self.shares, len(self.sources)).astype(np.float64)
        return counts

    def votes(self, weights: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Return float64[N, Y]: how many sources, counted by `weights` [K], gave each label at each position."""
        size = len(self.labels)
        cells = self.position.astype(np.int64) * size + self.label
        counted = self.shares if weights is None else self.shares * weights[self.source]
        votes: NDArray[np.float64] = np.bincount(cells, counted, self.positions * size).astype(np.float64)
        return votes.reshape(-1, size)

    @classmethod
    def of_rows(
        cls,
        labels: Sequence[str],
        sources: Sequence[str],
        sentence_ptr: NDArray[np.int64],
        position: NDArray[np.int32],
        source: NDArray[np.int32],
        label: NDArray[np.int32],
        share: NDArray[np.float32] | None = None,
    ) -> Answers:
        """Sort rows into answers."""
        shares = np.zeros(0, np.float32) if share is None or (share == 1).all() else share.astype(np.float32)
        order = np.lexsort((source, position))
        position, source, label = (column[order].astype(np.int32) for column in (position, source, label))
        shares = shares[order] if len(shares) else shares
        return cls(tuple(labels), tuple(sources), sentence_ptr, position, source, label, shares)

    @classmethod
    def of_sentences(cls, sentences: Iterable[Sentence], sources: Sequence[str]) -> Answers:
        """Read answers from layers of sentences, one for each source; k candidates without numbers count 1/k."""
        cells: list[tuple[int, int, int]] = []  # position, source, number of the distinct answer
        distinct: dict[tuple[str, ...], int] = {}
        ptr = [0]
        for sentence in sentences:
            for source, name in enumerate(sources):
                if sentence.rejected.get(name):
                    wanted = "labels alone, to compare sources by tokens: leave out the comments `# rejected`"
                    raise CorpusError(f"rejected spans of the source {name}", wanted, *sentence.location)
                for position, candidates in enumerate(sentence.layers.get(name, ()), ptr[-1]):
                    if candidates is not None:
                        cells.append((position, source, distinct.setdefault(candidates, len(distinct))))
            ptr.append(ptr[-1] + len(sentence))
        if not cells:
            raise SourceError(f"found no label in the layers {', '.join(sources)}, expected some")
        labels = collect_names([tuple(distinct)])
        if chunk_schemes.codes_chunks(labels):  # all labels of the types of spans
            labels = chunk_schemes.labels(labels, "IOB2")
        (view,) = LabelSpace.plain("answers", labels).views
        parts = [_parts(answer, view) for answer in distinct]
        label = np.array([tag for shares in parts for tag in shares], np.int32)
        share = np.array([number for shares in parts for number in shares.values()], np.float32)
        position, source, answer = np.array(cells, np.int64).T
        answer_ptr = pointers(np.array([len(shares) for shares in parts]))
        of_answer, _ = rows(answer_ptr, answer)
        times = np.diff(answer_ptr)[answer]
        columns = np.repeat(position, times), np.repeat(source, times), label[of_answer], share[of_answer]
        return cls.of_rows(labels, sources, np.array(ptr, np.int64), *columns)


def _parts(answer: tuple[str, ...], view: View) -> dict[int, float]:
    """Return the share of each label in an answer; labels of one candidate share its number."""
    if not isinstance(answer, Soft):
        tags = dict.fromkeys(tag for candidate in answer for tag in view.tags(candidate))
        return dict.fromkeys(tags, 1 / len(tags))
    parts: dict[int, float] = {}
    for group, number in enumerate(answer.numbers):
        tags_of_group = {
            tag
            for candidate, of in zip(answer, answer.groups, strict=True)
            if of == group
            for tag in view.tags(candidate)
        }
        for tag in sorted(tags_of_group) if number else ():
            parts[tag] = parts.get(tag, 0.0) + number / (len(tags_of_group) * sum(answer.numbers))
    return parts
