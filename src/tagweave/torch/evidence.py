"""Labels and the evidence about them: from tensors, with the positions that exist, and from corpora."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tagweave.corpus import chunk_schemes
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError
from tagweave.evidence.layers import allowed_sets, token_noise
from tagweave.evidence.sequences import Evidence
from tagweave.labels import SPANS
from tagweave.labels.coding import CODINGS_OF
from tagweave.labels.sets import LabelRows, LabelSets, Posteriors, Reading
from tagweave.labels.space import LabelSpace, collect_names
from tagweave.torch.positions import NO_POSITION, Floats, Positions, array

if TYPE_CHECKING:  # a model knows features
    from tagweave.models.chain import ChainModel

UNKNOWN = -1
"""The id of an unknown label or head."""
_ROUNDING = 0.02  # by how much rounded probabilities may miss 1


def at_first_pieces(ids: Tensor, words: Sequence[int | None]) -> Tensor:
    """Return [T]: the id of each word at the first of its pieces, and -100 at all others.

    Args:
        ids: [L], of words.
        words: the word of each of T pieces, `None` for special ones, as `BatchEncoding.word_ids()` has them.
    """
    firsts = {word: at for at, word in reversed(list(enumerate(words))) if word is not None}
    spread = ids.new_full((len(words),), NO_POSITION)
    spread[list(firsts.values())] = ids[list(firsts)]
    return spread


def kept_positions(mask: Tensor | None, shape: tuple[int, int]) -> NDArray[np.bool_]:
    """Return bool[B, T]: where the mask has a position."""
    if mask is None:
        return np.ones(shape, np.bool_)
    if tuple(mask.shape) != shape:
        raise ValueError(f"found a mask of the shape {tuple(mask.shape)}, expected {shape}: rows, positions")
    return array(mask, torch.bool)


def of_labels(
    given: Tensor | None, mask: Tensor | None, shape: tuple[int, int, int], sets: LabelRows, reading: Reading
) -> tuple[Positions, Evidence]:
    """Return positions, and the evidence about their labels in B sentences.

    Args:
        given: int[B, T] ids, which are rows of `sets` less 1; bool[B, T, Y] sets; float[B, T, Y] numbers, read by
            `reading`; `None`: nothing is known.
        mask: bool[B, T], where there are positions; `None`: everywhere. An id of -100 is none either.
        shape: B, T, Y.
        sets: the table of label sets: all labels, each label, and what else ids may mean.
    """
    kept = kept_positions(mask, shape[:2])
    if given is None:
        positions = Positions.of(kept)
        return positions, Evidence.unknown(positions.ptr)
    is_id = not given.is_floating_point() and given.dtype != torch.bool
    if tuple(given.shape) != (shape[:2] if is_id else shape):
        raise ValueError(_strange(given, shape))
    numbers = array(given, torch.int64 if is_id else None if given.dtype == torch.bool else torch.float64)
    if is_id:
        positions = Positions.of(kept & (numbers != NO_POSITION))
        ids = positions.take(numbers)
        _check_ids(ids, positions, shape[2], len(sets.masks))
        return positions, _evidence(positions, (ids + 1).astype(np.int32), sets)
    positions = Positions.of(kept)
    rows = _table(positions.take(numbers), positions, reading)
    return positions, _evidence(positions, np.arange(len(rows.masks), dtype=np.int32), rows)


def _evidence(positions: Positions, sets: NDArray[np.int32], rows: LabelRows) -> Evidence:
    return replace(Evidence.unknown(positions.ptr), sets=sets, rows=rows)


def _strange(given: Tensor, shape: tuple[int, int, int]) -> str:
    kinds = f"ids of the shape {shape[:2]}, or sets (bool) or numbers (float) of the shape {shape}"
    hint = "; a mask is the argument `mask`" if given.dtype == torch.bool and tuple(given.shape) == shape[:2] else ""
    return f"found evidence of the shape {tuple(given.shape)} and the type {given.dtype}, expected {kinds}{hint}"


def _check_ids(ids: NDArray[np.int64], positions: Positions, labels: int, sets: int) -> None:
    if len(ids) and (ids.min() < UNKNOWN or ids.max() >= sets - 1):
        at = int(((ids < UNKNOWN) | (ids >= sets - 1)).argmax())
        more = f", {labels} to {sets - 2} (sets of `encode`)" if sets - 1 > labels else ""
        expected = f"0 to {labels - 1}{more}, {UNKNOWN} (unknown) or {NO_POSITION} (no position)"
        raise ValueError(f"{positions.place(at)}: found the label {ids[at]}, expected {expected}")


def _table(numbers: NDArray[np.bool_] | Floats, positions: Positions, reading: Reading) -> LabelRows:
    """Return a label set of its own for every position."""
    largest = numbers.max(axis=1, initial=0)
    if not (fine := np.isfinite(largest) & (largest > 0)).all():
        raise ValueError(
            f"{positions.place(int(fine.argmin()))}: found no label that is possible, expected one or more"
        )
    if numbers.dtype == np.bool_:
        return LabelRows(numbers)
    if not (fine := (numbers >= 0).all(axis=1)).all():
        raise ValueError(f"{positions.place(int(fine.argmin()))}: found a number below 0, expected 0 or more")
    if reading == "posterior":
        return _posteriors(numbers, positions)
    scales = np.log(largest)
    return LabelRows(numbers / largest[:, None], None, scales if scales.any() else None)


def _posteriors(numbers: Floats, positions: Positions) -> LabelRows:
    """Return rows of probabilities; a row of ones alone is unknown."""
    is_open = (numbers == 1).all(axis=1)
    total = numbers.sum(axis=1)
    if not (fine := is_open | (abs(total - 1) <= _ROUNDING)).all():
        at = int(fine.argmin())
        expected = "1, or ones alone (unknown); or read them as likelihoods"
        raise ValueError(f"{positions.place(at)}: found probabilities with the sum {total[at]:g}, expected {expected}")
    masks = numbers > 0
    has_several = ~is_open & (masks.sum(axis=1) > 1)
    if not has_several.any():
        return LabelRows(masks)
    of_set = np.where(has_several, np.cumsum(has_several) - 1, -1).astype(np.int32)
    several = numbers[has_several]
    group = np.where(several > 0, np.arange(several.shape[1]), -1).astype(np.int32)
    return LabelRows(masks, Posteriors(of_set, group, several / several.sum(axis=1, keepdims=True)))


_GUIDELINE = "labels"


def model_of(labels: object) -> ChainModel | None:
    """Return the model of label sequences that this is, or that a model of `tagweave.load_model` has."""
    model = getattr(labels, "chain", labels)
    return cast("ChainModel", model) if hasattr(model, "linear") else None


def space_of(labels: int | Iterable[str] | Corpus | LabelSpace | ChainModel, coding: str) -> LabelSpace:
    """Return the space of labels that are given by their number, names, a corpus that has them, or as a space."""
    if isinstance(labels, LabelSpace):
        return labels
    if isinstance(labels, Corpus):
        names = collect_names(sentence.layers.get(labels.guideline, ()) for sentence in labels)
        if coding in CODINGS_OF[SPANS]:
            names = chunk_schemes.labels(names, coding)
        return LabelSpace.plain(labels.guideline, names)
    names = tuple(map(str, range(labels))) if isinstance(labels, int) else tuple(cast("Iterable[str]", labels))
    if repeated := [name for at, name in enumerate(names) if name in names[:at]]:
        raise ValueError(f"found the label {repeated[0]!r} twice, expected each once")
    return LabelSpace.plain(_GUIDELINE, names)


def encoded(corpus: Corpus, sets: LabelSets, coding: str) -> tuple[NDArray[np.int32], list[int]]:
    """Return the label set of every token, and the lengths of sentences; new sets are added to the table.

    In a space of one guideline, the layer of a corpus is read as that, whatever its name. Spans are brought to the
    coding, and confidence becomes likelihoods.
    """
    if coding in CODINGS_OF[SPANS]:
        corpus = chunk_schemes.coded(corpus, coding)
    sentences = [_with_layer(sentence, corpus.guideline, sets.space) for sentence in corpus]
    numbers = allowed_sets(sentences, sets, None, corpus.covered)
    noise = token_noise(sentences)
    for at in np.flatnonzero(noise).tolist():
        numbers[at] = sets.believed_in_part(int(numbers[at]), float(noise[at]))
    return numbers, list(map(len, sentences))


def _with_layer(sentence: Sentence, guideline: str, space: LabelSpace) -> Sentence:
    for is_present, what in ((any(sentence.rejected.values()), "rejected spans"), (sentence.weight != 1, "a weight")):
        if is_present:
            raise CorpusError(what, "labels, sets of labels, numbers or confidence", *sentence.location)
    if guideline in space.guidelines or guideline not in sentence.layers:
        return sentence
    if len(space.guidelines) > 1:
        expected = f"one of {', '.join(space.guidelines)}, as in GUIDELINE=FILE"
        raise CorpusError(f"the guideline {guideline!r}", expected, *sentence.location)
    return replace(sentence, layers={space.guidelines[0]: sentence.layers[guideline]})
