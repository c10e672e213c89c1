"""Trees without text: of every sentence its arcs as one string, a line.

An arc is the position of the head, and after a colon the relation, where there is one: `2:det 0:root`, or `2 0`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Arc
from tagweave.errors import CorpusError
from tagweave.training.cascades.tree_system import Tree


def of_corpus(corpus: Corpus) -> list[str]:
    """The lines of the trees of a corpus.

    Raises:
        CorpusError: a token that has not one head.
    """
    return of_trees(_trees(corpus))


def of_trees(trees: Iterable[Tree]) -> list[str]:
    """The lines of trees."""
    return [" ".join(f"{a.head}" if a.relation is None else f"{a.head}:{a.relation}" for a in tree) for tree in trees]


def trees(lines: Iterable[str]) -> list[Tree]:
    """The trees of lines."""
    known: dict[str, Arc] = {}
    return [tuple(known.get(arc) or known.setdefault(arc, _arc(arc)) for arc in line.split()) for line in lines]


def with_trees(corpus: Corpus, lines: Sequence[str], guideline: str) -> Corpus:
    """The sentences of a corpus with the trees of lines for their only heads, under a guideline.

    Raises:
        ValueError: as many lines as sentences are expected, and as many arcs as tokens.
    """
    sentences = []
    for old, tree in zip(corpus, trees(lines), strict=True):
        if len(tree) != len(old):
            raise ValueError(f"found a tree of {len(tree)} tokens, expected {len(old)}")
        sentences.append(replace(old, heads={guideline: tuple((arc,) for arc in tree)}))
    return replace(corpus, sentences=tuple(sentences), guideline=guideline)


def without_relations(corpus: Corpus) -> Corpus:
    """The corpus with heads alone."""

    def step(tree: Tree) -> Tree:
        return tuple(Arc(arc.head, None) for arc in tree)

    return with_trees(corpus, of_trees(map(step, _trees(corpus))), corpus.guideline)


def right(gold: Corpus, lines: Sequence[str]) -> NDArray[np.bool_]:
    """bool[N]: which of the N tokens of a gold standard have their head in these lines."""
    own, other = (_heads(each) for each in (of_corpus(gold), lines))
    if len(own) != len(other):
        raise ValueError(f"found trees of {len(other)} tokens, expected {len(own)}")
    return np.asarray(np.array(own) == np.array(other))


def counts(gold: Corpus, lines: Sequence[str]) -> NDArray[np.int64]:
    """int64[S, 2]: how many tokens of every sentence are right, as `right` has it, and how many there are."""
    lengths = np.array([len(sentence) for sentence in gold], np.int64)
    sums = np.concatenate([[0], np.cumsum(right(gold, lines))])
    ends = np.cumsum(lengths)
    return np.stack([sums[ends] - sums[ends - lengths], lengths], axis=1)


def tag_pairs(corpus: Corpus, layer: str) -> list[str]:
    """Of every token the tags of its head and of itself, as Table 13 has them: `NN→JJ`; ROOT is that of the root."""
    found = []
    for sentence, tree in zip(corpus, _trees(corpus), strict=True):
        tags = ["ROOT", *("_" if each is None else each[0] for each in sentence.layers[layer])]
        found += [f"{tags[arc.head or 0]}→{tag}" for arc, tag in zip(tree, tags[1:], strict=True)]
    return found


def _trees(corpus: Corpus) -> Iterator[Tree]:
    for sentence in corpus:
        layer = sentence.heads.get(corpus.guideline, (None,) * len(sentence))
        tree = [arcs[0] for arcs in layer if arcs is not None and len(arcs) == 1 and arcs[0].head is not None]
        if len(tree) < len(sentence):
            raise CorpusError(
                f"{len(sentence) - len(tree)} tokens without one head", "a whole tree", *sentence.location
            )
        yield tuple(tree)


def _arc(text: str) -> Arc:
    head, colon, relation = text.partition(":")
    return Arc(int(head), relation if colon else None)


def _heads(lines: Iterable[str]) -> list[str]:
    return [arc.partition(":")[0] for line in lines for arc in line.split()]
