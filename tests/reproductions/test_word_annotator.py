"""The simulated annotator: answers, and the evidence that is left of them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reproductions.tsuboi_2008.annotator import Annotator
from tagweave.annotate.selection import Occurrences, occurrences
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Location, Sentence
from tagweave.errors import CorpusError
from tagweave.training.task import Task

WORD = st.text("甲乙丙", min_size=1, max_size=4)
GOLD = st.lists(st.lists(WORD, max_size=5), max_size=5)


def corpus(texts: list[list[str]]) -> Corpus:
    return Corpus(tuple(Sentence(tuple(words)) for words in texts))


def spans(texts: list[list[str]]) -> list[tuple[int, int]]:
    """The words, as spans over all characters."""
    ends = np.cumsum([0, *(len(word) for words in texts for word in words)]).tolist()
    return list(pairwise(ends))


def every_span(annotator: Annotator) -> Occurrences:
    bounds = list(zip(annotator.begins.tolist(), annotator.begins[1:].tolist(), strict=False))
    found = [
        (s, a, b) for s, (low, high) in enumerate(bounds) for a in range(low, high) for b in range(a + 1, high + 1)
    ]
    sentence, start, stop = (np.array([span[side] for span in found], np.int64) for side in range(3))
    return Occurrences(sentence, start, stop, np.zeros(len(found), np.int32))


def marks(sentence: Sentence) -> list[str]:
    return ["".join(candidates or ("?",)) for candidates in sentence.layers["segmentation"]]


@given(GOLD)
def test_a_span_is_a_word_or_not(texts: list[list[str]]) -> None:
    annotator = Annotator.of(corpus(texts))
    found = every_span(annotator)
    expected = set(spans(texts))
    asked = zip(found.start.tolist(), found.stop.tolist(), strict=True)
    assert annotator.answers(found).tolist() == [span in expected for span in asked]


@given(GOLD, st.randoms(use_true_random=False))
def test_words_are_settled_and_nothing_else_is_known(texts: list[list[str]], random: object) -> None:
    annotator = Annotator.of(corpus(texts))
    found = every_span(annotator)
    found = found.only(np.random.default_rng(random.randrange(999)).random(len(found.start)) < 0.3)  # type: ignore[attr-defined]
    answers = annotator.answers(found)
    partial = annotator.annotated(found)
    assert partial.unit == "character" and len(partial) == len(set(found.sentence[answers].tolist()))
    gold = dict(enumerate(Task("segment").prepare(corpus(texts))))
    asked = sorted(set(found.sentence[answers].tolist()))
    for s, sentence in zip(asked, partial, strict=True):
        own = answers & (found.sentence == s)
        begin = annotator.begins[s]
        settled = {t - begin for a, b in zip(found.start[own], found.stop[own], strict=True) for t in range(a, b)}
        for t, candidates in enumerate(sentence.layers["segmentation"]):
            label = gold[s].layers["tag"][t]
            assert label is not None
            assert candidates is None or label[0] in candidates
            assert t not in settled or candidates == label
            beside = t - 1 in settled or t + 1 in settled or t in (0, len(sentence) - 1)
            assert candidates is None or t in settled or beside


def test_the_figure_of_the_paper() -> None:
    """Of three occurrences of a word, the one inside a longer word is not marked (Figure 2)."""
    annotator = Annotator.of(corpus([["に", "こすり傷", "、"], ["や", "すり傷", "を", "負"], ["すり傷"]]))
    found = occurrences(annotator.sentences, ["すり傷"])
    assert annotator.answers(found).tolist() == [False, True, True]
    first, second = annotator.annotated(found, "jp")
    assert marks(first) == ["S", "B", "M", "E", "BS", "ES"]
    assert marks(second) == ["B", "M", "E"]
    assert annotator.annotated(found, "jp").guideline == "jp"


def test_gold_text_that_is_not_gold() -> None:
    layers = {"segmentation": (("B", "S"), None)}
    partial = Corpus((Sentence(("甲", "乙"), layers, location=Location("gold.kytea", 3)),), "segmentation", "character")
    with pytest.raises(CorpusError, match=r"gold\.kytea:3: .*one of B, M, E, S"):
        Annotator.of(partial)
