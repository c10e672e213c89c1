"""Raw text to segmented text over arrays of code points: scores by window, best labels, UTF-8 with blanks.

A line is a sentence. Its characters become entries (small integers), with pads on both sides for positions outside it.
Three slots of grams are anchored at entry p: the character alone, the pair (p, p + 1), and the pair (p, p + 2). A slot
has one row of weights, [window, 4], for all features that are functions of its characters, so the score of token t is a
sum over slots k and positions j of their windows:

    s[t, y] = sum_k sum_j rows_k[row_k(t + high_k - j), j, y]

Labels are padded to four, and transitions that a coding forbids are -inf. The recurrence of `decode.best_sequence` runs
over vectors of four float32, which Numba cannot express.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from tagweave.kernels import inner, kernel
from tagweave.kernels.hashing import mix, of_window
from tagweave.kernels.instructions import address, allocate, prefetch
from tagweave.kernels.text_arrays import put

LANES = 4

_FLOATS = ir.VectorType(ir.FloatType(), LANES)
_NUMBERS = ir.VectorType(ir.IntType(32), LANES)
_BYTES = ir.VectorType(ir.IntType(8), LANES)


@intrinsic
def add_window(_context: Any, score: Any, weights: Any, rows: Any, anchor: Any, window: Any) -> Any:
    """add_window(score, weights, rows, anchor, window): the scores of a token from the anchors in its window.

    score[:4] += sum over j < len(window) of weights[rows[anchor - j] + 4 j :][:4], all indices unsigned and of 64 bits.
    """

    def generate(*call: Any) -> Any:
        context, builder, _, arguments = call
        index, target = arguments[3].type, address(call, 0, arguments[3].type(0), _FLOATS)
        total = builder.load(target, align=4)
        for j in range(window.count):
            row = builder.zext(builder.load(address(call, 2, builder.sub(arguments[3], index(j)))), index)
            cell = builder.add(row, index(j * LANES))
            total = builder.fadd(total, builder.load(address(call, 1, cell, _FLOATS), align=4))
        builder.store(total, target, align=4)
        return context.get_dummy_value()

    return types.void(score, weights, rows, anchor, window), generate


@intrinsic
def step(_context: Any, delta: Any, score: Any, transition: Any, back: Any, at: Any) -> Any:
    """step(delta, score, transition, back, at): one step of the max-product recurrence, in place.

    delta[j] = score[j] + max_i (delta[i] + transition[4 i + j]), and back[at + j] = the first such i, a byte.
    """

    def generate(*call: Any) -> Any:
        context, builder, _, arguments = call

        def floats(array: int, at: int) -> Any:
            return address(call, array, arguments[4].type(at), _FLOATS)

        before, none = builder.load(floats(0, 0), align=4), ir.Constant(_FLOATS, ir.Undefined)
        pairs = []
        for i in range(LANES):
            alike = builder.shuffle_vector(before, none, ir.Constant(_NUMBERS, [i] * LANES))
            reached = builder.fadd(alike, builder.load(floats(2, LANES * i), align=4))
            pairs.append((reached, ir.Constant(_NUMBERS, [i] * LANES)))
        while len(pairs) > 1:  # pairwise comparison of neighbours; the first of equal ones wins
            pairs = [_larger(builder, *pairs[i], *pairs[i + 1]) for i in range(0, len(pairs), 2)]
        best, label = pairs[0]
        builder.store(builder.fadd(best, builder.load(floats(1, 0), align=4)), floats(0, 0), align=4)
        builder.store(builder.trunc(label, _BYTES), address(call, 3, arguments[4], _BYTES), align=1)
        return context.get_dummy_value()

    return types.void(delta, score, transition, back, at), generate


def _larger(builder: Any, first: Any, label: Any, second: Any, other: Any) -> tuple[Any, Any]:
    is_larger = builder.fcmp_ordered(">", second, first)
    return builder.select(is_larger, second, first), builder.select(is_larger, other, label)


GROUP = 1 << 9  # characters looked up at a time, in whole lines, so that their data stay in the cache
BOUNDARY, INSIDE = 1, 2  # the known state of the position before a character; 0 if unknown
NOTHING = np.uint64(0xFFFFFFFFFFFFFFFF)
BLANK = np.uint16(0xFFFF)

_U = np.uintp
_SPREAD = np.uint32(2654435769)
_AHEAD = 32
_LINE = np.uint32(10)
_SPACE = np.uint8(32)


class Slot(NamedTuple):
    """The grams of two entries, (p, p + reach), or of one, which has the row of its own number."""

    reach: int
    high: int
    window: tuple[int, ...]  # 0, 1 and so on, the positions of a row: kernels are compiled for their number
    width: int  # of a row
    weights: Any  # float32: rows begin with the positions of the window times four labels, from token p - high on
    table: Any  # uint64[1 << (32 - shift)], pair << 32 | row; a pair is a * rest + b
    shift: Any
    # int32[class, class, whether the characters are the same], the row of a pair that is not in the table
    otherwise: Any


class Entries(NamedTuple):
    """The entries of characters; variants share one."""

    number: Any  # uint16[0x110000], the entry of a code point, or BLANK
    same: Any  # uint32[0x110000 + pads], equal for two code points that are the same character
    classes: Any  # uint16, by entry
    class_count: int
    rest: int  # entries from here on represent all characters of a class without weights
    pads: Any  # uint16, `lead` entries before a line, then those after it
    lead: int


class Labels(NamedTuple):
    """Scores of labels, float32."""

    transition: Any  # [from * 4 + to]
    start: Any
    end: Any
    after: Any  # [3, 4], after a position, by its known state
    before: Any
    begins: Any  # bool[4], whether a label belongs to the first character of a word
    ends: Any


class Tables(NamedTuple):
    """The parts of a model that segment a text; the slots are a character, and pairs at distances 1 and 2."""

    entries: Entries
    slots: tuple[Slot, Slot, Slot]
    labels: Labels


@kernel
def mark_codes(codes, bits):
    """Set, for every code, the bit of its lowest bits: bits uint8[a power of two]."""
    mask = np.uint64(8 * bits.shape[0] - 1)
    for code in codes:
        at = code & mask
        bits[at >> np.uint64(3)] |= np.uint8(1) << np.uint8(at & np.uint64(7))


@kernel
def marked_pairs(seed, window, values, bits, first, last, pairs, codes):
    """List the pairs (a, b) of entries, first <= a < last, whose gram code is marked. Returns how many.

    The code of two terms, mix(mix(seed, values[a]), values[b]) with its window, goes to `codes`, and a * N + b to
    `pairs`.
    """
    mask, count, entries = np.uint64(8 * bits.shape[0] - 1), 0, values.shape[0]
    for a in range(first, last):
        begun = mix(seed, values[a])
        for b in range(entries):
            code = of_window(mix(begun, values[b]), window)
            at = code & mask
            if (bits[at >> np.uint64(3)] >> np.uint8(at & np.uint64(7))) & np.uint8(1):
                pairs[count] = a * entries + b
                codes[count] = code
                count += 1
    return count


@inner
def _start(pair, shift):
    return _U(np.uint32(pair * _SPREAD) >> shift)


@kernel
def place_pairs(pairs, shift, table, row):
    """Enter pair i (uint32) into an open-addressing table uint64[1 << (32 - shift)] as pair << 32 | row + i."""
    mask = _U(table.shape[0] - 1)
    for i in range(pairs.shape[0]):
        slot = _start(pairs[i], shift)
        while table[slot] != NOTHING:
            slot = (slot + _U(1)) & mask
        table[slot] = (np.uint64(pairs[i]) << np.uint64(32)) | np.uint64(row + i)


@inner
def _number(points, joined, start, e, numbers, seen, state, ends):
    """Read the characters of whole lines from `start`, up to a group, as entries with pads. Returns next start and
    lines.

    seen[i] is the code point of entry i, state[i] the known state of the position before it: a blank is a boundary, and
    joined[c] means that no word begins at character c. The entries of line l, pads included, are
    ends[l - 1] .. ends[l] - 1.
    """
    trail, at, lines = e.pads.shape[0] - e.lead, _U(0), 0
    while start < points.shape[0] and at < GROUP:
        at = _pad(e.pads, np.int64(0), e.lead, numbers, seen, at)
        blank = 0
        while points[_U(start)] != _LINE:
            point = points[_U(start)]
            start += 1
            if e.number[_U(point)] == BLANK:
                blank = BOUNDARY
                continue
            numbers[at], seen[at] = e.number[_U(point)], point
            state[at] = blank if blank else joined[_U(start - 1)] * INSIDE
            blank = 0
            at += _U(1)
        start += 1
        state[at] = 0
        at = _pad(e.pads, e.lead, trail, numbers, seen, at)
        ends[lines] = at
        lines += 1
    return start, lines


@inner
def _pad(pads, first, count, numbers, seen, at):
    """Pads first .. first + count - 1 as entries; a pad is distinct from every character and every other pad."""
    for i in range(first, first + count):
        numbers[at], seen[at] = pads[i], np.uint32(0x110000 + i)
        at += _U(1)
    return at


@inner
def _look_up(slot, e, numbers, seen, count, rows):
    """rows[p] = where the row of the pair of entries (p, p + reach) begins."""
    mask, reach, rest, width = _U(slot.table.shape[0] - 1), slot.reach, np.uint32(e.rest), slot.width
    for p in range(count - reach):
        here, there = np.uint32(numbers[_U(p)]), np.uint32(numbers[_U(p + reach)])
        if p + reach + _AHEAD < count:
            soon = np.uint32(numbers[_U(p + _AHEAD)]) * rest + np.uint32(numbers[_U(p + reach + _AHEAD)])
            prefetch(slot.table, _start(soon, slot.shift))
        row = np.int64(-1)
        if here < rest and there < rest:
            pair = np.uint64(here * rest + there)
            at = _start(np.uint32(pair), slot.shift)
            entry = slot.table[at]
            while entry >> np.uint64(32) != pair and entry != NOTHING:
                at = (at + _U(1)) & mask
                entry = slot.table[at]
            if entry != NOTHING:
                row = np.int64(entry & np.uint64(0xFFFFFFFF))
        if row < 0:
            same = _U(here == there and e.same[_U(seen[_U(p)])] == e.same[_U(seen[_U(p + reach)])])
            of_classes = _U(e.classes[_U(here)]) * _U(e.class_count) + _U(e.classes[_U(there)])
            row = np.int64(slot.otherwise[of_classes * _U(2) + same])
        rows[_U(p)] = row * width
        prefetch(slot.weights, _U(row * width))


@inner
def _forward(slots, labels, rows, state, first, last, back):
    """Run the recurrence over entries first .. last - 1; back[4 * at + y] is the best label before label y.

    Returns the best last label.
    """
    alone, near, far = slots
    delta, score = allocate(LANES, np.float32), allocate(LANES, np.float32)
    for at in range(_U(first), _U(last)):
        for y in range(_U(LANES)):
            score[y] = 0
        add_window(score, alone.weights, rows[0], at + _U(alone.high), alone.window)
        add_window(score, near.weights, rows[1], at + _U(near.high), near.window)
        add_window(score, far.weights, rows[2], at + _U(far.high), far.window)
        if state[at] or state[at + _U(1)]:
            for y in range(_U(LANES)):
                score[y] += labels.after[_U(state[at]), y] + labels.before[_U(state[at + _U(1)]), y]
        if at == _U(first):
            for y in range(_U(LANES)):
                delta[y] = score[y] + labels.start[y]
        else:
            step(delta, score, labels.transition, back, _U(LANES) * at)
    label = 0  # of equal ones the first
    for y in range(1, LANES):
        if delta[y] + labels.end[y] > delta[label] + labels.end[label]:
            label = y
    return label


@inner
def _mark_words(labels, label, first, last, back, breaks):
    """breaks[at] = whether a word begins at entry `at`, except the first, traced back from the last label."""
    for at in range(last - 1, first, -1):
        before = back[_U(LANES * at) + _U(label)]
        breaks[_U(at)] = labels.begins[_U(label)] or labels.ends[_U(before)]
        label = np.int64(before)
    breaks[_U(first)] = False


@inner
def _write(seen, breaks, first, last, out, at):
    """Entries first .. last - 1 as UTF-8, a blank before every word but the first, and a line break."""
    for i in range(_U(first), _U(last)):
        out[at] = _SPACE  # overwritten unless a word begins here: cheaper than a branch nobody can predict
        at += _U(breaks[i])
        at = put(seen[i], out, at)
    out[at] = _LINE
    return at + _U(1)


@kernel
def segment(points, joined, e, slots, labels, out):
    """Segment lines of code points, uint32, each with its line break, to UTF-8 in `out`, which must be large enough.

    joined, bool, marks characters at which no word may begin. Returns how many bytes were written.
    """
    size = points.shape[0] + e.pads.shape[0] * (points.shape[0] + 1)
    size = min(size, points.shape[0] + e.pads.shape[0] * (GROUP + 1)) + 1
    numbers, seen, state = allocate(size, np.uint16), allocate(size, np.uint32), allocate(size, np.uint8)
    breaks, back = allocate(size, np.bool_), allocate(LANES * size, np.uint8)
    rows = allocate(size, np.uint32), allocate(size, np.uint32), allocate(size, np.uint32)
    ends = allocate(GROUP + 1, np.int64)
    for p in range(_U(size)):
        state[p] = 0
    alone, near, far = slots
    trail = e.pads.shape[0] - e.lead
    start, written = np.int64(0), _U(0)
    while start < points.shape[0]:
        start, lines = _number(points, joined, start, e, numbers, seen, state, ends)
        count = ends[lines - 1]
        for p in range(_U(count)):
            rows[0][p] = np.uint32(numbers[p]) * np.uint32(alone.width)
        _look_up(near, e, numbers, seen, count, rows[1])
        _look_up(far, e, numbers, seen, count, rows[2])
        begin = 0
        for line in range(lines):
            first, last = begin + e.lead, ends[line] - trail
            if last > first:
                label = _forward(slots, labels, rows, state, first, last, back)
                _mark_words(labels, label, first, last, back, breaks)
            written = _write(seen, breaks, first, last, out, written)
            begin = ends[line]
    return np.int64(written)
