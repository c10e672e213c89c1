"""The columns of a lexicon against all substrings, and the features of templates over them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pairing import token_features
from tagweave.corpus.sentence import Location, Sentence
from tagweave.errors import CorpusError
from tagweave.features.encoder import TemplateEncoder
from tagweave.features.lookups import LEXICON_COLUMNS, LexiconColumns
from tagweave.features.templates import Templates
from tagweave.kernels.trie import code_points

ALPHABET = "甲乙𠮷aB1"
LEXICONS = st.lists(st.text(ALPHABET, max_size=7), max_size=10)
TEXTS = st.lists(st.text(ALPHABET, max_size=12), max_size=5)
MOST = 5
TERMS = ("lexicon_begins[0]", "lexicon_inside[-1]", "lexicon_ends[0] form[0]", "lexicon_ends[1]", "form[-1] form[0]")
SHIFTED = ("lexicon_begins[-1]", "lexicon_begins[0]", "lexicon_begins[1]", "lexicon_inside[0]==lexicon_inside[2]")


def in_run(text: str, at: int) -> bool:
    """Whether a word that begins or ends here would be cut out of a run of letters."""
    return 0 < at < len(text) and all(c.isascii() and c.isalnum() for c in text[at - 1 : at + 1])


def by_hand(words: list[str], text: str) -> list[list[int]]:
    """Per column and character the length of the longest word, by trying every substring."""
    begins, inside, ends = ([0] * len(text) for _ in range(3))
    for i in range(len(text)):
        for j in range(i + 2, len(text) + 1):
            if text[i:j] not in words or in_run(text, i) or in_run(text, j):
                continue
            begins[i] = max(begins[i], min(j - i, MOST))
            ends[j - 1] = max(ends[j - 1], min(j - i, MOST))
            for t in range(i + 1, j - 1):
                inside[t] = max(inside[t], min(j - i, MOST))
    return [begins, inside, ends]


def lengths(words: list[str], texts: list[str]) -> list[list[int]]:
    ptr = np.cumsum([0, *map(len, texts)])
    return LexiconColumns(words).lengths(code_points("".join(texts)), ptr).tolist()


def sentences(texts: list[str], **columns: list[list[str]]) -> list[Sentence]:
    return [
        Sentence(tuple(text), columns={name: tuple(rows[i]) for name, rows in columns.items()})
        for i, text in enumerate(texts)
    ]


@given(LEXICONS, TEXTS)
@example(["甲甲", "甲甲甲"], ["甲甲甲甲", "", "甲", "甲甲"])
@example(["甲乙甲乙甲乙", "乙甲"], ["甲乙甲乙甲乙"])
@example(["aB", "aB甲"], ["aB", "1甲", "aB甲", "aaB"])
def test_the_longest_words_agree_with_those_found_by_hand(words: list[str], texts: list[str]) -> None:
    longest = lengths(words, texts)
    each = [by_hand(words, text) for text in texts]
    assert longest == [[length for rows in each for length in rows[column]] for column in range(3)]


def test_words_overlap_and_long_words_share_a_length() -> None:
    assert lengths(["研究", "研究生", "生命"], ["研究生命"]) == [[3, 0, 2, 0], [0, 3, 0, 0], [0, 2, 3, 2]]
    assert lengths(["甲乙甲乙甲", "甲乙甲乙甲乙甲"], ["甲乙甲乙甲乙甲"]) == [
        [5, 0, 5, 0, 0, 0, 0],
        [0, 5, 5, 5, 5, 5, 0],
        [0, 0, 0, 0, 5, 0, 5],
    ]


def test_no_word_crosses_sentences() -> None:
    assert lengths(["甲乙", "甲\n乙"], ["甲", "乙", "", "甲乙"]) == [[0, 0, 2, 0], [0] * 4, [0, 0, 0, 2]]
    assert lengths(["aB"], ["aB", "aB"])[0] == [2, 0, 2, 0]


def test_which_words_are_used() -> None:
    assert LexiconColumns(["乙甲", "", "甲", "甲乙", "乙甲", "甲\n"]).words == ("乙甲", "甲乙")
    assert LexiconColumns().arrays() == LexiconColumns(["甲"]).arrays() == {}


def test_no_sentence_and_no_character() -> None:
    for ptr in ([0], [0, 0], [0, 0, 0]):
        assert LexiconColumns(["甲乙"]).lengths(np.zeros(0, np.uint32), np.array(ptr)).shape == (3, 0)


@given(LEXICONS, TEXTS, st.sampled_from([TERMS, SHIFTED]))
def test_features_are_those_of_the_same_values_in_the_corpus(
    words: list[str], texts: list[str], templates: tuple[str, ...]
) -> None:
    """Written into columns of the corpus by hand, the values give features at the same tokens."""
    words = [*words, "甲乙"]
    rows = [by_hand(words, text) for text in texts]
    columns = {name: [[str(v or "") for v in row[i]] for row in rows] for i, name in enumerate(LEXICON_COLUMNS)}
    asked = {name: columns[name] for name in LEXICON_COLUMNS if any(name in text for text in templates)}
    by_column = tuple(text.replace("lexicon_", "user:lexicon_") for text in templates)
    ours = TemplateEncoder(Templates(templates), lexicon=LexiconColumns(words))
    theirs = TemplateEncoder(Templates(by_column))
    assert patterns(ours, sentences(texts)) == patterns(theirs, sentences(texts, **asked))


def patterns(encoder: TemplateEncoder, corpus: list[Sentence]) -> list[list[tuple[str, int]]]:
    """Per token its templates and the numbers of their features, numbered in the order of their first occurrence."""
    encoded = encoder.encode(corpus)
    new: dict[tuple[int, int], int] = {}
    tokens = []
    for s, sentence in enumerate(corpus):
        for t in range(len(sentence)):
            seen = [(str(each).replace("user:", ""), f) for each, f in token_features(encoder, encoded, s, t)]
            tokens.append([(text, -1 if f.number < 0 else new.setdefault(f, len(new))) for text, f in sorted(seen)])
    return tokens


def test_an_absent_value_is_no_feature() -> None:
    encoder = TemplateEncoder(Templates(("lexicon_begins[0]",)), lexicon=LexiconColumns(["甲乙", "甲乙甲"]))
    encoded = encoder.encode(sentences(["甲乙乙甲", "甲乙甲"]))
    assert encoded.grams[:, 0].tolist() == [0, -1, -1, -1, 1, -1, -1]
    assert len(encoder.index) == 2


@pytest.mark.parametrize("form", ["甲乙", ""])
def test_tokens_longer_than_a_character_are_an_error_with_a_location(form: str) -> None:
    encoder = TemplateEncoder(Templates(("lexicon_ends[0]",)), lexicon=LexiconColumns(["甲乙"]))
    corpus = [Sentence(("甲",)), Sentence(("乙", form), location=Location("a.txt", 7))]
    with pytest.raises(CorpusError, match=rf"a\.txt:7: found the token '{form}', expected characters, in which"):
        encoder.encode(corpus)
