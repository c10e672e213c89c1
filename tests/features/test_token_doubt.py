"""How far tokens are doubted, by token and by position of trees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tagweave.corpus.sentence import Sentence
from tagweave.features.arc_doubt import with_doubt
from tagweave.features.arc_templates import ArcTemplates
from tagweave.features.arcs import encode_arcs
from tagweave.features.doubt import token_doubt

SENTENCES = [
    Sentence(("a", "b"), confidence=(1.0, 0.25)),
    Sentence(()),
    Sentence(("c",)),
    Sentence(("d",), confidence=(0.0,)),
]


def test_a_sentence_without_confidence_is_believed() -> None:
    np.testing.assert_array_equal(token_doubt(SENTENCES), [0, 0.75, 0, 1])


def test_where_none_is_told_there_is_nothing() -> None:
    assert token_doubt([Sentence(("a", "b")), Sentence(())]).shape == (0,)
    assert token_doubt([]).shape == (0,)


def test_roots_are_not_doubted() -> None:
    encoded = encode_arcs(SENTENCES, ArcTemplates(()), "head")
    np.testing.assert_array_equal(with_doubt(encoded, SENTENCES).doubt, [0, 0, 0.75, 0, 0, 0, 0, 1])


def test_what_is_believed_needs_no_doubt() -> None:
    sure = [replace(sentence, confidence=(1.0,) * len(sentence)) for sentence in SENTENCES]
    encoded = encode_arcs(sure, ArcTemplates(()), "head")
    assert with_doubt(encoded, sure) is encoded
