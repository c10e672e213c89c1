"""Hashing: chains of codes, spans, grams, and the open-addressing table."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tagweave.features.templates import WIDEST
from tagweave.kernels import hashing

MASK = 2**64 - 1


def mix(code: int, value: int) -> int:
    """The step of a chain in Python's own integers."""
    code = (code + 0x9E3779B97F4A7C15 * (value + 1)) & MASK
    code = ((code ^ (code >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    code = ((code ^ (code >> 27)) * 0x94D049BB133111EB) & MASK
    return (code ^ (code >> 31)) or 1


def chained(seed: int, values: list[int]) -> int:
    for value in values:
        seed = mix(seed, value)
    return seed


@given(st.lists(st.lists(st.integers(0, 0x10FFFF), max_size=5), max_size=6), st.integers(0, MASK))
def test_spans_are_chains_of_their_points(spans: list[list[int]], seed: int) -> None:
    points = np.array([point for span in spans for point in span], np.uint32)
    stop = np.cumsum([len(span) for span in spans], dtype=np.int64)
    start = stop - np.array([len(span) for span in spans], np.int64)
    out = np.empty(len(spans), np.uint64)
    hashing.hash_spans(points, start, stop, np.uint64(seed), out)
    assert out.tolist() == [chained(seed, span) if span else 0 for span in spans]


def gram(code: int, window: int) -> int:
    return code % 2**40 + (window << 40)


@given(
    st.lists(st.integers(0, MASK), min_size=1, max_size=12),
    st.integers(1, 3),
    st.integers(0, MASK),
    st.integers(1, WIDEST),
)
def test_codes_are_chained_in_groups_and_tell_their_window(
    codes: list[int], count: int, seed: int, window: int
) -> None:
    groups = len(codes) // count
    out = np.empty(groups, np.uint64)
    starts = np.arange(groups, dtype=np.int64) * count
    hashing.hash_codes(np.array(codes, np.uint64), starts, count, np.uint64(seed), window, out)
    parts = [codes[i * count : (i + 1) * count] for i in range(groups)]
    assert out.tolist() == [gram(chained(seed, part), window) if all(part) else 0 for part in parts]
    assert hashing.windows_of(out).tolist() == [window if all(part) else 0 for part in parts]


def test_a_chain_depends_on_order_and_on_length() -> None:
    chains = [[], [0], [0, 0], [1, 2], [2, 1], [1], [1, 2, 0]]
    assert len({chained(7, values) for values in chains}) == len(chains)


def test_short_strings_have_different_codes() -> None:
    points = np.arange(300_000, dtype=np.uint32) % 0x10FFFF
    out = np.empty(299_999, np.uint64)
    start = np.arange(299_999, dtype=np.int64)
    hashing.hash_spans(points, start, start + 2, np.uint64(0), out)
    assert len(np.unique(out)) == len(out)


@given(st.lists(st.integers(0, 40), max_size=40), st.lists(st.integers(0, 60), max_size=20))
def test_the_table_finds_what_was_inserted(codes: list[int], asked: list[int]) -> None:
    # small codes and a table of 128 slots: neighbours probe over one another
    keys, values, counts = np.zeros(128, np.uint64), np.zeros(128, np.int32), np.zeros(64, np.int64)
    ids = np.empty(len(codes), np.int32)
    size = hashing.insert(keys, values, np.array(codes, np.uint64), 0, ids, counts)
    numbers = {code: i for i, code in enumerate(dict.fromkeys(code for code in codes if code))}
    assert size == len(numbers)
    assert ids.tolist() == [numbers.get(code, -1) for code in codes]
    assert counts[:size].tolist() == [codes.count(code) for code in numbers]
    found = np.empty(len(asked), np.int32)
    hashing.find(keys, values, np.array(asked, np.uint64), found)
    assert found.tolist() == [numbers.get(code, -1) for code in asked]


def test_the_last_slot_is_followed_by_the_first() -> None:
    keys, values = np.zeros(4, np.uint64), np.zeros(4, np.int32)
    assert hashing.place(keys, values, np.array([3, 7], np.uint64), np.array([5, 6], np.int32), len(keys)) == 2
    assert keys.tolist() == [7, 0, 0, 3]
    found = np.empty(3, np.int32)
    hashing.find(keys, values, np.array([7, 3, 11], np.uint64), found)
    assert found.tolist() == [6, 5, -1]


def test_renumber_keeps_absent_ids() -> None:
    ids = np.array([0, -1, 2, 1], np.int32)
    hashing.renumber(ids, np.array([-1, 0, 1], np.int32))
    assert ids.tolist() == [-1, -1, 1, 0]
