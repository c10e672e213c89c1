"""Vectors of weights: emission scores and their gradients, sparse updates, and the history of L-BFGS.

A feature is a gram, and its weights for the positions of its window are adjacent: gram g of family k, anchored at
position p of a sentence, scores the tokens p - high[k] .. p - low[k], so its weights belong to cells of the score
matrix of the sentence, viewed as one flat row-major array that begins at token p - high[k]:

    scores.flat[(p - high[k]) * Y + cell[q]] += weights[q]      for q in ptr[g] .. ptr[g + 1] - 1

`cell` lists the observed (position, label) pairs of the gram, in order; in a dense layout every gram has all window * Y
weights, and `cell` is empty. A sentence of L tokens has anchors from -lead to L + trail, and grams[row] holds their
features.

Features of the word alone do not depend on its neighbours. They are scored once per word type, as windows of one.

Indices are unsigned throughout: Numba tests a signed one for being negative at every access, and does not vectorise.

Sparse updates move only the weights that a batch touched, given as blocks start[i] .. stop[i] - 1 of one vector. Blocks
may repeat: the first visit takes the gradient and leaves 0, so later ones change nothing.

The history of L-BFGS holds the last steps s = w' - w and gradient changes y = g' - g, as rows of one array. It is by
far the largest array of an iteration, so it is read only twice: once for the products of a new pair and of the new
slope with all rows, once to combine the rows into a direction. Both go through all rows block by block, so that the
vectors they share stay in the first-level cache, and take a range of columns, so that threads can share the work.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from tagweave.kernels import inlined, inner, kernel
from tagweave.kernels.instructions import add_run, flat, prefetch

_U = np.uintp
_ONE = np.uintp(1)
_AHEAD = 8
_LINE = 16  # floats of a cache line
_ROWS_AHEAD = 6
_TOKENS = _U(8)


@inlined
def _add_cells(weights, start, stop, cell, scores, into, backwards):
    """Add weights to their cells, or cells to their weights if backwards."""
    if backwards:
        for q in range(start, stop):
            weights[q] += scores[into + _U(cell[q])]
    else:
        for q in range(start, stop):
            scores[into + _U(cell[q])] += weights[q]


@inner
def _add_cells_inside(weights, start, stop, cell, scores, begin, base, cells, backwards):
    """As `_add_cells`, without cells before and after the sentence."""
    for q in range(start, stop):
        c = base + _U(cell[q])  # wraps around, and so is too large, before the sentence
        if c < cells:
            _add_cells(weights, q, q + _ONE, cell, scores, begin + base, backwards)


@kernel
def over_grams(weights, ptr, cell, grams, low, high, lead, sentence_ptr, first, last, scores, backwards):
    """Add the scores of the grams of sentences first .. last - 1 to scores float[tokens of these sentences, Y].

    Backwards, add the scores to `weights`, then a gradient: one kernel, so that it is compiled once.
    """
    Y, K = scores.shape[1], grams.shape[1]
    values, features = flat(scores), flat(grams)
    target, source = (weights, values) if backwards else (values, weights)
    near, far = _U(_AHEAD * K), _U(2 * _AHEAD * K)
    extra = (grams.shape[0] - sentence_ptr[-1]) // max(1, sentence_ptr.shape[0] - 1)
    for s in range(first, last):
        begin = (sentence_ptr[s] - sentence_ptr[first]) * Y
        cells = (sentence_ptr[s + 1] - sentence_ptr[s]) * Y
        row0 = sentence_ptr[s] + s * extra
        for row in range(row0, sentence_ptr[s + 1] + (s + 1) * extra):
            here = _U(row * K)
            if row + 2 * _AHEAD < grams.shape[0]:
                for k in range(_U(K)):
                    prefetch(ptr, _U(max(0, features[here + far + k])))
                    soon = _U(ptr[_U(max(0, features[here + near + k]))])
                    prefetch(weights, soon)
                    if cell.shape[0]:
                        prefetch(cell, soon)
                        continue
                    prefetch(weights, soon + _U(8))
                    if Y > _LINE:  # a loop would take longer than it saves for few labels
                        for line in range(_U(8 + _LINE), _U((high[k] - low[k] + 1) * Y), _U(_LINE)):
                            prefetch(weights, soon + line)
            for k in range(_U(K)):
                g = features[here + k]
                if g < 0:
                    continue
                start, stop = ptr[_U(g)], ptr[_U(g) + _ONE]
                base = (row - row0 - lead - high[k]) * Y
                width = (high[k] - low[k] + 1) * Y
                if stop - start == width:  # all cells of the window
                    skip = max(0, -base)
                    q, c, count = _U(start + skip), _U(begin + base + skip), max(0, min(width, cells - base) - skip)
                    add_run(target, q if backwards else c, source, c if backwards else q, _U(count))
                elif base >= 0 and base + width <= cells:
                    _add_cells(weights, _U(start), _U(stop), cell, values, _U(begin + base), backwards)
                else:
                    _add_cells_inside(
                        weights, _U(start), _U(stop), cell, values, _U(begin), _U(base), _U(cells), backwards
                    )


@inner
def _prefetch_type(weights, ptr, type_ptr, features, word_type):
    """Start loading the weights of a word type."""
    for j in range(_U(type_ptr[word_type]), _U(type_ptr[word_type + _ONE])):
        if features[j] >= 0:
            soon = _U(ptr[_U(features[j])])
            prefetch(weights, soon)
            prefetch(weights, soon + _U(16))
            prefetch(weights, soon + _U(32))


@kernel
def type_scores(weights, ptr, cell, type_ptr, features, values, word_types, scores):
    """scores[i] = the score of word_types[i]: float[len(word_types), Y], set, not added.

    type_ptr int64[V + 1] and features int32 list the features of each word type; values is empty, or one factor for
    each.
    """
    Y, cells = _U(scores.shape[1]), flat(scores)
    for i in range(_U(word_types.shape[0])):
        for y in range(Y):
            scores[i, y] = 0
        if i + _ONE < _U(word_types.shape[0]):
            _prefetch_type(weights, ptr, type_ptr, features, _U(word_types[i + _ONE]))
        word_type = _U(word_types[i])
        for j in range(_U(type_ptr[word_type]), _U(type_ptr[word_type + _ONE])):
            if features[j] < 0:
                continue
            start, stop = _U(ptr[_U(features[j])]), _U(ptr[_U(features[j]) + _ONE])
            if values.shape[0]:
                value = weights.dtype.type(values[j])
                for q in range(start, stop):
                    scores[i, _U(cell[q]) if cell.shape[0] else q - start] += value * weights[q]
            elif stop - start == Y:
                add_run(cells, i * Y, weights, start, Y)
            else:
                _add_cells(weights, start, stop, cell, cells, i * Y, False)


@kernel
def add_to_rows(weights, ptr, cell, type_ptr, features, begin, width, rows):
    """Add the weights of the features of each word type to the cells begin .. begin + width - 1 of its row.

    Features as in `type_scores`, without factors; rows as in `row_scores`.
    """
    cells = flat(rows)
    for i in range(_U(rows.shape[0])):
        if i + _ONE < _U(rows.shape[0]):
            _prefetch_type(weights, ptr, type_ptr, features, i + _ONE)
        into = i * _U(rows.shape[1]) + _U(begin)
        for j in range(_U(type_ptr[i]), _U(type_ptr[i + _ONE])):
            if features[j] < 0:
                continue
            start, stop = _U(ptr[_U(features[j])]), _U(ptr[_U(features[j]) + _ONE])
            if stop - start == _U(width):
                add_run(cells, into, weights, start, _U(width))
            else:
                _add_cells(weights, start, stop, cell, cells, into, False)


@kernel
def row_scores(rows, numbers, sentence_ptr, first, last, low, high, scores):
    """Set the scores of sentences first .. last - 1 to the sums of the rows of the words around each token.

    rows float[V, (high - low + 1) * Y] are like the weights of grams that the tokens p - high .. p - low see, at the
    anchors p = low .. L - 1 + high of a sentence of L tokens. numbers int32[N] are the rows of the tokens. The first
    -low rows are for anchors before a sentence, counted from its start, the next `high` for anchors after its end.
    """
    Y, width = _U(scores.shape[1]), _U(rows.shape[1])
    cells, weights, base = flat(scores), flat(rows), sentence_ptr[first]
    for cell in range(_U(sentence_ptr[last] - base) * Y):
        cells[cell] = 0
    for s in range(first, last):
        begin, end = np.int64(sentence_ptr[s]), np.int64(sentence_ptr[s + 1])
        for p in range(begin + low, end + high):
            if p < begin:
                row = _U(begin - p - 1)
            elif p >= end:
                row = _U(p - end - low)
            else:
                row = _U(numbers[_U(p)])
                if p + _ROWS_AHEAD < end:
                    soon = _U(numbers[_U(p + _ROWS_AHEAD)]) * width
                    for line in range(_U(0), width, _U(_LINE)):
                        prefetch(weights, soon + line)
            left, right = max(begin, p - high), min(end, p - low + 1)
            if left < right:
                skip, count = _U(left - (p - high)) * Y, _U(right - left) * Y
                add_run(cells, _U(left - base) * Y, weights, row * width + skip, count)


@kernel
def type_gradient(gradient, ptr, cell, type_ptr, features, values, word_types, difference):
    """The transpose of `type_scores`."""
    dense = cell.shape[0] == 0
    for i in range(_U(word_types.shape[0])):
        if i + _ONE < _U(word_types.shape[0]):
            _prefetch_type(gradient, ptr, type_ptr, features, _U(word_types[i + _ONE]))
        word_type = _U(word_types[i])
        for j in range(_U(type_ptr[word_type]), _U(type_ptr[word_type + _ONE])):
            if features[j] < 0:
                continue
            g = _U(features[j])
            value = gradient.dtype.type(values[j]) if values.shape[0] else gradient.dtype.type(1)
            start = _U(ptr[g])
            stop = _U(ptr[g + _ONE])
            if dense:
                for y in range(stop - start):
                    gradient[start + y] += value * difference[i, y]
            else:
                for q in range(start, stop):
                    gradient[q] += value * difference[i, _U(cell[q])]


@kernel
def collect(difference, word_types, table):
    """table[word_types[t]] += difference[t]."""
    for t in range(_U(word_types.shape[0])):
        word_type = _U(word_types[t])
        for y in range(_U(table.shape[1])):
            table[word_type, y] += difference[t, y]


@kernel
def project(scores, projection, bundled):
    """bundled[t, y] += scores[t, projection[y]]: a view's scores, added to every label that projects to its own."""
    for t in range(_U(scores.shape[0])):
        for y in range(_U(projection.shape[0])):
            bundled[t, y] += scores[t, _U(projection[y])]


