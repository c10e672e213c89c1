"""Models and their marginals in a notebook."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError, StreamError
from tagweave.front.training import train
from tagweave.learning.run import Silence

WORDS = ("a", "b", "c")
A = Corpus((Sentence(WORDS, {"g": (("N",), ("V",), ("N",))}),) * 3, "g", path="a.txt")
B = Corpus((Sentence(WORDS, {"h": (("n",), ("v",), ("n",))}),) * 3, "h", path="b.txt")


def _trained(*corpora: Any, **named: Any) -> Any:
    return train(*corpora, iterations=2, callback=Silence(), **named)


@pytest.fixture(scope="module")
def coupled() -> Any:
    return _trained(A, [B])


def test_a_coupled_model_shows_its_pairs(coupled: Any) -> None:
    shown = coupled._repr_html_()
    assert "guidelines g, h" in shown
    assert 'title="N and n"' in shown


def test_what_a_file_says_of_a_model_may_be_anything() -> None:
    model = _trained(A)
    for about in ({}, {"plan": [], "dev_score": "<b>", "iterations": "<i>", "date": None}, {"plan": {"method": "<u>"}}):
        shown = replace(model, trained=replace(model.trained, about=about))._repr_html_()
        assert not {"<b>1", "<i>", "<u>"} & {*shown.split()}
        assert "<i>" not in shown
        assert "<u>" not in shown


def test_marginals_are_those_of_the_tokens_alone_or_under_a_layer(coupled: Any) -> None:
    sentence = Sentence(WORDS, {"h": (("v",), None, None), "hint": (None, ("N",), None)})
    alone = coupled.marginals(sentence)
    assert (alone.forms, alone.labels) == (WORDS, ("N", "V"))
    np.testing.assert_allclose(alone.probabilities.sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_array_equal(alone.probabilities, coupled.probabilities(WORDS))
    hinted = coupled.marginals(sentence, given="hint").probabilities
    assert hinted[1].tolist() == [1, 0]
    assert coupled.marginals(sentence, given="h")._repr_html_() != alone._repr_html_()
    assert coupled.marginals(sentence, given="h", to="h").labels == ("n", "v")
    assert coupled.marginals(sentence, given="h", to="h").probabilities[0].tolist() == [0, 1]


def test_marginals_refuse_what_is_not_there(coupled: Any) -> None:
    with pytest.raises(CorpusError, match="a layer 'x'"):
        coupled.marginals(Sentence(WORDS), given="x")
    with pytest.raises(StreamError, match="guideline"):
        coupled.marginals(Sentence(WORDS), to="x")
    with pytest.raises(CorpusError, match="'X'"):
        coupled.marginals(Sentence(WORDS, {"hint": (("X",), None, None)}), given="hint")
