"""Text to pieces, the smallest parts that phrases are made of, and to rows of a column file: no object per token.

A piece is a run of characters, or one punctuation character or symbol. In raw text every piece is a token. Where the
tokens are given, they contain one piece or more, and a phrase begins and ends where tokens do; so phrases are found
however a corpus cuts `U.S.` or `beta-carotene` into tokens. The end of a sentence is a piece of its own, which no
phrase contains.
"""

from __future__ import annotations

import numpy as np

from tagweave.kernels import inner, kernel
from tagweave.kernels.hashing import mix

RUN, ALONE, BLANK, TOKEN, SENTENCE = range(5)
"""Classes of characters: one of a run, a piece of its own, between pieces, the end of a token, that of a sentence."""

_ZERO = np.uint64(0)
_LINE = np.uint8(10)


@kernel
def cut(points, classes, fold, given, start, stop, code, border):
    """Cut text into pieces. Returns how many there are, at most one for each point.

    points  int32[n]
    classes uint8[code points]
    fold    uint32[code points]  what a character counts as
    given                        whether tokens are given, each followed by TOKEN; otherwise every piece is one
    start, stop int64[n]  (out)  piece k is points[start[k]:stop[k]], empty for the end of a sentence
    code    uint64[n]     (out)  the hash of a piece; 0 for an empty one
    border  bool[n + 1]   (out)  whether a token or the end of a sentence begins at a piece, and after the last one
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
            begins = not given
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
    """labels[i] of the spans' tokens: 2 * type + 2 for the first one of a span, and 1 more for the others.

    starts, stops int64[K]  spans of tokens that do not overlap
    types         int32[K]
    labels        int32[T]  (in, out)
    """
    for k in range(starts.shape[0]):
        for i in range(starts[k], stops[k]):
            labels[i] = 2 * types[k] + (2 if i == starts[k] else 3)


@inner
def _put(point, out, at):
    """Write a code point as UTF-8; returns the place after it."""
    if point < 0x80:
        out[at] = point
        return at + 1
    if point < 0x800:
        out[at] = 0xC0 | (point >> 6)
    else:
        if point < 0x10000:
            out[at] = 0xE0 | (point >> 12)
        else:
            out[at] = 0xF0 | (point >> 18)
            at += 1
            out[at] = 0x80 | ((point >> 12) & 0x3F)
        at += 1
        out[at] = 0x80 | ((point >> 6) & 0x3F)
    out[at + 1] = 0x80 | (point & 0x3F)
    return at + 2


@kernel
def rows(points, start, stop, labels, text, text_ptr, everything, out, counts):
    """Write pieces as rows of a column file: piece, tab, label; an empty line after each sentence.

        points      int32[n]
        start, stop int64[K]    as of `cut`; the last piece is the end of a sentence
        labels      int32[K]    0: unknown
        text        uint8, text_ptr int64[L + 1]: of labels, each with its tab and line end
        everything              whether to write sentences without a known label
        out         uint8 (out) long enough: four bytes for each point, and the text of each label
        counts      int64[2]    (in, out) adds the sentences, empty ones left out, and those written

    Returns how many bytes were written.
    """
    at = 0
    first = 0
    known = False
    for k in range(start.shape[0]):
        if start[k] != stop[k]:
            known = known or labels[k] != 0
            continue
        counts[0] += first < k
        if first < k and (known or everything):
            counts[1] += 1
            for j in range(first, k):
                for i in range(start[j], stop[j]):
                    at = _put(points[i], out, at)
                for i in range(text_ptr[labels[j]], text_ptr[labels[j] + 1]):
                    out[at] = text[i]
                    at += 1
            out[at] = _LINE
            at += 1
        first = k + 1
        known = False
    return at
