"""Which heads of a treebank may be wrong, by parsers of the other folds (`training.label_errors`).

With p = P(head | x) P(relation | head, the annotated tree, x) of an arc, and e the share of arcs that are wrong, which
expectation maximisation estimates, the suspicion of the arc is e q / (p (1 - e) + e q): a wrong arc is any of 1 / q.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Arc, Sentence
from tagweave.features.encoded_arcs import EncodedArcs
from tagweave.models.arc_scorer import arc_rows, relation_scores
from tagweave.models.tree import TreeModel, TreePredictor
from tagweave.training.cascades.label_errors import Part, Suspect
from tagweave.training.fit.tree_problem import relation_names

Floats = NDArray[Any]
_TINY = 1e-6  # the smallest probability of an arc: models are sure too easily
_BEGIN, _STEPS = 0.1, 20  # of expectation maximisation


class _Said(NamedTuple):
    """What a parser says of a sentence of n words."""

    heads: Floats  # [n + 1, n + 1], the probability of each head (0: root) of each word
    relations: Floats  # [n, Y], the probabilities of relations to the annotated head, if one is known
    best_relations: Floats  # [n, Y], to the best head


class HeadJudge:
    """Parsers of heads and relations."""

    def __init__(self, corpus: Corpus) -> None:
        self.sentences: Sequence[Sentence] = corpus.sentences
        self._layer = corpus.guideline
        self.names: Sequence[str] = relation_names(corpus.sentences, corpus.guideline)

    def judged(self, model: TreeModel, sentences: Sequence[Sentence], threads: int) -> list[_Said]:
        """Return what a parser says of sentences. Heads are judged without the annotation, relations see its heads."""
        parser = TreePredictor(model, threads)
        encoded = parser.encode(sentences, self._layer)
        tables = parser.probabilities(sentences)
        best = model.best(encoded, threads=threads)
        annotated = encoded.evidence.token_heads
        distributions = (
            self._relations(model, encoded, relation_heads)
            for relation_heads in (np.where(annotated < 0, best, annotated), best)
        )
        relations, best_relations = (
            np.split(probabilities, encoded.token_ptr[1:-1]) for probabilities in distributions
        )
        return [*map(_Said, tables, relations, best_relations)]

    def _relations(self, model: TreeModel, encoded: EncodedArcs, heads: NDArray[np.int32]) -> Floats:
        """Return float[N, Y]: the probabilities of the relations of `names`, given heads."""
        probabilities = np.zeros((len(heads), len(self.names)))
        if model.labels is not None:
            rows = arc_rows(model.labels.templates, encoded, heads, len(model.labels.weights))
            scores = relation_scores(model.labels.weights, rows).astype(np.float64)
            shares = np.exp(scores - scores.max(axis=1, keepdims=True))
            columns = [self.names.index(name) for name in model.labels.names]
            probabilities[:, columns] = shares / shares.sum(axis=1, keepdims=True)
        return probabilities

    def doubts(self, said: Sequence[Sequence[_Said]]) -> tuple[Floats, Floats]:
        """Return float[N], twice: the suspicion of the arc of each token; 0 where nothing is known."""
        probabilities = [np.full(len(sentence), np.nan) for sentence in self.sentences]
        for number, judgements in enumerate(said):
            for suspect in self.suspects(number, judgements):
                probabilities[number][suspect.start] = max(suspect.given_probability, _TINY)
        p, share, q = np.concatenate(probabilities), _BEGIN, len(probabilities) / sum(map(len, probabilities))
        for _ in range(_STEPS):
            doubts = share * q / (p * (1 - share) + share * q)
            share = float(np.nanmean(doubts))
        doubts = np.nan_to_num(doubts)
        return doubts, doubts

    def suspects(self, number: int, said: Sequence[_Said]) -> Iterator[Suspect]:
        """Yield the arcs of a sentence, each beside the most probable one with another head or relation."""
        heads, relations, best_relations = (np.mean(judgements, axis=0) for judgements in zip(*said, strict=True))
        for at, arcs in enumerate(self.sentences[number].heads.get(self._layer, ())):
            if arcs is None:
                continue
            head_column = heads[:, at + 1]
            probability = min(1.0, sum(self._probability(arc, head_column, relations[at]) for arc in arcs))
            rivals = [*self._rivals(arcs, head_column, relations[at], best_relations[at])]
            if not rivals:
                continue
            rival, rival_probability = max(rivals, key=lambda pair: pair[1])
            parts = tuple(_part(arc.head, arc.relation) for arc in arcs)
            yield Suspect(0, 0, at, at + 1, parts, rival, probability, min(1.0, rival_probability))

    def _probability(self, arc: Arc, heads: Floats, relations: Floats) -> float:
        of_head = 1.0 if arc.head is None else float(heads[arc.head])
        return of_head * (1.0 if arc.relation is None else float(relations[self.names.index(arc.relation)]))

    def _rivals(
        self, arcs: Sequence[Arc], heads: Floats, relations: Floats, best_relations: Floats
    ) -> Iterator[tuple[Part, float]]:
        """Yield the most probable other head with its relation, and the most probable other relation of the head."""
        named = [self.names.index(arc.relation) for arc in arcs if arc.relation is not None]
        known_heads = [arc.head for arc in arcs if arc.head is not None]
        if known_heads and len(known_heads) == len(arcs):
            left = heads.copy()
            left[known_heads] = 0
            best = int(left.argmax())
            is_best = best == heads.argmax() and self.names
            yield _part(best, self.names[int(best_relations.argmax())] if is_best else None), float(left[best])
        if len(named) == len(arcs) and len({*known_heads}) <= 1:
            left = relations.copy()
            left[named] = 0
            head = (known_heads or [int(heads.argmax())])[0]
            best = int(left.argmax())
            yield _part(head, self.names[best]), float(left[best] * heads[head])


def _part(head: int | None, relation: str | None) -> Part:
    """Return the head, from 1 (0: root), as tokens from 0."""
    return Part(-2 if head is None else head - 1, head or 0, relation or "")