@kernel
def gather(bundled, projection, difference):
    """The transpose of `project`: difference[t, projection[y]] += bundled[t, y]."""
    low, tokens = _U(0), _U(bundled.shape[0])
    while low < tokens:  # several tokens at a time: sums into one cell would wait for one another
        high = min(tokens, low + _TOKENS)
        for y in range(_U(projection.shape[0])):
            for t in range(low, high):
                difference[t, _U(projection[y])] += bundled[t, y]
        low = high


@kernel
def touched_features(grams, low_row, high_row, type_ptr, features, word_types, seen, now, touched):
    """List the distinct features of the grams at anchors low_row .. high_row - 1 and of word types. Returns how many.

    seen int32[F] holds the number of the last call that saw a feature, `now` is the number of this one. touched int32
    must hold all features with repetitions.
    """
    count = 0
    for row in range(low_row, high_row):
        for k in range(grams.shape[1]):
            count = _touch(grams[_U(row), _U(k)], seen, now, touched, count)
    for i in range(_U(word_types.shape[0])):
        word_type = _U(word_types[i])
        for j in range(_U(type_ptr[word_type]), _U(type_ptr[word_type + _ONE])):
            count = _touch(features[j], seen, now, touched, count)
    return count


@inlined
def _touch(g, seen, now, touched, count):
    if g >= 0 and seen[_U(g)] != now:
        seen[_U(g)] = now
        touched[_U(count)] = g
        count += 1
    return count


