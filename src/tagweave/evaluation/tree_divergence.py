"""Where two guidelines for trees diverge: how the relations and heads of one relate to the other's.

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
from tagweave.evaluation.attachment import arcs_of
from tagweave.evaluation.divergence import Divergence, TagPairs, Token, check_words
from tagweave.evaluation.score import Share
from tagweave.evidence.trees import only_head
from tagweave.features.arc_templates import check_lengths
from tagweave.kernels.arcs import FARTHEST, PATHS, tree_paths

_SAME = "same"
_NEAR = {(1, 0): _SAME, (0, 1): "reversed", (1, 1): "sibling", (2, 1): "uncle", (1, 2): "nephew"}
_LINE = {(2, 0): "grandparent", (0, 2): "grandchild", (FARTHEST, 0): "ancestor", (0, FARTHEST): "descendant"}
_NAMES = ("", *((_NEAR | _LINE).get(divmod(path, FARTHEST + 1), "other") for path in range(PATHS - 1)))
"""The position of the head, by the number of a path in `kernels.arcs`; "" if it is unknown."""


@dataclass(frozen=True, eq=False)
class TreeDivergence:
    """The divergence of the trees of two guidelines."""

    relations: Divergence  # pairs of relations
    # for either guideline, the positions of its heads in the other's trees, by relation
    heads: tuple[Divergence, Divergence]
    same_heads: Share  # tokens with one head in both trees, and how many of them have the same
    same_arcs: Share  # tokens with one head and relation in both trees, and how many of them have the same
    sentences: int  # the number of sentences with the same tokens in both corpora
    left_out: tuple[int, int]  # the number of sentences of each corpus that the other does not have

    @property
    def first(self) -> str:
        return self.relations.first

    @property
    def second(self) -> str:
        return self.relations.second

    def _repr_html_(self) -> str:
        from tagweave.evaluation.divergence_page import fragment

        return fragment(self)

    def directions(self) -> tuple[Divergence, ...]:
        return (self.relations, self.relations.swapped(), *self.heads)

    def headlines(self) -> list[str]:
        one, other = self.left_out
        left_out = f"; left out: {one:,} of {self.first}, {other:,} of {self.second}" if one or other else ""
        return [
            f"Sentences of {self.first} and {self.second} with the same tokens: {self.sentences:,}{left_out}.",
            f"The same head: {_shown(self.same_heads)}. The same head and relation: {_shown(self.same_arcs)}.",
        ]


def counted_trees(first: Corpus, second: Corpus) -> TreeDivergence:
    """Compare trees in sentences that have the same tokens in both corpora."""
    check_words(first, second)
    for corpus in (first, second):
        check_lengths(corpus)
        if not any(corpus.guideline in sentence.heads for sentence in corpus):
            raise CorpusError("no heads", "a head layer (FILE#head), as the other corpus has", corpus.path)
    names, sentences = (first.guideline, second.guideline), _paired(first, second)
    of_relations, of_positions = TagPairs(), (TagPairs(), TagPairs())
    tokens = both_heads = same_heads = both_arcs = same_arcs = 0
    for number, pair in enumerate(sentences):
        forms, layers = pair[0].forms, [arcs_of(*each) for each in zip(pair, names, strict=True)]
        heads = [[only_head(candidates) for candidates in layer] for layer in layers]
        relations = [[_relation(candidates) for candidates in layer] for layer in layers]
        tokens += len(forms)
        for at, (ours, theirs) in enumerate(zip(*relations, strict=True)):
            has_same_head, have_heads = heads[0][at] == heads[1][at], heads[0][at] >= 0 and heads[1][at] >= 0
            both_heads += have_heads
            same_heads += have_heads and has_same_head
            if ours is not None and theirs is not None:
                of_relations.add((ours, theirs), forms[at], (number, at))
                both_arcs += have_heads
                same_arcs += have_heads and has_same_head and ours == theirs
        for positions, own, tree, own_relations in zip(of_positions, heads, heads[::-1], relations, strict=True):
            for at, (position, relation) in enumerate(zip(head_positions(own, tree), own_relations, strict=True)):
                if position and tree[at] >= 0:
                    positions.add((relation or "_", position), forms[at], (number, at))
    if not both_heads:
        found = f"no token with one head of {first.guideline} and one of {second.guideline}"
        raise CorpusError(found, "the same sentences in both corpora", second.path)

    def context(token: Token) -> Context:
        """Return a token in context, with its heads in both trees."""
        number, at = token
        one = sentences[number][0]
        heads = (only_head(arcs_of(*each)[at]) for each in zip(sentences[number], names, strict=True))
        forms = [one.forms[head - 1] if head > 0 else "root" if head == 0 else "?" for head in heads]
        return Context.of(one, at, note=f"{names[0]} → {forms[0]}, {names[1]} → {forms[1]}")

    def divergence(one: str, other: str, pairs: TagPairs) -> Divergence:
        left_out = tokens - round(sum(pairs.counts.values()))
        return Divergence.of(one, other, pairs, context, left_out, what="relation")

    return TreeDivergence(
        divergence(*names, of_relations),
        (
            divergence(names[0], f"the position of the head in {names[1]}", of_positions[0]),
            divergence(names[1], f"the position of the head in {names[0]}", of_positions[1]),
        ),
        Share(same_heads, both_heads),
        Share(same_arcs, both_arcs),
        len(sentences),
        (len(first) - len(sentences), len(second) - len(sentences)),
    )


def _paired(first: Corpus, second: Corpus) -> list[tuple[Sentence, Sentence]]:
    """Pair sentences with the same tokens, in the order of the first corpus; repeated ones in the order of both."""
    waiting: dict[tuple[str, ...], deque[Sentence]] = defaultdict(deque)
    for sentence in second:
        waiting[sentence.forms].append(sentence)
    return [(sentence, waiting[sentence.forms].popleft()) for sentence in first if waiting[sentence.forms]]


def head_positions(heads: Sequence[int], tree: Sequence[int]) -> list[str]:
    """Return the position of every token's head (0: root, negative: unknown) in another tree; "" if it is unknown."""
    n = len(tree)
    paths = np.empty((n + 1) ** 2, np.uint8)
    tree_paths(np.array([-1, *tree], np.int32), np.array([0, n + 1], np.int64), paths)
    numbers = paths.reshape(n + 1, n + 1)[np.maximum(heads, 0), np.arange(1, n + 1)].tolist()
    return [
        "" if head < 0 else _SAME if head == other else _NAMES[number]
        for head, other, number in zip(heads, tree, numbers, strict=True)
    ]


def _shown(share: Share) -> str:
    return f"{100 * share.value:.1f} % of {share.total:,} tokens" if share.total else "- of 0 tokens"


def _relation(candidates: ArcCandidates) -> str | None:
    return candidates[0].relation if candidates is not None and len(candidates) == 1 else None
