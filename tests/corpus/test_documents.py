"""Documents in a corpus: where they begin, and blocks of whole ones."""

from __future__ import annotations

import pytest

from tagweave.corpus.documents import are_in_documents, documents, in_blocks_of_documents
from tagweave.corpus.sentence import Sentence


def sentence(*comments: str) -> Sentence:
    return Sentence(("a",), comments=comments)


@pytest.mark.parametrize(
    "comments",
    [
        ("-DOCSTART- -X- O O",),
        ("# newdoc id = x", "# sent_id = 1"),
        ("# newdoc",),
        ("# document = x",),
        ("# sent_id = 9", "# doc_id = x"),
    ],
)
def test_where_documents_begin(comments: tuple[str, ...]) -> None:
    sentences = [sentence(), sentence("# sent_id = 2"), sentence(*comments), sentence()]
    assert list(map(len, documents(sentences))) == [2, 2]
    assert are_in_documents(sentences)


def test_a_name_that_every_sentence_has() -> None:
    names = ["a", "a", "b", "b", "b", "a"]
    sentences = [sentence(f"# doc_id = {name}") for name in names]
    assert list(map(len, documents(sentences))) == [2, 3, 1]
    assert not are_in_documents(sentences[:2]) and not are_in_documents([sentence(), sentence()])


def test_long_documents_are_cut_and_blocks_have_whole_ones() -> None:
    sentences = [sentence("-DOCSTART-"), *[sentence()] * 6, sentence("-DOCSTART-"), sentence()]
    assert list(map(len, documents(sentences, 3))) == [3, 3, 1, 2]
    assert list(map(len, documents(sentences[1:], running=2))) == [2, 2, 2, 2]
    assert list(map(len, in_blocks_of_documents(sentences, 2))) == [7, 2]
    assert list(map(len, in_blocks_of_documents(sentences, 8))) == [9]
    assert not list(documents([]))
