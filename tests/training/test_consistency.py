"""Evidence that no label sequence satisfies, against enumeration; and where the message says that it stands."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load
from tagweave.corpus.sentence import Location, Sentence
from tagweave.errors import CorpusError
from tagweave.labels.sets import LabelSets
from tagweave.labels.space import LabelSpace
from tagweave.labels.transition_scheme import TransitionScheme
from tagweave.training.consistency import check_consistent
from tagweave.training.fit import prepare
from tagweave.training.recipe import Recipe
from tagweave.training.task import Task

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


def test_a_contradiction_that_every_coding_sees() -> None:
    for coding in ("BMES", "BI", "boundary"):
        bad = "M E" if coding == "BI" else "B M"
        with pytest.raises(CorpusError, match=r"some\.kytea:11"):
            prepare([corpus_of("B E S", bad)], Recipe(Task("segment", coding)))


def test_tags_that_change_within_a_word() -> None:
    layers = {"segmentation": (("B",), ("E",)), "tag": (("N",), ("V",))}
    good = Sentence(("字", "字"), {**layers, "tag": (("N",), ("N", "V"))}, location=Location("x", 1))
    bad = Sentence(("字", "字"), layers, location=Location("x", 2))
    recipe = Recipe(Task("segtag"))
    prepare([Corpus((good,), "g", "character")], recipe)
    with pytest.raises(CorpusError, match="x:2: found labels that exclude one another"):
        prepare([Corpus((good, bad), "g", "character")], recipe)


def test_what_a_format_reads_never_contradicts(tmp_path: Path) -> None:
    (tmp_path / "a.part").write_text("字 字-字|字\n字|字 字\n字\n字-字-字\n", encoding="utf-8")
    for coding in ("BMES", "BI", "boundary"):
        prepare([load(str(tmp_path / "a.part"))], Recipe(Task("segment", coding)))


def test_words_have_no_scheme_to_contradict() -> None:
    sentence = Sentence(("a", "b"), {"g": (("M",), ("B",))})
    assert len(prepare([Corpus((sentence,), "g")], Recipe()).objective) == 1
