"""Labels and evidence from corpora: a space of labels, and the number of a label set for every token."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus import chunk_schemes
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError
from tagweave.evidence.layers import allowed_sets, token_noise
from tagweave.labels import SPANS
from tagweave.labels.coding import CODINGS_OF
from tagweave.labels.sets import LabelSets
from tagweave.labels.space import LabelSpace, collect_names

if TYPE_CHECKING:  # a model knows features
    from tagweave.models.chain import ChainModel

_GUIDELINE = "labels"


def model_of(labels: object) -> ChainModel | None:
    """Return the model of label sequences that this is, or that a model of `tagweave.load_model` has."""
    model = getattr(labels, "chain", labels)
    return cast("ChainModel", model) if hasattr(model, "linear") else None


def space_of(labels: int | Iterable[str] | Corpus | LabelSpace | ChainModel, coding: str) -> LabelSpace:
    """Return the space of labels that are given by their number, names, a corpus that has them, or as a space."""
    if isinstance(labels, LabelSpace):
        return labels
    if isinstance(labels, Corpus):
        names = collect_names(sentence.layers.get(labels.guideline, ()) for sentence in labels)
        if coding in CODINGS_OF[SPANS]:
            names = chunk_schemes.labels(names, coding)
        return LabelSpace.plain(labels.guideline, names)
    names = tuple(map(str, range(labels))) if isinstance(labels, int) else tuple(cast("Iterable[str]", labels))
    if repeated := [name for at, name in enumerate(names) if name in names[:at]]:
        raise ValueError(f"found the label {repeated[0]!r} twice, expected each once")
    return LabelSpace.plain(_GUIDELINE, names)


def encoded(corpus: Corpus, sets: LabelSets, coding: str) -> tuple[NDArray[np.int32], list[int]]:
    """Return the label set of every token, and the lengths of sentences; new sets are added to the table.

    The layer of a corpus whose guideline the space does not have is read as that of its first one. Spans are brought to
    the coding, and confidence becomes likelihoods.
    """
    if coding in CODINGS_OF[SPANS]:
        corpus = chunk_schemes.coded(corpus, coding)
    sentences = [_with_layer(each, corpus.guideline, sets.space) for each in corpus]
    numbers, noise = allowed_sets(sentences, sets, None, corpus.covered), token_noise(sentences)
    for at in np.flatnonzero(noise).tolist():
        numbers[at] = sets.believed_in_part(int(numbers[at]), float(noise[at]))
    return numbers, list(map(len, sentences))


def _with_layer(sentence: Sentence, guideline: str, space: LabelSpace) -> Sentence:
    for found, what in ((any(sentence.rejected.values()), "rejected spans"), (sentence.weight != 1, "a weight")):
        if found:
            raise CorpusError(what, "labels, sets of labels, numbers or confidence", *sentence.location)
    if guideline in space.guidelines or guideline not in sentence.layers:
        return sentence
    return replace(sentence, layers={space.guidelines[0]: sentence.layers[guideline]})
