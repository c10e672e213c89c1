"""What a head layer says of the relations of arcs whose heads are chosen.

Numbers of candidates (`Soft`) with the chosen head, or with none, are numbers of their relations: given the head, the
likelihood of a relation is proportional to that of both, P(what was said | head, relation), and its probability to that
of both, P(head, relation | what was said).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.candidates import Soft
from tagweave.corpus.sentence import Arc, Sentence
from tagweave.labels.sets import Reading


@dataclass(frozen=True)
class RelationEvidence:
    """What annotation says of the labels of A positions, each a sentence of its own: the relations of known arcs."""

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
            known = [index[name] for name in named if name in index]
            if isinstance(candidates, Soft):
                rows[token] = _numbers(candidates, head_of[token], index, reading)
            elif known and None not in named:
                allowed[token] = False
                allowed[token, known] = True
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


def _numbers(candidates: Soft[Arc], head: int, index: Mapping[str, int], reading: Reading) -> NDArray[np.float64]:
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
