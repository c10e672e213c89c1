"""Templates of arcs and relations, and encoded sentences: codes by position, and the arcs that the evidence allows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_trees
from tagweave.corpus.sentence import Arc, Sentence
from tagweave.errors import CorpusError
from tagweave.evidence.trees import ANY, SEVERAL
from tagweave.features.arc_templates import (
    RELATION_SIDES,
    ArcTemplate,
    ArcTemplates,
    RelationTemplates,
    arc_preset,
    relation_preset,
    with_copies,
)
from tagweave.features.encoded_arcs import ROOT, encode_arcs
from tagweave.features.templates import TemplateError
from tagweave.kernels import arc_features
from treebank import sentence, treebank, with_evidence

SMALL = ArcTemplates(("h.upos[0] m.upos[0]", "m.form[0]"))


def test_a_template_has_terms_of_each_side() -> None:
    template = ArcTemplate.parse("h.xpos[0] b.upos[0] m.form[-1] m.xpos[+1]")
    assert template.sides == ((("xpos", 0),), (("form", -1), ("xpos", 1)), (("upos", 0),), ())
    assert template.is_between
    assert not template.is_of_siblings
    assert ArcTemplate.parse("s.xpos[0] m.xpos[0]").is_of_siblings


@pytest.mark.parametrize(
    "text",
    [
        *("h.xpos", "x.xpos[0]", "xpos[0]", "h.[0]", "", "b.xpos[0]", "h.xpos[a]", "h.xpos[33]", "h.xpos[0] " * 33),
        *("s.xpos[0]", "h.xpos[0] s.xpos[0]", "s.xpos[0] b.xpos[0] m.xpos[0]"),
    ],
)
def test_malformed_templates(text: str) -> None:
    with pytest.raises(TemplateError, match="found"):
        ArcTemplate.parse(text)


def test_the_preset_has_the_templates_of_the_paper() -> None:
    texts = arc_preset("xpos", siblings=False).texts
    assert sum("last" not in text and "b." not in text for text in texts) == 31  # jiang-2015, Table 2
    assert "h.xpos[-1] h.xpos[0] m.xpos[0] m.xpos[1]" in texts
    assert len(set(texts)) == len(texts)
    assert "h.xpos[0] b.xpos[0] m.xpos[0]" in texts
    assert {*arc_preset("xpos").texts} - {*texts} >= {"h.xpos[0] s.xpos[0] m.xpos[0]"}
    assert any("user:feats" in text for text in arc_preset("xpos", "upos", True).texts)


def test_codes_have_the_order_of_the_kernel() -> None:
    templates = ArcTemplates(("m.form[0]", "h.upos[0] b.upos[0] m.upos[1]", "h.upos[0] m.upos[0]", "h.form[0]"))
    terms, seeds = templates.codes
    assert templates.sizes.tolist() == [1, 1, 1, 1, 0]
    form, upos = templates.columns.index("form"), templates.columns.index("upos")
    # head and modifier of the pair, the head alone, the modifier alone, then head, between and modifier
    assert terms[:, 0].tolist() == [[upos, 0], [upos, 0], [form, 0], [form, 0], [upos, 0], [upos, 0], [upos, 1]]
    assert len(set(seeds.tolist())) == 7


def test_codes_of_siblings_follow() -> None:
    """The heads of templates with a head, then all siblings, then all modifiers."""
    templates = ArcTemplates(("s.form[0] m.upos[1]", "h.upos[0] m.upos[0]", "h.upos[0] s.upos[0] m.form[0]"))
    terms, seeds = templates.codes
    assert (templates.sizes.tolist(), templates.sibling_sizes.tolist()) == ([1, 0, 0, 0, 0], [1, 1])
    assert (templates.first_of_siblings, len(seeds)) == (2, 7)
    form, upos = templates.columns.index("form"), templates.columns.index("upos")
    assert terms[2:, 0].tolist() == [[upos, 0], [upos, 0], [form, 0], [form, 0], [upos, 1]]


def test_a_guide_is_joined_to_templates_without_tokens_between() -> None:
    texts = ("m.form[0]", "h.upos[0] b.upos[0] m.upos[1]", "h.upos[0] m.upos[0]", "h.form[0]")
    plain, guided = ArcTemplates(texts), ArcTemplates(texts, "ud")
    assert guided.sizes.tolist() == [1, 1, 1, 1, 4]
    (own_terms, own_seeds), (terms, seeds) = plain.codes, guided.codes
    # sides of the pair, of each template alone (the other side is a constant), and of the path alone; then the rest
    head, modifier, rest = range(4), range(4, 8), range(8, len(seeds))
    form, upos = guided.columns.index("form"), guided.columns.index("upos")
    assert terms[head, 0, 0].tolist() == [upos, form, -1, -1]
    assert terms[modifier, 0, 0].tolist() == [upos, -1, form, -1]
    assert seeds[[0, 4]].tolist() == own_seeds[:2].tolist()
    assert seeds[rest].tolist() == own_seeds[2:].tolist()
    assert terms[rest].tolist() == own_terms[2:].tolist()
    assert len(set(seeds[:8].tolist())) == 8


def test_a_guide_tree_is_encoded_along_with_the_evidence() -> None:
    templates = ArcTemplates(("h.upos[0] m.guide:ud[0]",), "ud")
    given = with_evidence(sentence("NVN", [2, 0, 2]), None, (Arc(0, "root"),), None)
    with pytest.raises(CorpusError, match="a head layer 'guide:ud'"):
        encode_arcs([given], templates, "head")
    guiding = ((Arc(3, "a"),), (Arc(1, None), Arc(3, "a")), None)
    guided = Sentence(given.forms, given.layers, heads={**given.heads, "guide:ud": guiding})
    encoded = encode_arcs([sentence_of_one(), guided], templates, "head")
    assert encoded.guide.tolist() == [ANY, 0, ANY, 3, SEVERAL, ANY]
    assert encoded.evidence.heads.tolist() == [ANY, 0, ANY, ANY, 0, ANY]
    relations = encoded.columns[:, templates.columns.index("guide:ud")]
    assert relations[1] == relations[3] != relations[4] == relations[5]
    again = encoded.take(np.array([1, 0]))
    assert again.guide.tolist() == [ANY, 3, SEVERAL, ANY, ANY, 0]


def sentence_of_one() -> Sentence:
    arc: tuple[tuple[Arc, ...], ...] = ((Arc(0, "a"),),)
    return Sentence(("sees",), {"upos": (("V",),)}, heads={"head": arc, "guide:ud": arc})


def test_positions_are_the_root_and_the_tokens() -> None:
    given = [sentence("NV", [2, 0]), sentence("V", [0])]
    encoded = encode_arcs(given, SMALL, "head")
    assert encoded.position_ptr.tolist() == [0, 3, 5]
    assert encoded.token_ptr.tolist() == [0, 2, 3]
    assert encoded.evidence.token_heads.tolist() == [2, 0, 0]
    assert (encoded.columns[[0, 3]] == ROOT).all()
    upos = encoded.columns[:, SMALL.columns.index("upos")]
    assert upos[2] == upos[4] != upos[1]
    assert encoded.evidence.heads.tolist() == [ANY, 2, 0, ANY, 0]
    assert encoded.evidence.cells.tolist() == [0, 9, 13]
    assert encoded.evidence.allowed.size == 0
    assert encoded.evidence.informative().tolist() == [True, False]  # one token has no choice


def test_candidates_become_cells() -> None:
    given = with_evidence(sentence("NVN", [2, 0, 2]), (Arc(2, "a"), Arc(3, "b")), None, (Arc(2, None), Arc(2, "x")))
    encoded = encode_arcs([sentence("V", [0]), given], SMALL, "head")
    assert encoded.evidence.heads[3:].tolist() == [SEVERAL, ANY, 2]
    assert encoded.evidence.allowed_ptr.tolist() == [0, 0, 16]
    expected = [[0, 0, 1, 0], [0, 0, 1, 0], [0, 1, 0, 1], [0, 1, 1, 0]]
    assert encoded.evidence.allowed.reshape(4, 4).tolist() == expected
    assert encoded.take(np.array([1, 0])).evidence.allowed_ptr.tolist() == [0, 16, 16]


def test_a_candidate_without_a_head_allows_every_head() -> None:
    given = with_evidence(sentence("NV", [2, 0]), (Arc(None, "a"), Arc(2, "b")), None)
    encoded = encode_arcs([given], SMALL, "head")
    assert encoded.evidence.heads.tolist() == [ANY] * 3
    assert not encoded.evidence.informative().any()


def test_taking_sentences_is_the_same_as_encoding_them() -> None:
    sentences = treebank(6)
    order = np.array([4, 0, 4])
    taken = encode_arcs(sentences, SMALL, "head").take(order)
    own = encode_arcs([sentences[i] for i in order], SMALL, "head")
    for name in ("position_ptr", "heads", "allowed", "weights"):
        np.testing.assert_array_equal(getattr(taken.evidence, name), getattr(own.evidence, name))
    np.testing.assert_array_equal(taken.columns, own.columns)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("h.xpos[0]", "found layers upos, expected a layer 'xpos'"),
        ("m.user:feats[0]", "found no columns, expected a column"),
    ],
)
def test_errors_name_what_a_sentence_lacks(text: str, message: str) -> None:
    with pytest.raises(CorpusError, match=message):
        encode_arcs(treebank(1), ArcTemplates((text,)))


# Copies of sentences whose tags and columns are unknown

COLUMNS = ("xpos", "upos", "user:feats")


def tagged(word: str) -> Sentence:
    layers = {"xpos": (("NN",),), "upos": (("NOUN",),)}
    return Sentence((word,), layers=layers, columns={"feats": ("Number=Sing",)})


def test_a_share_is_copied_without_columns_and_a_third_of_that_with_upos() -> None:
    given = [tagged(str(at)) for at in range(900)]
    copied = with_copies(given, COLUMNS, 0.5)
    assert copied[: len(given)] == given and copied == with_copies(given, COLUMNS, 0.5)
    copies = copied[len(given) :]
    kept = [each for each in copies if each.layers["upos"] == (("NOUN",),)]
    assert 400 < len(copies) < 500 and 100 < len(kept) < 200
    assert all(each.layers["xpos"] == (None,) and each.columns["feats"] == ("_",) for each in copies)
    assert len({each.forms for each in copies}) == len(copies)


def test_without_finer_columns_every_copy_loses_upos() -> None:
    copies = with_copies([tagged(str(at)) for at in range(50)], ("upos",), 1)[50:]
    assert [each.layers["upos"] for each in copies] == [(None,)] * 50


def test_nothing_is_copied_without_columns() -> None:
    assert with_copies([tagged("a")], (), 1) == [tagged("a")]


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
def test_malformed_templates_of_relations(text: str) -> None:
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
