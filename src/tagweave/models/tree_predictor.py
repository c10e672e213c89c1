"""The predictor of tree models: parses sentences, and adds heads and relations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.files import in_blocks
from tagweave.corpus.sentence import Arc, HeadLayer, Sentence
from tagweave.errors import CorpusError
from tagweave.evidence.trees import allowed_labels
from tagweave.features.arc_templates import guide_layer
from tagweave.features.encoded_arcs import EncodedArcs
from tagweave.models.tree import TreeModel

_BLOCK = 2000  # sentences parsed at a time


class TreePredictor:
    """Parses sentences of words with the tags that the model uses; by default into trees as in its training."""

    def __init__(self, model: TreeModel, threads: int = 1, projective: bool | None = None) -> None:
        self.model, self.threads = model, threads
        self.projective = model.projective if projective is None else projective

    def parse(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """Return the sentences with the best tree in the head layer of the model, in order, block by block."""
        for block in in_blocks(sentences, _BLOCK):
            encoded = self.encode(block)
            heads = self.model.best(encoded, threads=self.threads, projective=self.projective)
            yield from self.with_arcs(block, encoded, heads)

    def complete(self, sentences: Iterable[Sentence], layer: str | None = None) -> Iterator[Sentence]:
        """Fill in the gaps of a head layer, by default the model's own. Given arcs never change.

        Among several heads or relations one is chosen; a given whole tree stays even if it is not projective.
        """
        layer = layer or self.model.guideline
        for block in in_blocks(sentences, _BLOCK):
            encoded = self.encode(block, layer)
            heads = self.model.best(encoded, True, self.threads, self.projective)
            heads = np.where(heads < 0, encoded.evidence.token_heads, heads)
            if (heads < 0).any():
                at = int(np.searchsorted(encoded.token_ptr[1:], np.argmin(heads), "right"))
                tree = "a projective tree" if self.projective else "a tree"
                raise CorpusError("heads that exclude one another", f"{tree} that they allow", *block[at].location)
            yield from self.with_arcs(block, encoded, heads, layer)

    def probabilities(self, sentences: Sequence[Sentence], layer: str | None = None) -> list[NDArray[Any]]:
        """Return [n + 1, n + 1] per sentence: probabilities of arcs, by head (0: root) and word, under a layer."""
        if not len(sentences):
            return []
        encoded = self.encode(sentences, layer)
        flat, _ = self.model.marginals(encoded, layer is not None, self.threads)
        tables = np.split(flat, encoded.evidence.cells[1:-1])
        return [table.reshape(n + 1, n + 1) for table, n in zip(tables, encoded.lengths.tolist(), strict=True)]

    def encode(self, sentences: Sequence[Sentence], layer: str | None = None) -> EncodedArcs:
        """Return the encoded sentences, parsed by the model's guide, with the evidence of a layer."""
        model = self.model
        seen = guided(sentences, model.guide, self.threads) if model.guide else sentences
        return model.encode(seen, layer)

    def with_arcs(
        self, block: Sequence[Sentence], encoded: EncodedArcs, heads: NDArray[np.int32], layer: str | None = None
    ) -> Iterator[Sentence]:
        """Return the sentences with arcs to these heads; with relations as `layer` allows them, if one is named."""
        relations: list[str | None] = [None] * len(heads)
        if self.model.labels is not None:
            labels = self.model.labels
            allowed = None if layer is None else allowed_labels(block, layer, heads, labels.names)
            chosen = labels.best(encoded, heads, allowed)
            relations = [labels.names[label] for label in chosen.tolist()]
        arcs = _arcs(heads.tolist(), relations)
        token = 0
        for sentence in block:
            own: HeadLayer = tuple(arcs[token : token + len(sentence)])
            if layer is not None:
                own = _kept(sentence.heads.get(layer), own)
            yield replace(sentence, heads={**sentence.heads, layer or self.model.guideline: own})
            token += len(sentence)


def guided(sentences: Sequence[Sentence], guide: TreeModel, threads: int = 1) -> list[Sentence]:
    """Return the sentences, each with a guide tree in a layer of its own (`guide_layer`), which guided models use.

    A sentence that has this layer keeps it. In others, arcs of the layer of the guide's guideline are kept (so a guided
    model converts a treebank), and the guide fills the gaps; without such a layer, it parses the whole sentence.
    """
    layer = guide_layer(guide.guideline)
    trees = TreePredictor(guide, threads).complete(s for s in sentences if layer not in s.heads)
    return [
        s if layer in s.heads else replace(s, heads={**s.heads, layer: next(trees).heads[guide.guideline]})
        for s in sentences
    ]


def _arcs(heads: Sequence[int], relations: Sequence[str | None]) -> list[tuple[Arc, ...]]:
    """One candidate for every token; equal arcs share an object, which saves most of the time."""
    known: dict[tuple[int, str | None], tuple[Arc, ...]] = {}
    candidates = []
    for key in zip(heads, relations, strict=True):
        arcs = known.get(key)
        if arcs is None:
            arcs = known[key] = (Arc(*key),)
        candidates.append(arcs)
    return candidates


def _kept(given: HeadLayer | None, arcs: HeadLayer) -> HeadLayer:
    """Return the arcs, with given relations where the model does not know them."""
    if given is None:
        return arcs
    kept: list[tuple[Arc, ...]] = []
    for candidates, own in zip(given, arcs, strict=True):
        head, relation = (own or (Arc(None, None),))[0]
        named = [arc.relation for arc in candidates or () if arc.head in (None, head)]
        if named and None not in named and relation not in named:
            relation = named[0]
        kept.append((Arc(head, relation),))
    return tuple(kept)
