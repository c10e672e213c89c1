"""Words and trees as lines in the reproduction of jiang-2015; their scores, halves of treebanks, recall by tag."""

from __future__ import annotations

from itertools import accumulate, pairwise
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reproductions.jiang_2015 import invented, tree_lines
from reproductions.jiang_2015 import word_lines as lines
from reproductions.jiang_2015.recall import by_kind
from reproductions.jiang_2015.settings import PARTS
from reproductions.jiang_2015.treebanks import halves
from reproductions.jiang_2015.words import Words
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Arc, Sentence
from tagweave.evaluation.attachment import attachment
from tagweave.training.recipe import Recipe
from tagweave.training.task import Task

SEGMENTER = Words(Recipe(Task("segment")))
WORDS = st.lists(st.text("天地人。", min_size=1, max_size=5), min_size=1, max_size=6).map(tuple)
CORPORA = st.lists(WORDS, min_size=1, max_size=5).map(lambda all_: Corpus(tuple(map(Sentence, all_)), "pd"))


# lines of words


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


RELATIONS = st.sampled_from([None, "det", "nmod:poss", "comp:obj@x", "0"])
TREES = st.lists(st.tuples(st.integers(0, 12), RELATIONS).map(lambda arc: Arc(*arc)), min_size=1, max_size=8).map(tuple)


def corpus_of(trees: list[tuple[Arc, ...]]) -> Corpus:
    sentences = (Sentence(("w",) * len(tree), heads={"a": tuple((arc,) for arc in tree)}) for tree in trees)
    return Corpus(tuple(sentences), "a")


# lines of trees


@given(st.lists(TREES, max_size=4))
def test_lines_are_trees_without_text(trees: list[tuple[Arc, ...]]) -> None:
    found = tree_lines.of_trees(trees)
    assert tree_lines.trees(found) == trees
    assert tree_lines.of_corpus(corpus_of(trees)) == found
    assert not any("w" in line for line in found)
    again = tree_lines.with_trees(corpus_of(trees), found, "b")
    assert again.guideline == "b"
    assert [list(sentence.heads) for sentence in again] == [["b"]] * len(trees)
    assert tree_lines.of_corpus(again) == found


@given(st.lists(st.tuples(TREES, st.randoms(use_true_random=False)), min_size=1, max_size=4))
def test_scores_are_those_of_the_evaluation(drawn: list) -> None:  # type: ignore[type-arg]
    gold = corpus_of([tree for tree, _ in drawn])
    lines = tree_lines.of_trees(tuple(Arc(r.randint(0, 3), "det") for _ in tree) for tree, r in drawn)
    system = tree_lines.with_trees(gold, lines, "b")
    expected = attachment(gold, system)
    np.testing.assert_array_equal(tree_lines.counts(gold, lines), expected.head_counts[:, :2])
    arcs = sum(
        a == b for s, t in zip(gold, system, strict=True) for a, b in zip(s.heads["a"], t.heads["b"], strict=True)
    )
    assert tree_lines.counts(gold, lines, relations=True).sum(axis=0).tolist() == [arcs, gold.tokens()]


# corpora


def test_each_guideline_sees_its_own_half_of_the_trees() -> None:
    dev, test = invented.treebank(47), invented.treebank(9, 1)
    pair = halves("name", dev, test, 10, "adagrad", PARTS["parsing-french"](None)[0].draw(0).schedule)
    train = [sentence.forms for sentence in (*pair.source.train, *pair.target.train)]
    assert train == [sentence.forms for sentence in dev.first.sentences[:37]]
    assert abs(len(pair.source.train) - len(pair.target.train)) == 1
    assert [s.forms for s in pair.source.dev] == [s.forms for s in pair.target.dev]
    assert (len(pair.target.dev), pair.given["dev"]) == (10, pair.source.dev)
    assert (pair.target.test, pair.source.test, pair.given["test"]) == (test.second, test.first, test.first)
    for corpus in pair.source:
        assert all(list(sentence.heads) == ["content"] for sentence in corpus)
    assert all(list(sentence.heads) == ["function"] for sentence in pair.target.train)
