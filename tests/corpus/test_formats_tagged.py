"""Text of words with labels and without."""

from __future__ import annotations

import io
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

import texts
from tagweave.corpus.candidates import format_candidates, parse_candidates
from tagweave.corpus.characters import escape, last_unescaped, split_unescaped, unescape
from tagweave.corpus.formats import plain, tagged
from tagweave.corpus.sentence import Sentence

written = partial(texts.written, tagged)


def read_one(line, **options):
    (sentence,) = texts.read(tagged, line, **options)
    return sentence


def test_reads_words_and_tags():
    sentence = read_one("the/DT fleas/NNS bite/VBP")
    assert sentence.forms == ("the", "fleas", "bite")
    assert sentence.layers == {"tag": (("DT",), ("NNS",), ("VBP",))}
    assert sentence.location == ("made-up", 1)


def test_bare_word_is_unknown_and_bars_are_ordered_alternatives():
    sentence = read_one("she targeting/VBG|NN fleas")
    assert sentence.layers["tag"] == (None, ("VBG", "NN"), None)
    assert written(sentence) == "she targeting/VBG|NN fleas\n"


@pytest.mark.parametrize(
    ("token", "form", "candidates"),
    [
        ("3\\/7/CD", "3/7", ("CD",)),
        ("3/7/cd", "3/7", ("cd",)),
        ("3\\/7", "3/7", None),
        ("''/''", "''", ("''",)),
        ("//SYM", "/", ("SYM",)),
        ("he'll/ppss+md", "he'll", ("ppss+md",)),
        ("vin/fw-nn-tl", "vin", ("fw-nn-tl",)),
        ("|/|", "|", ("|",)),
        ("a|b/NN", "a|b", ("NN",)),
        ("x/a||b", "x", ("a||b",)),
        ("x/|b", "x", ("|b",)),
        ("x/a\\|b", "x", ("a|b",)),
        ("x/a\\/b", "x", ("a/b",)),
        ("x/\\||b", "x", ("|", "b")),
        ("\\*\\*/SYM", "\\*\\*", ("SYM",)),
        ("\\\\/SYM", "\\", ("SYM",)),
        ("\\\\\\//SYM", "\\/", ("SYM",)),
        ("　/w", "　", ("w",)),
        ("x_y/NN", "x_y", ("NN",)),
        ("x\\_y/NN", "x\\_y", ("NN",)),
    ],
)
def test_quirks(token, form, candidates):
    sentence = read_one(token)
    assert sentence.forms == (form,)
    assert sentence.layers["tag"] == (candidates,)
    assert read_one(written(sentence)) == sentence


def test_underscore_separator():
    sentence = read_one("x\\_y_NN a/b_VV z", separator="_")
    assert sentence.forms == ("x_y", "a/b", "z")
    assert sentence.layers["tag"] == (("NN",), ("VV",), None)
    assert written(sentence, separator="_") == "x\\_y_NN a/b_VV z\n"


def test_blank_line_is_an_empty_sentence_and_blanks_do_not_count():
    sentences = list(tagged.read(["", "  a/X \t b/Y ", " "]))
    assert [len(sentence) for sentence in sentences] == [0, 2, 0]
    assert written(*sentences) == "\na/X b/Y\n\n"


def test_equal_tokens_share_their_objects():
    first, second = tagged.read(["a/X|Y b/X|Y", "a/X|Y"])
    assert first.layers["tag"][0] is first.layers["tag"][1] is second.layers["tag"][0]
    assert first.forms[0] is second.forms[0]


def test_cache_is_bounded(monkeypatch):
    monkeypatch.setattr(tagged, "_CACHE_SIZE", 3)
    tokens = tagged._Tokens("/")
    for number in range(10):
        assert tokens[f"w{number}/T{number}"] == (f"w{number}", (f"T{number}",))
        assert len(tokens) <= 3 and len(tokens.fields) <= 3


def test_reads_lazily():
    def endless():
        while True:
            yield "a/X"

    sentences = tagged.read(endless())
    assert next(sentences).forms == next(sentences).forms == ("a",)


@given(st.text("ab/|\\"), st.sampled_from(["/", "|", "/|"]))
def test_escapes_are_undone(text, special):
    escaped = escape(text, special)
    assert unescape(escaped, special) == text
    assert all(last_unescaped(escaped, each) == -1 for each in special)


@given(st.lists(st.text("ab|\\", max_size=4), min_size=1))
def test_split_finds_the_pieces(pieces):
    joined = "|".join(escape(piece, "|") for piece in pieces)
    assert [unescape(piece, "|") for piece in split_unescaped(joined, "|")] == pieces


@pytest.mark.parametrize("field", ["|", "||", "a|", "|a", "a||b"])
def test_labels_of_bars_stay_as_they_are(field):
    assert parse_candidates(field) == (field,)
    assert format_candidates((field,)) == field


def plainly(write, *sentences):
    stream = io.StringIO()
    write(sentences, stream)
    return stream.getvalue()


def test_segmented_has_forms_only():
    first, empty, second = plain.read_segmented(["山  上　有\t水", "", "是 的"], "x.txt")
    assert first.forms == ("山", "上", "有", "水")
    assert first.layers == {} and first.columns == {}
    assert empty.forms == ()
    assert second.location == ("x.txt", 3)
    assert plainly(plain.write_segmented, first, empty, second) == "山 上 有 水\n\n是 的\n"


def test_raw_keeps_every_character():
    line = "  a b\u3000山\u2028\u0301"
    (sentence,) = plain.read_raw([line])
    assert sentence.forms == tuple(line)
    assert sentence.layers == {}
    assert plainly(plain.write_raw, sentence) == line + "\n"


@given(st.lists(st.text(st.characters(exclude_characters="\n\r\0", exclude_categories=["Cs"]), max_size=8)))
def test_raw_round_trip(lines):
    assert plainly(plain.write_raw, *plain.read_raw(lines)) == "".join(line + "\n" for line in lines)


@given(st.lists(st.lists(st.text("ab/|\\\u00a0", min_size=1), max_size=4)))
def test_segmented_round_trip(sentences):
    lines = [" ".join(words) for words in sentences]
    assert plainly(plain.write_segmented, *plain.read_segmented(lines)) == "".join(line + "\n" for line in lines)


@pytest.mark.parametrize("write", [plain.write_raw, plain.write_segmented])
def test_unknown_labels_are_no_labels(write):
    assert plainly(write, Sentence(("a", "b"), {"tag": (None, None)})).replace(" ", "") == "ab\n"
