"""Encoded sentences of a parser: columns of codes by position, and the arcs that the evidence allows.

Position 0 of a sentence is the root, so a sentence of L tokens has L + 1 positions and (L + 1)^2 cells, one for each
head and modifier.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.errors import CorpusError
from tagweave.corpus.sentence import ArcCandidates, Candidates, HeadLayer, Sentence
from tagweave.features.arc_evidence import ANY, allowed_arcs, are_numbers, only_head
from tagweave.features.arc_templates import GUIDE, ArcTemplates, guide_layer, is_form_column
from tagweave.features.columns import FormColumns, value_numbers
from tagweave.features.ragged import pointers, rows
from tagweave.labels.sets import Reading

ROOT = np.uint64(0x8EBC6AF09C88C6E3)
"""The value of every column at the root."""
_UNKNOWN = "\0"  # the tag of a position without exactly one tag


@dataclass(frozen=True)
class EncodedArcs:
    """S sentences of N tokens.

    Attributes:
        position_ptr: int64[S + 1], the first position (the root) of every sentence.
        names: the C columns.
        columns: uint64[N + S, C], their codes by position.
        heads: int32[N + S], by position the known head; `ANY` where all heads are allowed (and at roots), `SEVERAL`
            where some are.
        allowed: uint8[cells], by head and modifier, whether the evidence allows the arc; only for sentences in which
            some token has several candidate heads or only some tokens have a known one. float32 if there are numbers:
            likelihoods, or probabilities of heads.
        allowed_ptr: int64[S + 1], the first entry of each sentence in `allowed`.
        weights: float64[S], how often each sentence counts.
        guide: int32[N + S], by position the head in the guide tree, negative where unknown; empty without a guide.
        noise: float64[N + S], by position the share of its potential that an excluded head keeps in training; empty
            where all evidence is certain.
        posterior: bool[S], whether the numbers of a sentence are probabilities, which all of its heads have then; empty
            if there are none.
    """

    position_ptr: NDArray[np.int64]
    names: tuple[str, ...]
    columns: NDArray[np.uint64]
    heads: NDArray[np.int32]
    allowed_ptr: NDArray[np.int64]
    allowed: NDArray[Any]
    weights: NDArray[np.float64]
    guide: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    noise: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    posterior: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))

    def __len__(self) -> int:
        return len(self.position_ptr) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """int64[S], the tokens of each sentence."""
        return np.diff(self.position_ptr) - 1

    @property
    def token_ptr(self) -> NDArray[np.int64]:
        """int64[S + 1], the first token of every sentence."""
        return self.position_ptr - np.arange(len(self.position_ptr))

    @property
    def token_heads(self) -> NDArray[np.int32]:
        """int32[N]: `heads` by token, without those of the roots."""
        return np.delete(self.heads, self.position_ptr[:-1])

    def renumber(self, terms: NDArray[np.int64], columns: Sequence[str]) -> NDArray[np.int64]:
        """Terms int64[R, J, 2] with their columns, numbers into `columns`, as numbers into `names`.

        Raises:
            ValueError: a column that `names` lacks.
        """
        numbers = np.array([*(self.names.index(name) for name in columns), -1], np.int64)
        return np.stack([numbers[terms[:, :, 0]], terms[:, :, 1]], axis=2)

    def cells(self, first: int, last: int) -> NDArray[np.int64]:
        """int64[n + 1]: the first cell of each of the sentences first .. last - 1, counted from 0."""
        return pointers(np.diff(self.position_ptr[first : last + 1]) ** 2)

    def informative(self) -> NDArray[np.bool_]:
        """bool[S]: whether the evidence of a sentence excludes any arc. The loss of the others is 0.

        It never does in a sentence of one token, which can only depend on the root.
        """
        known = np.concatenate([[0], np.cumsum(self.heads != ANY)])
        return (known[self.position_ptr[1:]] > known[self.position_ptr[:-1]]) & (self.lengths > 1)

    def take(self, order: NDArray[np.int64]) -> EncodedArcs:
        """The sentences `order`, in this order."""
        positions, ptr = rows(self.position_ptr, order)
        cells, allowed_ptr = rows(self.allowed_ptr, order)
        return replace(
            self,
            position_ptr=ptr,
            columns=self.columns[positions],
            heads=self.heads[positions],
            allowed_ptr=allowed_ptr,
            allowed=self.allowed[cells],
            weights=self.weights[order],
            guide=self.guide[positions] if len(self.guide) else self.guide,
            noise=self.noise[positions] if len(self.noise) else self.noise,
            posterior=self.posterior[order] if len(self.posterior) else self.posterior,
        )


def encode_arcs(
    sentences: Sequence[Sentence],
    templates: ArcTemplates,
    layer: str | None = None,
    more: Sequence[str] = (),
    reading: Reading = "likelihood",
) -> EncodedArcs:
    """Encode the columns of the templates, then those of `more`; with the evidence of a head layer, if one is named.

    Raises:
        CorpusError: a sentence lacks a column, a layer or a guide tree that the templates use; as `allowed_arcs`.
    """
    lengths = np.fromiter(map(len, sentences), np.int64, len(sentences))
    ptr = pointers(lengths + 1)
    is_token = np.ones(int(ptr[-1]), bool)
    is_token[ptr[:-1]] = False
    names = tuple(dict.fromkeys([*templates.columns, *more]))
    columns = np.full((len(is_token), len(names)), ROOT)
    for at, codes in enumerate(_columns(sentences, names, int(lengths.sum()))):
        columns[is_token, at] = codes
    heads, guide = np.full(len(is_token), ANY, np.int32), np.zeros(0, np.int32)
    if templates.guide:
        guide = np.full(len(is_token), ANY, np.int32)
        guide[is_token] = [only_head(each) for s in sentences for each in _guiding(s, guide_layer(templates.guide))]
    allowed: list[NDArray[Any]] = []
    if layer is not None:
        heads[is_token] = [only_head(each) for s in sentences for each in s.heads.get(layer) or (None,) * len(s)]
        bounds = zip(sentences, ptr, ptr[1:], strict=False)
        allowed = [allowed_arcs(sentence, layer, heads[low:high], reading) for sentence, low, high in bounds]
    weights = np.array([sentence.weight for sentence in sentences], np.float64)
    sizes = np.array([len(each) for each in allowed] or [0] * len(sentences), np.int64)
    cells = np.concatenate([np.zeros(0, np.uint8), *allowed])
    posterior = np.array([reading == "posterior" and are_numbers(each) for each in allowed], np.bool_)
    parts = pointers(sizes), cells, weights, guide, np.zeros(0), posterior if posterior.any() else posterior[:0]
    return EncodedArcs(ptr, names, columns, heads, *parts)


def _columns(sentences: Sequence[Sentence], names: Sequence[str], count: int) -> Iterable[NDArray[np.uint64]]:
    """The codes of every column, by token."""
    ids, forms = value_numbers(chain.from_iterable(sentence.forms for sentence in sentences), count)
    of_forms = FormColumns(forms)
    for name in names:
        if is_form_column(name):
            yield of_forms.scalar(name)[ids]
        else:
            own, values = value_numbers(_values(sentences, name), count)
            yield FormColumns(values).form()[own]


def _values(sentences: Sequence[Sentence], name: str) -> Iterable[str]:
    column = name.removeprefix("user:") if name.startswith("user:") else None
    for sentence in sentences:
        if name.startswith(GUIDE):
            yield from map(_relation, _guiding(sentence, name))
        elif column is None and name in sentence.layers:
            yield from map(_tag, sentence.layers[name])
        elif column is not None and column in sentence.columns:
            yield from sentence.columns[column]
        else:
            what, there = ("column", sentence.columns) if column else ("layer", sentence.layers)
            found = f"{what}s {', '.join(there)}" if there else f"no {what}s"
            expected = f"a {what} {column or name!r}, which the parser looks at"
            raise CorpusError(found, expected, *sentence.location)


def _guiding(sentence: Sentence, layer: str) -> HeadLayer:
    if layer not in sentence.heads:
        raise CorpusError(
            "no tree that guides", f"a head layer {layer!r}, which the parser looks at", *sentence.location
        )
    return sentence.heads[layer]


def _relation(candidates: ArcCandidates) -> str:
    return candidates[0].relation or _UNKNOWN if candidates is not None and len(candidates) == 1 else _UNKNOWN


def _tag(candidates: Candidates) -> str:
    return candidates[0] if candidates is not None and len(candidates) == 1 else _UNKNOWN
