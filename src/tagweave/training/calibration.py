"""The temperature of a model: how far its probabilities are to be believed, learnt from development data.

A model is too sure of what it says, the more so the more often its labels are wrong. All scores divided by one
temperature T give the same best labels and other probabilities (Guo et al. 2017, "On Calibration of Modern Neural
Networks"). T minimises the mean of -log p(right label | x) over tokens with one label, of words the heads of trees.

Spans as wholes are right less often than their tokens: their logits then follow a line (Platt 1999, "Probabilistic
Outputs for Support Vector Machines"), fitted to the spans that a model answers. A prior holds it near the identity.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import exp, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.evaluation.calibration import Answers, answers, calibration
from tagweave.kernels import weight_vectors
from tagweave.labels import SPANS
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.pieces import of_pieces
from tagweave.models.scorer import calibrated_spans
from tagweave.models.tree import TreeModel
from tagweave.models.tree_predictor import TreePredictor
from tagweave.training.recipe import Recipe
from tagweave.training.task import without_outside

Floats = NDArray[Any]
Tables = Callable[[float], tuple[Floats, Floats]]
"""From a temperature to the probabilities of right answers and of the model's answers."""
_TOKENS = 20_000  # more tell one number no better
_FEWEST = 50  # tokens that tell a temperature
_RANGE = (0.25, 16.0)
_EXACTNESS = 0.02  # of the logarithm of the temperature
_PRIOR = np.array([0.5, 1.0])  # standard deviations of the logarithm of the slope, and of the offset
_STEEPEST, _FARTHEST = 4.0, 8.0
_TINY = 1e-9  # the smallest probability that counts


def calibrated(model: Any, judged: Sequence[tuple[Any, Corpus]], recipe: Recipe, name: str = "") -> Any:
    """Return a model with the temperature that suits models on corpora that they have not seen, and what it changes.

    Args:
        judged: the model itself with development data, or models like it with parts of these.
        name: of the development data.

    The model is returned as it is if its tokens are pieces, or too few tokens have one label.
    """
    from scipy.optimize import minimize_scalar

    if isinstance(model, ChainModel) and of_pieces(model):
        return model
    share = min(1.0, _TOKENS / max(1, sum(corpus.tokens() for _, corpus in judged)))
    parts = [_answers(each, corpus.part(share), recipe) for each, corpus in judged]
    right = np.concatenate([is_right for _, is_right in parts])
    if len(right) < _FEWEST:
        return model

    def probabilities(temperature: float) -> tuple[Floats, Floats]:
        found = [tables(temperature) for tables, _ in parts]
        known, said = (np.concatenate([each[at] for each in found]) for at in (0, 1))
        return known, said

    def of_right(temperature: float) -> Floats:
        return np.log(np.maximum(probabilities(temperature)[0], _TINY))

    def loss(logarithm: float) -> float:
        return -float(of_right(exp(logarithm)).mean())

    bounds = log(_RANGE[0]), log(_RANGE[1])
    best = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": _EXACTNESS}).x
    temperature = round(exp(float(best)), 3)
    gains = of_right(temperature) - of_right(1.0)
    if gains.mean() <= gains.std() / sqrt(len(gains)):  # within its standard error
        temperature = 1.0
    before, after = (calibration("tokens", probabilities(each)[1], right).error for each in (1.0, temperature))
    facts = {"temperature": temperature, "file": name, "tokens": len(right), "before": before, "after": after}
    if recipe.task.name == SPANS:
        facts["spans"] = _of_spans(judged, temperature, recipe.threads)
    return replace(model, about={**model.about, "calibration": facts})


def _of_spans(judged: Sequence[tuple[Any, Corpus]], temperature: float, threads: int) -> dict[str, Any]:
    """Return the line for spans as wholes, with their errors before and after both maps; nothing without spans."""
    (first, right), (cooled, _) = (_spans(judged, each, threads) for each in (1.0, temperature))
    if not right:
        return {}
    slope, offset = fitted_line(cooled, right)
    after = calibrated_spans(np.array(cooled), slope, offset)
    before, then = (calibration("spans", each, right).error for each in (first, after))
    return {"count": len(right), "slope": slope, "offset": offset, "before": before, "after": then}


