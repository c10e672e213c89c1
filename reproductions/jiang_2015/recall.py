"""Recall by kind: of words by their tags (Table 12), of arcs by the tags of both ends (Table 13)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from reproductions.jiang_2015.structure import Lines, Structure
from tagweave.corpus.corpus import Corpus

LEAST_SHARE = 1.0
"""Per cent of the items that a kind needs to be shown (5.3)."""


def by_kind(
    structure: Structure, gold: Corpus, first: Sequence[Lines], second: Sequence[Lines]
) -> list[dict[str, Any]]:
    """The kinds whose items two systems find differently often, as Tables 12 and 13 have them.

    Args:
        structure: tells items, kinds, and what is right.
        gold: the gold standard.
        first: of one system the lines of every seed.
        second: of the other.

    Returns:
        of every kind `tag`, its name, `share` of the items, and recall of the `first` and the `second` system, means
        over the seeds; all in per cent.
    """
    kinds = np.array(structure.kinds(gold))
    found = [np.mean([structure.right(gold, lines) for lines in outputs], axis=0) for outputs in (first, second)]
    rows = []
    for kind in sorted({*kinds.tolist()} - {""}):
        of_kind = kinds == kind
        share, *recall = 100 * float(of_kind.mean()), *(100 * float(each[of_kind].mean()) for each in found)
        if share > LEAST_SHARE and abs(recall[1] - recall[0]) > structure.least_change:
            rows.append({"tag": kind, "share": share, "first": recall[0], "second": recall[1]})
    return rows
