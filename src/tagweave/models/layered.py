"""A model of spans that may overlap: chains over the features of one encoder, each with a layer, or a group of layers.

Spans of a chain exclude one another, those of different chains do not. Groups of types with a model each are also those
of Alex et al. 2007, "Recognising Nested Named Entities in Biomedical Text", where later ones see the output of earlier
ones. Text is encoded once for all chains.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.files import in_blocks
from tagweave.corpus.overlapping import Types, of_group, refuse_overlap
from tagweave.corpus.sentence import Sentence
from tagweave.errors import StreamError
from tagweave.features.encoded import Encoded, Ints
from tagweave.features.encoder import TemplateEncoder
from tagweave.labels import LAYERS, SPANS
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import BLOCK, ChainPredictor, Scored, TaggedSpans
from tagweave.models.packing import Arrays, nested
from tagweave.models.word_rows import WordRows


@dataclass(frozen=True)
class LayeredModel:
    """Chains with one encoder, and for each the layers of its spans, by name, with their types."""

    kind: ClassVar[str] = LAYERS
    task: ClassVar[str] = SPANS
    of_characters: ClassVar[bool] = False

    chains: tuple[ChainModel, ...]
    types: tuple[Types, ...]
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def encoder(self) -> TemplateEncoder:
        encoder = self.chains[0].encoder
        assert isinstance(encoder, TemplateEncoder)  # noqa: S101 - the only one that chains share
        return encoder

    @property
    def coding(self) -> str:
        return self.chains[0].coding

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all layers."""
        return tuple(name for types in self.types for name in types)

    @property
    def weights_by_view(self) -> dict[str, int]:
        return {name: size for model in self.chains for name, size in model.parameters.weights_by_view.items()}

    def layers(self, guideline: str) -> tuple[str, ...]:
        """Return other names in files of a layer: none."""
        return ()

    def only(self, names: Collection[str]) -> LayeredModel:
        """Return the model of some of its layers."""
        kept = [{name: kinds for name, kinds in types.items() if name in names} for types in self.types]
        chains = tuple(model for model, types in zip(self.chains, kept, strict=True) if types)
        return replace(self, chains=chains, types=tuple(filter(None, kept)))

    def to_json(self) -> dict[str, Any]:
        chains = [
            {name: value for name, value in model.to_json().items() if name != "encoder"} for model in self.chains
        ]
        types = [{name: list(kinds) for name, kinds in types.items()} for types in self.types]
        parts = {"encoder": self.encoder.to_json(), "chains": chains, "types": types, "about": self.about}
        return {"kind": self.kind, "task": self.task, "coding": self.coding, **parts}

    def arrays(self) -> Arrays:
        arrays = dict(self.encoder.arrays())
        for number, model in enumerate(self.chains):
            arrays |= nested({"weights": model.weights, **model.parameters.arrays()}, f"chains.{number}")
        return arrays


