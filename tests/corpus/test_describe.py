from __future__ import annotations

import hashlib

import pytest

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.describe import describe, digest
from tagweave.corpus.sentence import Arc, Sentence


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


def test_empty_corpus():
    numbers = describe(Corpus(()))
    assert numbers.tokens == 0 and numbers.layers == {}


def test_a_layer_of_empty_sentences_has_share_zero():
    tag = describe(Corpus((Sentence((), {"tag": ()}),))).layers["tag"]
    assert tag.positions == 0 and tag.share(tag.full) == 0.0


def test_digest(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"abc" * 1000)
    assert digest(str(path)) == hashlib.sha256(b"abc" * 1000).hexdigest()
    with pytest.raises(FileNotFoundError):
        digest(str(tmp_path / "none"))
