"""The noise of tokens, by token and by position of trees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tagweave.corpus.sentence import Sentence
from tagweave.features.arc_noise import with_noise
from tagweave.features.arc_templates import ArcTemplates
from tagweave.features.arcs import encode_arcs
from tagweave.features.noise import token_noise

SENTENCES = [
    Sentence(("a", "b"), confidence=(1.0, 0.25)),
    Sentence(()),
    Sentence(("c",)),
    Sentence(("d",), confidence=(0.0,)),
]


def test_a_sentence_without_confidence_is_certain() -> None:
    np.testing.assert_array_equal(token_noise(SENTENCES), [0, 0.75, 0, 1])


def test_no_confidence_gives_no_noise() -> None:
    assert token_noise([Sentence(("a", "b")), Sentence(())]).shape == (0,)
    assert token_noise([]).shape == (0,)


def test_roots_have_no_noise() -> None:
    encoded = encode_arcs(SENTENCES, ArcTemplates(()), "head")
    np.testing.assert_array_equal(with_noise(encoded, SENTENCES, "head").noise, [0, 0, 0.75, 0, 0, 0, 0, 1])


def test_certain_tokens_need_no_noise() -> None:
    sure = [replace(sentence, confidence=(1.0,) * len(sentence)) for sentence in SENTENCES]
    encoded = encode_arcs(sure, ArcTemplates(()), "head")
    assert with_noise(encoded, sure, "head") is encoded
