"""Recall of gold words by their tags (Table 12)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.corpus import Corpus

LEAST_SHARE, LEAST_CHANGE = 1.0, 0.1
"""Per cent of the words that a tag needs to be shown, and points by which its recall must have changed (5.3)."""


def by_tag(gold: Corpus, first: Sequence[Sequence[str]], second: Sequence[Sequence[str]]) -> list[dict[str, Any]]:
    """The tags whose words two systems find differently often, as Table 12 has them.

    Args:
        gold: words with their tags.
        first: of one system the lengths of the words of every sentence, for every seed.
        second: of the other.

    Returns:
        of every tag `share` of the words, and recall of the `first` and the `second` system, means over the seeds; all
        in per cent.
    """
    layers = [sentence.layers.get(gold.guideline, (None,) * len(sentence)) for sentence in gold]
    tags = np.array([each[0] if each else "" for each in chain.from_iterable(layers)])
    found = [np.mean([right(gold, output) for output in outputs], axis=0) for outputs in (first, second)]
    rows = []
    for tag in sorted({*tags.tolist()} - {""}):
        of_tag = tags == tag
        share, *recall = 100 * float(of_tag.mean()), *(100 * float(each[of_tag].mean()) for each in found)
        if share > LEAST_SHARE and abs(recall[1] - recall[0]) > LEAST_CHANGE:
            rows.append({"tag": tag, "share": share, "first": recall[0], "second": recall[1]})
    return rows


def right(gold: Corpus, output: Sequence[str]) -> NDArray[np.bool_]:
    """bool[N]: which of the N gold words a system with words of these lengths finds."""
    own = _spans([[len(form) for form in sentence.forms] for sentence in gold])
    return np.isin(own, _spans([list(map(int, line.split())) for line in output]))


def _spans(lengths: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """int64[N], a number for the span of every word in the text of all sentences."""
    sizes = np.array(list(chain.from_iterable(lengths)), np.int64)
    ends = np.cumsum(sizes)
    return (ends - sizes) * (int(sizes.sum()) + 1) + ends
