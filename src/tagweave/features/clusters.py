"""The columns of word clusters: `cluster`, the bit string of a word's cluster, and `cluster_N`, its first N bits.

The bit strings are ways through a binary tree of clusters, so a prefix is a larger cluster. A word in no cluster has no
value. Where a string is shorter than N, the whole of it counts: short ones belong to frequent words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.features.rules import read_texts, refuse

LONGEST = 32
"""The longest prefix."""
CLUSTER_COLUMNS: dict[str, int | None] = {"cluster": None, **{f"cluster_{n}": n for n in range(1, LONGEST + 1)}}
"""The columns, with the lengths of the prefixes."""

ARRAY = "clusters.words"
"""The name of the array of a model: for each cluster its bit string and its words, separated by tabs."""
_LINE = re.compile("[01]+(\t[^\t]+)+")


def clusters_of_arrays(arrays: Mapping[str, NDArray[Any]]) -> dict[str, str]:
    """The bit strings of the words of a stored model, from what `cluster_arrays` returned; none without the array.

    Raises:
        ValueError, RecursionError: the array does not hold clusters.
    """
    clusters: dict[str, str] = {}
    for line in read_texts(arrays[ARRAY], ARRAY) if ARRAY in arrays else ():
        if not _LINE.fullmatch(line):
            refuse(line, ARRAY, "a bit string and words between tabs")
        bits, *words = line.split("\t")
        clusters.update(dict.fromkeys(words, bits))
    return clusters


def cluster_arrays(clusters: Mapping[str, str]) -> dict[str, NDArray[Any]]:
    """The arrays stored with a model; empty without clusters."""
    lines: dict[str, list[str]] = {}
    for word, bits in clusters.items():
        lines.setdefault(bits, [bits]).append(word)
    texts = ["\t".join(lines[bits]) for bits in sorted(lines)]
    return {ARRAY: np.frombuffer(json.dumps(texts).encode(), np.uint8)} if texts else {}
