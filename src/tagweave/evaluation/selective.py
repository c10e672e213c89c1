"""Thresholds of probabilities with which what a model says is right, or what is right is said, at a promised level.

A threshold is chosen on development data, and holds for text that is exchangeable with them: whole documents, or
sentences where there are none, since what a document says is not independent.

*Precision* is a share of what is said, and does not rise with the threshold everywhere. So hypotheses "of what is
said, more than 1 - level is wrong" are tested in an order that no label has decided, until one is not rejected
(fixed-sequence testing: Angelopoulos, Bates, Candes, Jordan, Lei 2021, "Learn then Test", section 4): first where the
probabilities promise most, then downwards. *Recall* rises as a threshold falls, so the largest threshold is taken at
which, as at all below, the test rejects (Bates et al. 2021, "Distribution-Free, Risk-Controlling Prediction Sets").

The test is binomial, exact where mistakes are independent; where they cluster in documents, counts are divided by the
design effect (Korn and Graubard 1998, "Confidence intervals for proportions with small expected number of positive
counts estimated from survey data"). Its confidence c has z(c) = sqrt(2) z(level): the share that is wrong in the
development data and the share in as much new text err independently, so a level of 0.95 holds in at least 95 of 100
such texts (conformal risk control promises a mean over texts: Angelopoulos et al. 2022).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import ceil, log, sqrt
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus import chunk_schemes
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.documents import are_in_documents, documents
from tagweave.corpus.sentence import Sentence
from tagweave.corpus.spans import OUTSIDE, spans_of
from tagweave.evaluation.calibration import head_rows, known, word_bounds
from tagweave.labels import SPANS
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.selective import EVERY, candidates
from tagweave.models.tree import TreeModel

Floats = NDArray[Any]
Booleans = NDArray[np.bool_]
Numbers = NDArray[np.int64]
LEVELS = (0.8, 0.85, 0.9, 0.95, 0.98, 0.99)
"""The levels that have thresholds."""
_STEP = 1.02  # the quotient of the numbers of answers of two hypotheses on precision that follow one another
_STEPS = 200  # hypotheses on recall


class Answers(NamedTuple):
    """What a model might say of some texts, and what is right."""

    label: NDArray[np.str_]  # [K]: the type of a span, `O` for a token outside, or `EVERY`
    probability: Floats  # [K], 0 for what the model does not think of
    is_best: Booleans  # [K], whether it is among the best labels
    is_right: Booleans  # [K]
    unit: Numbers  # [K], the number of its document or sentence

    def of(self, which: NDArray[Any]) -> Answers:
        """Return some of the answers, by flags [K] or numbers."""
        label, probability, is_best, is_right, unit = self
        return Answers(label[which], probability[which], is_best[which], is_right[which], unit[which])


_Row = tuple[str, float, bool, bool]


def answers(model: ChainModel | TreeModel, gold: Corpus, output: Corpus, threads: int = 1) -> Answers:
    """Return what a model might say of a gold standard, where this has one label or one head.

    `output` has the heads that a parser says. Types of spans are those of a model of one guideline.
    """
    if isinstance(model, TreeModel):
        heads = head_rows(model, gold, output, threads)
        by_sentence: Iterable[Sequence[_Row]] = ([(EVERY, p, True, right) for p, right, _ in rows] for rows in heads)
    else:
        by_sentence = _label_rows(model, gold, threads)
    units = units_of(gold.sentences).tolist()
    rows = [(*row, unit) for unit, of_sentence in zip(units, by_sentence, strict=True) for row in of_sentence]
    names, p, is_best, is_right, unit = zip(*rows, strict=True) if rows else ([],) * 5
    best, right = (np.array(flags, np.bool_) for flags in (is_best, is_right))
    return Answers(np.array(names, np.str_), np.array(p, np.float64), best, right, np.array(unit, np.int64))


def units_of(sentences: Sequence[Sentence]) -> Numbers:
    """Return the number of the document of every sentence; of the sentence where there are no documents."""
    if not are_in_documents(sentences):
        return np.arange(len(sentences))
    everything = len(sentences) + 1
    sizes = [len(document) for document in documents(sentences, everything, everything)]
    return np.repeat(np.arange(len(sizes)), sizes)


def _label_rows(model: ChainModel, gold: Corpus, threads: int) -> Iterator[list[_Row]]:
    """Yield what a model might say of every sentence: spans and tokens outside, labels of tokens, or words."""
    tagger = ChainPredictor(model, threads, gold.guideline if gold.guideline in model.space.guidelines else None)
    if model.of_characters:
        text = [tagger.with_runs(Sentence(tuple("".join(sentence.forms)))) for sentence in gold]
    else:
        gold = chunk_schemes.coded(gold, "IOB2") if model.task == SPANS else gold
        text = [replace(sentence, layers={}, rejected={}, covered=None) for sentence in gold]
    for sentence, (_, said) in zip(gold, candidates(tagger, Corpus(tuple(text), tagger.guideline)), strict=True):
        labels = known(gold, sentence)
        if model.task == SPANS and None in labels:
            yield []
            continue
        right = _right(model, gold, sentence, labels)
        judged = [c for c in said if model.of_characters or labels[c.start] is not None]
        missed = sorted(right - {c[:3] for c in judged})
        rows = [(c.label, min(c.probability, 1.0), c.is_best, c[:3] in right) for c in judged]
        rows += [(label, 0.0, False, True) for _, _, label in missed]
        yield rows if model.task == SPANS else [(EVERY, *row[1:]) for row in rows]


def _right(
    model: ChainModel, gold: Corpus, sentence: Sentence, labels: Sequence[str | None]
) -> set[tuple[int, int, str]]:
    """Return what is right to say of a sentence: first token, the one after the last, and label."""
    if model.of_characters:
        return {(*bounds, EVERY) for bounds in word_bounds(sentence)}
    if model.task != SPANS:
        return {(t, t + 1, label) for t, label in enumerate(labels) if label is not None}
    groups = spans_of(sentence.layers.get(gold.guideline, ()), sentence.location)
    spans = {(span.start, span.stop or 0, str(span.label)) for group in groups for span in group}
    return spans | {(t, t + 1, OUTSIDE) for t, label in enumerate(labels) if label == OUTSIDE}


def selective(judged: Answers, of: str, units: str, recall: bool = True) -> dict[str, Any]:
    """Return the thresholds of `LEVELS`, as a model keeps them, and what is said with them on the same texts.

    For precision `said` is the share of the best answers, for recall how much is said for every right answer.

    Args:
        judged: what models might say of texts that they have not seen.
        of: what is said: spans, tokens, words or heads.
        units: what is exchangeable: documents or sentences.
        recall: whether recall has thresholds, too.
    """
    counted = judged.of(judged.label != OUTSIDE) if of == "spans" else judged
    tables: dict[str, list[dict[str, Any]]] = {"precision": [], "recall": []}
    for level in LEVELS:
        least = precise(judged, level)
        said = counted.is_best & reach(counted, least)
        tables["precision"].append({"level": level, "least": least, "said": _share(said, counted.is_best)})
        if recall:
            least = covering(judged, level)
            said = counted.is_best | reach(counted, least)
            tables["recall"].append({"level": level, "least": least, "said": _share(said, counted.is_right)})
    return {"of": of, "units": units, "count": len(np.unique(judged.unit)), **tables}


def reach(judged: Answers, least: dict[str, float | None]) -> Booleans:
    """Return which answers reach the thresholds of their labels."""
    levels = np.array([np.inf if (least_of := least.get(name)) is None else least_of for name in judged.label])
    return np.asarray(judged.probability >= levels)


def _share(part: Booleans, whole: Booleans) -> float:
    return round(int(part.sum()) / max(1, int(whole.sum())), 4)


def precise(judged: Answers, level: float) -> dict[str, float | None]:
    """Return for each label the least probability at which the best answers are right at the level.

    Labels for which no threshold has the level, since they are rare or the model errs, share one at which the level
    holds for them together; what is outside of spans stays alone. `None`: they have none even then.
    """
    best = judged.of(judged.is_best)
    names = np.unique(best.label).tolist()
    least = {name: _precise(best.of(best.label == name), level) for name in names}
    together = [name for name in names if least[name] is None and name != OUTSIDE]
    if len(together) > 1:
        least.update(dict.fromkeys(together, _precise(best.of(np.isin(best.label, together)), level)))
    return least


def covering(judged: Answers, level: float) -> dict[str, float | None]:
    """Return for each label the least probability at which right answers are said at the level, for all together.

    What is outside of spans has a threshold of its own.
    """
    right = judged.of(judged.is_right)
    is_outside = right.label == OUTSIDE
    least: dict[str, float | None] = {}
    for some in (right.of(~is_outside), right.of(is_outside)):
        least.update(dict.fromkeys(np.unique(some.label).tolist(), _covering(some, level)))
    return least


def confidence(level: float) -> float:
    """Return the confidence of tests with which a level holds in that share of texts as large as this one."""
    normal = NormalDist()
    return normal.cdf(sqrt(2) * normal.inv_cdf(level))


def _precise(best: Answers, level: float) -> float | None:
    """Return the least probability at which answers are right at the level; `None` if none is known to be."""
    order = np.argsort(-best.probability, kind="stable")
    p, wrong, unit = best.probability[order], ~best.is_right[order], best.unit[order]
    following = np.append(p[1:], 0.0)
    ends = np.flatnonzero((p > following) | (np.arange(len(p)) == len(p) - 1)) + 1
    fewest = ceil(log(1 - confidence(level)) / log(level))
    ends = ends[ends >= fewest]
    if not len(ends):
        return None
    expected = np.clip((np.cumsum(1 - p) / np.arange(1, len(p) + 1))[ends - 1], 0.5 / ends, 1 - 0.5 / ends)
    begin = int(np.argmax((1 - level - expected) * np.sqrt(ends / (expected * (1 - expected)))))
    least = None
    tested = 0.0
    for end in ends[begin:].tolist():
        if end < tested and end < len(p):
            continue
        if not _is_promised(wrong[:end], unit[:end], level):
            break
        least = float(p[end - 1] + following[end - 1]) / 2 if end < len(p) else 0.0
        tested = end * _STEP
    return least


def _covering(right: Answers, level: float) -> float | None:
    """Return the largest probability at which right answers are said at the level; `None` if all are too few."""
    p = np.sort(np.where(right.is_best, np.inf, right.probability))
    never = int(np.sum(p <= 0))
    least = None
    for missed in range(never, len(p), max(1, ceil((1 - level) * len(p) / _STEPS))):
        low, high = (p[missed - 1] if missed > never else 0.0), p[missed]
        at = min((low + high) / 2, 1.0) if np.isfinite(high) else 1.0
        lost = ~right.is_best & (right.probability < at)
        if not _is_promised(lost, right.unit, level):
            break
        least = float(at)
        if not np.isfinite(high):
            break
    return least


def _is_promised(wrong: Booleans, unit: Numbers, level: float) -> bool:
    """Test whether less than 1 - level of answers [k] of these units is wrong."""
    effect = _design_effect(wrong, unit)
    return binomial_tail(ceil(wrong.sum() / effect), int(len(wrong) / effect), 1 - level) <= 1 - confidence(level)


def _design_effect(wrong: Booleans, unit: Numbers) -> float:
    """Return how many answers are worth one independent answer: the variance over units, as a multiple; at least 1."""
    rest = wrong - wrong.mean()
    alone = float((rest**2).sum())
    return max(1.0, float((np.bincount(unit, rest) ** 2).sum()) / alone) if alone > 0 else 1.0


def binomial_tail(wrong: int, count: int, share: float) -> float:
    """Return the probability of at most `wrong` mistakes among `count` answers, of which a share is wrong."""
    k = np.arange(1, min(wrong, count) + 1)
    logs = np.cumsum(np.log((count - k + 1) / k) + log(share / (1 - share)))
    return min(1.0, float(np.exp(count * np.log1p(-share) + np.append(0.0, logs)).sum()))
