"""Bundles against all tuples of tags, filtered by the definition of the mapping function."""

from __future__ import annotations

import re
import time
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagweave.labels.mapping import CTB_PD, MappingError, TagMapping, bundle, read_mapping
from tagweave.labels.sets import LabelSets
from tagweave.labels.space import LabelSpace
from tagweave.labels.transition_scheme import TransitionScheme

Sides = list[tuple[str, list[str]]]

CTB, PD, UD = ("ctb", ["NN", "VV", "AD"]), ("pd", ["v", "n", "vn"]), ("ud", ["NOUN", "VERB"])
RELAXED = TagMapping("ctb", "pd", {("NN", "n"): 5, ("NN", "vn"): 2, ("VV", "v"): 4, ("VV", "vn"): 1, ("XX", "x"): 1})
TAGS = {"ctb": "ABCD", "pd": "wxyz", "ud": "0123"}


@st.composite
def sides(draw: st.DrawFn) -> Sides:
    """Two or three guidelines with some of their tags, all in any order."""
    names = draw(st.permutations(list(TAGS)))[: draw(st.integers(2, 3))]
    return [(name, draw(st.lists(st.sampled_from(TAGS[name]), min_size=1, unique=True))) for name in names]


def mapping_of(names: tuple[str, str]) -> st.SearchStrategy[TagMapping]:
    """A mapping of two guidelines, also of tags that a side may lack."""
    pairs = st.tuples(*(st.sampled_from(TAGS[name] + "#") for name in names))
    return st.builds(TagMapping, *map(st.just, names), st.dictionaries(pairs, st.just(1), min_size=1, max_size=10))


@st.composite
def problems(draw: st.DrawFn) -> tuple[Sides, list[TagMapping]]:
    some = draw(sides())
    names = st.permutations([name for name, _ in some]).map(lambda order: (order[0], order[1]))
    return some, draw(st.lists(names.flatmap(mapping_of), max_size=3))


def naive_bundles(some: Sides, mappings: list[TagMapping]) -> list[tuple[str, ...]]:
    """All tuples, less those of which a mapping that names both tags does not have the pair."""
    tags, place = dict(some), {name: i for i, (name, _) in enumerate(some)}
    found = list(product(*(names for _, names in some)))
    for mapping in mappings:
        i, j = place[mapping.first], place[mapping.second]
        known = [(a, b) for a, b in mapping.pairs if a in tags[mapping.first] and b in tags[mapping.second]]
        firsts, seconds = {a for a, _ in known}, {b for _, b in known}
        found = [t for t in found if (t[i], t[j]) in known or t[i] not in firsts or t[j] not in seconds]
    return found


def check_views(space: LabelSpace, some: Sides, expected: list[tuple[str, ...]]) -> None:
    assert space.names == tuple("&".join(tags) for tags in expected)
    assert space.guidelines == (*(name for name, _ in some), "&".join(name for name, _ in some))
    for side, view in enumerate(space.views[:-1]):
        assert view.names == tuple(some[side][1])
        assert view.projection.dtype == np.int32
        assert view.projection.flags.c_contiguous
        assert [view.names[tag] for tag in view.projection] == [tags[side] for tags in expected]
    joint = space.views[-1]
    assert joint.names == space.names
    assert joint.projection.dtype == np.int32
    assert joint.is_identity


@given(problems())
def test_brute_force(problem: tuple[Sides, list[TagMapping]]) -> None:
    some, mappings = problem
    expected = naive_bundles(some, mappings)
    lost = {
        name: {*tags} - {each[side] for each in expected}
        for side, (name, tags) in enumerate(some)
        if {*tags} - {each[side] for each in expected}
    }
    if lost:
        with pytest.raises(MappingError, match="found no bundle for the tags") as caught:
            bundle(some, mappings)
        assert str(caught.value).partition(" tags ")[2].partition(" of ")[0].split() == [
            tag for name, tags in some for tag in tags if name == next(iter(lost)) and tag in lost[name]
        ]
    else:
        check_views(bundle(some, mappings), some, expected)


@given(st.data())
def test_mappings_from_side_to_side_never_lose_a_tag(data: st.DataObject) -> None:
    some = data.draw(sides())
    mappings = [data.draw(mapping_of((a, b))) for (a, _), (b, _) in pairwise(some)]
    space = bundle(some, mappings)
    for view in space.views:
        assert {*view.projection.tolist()} == {*range(len(view.names))}


def test_the_bundles_of_a_relaxed_mapping() -> None:
    """AD is not named, so it has every partner; x is no tag of this side."""
    space = bundle([CTB, PD], [RELAXED])
    assert space.names == ("NN&n", "NN&vn", "VV&v", "VV&vn", "AD&v", "AD&n", "AD&vn")
    assert space.guidelines == ("ctb", "pd", "ctb&pd")
    assert space.view("ctb").projection.tolist() == [0, 0, 1, 1, 2, 2, 2]
    assert space.view("pd").projection.tolist() == [1, 2, 0, 2, 0, 1, 2]


