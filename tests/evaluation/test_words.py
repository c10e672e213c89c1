"""Word scores against sets of spans, and words read off characters against enumeration of all label sequences."""

from __future__ import annotations

import math
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagweave.corpus.sentence import Location, Sentence
from tagweave.errors import CorpusError
from tagweave.evaluation.accuracy import Confusion
from tagweave.evaluation.score import Score, Share
from tagweave.evaluation.words import BITS, BOUNDARY, NONE, Segmentation, segmentations, settle, word_scores

TAGS = ("N", "V", "A")


def words(*texts):
    """One sentence a text: `ab/N c/? (de)/V`; `?` is an unknown tag, `N|V` several, brackets a stretch not certain."""
    sentences = []
    for line, text in enumerate(texts, 1):
        pairs = [item.partition("/") for item in text.split()]
        tags = tuple(None if tag in ("", "?") else tuple(tag.split("|")) for _, _, tag in pairs)
        forms = tuple(form.strip("()") for form, _, _ in pairs)
        certain = tuple(not form.startswith("(") for form, _, _ in pairs)
        sentences.append(Segmentation(forms, tags if "/" in text else None, certain, Location("w", line)))
    return sentences


def test_long_words_are_not_taken_for_short_ones_further_on():
    text = "abcdefghijklmnopqrstuvwxyz" * 5
    for length in range(2, len(text)):
        system = [Segmentation((text[:1], text[1:length], text[length:]))]
        assert word_scores([Segmentation((text,))], system).words == Score(0, 1, 3)


TAG_POLICY = [
    # gold, system, (right, gold words, system words), (unscored, ambiguous, undecided)
    ("a/N b/V", "a/N b/V", (2, 2, 2), (0, 0, 0)),
    ("a/N b/V", "a/N b/N", (1, 2, 2), (0, 0, 0)),
    ("a/N b/?", "a/N b/N", (1, 1, 1), (1, 0, 0)),
    ("a/N b/?", "ab/N", (0, 1, 1), (1, 0, 0)),
    ("a/N|V b/V", "a/V b/V", (2, 2, 2), (0, 1, 0)),
    ("a/N|V b/V", "a/A b/V", (1, 2, 2), (0, 1, 0)),
    ("a/N b/V", "a/? b/V", (1, 2, 2), (0, 0, 1)),
    ("a/N b/V", "a/N|V b/V", (1, 2, 2), (0, 0, 1)),
    ("a/N (bc)/V", "a/N b/V c/N", (1, 1, 1), (0, 0, 0)),
    ("a/? b/V", "a/? b/V", (1, 1, 1), (1, 0, 0)),
    ("a/!V b/V", "a/N b/V", (2, 2, 2), (0, 1, 0)),
    ("a/!N b/V", "a/N b/V", (1, 2, 2), (0, 1, 0)),
    ("a/N b/V", "a/!V b/V", (1, 2, 2), (0, 0, 1)),
    ("a/? b/?", "a/N b/V", (0, 0, 0), (2, 0, 0)),
]


@pytest.mark.parametrize(("gold", "system", "expected", "policy"), TAG_POLICY)
def test_policy_of_tags(gold, system, expected, policy):
    tagged = word_scores(words(gold), words(system)).tagged
    assert tagged is not None
    assert tagged.words == Score(*expected)
    assert math.isnan(tagged.words.f) == (expected == (0, 0, 0))
    assert (tagged.unscored, tagged.ambiguous, tagged.undecided) == policy


def test_labels_and_confusions_of_tags_by_hand():
    gold, system = words("ab/N c/V d/V e/N|V f/A"), words("a/N b/N c/N d/V e/N f/?")
    tagged = word_scores(gold, system).tagged
    assert tagged is not None
    # e has no tag of its own: neither it nor the system's e counts here
    assert tagged.labels == {"A": Score(0, 1, 0), "N": Score(0, 1, 3), "V": Score(1, 2, 1)}
    assert tagged.confusions == (Confusion("A", None, 1), Confusion("V", "N", 1))


