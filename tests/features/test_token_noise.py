"""The noise of tokens, by token and by position of trees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tagweave.corpus.sentence import Sentence
from tagweave.evidence.layers import token_noise
from tagweave.evidence.trees import ArcEvidence

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
    evidence = ArcEvidence.of_layer(SENTENCES, "head").with_noise(SENTENCES, "head")
    np.testing.assert_array_equal(evidence.noise, [0, 0, 0.75, 0, 0, 0, 0, 1])


def test_certain_tokens_need_no_noise() -> None:
    sure = [replace(sentence, confidence=(1.0,) * len(sentence)) for sentence in SENTENCES]
    evidence = ArcEvidence.of_layer(sure, "head")
    assert evidence.with_noise(sure, "head") is evidence
