"""Training trees made projective: a parser of projective trees cannot learn from arcs that cross."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tagweave.corpus.errors import CorpusError
from tagweave.corpus.sentence import Arc, ArcCandidates, Sentence
from tagweave.features.arcs import SEVERAL, only_head
from tagweave.kernels.projective import projectivise


def projectivised(sentences: Sequence[Sentence], layer: str) -> tuple[list[Sentence], int]:
    """The sentences with arcs lifted until none crosses another (Nivre & Nilsson 2005), and how many that changes.

    A lifted arc loses its relation. Unknown heads stay unknown; where lifting an arc would need one, its head becomes
    unknown. A sentence with several candidates for a head stays as it is.

    Raises:
        CorpusError: heads that go round in a circle.
    """
    found, changed = [], 0
    for sentence in sentences:
        given = sentence.heads.get(layer)
        old = [] if given is None else list(map(only_head, given))
        if given is None or SEVERAL in old:
            found.append(sentence)
            continue
        new = np.array(old, np.int32)
        lifts = projectivise(new)
        if lifts < 0:
            raise CorpusError("heads that go round in a circle", "a tree", *sentence.location)
        changed += lifts > 0
        arcs = [_arc(each, head) for each, head in zip(given, new.tolist(), strict=True)] if lifts else given
        found.append(replace(sentence, heads={**sentence.heads, layer: tuple(arcs)}) if lifts else sentence)
    return found, changed


def _arc(candidates: ArcCandidates, head: int) -> ArcCandidates:
    if head == only_head(candidates):
        return candidates
    return None if head < 0 else (Arc(head, None),)
