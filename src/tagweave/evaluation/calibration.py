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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus import chunk_schemes
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Candidates, Sentence
from tagweave.corpus.spans import OUTSIDE, spans_of
from tagweave.evaluation.score import Result
from tagweave.features.arc_templates import with_columns
from tagweave.labels import SPANS
from tagweave.labels.space import is_wildcard
from tagweave.models.cascades import PieceEncoder
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.tree import TreeModel, TreePredictor

Floats = NDArray[Any]
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


Row = tuple[float, bool, float]  # of `Answers`


class Answers(NamedTuple):
    """K answers of one kind."""

    probability: Floats  # float[K], by the model
    right: NDArray[np.bool_]
    of_gold: Floats  # float[K], the probability of what is right; of spans and words it is `probability`


def calibration(of: str, probabilities: Sequence[float] | Floats, right: Sequence[bool] | NDArray[Any]) -> Calibration:
    """Return the calibration of answers, each with a probability from 0 to 1 and whether it is right."""
    p, is_right = np.asarray(probabilities, np.float64), np.asarray(right, np.float64)
    at = np.minimum((p * BINS).astype(int), BINS - 1)
    counts, sums, rights = (np.bincount(at, weights, BINS) for weights in (np.ones_like(p), p, is_right))
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

    Of words with tags, the boundaries count. Segmenters of several guidelines are left out.
    """
    if isinstance(model, TreeModel):
        kinds = {"heads": head_answers(model, gold, output, threads)}
    elif model.of_characters:
        cuts = not isinstance(model.encoder, PieceEncoder) or model.encoder.segmenter is not None
        isknown = gold.unit == "word" and len(model.space.views) == 1 and cuts
        kinds = {"words": _word_answers(model, gold, output, threads)} if isknown else {}
    else:
        kinds = {"tokens": label_answers(model, gold, output, threads)}
        if model.task == SPANS:
            kinds["spans"] = span_answers(model, gold, threads)
    by_kind = (calibration(of, answers.probability, answers.right) for of, answers in kinds.items())
    return tuple(result for result in by_kind if result.count)


def label_answers(model: ChainModel, gold: Corpus, output: Corpus, threads: int = 1) -> Answers:
    """Return the labels of tokens with one label in the gold standard."""
    if model.task == SPANS:
        gold, output = (chunk_schemes.coded(corpus, "IOB2") for corpus in (gold, output))
    tagger = _tagger(model, gold, threads)
    number = {name: at for at, name in enumerate(tagger.labels)}
    rows = list[Row]()
    tables = tagger.probabilities([replace(sentence, layers={}) for sentence in gold])
    for sentence, tagged, table in zip(gold, output, tables, strict=True):
        for right, said, row in zip(known(gold, sentence), known(output, tagged), table, strict=True):
            if right is not None and said in number:
                rows.append((row[number[said]], said == right, row[number[right]] if right in number else 0))
    return _answers(rows)


def span_answers(model: ChainModel, gold: Corpus, threads: int = 1) -> Answers:
    """Return the spans that a model gives to sentences whose labels are all known."""
    gold = chunk_schemes.coded(gold, "IOB2")
    labelled = [sentence for sentence in gold if None not in known(gold, sentence)]
    tagged = _tagger(model, gold, threads).tag_spans(replace(sentence, layers={}) for sentence in labelled)
    rows = list[Row]()
    for sentence, (_, spans) in zip(labelled, tagged, strict=True):
        layer = sentence.layers.get(gold.guideline, ())
        right = {span[:3] for (span,) in spans_of(layer, sentence.location)}
        rows += [(p, (start, stop, label) in right, p) for start, stop, label, p in spans if p is not None]
    return _answers(rows)


def known(corpus: Corpus, sentence: Sentence) -> list[str | None]:
    """Return the label of every position of the corpus's layer that has one."""
    layer = sentence.layers.get(corpus.guideline, (None,) * len(sentence))
    is_partial = corpus.covered_in(sentence) is not None
    return [_only(candidates, is_partial) for candidates in layer]


def _only(candidates: Candidates, is_partial: bool) -> str | None:
    if candidates is None or len(candidates) > 1 or is_wildcard(candidates[0]):
        return None
    return None if is_partial and candidates[0] == OUTSIDE else candidates[0]


def head_answers(model: TreeModel, gold: Corpus, output: Corpus, threads: int = 1) -> Answers:
    """Return the heads of words with one head in the gold standard."""
    return _answers([row for rows in head_rows(model, gold, output, threads) for row in rows])


def head_rows(model: TreeModel, gold: Corpus, output: Corpus, threads: int = 1) -> Iterator[list[Row]]:
    """Yield the rows of `head_answers` of every sentence."""
    bare = [with_columns(replace(sentence, heads={}), model.inputs) for sentence in gold]
    tables = TreePredictor(model, threads).probabilities(bare)
    for sentence, parsed, table in zip(gold, output, tables, strict=True):
        rows = list[Row]()
        heads = (tree.heads.get(corpus.guideline, ()) for corpus, tree in ((gold, sentence), (output, parsed)))
        for word, (reference, said) in enumerate(zip(*heads, strict=False), 1):
            if reference and said and len(reference) == 1 and (right := reference[0].head) is not None:
                head = said[0].head or 0
                rows.append((table[head, word], head == right, table[right, word]))
        yield rows


def _word_answers(model: ChainModel, gold: Corpus, output: Corpus, threads: int) -> Answers:
    characters = [Sentence(tuple("".join(sentence.forms))) for sentence in output]
    tables = _tagger(model, gold, threads).word_probabilities(characters, output.sentences)
    rows = list[Row]()
    for reference, cut, table in zip(gold, output, tables, strict=True):
        words = set(word_bounds(reference))
        rows += [(p, word in words, p) for p, word in zip(table, word_bounds(cut), strict=True)]
    return _answers(rows)


def word_bounds(sentence: Sentence) -> Iterator[tuple[int, int]]:
    """Return the characters of every word: the first, and the one after the last."""
    return pairwise(accumulate(map(len, sentence.forms), initial=0))


def _tagger(model: ChainModel, gold: Corpus, threads: int) -> ChainPredictor:
    return ChainPredictor(model, threads, gold.guideline if gold.guideline in model.space.guidelines else None)


def _answers(rows: Sequence[Row]) -> Answers:
    probability, right, of_gold = np.array(rows, np.float64).reshape(-1, 3).T
    return Answers(probability.clip(0, 1), right > 0, of_gold.clip(0, 1))
