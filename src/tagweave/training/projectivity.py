"""Training trees that are not projective: how many there are, and projective ones for parsers that learn no others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tagweave.corpus.errors import CorpusError
from tagweave.corpus.sentence import Arc, ArcCandidates, Sentence
from tagweave.features.arc_evidence import ANY, SEVERAL, only_head
from tagweave.kernels.projective import has_cycle, is_projective, projectivise


def projectivised(sentences: Sequence[Sentence], layer: str) -> tuple[list[Sentence], int]:
    """The sentences with arcs lifted until none cross (Nivre & Nilsson 2005), and the number of changed sentences.

    A lifted arc loses its relation. Unknown heads stay unknown; if lifting an arc would need one, its head becomes
    unknown. A sentence with several candidates for a head does not change.

    Raises:
        CorpusError: heads that form a cycle.
    """
    results, changed = [], 0
    for sentence in sentences:
        given = sentence.heads.get(layer)
        old = [] if given is None else list(map(only_head, given))
        if given is None or SEVERAL in old:
            results.append(sentence)
            continue
        new = np.array(old, np.int32)
        lifts = projectivise(new)
        if lifts < 0:
            raise _circle(sentence)
        changed += lifts > 0
        arcs = [_arc(each, head) for each, head in zip(given, new.tolist(), strict=True)] if lifts else given
        results.append(replace(sentence, heads={**sentence.heads, layer: tuple(arcs)}) if lifts else sentence)
    return results, changed


def crossing(sentences: Sequence[Sentence], layer: str) -> int:
    """In how many sentences arcs cross that are known.

    Raises:
        CorpusError: heads that form a cycle.
    """
    count = 0
    for sentence in sentences:
        heads = np.array([max(only_head(each), ANY) for each in sentence.heads.get(layer, ())], np.int32)
        if has_cycle(heads):
            raise _circle(sentence)
        count += not is_projective(heads)
    return count


def _circle(sentence: Sentence) -> CorpusError:
    return CorpusError("heads that go round in a circle", "a tree", *sentence.location)


def _arc(candidates: ArcCandidates, head: int) -> ArcCandidates:
    if head == only_head(candidates):
        return candidates
    return None if head < 0 else (Arc(head, None),)
