"""Phrases of several tokens against matching by hand: raw text, given tokens, folding, stop lists."""

from __future__ import annotations

import unicodedata

from hypothesis import example, given
from hypothesis import strategies as st

from tagweave.kernels.trie import PhraseTrie, Spans, pieces_of_text, pieces_of_tokens

TEXT = st.text("aAb1٣-'. \t\u3000İß甲\U00020000", max_size=8)
PHRASES = st.lists(TEXT, max_size=8)
SENTENCES = st.lists(st.lists(TEXT, max_size=6), max_size=4)
Piece = tuple[str, int, int]
"""The text of a piece, and the numbers of the token it begins and of the one it ends, -1 for none."""


def cut(text: str, folded: bool) -> list[str]:
    spaced = "".join(f" {c} " if unicodedata.category(c)[0] in "PS" else c for c in text)
    return [fold(piece) if folded else piece for piece in spaced.split()]


def fold(piece: str) -> str:
    lower = ("0" if c.isdigit() else c.lower() if len(c.lower()) == 1 else c for c in piece)
    return "".join(lower)


def occurrences(sentences: list[list[str]], phrases: set[tuple[str, ...]], folded: bool) -> set[tuple[int, int]]:
    """The tokens of every phrase, by trying all spans of tokens."""
    found, first = set(), 0
    for tokens in sentences:
        pieces = [cut(token, folded) or [""] for token in tokens]
        for i in range(len(tokens)):
            for j in range(i + 1, len(tokens) + 1):
                if tuple(piece for token in pieces[i:j] for piece in token) in phrases:
                    found.add((first + i, first + j))
        first += len(tokens)
    return found


def longest(found: set[tuple[int, int]]) -> list[tuple[int, int]]:
    kept: list[tuple[int, int]] = []
    for start, stop in sorted(found, key=lambda span: (span[0], -span[1])):
        if not kept or start >= kept[-1][1]:
            kept.append((start, stop))
    return kept


def pairs(spans: Spans) -> list[tuple[int, int]]:
    return list(zip(spans.start.tolist(), spans.stop.tolist(), strict=True))


@given(PHRASES, PHRASES, SENTENCES, st.booleans())
@example(["a-b"], [], [["a", "-", "b"], ["a-b"], ["a", "-b a"]], False)
@example(["a b", "b a a"], ["A B"], [["A", "b", "a", " ", "a"], [], ["b"]], True)
def test_phrases_of_given_tokens(phrases: list[str], stop: list[str], tokens: list[list[str]], folded: bool) -> None:
    trie, of_tokens = PhraseTrie(phrases, stop, folded), pieces_of_tokens(tokens, folded)
    entries = {tuple(cut(each, folded)) for each in phrases} - {tuple(cut(each, folded)) for each in (*stop, "")}
    expected = occurrences(tokens, entries, folded)
    assert sorted(pairs(of_tokens.of_tokens(trie.occurrences(of_tokens)))) == sorted(expected)
    assert pairs(of_tokens.of_tokens(trie.match(of_tokens))) == longest(expected)
    assert trie.size == len(entries)


@given(PHRASES, st.lists(TEXT, max_size=4), st.booleans())
def test_raw_text_is_cut_by_the_rule_for_phrases(phrases: list[str], lines: list[str], folded: bool) -> None:
    trie, text = PhraseTrie(phrases, (), folded), "".join(f"{line}\n" for line in lines)
    of_text = pieces_of_text(text, folded)
    tokens = [cut(line, False) for line in lines]
    kept = [text[a:b] for a, b in zip(of_text.start, of_text.stop, strict=True)]
    assert [piece for piece in kept if piece] == [token for line in tokens for token in line]
    assert of_text.ends.sum() == len(lines)
    given_tokens = pieces_of_tokens(tokens, folded)
    expected = pairs(given_tokens.of_tokens(trie.match(given_tokens)))
    assert pairs(of_text.of_tokens(trie.match(of_text))) == expected


def test_halves_of_surrogate_pairs_are_no_ends_of_tokens() -> None:
    tokens = pieces_of_tokens([["a\ud800", "\ud801"], ["a"]], folded=False)
    assert pairs(tokens.of_tokens(PhraseTrie(["a"]).match(tokens))) == [(2, 3)]


def test_an_entry_is_the_same_for_all_its_phrases() -> None:
    trie = PhraseTrie(["Heart failure", "heart  FAILURE", "CO2", "aids"], ["AIDS"], folded=True)
    assert (trie.entry[0] == trie.entry[1], trie.entry[3], trie.size) == (True, -1, 2)
    text = pieces_of_text("co3, AIDS and HEART\nheart failure", folded=True)
    assert trie.match(text).word.tolist() == [trie.entry[2], trie.entry[0]]
