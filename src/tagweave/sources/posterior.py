"""Combines the answers of many sources, and finds where another annotator would tell most (`sources.gain`)."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tagweave.errors import SourceError
from tagweave.sources.gain import gain_of_answer, of_sentences
from tagweave.sources.methods import AGGREGATIONS, DEFAULT, AggregationRun
from tagweave.structures import CHAIN, ahead
from tagweave.structures.chain import ChainScores, best_labels
from tagweave.structures.lockstep import TransitionScores

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from tagweave.sources.answers import Answers
    from tagweave.sources.reliability import Floats, Reliability


@dataclass(frozen=True)
class Aggregate:
    """The true labels as answers give them, and the reliability of sources."""

    labels: tuple[str, ...]  # the Y labels
    probabilities: NDArray[np.float32]  # float32[N, Y], of the true label at every position
    best: NDArray[np.int32]  # int32[N], the best label; of spans, the best sequence that their coding allows
    reliability: Reliability
    # the log likelihood of the answers with what priors add, or its variational bound; `None` of methods that have none
    log_evidence: float | None


def aggregate(
    answers: Answers,
    method: str = DEFAULT,
    options: Mapping[str, Any] | None = None,
    known: Mapping[str, float] | None = None,
    seed: int = 0,
    tell: Callable[[str], None] = lambda _: None,
) -> Aggregate:
    """Combine the answers of many sources.

    Args:
        answers: the answers.
        method: one of `AGGREGATIONS`.
        options: fields of the options of the method; the others keep their defaults.
        known: by name, the probability that an answer of a source is right, where it is known (gold: 1).
        seed: of everything random.
        tell: receives a line of text after every iteration.
    """
    if method not in AGGREGATIONS:
        raise SourceError(f"found the method {method!r}, expected one of {', '.join(AGGREGATIONS)}")
    for name, right in (known or {}).items():
        if name not in answers.sources:
            raise SourceError(f"found a known reliability of {name!r}, expected one of {', '.join(answers.sources)}")
        if not 0 < right <= 1:
            raise SourceError(f"found the reliability {right:g} of {name!r}, expected more than 0, up to 1")
    own, given = AGGREGATIONS[method], options or {}
    names = [each.name for each in fields(own.options)]
    if strange := sorted(given.keys() - set(names)):
        raise SourceError(f"found the option {strange[0]!r} of {method}, expected one of {', '.join(names)}")
    try:
        chosen = own.options(**given)
    except ValueError as error:
        raise SourceError(f"{method}: {error}") from None
    ahead.begin(CHAIN, np.float64)
    estimate = own.estimate(answers, chosen, AggregationRun(known or {}, seed, tell))
    best = estimate.best if estimate.best is not None else best_sequences(answers, estimate.gamma)
    evidence = estimate.objectives[-1] if estimate.objectives else None
    return Aggregate(answers.labels, estimate.gamma.astype(np.float32), best, estimate.reliability, evidence)


def best_sequences(answers: Answers, gamma: Floats) -> NDArray[np.int32]:
    """Return int32[N]: the allowed sequences with the largest sums of probabilities: most labels are expected right."""
    scheme = answers.scheme
    if scheme.is_free:
        best: NDArray[np.int32] = gamma.argmax(axis=1).astype(np.int32)
        return best
    scores = (np.where(each, 0.0, -np.inf) for each in (scheme.transition, scheme.start, scheme.end))
    return best_labels(ChainScores(gamma.astype(np.float64), TransitionScores.of_scores(*scores)), answers.sentence_ptr)


class Question(NamedTuple):
    """A sentence that deserves another annotator."""

    sentence: int  # its number, from 0
    gain: float  # how much an answer of an average source would tell of a label, in nats
    position: int  # where it would tell most, from 0


def expected_gains(probabilities: NDArray[np.floating], reliability: Reliability) -> Floats:
    """Return float64[N]: how much an answer of an average source would tell at each position, in nats."""
    answers = reliability.expected[~reliability.is_known].sum(axis=0) + 1 / len(reliability.labels)
    return gain_of_answer(probabilities, answers / answers.sum(axis=1, keepdims=True))


def questions(result: Aggregate, sentence_ptr: NDArray[np.int64], count: int) -> list[Question]:
    """Return the sentences with the largest expected gains, the largest first."""
    gains = expected_gains(result.probabilities.astype(np.float64), result.reliability)
    means = of_sentences(gains, sentence_ptr)
    order = np.argsort(-means, kind="stable")[:count]
    order = order[np.diff(sentence_ptr)[order] > 0]
    return [
        Question(s, float(means[s]), int(gains[sentence_ptr[s] : sentence_ptr[s + 1]].argmax())) for s in order.tolist()
    ]
