"""The score of weights on development data, which selects the best iteration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.chunk_schemes import ends_only
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Candidates, Layer
from tagweave.errors import CorpusError
from tagweave.evidence.layers import OUTSIDE
from tagweave.features.encoded import Encoded
from tagweave.kernels.compiled_code import one_blas_thread
from tagweave.labels import SPANS
from tagweave.labels.coding import Spread, WordCounter
from tagweave.labels.space import View, is_wildcard
from tagweave.labels.spans import SpanCounter
from tagweave.models.chain import ChainModel
from tagweave.models.pieces import of_pieces, piece_lengths

Floats = NDArray[Any]

_STRANGE = 0.9  # with a larger share of unknown labels, development data follow another guideline
_SHOWN = 8  # labels in a message


def dev_score(model: ChainModel, dev: Corpus, threads: int = 1) -> Callable[[Floats], float]:
    """Return a function from weights to the score on development data.

    The score is the F measure of spans for the task spans, that of words if every character of `dev` has one label,
    otherwise the accuracy on positions with one label. A label that the model does not know counts as wrong. A wildcard
    is not one label, nor is `O` if the corpus covers only some labels.
    """
    layers = []
    for sentence in dev.sentences:
        layer = sentence.layers.get(dev.guideline, (None,) * len(sentence))
        if dev.covered_in(sentence) is not None:  # its annotators looked for some labels only
            layer = tuple(None if OUTSIDE in (each or ()) else each for each in layer)
        layers.append(layer)
    sides = [view.guideline for view in model.space.sides]
    if dev.guideline not in sides:
        problem = f"development data of the guideline {dev.guideline!r}"
        raise CorpusError(problem, f"{' or '.join(map(repr, sides))}, of the model", dev.path)
    _check_known(layers, model.space.view(dev.guideline), dev.path)
    tokens = model.encoder.tokens(dev.sentences, threads)
    pieces = piece_lengths(tokens) if of_pieces(model) else None
    return scorer(model, model.encoder.encode(tokens, threads), layers, dev.guideline, threads, dev.path, pieces)


def _check_known(layers: Sequence[Layer], view: View, path: str) -> None:
    """Refuse development data whose labels are nearly all unknown to a view of the model."""
    named = (name for layer in layers for candidates in layer for name in candidates or ())
    counts = Counter(name for name in named if not is_wildcard(name))
    unknown = [name for name in counts if name not in view.number]
    share = sum(counts[name] for name in unknown) / max(1, counts.total())
    if share > _STRANGE:
        names = " ".join(unknown[:_SHOWN])
        problem = f"labels that the model does not know at {100 * share:.1f} % of the positions ({names})"
        raise CorpusError(problem, f"development data of {view.guideline}: {' '.join(view.names[:_SHOWN])}", path)


def scorer(
    model: ChainModel,
    encoded: Encoded,
    layers: Sequence[Layer],
    guideline: str,
    threads: int = 1,
    path: str = "",
    pieces: NDArray[np.int64] | None = None,
) -> Callable[[Floats], float]:
    """Like `dev_score`, for encoded sentences and their layers of a guideline.

    If `pieces` gives the characters of each token, layers are of characters, and every character is scored.
    """
    view = model.space.view(guideline)
    numbers = dict(view.number)  # of the labels of the model, then of those it lacks
    gold = np.array([_one_label(candidates, numbers) for layer in layers for candidates in layer], np.int32)
    known = gold >= 0
    if not known.any():
        raise CorpusError("no position with one label", "development data to measure by", path)
    spread = None if pieces is None else Spread(view.names, model.coding, numbers, pieces)
    ptr = encoded.sentence_ptr if spread is None else spread.begins[encoded.sentence_ptr]
    counter: SpanCounter | WordCounter | None = None  # if the score is the F measure of spans or words
    if model.task == SPANS:
        counter = SpanCounter(tuple(numbers), ptr)
    elif model.coding and known.all():
        counter = WordCounter(tuple(numbers), ptr)

    def score(weights: Floats) -> float:
        weighted = replace(model, weights=np.asarray(weights, model.weights.dtype))
        with one_blas_thread():
            system = view.projection[weighted.best(encoded, threads=threads)]
        system = system if spread is None else spread.characters(system)
        return counter.f_score(gold, system) if counter else float((system == gold)[known].mean())

    return score


def _one_label(candidates: Candidates, numbers: dict[str, int]) -> int:
    """Return the number of the only label of a position, a new one for a new label; -1: it has none, or ends a
    span, -2: it has several."""
    if candidates is None or ends_only(candidates):
        return -1
    if len(candidates) > 1 or (candidates[0] not in numbers and is_wildcard(candidates[0])):
        return -2
    return numbers.setdefault(candidates[0], len(numbers))
