"""Text as arrays of code points: pieces of phrases, runs that no word boundary cuts, and suffix arrays.

Pieces. A piece is a run of characters, or one punctuation character or symbol. In raw text every piece is a token.
Given tokens contain one piece or more, and a phrase begins and ends where tokens do; so phrases are found however a
corpus cuts `U.S.` or `beta-carotene`. The end of a sentence is a piece of its own, which no phrase contains.

Runs. With L a letter and D a digit, no word begins at the position marked `^`:

    L^L   L^'^L   L^-^L   L^-^D   D^D   D^.^D   D^%   D^,^DDD   D^:^DD

where exactly three and two digits follow the comma and the colon. At `//`, `w.` or `@` there may be an address.

Suffix arrays: the positions of a text, sorted by the text after each, or before it. The text is uint32[N], sentences
with an `END` before, between and after them. From position p it is read in one direction, `step` 1 (forwards) or -1
(backwards), up to the end of the sentence or `DEPTH` characters; positions with equal readings keep the order of the
text. So all occurrences of a word are one run of positions, found by bisection and sorted by context. Positions are
first counted into runs by their own character. A run is then sorted by the next three characters, packed into one
number (3 x 21 bits), by quicksort in three parts, and so on inside equal ones (multikey quicksort: Bentley and
Sedgewick 1997).
"""

from __future__ import annotations

import numpy as np

from tagweave.kernels import inner, kernel
from tagweave.kernels.hashing import mix

RUN, ALONE, BLANK, TOKEN, SENTENCE = range(5)
"""Classes of characters: part of a run, a piece by itself, between pieces, end of a token, end of a sentence."""

_ZERO, _ONE = np.uint64(0), np.uintp(1)
_LINE = np.uint8(10)


@kernel
def cut(points, classes, fold, of_tokens, start, stop, code, border):
    """Cut text int32[n] into pieces. Returns how many there are, at most one for each point.

    A character counts as fold uint32[code points]. of_tokens: whether TOKEN follows each token; otherwise
    every piece is one. Out: piece k is points[start[k]:stop[k]], empty for the end of a sentence; code uint64[n] is its
    hash, 0 for an empty one; border bool[n + 1] is whether a token, or the end of a sentence, begins at a piece, and
    after the last one.
    """
    n = points.shape[0]
    k = 0
    i = 0
    begins = True
    while i < n:
        of = classes[points[i]]
        if of == BLANK:
            i += 1
        elif of <= ALONE:
            start[k] = i
            hashed = mix(_ZERO, np.uint64(fold[points[i]]))
            i += 1
            while of == RUN and i < n and classes[points[i]] == RUN:
                hashed = mix(hashed, np.uint64(fold[points[i]]))
                i += 1
            stop[k], code[k], border[k] = i, hashed, begins
            k += 1
            begins = not of_tokens
        else:
            if begins or of == SENTENCE:  # a token of nothing but blanks, or the end of a sentence
                start[k], stop[k], code[k], border[k] = i, i, _ZERO, True
                k += 1
            begins = True
            i += 1
    border[k] = True
    return k


@kernel
def mark(starts, stops, types, labels):
    """Label the tokens of spans that do not overlap: 2 * type + 2 for the first of a span, 1 more for others."""
    for k in range(starts.shape[0]):
        for i in range(starts[k], stops[k]):
            labels[i] = 2 * types[k] + (2 if i == starts[k] else 3)


@inner
def put(point, out, at):
    """Write a code point as UTF-8; returns the place after it. Places are unsigned."""
    if point < 0x80:
        out[at] = point
        return at + _ONE
    if point < 0x800:
        out[at] = 0xC0 | (point >> 6)
    else:
        if point < 0x10000:
            out[at] = 0xE0 | (point >> 12)
        else:
            out[at] = 0xF0 | (point >> 18)
            at += _ONE
            out[at] = 0x80 | ((point >> 12) & 0x3F)
        at += _ONE
        out[at] = 0x80 | ((point >> 6) & 0x3F)
    out[at + _ONE] = 0x80 | (point & 0x3F)
    return at + _ONE + _ONE