def fitted_line(probabilities: Sequence[float], right: Sequence[bool]) -> tuple[float, float]:
    """Return the slope and the offset of logits that make answers right most probable, with a prior."""
    from scipy.optimize import minimize

    p, is_right = np.clip(np.array(probabilities), _TINY, 1 - _TINY), np.array(right)

    def loss(line: Floats) -> float:
        mapped = calibrated_spans(p, exp(line[0]), line[1])
        of_answers = np.log(np.maximum(np.where(is_right, mapped, 1 - mapped), _TINY)).sum()
        return float((line**2 / (2 * _PRIOR**2)).sum() - of_answers)

    bounds = [(-log(_STEEPEST), log(_STEEPEST)), (-_FARTHEST, _FARTHEST)]
    logarithm, offset = minimize(loss, np.zeros(2), method="L-BFGS-B", bounds=bounds).x
    return round(exp(logarithm), 3), round(float(offset), 3)


def _spans(judged: Sequence[tuple[Any, Corpus]], temperature: float, threads: int) -> Answers:
    """Return the answers of spans as wholes."""
    probabilities, right = list[float](), list[bool]()
    for model, corpus in judged:
        at, bare = _at(model, temperature), (replace(each, layers={}) for each in corpus)
        output = corpus.with_sentences(ChainPredictor(at, threads, corpus.guideline).tag(bare))
        found = answers(at, corpus, output, threads).get("spans", ([], []))
        probabilities += found[0]
        right += found[1]
    return probabilities, right


def _answers(model: Any, corpus: Corpus, recipe: Recipe) -> tuple[Tables, NDArray[np.bool_]]:
    """Return the probabilities of answers by temperature, and which answers are right."""
    prepare = _of_trees if isinstance(model, TreeModel) else _of_labels
    return prepare(model, corpus, recipe)


def _at(model: Any, temperature: float) -> Any:
    return replace(model, about={"calibration": {"temperature": temperature}})


def _of_labels(model: ChainModel, corpus: Corpus, recipe: Recipe) -> tuple[Tables, NDArray[np.bool_]]:
    corpus, view, threads = recipe.task.prepare(corpus), model.space.view(corpus.guideline), recipe.threads
    known = [without_outside(each, corpus.guideline, corpus.covered_in(each)) for each in corpus]
    layers = (each.layers.get(corpus.guideline, (None,) * len(each)) for each in known)
    gold = [view.number.get(each[0], -1) if each and len(each) == 1 else -1 for layer in layers for each in layer]
    at = np.flatnonzero(np.array(gold, np.int64) >= 0)
    encoded = model.encoder.encode([replace(each, layers={}) for each in corpus], threads)
    right, said = np.array(gold, np.int64)[at], view.projection[model.best(encoded, threads=threads)][at]

    def tables(temperature: float) -> tuple[Floats, Floats]:
        gamma, _ = _at(model, temperature).marginals(encoded, threads=threads)
        table = gamma
        if not view.is_identity:
            table = np.zeros((len(gamma), len(view.names)), gamma.dtype)
            weight_vectors.gather(gamma, view.projection, *weight_vectors.EVERY_LABEL, table)
        return table[at, right].clip(0, 1), table[at, said].clip(0, 1)

    return tables, said == right


def _of_trees(model: TreeModel, corpus: Corpus, recipe: Recipe) -> tuple[Tables, NDArray[np.bool_]]:
    threads = recipe.threads
    bare = [replace(each, heads={}) for each in corpus]
    encoded = TreePredictor(model, threads).encode(bare)
    heads, sizes = model.best(encoded, threads=threads), encoded.lengths + 1
    gold = np.array([_head(sentence, corpus.guideline, at) for sentence in corpus for at in range(len(sentence))])
    at = np.flatnonzero(gold >= 0)
    sentence = np.repeat(np.arange(len(encoded)), encoded.lengths)
    words = 1 + np.arange(len(gold)) - encoded.token_ptr[sentence]
    cells = encoded.evidence.cells[sentence] + words  # of the root as the head

    def tables(temperature: float) -> tuple[Floats, Floats]:
        flat, _ = _at(model, temperature).marginals(encoded, threads=threads)
        right, said = (flat[(cells + each * sizes[sentence])[at]].clip(0, 1) for each in (gold, heads))
        return right, said

    return tables, (gold == heads)[at]


def _head(sentence: Sentence, guideline: str, at: int) -> int:
    """Return the head of a word if it is certain, else -1."""
    layer = sentence.heads.get(guideline, ())
    arcs = layer[at] if layer else None
    return -1 if not arcs or len(arcs) > 1 or arcs[0].head is None else arcs[0].head
