"""Statistics of a corpus, and words in their context."""

from __future__ import annotations

import hashlib

import pytest

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.describe import Context, describe
from tagweave.corpus.files import digest
from tagweave.corpus.sentence import Arc, Location, Sentence


def test_numbers():
    corpus = Corpus(
        (
            Sentence(("a", "b", "a"), {"tag": (("X",), ("Y", "X"), None), "pd": (("n",), ("n",), ("v",))}),
            Sentence(("c",), {"tag": (("Y",),)}),
        )
    )
    numbers = describe(corpus)
    assert (numbers.sentences, numbers.tokens, numbers.forms) == (2, 4, 3)
    tag = numbers.layers["tag"]
    assert (tag.full, tag.ambiguous, tag.unknown, tag.positions) == (2, 1, 1, 4)
    assert tag.labels == {"X": 1, "Y": 1} and tag.candidates == {"X": 1, "Y": 1}
    assert tag.share(tag.full) == 0.5
    pd = numbers.layers["pd"]
    assert list(pd.labels.items()) == [("n", 2), ("v", 1)]
    assert (pd.full, pd.ambiguous, pd.unknown) == (3, 0, 1)


def test_heads():
    arcs = ((Arc(2, "x"),), (Arc(0, None),), (Arc(1, "x"), Arc(2, "x")), None)
    numbers = describe(Corpus((Sentence(tuple("abcd"), heads={"head": arcs}),)))
    head = numbers.heads["head"]
    assert (head.full, head.ambiguous, head.unknown) == (2, 1, 1)
    assert head.labels == {"_": 1, "x": 1} and head.candidates == {"x": 1}


def test_a_corpus_of_nothing():
    assert describe(Corpus(())).layers == {}
    tag = describe(Corpus((Sentence((), {"tag": ()}),))).layers["tag"]
    assert tag.positions == 0 and tag.share(tag.full) == 0.0


def test_digest(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"abc" * 1000)
    assert digest(str(path)) == hashlib.sha256(b"abc" * 1000).hexdigest()
    with pytest.raises(FileNotFoundError):
        digest(str(tmp_path / "none"))


SENTENCE = Sentence(tuple("abcdefg"), location=Location("file", 3))


@pytest.mark.parametrize(
    ("at", "width", "shown"),
    [
        (0, 2, "[a] b c …"),
        (1, 2, "a [b] c d …"),
        (3, 2, "… b c [d] e f …"),
        (3, 3, "a b c [d] e f g"),
        (6, 2, "… e f [g]"),
        (3, 0, "… [d] …"),
        (3, 99, "a b c [d] e f g"),
    ],
)
def test_the_neighbours_and_a_mark_for_what_is_left_out(at: int, width: int, shown: str) -> None:
    assert str(Context.of(SENTENCE, at, width)) == shown


def test_the_place_and_the_number_of_the_token() -> None:
    context = Context.of(SENTENCE, 4)
    assert (context.word, context.position, context.source) == ("e", 5, "file:3")
    assert Context.of(Sentence(("a",)), 0).source == ""
    assert Context.of(Sentence(("a",), location=Location("file")), 0).source == "file"
