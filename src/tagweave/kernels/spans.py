"""Spans of chains: distributions over the labels of consecutive tokens, from marginals of tokens and pairs.

A chain's posterior is a chain, so the probability that the labels of tokens a .. b lie in the sets A_a .. A_b is

    v[a, j] = [j in A_a] gamma[a, j]           v[t, j] = [j in A_t] sum_i v[t-1, i] xi[t, i, j] / gamma[t-1, i]
    P = sum_j v[b, j]
"""

from __future__ import annotations

import numpy as np

from tagweave.kernels import kernel
from tagweave.kernels.decode import span_entropy

BEFORE, BEGIN, INSIDE, END, SINGLE, AFTER = range(6)
"""The positions of a token in or beside a word, the rows of `sets`."""


@kernel
def span_entropies(gamma, pairs, starts, stops, entropies):
    """entropies[k] = the entropy of the labels of tokens starts[k] .. stops[k] - 1, in nats.

    gamma float[n, Y] and pairs float[n, Y, Y] as `decode.span_entropy` takes them, of all sentences of a batch.
    """
    for k in range(starts.shape[0]):
        entropies[k] = span_entropy(gamma[starts[k] : stops[k]], pairs[starts[k] : stops[k]])


@kernel
def word_probabilities(gamma, pairs, sets, starts, stops, lows, highs, probabilities):
    """probabilities[k] = P(tokens starts[k] .. stops[k] - 1 are a word).

    sets bool[6, Y] are the labels of a token in each position; lows, highs int64[K] the bounds of the span's sentence.
    """
    Y = gamma.shape[1]
    v, reached = np.empty(Y), np.empty(Y)
    for k in range(starts.shape[0]):
        start, stop = starts[k], stops[k]
        first, last = max(start - 1, lows[k]), min(stop + 1, highs[k])
        for t in range(first, last):
            if t < start:
                allowed = sets[BEFORE]
            elif t >= stop:
                allowed = sets[AFTER]
            elif stop - start == 1:
                allowed = sets[SINGLE]
            elif t == start:
                allowed = sets[BEGIN]
            elif t == stop - 1:
                allowed = sets[END]
            else:
                allowed = sets[INSIDE]
            for j in range(Y):
                reached[j] = 0.0
                if not allowed[j]:
                    continue
                if t == first:
                    reached[j] = gamma[t, j]
                    continue
                for i in range(Y):
                    if v[i] > 0 and gamma[t - 1, i] > 0:
                        reached[j] += v[i] * pairs[t, i, j] / gamma[t - 1, i]
            v[:] = reached
        probabilities[k] = min(v.sum(), 1.0)
