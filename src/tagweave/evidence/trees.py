"""Evidence of trees: the only head of each token, several, or a number for each (`Soft`), and relations of known arcs.

A likelihood, P(observation | head), takes the place of the ones of a set, scaled to a maximum of 1. Where only the
relations of a head differ, it has the largest of their numbers, so that equal numbers are a set. A posterior, P(head |
observation), sums over relations. In training, an excluded head keeps 1 - confidence of its potential.

Position 0 of a sentence is the root, so a sentence of L tokens has L + 1 positions and (L + 1)^2 cells, one for each
head and modifier.

Numbers of candidates with the chosen head, or with none, are numbers of their relations: given the head, the likelihood
of a relation is proportional to P(observation | head, relation), and its probability to P(head, relation |
observation).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.candidates import Soft
from tagweave.corpus.sentence import Arc, ArcCandidates, HeadLayer, Sentence
from tagweave.errors import CorpusError
from tagweave.evidence.layers import token_noise
from tagweave.evidence.sequences import pointers, rows
from tagweave.labels.sets import Reading, sums_to_one

ANY, SEVERAL = -1, -2


@dataclass(frozen=True)
class ArcEvidence:
    """Evidence about the heads of S sentences of N tokens."""

    position_ptr: NDArray[np.int64]  # [S + 1], the first position (the root) of every sentence
    # [N + S], by position the known head; `ANY` where all heads are allowed (and at roots), `SEVERAL` where some
    # are
    heads: NDArray[np.int32]
    # uint8[cells], by head and modifier, whether the evidence allows the arc; only for sentences in which some token
    # has several candidate heads or only some tokens have a known one. float32 if there are numbers: likelihoods, or
    # probabilities of heads
    allowed: NDArray[Any]
    allowed_ptr: NDArray[np.int64]  # [S + 1], the first entry of each sentence in `allowed`
    weights: NDArray[np.float64]  # [S], how often each sentence counts
    ids: NDArray[np.int64]  # [S], the number of each sentence among those that training was given, for messages
    # [S], whether the numbers of a sentence are probabilities, which all of its heads have then; empty if there
    # are none
    posterior: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))
    # [N + S], by position the share of its potential that an excluded head keeps in training; empty where all
    # evidence is certain
    noise: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def of_layer(cls, sentences: Sequence[Sentence], layer: str | None, reading: Reading = "likelihood") -> ArcEvidence:
        """Read a head layer; without one, nothing is known."""
        ptr = pointers(np.fromiter(map(len, sentences), np.int64, len(sentences)) + 1)
        heads, allowed = np.full(int(ptr[-1]), ANY, np.int32), [np.zeros(0, np.uint8)] * len(sentences)
        if layer is not None:
            is_token = np.ones(len(heads), bool)
            is_token[ptr[:-1]] = False
            heads[is_token] = [
                only_head(candidates) for s in sentences for candidates in s.heads.get(layer) or (None,) * len(s)
            ]
            bounds = zip(sentences, ptr, ptr[1:], strict=False)
            allowed = [allowed_arcs(sentence, layer, heads[low:high], reading) for sentence, low, high in bounds]
        weights = np.array([sentence.weight for sentence in sentences], np.float64)
        cells, sizes = np.concatenate([np.zeros(0, np.uint8), *allowed]), np.array(list(map(len, allowed)), np.int64)
        posterior = np.array([reading == "posterior" and are_numbers(arcs) for arcs in allowed], np.bool_)
        posterior = posterior if posterior.any() else posterior[:0]
        return cls(ptr, heads, cells, pointers(sizes), weights, np.arange(len(sentences)), posterior)

    def __len__(self) -> int:
        return len(self.position_ptr) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        return np.diff(self.position_ptr) - 1

    @property
    def token_ptr(self) -> NDArray[np.int64]:
        return self.position_ptr - np.arange(len(self.position_ptr))

    @property
    def token_heads(self) -> NDArray[np.int32]:
        """Return int32[N]: `heads` by token, without the roots."""
        return np.delete(self.heads, self.position_ptr[:-1])

    @property
    def cells(self) -> NDArray[np.int64]:
        return pointers(np.diff(self.position_ptr) ** 2)

    def informative(self) -> NDArray[np.bool_]:
        """Return bool[S]: whether the evidence excludes any arc: never in a sentence of one token."""
        annotated = np.concatenate([[0], np.cumsum(self.heads != ANY)])
        return (annotated[self.position_ptr[1:]] > annotated[self.position_ptr[:-1]]) & (self.lengths > 1)

    def part(self, first: int, last: int) -> ArcEvidence:
        """Return sentences first .. last - 1; all but pointers are views."""
        ptr = self.position_ptr[first : last + 1]
        positions = slice(ptr[0], ptr[-1])
        return ArcEvidence(
            ptr - ptr[0],
            self.heads[positions],
            self.allowed,
            self.allowed_ptr[first : last + 1],
            self.weights[first:last],
            self.ids[first:last],
            self.posterior[first:last],
            self.noise[positions],
        )

    def take(self, order: NDArray[np.int64]) -> ArcEvidence:
        positions, ptr = rows(self.position_ptr, order)
        cells, allowed_ptr = rows(self.allowed_ptr, order)
        return ArcEvidence(
            ptr,
            self.heads[positions],
            self.allowed[cells],
            allowed_ptr,
            self.weights[order],
            self.ids[order],
            self.posterior[order] if len(self.posterior) else self.posterior,
            self.noise[positions] if len(self.noise) else self.noise,
        )

    def with_noise(self, sentences: Sequence[Sentence], layer: str) -> ArcEvidence:
        """Return the evidence with the share of its potential that an excluded head keeps (1 - confidence)."""
        noise = head_noise(sentences, layer)
        return replace(self, noise=np.insert(noise, self.token_ptr[:-1], 0)) if noise.any() else self


def only_head(candidates: ArcCandidates) -> int:
    """Return the only head among candidates with a number above 0, `ANY` if all heads are allowed, else `SEVERAL`."""
    if candidates is None:
        return ANY
    if isinstance(candidates, Soft):
        numbers = _largest(candidates)
        of_any = numbers.pop(None, 0.0)
        if of_any > 0:
            return SEVERAL if any(number > of_any for number in numbers.values()) else ANY
        return next(iter(numbers)) or 0 if len(numbers) == 1 else SEVERAL
    heads = {arc.head for arc in candidates}
    if None in heads:
        return ANY
    return next(iter(heads)) or 0 if len(heads) == 1 else SEVERAL


def allowed_arcs(sentence: Sentence, layer: str, heads: NDArray[np.int32], reading: Reading) -> NDArray[Any]:
    """Return the arcs that a sentence of L tokens allows, [L + 1, L + 1] flat, given `only_head` of each position.

    uint8 of a set; float32 with numbers; empty if all is allowed, or one head for every token.
    """
    candidates_of = sentence.heads.get(layer) or ()
    soft = {m: candidates for m, candidates in enumerate(candidates_of, 1) if isinstance(candidates, Soft)}
    if soft and reading == "posterior":
        _check_probabilities(sentence, soft, heads)
    n = len(heads)
    if (heads[1:] >= 0).all() or (heads == ANY).all():
        return np.zeros(0, np.uint8)
    allowed = np.ones((n, n), np.float32 if soft else np.uint8)
    for m in np.flatnonzero(heads != ANY).tolist():
        allowed[:, m] = 0
        if m in soft:
            allowed[:, m] = _numbers(soft[m], n, reading)
        else:
            allowed[[arc.head or 0 for arc in candidates_of[m - 1] or ()], m] = 1
    allowed[:, 0] = 0
    np.fill_diagonal(allowed, 0)
    return (allowed if are_numbers(allowed) else allowed.astype(np.uint8)).reshape(-1)


def are_numbers(allowed: NDArray[Any]) -> bool:
    """Return whether there are any but 0 and 1."""
    return allowed.dtype != np.uint8 and bool(((allowed > 0) & (allowed < 1)).any())


def _largest(candidates: Soft[Arc]) -> dict[int | None, float]:
    """Return every head with the largest number of its candidates, unless that is 0."""
    numbers: dict[int | None, float] = {}
    for arc, number in candidates.numbered():
        if number > numbers.get(arc.head, 0.0):
            numbers[arc.head] = number
    return numbers


def _numbers(candidates: Soft[Arc], n: int, reading: Reading) -> NDArray[np.float64]:
    """Return float64[n]: the numbers of heads. The likelihood of an unknown head is one of every head."""
    row = np.zeros(n)
    if reading == "posterior":
        np.add.at(row, [arc.head or 0 for arc in candidates], [number for _, number in candidates.numbered()])
        return np.asarray(row / row.sum())
    for head, number in _largest(candidates).items():
        at = slice(None) if head is None else head
        row[at] = np.maximum(row[at], number)
    return np.asarray(row / row.max())


def _check_probabilities(sentence: Sentence, soft: dict[int, Soft[Arc]], heads: NDArray[np.int32]) -> None:
    """Raise unless numbers are probabilities, and if any are of several heads, every head is known or has some."""

    def error(problem: str, expected: str) -> CorpusError:
        return CorpusError(problem, f"{expected}, or `soft_labels=likelihood`", *sentence.location)

    if any(confidence < 1 for confidence in sentence.confidence or ()):
        raise error("a confidence in heads with probabilities", "one of the two")
    for m, candidates in soft.items():
        named = [arc.head for arc, number in candidates.numbered() if number > 0]
        if not sums_to_one(candidates.numbers):
            listed = ", ".join(f"{number:g}" for number in candidates.numbers)
            raise error(f"the probabilities {listed} of heads of token {m}", "a sum of 1")
        if None in named and {*named} != {None}:
            raise error(f"a probability of a head of token {m} that is not named", "a head for each")
    is_open = heads < 0
    is_open[list(soft)] &= heads[list(soft)] == ANY
    if any(heads[m] == SEVERAL for m in soft) and is_open[1:].any():
        problem = f"probabilities of heads, but not of those of token {int(is_open[1:].argmax()) + 1}"
        raise error(problem, "a head or probabilities of heads for every token")


def without_disbelieved(sentences: Sequence[Sentence], layer: str) -> list[Sentence]:
    """Return the sentences without the arcs of confidence 0, which carry no evidence."""
    believed = []
    for s in sentences:
        if s.confidence is not None and 0 in s.confidence and layer in s.heads:
            pairs = zip(s.heads[layer], s.confidence, strict=True)
            heads: HeadLayer = tuple(candidates if confidence > 0 else None for candidates, confidence in pairs)
            s = replace(s, heads={**s.heads, layer: heads})  # noqa: PLW2901
        believed.append(s)
    return believed


def head_noise(sentences: Sequence[Sentence], layer: str) -> NDArray[np.float64]:
    """As `token_noise`, divided by the largest number of the candidates, as these are. Posteriors have no noise."""
    noise = token_noise(sentences)
    if len(noise):
        heads = (candidates for s in sentences for candidates in s.heads.get(layer) or (None,) * len(s))
        noise /= [max(candidates.numbers) if isinstance(candidates, Soft) else 1 for candidates in heads]
    return noise


@dataclass(frozen=True)
class RelationEvidence:
    """Evidence about the relations of A known arcs; each arc is a sentence of its own."""

    allowed: NDArray[Any]  # bool[A, Y], the labels that the evidence allows; or their numbers, float64
    noise: NDArray[np.float64]  # [A], the share of its potential that an excluded label keeps
    weights: NDArray[np.float64]  # [A], how often a position counts
    # [A], whether the numbers of a position are probabilities q rather than likelihoods. Its loss is then
    # E_q[-log p]
    posterior: NDArray[np.bool_]

    @property
    def ids(self) -> NDArray[np.int64]:
        return np.arange(len(self.weights))

    def __len__(self) -> int:
        return len(self.weights)

    def take(self, order: Any) -> RelationEvidence:
        return RelationEvidence(self.allowed[order], self.noise[order], self.weights[order], self.posterior[order])


def allowed_labels(
    sentences: Sequence[Sentence],
    layer: str,
    heads: NDArray[np.int32],
    names: Sequence[str],
    reading: Reading = "likelihood",
) -> NDArray[Any]:
    """Return [N, Y]: the relations that a layer allows for arcs to heads [N]; all where it names no known relation.

    bool; float64 if there are numbers: likelihoods of at most 1, or probabilities, which sum to 1.
    """
    allowed = np.ones((len(heads), len(names)), bool)
    index = {name: at for at, name in enumerate(names)}
    head_of = heads.tolist()
    rows: dict[int, NDArray[np.float64]] = {}
    token = 0
    for sentence in sentences:
        for candidates in sentence.heads.get(layer) or (None,) * len(sentence):
            named = [arc.relation for arc in candidates or () if arc.head in (None, head_of[token])]
            labels = [index[name] for name in named if name in index]
            if isinstance(candidates, Soft):
                rows[token] = _relation_numbers(candidates, head_of[token], index, reading)
            elif labels and None not in named:
                allowed[token] = False
                allowed[token, labels] = True
            token += 1
    if not rows:
        return allowed
    numbers = allowed.astype(np.float64)
    numbers[list(rows)] = np.stack(list(rows.values()))
    is_set = ((numbers == 0) | (numbers == 1)).all()
    return numbers.astype(bool) if is_set else numbers


def are_probabilities(allowed: NDArray[Any], reading: Reading) -> NDArray[np.bool_]:
    """Return bool[N]: whether the numbers of a token are probabilities of relations."""
    if reading == "likelihood":
        return np.zeros(len(allowed), np.bool_)
    return np.asarray(((allowed > 0) & (allowed < 1)).any(axis=1))


def _relation_numbers(
    candidates: Soft[Arc], head: int, index: Mapping[str, int], reading: Reading
) -> NDArray[np.float64]:
    """Return float64[Y]: the numbers of relations; ones if nothing is said of them. An unknown relation may be any."""
    row, of_any = np.zeros(len(index)), 0.0
    for arc, number in candidates.numbered():
        if arc.head not in (None, head):
            continue
        if arc.relation is None:
            of_any = max(of_any, number)
        elif arc.relation in index:
            at = index[arc.relation]
            row[at] = row[at] + number if reading == "posterior" else max(row[at], number)
    if not row.any() or (of_any and reading == "posterior"):
        return np.ones(len(index))
    row = np.maximum(row, of_any)
    return np.asarray(row / (row.sum() if reading == "posterior" else row.max()))