def test_tags_of_one_side_only_are_not_compared():
    assert word_scores(words("a/N b/V"), words("a b")).tagged is None
    assert word_scores(words("a b"), words("a/N b/V")).tagged is None


def test_nothing_to_compare():
    for gold in ([], [Segmentation(())], [Segmentation(()), Segmentation(())]):
        scores = word_scores(gold, gold, frozenset())
        assert scores.words == Score(0, 0, 0)
        assert scores.counts.shape == (len(gold), 3)
        assert scores.to_json()["words"]["f"] is None


@st.composite
def segmented_pairs(draw):
    """Sentences as (gold, system) over one text, each word with certainty and tag candidates."""
    pairs = []
    for _ in range(draw(st.integers(1, 4))):
        text = draw(st.text("abc", max_size=7))
        pairs.append((draw(segmentation_of(text)), draw(segmentation_of(text))))
    return pairs


@st.composite
def segmentation_of(draw, text):
    cuts = [at for at in range(1, len(text)) if draw(st.booleans())]
    bounds = [0, *cuts, len(text)] if text else [0]
    forms = tuple(text[start:end] for start, end in pairwise(bounds))
    several = st.lists(st.sampled_from(TAGS), min_size=1, max_size=2, unique=True).map(tuple)
    tags = tuple(draw(st.one_of(st.none(), several)) for _ in forms)
    certain = tuple(draw(st.integers(0, 3)) > 0 for _ in forms)
    return Segmentation(forms, tags, certain)


def spans(segmentation):
    """Per word its start, end, certainty, tag candidates and form."""
    found, start = [], 0
    for number, form in enumerate(segmentation.forms):
        certain = segmentation.certain is None or segmentation.certain[number]
        tag = segmentation.tags[number] if segmentation.tags else None
        found.append((start, start + len(form), certain, tag, form))
        start += len(form)
    return found


def touching(scored, system):
    return [word for word in spans(system) if any(word[0] < one[1] and one[0] < word[1] for one in scored)]


def naive(gold, system, wanted=lambda word: True, right=lambda one, other: True):
    """Right, gold and system words of one sentence by comparing every word with every word."""
    scored = [word for word in spans(gold) if word[2] and wanted(word)]
    theirs = touching(scored, system)
    matches = [
        (one, other) for one in scored for other in theirs if one[:2] == other[:2] and other[2] and right(one, other)
    ]
    return [len(matches), len(scored), len(theirs)]


def agree(one, other):
    return other[3] is not None and len(other[3]) == 1 and other[3][0] in one[3]


@given(segmented_pairs(), st.sets(st.text("abc", min_size=1, max_size=2)))
def test_equals_comparing_every_word_with_every_word(pairs, known):
    gold, system = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    scores = word_scores(gold, system, frozenset(known))
    assert scores.counts.tolist() == [naive(*pair) for pair in pairs]
    assert scores.words == Score(*scores.counts.sum(axis=0).tolist())
    for share, inside in ((scores.oov, False), (scores.iv, True)):
        counts = [naive(*pair, wanted=lambda word, inside=inside: (word[4] in known) == inside) for pair in pairs]
        assert share == Share(sum(row[0] for row in counts), sum(row[1] for row in counts))
    uncertain = sum(word[1] - word[0] for one in gold for word in spans(one) if not word[2])
    assert scores.unscored == uncertain
    theirs = [word for one, other in pairs for word in touching([w for w in spans(one) if w[2]], other)]
    assert scores.undecided == sum(not word[2] for word in theirs)
    tagged = scores.tagged
    assert tagged is not None
    assert tagged.counts.tolist() == [naive(*pair, lambda word: word[3] is not None, agree) for pair in pairs]
    for tag, score in tagged.labels.items():
        single = [naive(*pair, lambda word, tag=tag: word[3] == (tag,), agree) for pair in pairs]
        assert (score.right, score.gold) == (sum(row[0] for row in single), sum(row[1] for row in single))


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


TAG_READINGS = [
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


@pytest.mark.parametrize(("text", "labels", "tags"), TAG_READINGS)
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
