"""Sources that code spans in one way: as IOB2, which aggregation reads."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from tagweave.corpus import chunk_labels, chunk_schemes
from tagweave.labels.transition_scheme import split_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tagweave.corpus.corpus import Corpus


def in_iob2(corpus: Corpus, sources: Sequence[str]) -> Corpus:
    """The corpus with spans of all sources in IOB2, whichever coding they share; other labels stay as they are.

    `E` and `S` are signs of BIOES; `I` after `O`, and no `B` there, those of IOB1.

    Raises:
        CorpusError: labels of a source that its coding forbids, if that is not IOB2.
    """
    names: set[str] = set()
    starts: Counter[str] = Counter()
    for sentence in corpus:
        for source in sources:
            layer = [each[0] if each else "O" for each in sentence.layers.get(source, ())]
            names.update(layer)
            starts.update(label[0] for last, label in pairwise(["O", *layer]) if last == "O" and label != "O")
    if not chunk_labels.codes_chunks(names):
        return corpus
    if {split_label(name)[0] for name in names} & {"E", "S"}:
        scheme = "BIOES"
    elif starts["I"] and not starts["B"]:
        scheme = "IOB1"
    else:
        return corpus
    for source in sources:
        corpus = chunk_schemes.convert(corpus, "IOB2", scheme, source)
    return corpus
