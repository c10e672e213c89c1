"""Predictions of a model for encoded sentences, by sentence and with the names of labels."""

from __future__ import annotations

from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tagweave.features.encoded import Encoded
from tagweave.kernels.blas import one_blas_thread
from tagweave.models.chain import ChainModel

Item = TypeVar("Item")
Ranking = list[tuple[list[str], float]]


def best_labels(model: ChainModel, encoded: Encoded, masks: NDArray[np.uint8] | None = None) -> list[list[str]]:
    """The best label sequence of every sentence; with `masks`, the best that the evidence allows."""
    numbers = model.best(encoded, masks).tolist()
    names = model.space.names
    return _by_sentence([names[number] for number in numbers], encoded)


def marginals(model: ChainModel, encoded: Encoded) -> list[list[dict[str, float]]]:
    """The probability of every label at every token, by sentence."""
    with one_blas_thread():
        gamma, _ = model.marginals(encoded)
    names = model.space.names
    return _by_sentence([dict(zip(names, row, strict=True)) for row in gamma.tolist()], encoded)


def k_best_labels(model: ChainModel, encoded: Encoded, k: int) -> list[Ranking]:
    """The k best label sequences of every sentence, with their probabilities."""
    with one_blas_thread():
        _, log_z = model.marginals(encoded)
        return [_ranking(model, encoded, i, k, log_z[i]) for i in range(len(encoded))]


def _ranking(model: ChainModel, encoded: Encoded, sentence: int, k: int, log_z: float) -> Ranking:
    sequences, scores = model.k_best(encoded, sentence, k)
    names = model.space.names
    labels = [[names[number] for number in sequence] for sequence in sequences.tolist()]
    return list(zip(labels, np.exp(scores - log_z).tolist(), strict=True))


def _by_sentence(tokens: list[Item], encoded: Encoded) -> list[list[Item]]:
    return [tokens[start:stop] for start, stop in pairwise(encoded.sentence_ptr.tolist())]
