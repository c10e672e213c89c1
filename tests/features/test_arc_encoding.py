"""Templates of arcs, and encoded sentences: codes by position, and the arcs that the evidence allows."""

from __future__ import annotations

import numpy as np
import pytest

from tagweave.corpus.sentence import Arc, Sentence
from tagweave.errors import CorpusError
from tagweave.evidence.trees import ANY, SEVERAL
from tagweave.features.arc_templates import ArcTemplate, ArcTemplates, arc_preset, with_copies
from tagweave.features.arcs import ROOT, encode_arcs
from tagweave.features.templates import TemplateError
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
