"""Where two guidelines for trees diverge: how the relations and heads of one relate to those of the other.

The same sentences are annotated under both. Relations of a token are counted in pairs, as tags are. For heads, the
position of a token's head in the tree of the other guideline is counted:

    same           it is the token's head there, too
    reversed       it is a modifier of the token: the arc is reversed
    grandparent    it is the head of the token's head: another token is between them
    grandchild     the token is the head of its head
    sibling        both have the same head
    uncle          it has the same head as the token's head
    nephew         the token has the same head as its head
    ancestor       it is further above the token
    descendant     it is further below
    other          it is anywhere else

A token does not count if it does not have exactly one head in both trees, or is not part of a tree.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.describe import Context
from tagweave.corpus.sentence import ArcCandidates, Sentence
from tagweave.errors import CorpusError
from tagweave.evaluation.divergence import Divergence, TagPairs, Token, check_words
from tagweave.evaluation.score import Share
from tagweave.evidence.trees import only_head
from tagweave.features.arc_templates import check_lengths
from tagweave.kernels.arcs import FARTHEST, PATHS, tree_paths

SAME = "same"
_NEAR = {(1, 0): SAME, (0, 1): "reversed", (1, 1): "sibling", (2, 1): "uncle", (1, 2): "nephew"}
_LINE = {(2, 0): "grandparent", (0, 2): "grandchild", (FARTHEST, 0): "ancestor", (0, FARTHEST): "descendant"}
_NAMES = ("", *((_NEAR | _LINE).get(divmod(path, FARTHEST + 1), "other") for path in range(PATHS - 1)))
"""The position of the head, by the number of a path in `kernels.arcs`; "" if it is unknown."""


@dataclass(frozen=True, eq=False)
class TreeDivergence:
    """The divergence of the trees of two guidelines.

    Attributes:
        relations: pairs of relations.
        heads: for either guideline, the positions of its heads in the other's trees, by relation.
        same_heads: tokens with one head in both trees, and how many of them have the same.
        same_arcs: tokens with one head and relation in both trees, and how many of them have the same.
        sentences: the number of sentences with the same tokens in both corpora.
        left_out: the number of sentences of each corpus that the other does not have.
    """

    relations: Divergence
    heads: tuple[Divergence, Divergence]
    same_heads: Share
    same_arcs: Share
    sentences: int
    left_out: tuple[int, int]

    @property
    def first(self) -> str:
        """The first guideline."""
        return self.relations.first

    @property
    def second(self) -> str:
        """The second guideline."""
        return self.relations.second

    def _repr_html_(self) -> str:
        """The comparison in a notebook."""
        from tagweave.evaluation.divergence_page import fragment

        return fragment(self)

    def directions(self) -> tuple[Divergence, ...]:
        """The comparisons from either side."""
        return (self.relations, self.relations.swapped(), *self.heads)

    def headlines(self) -> list[str]:
        """Sentences that describe the comparison, and how much agrees."""
        one, other = self.left_out
        left_out = f"; left out: {one:,} of {self.first}, {other:,} of {self.second}" if one or other else ""
        return [
            f"Sentences of {self.first} and {self.second} with the same tokens: {self.sentences:,}{left_out}.",
            f"The same head: {_shown(self.same_heads)}. The same head and relation: {_shown(self.same_arcs)}.",
        ]


def counted_trees(first: Corpus, second: Corpus) -> TreeDivergence:
    """The divergence of trees in sentences that have the same tokens in both corpora.

    Raises:
        CorpusError: two corpora of one guideline, a corpus without trees, no common sentence, no token with one head in
            both; or as `check_lengths`.
    """
    check_words(first, second)
    for corpus in (first, second):
        check_lengths(corpus)
        if not any(corpus.guideline in sentence.heads for sentence in corpus):
            raise CorpusError("no heads", "a head layer (FILE#head), as the other corpus has", corpus.path)
    pairs = _paired(first, second)
    tally = _Tally(first.guideline, second.guideline, pairs)
    for number, (one, other) in enumerate(pairs):
        tally.add(number, one, other)
    if not tally.heads:
        found = f"no token with one head of {first.guideline} and one of {second.guideline}"
        raise CorpusError(found, "the same sentences in both corpora", second.path)
    return tally.result((len(first) - len(pairs), len(second) - len(pairs)))


def _paired(first: Corpus, second: Corpus) -> list[tuple[Sentence, Sentence]]:
    """Pairs of sentences with the same tokens, in the order of the first corpus; repeated ones in the order of both."""
    waiting: dict[tuple[str, ...], deque[Sentence]] = defaultdict(deque)
    for sentence in second:
        waiting[sentence.forms].append(sentence)
    return [(sentence, waiting[sentence.forms].popleft()) for sentence in first if waiting[sentence.forms]]


class _Tally:
    """Sums up the comparisons of trees."""

    def __init__(self, first: str, second: str, sentences: Sequence[tuple[Sentence, Sentence]]) -> None:
        self.first, self.second, self._sentences = first, second, sentences
        self.relations, self.positions = TagPairs(), (TagPairs(), TagPairs())
        self.tokens, self.heads, self.same_heads, self.arcs, self.same_arcs = 0, 0, 0, 0, 0

    def add(self, number: int, one: Sentence, other: Sentence) -> None:
        layers = _layer(one, self.first), _layer(other, self.second)
        heads = [[only_head(candidates) for candidates in layer] for layer in layers]
        relations = [[_relation(candidates) for candidates in layer] for layer in layers]
        self.tokens += len(one)
        for at, (head, its_head) in enumerate(zip(*heads, strict=True)):
            of_first, of_second = relations[0][at], relations[1][at]
            if of_first is not None and of_second is not None:
                self.relations.add((of_first, of_second), one.forms[at], (number, at))
            if head >= 0 and its_head >= 0:
                self.heads += 1
                self.same_heads += head == its_head
                if of_first is not None and of_second is not None:
                    self.arcs += 1
                    self.same_arcs += head == its_head and of_first == of_second
        for pairs, own, tree, names in zip(self.positions, heads, heads[::-1], relations, strict=True):
            for at, (position, relation) in enumerate(zip(head_positions(own, tree), names, strict=True)):
                if position and tree[at] >= 0:
                    pairs.add((relation or "_", position), one.forms[at], (number, at))

    def result(self, left_out: tuple[int, int]) -> TreeDivergence:
        relations = self._divergence(self.first, self.second, self.relations)
        there = self._divergence(self.first, f"the position of the head in {self.second}", self.positions[0])
        back = self._divergence(self.second, f"the position of the head in {self.first}", self.positions[1])
        same_heads, same_arcs = Share(self.same_heads, self.heads), Share(self.same_arcs, self.arcs)
        return TreeDivergence(relations, (there, back), same_heads, same_arcs, len(self._sentences), left_out)

    def _divergence(self, first: str, second: str, pairs: TagPairs) -> Divergence:
        left_out = self.tokens - round(sum(pairs.counts.values()))
        return Divergence.of(first, second, pairs, self._context, left_out, "relation")

    def _context(self, token: Token) -> Context:
        """A token in context, and its heads in both trees."""
        number, at = token
        one, other = self._sentences[number]
        heads = only_head(_layer(one, self.first)[at]), only_head(_layer(other, self.second)[at])
        forms = [one.forms[head - 1] if head > 0 else "root" if head == 0 else "?" for head in heads]
        return Context.of(one, at, note=f"{self.first} → {forms[0]}, {self.second} → {forms[1]}")


def head_positions(heads: Sequence[int], tree: Sequence[int]) -> list[str]:
    """The position of every token's head (0 is the root, negative unknown) in another tree; "" if it is unknown."""
    n = len(tree)
    paths = np.empty((n + 1) ** 2, np.uint8)
    tree_paths(np.array([-1, *tree], np.int32), np.array([0, n + 1], np.int64), paths)
    numbers = paths.reshape(n + 1, n + 1)[np.maximum(heads, 0), np.arange(1, n + 1)].tolist()
    return [
        "" if head < 0 else SAME if head == other else _NAMES[number]
        for head, other, number in zip(heads, tree, numbers, strict=True)
    ]


def _shown(share: Share) -> str:
    return f"{100 * share.value:.1f} % of {share.total:,} tokens" if share.total else "- of 0 tokens"


def _layer(sentence: Sentence, name: str) -> Sequence[ArcCandidates]:
    return sentence.heads.get(name, (None,) * len(sentence))


def _relation(candidates: ArcCandidates) -> str | None:
    return candidates[0].relation if candidates is not None and len(candidates) == 1 else None
