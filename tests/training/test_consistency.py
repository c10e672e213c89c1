"""Evidence that no label sequence satisfies, against enumeration; and where the message says that it stands."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Location, Sentence
from tagweave.errors import CorpusError
from tagweave.labels.mapping import TagMapping
from tagweave.labels.sets import LabelSets
from tagweave.labels.space import LabelSpace
from tagweave.labels.transition_scheme import TransitionScheme
from tagweave.training.cascades.coupled import refuse_contradictions
from tagweave.training.fit.consistency import check_consistent
from tagweave.training.fit.fit import prepare
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import Task

LETTERS = {"BMES": "BMES", "BI": "BI", "boundary": "|-", "BIOES": "BIOES"}


def is_possible(sets: list[str], scheme: TransitionScheme, labels: str) -> bool:
    for path in product(*sets):
        at = [labels.index(letter) for letter in path]
        if not at or (
            scheme.start[at[0]] and scheme.end[at[-1]] and all(scheme.transition[a, b] for a, b in pairwise(at))
        ):
            return True
    return False


@settings(max_examples=100)
@given(st.data(), st.sampled_from(sorted(LETTERS)))
def test_what_is_refused_is_what_enumeration_refuses(data: Any, name: str) -> None:
    labels = LETTERS[name]
    scheme, space = TransitionScheme.of(name, labels), LabelSpace.plain("g", labels)
    one_set = st.lists(st.sampled_from(labels), min_size=1, unique=True).map("".join)
    texts = data.draw(st.lists(st.lists(one_set, max_size=4), min_size=1, max_size=4))
    sentences = [Sentence(tuple("x" * len(text)), location=Location("file", n)) for n, text in enumerate(texts, 1)]
    sets = LabelSets(space)
    allow = [sets.of_labels([labels.index(letter) for letter in letters]) for text in texts for letters in text]
    numbers, certain = np.array(allow, np.int32), np.zeros(0)
    wrong = [n for n, text in enumerate(texts, 1) if not is_possible(text, scheme, labels)]
    if not wrong:
        check_consistent(sentences, numbers, certain, sets.masks, scheme)
        return
    with pytest.raises(CorpusError, match=f"file:{wrong[0]}: found labels that exclude one another"):
        check_consistent(sentences, numbers, certain, sets.masks, scheme)
    noisy = np.full(len(allow), 0.1)
    check_consistent(sentences, numbers, noisy, sets.masks, scheme)  # nothing is certain, so nothing is impossible


def corpus_of(*layers: str) -> Corpus:
    """Characters with sets such as `B|S`."""
    sentences = []
    for n, text in enumerate(layers):
        layer = tuple(None if each == "?" else tuple(each.split("|")) for each in text.split())
        sentences.append(Sentence(tuple("字" * len(layer)), {"g": layer}, location=Location("some.kytea", 10 + n)))
    return Corpus(tuple(sentences), "g", "character", path="some.kytea")


@pytest.mark.parametrize("bad", ["B B", "B|M S|B", "M E", "B ? B|S M|E B", "B|M", "S E", "B M M"])
@pytest.mark.parametrize("coding", ["BMES", "BI", "boundary"])
def test_a_fit_names_the_file_and_the_line(bad: str, coding: str) -> None:
    good = corpus_of("B E S", "B|S ? M|E E|S", "? ?")
    prepare([good], Recipe(Task("segment", coding)))
    both = replace(good, sentences=good.sentences[:2] + corpus_of("?", "?", bad).sentences[2:])
    try:
        prepare([both], Recipe(Task("segment", coding)))
    except CorpusError as error:
        assert str(error).startswith("some.kytea:12: found labels that exclude one another")
    else:
        assert coding != "BMES"  # a coarser coding may have lost what contradicts


def test_tags_that_change_within_a_word() -> None:
    layers = {"segmentation": (("B",), ("E",)), "tag": (("N",), ("V",))}
    good = Sentence(("字", "字"), {**layers, "tag": (("N",), ("N", "V"))}, location=Location("x", 1))
    bad = Sentence(("字", "字"), layers, location=Location("x", 2))
    recipe = Recipe(Task("segtag"))
    prepare([Corpus((good,), "g", "character")], recipe)
    with pytest.raises(CorpusError, match="x:2: found labels that exclude one another"):
        prepare([Corpus((good, bad), "g", "character")], recipe)


FIRST = Corpus((Sentence(("x", "y"), {"a": (("N",), ("V",)), "b": (("n",), None)}, location=Location("f", 1)),), "a")
SECOND = Corpus((Sentence(("x", "y"), {"b": (("n",), ("v",)), "a": (None, ("N",))}, location=Location("f", 9)),), "b")
APART = TagMapping("a", "b", {("N", "n"): 1, ("V", "v"): 1})


def test_layers_that_a_mapping_keeps_apart_are_refused() -> None:
    refuse_contradictions([FIRST, SECOND], Recipe())
    with pytest.raises(CorpusError, match=r"f:9: found layers that exclude one another at token 2, 'y' \(a N, b v\)"):
        refuse_contradictions([FIRST, SECOND], Recipe(), (APART,))
    with pytest.raises(CorpusError, match="no label in layer 'b'"):
        refuse_contradictions([FIRST, Corpus((Sentence(("x",)),), "b")], Recipe())


def test_words_that_overlap_are_refused_in_every_guideline() -> None:
    good = Sentence(("x", "y"), {"segmentation": (("B",), ("E",))}, location=Location("f", 1))
    bad = Sentence(("x", "y"), {"segmentation": (("B",), ("B",))}, location=Location("g", 7))
    corpora = [Corpus((good,), "a", "character"), Corpus((good, bad), "b", "character")]
    with pytest.raises(CorpusError, match="g:7: found labels that exclude one another"):
        refuse_contradictions(corpora, Recipe(Task("segment")))
