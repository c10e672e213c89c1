"""Tasks: from corpora of words or characters to the tokens and labels of a model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load
from tagweave.corpus.sentence import Location, Sentence
from tagweave.errors import CorpusError
from tagweave.labels.coding import CODINGS
from tagweave.training.fit.task import TASKS, Task, guessed_task, segmentation_name

HERE = Location("file", 7)
WORDS = Sentence(
    ("abc", "d", "ef"), {"g": (("N",), None, ("N", "V"))}, location=HERE, weight=3, confidence=(1, 0.5, 0.25)
)


def prepared(task: Task, sentence: Sentence, unit: Any = "word", covered: Any = None, guideline: str = "g") -> Sentence:
    corpus = Corpus((sentence,), guideline, unit, covered, "file", 2.0)
    found = task.prepare(corpus)
    assert (found.guideline, found.path, found.weight) == (guideline, "file", 2.0)
    if task.of_characters:
        assert (found.unit, found.covered) == ("character", None)
    return found[0]


@pytest.mark.parametrize(
    ("coding", "letters"),
    [("BMES", "BMESBE"), ("BI", "BIIBBI"), ("boundary", "--||-|")],
    ids=["BMES", "BI", "boundary"],
)
def test_words_are_cut_into_characters(coding: str, letters: str) -> None:
    found = prepared(Task("segment", coding), WORDS)
    assert found.forms == tuple("abcdef")
    assert found.layers == {"g": tuple((letter,) for letter in letters)}
    assert (found.weight, found.location) == (3, HERE)
    assert found.confidence == (1, 1, 1, 0.5, 0.25, 0.25)


def test_words_with_tags_are_cut_into_characters() -> None:
    found = prepared(Task("segtag"), WORDS)
    last = [("B-N", "B-V"), ("E-N", "E-V")]
    assert found.layers == {"g": (("B-N",), ("M-N",), ("E-N",), ("S-*",), *last)}
    assert prepared(Task("segtag", "boundary"), WORDS).layers["g"][3:4] == (("|-*",),)


def test_a_word_may_have_no_tag_where_only_words_are_asked_for() -> None:
    bare = replace(WORDS, layers={})
    assert prepared(Task("segment"), bare).layers["g"][0] == ("B",)
    with pytest.raises(CorpusError, match=r"file:7: found words without tags, expected a layer 'g'"):
        prepared(Task("segtag"), bare)


def test_characters_are_no_words() -> None:
    with pytest.raises(CorpusError, match="found a corpus of characters, expected words"):
        Task("tag").prepare(Corpus((WORDS,), "g", "character"))


CHARACTERS = Sentence(
    tuple("abcd"),
    {"segmentation": (("B", "S"), None, ("M", "E"), ("E",)), "tag": (None, None, ("N",), ("N", "V"))},
    {"lemma": ("1", "2", "3", "4")},
    comments=("# a comment",),
    confidence=(1, 0.5, 1, 0),
    weight=0.5,
    location=HERE,
)


@pytest.mark.parametrize("name", ["segmentation", "g"])
def test_characters_keep_what_is_known_and_no_more(name: str) -> None:
    layers = {name: CHARACTERS.layers["segmentation"], "tag": CHARACTERS.layers["tag"]}
    sentence = replace(CHARACTERS, layers=layers)
    found = prepared(Task("segment"), sentence, "character")
    assert found.layers == {"g": (("B", "S"), None, ("M", "E"), ("E",))}
    assert (found.columns, found.confidence) == (sentence.columns, sentence.confidence)
    assert (found.weight, found.location) == (0.5, HERE)
    tagged = prepared(Task("segtag"), sentence, "character").layers["g"]
    assert tagged[:2] == (("B-*", "S-*"), None)
    assert tagged[2:] == (("M-N", "E-N"), ("E-N", "E-V"))


@pytest.mark.parametrize(
    ("coding", "expected"),
    [("BI", (("B",), None, ("I",), ("I",))), ("boundary", (None, None, None, ("|",)))],
    ids=["BI", "boundary"],
)
def test_coarser_codings_know_less(coding: str, expected: Any) -> None:
    assert prepared(Task("segment", coding), CHARACTERS, "character").layers["g"] == expected


@pytest.mark.parametrize("task", ["segment", "segtag"])
def test_raw_characters_are_unknown(task: str) -> None:
    bare = replace(CHARACTERS, layers={})
    assert prepared(Task(task), bare, "character").layers["g"] == (None,) * 4


def test_tags_without_a_segmentation() -> None:
    tags = replace(CHARACTERS, layers={"tag": (None, ("N",), None, None)})
    found = prepared(Task("segtag"), tags, "character").layers["g"]
    assert found == (None, ("B-N", "M-N", "E-N", "S-N"), None, None)
    assert prepared(Task("segment"), tags, "character").layers["g"] == (None,) * 4


def test_a_guideline_that_is_named_like_the_tags_of_characters() -> None:
    found = prepared(Task("segtag"), CHARACTERS, "character", guideline="tag").layers
    assert found == {"tag": prepared(Task("segtag"), CHARACTERS, "character").layers["g"]}
    assert segmentation_name(CHARACTERS, "tag") == "segmentation"
    assert segmentation_name(replace(CHARACTERS, layers={"tag": (("S",),) * 4}), "tag") == "tag"


def test_other_letters_are_no_segmentation() -> None:
    strange = replace(CHARACTERS, layers={"g": (("I",), ("N",), ("B",), None)})
    with pytest.raises(CorpusError, match=r"file:7: found the labels I, N in layer 'g', expected a segmentation"):
        prepared(Task("segment"), strange, "character")


def test_outside_is_open_where_only_some_tags_were_looked_for() -> None:
    sentence = Sentence(("ab", "c", "d"), {"g": (("O",), ("N",), ("O", "N"))})
    assert prepared(Task("segtag"), sentence, covered=("N",)).layers["g"] == (("B-*",), ("E-*",), ("S-N",), ("S-*",))
    assert prepared(Task("segtag"), sentence).layers["g"][0] == ("B-O",)
    assert prepared(Task("segment"), sentence, covered=("N",)).layers["g"][0] == ("B",)


# The labels of a model


@pytest.mark.parametrize("coding", CODINGS)
def test_a_coding_has_all_its_letters(coding: str) -> None:
    letters = {"BMES": {"B", "M", "E", "S"}, "BI": {"B", "I"}, "boundary": {"-", "|"}}[coding]
    first = min(letters)
    assert set(Task("segment", coding).labels((first,))) == letters
    tagged = Task("segtag", coding).labels((f"{first}-N", f"{first}-V"))
    assert set(tagged) == {f"{letter}-{tag}" for letter in letters for tag in "NV"}
    assert list(tagged) == sorted(tagged)


@pytest.mark.parametrize(
    ("coding", "names", "more"),
    [("BMES", "M-N S-V E-V", "B-N E-N B-V"), ("BI", "I-N B-V", "B-N"), ("boundary", "--N |-V", "|-N")],
)
def test_a_tag_within_a_word_may_stand_at_its_ends(coding: str, names: str, more: str) -> None:
    assert set(Task("segtag", coding).labels(names.split())) == {*names.split(), *more.split()}


def test_unknown_names() -> None:
    with pytest.raises(ValueError, match=f"unknown task 'x', expected one of {', '.join((*TASKS, 'parse'))}"):
        Task("x")
    with pytest.raises(ValueError, match="unknown coding 'BIO', expected one of BMES, BI, boundary"):
        Task("segment", "BIO")


CHUNKS = "Anna\tB-PER\nBell\tI-PER\nsat\tO\n\n"


@pytest.mark.parametrize(
    ("text", "task"),
    [
        (CHUNKS, "spans"),
        (CHUNKS.replace("\tO", "\t_"), "spans"),
        (CHUNKS.replace("\tO", "\tVB"), "tag"),
        ("a\tDT\nman\tNN\n\n", "tag"),
        ("a\tO\nman\tO\n\n", "tag"),
        ("Anna\tS-PER\nsat\tO\n\n", "spans"),
    ],
)
def test_labels_that_code_chunks_mean_spans(text: str, task: str, tmp_path: Path) -> None:
    path, lines = tmp_path / "a.conll", []
    path.write_text(text, encoding="utf-8")
    assert guessed_task(load(str(path)), lines.append) == task
    assert len(lines) == (task == "spans")
