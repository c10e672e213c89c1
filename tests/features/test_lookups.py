"""What templates look up: columns of lexicons and gazetteers against all substrings and spans, and word clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pairing import token_features
from tagweave.corpus.gazetteer import parse
from tagweave.corpus.sentence import Location, Sentence
from tagweave.errors import CorpusError
from tagweave.features.columns import FormColumns
from tagweave.features.encoder import TemplateEncoder
from tagweave.features.lookups import LEXICON_COLUMNS, GazetteerColumns, LexiconColumns, Lookups
from tagweave.features.rules import text_array
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


def lengths_by_hand(words: list[str], text: str) -> list[list[int]]:
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
    each = [lengths_by_hand(words, text) for text in texts]
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


def test_no_sentence_and_no_character() -> None:
    for ptr in ([0], [0, 0], [0, 0, 0]):
        assert LexiconColumns(["甲乙"]).lengths(np.zeros(0, np.uint32), np.array(ptr)).shape == (3, 0)


@given(LEXICONS, TEXTS, st.sampled_from([TERMS, SHIFTED]))
def test_features_are_those_of_the_same_values_in_the_corpus(
    words: list[str], texts: list[str], templates: tuple[str, ...]
) -> None:
    """Written into columns of the corpus by hand, the values give features at the same tokens."""
    words = [*words, "甲乙"]
    rows = [lengths_by_hand(words, text) for text in texts]
    columns = {name: [[str(v or "") for v in row[i]] for row in rows] for i, name in enumerate(LEXICON_COLUMNS)}
    asked = {name: columns[name] for name in LEXICON_COLUMNS if any(name in text for text in templates)}
    by_column = tuple(text.replace("lexicon_", "user:lexicon_") for text in templates)
    ours = TemplateEncoder(Templates(templates), lookups=Lookups(words=tuple(words)))
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
    encoder = TemplateEncoder(Templates(("lexicon_begins[0]",)), lookups=Lookups(words=("甲乙", "甲乙甲")))
    encoded = encoder.encode(sentences(["甲乙乙甲", "甲乙甲"]))
    assert encoded.grams[:, 0].tolist() == [0, -1, -1, -1, 1, -1, -1]
    assert len(encoder.index) == 2


@pytest.mark.parametrize("form", ["甲乙", ""])
def test_tokens_longer_than_a_character_are_an_error_with_a_location(form: str) -> None:
    encoder = TemplateEncoder(Templates(("lexicon_ends[0]",)), lookups=Lookups(words=("甲乙",)))
    corpus = [Sentence(("甲",)), Sentence(("乙", form), location=Location("a.txt", 7))]
    with pytest.raises(CorpusError, match=rf"a\.txt:7: found the token '{form}', expected characters, in which"):
        encoder.encode(corpus)


TOKENS = st.sampled_from(["a", "A", "b1", "B2", "c"])
PHRASES = st.lists(TOKENS, min_size=1, max_size=3).map(" ".join)
ENTRIES = st.lists(st.tuples(PHRASES, st.sampled_from(["X\t", "Y\t", "X|Z\t", ""])), min_size=1, max_size=8)
PLACED = st.lists(st.lists(TOKENS, max_size=6), max_size=4)


def fold(text: str, column: str) -> str:
    return text if column == "gazetteer" else text.lower().replace("1", "0").replace("2", "0")


def places_by_hand(entries: list[tuple[str, str]], forms: list[str], column: str) -> list[str]:
    """The value at each token, by trying every span."""
    types: dict[str, set[str]] = {}
    for phrase, field in entries:
        types.setdefault(fold(phrase, column), set()).update(field.strip().split("|") if field else ())
    values, lengths = [""] * len(forms), [0] * len(forms)
    for i in range(len(forms)):
        for j in range(i + 1, len(forms) + 1):
            names = types.get(fold(" ".join(forms[i:j]), column))
            for t in range(i, j) if names is not None else ():
                if j - i > lengths[t]:
                    place = "S" if j - i == 1 else "B" if t == i else "E" if t == j - 1 else "I"
                    values[t], lengths[t] = f"{place}-{'|'.join(sorted(names or ())) or '*'}", j - i
    return values


@given(ENTRIES, PLACED, st.sampled_from(["gazetteer", "gazetteer_folded"]))
def test_the_longest_phrases_agree_with_those_found_by_hand(
    entries: list[tuple[str, str]], sentences: list[list[str]], column: str
) -> None:
    columns = GazetteerColumns(parse(field + phrase for phrase, field in entries))
    numbers = columns.numbers([Sentence(tuple(forms)) for forms in sentences], column)
    expected = [value for forms in sentences for value in places_by_hand(entries, forms, column)]
    assert columns.codes(column)[numbers].tolist() == FormColumns(expected).form().tolist()


def test_values_are_features() -> None:
    templates = Templates(("gazetteer[0]", "gazetteer_folded[-1]"))
    encoder = TemplateEncoder(templates, lookups=Lookups(gazetteer=parse(["X\theart failure", "Y\tfailure"])))
    encoded = encoder.encode([Sentence(("Heart", "failure", "of", "heart", "failure"))])
    # `Heart failure` is folded; feature 0 is the place before the sentence
    assert encoded.grams.tolist() == [[-1, 0], [-1, 1], [2, 3], [-1, -1], [4, 1], [5, -1]]


CLUSTERS = {"dog": "0110", "cat": "0111", "the": "1"}


def test_a_prefix_is_what_similar_words_share() -> None:
    columns = FormColumns(["dog", "cat", "the", "Dog", ""], Lookups(clusters=CLUSTERS).bits)
    expected = {
        "cluster": ["0110", "0111", "1", "", ""],
        "cluster_3": ["011", "011", "1", "", ""],
        "cluster_32": ["0110", "0111", "1", "", ""],
    }
    for name, bits in expected.items():
        assert columns.scalar(name).tolist() == FormColumns(bits).form().tolist()


def test_features_of_a_word_without_a_cluster_are_absent() -> None:
    encoder = TemplateEncoder(Templates(("cluster[0]", "cluster_2[-1] form[0]")), lookups=Lookups(clusters=CLUSTERS))
    encoded = encoder.encode([Sentence(("cat", "dog", "Dog", "bird"))])
    assert np.diff(encoded.type_ptr).tolist() == [1, 1, 0, 0]
    assert (encoded.grams >= 0).sum() == 3  # at the beginning, after cat and after dog


def test_a_model_keeps_what_it_looks_up() -> None:
    gazetteer = parse(["X\tb c", "a", "Y|X\td"])
    stored = Lookups.of_arrays(Lookups(words=("乙甲", "甲", "甲乙"), gazetteer=gazetteer, clusters=CLUSTERS).arrays())
    assert (stored.words, stored.clusters) == (("乙甲", "甲乙"), CLUSTERS)
    assert sorted(stored.gazetteer.lines()) == sorted(gazetteer.lines())
    assert Lookups(words=("甲",)).arrays() == {}
    assert Lookups.of_arrays({}) == Lookups()


@pytest.mark.parametrize("lines", ["01\ta", [3], ["01"], ["01\t"], ["012\ta"], ["\ta"], ["\ud800"], ["01\ta\t\tb"]])
def test_broken_clusters_are_refused(lines: Any) -> None:
    with pytest.raises(ValueError, match="found"):
        Lookups.of_arrays({"clusters.words": text_array(lines)})
