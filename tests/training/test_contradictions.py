"""Evidence that leaves no label is refused before anything is trained."""

from __future__ import annotations

import pytest

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Location, Sentence
from tagweave.errors import CorpusError
from tagweave.labels.mapping import TagMapping
from tagweave.training.coupled import refuse_contradictions
from tagweave.training.recipe import Recipe
from tagweave.training.task import Task

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
