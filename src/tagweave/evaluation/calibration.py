"""How far the probabilities of a model are to be believed: reliability, and expected calibration error.

Answers are tokens with their labels, spans or words as wholes, or words with their heads. They are sorted into ten bins
of equal width by the probability that the model gives them. The expected calibration error is the mean over answers of
the distance between the mean probability of a bin and the share of its answers that are right (Naeini et al. 2015,
"Obtaining Well Calibrated Probabilities Using Bayesian Binning"; Guo et al. 2017, "On Calibration of Modern Neural
Networks"). Where the gold standard has no one label, an answer is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus import chunk_schemes
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Candidates, Sentence
from tagweave.corpus.spans import OUTSIDE, spans_of
from tagweave.evaluation.score import Result
from tagweave.features.arc_templates import with_columns
from tagweave.labels import SPANS
from tagweave.labels.space import View, is_wildcard
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.pieces import PieceEncoder
from tagweave.models.ranking import span_probabilities
from tagweave.models.tree import TreeModel
from tagweave.models.tree_predictor import TreePredictor

BINS = 10


@dataclass(frozen=True, slots=True)
class Bin(Result):
    """Answers with a probability from `low` to `high`."""

    low: float
    high: float
    count: int
    probability: float  # the mean probability of the answers; `nan` if there are none
    right: float  # the share of answers that are right; likewise


@dataclass(frozen=True, slots=True)
class Calibration(Result):
    """The calibration of answers of one kind. `of`: tokens, spans, words or heads."""

    of: str
    count: int
    error: float  # the expected calibration error; `nan` without answers
    bins: tuple[Bin, ...]


Answers = tuple[list[float], list[bool]]
"""The probability of each answer, and whether it is right."""


def calibration(
    of: str, probabilities: Sequence[float] | NDArray[Any], right: Sequence[bool] | NDArray[Any]
) -> Calibration:
    """Return the calibration of answers, each with a probability from 0 to 1 and whether it is right."""
    p, is_right = np.asarray(probabilities, np.float64), np.asarray(right, np.float64)
    at = np.minimum((p * BINS).astype(int), BINS - 1)
    counts, sums, rights = (np.bincount(at, each, BINS) for each in (np.ones_like(p), p, is_right))
    error = float(np.abs(sums - rights).sum() / len(p)) if len(p) else np.nan
    with np.errstate(invalid="ignore"):
        means, shares = sums / counts, rights / counts
    rows = zip(counts.astype(int).tolist(), means.tolist(), shares.tolist(), strict=True)
    bins = (Bin(k / BINS, (k + 1) / BINS, *row) for k, row in enumerate(rows))
    return Calibration(of, len(p), error, tuple(bins))


def calibrations(
    model: ChainModel | TreeModel, gold: Corpus, output: Corpus, threads: int = 1
) -> tuple[Calibration, ...]:
    """Return the calibration of a model on a gold standard, given its output for the same text, in the same layer.

    Of words with tags, the boundaries count. Segmenters of several guidelines, and labels in IOB1, are left out.
    """
    found = answers(model, gold, output, threads)
    return tuple(calibration(of, *each) for of, each in found.items() if each[0])


def answers(model: ChainModel | TreeModel, gold: Corpus, output: Corpus, threads: int = 1) -> dict[str, Answers]:
    """Return the answers of a model by their kind: see `calibrations`."""
    if isinstance(model, TreeModel):
        return {"heads": _heads(model, gold, output, threads)}
    guidelines = model.space.guidelines
    view = model.space.view(gold.guideline) if gold.guideline in guidelines else model.space.views[0]
    tagger = ChainPredictor(model, threads, view.guideline)
    if model.of_characters:
        cuts = not isinstance(model.encoder, PieceEncoder) or model.encoder.segmenter is not None
        is_known = gold.unit == "word" and len(model.space.views) == 1 and cuts
        return {"words": _words(tagger, gold, output)} if is_known else {}
    if model.coding == "IOB1":
        return {}
    if model.task != SPANS:
        return {"tokens": _tokens(tagger, gold, output)}
    gold, output = (chunk_schemes.coded(each, "IOB2") for each in (gold, output))
    return {"tokens": _tokens(tagger, gold, output), "spans": _spans(tagger, gold, output, view)}


def _tokens(tagger: ChainPredictor, gold: Corpus, output: Corpus) -> Answers:
    number = {name: at for at, name in enumerate(tagger.labels)}
    probabilities, right = list[float](), list[bool]()
    tables = tagger.probabilities([replace(each, layers={}) for each in gold])
    for sentence, tagged, table in zip(gold, output, tables, strict=True):
        for reference, said, row in zip(_known(gold, sentence), _known(output, tagged), table, strict=True):
            if reference is not None and said in number:
                probabilities.append(float(row[number[said]]))
                right.append(said == reference)
    return probabilities, right


def _known(corpus: Corpus, sentence: Sentence) -> list[str | None]:
    """Return the labels of tokens that have one label."""
    layer = sentence.layers.get(corpus.guideline, (None,) * len(sentence))
    is_partial = corpus.covered_in(sentence) is not None
    return [_only(each, is_partial) for each in layer]


def _only(candidates: Candidates, is_partial: bool) -> str | None:
    if candidates is None or len(candidates) > 1 or is_wildcard(candidates[0]):
        return None
    return None if is_partial and candidates[0] == OUTSIDE else candidates[0]


def _spans(tagger: ChainPredictor, gold: Corpus, output: Corpus, view: View) -> Answers:
    """Return spans of the output in sentences whose labels are all known."""
    pairs = [pair for pair in zip(gold, output, strict=True) if None not in _known(gold, pair[0])]
    encoded = tagger.model.encoder.encode([replace(each, layers={}) for each, _ in pairs], tagger.threads)
    rows = list[tuple[int, int, str]]()
    right = list[bool]()
    for first, (reference, tagged) in zip(encoded.sentence_ptr.tolist(), pairs, strict=False):
        known = set(_spans_in(gold, reference))
        for start, stop, kind in _spans_in(output, tagged):
            rows.append((first + start, first + stop, kind))
            right.append((start, stop, kind) in known)
    starts, stops = (np.array([row[at] for row in rows], np.int64) for at in (0, 1))
    found = span_probabilities(tagger.model, encoded, starts, stops, [kind for _, _, kind in rows], view)
    return found.tolist(), right


def _spans_in(corpus: Corpus, sentence: Sentence) -> Iterator[tuple[int, int, str]]:
    for group in spans_of(sentence.layers.get(corpus.guideline, ()), sentence.location):
        start, stop, label = group[0]
        if label != OUTSIDE and label is not None and stop is not None:
            yield start, stop, label


def _words(tagger: ChainPredictor, gold: Corpus, output: Corpus) -> Answers:
    characters = [Sentence(tuple("".join(each.forms))) for each in output]
    tables = tagger.word_probabilities(characters, output.sentences)
    right = list[bool]()
    for reference, cut in zip(gold, output, strict=True):
        known = set(_bounds(reference))
        right += [each in known for each in _bounds(cut)]
    return [each for table in tables for each in table], right


def _bounds(sentence: Sentence) -> Iterator[tuple[int, int]]:
    return pairwise(accumulate(map(len, sentence.forms), initial=0))


def _heads(model: TreeModel, gold: Corpus, output: Corpus, threads: int) -> Answers:
    parser = TreePredictor(model, threads)
    tables = parser.probabilities([with_columns(replace(each, heads={}), model.inputs) for each in gold])
    probabilities, right = list[float](), list[bool]()
    for sentence, parsed, table in zip(gold, output, tables, strict=True):
        layers = (each.heads.get(own.guideline, ()) for own, each in ((gold, sentence), (output, parsed)))
        for word, (reference, said) in enumerate(zip(*layers, strict=False), 1):
            if reference and said and len(reference) == 1 and reference[0].head is not None:
                probabilities.append(float(table[said[0].head or 0, word]))
                right.append(said[0].head == reference[0].head)
    return probabilities, right