def test_a_tag_of_one_side_stands_for_its_bundles() -> None:
    """Li et al. (2015), figure 1: the tag of one side is a set of bundles, and two sides leave what they share."""
    space = bundle([CTB, PD], [RELAXED])
    sets = LabelSets(space)
    noun = sets.of_candidates("ctb", ("NN",))
    assert [space.names[y] for y in sets.labels(noun)] == ["NN&n", "NN&vn"]
    both = sets.join(noun, sets.of_candidates("pd", ("vn", "v")))
    assert [space.names[y] for y in sets.labels(both)] == ["NN&vn"]


def test_the_shipped_mapping_makes_as_many_bundles_as_pairs() -> None:
    mapping = read_mapping(CTB_PD)
    some = [(name, sorted({pair[i] for pair in mapping.pairs})) for i, name in enumerate(("ctb", "pd"))]
    assert (len(bundle(some, [mapping])), len(bundle(some))) == (94, 784)
    assert len(bundle(some, [mapping.tight()])) == len(mapping.tight().pairs) < 94


def test_a_large_complete_space_is_quick() -> None:
    some = [(name, [f"{name}{i}" for i in range(size)]) for name, size in (("u", 17), ("x", 42), ("c", 33))]
    start = time.process_time()
    assert len(bundle(some)) == 17 * 42 * 33
    assert time.process_time() - start < 2  # quadratic time would be minutes


def test_a_tight_chain_of_sides_never_passes_through_the_product() -> None:
    """Seven sides of 40 tags have 1.6e11 tuples, and 40 bundles."""
    tags = [f"T{i}" for i in range(40)]
    names = "abcdefg"
    chain = [TagMapping(a, b, {(tag, tag): 1 for tag in tags}) for a, b in pairwise(names)]
    assert len(bundle([(name, tags) for name in names], chain)) == 40


@pytest.mark.parametrize(
    ("some", "mappings", "message"),
    [
        ([], [], "found 0 guidelines to bundle, expected two or more"),
        ([CTB], [], "found 1 guidelines to bundle, expected two or more"),
        ([CTB, ("ctb", ["n"])], [], "found two guidelines of the name 'ctb', expected different names"),
        ([CTB, ("pd", [])], [], "found no tag of pd, expected at least one"),
        ([CTB, ("pd", ["n", "v", "n"])], [], "found the tag 'n' of pd twice, expected each tag once"),
        ([CTB, UD], [RELAXED], "found a mapping of 'pd', expected two of ctb, ud"),
        (
            [CTB, PD],
            [TagMapping("", "", {("NN", "n"): 1})],
            "found a mapping that does not name its guidelines, expected two of ctb, pd",
        ),
        (
            [("a", ["A&B", "A"]), ("b", ["C", "B&C"])],
            [],
            "found two bundles that are both written 'A&B&C', expected tags that a '&' tells apart",
        ),
    ],
)
def test_what_cannot_be_bundled_raises(some: Sides, mappings: list[TagMapping], message: str) -> None:
    with pytest.raises(MappingError, match=re.escape(message)):
        bundle(some, mappings)


def test_tags_with_the_separator_are_no_trouble_where_they_can_be_told_apart() -> None:
    assert bundle([("a", ["A&B", "A"]), ("b", ["C"])]).names == ("A&B&C", "A&C")


class TestSchemes:
    """A transition of bundles is allowed where every side allows it."""

    LABELS = ("B", "M", "E", "S"), ("B", "I"), ("|", "-")
    NAMES = "BMES", "BI", "boundary"

    @given(st.lists(st.sampled_from([0, 1, 2]), min_size=1, max_size=3), st.data())
    def test_brute_force(self, kinds: list[int], data: st.DataObject) -> None:
        schemes = [TransitionScheme.of(self.NAMES[kind], self.LABELS[kind]) for kind in kinds]
        numbers = [range(len(self.LABELS[kind])) for kind in kinds]
        rows = data.draw(st.lists(st.sampled_from(list(product(*numbers))), min_size=1, max_size=8))
        projections = [np.array(column, np.int32) for column in zip(*rows, strict=True)]
        bundled = TransitionScheme.bundled(schemes, projections)
        for i, row in enumerate(rows):
            assert bundled.start[i] == all(each.start[y] for each, y in zip(schemes, row, strict=True))
            assert bundled.end[i] == all(each.end[y] for each, y in zip(schemes, row, strict=True))
            for j, after in enumerate(rows):
                every = all(each.transition[y, z] for each, y, z in zip(schemes, row, after, strict=True))
                assert bundled.transition[i, j] == every

    @pytest.mark.parametrize(
        ("sizes", "lengths"), [([], []), ([2], []), ([2, 2], [3]), ([2], [3, 3]), ([2, 2], [3, 4])]
    )
    def test_sides_that_do_not_fit_raise(self, sizes: list[int], lengths: list[int]) -> None:
        schemes = [TransitionScheme.free(size) for size in sizes]
        projections = [np.zeros(length, np.int32) for length in lengths]
        with pytest.raises(ValueError, match=r"found projections of the lengths \[.*\], expected \d of one length"):
            TransitionScheme.bundled(schemes, projections)
