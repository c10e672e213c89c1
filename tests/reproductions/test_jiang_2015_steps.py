"""The steps of the reproduction of jiang-2015: segmentations as lines, sentences of a newspaper, recall by tag."""

from __future__ import annotations

from itertools import accumulate, pairwise
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reproductions.jiang_2015 import word_lines as lines
from reproductions.jiang_2015.recall import by_kind
from reproductions.jiang_2015.words import Words
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.training.recipe import Recipe
from tagweave.training.task import Task

SEGMENTER = Words(Recipe(Task("segment")))
WORDS = st.lists(st.text("天地人。", min_size=1, max_size=5), min_size=1, max_size=6).map(tuple)
CORPORA = st.lists(WORDS, min_size=1, max_size=5).map(lambda all_: Corpus(tuple(map(Sentence, all_)), "pd"))


# lines


@given(CORPORA)
def test_lines_are_words_and_labels_without_text(corpus: Corpus) -> None:
    found = lines.of_words(corpus)
    assert all(set(line) <= set("0123456789 ") for line in found)
    labels = [tuple(each[0] for each in sentence.layers["pd"] if each) for sentence in Task("segment").prepare(corpus)]
    assert lines.labels(found) == labels
    assert lines.of_labels(labels) == found
    assert lines.cut(corpus, found, "pd").sentences == corpus.sentences


# recall


def cut_at_random(text: str, random: Random) -> tuple[str, ...]:
    ends = [0, *(at for at in range(1, len(text)) if random.random() < 0.5), len(text)]
    return tuple(text[a:b] for a, b in pairwise(ends))


@given(CORPORA, st.randoms(use_true_random=False))
def test_words_are_right_where_both_ends_are(corpus: Corpus, random: Random) -> None:
    found = [cut_at_random("".join(sentence.forms), random) for sentence in corpus]
    expected = []
    for sentence, words in zip(corpus, found, strict=True):
        gold, spans = ([*pairwise(accumulate(map(len, each), initial=0))] for each in (sentence.forms, words))
        expected += [span in spans for span in gold]
    output = [" ".join(str(len(word)) for word in words) for words in found]
    np.testing.assert_array_equal(lines.right(corpus, output), expected)


def test_recall_by_tag() -> None:
    layer = (("NN",), ("VV",), ("NN",), None, ("PU",))
    gold = Corpus((Sentence(("甲乙", "丙", "丁", "戊", "。"), {"ctb": layer}),), "ctb")
    seeds = ["2 1 1 1 1"], ["1 1 1 1 1 1"]
    assert by_kind(SEGMENTER, gold, seeds, [["2 2 1 1"]] * 2) == [
        {"tag": "NN", "share": 40.0, "first": 75.0, "second": 50.0},
        {"tag": "VV", "share": 20.0, "first": 100.0, "second": 0.0},
    ]  # PU does not change