_BLOCKS_AHEAD = np.uintp(6)


@kernel
def adagrad(weights, squares, gradient, start, stop, rate):
    """squares += g^2; weights -= rate * g / sqrt(squares); g = 0 (Duchi et al. 2011, the diagonal form).

    squares must be positive: then g = 0 changes nothing, and the loop needs no branch.
    """
    for i in range(_U(start.shape[0])):
        if i + _BLOCKS_AHEAD < _U(start.shape[0]):
            soon = _U(start[i + _BLOCKS_AHEAD])
            prefetch(weights, soon)
            prefetch(squares, soon)
            prefetch(gradient, soon)
        for q in range(_U(start[i]), _U(stop[i])):
            g = gradient[q]
            square = squares[q] + g * g
            squares[q] = square
            weights[q] -= rate * g / np.sqrt(square)
            gradient[q] = 0


@kernel
def move(source, start, stop, target):
    """target += source; source = 0."""
    for i in range(_U(start.shape[0])):
        for q in range(_U(start[i]), _U(stop[i])):
            target[q] += source[q]
            source[q] = 0


@kernel
def descend(weights, gradient, start, stop, rate):
    """weights -= rate * g; g = 0."""
    for i in range(_U(start.shape[0])):
        for q in range(_U(start[i]), _U(stop[i])):
            if gradient[q] != 0:
                weights[q] -= weights.dtype.type(rate) * gradient[q]
                gradient[q] = 0


