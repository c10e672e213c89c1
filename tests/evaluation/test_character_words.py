"""Words read off characters: against enumeration of all label sequences, and the lenient decoding by its rule."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagweave.corpus.sentence import Location, Sentence
from tagweave.errors import CorpusError
from tagweave.evaluation.words import BITS, BOUNDARY, NONE, Segmentation, segmentations, settle

OPENS, CLOSES = "BS", "ES"
label_sets = st.lists(st.sets(st.sampled_from("BMES"), min_size=1), max_size=6)


def consistent(labels):
    """Whether the labels are those of some segmentation."""
    before = [True, *(label in CLOSES for label in labels)]
    after = [*(label in OPENS for label in labels), True]
    return before == after


def bits(labels):
    return sum(BITS[label] for label in labels)


@given(label_sets)
def test_settled_sets_equal_enumeration(sets):
    fitting = [labels for labels in product(*sets) if consistent(labels)]
    if not fitting:
        return
    gaps, kept = settle([bits(labels) for labels in sets])
    for at in range(len(sets)):
        assert kept[at] == bits({labels[at] for labels in fitting})
        assert gaps[at] == sum({BOUNDARY if labels[at] in OPENS else NONE for labels in fitting})
    assert gaps[-1] == BOUNDARY


@given(st.text("BMES", max_size=8))
def test_single_labels_put_a_boundary_wherever_a_neighbour_does(labels):
    gaps, kept = settle([BITS[label] for label in labels])
    for gap in range(1, len(labels)):
        expected = labels[gap - 1] in CLOSES or labels[gap] in OPENS
        assert gaps[gap] == (BOUNDARY if expected else NONE)
    assert gaps[0] == gaps[-1] == BOUNDARY
    assert kept == [BITS[label] for label in labels]


@given(label_sets)
def test_contradictory_sets_still_give_every_gap_and_character_a_value(sets):
    gaps, kept = settle([bits(labels) for labels in sets])
    assert len(gaps) == len(sets) + 1
    assert all(gap in (NONE, BOUNDARY, NONE | BOUNDARY) for gap in gaps)
    assert all(0 < remaining <= bits(labels) for remaining, labels in zip(kept, sets, strict=True))
    assert all(remaining & ~bits(labels) == 0 for remaining, labels in zip(kept, sets, strict=True))


def read(text, *labels):
    """The segmentation of one sentence of characters; a label `?` is unknown, `B|E` is ambiguous."""
    layer = tuple(None if label == "?" else tuple(label.split("|")) for label in labels)
    sentence = Sentence(tuple(text), {"seg": layer}, location=Location("chars.txt", 3))
    (result,) = segmentations([sentence], "seg", "character")
    return result


WORDS = [
    # text, labels, forms, certain
    ("abc", "B E S", ("ab", "c"), (True, True)),
    ("abcd", "B M M E", ("abcd",), (True,)),
    # lenient: whoever says boundary wins
    ("ab", "B B", ("a", "b"), (True, True)),
    ("ab", "M E", ("ab",), (True,)),
    ("ab", "E M", ("a", "b"), (True, True)),
    ("abc", "B M S", ("ab", "c"), (True, True)),
    ("abc", "S E E", ("a", "b", "c"), (True, True, True)),
    # unknown positions that their neighbours settle
    ("abc", "S ? S", ("a", "b", "c"), (True, True, True)),
    ("abc", "B ? E", ("abc",), (True,)),
    ("ab", "? E", ("ab",), (True,)),
    ("a", "?", ("a",), (True,)),
    # unknown positions that they do not
    ("ab", "? ?", ("ab",), (False,)),
    ("abcd", "S ? ? S", ("a", "bc", "d"), (True, False, True)),
    ("abcd", "? ? B E", ("ab", "cd"), (False, True)),
    # ambiguity
    ("abc", "B|S ? S", ("ab", "c"), (False, True)),
    ("abc", "B|S E S", ("ab", "c"), (True, True)),
    ("abc", "B M|E S|E", ("abc",), (False,)),
    ("abc", "S S|M S", ("a", "b", "c"), (True, True, True)),
]


@pytest.mark.parametrize(("text", "labels", "forms", "certain"), WORDS)
def test_words(text, labels, forms, certain):
    result = read(text, *labels.split())
    assert result.forms == forms
    assert result.certain == certain
    assert result.tags is None


TAGS = [
    ("abc", "B-NN E-NN S-VV", (("NN",), ("VV",))),
    ("ab", "B-NN E-VV", (("NN",),)),  # lenient: the first character's
    ("ab", "B-NN|B-VV E-VV", (("VV",),)),
    ("ab", "B-NN|B-VV E", (("NN", "VV"),)),
    ("ab", "B E-VV", (("VV",),)),
    ("ab", "B-NN|B E-VV", (("VV",),)),
    ("ab", "B-* E-VV", (("VV",),)),
    ("abc", "B-* E-* S-NN", (None, ("NN",))),
    ("ab", "B-NN|B-* E", (None,)),
    ("ab", "B-NN|S-VV E", (("NN",),)),  # S does not fit before E
    ("abc", "S-NN ? S-VV", (("NN",), None, ("VV",))),
    ("abcd", "S-NN ? ? S-VV", (("NN",), None, ("VV",))),
    ("abc", "B-NN ? S-VV", (("NN",), ("VV",))),
    ("ab", "S-A-B S-C", (("A-B",), ("C",))),
]


@pytest.mark.parametrize(("text", "labels", "tags"), TAGS)
def test_tags(text, labels, tags):
    assert read(text, *labels.split()).tags == tags


@pytest.mark.parametrize("label", ["X", "b", "", "NN", "B-", "-NN", "BE", "B_NN"])
def test_a_label_that_is_no_position_is_an_error_with_its_place(label):
    sentence = Sentence(("a",), {"seg": ((label,),)}, location=Location("chars.txt", 3))
    with pytest.raises(CorpusError, match=rf"chars.txt:3: found the label {label!r}, expected B, M, E or S, alone or"):
        segmentations([sentence], "seg", "character")


def test_words_keep_their_layer_as_tags_and_are_certain():
    tagged = Sentence(("ab", "c"), {"tag": (("NN", "VV"), None)})
    bare = Sentence(("ab", "c"))
    assert segmentations([tagged, bare], "tag", "word") == (
        Segmentation(("ab", "c"), (("NN", "VV"), None)),
        Segmentation(("ab", "c")),
    )


def test_characters_without_the_layer_are_one_uncertain_stretch():
    (result, empty) = segmentations([Sentence(tuple("abc")), Sentence(())], "seg", "character")
    assert (result.forms, result.tags, result.certain) == (("abc",), None, (False,))
    assert empty.forms == ()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"forms": ("a", "")}, "w.txt:9: found an empty word, expected words of at least one character"),
        ({"forms": ("a",), "tags": ()}, "w.txt:9: found 0 tags, expected 1, one a word"),
        ({"forms": ("a",), "certain": (True,) * 2}, "w.txt:9: found 2 marks of certainty, expected 1, one a word"),
    ],
)
def test_a_segmentation_that_does_not_fit_is_an_error(arguments, message):
    with pytest.raises(CorpusError, match=message):
        Segmentation(**arguments, location=Location("w.txt", 9))
