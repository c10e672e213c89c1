"""The temperature of a model: how far its probabilities are to be believed, learnt from development data.

A model is too sure of what it says, the more so the more often its labels are wrong. All scores divided by one
temperature T give the same best labels and other probabilities (Guo et al. 2017, "On Calibration of Modern Neural
Networks"). T minimises the mean of -log p(right label | x) over tokens with one label, of words the heads of trees.

Spans as wholes are right less often than their tokens: their logits then follow a line (Platt 1999, "Probabilistic
Outputs for Support Vector Machines"), fitted to the spans that a model answers. A prior holds it near the identity:
models err where they are sure, and know where they doubt, so slopes turn the line about a low probability. With a line
of 60 sentences of NoiseBench, the calibration error of spans in others was 0.049; with priors on the slope and on the
offset, 0.053. T is not held near 1: to ask for a gain above its standard error made the error of tokens larger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate
from math import exp, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.documents import are_in_documents
from tagweave.evaluation import selective
from tagweave.evaluation.calibration import Answers, calibration, head_answers, label_answers, span_answers
from tagweave.labels import LAYERS, PARSE, SPANS
from tagweave.models.cascades import of_pieces
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.scorer import calibrated_spans
from tagweave.models.tree import TreeModel, TreePredictor
from tagweave.training.fit.recipe import Recipe

Floats = NDArray[Any]
Judged = Sequence[tuple[Any, Corpus]]
"""Models, each with sentences that it has not seen."""
_TOKENS = 10_000  # more tell one number no better
_FEWEST = 50  # tokens that tell a temperature
_RANGE = (0.25, 16.0)
_EXACTNESS = 0.02  # of the logarithm of the temperature
_EXACTNESS_OF_LINE = 1e-3
_PRIOR = 0.5  # the standard deviation of the logarithm of the slope, and of the shift at `_DOUBTFUL`
_DOUBTFUL = -1.5  # the logit that no slope changes
_STEEPEST, _FARTHEST = 4.0, 8.0
_TINY = 1e-9  # the smallest probability that counts
_SAID = {"tag": "tokens", SPANS: "spans", "segment": "words", PARSE: "heads"}
"""What is said or not (`evaluation.selective`), by task."""


def calibrated(model: Any, judged: Judged, recipe: Recipe, name: str = "") -> Any:
    """Return a model with the temperature that suits models on corpora that they have not seen, and what it changes.

    Args:
        judged: the model itself with development data, or models like it with parts of these.
        name: of the development data.

    The model is returned as it is if its tokens are pieces, too few tokens have one label, or it has chains, each of
    which is calibrated before.
    """
    if model.kind == LAYERS or (isinstance(model, ChainModel) and of_pieces(model)):
        return model
    share = min(1.0, _TOKENS / max(1, sum(corpus.tokens() for _, corpus in judged)))
    threads = recipe.threads
    prepared = [(model, recipe.task.prepare(corpus.part(share))) for model, corpus in judged]
    outputs = [_output(*pair, threads) for pair in prepared]
    walk = head_answers if isinstance(model, TreeModel) else label_answers

    def answers(temperature: float) -> Answers:
        pairs = zip(prepared, outputs, strict=True)
        return _joined(walk(_at(model, temperature), gold, output, threads) for (model, gold), output in pairs)

    def loss(logarithm: float) -> float:
        return -float(np.log(np.maximum(answers(exp(logarithm)).of_gold, _TINY)).mean())

    first = answers(1.0)
    if len(first.right) < _FEWEST:
        return model
    temperature = round(exp(_minimum(loss, log(_RANGE[0]), log(_RANGE[1]), _EXACTNESS)), 3)
    cooled = answers(temperature)
    before, after = (calibration("tokens", outcome.probability, outcome.right).error for outcome in (first, cooled))
    facts = {"temperature": temperature, "file": name, "tokens": len(first.right), "before": before, "after": after}
    if recipe.task.name == SPANS:
        facts["spans"] = _of_spans(judged, temperature, threads)
    about = {**model.about, "calibration": facts}
    texts = prepared if recipe.task.name == PARSE else judged
    if (of := _SAID.get(recipe.task.name)) and all(_can_select(*pair) for pair in texts):
        about["selective"] = _thresholds(texts, outputs, facts, of, threads)
    return replace(model, about=about)


def _can_select(model: Any, corpus: Corpus) -> bool:
    """Return whether words are known, and labels of one guideline, so that `evaluation.selective` has thresholds."""
    if isinstance(model, TreeModel):
        return True
    return corpus.unit == "word" and (model.task == "tag" or len(model.space.views) == 1)


def _thresholds(
    judged: Judged, outputs: Sequence[Corpus], facts: dict[str, Any], of: str, threads: int
) -> dict[str, Any]:
    """Return the thresholds of what is said, by models with a temperature and a line for spans."""
    several = [
        selective.answers(replace(model, about={"calibration": facts}), corpus, output, threads)
        for (model, corpus), output in zip(judged, outputs, strict=True)
    ]
    counts = accumulate((1 + int(some.unit.max(initial=0)) for some in several), initial=0)
    numbered = [some._replace(unit=some.unit + before) for some, before in zip(several, counts, strict=False)]
    sentences = (corpus.sentences for _, corpus in judged)
    units = "documents" if all(map(are_in_documents, sentences)) else "sentences"
    columns = map(np.concatenate, zip(*numbered, strict=True))
    return selective.selective(selective.Answers(*columns), of, units, recall=of in ("tokens", "spans"))


def _output(model: Any, gold: Corpus, threads: int) -> Corpus:
    """Return a corpus with the labels or the trees of a model."""
    if isinstance(model, TreeModel):
        return gold.with_sentences(
            TreePredictor(model, threads).parse(replace(sentence, heads={}) for sentence in gold)
        )
    bare = (replace(sentence, layers={}) for sentence in gold)
    return gold.with_sentences(ChainPredictor(model, threads, gold.guideline).tag(bare))


def _of_spans(judged: Judged, temperature: float, threads: int) -> dict[str, Any]:
    """Return the line for spans as wholes, with their errors before and after both maps; nothing without spans."""
    first, cooled = (
        _joined(span_answers(_at(model, value), corpus, threads) for model, corpus in judged)
        for value in (1.0, temperature)
    )
    if not len(first.right):
        return {}
    slope, offset = fitted_line(cooled.probability, cooled.right)
    after = calibrated_spans(cooled.probability, slope, offset)
    before, then = (
        calibration("spans", probabilities, first.right).error for probabilities in (first.probability, after)
    )
    return {"count": len(first.right), "slope": slope, "offset": offset, "before": before, "after": then}


def fitted_line(probabilities: Sequence[float] | Floats, right: Sequence[bool] | Floats) -> tuple[float, float]:
    """Return the slope and the offset of logits that make answers right most probable, with a prior."""
    p, is_right = np.clip(np.array(probabilities), _TINY, 1 - _TINY), np.array(right)

    def line(logarithm: float, shift: float) -> tuple[float, float]:
        slope = exp(logarithm)
        return slope, shift + (1 - slope) * _DOUBTFUL

    def loss(logarithm: float, shift: float) -> float:
        mapped = calibrated_spans(p, *line(logarithm, shift))
        log_likelihood = np.log(np.maximum(np.where(is_right, mapped, 1 - mapped), _TINY)).sum()
        return float((logarithm**2 + shift**2) / (2 * _PRIOR**2) - log_likelihood)

    def best_shift(logarithm: float) -> float:
        return _minimum(partial(loss, logarithm), -_FARTHEST, _FARTHEST, _EXACTNESS_OF_LINE)

    steepest = log(_STEEPEST)
    logarithm = _minimum(lambda at: loss(at, best_shift(at)), -steepest, steepest, _EXACTNESS_OF_LINE)
    slope, offset = line(logarithm, best_shift(logarithm))
    return round(slope, 3), round(offset, 3)


def _minimum(function: Callable[[float], float], low: float, high: float, exactness: float) -> float:
    """Return where a function with one minimum has it, by golden-section search (Kiefer 1953)."""
    ratio = (sqrt(5) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    left_value, right_value = function(left), function(right)
    while high - low > exactness:
        if left_value <= right_value:
            high, right, right_value = right, left, left_value
            left = high - ratio * (high - low)
            left_value = function(left)
        else:
            low, left, left_value = left, right, right_value
            right = low + ratio * (high - low)
            right_value = function(right)
    return (low + high) / 2


def _joined(several: Iterable[Answers]) -> Answers:
    """Return answers to several corpora as those to one."""
    return Answers(*map(np.concatenate, zip(*several, strict=True)))


def _at(model: Any, temperature: float) -> Any:
    return replace(model, about={"calibration": {"temperature": temperature}})
