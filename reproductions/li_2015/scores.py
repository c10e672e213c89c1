"""Scores of a cell: right and scored tokens of every sentence."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from tagweave.corpus.corpus import Corpus
from tagweave.evaluation.score import Counts


def right_and_scored(gold: Corpus, output: Sequence[str]) -> Counts:
    """int64[S, 2]: how many tokens of every sentence are right, and how many count.

    Args:
        gold: S sentences; a position without one label does not count.
        output: the tags of every sentence as one string.
    """
    layers = [sentence.layers[gold.guideline] for sentence in gold]
    expected = [each[0] if each and len(each) == 1 else None for each in chain.from_iterable(layers)]
    found = list(chain.from_iterable(line.split(" ") for line in output))
    right = np.array([a == b for a, b in zip(expected, found, strict=True)])
    known = np.array([label is not None for label in expected])
    sentence = np.repeat(np.arange(len(gold)), [len(layer) for layer in layers])
    columns = [np.bincount(sentence[marks], minlength=len(gold)) for marks in (right & known, known)]
    return np.stack(columns, axis=1).astype(np.int64)
