"""Guide features: the labels of a model of another guideline for the same tokens, in a column for templates.

The two-stage CRF of Jiang et al. 2009, with which li-2015 compares (sections 1 and 5.2); feature-based stacking in
sun-wan-2012 (4.3), Model 1 in jiang-2015 (4.2). The source model, trained on the source corpora, is the guide; the
target model sees the guide's labels like the words:

    sentence ── guide of GUIDELINE ──> column guide:GUIDELINE ── templates `user:guide:GUIDELINE[0]` ──> features

Known labels of the source guideline replace the guide's; this is how a model with a guide converts a corpus from one
guideline to the other (li-2015, 5.4).

The column has another name than the layer, since a column file gives every layer a string column of its name, from
which training would take gold labels for features.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Layer, Sentence
from tagweave.features.columns import LIST_COLUMNS
from tagweave.features.encoded import Encoded
from tagweave.features.encoder import TemplateEncoder
from tagweave.features.templates import Templates
from tagweave.labels.space import is_wildcard
from tagweave.models.cascade_encoder import CascadeEncoder
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.parts import nested


def guide_column(guideline: str) -> str:
    """The column of a guide's labels."""
    return f"guide:{guideline}"


def guide_templates(guideline: str, base: Templates | None = None) -> tuple[str, ...]:
    """Templates over a guide's labels t', for words and for characters.

    With `base`, the templates of the model: t'[0] alone and joined to each of them (jiang-2015, 4.1 and Table 3) except
    those with list columns, which cannot be joined to others. Without it, a window of labels:

    | template | from |
    |---|---|
    | t'[-1], t'[0], t'[1] | sun-wan-2012, 4.3, label unigrams in a window of 1 |
    | t'[-1] t'[0], t'[0] t'[1] | sun-wan-2012, 4.3, label bigrams |
    | t'[-1] t'[1] | like the bigram of characters around the token: jiang-2015, Table 1 |
    | t'[0] with form[-1], form[0], form[1] | jiang-2015, Table 3, the guiding features of single tokens |
    """
    if base is not None:
        alone = f"user:{guide_column(guideline)}[0]"
        scalar = (each for each in base.parsed if not any(term.column in LIST_COLUMNS for term in each.terms))
        return (alone, *(f"{each} {alone}" for each in scalar))
    before, here, after = (f"user:{guide_column(guideline)}[{offset}]" for offset in (-1, 0, 1))
    labels = (before, here, after, f"{before} {here}", f"{here} {after}", f"{before} {after}")
    return (*labels, *(f"form[{offset}] {here}" for offset in (-1, 0, 1)))


class GuidedEncoder(CascadeEncoder):
    """Templates over tokens and over the labels that another model gives them.

    A sentence without the column gets it from its own layer of the guide's guideline if every position of the layer has
    one label. If only some have, the guide fills in the others with the best sequence that the layer allows; without
    such a layer, it labels all tokens. The guide sees no other layer, so that the answer cannot leak into its labels.

    Args:
        encoder: the templates of the target model, which may include the column.
        guide: a model over the same tokens, possibly with a guide itself; its first guideline is used.
    """

    kind = "guided"

    def __init__(self, encoder: TemplateEncoder, guide: ChainModel) -> None:
        super().__init__(encoder)
        self.guide = guide
        self.guideline = guide.space.views[0].guideline
        self.column = guide_column(self.guideline)

    def encode(self, sentences: Sequence[Sentence], threads: int = 1) -> Encoded:
        """The features of sentences, without evidence.

        Raises:
            CorpusError: as `guided`; or a sentence lacks another column that a template uses.
        """
        return self.encoder.encode(self.guided(sentences, threads))

    def guided(self, sentences: Sequence[Sentence], threads: int = 1) -> list[Sentence]:
        """The sentences, each with the column; the guide labels all that need it at once.

        Raises:
            CorpusError: a partly labelled layer has a label that the guide does not know, or labels that exclude one
                another.
        """
        labels = [self._known_labels(sentence) for sentence in sentences]
        unlabelled = [sentence for sentence, known in zip(sentences, labels, strict=True) if known is None]
        predictions = iter(self._predictions(unlabelled, threads))
        return [
            sentence.with_column(self.column, next(predictions) if known is None else known)
            for sentence, known in zip(sentences, labels, strict=True)
        ]

    def _known_labels(self, sentence: Sentence) -> tuple[str, ...] | None:
        """The column of a sentence that does not need the guide."""
        names = self.guide.space.views[0].number
        return sentence.columns.get(self.column) or one_label_each(sentence.layers.get(self.guideline), names)

    def _predictions(self, sentences: Sequence[Sentence], threads: int) -> list[tuple[str, ...]]:
        """The guide's labels, which agree with the layer of its guideline."""
        inputs = tuple(self._with_own_layer(sentence) for sentence in sentences)
        completed = ChainPredictor(self.guide, threads).complete(Corpus(inputs, self.guideline))
        return [labels_of(sentence, self.guideline) for sentence in completed]

    def _with_own_layer(self, sentence: Sentence) -> Sentence:
        layer = sentence.layers.get(self.guideline, (None,) * len(sentence))
        return replace(sentence, layers={self.guideline: layer})

    def to_json(self) -> dict[str, Any]:
        """The templates, and the description of the guide."""
        return {**self.encoder.to_json(), "kind": self.kind, "guide": self.guide.to_json()}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays stored with a model; those of the guide are named `guide.NAME`."""
        return {**self.encoder.arrays(), **nested(self.guide.arrays(), "guide")}


def one_label_each(layer: Layer | None, names: Container[str]) -> tuple[str, ...] | None:
    """The labels of a layer if every position has exactly one, else `None`.

    A wildcard does not count as a label, unless `names` has a label of that name.
    """
    if layer is None:
        return None
    labels = [candidates[0] for candidates in layer if candidates is not None and len(candidates) == 1]
    if len(labels) < len(layer) or any(is_wildcard(label) and label not in names for label in set(labels)):
        return None
    return tuple(labels)


def labels_of(sentence: Sentence, layer: str) -> tuple[str, ...]:
    """The labels of a layer that a model has filled in: one per position."""
    return tuple(candidates[0] for candidates in sentence.layers[layer] if candidates)
