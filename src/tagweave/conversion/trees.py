"""Conversion of a treebank to another guideline, and what a person should look at afterwards: `convert`, for trees.

A parser with a guide reads the treebank's own trees instead of the guide's predictions (jiang-2015, 4.1), and finds the
best tree under its own guideline. Heads that the treebank already has under that guideline are hard constraints.
"""

from __future__ import annotations

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
from tagweave.features.arc_evidence import only_head
from tagweave.models.tree import TreeModel
from tagweave.models.tree_predictor import TreePredictor

_BLOCK = 500  # sentences whose probabilities are in memory at a time


def convert_trees(model: TreeModel, corpus: Corpus, threads: int = 1) -> Corpus:
    """The corpus with a tree of the model's guideline for every sentence, and the confidence of each head.

    The confidence of a token is the marginal probability of its head, given the guiding tree and the heads that the
    corpus has under the model's guideline; it is 1 where that is one head.

    Args:
        model: a parser whose guide has the corpus's guideline. With another guide, or none, it parses the text as if it
            had no trees.
        corpus: a treebank; the guide fills in heads that its trees leave open.
        threads: how many threads share the work.

    Raises:
        CorpusError: text without the tags that the model needs; partly known heads that fit no tree of the model.
    """
    parser = TreePredictor(model, threads)
    sentences = []
    for block in in_blocks(corpus.sentences, _BLOCK):
        converted = [*parser.complete(block)]
        for own, tree, table in zip(block, converted, parser.probabilities(block, parser.model.guideline), strict=True):
            sentences.append(replace(tree, confidence=_confidence(own, tree, table, model.guideline)))
    return replace(corpus, sentences=tuple(sentences), guideline=model.guideline)


def review_trees(model: TreeModel, corpus: Corpus, converted: Corpus, n: int, threads: int = 1) -> list[UncertainToken]:
    """The n least certain tokens of a conversion, the least certain first; ties keep the order of the text.

    Arcs are written `HEAD:RELATION`, alternatives `HEAD`. Tokens whose head the corpus already has are left out.

    Args:
        model: the model of the conversion.
        corpus: the corpus that was converted.
        converted: the result of `convert_trees`.
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
    asked = [corpus[number] for number in numbers]
    tables = dict(zip(numbers, TreePredictor(model, threads).probabilities(asked, layer), strict=True))
    tokens = []
    for confidence, number, at in least:
        heads = [str(head) for head in range(len(corpus[number]) + 1)]
        arc = _only(converted[number].heads[layer][at])
        others = alternatives(tables[number][:, at + 1], heads, str(arc.head))
        own = corpus[number].heads.get(corpus.guideline)
        given = None if own is None or own[at] is None else tuple(map(_arc_text, own[at] or ()))
        tokens.append(UncertainToken(Context.of(corpus[number], at), given, _arc_text(arc), confidence, others))
    return tokens


def _confidence(own: Sentence, tree: Sentence, table: NDArray[Any], layer: str) -> tuple[float, ...]:
    """The probability of every head; 1 for a given head, even if no tree of the model has it."""
    heads = [_only(candidates).head or 0 for candidates in tree.heads[layer]]
    probabilities = np.minimum(table[heads, np.arange(1, len(heads) + 1)], 1).tolist()
    return tuple(1.0 if _given_head(own, layer, at) >= 0 else each for at, each in enumerate(probabilities))


def _given_head(sentence: Sentence, layer: str, at: int) -> int:
    return only_head(sentence.heads[layer][at]) if layer in sentence.heads else -1


def _only(candidates: ArcCandidates) -> Arc:
    return candidates[0] if candidates else Arc(None, None)


def _arc_text(arc: Arc) -> str:
    head = "_" if arc.head is None else str(arc.head)
    return head if arc.relation is None else f"{head}:{arc.relation}"
