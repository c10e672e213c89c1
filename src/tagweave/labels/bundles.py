"""Bundled tags: the labels of a coupled model are tuples with one tag of each guideline (Li et al. 2015, section 3).

A corpus of one guideline determines one side of every bundle. Each side is a view of the space, and a tag of a side
stands for all bundles that project to it, so such a corpus is ordinary evidence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import getitem

import numpy as np
from numpy.typing import NDArray

from tagweave.labels.mapping import MappingError, TagMapping
from tagweave.labels.space import LabelSpace, View

SEPARATOR = "&"
"""Separates the tags of a bundle, and the guidelines in the name of the joint view."""

Pairs = Mapping[tuple[int, int], NDArray[np.bool_]]
"""Two sides, in order -> bool[tags, tags], the pairs that may be bundled."""


def bundle(sides: Sequence[tuple[str, Sequence[str]]], mappings: Iterable[TagMapping] = ()) -> LabelSpace:
    """The space of the bundles that every mapping allows: a view for each side, in order, and last the joint view.

    The labels are sorted by the numbers of their tags, the first side varying slowest. Without mappings they are all
    tuples of tags: the complete mapping of Li et al. (2015, section 3.1).

    Args:
        sides: two or more guidelines, each with its tags.
        mappings: each between two of the sides, in either order. A tag that a mapping does not name stays possible with
            every tag of the other side (`TagMapping.allowed`).

    Raises:
        MappingError: fewer than two sides, two of the same name, a side without tags or with a repeated one; a mapping
            of a guideline that is not a side; tags that are in no bundle, because mappings contradict one another;
            bundles with the same name.
    """
    _check_sides(sides)
    rows = _rows([len(tags) for _, tags in sides], _allowed_pairs(sides, mappings))
    _refuse_lost_tags(sides, rows)
    names = _names([tags for _, tags in sides], rows)
    views = [View(name, tuple(tags), rows[:, side].copy()) for side, (name, tags) in enumerate(sides)]
    joint = View(SEPARATOR.join(name for name, _ in sides), names, np.arange(len(names), dtype=np.int32))
    return LabelSpace(names, (*views, joint))


def _check_sides(sides: Sequence[tuple[str, Sequence[str]]]) -> None:
    if len(sides) < 2:
        raise MappingError(f"found {len(sides)} guidelines to bundle, expected two or more")
    if repeated := _repeated(name for name, _ in sides):
        raise MappingError(f"found two guidelines of the name {repeated!r}, expected different names")
    for name, tags in sides:
        if not tags:
            raise MappingError(f"found no tag of {name}, expected at least one")
        if repeated := _repeated(tags):
            raise MappingError(f"found the tag {repeated!r} of {name} twice, expected each tag once")


def _repeated(names: Iterable[str]) -> str:
    """The first name that occurs more than once, or nothing."""
    return next((name for name, count in Counter(names).items() if count > 1), "")


def _allowed_pairs(sides: Sequence[tuple[str, Sequence[str]]], mappings: Iterable[TagMapping]) -> Pairs:
    """The pairs that the mappings of two sides allow; with several mappings, those that all of them allow."""
    number = {name: side for side, (name, _) in enumerate(sides)}
    pairs: dict[tuple[int, int], NDArray[np.bool_]] = {}
    for mapping in mappings:
        for name in (mapping.first, mapping.second):
            if name not in number:
                found = f"a mapping of {name!r}" if name else "a mapping that does not name its guidelines"
                raise MappingError(f"found {found}, expected two of {', '.join(number)}")
        first, second = number[mapping.first], number[mapping.second]
        if first > second:
            first, second, mapping = second, first, mapping.swapped()  # noqa: PLW2901
        allowed = mapping.allowed(sides[first][1], sides[second][1])
        pairs[first, second] = allowed & pairs.get((first, second), np.True_)
    return pairs


def _rows(sizes: Sequence[int], pairs: Pairs) -> NDArray[np.int32]:
    """int32[bundles, sides]: the tags of every bundle, rising.

    Sides are added one by one: the combinations so far, times the tags of the next side, minus the forbidden pairs. So
    three tight mappings never build the complete product.
    """
    rows = np.arange(sizes[0], dtype=np.int32)[:, None]
    for side, size in enumerate(sizes[1:], 1):
        tags = np.tile(np.arange(size, dtype=np.int32), len(rows))
        rows = np.column_stack([np.repeat(rows, size, axis=0), tags])
        for (first, second), allowed in pairs.items():
            if second == side:
                rows = rows[allowed[rows[:, first], rows[:, second]]]
    return rows


def _refuse_lost_tags(sides: Sequence[tuple[str, Sequence[str]]], rows: NDArray[np.int32]) -> None:
    """Raise unless every tag is in a bundle. One mapping never loses a tag; several may exclude all its bundles."""
    for side, (name, tags) in enumerate(sides):
        kept = set(rows[:, side].tolist())
        if lost := [tag for i, tag in enumerate(tags) if i not in kept]:
            raise MappingError(
                f"found no bundle for the tags {' '.join(lost)} of {name}, expected mappings that together leave each "
                "tag at least one"
            )


def _names(tags: Sequence[Sequence[str]], rows: NDArray[np.int32]) -> tuple[str, ...]:
    names = tuple(SEPARATOR.join(map(getitem, tags, row)) for row in rows.tolist())
    if repeated := _repeated(names):
        raise MappingError(
            f"found two bundles that are both written {repeated!r}, expected tags that a {SEPARATOR!r} tells apart"
        )
    return names
