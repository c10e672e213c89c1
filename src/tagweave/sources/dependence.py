"""Sources that err together: copies of one another, and opinions that many share, as of models of the same text.

All models of `sources.estimate` take sources to be independent, given the true label, so what few of many share is
soon certain. Two kinds of dependence can be seen in the answers alone.

Copies. Two sources are one where they hardly ever differ, though others do: at positions where not all sources say the
same. Together they have one vote.

Opinions. Four answers to a position or more show whether independent errors explain how answers are spread. Let a
position be one of two kinds. With probability 1 - epsilon, its answers are independent, given the label y. With
probability epsilon, they are drawn from an opinion m, however reliable sources are elsewhere:

    independent   P(a) = sum over y  rho(y) prod over k theta_k(a_k | y)
    opinion       P(a) = integral of Dirichlet(m; s pi) prod over k m(a_k)
                       = G(s) / G(s + n)  prod over l  G(s pi(l) + n_l) / G(s pi(l))       with the gamma function G

where n_l of n sources say l: a mixture of Dawid and Skene's model and of a Dirichlet-multinomial distribution (Mosimann
1962). Its parameters are estimated by EM, s on a grid. It stands if it gains more than the logarithm of the number of
positions, as by the Bayesian information criterion for its two parameters more. Under an opinion, the expected label is
what the votes say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tagweave.sources.answers import Answers
from tagweave.sources.beta import log_gamma
from tagweave.sources.estimate import from_votes
from tagweave.sources.reliability import log_likelihood_rows, updated

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from tagweave.sources.reliability import Floats, Prior

# Agreement of copies beyond chance where sources differ. The six noises of NoiseBench reach 0.78; of the pairs of 47
# people of a crowd two exceed it, with 65 and 254 tokens where they met and others differed, and the next has 0.75.
_SAME = 0.8
_TOKENS = 4  # positions that count as one when agreement is tested, since those of a span go together
_DEVIATIONS = 2.0  # standard deviations by which the agreement of copies exceeds the limit
_PAIRS = 20_000_000  # pairs of answers that are compared at most
_FEWEST = 3  # sources that remain: of fewer, nobody could say which is right

_ENOUGH = 4  # answers: three binary ones have as many parameters as frequencies, and fit any
_GRID = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)  # of s
_FIRST_SHARE = 0.3  # of an opinion, at positions where sources differ, before any turn
_LEAST = 1e-3  # pseudo-counts of opinions, and of each label under them
_TURNS = 40
_TOLERANCE = 1e-5  # nats for each answer


def merge_copies(answers: Answers, kept: Collection[str] = ()) -> Answers:
    """Merge sources that are copies of one another into one each, whose answers are shared.

    The sources that are `kept` are merged with none.
    """
    size = len(answers.sources)
    contested = _contested(answers, 3)
    pairs = float(np.square(answers.answered[contested], dtype=np.float64).sum())
    chosen = np.flatnonzero(contested)[:: int(pairs / _PAIRS) + 1]
    rows = np.flatnonzero(np.isin(answers.position, chosen))
    position, source, label = answers.position[rows], answers.source[rows].astype(np.int64), answers.label[rows]
    shares = answers.shares[rows].astype(np.float64)
    met, agreed = np.zeros(size * size), np.zeros(size * size)
    for step in range(1, len(rows)):
        first = np.flatnonzero(position[step:] == position[:-step])
        if not len(first):
            break
        second = first + step
        cells, weights = source[first] * size + source[second], shares[first] * shares[second]
        met += np.bincount(cells, weights, size * size)
        agreed += np.bincount(cells, weights * (label[first] == label[second]), size * size)
    label_shares = np.zeros((size, len(answers.labels)))
    np.add.at(label_shares, (source, label), shares)
    label_shares /= np.maximum(label_shares.sum(axis=1, keepdims=True), 1)
    chance = (label_shares @ label_shares.T).ravel()
    beyond = np.divide(
        agreed - chance * met, (1 - chance) * met, out=np.zeros_like(met), where=(chance < 1) & (met > 0)
    )
    copies = _wilson(np.clip(beyond, 0, 1), met / _TOKENS) >= _SAME
    group = np.arange(size)
    for cell in np.flatnonzero(copies).tolist():
        j, k = divmod(cell, size)
        if not {answers.sources[j], answers.sources[k]} & {*kept}:
            group[group == group[k]] = group[j]
    remaining, number = np.unique(group, return_inverse=True)
    if len(remaining) == size or len(remaining) < _FEWEST:
        return answers
    return _merged(answers, number, [answers.sources[k] for k in remaining.tolist()])


def _wilson(share: Floats, count: Floats) -> Floats:
    """Return the lower ends of intervals of shares of counts (Wilson 1927)."""
    square = _DEVIATIONS**2
    middle = share * count + square / 2
    width = _DEVIATIONS * np.sqrt(share * (1 - share) * count + square / 4)
    lower: Floats = (middle - width) / (count + square)
    return lower


def _merged(answers: Answers, number: NDArray[np.int64], names: list[str]) -> Answers:
    """Give each group of sources, by number, one answer to a position: the mean of those of its members."""
    places = answers.position.astype(np.int64) * len(names) + number[answers.source]
    members = np.bincount(places, answers.first)
    cells, row = np.unique(places * len(answers.labels) + answers.label, return_inverse=True)
    share = np.bincount(row, answers.shares / members[places])
    place, label = np.divmod(cells, len(answers.labels))
    position, source = np.divmod(place, len(names))
    position, source, label = (array.astype(np.int32) for array in (position, source, label))
    shares = share.astype(np.float32)
    return Answers.of_rows(answers.labels, names, answers.sentence_ptr, position, source, label, shares)


class Opinions(NamedTuple):
    """Where answers are those of a shared opinion."""

    probability: Floats  # float64[N], that an opinion made the answers to a position
    share: float  # its mean where sources differ


def _contested(answers: Answers, fewest: int) -> NDArray[np.bool_]:
    """Return bool[N]: whether answers to a position, `fewest` at least, differ."""
    contested: NDArray[np.bool_] = (answers.answered >= fewest) & (
        answers.votes().max(axis=1) < answers.answered * (1 - 1e-6)
    )
    return contested


def shared_opinions(answers: Answers, prior: Prior, independent: Floats | None = None) -> Opinions:
    """Estimate at which positions, of those with four answers at least, sources share an opinion.

    Args:
        answers: the answers of sources.
        prior: of the reliability of sources, in one context.
        independent: the probabilities of labels if sources are independent, float64[N, Y], from which the estimate
            without opinions goes on; by default votes.
    """
    contested = _contested(answers, _ENOUGH)
    if contested.any():
        votes = from_votes(answers, prior.known, more=1e-9)
        probability, objective = _mixture(answers, prior, votes, np.where(contested, _FIRST_SHARE, 0.0))
        start = votes if independent is None else independent
        _, without = _mixture(answers, prior, start, np.zeros(answers.positions))
        if objective - without > np.log(np.count_nonzero(answers.answered >= _ENOUGH)):
            return Opinions(probability, float(probability[contested].mean()))
    return Opinions(np.zeros(answers.positions), 0.0)


def _mixture(answers: Answers, prior: Prior, gamma: Floats, probability: Floats) -> tuple[Floats, float]:
    """Estimate float64[N], the probability of an opinion, and the log likelihood of answers.

    `gamma` has the probabilities of labels to begin with, `probability` that of opinions; where all of it is 0, it
    stays so.
    """
    judged, independent = answers.answered >= _ENOUGH, not probability.any()
    votes = answers.votes()
    distinct, number = np.unique(votes[judged].round(4), axis=0, return_inverse=True)
    number = number.reshape(-1)
    shares, objective = gamma[judged], -np.inf
    for _ in range(_TURNS):
        certain = gamma * (1 - probability)[:, None]
        rows = log_likelihood_rows(answers, updated(answers, certain, prior))
        labels = 1 + certain.sum(axis=0)
        rows += np.log(labels / labels.sum())
        top = rows.max(axis=1, keepdims=True)
        gamma = np.exp(rows - top)
        total = gamma.sum(axis=1, keepdims=True)
        gamma /= total
        fit = (top + np.log(total))[:, 0]
        if not independent:
            belief = probability[judged]
            counts = belief @ shares + _LEAST
            weights = np.bincount(number, belief, len(distinct)).astype(np.float64)
            logarithms = _dirichlet_multinomial(distinct, counts / counts.sum(), weights)[number]
            epsilon = (belief.sum() + _LEAST) / (len(belief) + 1)
            opinion, apart = np.log(epsilon) + logarithms, np.log1p(-epsilon) + fit[judged]
            fit[judged] = np.logaddexp(opinion, apart)
            probability = probability.copy()
            probability[judged] = np.exp(opinion - fit[judged])
        last, objective = objective, float(fit.sum())
        if objective - last < _TOLERANCE * len(answers):
            break
    return probability, objective


def _dirichlet_multinomial(counts: Floats, mean: Floats, weights: Floats) -> Floats:
    """Return float64[.]: log P of counts, float64[., Y], under the concentration on the grid that fits them best."""
    total = counts.sum(axis=1)
    best, largest = np.zeros(len(counts)), -np.inf
    for concentration in _GRID:
        alpha = concentration * mean
        logarithms = (log_gamma(alpha + counts) - log_gamma(alpha)).sum(axis=1)
        logarithms += log_gamma(np.array(concentration)) - log_gamma(concentration + total)
        if (fit := float(weights @ logarithms)) > largest:
            best, largest = logarithms, fit
    return best
