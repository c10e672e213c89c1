"""Predictions of a model for encoded sentences, by sentence and with the names of labels."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import exp
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tagweave.estimators.encoding import encode, evidence
from tagweave.estimators.sequences import TokenSequence, layers_of
from tagweave.features.encoded import Encoded
from tagweave.kernels.blas import one_blas_thread
from tagweave.models.chain import ChainModel

Item = TypeVar("Item")
Ranking = list[tuple[list[str], float]]


def best_labels(
    model: ChainModel, encoded: Encoded, masks: NDArray[np.uint8] | None = None, threads: int = 1
) -> list[list[str]]:
    """The best label sequence of every sentence; with `masks`, the best that the evidence allows."""
    numbers = model.best(encoded, masks, threads).tolist()
    names = model.space.names
    return _by_sentence([names[number] for number in numbers], encoded)


def marginals(model: ChainModel, encoded: Encoded, threads: int = 1) -> list[list[dict[str, float]]]:
    """The probability of every label at every token, by sentence."""
    with one_blas_thread():
        gamma, _ = model.marginals(encoded, None, threads)
    names = model.space.names
    return _by_sentence([dict(zip(names, row, strict=True)) for row in gamma.tolist()], encoded)


def k_best_labels(model: ChainModel, encoded: Encoded, k: int) -> list[Ranking]:
    """The k best label sequences of every sentence, with their probabilities."""
    with one_blas_thread():
        _, log_z = model.marginals(encoded)
        return [_ranking(model, encoded, i, k, log_z[i]) for i in range(len(encoded))]


def sequence_probability(model: ChainModel, sentence: TokenSequence, labels: Sequence[str]) -> float:
    """The probability of a label sequence of a sentence.

    Raises:
        ValueError: another number of labels than tokens, or a label that the model does not know.
    """
    (layer,) = layers_of([labels], [len(sentence)], "labels")
    encoded, masks = evidence(model, encode(model, [sentence]), [layer])
    with one_blas_thread():
        (free,), (given,) = (model.marginals(encoded, which)[1].tolist() for which in (None, masks))
    return exp(given - free)


def _ranking(model: ChainModel, encoded: Encoded, sentence: int, k: int, log_z: float) -> Ranking:
    sequences, scores = model.k_best(encoded, sentence, k)
    names = model.space.names
    labels = [[names[number] for number in sequence] for sequence in sequences.tolist()]
    return list(zip(labels, np.exp(scores - log_z).tolist(), strict=True))


def _by_sentence(tokens: list[Item], encoded: Encoded) -> list[list[Item]]:
    return [tokens[start:stop] for start, stop in pairwise(encoded.sentence_ptr.tolist())]
