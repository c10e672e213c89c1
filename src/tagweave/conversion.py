"""Conversion of a corpus to another guideline (li-2015, section 5.4), and what a person should look at afterwards.

The layers that a corpus has are hard constraints; the one that it lacks is read off the best sequence or tree:

| model | a layer of another guideline |
|---|---|
| bundled tags (li-2015) | constrains decoding to the bundles that contain its labels |
| one guideline, with a guide (jiang-2009; for trees jiang-2015, 4.1) | replaces the guide's own predictions |
| one guideline (the baseline) | is ignored |
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.candidates import with_probabilities
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.describe import Context
from tagweave.corpus.files import in_blocks
from tagweave.corpus.sentence import Arc, ArcCandidates, Candidates, Sentence
from tagweave.corpus.spans import OUTSIDE
from tagweave.evidence.trees import only_head
from tagweave.labels.sets import LabelSets
from tagweave.labels.space import UnknownLabelError
from tagweave.models.cascades import GuidedEncoder, labels_of
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.tree import TreeModel, TreePredictor

_BLOCK = 2000  # sentences whose probabilities are in memory at a time
_ALTERNATIVES = 3


def convert(model: ChainModel, corpus: Corpus, to: str, threads: int = 1, soft: bool = False) -> Corpus:
    """Add a layer of another guideline, complete at every token, and the confidence of each tag.

    Labels that the layer `to` already has stay (see `without_contradictions`). The confidence of a token is the
    marginal probability of its tag, given all constraints.

    Args:
        model: has the guideline `to`, and the guideline of the corpus if its labels are to be used.
        corpus: in the tokens of the model.
        to: the guideline of the result.
        threads: how many threads share the work.
        soft: give each token all of its tags with their probabilities instead, the best first.

    Raises:
        KeyError: the model does not have the guideline `to`.
        CorpusError: labels that the model lacks or that exclude one another, by file and line.
    """
    tagger = ChainPredictor(model, threads, to)
    step = _with_probabilities if soft else _with_confidence
    sentences = [
        step(sentence, table, tagger)
        for block in map(corpus.with_sentences, in_blocks(corpus, _BLOCK))
        for sentence, table in zip(
            tagger.complete(replace(block, guideline=to)),
            tagger.probabilities(block.sentences, to, block.covered),
            strict=True,
        )
    ]
    return replace(corpus, sentences=tuple(sentences), guideline=to, covered=None)


def without_contradictions(model: ChainModel, corpus: Corpus, to: str) -> Corpus:
    """Drop the labels that no label of the model combines with the labels of the layer `to`, which stay."""
    space, sets = model.space, LabelSets(model.space)
    guidelines = [view.guideline for view in space.sides if view.guideline != to]

    def excluded(candidates: Candidates, other: Candidates, guideline: str, partly: bool) -> bool:
        if candidates is None or other is None or (partly and OUTSIDE in candidates + other):
            return False
        try:
            sets.join(sets.of_candidates(to, candidates), sets.of_candidates(guideline, other))
        except UnknownLabelError:
            return False  # another error, which names the label, follows
        except ValueError:
            return True
        return False

    def step(sentence: Sentence) -> Sentence:
        for name in guidelines if to in sentence.layers else ():
            layer = sentence.layers.get(name, ())
            partly = corpus.covered_in(sentence) is not None
            wrong = [excluded(a, b, name, partly) for a, b in zip(sentence.layers[to], layer, strict=False)]
            if any(wrong):
                kept = (None if is_wrong else label for label, is_wrong in zip(layer, wrong, strict=True))
                sentence = sentence.with_layer(name, kept)
        return sentence

    return corpus.map(step)


@dataclass(frozen=True, slots=True)
class UncertainToken:
    """A token whose conversion is uncertain: its word in context, and the probability of the chosen tag or arc.

    `given` has the candidates of the corpus's own layer; `alternatives` the next best ones with probabilities.
    """

    context: Context
    given: Candidates
    chosen: str
    probability: float
    alternatives: tuple[tuple[str, float], ...]


def review(model: ChainModel, corpus: Corpus, converted: Corpus, n: int, threads: int = 1) -> list[UncertainToken]:
    """List the n least certain tokens of a conversion, the least certain first; tags that were given are left out."""
    tagger = ChainPredictor(model, threads, converted.guideline)
    least = nsmallest(n, _confidences(corpus, converted, frozenset(tagger.labels)))
    numbers = sorted({number for _, number, _ in least})
    chosen = [corpus[number] for number in numbers]
    tables = dict(zip(numbers, tagger.probabilities(chosen, converted.guideline, corpus.covered), strict=True))
    return [
        UncertainToken(
            Context.of(corpus[number], at),
            corpus[number].layers.get(corpus.guideline, (None,) * len(corpus[number]))[at],
            tag := labels_of(converted[number], converted.guideline)[at],
            confidence,
            alternatives(tables[number][at], tagger.labels, tag),
        )
        for confidence, number, at in least
    ]


def sources(model: ChainModel, to: str) -> tuple[str, ...]:
    """Name the other guidelines whose labels a model can use in converting to `to`: its sides, and its guide's."""
    sides = [view.guideline for view in model.space.sides]
    guide = [model.encoder.guideline] if isinstance(model.encoder, GuidedEncoder) else []
    return tuple(name for name in dict.fromkeys((*sides, *guide)) if name != to)


