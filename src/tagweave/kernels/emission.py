"""Emission scores: from feature weights to one score per token and label, and back from marginals to gradients.

A feature is a gram, and its weights stand side by side for every position of its window: gram g of family k, anchored at
position p of a sentence, speaks of the tokens p - high[k] .. p - low[k], so its weights are cells of the score matrix of the
sentence, seen as one flat row-major array that begins at token p - high[k]:

    scores.flat[(p - high[k]) * Y + cell[q]] += weights[q]      for q in ptr[g] .. ptr[g + 1] - 1

`cell` lists the licensed (position, label) pairs of the gram. A layout with an empty `cell` is dense: every gram has all
window * Y weights, in order. A sentence of L tokens has anchors from -lead to L + trail, and grams[row] holds their features.

Features of the word alone do not depend on its neighbours. They are scored once per word form ("kind"), as windows of one.
"""

from __future__ import annotations

from tagweave.kernels import kernel


@kernel
def gram_scores(weights, ptr, cell, grams, high, lead, sentence_ptr, first, last, scores):
    """Add the scores of the grams of sentences first .. last - 1 to scores float[tokens of these sentences, Y]."""
    Y = scores.shape[1]
    flat = scores.reshape(-1)
    dense = cell.shape[0] == 0
    families = grams.shape[1]
    extra = (grams.shape[0] - sentence_ptr[-1]) // max(1, sentence_ptr.shape[0] - 1)
    for s in range(first, last):
        begin = (sentence_ptr[s] - sentence_ptr[first]) * Y
        end = (sentence_ptr[s + 1] - sentence_ptr[first]) * Y
        row0 = sentence_ptr[s] + s * extra
        for row in range(row0, sentence_ptr[s + 1] + (s + 1) * extra):
            anchor = begin + (row - row0 - lead) * Y
            for k in range(families):
                g = grams[row, k]
                if g < 0:
                    continue
                base = anchor - high[k] * Y
                if dense:
                    offset = base - ptr[g]
                    for q in range(ptr[g] + max(0, begin - base), min(ptr[g + 1], end - offset)):
                        flat[offset + q] += weights[q]
                else:
                    for q in range(ptr[g], ptr[g + 1]):
                        c = base + cell[q]
                        if begin <= c and c < end:
                            flat[c] += weights[q]


@kernel
def gram_gradient(gradient, ptr, cell, grams, high, lead, sentence_ptr, first, last, difference):
    """The transpose of `gram_scores`: add difference float[tokens, Y] to the gradient of every weight that it used."""
    Y = difference.shape[1]
    flat = difference.reshape(-1)
    dense = cell.shape[0] == 0
    families = grams.shape[1]
    extra = (grams.shape[0] - sentence_ptr[-1]) // max(1, sentence_ptr.shape[0] - 1)
    for s in range(first, last):
        begin = (sentence_ptr[s] - sentence_ptr[first]) * Y
        end = (sentence_ptr[s + 1] - sentence_ptr[first]) * Y
        row0 = sentence_ptr[s] + s * extra
        for row in range(row0, sentence_ptr[s + 1] + (s + 1) * extra):
            anchor = begin + (row - row0 - lead) * Y
            for k in range(families):
                g = grams[row, k]
                if g < 0:
                    continue
                base = anchor - high[k] * Y
                if dense:
                    offset = base - ptr[g]
                    for q in range(ptr[g] + max(0, begin - base), min(ptr[g + 1], end - offset)):
                        gradient[q] += flat[offset + q]
                else:
                    for q in range(ptr[g], ptr[g + 1]):
                        c = base + cell[q]
                        if begin <= c and c < end:
                            gradient[q] += flat[c]


@kernel
def kind_scores(weights, ptr, cell, kind_ptr, features, values, kinds, scores):
    """scores[i] = the score of kinds[i]: float[len(kinds), Y], set, not added.

    kind_ptr int64[V + 1] and features int32 list the features of each kind; values is empty, or one factor a feature.
    """
    for i in range(kinds.shape[0]):
        scores[i, :] = 0
        for j in range(kind_ptr[kinds[i]], kind_ptr[kinds[i] + 1]):
            g = features[j]
            if g < 0:
                continue
            value = values[j] if values.shape[0] else values.dtype.type(1)
            if cell.shape[0] == 0:
                for q in range(ptr[g], ptr[g + 1]):
                    scores[i, q - ptr[g]] += value * weights[q]
            else:
                for q in range(ptr[g], ptr[g + 1]):
                    scores[i, cell[q]] += value * weights[q]


@kernel
def kind_gradient(gradient, ptr, cell, kind_ptr, features, values, kinds, difference):
    """The transpose of `kind_scores`."""
    for i in range(kinds.shape[0]):
        for j in range(kind_ptr[kinds[i]], kind_ptr[kinds[i] + 1]):
            g = features[j]
            if g < 0:
                continue
            value = values[j] if values.shape[0] else values.dtype.type(1)
            if cell.shape[0] == 0:
                for q in range(ptr[g], ptr[g + 1]):
                    gradient[q] += value * difference[i, q - ptr[g]]
            else:
                for q in range(ptr[g], ptr[g + 1]):
                    gradient[q] += value * difference[i, cell[q]]


@kernel
def spread(table, kinds, scores):
    """scores[t] = table[kinds[t]]: every token starts from the score of its kind."""
    for t in range(kinds.shape[0]):
        scores[t] = table[kinds[t]]


@kernel
def collect(difference, kinds, table):
    """The transpose of `spread`: table[kinds[t]] += difference[t]."""
    Y = table.shape[1]
    for t in range(kinds.shape[0]):
        for y in range(Y):
            table[kinds[t], y] += difference[t, y]


@kernel
def project(scores, projection, bundled):
    """bundled[t, y] += scores[t, projection[y]]: a view's scores, added to every label that projects to its own."""
    for t in range(scores.shape[0]):
        for y in range(projection.shape[0]):
            bundled[t, y] += scores[t, projection[y]]


@kernel
def gather(bundled, projection, difference):
    """The transpose of `project`: difference[t, projection[y]] += bundled[t, y]."""
    for t in range(bundled.shape[0]):
        for y in range(projection.shape[0]):
            difference[t, projection[y]] += bundled[t, y]
