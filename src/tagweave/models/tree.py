"""The tree model: scores of arcs, the best tree under evidence, probabilities of arcs; and its predictor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray

from tagweave.corpus.files import in_blocks
from tagweave.corpus.sentence import Arc, HeadLayer, Sentence
from tagweave.errors import CorpusError
from tagweave.evidence.trees import allowed_labels
from tagweave.features.arc_templates import (
    ArcTemplates,
    RelationTemplates,
    check_clusters,
    check_lengths,
    given_columns,
    guide_layer,
)
from tagweave.features.encoded_arcs import EncodedArcs, encode_arcs
from tagweave.features.lookups import NOTHING, Lookups, rules_of
from tagweave.features.rules import ArrayRule, check_arrays, refuse, weights_of
from tagweave.kernels.arcs import BINS
from tagweave.labels import PARSE
from tagweave.models.arc_scorer import ArcBatch, ArcFeatures, ArcLabels, ArcParameters, ArcScoring, CalibratedArcScoring
from tagweave.models.batches import batch_bounds
from tagweave.models.packing import Arrays, aligned_zeros, is_aligned, nested
from tagweave.models.schema import TreeDescription
from tagweave.models.scorer import Floats, temperature_in
from tagweave.structures import TREE
from tagweave.structures.tree import Tree, are_whole, exclude, tree_structure, word_scores

_BLOCK = 2000  # sentences parsed at a time


@dataclass(frozen=True)
class TreeModel:
    """A dependency parser: plain data."""

    kind: ClassVar[str] = TREE
    task: ClassVar[str] = PARSE

    parameters: ArcParameters  # the features of arcs, and what the weights mean
    weights: Floats  # float[size]
    labels: ArcLabels | None = None  # the relations of arcs, a second stage; `None` for a parser of heads alone
    single_root: bool = True  # whether the root of a tree has exactly one child
    guideline: str = "head"  # the head layer
    about: dict[str, Any] = field(default_factory=dict)  # facts about the model and its training
    projective: bool = True  # whether its trees are projective; else they are any trees, and arcs may cross
    # a parser of another guideline (`parameters.templates.guide`), whose trees are among the features;
    # `TreePredictor` runs it. A model with such features but no guide needs sentences with guide trees
    guide: TreeModel | None = None
    lookups: Lookups = NOTHING  # the clusters of words that templates look up
    # uint8[R], how often the features of each row of weights occurred at known arcs in training (`models.occurrences`);
    # none if unknown
    occurrences: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))

    def to_json(self) -> dict[str, Any]:
        templates = self.parameters.templates
        description: dict[str, Any] = {
            "kind": self.kind,
            "task": self.task,
            "coding": "",
            "guideline": self.guideline,
            "single_root": self.single_root,
            "projective": self.projective,
            "templates": list(templates.texts),
            "scorer": self.parameters.kind,
            **self.parameters.to_json(),
            "about": self.about,
        }
        if self.labels is not None:
            description |= self.labels.to_json()
        if templates.guide:
            description["guided_by"] = templates.guide
        if self.guide is not None:
            description["guide"] = self.guide.to_json()
        return description

    def arrays(self) -> Arrays:
        arrays = {"weights": self.weights, "occurrences": self.occurrences, **self.lookups.arrays()}
        if self.labels is not None:
            arrays |= {"relation_weights": self.labels.weights, "relation_occurrences": self.labels.occurrences}
        return arrays if self.guide is None else {**arrays, **nested(self.guide.arrays(), "guide")}

    @property
    def label_names(self) -> tuple[str, ...]:
        return () if self.labels is None else self.labels.names

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """The inputs of the model and its guide besides forms: layers of sentences, and columns as `user:NAME`."""
        relations = () if self.labels is None else self.labels.templates.columns
        given_inputs = given_columns((*self.parameters.templates.columns, *relations))
        return tuple(dict.fromkeys([*given_inputs, *(self.guide.inputs if self.guide else ())]))

    @cached_property
    def scoring(self) -> ArcScoring:
        """The scores under the weights, with every row inside a cache line; those from a file are aligned already."""
        aligned = self.weights
        if not is_aligned(aligned):
            aligned = aligned_zeros(len(self.weights), self.weights.dtype)
            aligned[:] = self.weights
        return self.parameters.scoring(aligned)

    @cached_property
    def calibrated(self) -> ArcScoring:
        """The scores that probabilities come from: divided by the temperature that development data taught."""
        temperature = temperature_in(self.about)
        return self.scoring if temperature == 1 else CalibratedArcScoring(self.scoring, temperature)

    def encode(self, sentences: Sequence[Sentence], layer: str | None = None) -> EncodedArcs:
        """The encoded sentences with all columns that the model uses, and the evidence of a layer."""
        check_lengths(sentences)
        more = () if self.labels is None else self.labels.templates.columns
        return encode_arcs(sentences, self.parameters.templates, layer, more, lookups=self.lookups)

    def best(
        self, encoded: EncodedArcs, evidence: bool = False, threads: int = 1, projective: bool | None = None
    ) -> NDArray[np.int32]:
        """Return int32[N]: the heads of the best trees, with `evidence` among those it allows; -1 where none is.

        If the evidence is a whole tree, no arc is scored. `projective` chooses among other trees than the model's.
        """
        structure = self._structure(projective)
        if evidence and (is_whole := are_whole(encoded.evidence, structure)).any():
            heads = encoded.evidence.token_heads
            incomplete = encoded.take(np.flatnonzero(~is_whole))
            heads[np.repeat(~is_whole, encoded.lengths)] = self.best(incomplete, True, threads, projective)
            return heads
        first_token = encoded.token_ptr
        heads = np.empty(int(first_token[-1]), np.int32)

        def run(batch: ArcBatch) -> None:
            scores = self.scoring.scores(batch)
            if evidence:
                exclude(scores, batch)
            heads[first_token[batch.first] : first_token[batch.last]] = structure.best(scores, batch)

        self._over_batches(encoded, run, threads)
        return heads

    def marginals(
        self, encoded: EncodedArcs, evidence: bool = False, threads: int = 1
    ) -> tuple[Floats, NDArray[np.float64]]:
        """Return the probability of every arc, by cell (`ArcEvidence.cells`), and log Z [S]."""
        cells = encoded.evidence.cells
        structure = self._structure()
        probabilities = np.zeros(int(cells[-1]), self.weights.dtype)
        log_z = np.zeros(len(encoded))

        def run(batch: ArcBatch) -> None:
            scores = self.calibrated.scores(batch)
            sums = structure.restricted_product(scores, batch) if evidence else structure.sums(scores, batch)
            probabilities[cells[batch.first] : cells[batch.last]] = sums.marginals[: batch.cells[-1]]
            log_z[batch.first : batch.last] = sums.log_z

        self._over_batches(encoded, run, threads)
        return probabilities, log_z

    def tree_scores(self, encoded: EncodedArcs, heads: NDArray[np.int32], threads: int = 1) -> NDArray[np.float64]:
        """float64[S]: the scores of whole trees, given as heads int32[N]; -inf for those with a head below 0."""
        first_token = encoded.token_ptr
        scores = np.zeros(len(encoded))

        def run(batch: ArcBatch) -> None:
            batch_heads = heads[first_token[batch.first] : first_token[batch.last]]
            of_words = word_scores(self.calibrated.scores(batch), batch, batch_heads)
            sentence = np.repeat(np.arange(batch.first, batch.last), batch.lengths)
            np.add.at(scores, sentence, np.where(batch_heads < 0, -np.inf, of_words))

        self._over_batches(encoded, run, threads)
        return scores

    def k_best(self, encoded: EncodedArcs, k: int) -> Iterator[tuple[NDArray[np.int32], NDArray[np.float64]]]:
        """For every sentence, its n <= k best trees, int32[n, L], and their scores, best first."""
        for sentence in range(len(encoded)):
            batch = self.parameters.batch(encoded, sentence, sentence + 1)
            yield self._structure().k_best(self.calibrated.scores(batch), batch, k)

    def _structure(self, projective: bool | None = None) -> Tree:
        return tree_structure(self.single_root, self.projective if projective is None else projective)

    def _over_batches(self, encoded: EncodedArcs, run: Callable[[ArcBatch], None], threads: int) -> None:
        bounds = list(batch_bounds(encoded))
        if threads == 1:
            for first, last in bounds:
                run(self.parameters.batch(encoded, first, last))
            return
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda bound: run(self.parameters.batch(encoded, *bound)), bounds))


ARC_SCORERS: dict[str, type[ArcParameters]] = {ArcFeatures.kind: ArcFeatures}
"""The scorers of arcs that a model file may name."""


def of_parts(description: TreeDescription, arrays: Arrays, guide: Any = None) -> TreeModel:
    """Return the parser whose checked description and unchecked arrays these are, without those of its guide."""
    guided_by = "" if description.guided_by is UNSET else description.guided_by
    templates = ArcTemplates(tuple(description.templates), guided_by)
    _ = templates.codes  # parses them
    parameters = ARC_SCORERS[description.scorer].of_parts(description, templates)
    of_occurrences = ArrayRule(("uint8",), (None,))
    rules = {"weights": weights_of((parameters.size,)), "occurrences": of_occurrences, **rules_of(arrays)}
    labels = None
    names, rows, texts = description.relations, description.relation_rows, description.relation_templates
    if names is not UNSET and rows is not UNSET:
        rules["relation_weights"] = weights_of((rows, len(names)))
        rules["relation_occurrences"] = of_occurrences
    check_arrays(arrays, rules)
    for name, sizes in (("occurrences", parameters.size // BINS), ("relation_occurrences", rows)):
        if len(counts := arrays.get(name, ())) not in (0, sizes):
            refuse(len(counts), name, f"{sizes}, one for each row of weights")
    if names is not UNSET and texts is not UNSET:
        relation_templates = RelationTemplates(tuple(texts))
        _ = relation_templates.codes  # parses them
        labels = ArcLabels(relation_templates, tuple(names), arrays["relation_weights"], arrays["relation_occurrences"])
    lookups = Lookups.of_arrays(arrays)
    check_clusters((*templates.columns, *(labels.templates.columns if labels else ())), lookups.has_clusters)
    return TreeModel(
        parameters,
        arrays["weights"],
        labels,
        description.single_root,
        description.guideline,
        description.about,
        description.projective,
        guide,
        lookups,
        arrays["occurrences"],
    )


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
            candidates: HeadLayer = tuple(arcs[token : token + len(sentence)])
            if layer is not None:
                candidates = _kept(sentence.heads.get(layer), candidates)
            yield replace(sentence, heads={**sentence.heads, layer or self.model.guideline: candidates})
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
    """Return one candidate for every token; equal arcs share an object, which saves most of the time."""
    interned: dict[tuple[int, str | None], tuple[Arc, ...]] = {}
    candidates = []
    for key in zip(heads, relations, strict=True):
        arcs = interned.get(key)
        if arcs is None:
            arcs = interned[key] = (Arc(*key),)
        candidates.append(arcs)
    return candidates


def _kept(layer: HeadLayer | None, arcs: HeadLayer) -> HeadLayer:
    """Return the arcs; a relation that the layer excludes becomes the first one that it names."""
    if layer is None:
        return arcs
    kept: list[tuple[Arc, ...]] = []
    for candidates, new_arcs in zip(layer, arcs, strict=True):
        head, relation = (new_arcs or (Arc(None, None),))[0]
        named = [arc.relation for arc in candidates or () if arc.head in (None, head)]
        if named and None not in named and relation not in named:
            relation = named[0]
        kept.append((Arc(head, relation),))
    return tuple(kept)