def _with_confidence(sentence: Sentence, table: NDArray[Any], tagger: ChainPredictor) -> Sentence:
    number = {name: at for at, name in enumerate(tagger.labels)}
    chosen = [number[tag] for tag in labels_of(sentence, tagger.guideline)]
    probabilities = np.minimum(table[np.arange(len(chosen)), chosen], 1)  # sums may exceed it by a rounding error
    return replace(sentence, confidence=tuple(probabilities.tolist()))


def _with_probabilities(sentence: Sentence, table: NDArray[Any], tagger: ChainPredictor) -> Sentence:
    rows = zip(table.tolist(), labels_of(sentence, tagger.guideline), strict=True)
    return sentence.with_layer(tagger.guideline, [with_probabilities(tagger.labels, row, best) for row, best in rows])


def _confidences(corpus: Corpus, converted: Corpus, names: Collection[str]) -> Iterator[tuple[float, int, int]]:
    """Yield confidence, number of the sentence and position of every token that did not have one label before."""
    for number, (before, after) in enumerate(zip(corpus, converted, strict=True)):
        candidates_before = before.layers.get(converted.guideline, (None,) * len(before))
        for at, (candidates, confidence) in enumerate(zip(candidates_before, after.confidence or (), strict=True)):
            if candidates is None or len(candidates) > 1 or candidates[0] not in names:  # a wildcard is open, too
                yield confidence, number, at


def alternatives(row: NDArray[Any], names: Sequence[str], chosen: str) -> tuple[tuple[str, float], ...]:
    """The most probable names except the chosen one, with their probabilities; impossible ones are left out."""
    best = sorted(zip((-row).tolist(), names, strict=True))[: _ALTERNATIVES + 1]
    return tuple((name, -minus) for minus, name in best if name != chosen and minus < 0)[:_ALTERNATIVES]


_TREE_BLOCK = 500  # sentences whose probabilities are in memory at a time


def convert_trees(model: TreeModel, corpus: Corpus, threads: int = 1) -> Corpus:
    """Add a tree of the model's guideline to every sentence, and the confidence of each head.

    The confidence of a token is the marginal probability of its head, given the guiding tree and the heads that the
    corpus has under the model's guideline; it is 1 where that is one head. A parser without a guide of the corpus's
    guideline parses the text as if it had no trees; a guide fills in heads that trees leave open.
    """
    parser = TreePredictor(model, threads)
    sentences = []
    for block in in_blocks(corpus.sentences, _TREE_BLOCK):
        converted = [*parser.complete(block)]
        for sentence, tree, table in zip(
            block, converted, parser.probabilities(block, parser.model.guideline), strict=True
        ):
            sentences.append(replace(tree, confidence=_confidence(sentence, tree, table, model.guideline)))
    return replace(corpus, sentences=tuple(sentences), guideline=model.guideline)


def review_trees(model: TreeModel, corpus: Corpus, converted: Corpus, n: int, threads: int = 1) -> list[UncertainToken]:
    """List the n least certain heads as `review` does. Arcs are written `HEAD:RELATION`, alternatives `HEAD`."""
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
        next_best = alternatives(tables[number][:, at + 1], heads, str(arc.head))
        layer_of_corpus = corpus[number].heads.get(corpus.guideline)
        candidates = (
            None
            if layer_of_corpus is None or layer_of_corpus[at] is None
            else tuple(map(_arc_text, layer_of_corpus[at] or ()))
        )
        tokens.append(UncertainToken(Context.of(corpus[number], at), candidates, _arc_text(arc), confidence, next_best))
    return tokens


def _confidence(sentence: Sentence, tree: Sentence, table: NDArray[Any], layer: str) -> tuple[float, ...]:
    """The probability of every head; 1 for a given head, even if no tree of the model has it."""
    heads = [_only(candidates).head or 0 for candidates in tree.heads[layer]]
    probabilities = np.minimum(table[heads, np.arange(1, len(heads) + 1)], 1).tolist()
    return tuple(
        1.0 if _given_head(sentence, layer, at) >= 0 else probability for at, probability in enumerate(probabilities)
    )


def _given_head(sentence: Sentence, layer: str, at: int) -> int:
    return only_head(sentence.heads[layer][at]) if layer in sentence.heads else -1


def _only(candidates: ArcCandidates) -> Arc:
    return candidates[0] if candidates else Arc(None, None)


def _arc_text(arc: Arc) -> str:
    head = "_" if arc.head is None else str(arc.head)
    return head if arc.relation is None else f"{head}:{arc.relation}"
