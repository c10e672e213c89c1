"""Templates of relations, and the positions of their sides in a tree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_trees
from tagweave.features.arc_templates import RELATION_SIDES, ArcTemplates, RelationTemplates, relation_preset
from tagweave.features.templates import TemplateError
from tagweave.kernels import arc_features


def test_every_side_has_one_code() -> None:
    templates = RelationTemplates(("h.upos[0] m.upos[0] h.form[1] d", "p.upos[0]"))
    terms, seeds = templates.codes
    ptr, sides, with_distance = templates.grams
    form, upos = templates.columns.index("form"), templates.columns.index("upos")
    assert terms[0].tolist() == [[upos, 0], [form, 1]]
    assert terms[1].tolist() == [[upos, 0], [-1, -1]]
    assert ptr.tolist() == [0, 2, 3]
    assert [RELATION_SIDES[side] for side in sides] == ["h", "m", "p"]
    assert with_distance.tolist() == [True, False]
    assert len(set(seeds.tolist())) == 3


@pytest.mark.parametrize("text", ["", "d", "x.upos[0]", "b.upos[0] m.upos[0]", "m.upos", "m.upos[-33]"])
def test_malformed_templates(text: str) -> None:
    with pytest.raises(TemplateError, match="found"):
        _ = RelationTemplates((text,)).parsed


def test_the_preset_leaves_out_tokens_between() -> None:
    arcs = ArcTemplates(("h.upos[0] m.upos[0]", "h.upos[0] b.upos[0] m.upos[0]"))
    texts = relation_preset(arcs, "upos").texts
    assert "h.upos[0] m.upos[0]" in texts
    assert not any("b." in text for text in texts)
    assert "h.upos[0] m.upos[0] d" in texts
    assert "h.form[0] l.form[0]" in texts


def expected_places(heads: tuple[int, ...], low: int) -> list[list[int]]:
    """The places around every word of one tree, looked for one by one."""
    words = range(1, len(heads) + 1)
    found = []
    for m in words:
        h = heads[m - 1]
        beside = [w for w in words if heads[w - 1] == h and (w < h) == (m < h)]
        own = [w for w in words if heads[w - 1] == m]
        around = {
            "h": [h],
            "m": [m],
            "p": [w for w in beside if w < m][-1:],
            "n": [w for w in beside if w > m][:1],
            "l": [w for w in own if w < m][:1],
            "r": [w for w in own if w > m][-1:],
            "g": [heads[h - 1]] if h else [],
        }
        found.append([low + around[side][0] if around[side] else -1 for side in RELATION_SIDES])
    return found


@given(st.data())
def test_positions_of_sides(data: Any) -> None:
    trees = [data.draw(st.sampled_from(naive_trees.trees(n, False, False))) for n in (3, 0, 4)]
    ptr = np.array([0, 4, 5, 10], np.int64)
    places = np.empty((7, len(RELATION_SIDES)), np.int32)
    arc_features.tree_places(ptr, np.array([head for tree in trees for head in tree], np.int32), places)
    expected = [row for tree, low in zip(trees, ptr[:-1].tolist(), strict=True) for row in expected_places(tree, low)]
    assert places.tolist() == expected


def test_features_depend_on_direction_distance_and_sides() -> None:
    codes = np.arange(1, 13, dtype=np.uint64).reshape(4, 3) * np.uint64(0x9E3779B97F4A7C15)
    ptr, sides = np.array([0, 2, 3], np.int64), np.array([0, 1, 2], np.int64)
    places = np.full((4, len(RELATION_SIDES)), -1, np.int32)
    places[:, :2] = [[0, 1], [1, 0], [0, 1], [0, 3]]
    places[2, 2] = 3
    rows = {}
    for name, flags in (("plain", [False, False]), ("distance", [True, False])):
        features = np.empty((4, 2), np.int32)
        arc_features.relation_features(codes, ptr, sides, np.array(flags), places, 1 << 20, features)
        rows[name] = features
    plain = rows["plain"]
    assert plain[0, 0] == plain[2, 0] != plain[1, 0]
    assert plain[0, 1] == plain[3, 1] != plain[1, 1]  # nothing there: the direction alone
    assert plain[2, 1] != plain[0, 1]
    assert (rows["distance"][:, 1] == plain[:, 1]).all()
    assert (rows["distance"][:, 0] != plain[:, 0]).all()