@kernel
def rows(points, start, stop, labels, text, text_ptr, everything, out, counts):
    """Write pieces of `cut`, up to the end of a sentence, as rows of a column file: piece, tab, label; an empty line
    after each sentence. Returns how many bytes were written.

    labels int32[K] are 0 if unknown; text uint8, from text_ptr int64[L + 1], spells labels, with tab and line end.
    Sentences without a known label are left out unless `everything`. out uint8 has four bytes for each point, and room
    for labels. counts int64[2] gains the sentences that are not empty, and those written.
    """
    at = np.uintp(0)
    first = 0
    is_annotated = False
    for k in range(start.shape[0]):
        if start[k] != stop[k]:
            is_annotated = is_annotated or labels[k] != 0
            continue
        counts[0] += first < k
        if first < k and (is_annotated or everything):
            counts[1] += 1
            for j in range(first, k):
                for i in range(start[j], stop[j]):
                    at = put(points[i], out, at)
                for i in range(text_ptr[labels[j]], text_ptr[labels[j] + 1]):
                    out[at] = text[i]
                    at += _ONE
            out[at] = _LINE
            at += _ONE
        first = k + 1
        is_annotated = False
    return np.int64(at)


LETTER, DIGIT = np.uint8(1), np.uint8(2)
_ALIKE = LETTER | DIGIT
_FIRST = np.uint8(4)  # signs are multiples of it: they have no bit in common with letters and digits
APOSTROPHE, HYPHEN, POINT, SLASH, DOT, COMMA, COLON, PERCENT, AT = (np.uint8(_FIRST * k) for k in range(1, 10))

_w, _W, _wide_w, _WIDE_W = (np.uint32(ord(letter)) for letter in "wWｗＷ")


@inner
def _digits(points, classes, start):
    """Return how many digits begin at `start`, at most four."""
    count = 0
    while count < 4 and start + count < points.shape[0] and classes[points[start + count]] == DIGIT:
        count += 1
    return count


@inner
def _binds(points, classes, at, before):
    """Return whether the sign at `at` is inside a run."""
    sign = classes[points[at]]
    after = classes[points[at + 1]] if at + 1 < points.shape[0] else np.uint8(0)
    if before == LETTER:
        return (sign == HYPHEN and (after & _ALIKE) != 0) or (sign == APOSTROPHE and after == LETTER)
    if before != DIGIT or after != DIGIT:
        return False
    if sign == COMMA:
        return _digits(points, classes, at + 1) == 3
    if sign == COLON:
        return _digits(points, classes, at + 1) == 2
    return sign == POINT or sign == SLASH or sign == DOT  # noqa: PLR1714 - a set is slow here


@inner
def _is_trace(points, classes, at, before):
    """Return whether the sign at `at` may be part of an address."""
    sign = classes[points[at]]
    if sign == DOT and at > 0:
        point = points[at - 1]
        return point == _W or point == _w or point == _WIDE_W or point == _wide_w  # noqa: PLR1714
    return sign == AT or (sign == SLASH and before == SLASH)


@kernel
def join_runs(points, classes, joined, traces):
    """Set joined[i], bool, where no word begins at points[i], uint32. classes: uint8[0x110000], 0 for most.

    Returns how many traces of addresses there are; their positions go to `traces`, int64.
    """
    before, count = np.uint8(0), 0
    for at in range(points.shape[0]):
        here = classes[points[at]]
        if here:
            if before & here & _ALIKE:
                joined[at] = True
            elif here == PERCENT:
                joined[at] = before == DIGIT
            elif here >= _FIRST:
                if _binds(points, classes, at, before):
                    joined[at] = True
                    joined[at + 1] = True
                if _is_trace(points, classes, at, before):
                    traces[count] = at
                    count += 1
        before = here
    return count


END = 0
"""Stands where a sentence begins and ends; no character of a text."""
DEPTH = 100
"""The most characters compared: a line of a million equal ones costs no more than others."""

_PACKED, _BITS = 3, np.uint64(21)
_LAST = np.uint64((1 << 21) - 1)
_FEW = 16
_WAITING = 256  # most parts that wait: the smallest of three goes first, so each division of n by 3 leaves two


@kernel
def first_characters(text, counts, order):
    """Set order uint32[n] to all positions except of END, by their own character.

    counts int64[code points + 2], zeros: the run of character c becomes order[counts[c - 1]:counts[c]].
    """
    for p in range(text.shape[0]):
        counts[text[p] + 1] += 1
    counts[END + 1] = 0
    for c in range(1, counts.shape[0]):
        counts[c] += counts[c - 1]
    for p in range(text.shape[0]):
        if text[p] != END:
            order[counts[text[p]]] = p
            counts[text[p]] += 1


