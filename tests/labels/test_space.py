"""Label spaces, views, wildcards and label sets."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagweave.corpus.candidates import Soft
from tagweave.labels.sets import ALL, LabelSets
from tagweave.labels.space import LabelSpace, UnknownLabelError, View, collect_names, is_wildcard

PAIRS = (("NN", "n"), ("NN", "vn"), ("VV", "v"), ("VV", "vn"), ("AD", "d"))


def bundles() -> LabelSpace:
    """Five bundles over three tags of one guideline and four of the other."""
    first, second = ("AD", "NN", "VV"), ("d", "n", "v", "vn")
    views = (
        View("joint", tuple(f"{a}+{b}" for a, b in PAIRS), np.arange(5, dtype=np.int32)),
        View("ctb", first, np.array([first.index(a) for a, _ in PAIRS], np.int32)),
        View("pd", second, np.array([second.index(b) for _, b in PAIRS], np.int32)),
    )
    return LabelSpace(views[0].names, views)


def test_an_unknown_guideline_names_those_that_there_are() -> None:
    with pytest.raises(KeyError, match=r"no guideline 'cpb'.*joint, ctb, pd"):
        bundles().view("cpb")


@given(st.sampled_from(["joint", "ctb", "pd"]), st.data())
def test_allow_gives_the_labels_that_project_to_a_candidate(guideline: str, data: st.DataObject) -> None:
    space = bundles()
    names = space.view(guideline).names
    candidates = data.draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    side = {"joint": "+".join, "ctb": lambda pair: pair[0], "pd": lambda pair: pair[1]}[guideline]
    expected = [y for y, pair in enumerate(PAIRS) if side(pair) in candidates]
    assert space.allow(guideline, candidates).tolist() == expected


CHARACTER_LABELS = ("B-NN", "B-VV", "E-NN", "I-VV", "S-NN", "O", "--NN", "|-NN", "--VV", "|-VV")


@pytest.mark.parametrize(
    ("candidate", "expected"),
    [
        ("B-*", ["B-NN", "B-VV"]),
        ("S-*", ["S-NN"]),
        ("!O", [name for name in CHARACTER_LABELS if name != "O"]),
        ("!B-NN", [name for name in CHARACTER_LABELS if name != "B-NN"]),
        ("--*", ["--NN", "--VV"]),
        ("|-*", ["|-NN", "|-VV"]),
        ("O", ["O"]),
    ],
)
def test_wildcards_stand_for_the_tags_that_they_match(candidate: str, expected: list[str]) -> None:
    space = LabelSpace.plain("seg", CHARACTER_LABELS)
    assert [space.names[y] for y in space.allow("seg", [candidate])] == expected


def test_a_tag_that_looks_like_a_wildcard_stands_for_itself() -> None:
    space = LabelSpace.plain("odd", ["!O", "O", "B-*", "B-X"])
    assert space.allow("odd", ["!O"]).tolist() == [0]
    assert space.allow("odd", ["B-*"]).tolist() == [2]


@pytest.mark.parametrize("candidate", ["XX", "M-*", "!XX", "", "*"])
def test_an_unknown_candidate_raises_and_names_the_tags(candidate: str) -> None:
    with pytest.raises(UnknownLabelError, match=r"not one of the 10 of seg: B-NN B-VV"):
        LabelSpace.plain("seg", CHARACTER_LABELS).allow("seg", [candidate])


@pytest.mark.parametrize("candidate", ["S-CITY", "B-CITY", "I-CITY"])
def test_an_unknown_type_is_named_without_its_coding(candidate: str) -> None:
    space = LabelSpace.plain("ner", ["B-LOC", "B-PER", "E-LOC", "E-PER", "I-LOC", "I-PER", "O", "S-LOC", "S-PER"])
    with pytest.raises(UnknownLabelError, match=r"type 'CITY' is not one of the 2 of ner: LOC PER$"):
        space.allow("ner", [candidate])
    with pytest.raises(UnknownLabelError, match="label 'M-PER' is not one of the 9 of ner: B-LOC"):
        space.allow("ner", ["M-PER"])


def test_a_space_survives_json() -> None:
    space = bundles()
    again = LabelSpace.from_json(json.loads(json.dumps(space.to_json())))
    assert again.names == space.names
    assert again.guidelines == space.guidelines
    for mine, other in zip(space.views, again.views, strict=True):
        assert mine.names == other.names
        assert (mine.projection == other.projection).all()
        assert other.projection.dtype == np.int32


def test_names_are_collected_from_layers_but_wildcards_name_nothing() -> None:
    layers = [(("NN",), None, ("VV", "AD")), (("B-*",), ("!O",), ("--*",), ("|-*",), ("NN",))]
    assert collect_names(layers) == ("AD", "NN", "VV")
    assert all(is_wildcard(text) for text in ("B-*", "!O", "--*", "|-*", "E-*"))
    assert not any(is_wildcard(text) for text in ("B-NN", "*", "-", "|", "!", "-*"))


def test_set_zero_is_every_label_and_an_unknown_position_has_it() -> None:
    sets = LabelSets(bundles())
    assert sets.of_candidates("ctb", None) == ALL
    assert sets.labels(ALL).tolist() == [0, 1, 2, 3, 4]
    assert sets.of_candidates("ctb", ("AD", "NN", "VV")) == ALL  # whatever names every label says nothing
    assert len(sets) == 1


def test_equal_sets_have_one_number() -> None:
    sets = LabelSets(bundles())
    number = sets.of_candidates("ctb", ("NN", "AD"))
    assert number == sets.of_candidates("ctb", ("AD", "NN")) == sets.of_labels([4, 1, 0])
    assert sets.labels(number).tolist() == [0, 1, 4]
    assert sets.masks.tolist() == [[1, 1, 1, 1, 1], [1, 1, 0, 0, 1]]
    assert sets.masks.dtype == np.uint8


@given(st.lists(st.sets(st.integers(0, 4), min_size=1), min_size=2, max_size=6))
def test_join_is_intersection_and_never_empties_a_set(members: list[set[int]]) -> None:
    sets = LabelSets(bundles())
    numbers = [sets.of_labels(labels) for labels in members]
    for a, first in zip(members, numbers, strict=True):
        for b, second in zip(members, numbers, strict=True):
            if a & b:
                assert set(sets.labels(sets.join(first, second)).tolist()) == a & b
            else:
                with pytest.raises(ValueError, match="empty label set"):
                    sets.join(first, second)
    assert all(mask.any() for mask in sets.masks)


def test_an_empty_set_raises() -> None:
    with pytest.raises(ValueError, match="at least one label"):
        LabelSets(bundles()).of_labels([])


def test_labels_import_neither_numba_nor_scipy() -> None:
    code = "import sys, tagweave.labels.sets, tagweave.labels.coding, tagweave.labels.mapping\n"
    code += "import tagweave.features.templates\n"
    code += "assert not {'numba', 'scipy', 'matplotlib'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


SPACE = LabelSpace.plain("g", "ABCD")


def test_a_likelihood_is_a_row_whose_largest_number_is_1() -> None:
    sets = LabelSets(SPACE)
    sets.of_candidates("g", Soft("AB", (0.2, 0.1)))
    sets.of_candidates("g", Soft("BA", (2, 4)))
    np.testing.assert_allclose(sets.masks, [[1, 1, 1, 1], [1, 0.5, 0, 0], [1, 0.5, 0, 0]])
    np.testing.assert_allclose(sets.log_scales, np.log([1, 0.2, 4]))
    assert sets.posteriors is None


def test_equal_likelihoods_are_a_set() -> None:
    sets = LabelSets(SPACE)
    number = sets.of_candidates("g", Soft("AB", (0.2, 0.2)))
    assert sets.masks[number].tolist() == [1, 1, 0, 0]
    assert sets.of_candidates("g", Soft(("A", "!A"), (0.2, 0.2))) == ALL
    assert not sets.has_numbers


def test_likelihoods_are_multiplied() -> None:
    sets = LabelSets(SPACE)
    first, second = (sets.of_candidates("g", Soft("ABC", each)) for each in ((1, 0.5, 0.5), (0.1, 0.4, 0)))
    joined = sets.join(first, second)
    np.testing.assert_allclose(sets.masks[joined], [0.5, 1, 0, 0])
    np.testing.assert_allclose(np.exp(sets.log_scales[joined]), 0.2)


def test_a_posterior_is_a_set_with_probabilities() -> None:
    sets = LabelSets(SPACE, "posterior")
    number = sets.of_candidates("g", Soft(("A", "!A"), (0.7, 0.3)))
    assert sets.masks.tolist() == [[1, 1, 1, 1], [1, 1, 1, 1]] and number != ALL
    assert sets.posteriors is not None
    assert sets.posteriors.group.tolist() == [[0, 1, 1, 1]]
    assert sets.posteriors.share.tolist() == [[0.7, 0.3]]
    assert sets.posteriors.of_set.tolist() == [-1, 0]
    two = sets.of_candidates("g", Soft("AB", (0.7, 0.3)))
    assert sets.masks[two].tolist() == [1, 1, 0, 0]


def test_a_certain_posterior_is_a_set() -> None:
    sets = LabelSets(SPACE, "posterior")
    assert sets.of_candidates("g", Soft("AB", (1, 0))) == sets.of_candidates("g", ("A",))
    assert sets.posteriors is None


def test_a_posterior_is_conditioned_on_a_set() -> None:
    sets = LabelSets(SPACE, "posterior")
    joined = sets.join(sets.of_candidates("g", Soft("ABC", (0.5, 0.3, 0.2))), sets.of_candidates("g", ("B", "C", "D")))
    assert sets.posteriors is not None
    np.testing.assert_allclose(sets.posteriors.share[sets.posteriors.of_set[joined]][:2], [0.6, 0.4])
    assert sets.labels(joined).tolist() == [1, 2]


@pytest.mark.parametrize(
    ("soft", "message"),
    [(Soft("AB", (0.5, 0.2)), "a sum of 1"), (Soft(("A", "!B"), (0.5, 0.5)), "a label that two of A, !B stand for")],
)
def test_posteriors_that_make_no_sense(soft: Soft[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LabelSets(SPACE, "posterior").of_candidates("g", soft)


def test_two_posteriors_have_no_product() -> None:
    sets = LabelSets(SPACE, "posterior")
    first, second = (sets.of_candidates("g", Soft("AB", (share, 1 - share))) for share in (0.2, 0.4))
    assert sets.join(first, ALL) == sets.join(ALL, first) == first
    with pytest.raises(ValueError, match="in two layers"):
        sets.join(first, second)
