"""Lexicons as they are read: each form of an entry, and every line that is none."""

from __future__ import annotations

import gzip

import pytest

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError
from tagweave.harvest.lexicon import Lexicon, parse, read, uncontradicted


def entries(*lines: str) -> dict[str, tuple[str, ...] | None]:
    lexicon = parse(lines)
    return dict(zip(lexicon.words, lexicon.tags, strict=True))


@pytest.mark.parametrize(
    ("line", "word", "tags"),
    [
        ("图书馆", "图书馆", None),
        ("  图书馆　", "图书馆", None),
        ("开会\tNN|VV", "开会", ("NN", "VV")),
        ("开会 \t NN", "开会", ("NN",)),
        ("开会\tNN|NN|VV", "开会", ("NN", "VV")),
        ("开会 300 v", "开会", ("v",)),
        ("开会  300", "开会", None),
        ("开会　300　v", "开会", ("v",)),
        ("300", "300", None),
        ("|\t|", "|", "an empty tag"),
        ("a\tb|", "", "an empty tag in 'b|'"),
        ("\tNN", "", "a word without blanks"),
        ("开会\t", "", "an empty tag"),
        ("a b", "", "'a b', expected word, word TAB TAG"),
        ("a v 3", "", "expected word, word TAB TAG"),
        ("a 3 v w", "", "4 fields, expected word"),
        ("a\tN\tV", "", "3 fields, expected word"),
        ("New York\tNR", "", "expected a word without blanks in it"),
        ("a\tN V", "", "expected a word without blanks in it"),
    ],
)
def test_forms_of_entries(line, word, tags):
    if isinstance(tags, str):
        with pytest.raises(CorpusError, match=r"^lexicon:2: found") as error:
            parse(["", line], "lexicon")
        assert tags in str(error.value)
    else:
        assert entries(line) == {word: tags}


def test_entries_of_one_word_are_united_in_the_order_of_the_file():
    found = entries("b\tN", "a", "", " \t　", "b", "b\tV|N", "a\tX", "c 5 n")
    assert found == {"b": ("N", "V"), "a": ("X",), "c": ("n",)}
    assert list(found) == ["b", "a", "c"]


def test_files(tmp_path):
    plain, packed = tmp_path / "plain.txt", tmp_path / "packed.txt"
    plain.write_bytes("\ufeff图书馆\r\n\r\n开会\tn\r\n".encode())
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    for file in (plain, packed):
        lexicon = read(str(file))
        assert (lexicon.words, lexicon.tags) == (("图书馆", "开会"), (None, ("n",)))
        assert lexicon.path == str(file)


@pytest.mark.parametrize(
    ("content", "found"),
    [(b"a\nb\0c\n", "2: found a NUL"), (b"a\n\xff\n", "2: found the byte 0xff"), (b"\n \n", "found no entry")],
)
def test_files_that_are_no_lexicons(tmp_path, content, found):
    file = tmp_path / "bad.txt"
    file.write_bytes(content)
    with pytest.raises(CorpusError) as error:
        read(str(file))
    assert str(error.value).startswith(f"{file}:") and found in str(error.value)


def test_entries_that_a_corpus_contradicts():
    """AB is a word twice, and once a part of ABC; BC is a word once, and once a part of it; a text may end with it."""
    lexicon = Lexicon(("AB", "ABC", "BC", "XY"), (("N",), None, None, ("V",)), "f")
    corpus = Corpus((Sentence(("AB", "D", "AB")), Sentence(("ABC", "BC"))), "pd")
    assert uncontradicted(lexicon, corpus) == Lexicon(("ABC", "XY"), (None, ("V",)), "f")
    assert uncontradicted(lexicon, corpus, 0.6) == Lexicon(("AB", "ABC", "XY"), (("N",), None, ("V",)), "f")
    assert uncontradicted(lexicon, corpus, 0) == lexicon
    with pytest.raises(CorpusError, match="a corpus of characters"):
        uncontradicted(lexicon, Corpus((), "segmentation", "character"))
