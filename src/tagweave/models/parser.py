"""A tree model put to use: sentences in, sentences with heads and relations out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.blocks import in_blocks
from tagweave.corpus.errors import CorpusError
from tagweave.corpus.sentence import Arc, HeadLayer, Sentence
from tagweave.features.arc_templates import guide_layer
from tagweave.features.arcs import EncodedArcs
from tagweave.models.arc_labels import ArcLabels
from tagweave.models.tree import TreeModel

_BLOCK = 2000  # sentences parsed at a time


class Parser:
    """Parses sentences of words that have the tags which the model looks at.

    Args:
        model: the model.
        threads: how many threads share the work.
        projective: whether no two arcs of a tree may cross. Arcs have the same scores either way: those of a model
            that was trained on projective trees.
    """

    def __init__(self, model: TreeModel, threads: int = 1, projective: bool = True) -> None:
        self.model, self.threads, self.projective = model, threads, projective

    def parse(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """The sentences with the best tree in the head layer of the model, in order, block by block.

        Raises:
            CorpusError: a sentence without the tags or columns that the model looks at, or one that is too long.
        """
        for block in in_blocks(sentences, _BLOCK):
            encoded = self.encode(block)
            heads = self.model.best(encoded, threads=self.threads, projective=self.projective)
            yield from self.with_arcs(block, encoded, heads)

    def complete(self, sentences: Iterable[Sentence], layer: str | None = None) -> Iterator[Sentence]:
        """The sentences with what a head layer (the model's own, if none is named) leaves open filled in.

        What is given is never changed: of several heads or relations one is chosen, and a whole tree that is given
        stays even if it is not projective.

        Raises:
            CorpusError: as `parse`; or arcs of which no tree has one a token, while some are unknown.
        """
        layer = layer or self.model.guideline
        for block in in_blocks(sentences, _BLOCK):
            encoded = self.encode(block, layer)
            heads = self.model.best(encoded, True, self.threads, self.projective)
            heads = np.where(heads < 0, encoded.token_heads, heads)
            if (heads < 0).any():
                at = int(np.searchsorted(encoded.token_ptr[1:], np.argmin(heads), "right"))
                tree = "a projective tree" if self.projective else "a tree"
                raise CorpusError("heads that exclude one another", f"{tree} that they allow", *block[at].location)
            yield from self.with_arcs(block, encoded, heads, layer)

    def encode(self, sentences: Sequence[Sentence], layer: str | None = None) -> EncodedArcs:
        """The sentences as the model sees them, with the evidence of a layer, and parsed by the model's guide.

        Raises:
            CorpusError: as `guided`; or columns or layers that the model looks at are missing.
        """
        model = self.model
        seen = guided(sentences, model.guide, self.threads) if model.guide else sentences
        return model.encode(seen, layer)

    def with_arcs(
        self, block: Sequence[Sentence], encoded: EncodedArcs, heads: NDArray[np.int32], layer: str | None = None
    ) -> Iterator[Sentence]:
        """The sentences with arcs to these heads; with relations as `layer` allows them, if one is named."""
        relations: list[str | None] = [None] * len(heads)
        if self.model.labels is not None:
            labels = self.model.labels
            allowed = None if layer is None else allowed_labels(block, layer, heads, labels)
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
    """The sentences, each with the tree of the guide's guideline, which models that it guides look at.

    That tree is in a layer of its own (`guide_layer`). A sentence that has this layer keeps it. In others, what the
    layer of the guide's guideline gives takes the guide's place (so a guided model converts a treebank), and the guide
    fills in what is open: where there is no such layer, everything.

    Raises:
        CorpusError: as `Parser.complete`.
    """
    layer = guide_layer(guide.guideline)
    told = Parser(guide, threads).complete(s for s in sentences if layer not in s.heads)
    return [
        s if layer in s.heads else replace(s, heads={**s.heads, layer: next(told).heads[guide.guideline]})
        for s in sentences
    ]


def _arcs(heads: Sequence[int], relations: Sequence[str | None]) -> list[tuple[Arc, ...]]:
    """One candidate for every token; equal ones are one object, which is most of the speed of this."""
    known: dict[tuple[int, str | None], tuple[Arc, ...]] = {}
    found = []
    for key in zip(heads, relations, strict=True):
        arcs = known.get(key)
        if arcs is None:
            arcs = known[key] = (Arc(*key),)
        found.append(arcs)
    return found


def allowed_labels(
    sentences: Sequence[Sentence], layer: str, heads: NDArray[np.int32], labels: ArcLabels
) -> NDArray[np.bool_]:
    """bool[N, Y]: the relations that a layer allows for arcs to these heads; all where it names none that is known."""
    allowed = np.ones((len(heads), len(labels.names)), bool)
    index = {name: at for at, name in enumerate(labels.names)}
    found = heads.tolist()
    token = 0
    for sentence in sentences:
        for candidates in sentence.heads.get(layer) or (None,) * len(sentence):
            named = [arc.relation for arc in candidates or () if arc.head in (None, found[token])]
            known = [index[name] for name in named if name in index]
            if known and None not in named:
                allowed[token] = False
                allowed[token, known] = True
            token += 1
    return allowed


def _kept(given: HeadLayer | None, arcs: HeadLayer) -> HeadLayer:
    """The arcs, but relations that are given and that the model does not know."""
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
