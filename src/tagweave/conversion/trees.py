"""Conversion of a treebank to another guideline, and what a person should look at afterwards: `convert`, for trees.

A parser with a guide reads the treebank's own trees, which take the place of the guide's (jiang-2015, 4.1), and finds
the best tree under its own guideline. What the treebank gives of that guideline already is a hard constraint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from heapq import nsmallest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.conversion.labels import UncertainToken, alternatives
from tagweave.corpus.blocks import in_blocks
from tagweave.corpus.context import Context
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Arc, ArcCandidates, Sentence
from tagweave.features.arcs import only_head
from tagweave.models.parser import Parser
from tagweave.models.tree import TreeModel

_BLOCK = 500  # sentences whose probabilities are held at a time


def convert_trees(model: TreeModel, corpus: Corpus, threads: int = 1) -> Corpus:
    """The corpus with a tree of the model's guideline for every sentence, and how sure each of its heads is.

    The confidence of a token is the marginal probability of its head, given the tree that guides and the heads of the
    model's guideline that the corpus gives; 1 where that is one head.

    Args:
        model: a parser whose guide is of the corpus's guideline; of another one, or without a guide, it parses the text
            as if it had no trees.
        corpus: a treebank; what its trees leave open, the guide fills in.
        threads: how many threads share the work.

    Raises:
        CorpusError: text without the tags that the model looks at; heads that no projective tree agrees with, while
            some are unknown.
    """
    parser = Parser(model, threads)
    sentences = []
    for block in in_blocks(corpus.sentences, _BLOCK):
        converted = [*parser.complete(block)]
        for own, tree, table in zip(block, converted, _probabilities(parser, block), strict=True):
            sentences.append(replace(tree, confidence=_confidence(own, tree, table, model.guideline)))
    return replace(corpus, sentences=tuple(sentences), guideline=model.guideline)


def review_trees(model: TreeModel, corpus: Corpus, converted: Corpus, n: int, threads: int = 1) -> list[UncertainToken]:
    """The n least sure tokens of a conversion, the least sure first; of equal ones, those that come first.

    Arcs are written `HEAD:RELATION`, alternatives `HEAD`. Tokens whose head the corpus gives already are left out.

    Args:
        model: the model of the conversion.
        corpus: what was converted.
        converted: what `convert_trees` made of it.
        n: how many tokens; fewer if there are fewer.
        threads: how many threads share the work.
    """
    layer = converted.guideline
    open_ones = (
        (confidence, number, at)
        for number, (before, after) in enumerate(zip(corpus, converted, strict=True))
        for at, confidence in enumerate(after.confidence or ())
        if _given_head(before, layer, at) < 0
    )
    least = nsmallest(n, open_ones)
    numbers = sorted({number for _, number, _ in least})
    tables = dict(zip(numbers, _probabilities(Parser(model, threads), [corpus[i] for i in numbers]), strict=True))
    found = []
    for confidence, number, at in least:
        heads = [str(head) for head in range(len(corpus[number]) + 1)]
        arc = _only(converted[number].heads[layer][at])
        others = alternatives(tables[number][:, at + 1], heads, str(arc.head))
        own = corpus[number].heads.get(corpus.guideline)
        given = None if own is None or own[at] is None else tuple(map(_written, own[at] or ()))
        found.append(UncertainToken(Context.of(corpus[number], at), given, _written(arc), confidence, others))
    return found


def _probabilities(parser: Parser, sentences: Sequence[Sentence]) -> list[NDArray[Any]]:
    """[n + 1, n + 1] for each sentence: the probability of every arc, given what its layer allows."""
    encoded = parser.encode(sentences, parser.model.guideline)
    flat, _ = parser.model.marginals(encoded, True, parser.threads)
    tables = np.split(flat, encoded.cells(0, len(encoded))[1:-1]) if len(sentences) else []
    return [table.reshape(n + 1, n + 1) for table, n in zip(tables, encoded.lengths.tolist(), strict=True)]


def _confidence(own: Sentence, tree: Sentence, table: NDArray[Any], layer: str) -> tuple[float, ...]:
    """The probability of every head; of a given one 1, even if no projective tree has it."""
    heads = [_only(candidates).head or 0 for candidates in tree.heads[layer]]
    probabilities = np.minimum(table[heads, np.arange(1, len(heads) + 1)], 1).tolist()
    return tuple(1.0 if _given_head(own, layer, at) >= 0 else each for at, each in enumerate(probabilities))


def _given_head(sentence: Sentence, layer: str, at: int) -> int:
    return only_head(sentence.heads[layer][at]) if layer in sentence.heads else -1


def _only(candidates: ArcCandidates) -> Arc:
    return candidates[0] if candidates else Arc(None, None)


def _written(arc: Arc) -> str:
    head = "_" if arc.head is None else str(arc.head)
    return head if arc.relation is None else f"{head}:{arc.relation}"