@kernel
def decay(weights, seen, log_decay, now, start, stop):
    """Multiply each weight by the decay of all steps since it was last seen: exp(log_decay[now] - log_decay[seen])."""
    for i in range(_U(start.shape[0])):
        for q in range(_U(start[i]), _U(stop[i])):
            if seen[q] != now:
                weights[q] *= weights.dtype.type(np.exp(log_decay[now] - log_decay[seen[q]]))
                seen[q] = now


_BLOCK = 2048  # columns


@partial(kernel, reassociate=True)
def dot(one, other):
    """sum_i one[i] other[i], in double precision between blocks, always on one thread."""
    total = 0.0
    for low in range(0, one.shape[0], _BLOCK):
        block = one.dtype.type(0)
        for i in range(_U(low), _U(min(low + _BLOCK, one.shape[0]))):
            block += one[i] * other[i]
        total += block
    return total


@partial(kernel, reassociate=True)
def enter(history, slot, weights, new_weights, gradient, new_gradient, slope, first, last, products):
    """Set rows `slot` and `rows / 2 + slot` to s and y, and add the products of every row with s, y and slope to
    products float64[rows, 3]; for columns first .. last - 1."""
    s, y = history[slot], history[history.shape[0] // 2 + slot]
    for low in range(first, last, _BLOCK):
        high = min(low + _BLOCK, last)
        for i in range(_U(low), _U(high)):
            s[i] = new_weights[i] - weights[i]
            y[i] = new_gradient[i] - gradient[i]
        for r in range(history.shape[0]):
            row = history[r]
            with_s = with_y = with_slope = np.float32(0)
            for i in range(_U(low), _U(high)):
                with_s += row[i] * s[i]
                with_y += row[i] * y[i]
                with_slope += row[i] * np.float32(slope[i])
            products[r, 0] += with_s
            products[r, 1] += with_y
            products[r, 2] += with_slope


@kernel
def combine(history, coefficients, gamma, slope, first, last, direction):
    """direction = -(gamma slope + coefficients @ history), in columns first .. last - 1."""
    for low in range(first, last, _BLOCK):
        high = min(low + _BLOCK, last)
        for i in range(_U(low), _U(high)):
            direction[i] = -gamma * slope[i]
        for r in range(history.shape[0]):
            row, share = history[r], coefficients[r]
            if share != 0:
                for i in range(_U(low), _U(high)):
                    direction[i] -= share * row[i]
