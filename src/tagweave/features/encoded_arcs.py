"""Sentences as a parser sees them: the values of columns at every token, and the evidence of heads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.sentence import HeadLayer, Sentence
from tagweave.errors import CorpusError
from tagweave.evidence.sequences import rows
from tagweave.evidence.trees import ANY, ArcEvidence, only_head
from tagweave.features.arc_templates import GUIDE, ArcTemplates, guide_layer, is_form_column
from tagweave.features.columns import FormColumns, value_numbers
from tagweave.features.lookups import NOTHING, Lookups
from tagweave.labels.sets import Reading

ROOT = np.uint64(0x8EBC6AF09C88C6E3)
"""The value of every column at the root."""
_UNKNOWN = "\0"  # the tag of a position without exactly one tag


@dataclass(frozen=True)
class EncodedArcs:
    """The features of S sentences of N tokens, and their evidence."""

    evidence: ArcEvidence  # what is known of their heads
    names: tuple[str, ...]  # the C columns
    columns: NDArray[np.uint64]  # [N + S, C], their codes by position
    # [N + S], by position the head in the guide tree, negative where unknown; empty without a guide
    guide: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))

    def __len__(self) -> int:
        return len(self.evidence)

    @property
    def position_ptr(self) -> NDArray[np.int64]:
        return self.evidence.position_ptr

    @property
    def lengths(self) -> NDArray[np.int64]:
        return self.evidence.lengths

    @property
    def token_ptr(self) -> NDArray[np.int64]:
        return self.evidence.token_ptr

    def take(self, order: NDArray[np.int64]) -> EncodedArcs:
        positions, _ = rows(self.position_ptr, order)
        guide = self.guide[positions] if len(self.guide) else self.guide
        return EncodedArcs(self.evidence.take(order), self.names, self.columns[positions], guide)


def encode_arcs(
    sentences: Sequence[Sentence],
    templates: ArcTemplates,
    layer: str | None = None,
    more: Sequence[str] = (),
    reading: Reading = "likelihood",
    lookups: Lookups = NOTHING,
) -> EncodedArcs:
    """Encode the columns of the templates, then `more` columns; with the evidence of a head layer, if one is named."""
    evidence = ArcEvidence.of_layer(sentences, layer, reading)
    ptr = evidence.position_ptr
    is_token = np.ones(int(ptr[-1]), bool)
    is_token[ptr[:-1]] = False
    names = tuple(dict.fromkeys([*templates.columns, *more]))
    columns = np.full((len(is_token), len(names)), ROOT)
    for at, codes in enumerate(_columns(sentences, names, int(is_token.sum()), lookups)):
        columns[is_token, at] = codes
    guide = np.zeros(0, np.int32)
    if templates.guide:
        guide = np.full(len(is_token), ANY, np.int32)
        guide[is_token] = [
            only_head(candidates) for s in sentences for candidates in _guiding(s, guide_layer(templates.guide))
        ]
    return EncodedArcs(evidence, names, columns, guide)


def _columns(
    sentences: Sequence[Sentence], names: Sequence[str], count: int, lookups: Lookups
) -> Iterable[NDArray[np.uint64]]:
    ids, forms = value_numbers(chain.from_iterable(sentence.forms for sentence in sentences), count)
    of_forms = FormColumns(forms, lookups.bits)
    for name in names:
        if is_form_column(name):
            yield of_forms.scalar(name)[ids]
        else:
            numbers, values = value_numbers(_values(sentences, name), count)
            yield FormColumns(values).form()[numbers]


def _values(sentences: Sequence[Sentence], name: str) -> Iterable[str]:
    column = name.removeprefix("user:") if name.startswith("user:") else None
    for sentence in sentences:
        if name.startswith(GUIDE):
            for arcs in _guiding(sentence, name):
                yield (arcs[0].relation if arcs is not None and len(arcs) == 1 else None) or _UNKNOWN
        elif column is None and name in sentence.layers:
            for tags in sentence.layers[name]:
                yield tags[0] if tags is not None and len(tags) == 1 else _UNKNOWN
        elif column is not None and column in sentence.columns:
            yield from sentence.columns[column]
        else:
            what, there = ("column", sentence.columns) if column else ("layer", sentence.layers)
            problem = f"{what}s {', '.join(there)}" if there else f"no {what}s"
            expected = f"a {what} {column or name!r}, which the parser looks at"
            raise CorpusError(problem, expected, *sentence.location)


def _guiding(sentence: Sentence, layer: str) -> HeadLayer:
    if layer not in sentence.heads:
        raise CorpusError(
            "no tree that guides", f"a head layer {layer!r}, which the parser looks at", *sentence.location
        )
    return sentence.heads[layer]