@kernel
def sort_run(text, step, order, key):
    """Sort positions uint32[n] that have their own character in common, from the order of the text; key is a buffer."""
    parts = np.empty((_WAITING, 3), np.int64)
    parts[0] = (0, order.shape[0], 1)
    _pack(text, step, order, key, 0, order.shape[0], 1)
    waiting = 1
    while waiting:
        waiting -= 1
        a, b, d = parts[waiting]
        if b - a <= _FEW:
            _insert(text, step, order, a, b, d)
            continue
        x, y, z = key[a], key[(a + b) // 2], key[b - 1]
        pivot = max(min(x, y), min(max(x, y), z))
        less, more = _divide(order, key, a, b, pivot)
        equal = less, more, d + _PACKED
        if pivot & _LAST == END or d + _PACKED >= DEPTH:
            order[less:more].sort()
            equal = less, less, d
        else:
            _pack(text, step, order, key, less, more, d + _PACKED)
        waiting = _enter(parts, waiting, (a, less, d), equal, (more, b, d))


@inner
def _enter(parts, waiting, first, second, third):
    """Enter three parts to be sorted, the largest first; returns how many wait."""
    if first[1] - first[0] < second[1] - second[0]:
        first, second = second, first
    if first[1] - first[0] < third[1] - third[0]:
        first, third = third, first
    if second[1] - second[0] < third[1] - third[0]:
        second, third = third, second
    for piece in (first, second, third):
        if piece[1] - piece[0] > 1:
            parts[waiting] = piece
            waiting += 1
    return waiting


@inner
def _pack(text, step, order, key, a, b, d):
    """key[a:b] = the characters d, d + 1 and d + 2 from each position, the first one highest; END from the end on."""
    for i in range(a, b):
        p = np.int64(order[i]) + step * d
        packed = np.uint64(0)
        inside = True
        for _ in range(_PACKED):
            packed <<= _BITS
            if inside:
                packed |= np.uint64(text[p])
                inside = text[p] != END
            p += step
        key[i] = packed


@inner
def _divide(order, key, a, b, pivot):
    """Exchange order[a:b] and key[a:b] until smaller keys come first, then equal ones; returns where each part ends."""
    less, more, i = a, b, a
    while i < more:
        if key[i] < pivot:
            key[i], key[less] = key[less], key[i]
            order[i], order[less] = order[less], order[i]
            less += 1
            i += 1
        elif key[i] > pivot:
            more -= 1
            key[i], key[more] = key[more], key[i]
            order[i], order[more] = order[more], order[i]
        else:
            i += 1
    return less, more


@inner
def _insert(text, step, order, a, b, d):
    for i in range(a + 1, b):
        position = order[i]
        j = i
        while j > a and _before(text, step, position, order[j - 1], d):
            order[j] = order[j - 1]
            j -= 1
        order[j] = position


@inner
def _before(text, step, p, q, d):
    """Return whether position p comes before q, if their first d characters are equal."""
    i, j = np.int64(p) + step * d, np.int64(q) + step * d
    while d < DEPTH and text[i] == text[j] and text[i] != END:
        i, j, d = i + step, j + step, d + 1
    if d >= DEPTH or text[i] == text[j]:
        return p < q
    return text[i] < text[j]


@kernel
def runs(text, step, order, words, ptr, start, stop):
    """order[start[k]:stop[k]] are the positions from which word k, words[ptr[k]:ptr[k + 1]], is read.

    Words have 1 to DEPTH characters, none of them END, in the direction of `step`.
    """
    for k in range(ptr.shape[0] - 1):
        word = words[ptr[k] : ptr[k + 1]]
        start[k] = _bisect(text, step, order, word, False)
        stop[k] = _bisect(text, step, order, word, True)


@inner
def _bisect(text, step, order, word, after):
    """Return the first index in `order` whose reading is greater than the word, or, unless `after`, not less."""
    low, high = 0, order.shape[0]
    while low < high:
        middle = (low + high) // 2
        p = np.int64(order[middle])
        i = 0
        while i < word.shape[0] and text[p] == word[i]:
            p, i = p + step, i + 1
        if (after and i == word.shape[0]) or (i < word.shape[0] and text[p] < word[i]):
            low = middle + 1
        else:
            high = middle
    return low