class LayeredPredictor:
    """Labels words in all layers of a model. The interface is that of `ChainPredictor` with several guidelines."""

    def __init__(self, model: LayeredModel, threads: int = 1) -> None:
        self.model, self.threads = model, threads
        self.guidelines = model.names
        self.guideline = self.guidelines[0]
        self.predictors = [ChainPredictor(one, threads) for one in model.chains]
        self._views = [
            {name: predictor.view_of(kinds) for name, kinds in types.items()}
            for predictor, types in zip(self.predictors, model.types, strict=True)
        ]
        self._rows = WordRows.of(*model.chains)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels of all layers."""
        names = (label for views in self._views for view in views.values() for label in view.names)
        return tuple(dict.fromkeys(names))

    def layer_in(self, names: Collection[str], guideline: str | None = None) -> str | None:
        """Return the layer of the model, by default its first, if it is among names."""
        name = guideline or self.guideline
        return name if name in names else None

    def knows(self, candidate: str) -> bool:
        """Return whether a candidate is a label of some layer, or a wildcard for some."""
        return any(predictor.knows(candidate) for predictor in self.predictors)

    def tokens(self, sentences: Sequence[Sentence], layer: str | None = None) -> Sequence[Sentence]:
        """Return the sentences, whose tokens are those of the model."""
        return sentences

    def tag(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """Add the best labels of all layers, in order, block by block."""
        for block in in_blocks(sentences, BLOCK):
            best = [
                predictor.best(block, scored=scored)
                for predictor, scored in zip(self.predictors, self._scored(block), strict=True)
            ]
            yield from self._labelled(block, best)

    def complete(self, corpus: Corpus) -> Corpus:
        """Fill in all layers; known labels of a layer never change.

        Raises CorpusError for labels that exclude one another, and for spans that overlap though their layers did not
        in training.
        """
        done: list[Sentence] = []
        for block in in_blocks(corpus.sentences, BLOCK):
            parts = self.parts(Corpus(tuple(block), corpus.guideline, covered=corpus.covered))
            best = [
                predictor.best(evidence.sentences, evidence.guideline, None, scored)
                for (predictor, evidence), scored in zip(parts, self._scored(block), strict=True)
            ]
            done += self._labelled(block, best)
        everything = (sentence if sentence.covered is None else replace(sentence, covered=None) for sentence in done)
        return replace(corpus, sentences=tuple(everything), covered=None)

    def tag_spans(self, sentences: Iterable[Sentence], probable: bool = True) -> Iterator[tuple[Sentence, TaggedSpans]]:
        """Yield sentences as `tag` does, and the spans of all layers, from left to right, longer ones first."""
        for block in in_blocks(sentences, BLOCK):
            best, spans = [], [TaggedSpans() for _ in block]
            chains = zip(self.predictors, self._scored(block), self.model.types, strict=True)
            for predictor, scored, types in chains:
                labels, of_chain = predictor.spans_in(scored, probable)
                best.append((scored[0], labels))
                kinds = {kind for of_layer in types.values() for kind in of_layer}
                for all_spans, new in zip(spans, of_chain, strict=True):
                    all_spans += [span for span in new if span[2] in kinds]
            in_order = (sorted(of_sentence, key=lambda span: (span[0], -span[1])) for of_sentence in spans)
            yield from zip(self._labelled(block, best), in_order, strict=True)

    def probabilities(self, *_: Any) -> Any:
        """Raise StreamError: only the labels of one layer have probabilities."""
        expected = "one, that shares its chain with no other (`to`); spans have probabilities in all"
        raise StreamError(f"found the layers {', '.join(self.guidelines)}, expected {expected}")

    k_best = probabilities

    def _scored(self, block: Sequence[Sentence]) -> list[Scored]:
        """Return the sentences encoded once, with the scores of each chain if these come from rows of words."""
        if self._rows is None or (encoded := self._rows.encoded(block)) is None:
            return [(self.model.encoder.encode(block, self.threads), None)] * len(self.predictors)
        return [(encoded[0], scoring) for scoring in encoded[1]]

    def _labelled(self, block: list[Sentence], best: Iterable[tuple[Encoded, Ints]]) -> Iterator[Sentence]:
        """Yield sentences with all layers, given the best labels of each chain."""
        of_chains = [
            predictor.layers_in(block, *of_chain, views)
            for predictor, of_chain, views in zip(self.predictors, best, self._views, strict=True)
        ]
        for sentence, *layers in zip(block, *of_chains, strict=True):
            together = dict(sentence.layers)
            for of_chain in layers:
                together.update(of_chain)
            yield sentence.with_valid_layers(together)

    def parts(self, corpus: Corpus) -> list[tuple[ChainPredictor, Corpus]]:
        """Return the predictor of each chain with what a corpus says of its layers, as one layer.

        Raises CorpusError for spans of the layers of a chain that overlap.
        """
        parts = []
        for predictor, types in zip(self.predictors, self.model.types, strict=True):
            evidence = replace(corpus, guideline=predictor.guideline, covered=None)
            if any(sentence.is_annotated(name) for name in types for sentence in corpus):
                for sentence in corpus if len(types) > 1 else ():
                    refuse_overlap(sentence, [*types])
                evidence = of_group(corpus, [*types], types, predictor.guideline)
            parts.append((predictor, evidence))
        return parts
