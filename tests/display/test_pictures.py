"""Pictures of sentences and marginals."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from html import unescape
from typing import Any

import numpy as np
import pytest

from tagweave.corpus.candidates import Soft
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Arc, Sentence
from tagweave.corpus.spans import Span, span_labels
from tagweave.display.markup import heat, of_types
from tagweave.display.pictures import heat_map
from tagweave.errors import CorpusError, StreamError
from tagweave.front.training import train
from tagweave.learning.run import Silence

WORDS = ("Ida", "left", "Port", "Morgar", ".")


def text(html: str) -> str:
    """What can be read, with single blanks."""
    bare = re.sub(r"<style>.*?</style>|<title>.*?</title>", "", html, flags=re.DOTALL)
    return " ".join(unescape(re.sub("<[^>]*>", " ", bare)).split())


class TestEvidence:
    def test_one_label_several_numbers_and_unknown(self) -> None:
        layer = (("NN",), ("VV", "VB"), Soft(("A", "B"), (0.2, 0.8)), None, ("PU",))
        shown = text(Sentence(WORDS, {"pos": layer})._repr_html_())
        assert shown == "pos Ida NN left VV | VB Port B .80 | A .20 Morgar ? . PU"

    def test_many_candidates_are_shortened_and_all_appear_under_the_mouse(self) -> None:
        names = tuple("abcdefgh")
        html = Sentence(("x",), {"pos": (names,)})._repr_html_()
        assert "a | b | c | +5" in html
        assert 'title="a\nb\nc\nd\ne\nf\ng\nh"' in html

    def test_a_layer_without_anything_known_is_named_beside_another_one(self) -> None:
        layers = {"upos": (None, None), "xpos": (("N",), None)}
        assert text(Sentence(("a", "b"), layers)._repr_html_()) == "xpos a N b ? nothing known: upos"
        assert text(Sentence(("a", "b"), {"upos": (None, None)})._repr_html_()) == "upos a ? b ?"

    def test_the_direction_is_that_of_the_words(self) -> None:
        assert 'dir="rtl"' in Sentence(("(", "ספר"), {"latin": (("a",), None)})._repr_html_()
        assert 'dir="ltr"' in Sentence(("1", "book"))._repr_html_()


class TestSpans:
    def test_types_alternatives_and_what_is_open(self) -> None:
        groups = [(Span(0, 1, "PER"),), (Span(2, 4, "LOC"), Span(2, 4, "ORG"))]
        shown = Sentence(WORDS, {"ner": span_labels(groups, 5)})._repr_html_()
        assert text(shown) == "ner: Ida PER left Port Morgar LOC | ORG ."
        assert "dashed" in re.findall("<mark.*?</mark>", shown)[1]
        assert "dashed" not in re.findall("<mark.*?</mark>", shown)[0]

    def test_unknown_words_are_dotted_and_words_outside_are_not(self) -> None:
        layer = span_labels([(Span(0, 1, "PER"),), (Span(4, 5, "O"),)], 5, None)
        shown = Sentence(WORDS, {"ner": layer})._repr_html_()
        assert re.findall(r'class="open"[^>]*>(\w+)', shown) == ["left", "Port", "Morgar"]

    def test_where_a_span_may_end_is_marked(self) -> None:
        shown = Sentence(WORDS, {"ner": span_labels([(Span(2, 3, "LOC"), Span(2, 4, "LOC"))], 5)})._repr_html_()
        assert '<span class="perhaps"><bdi>Morgar</bdi></span>' in shown
        assert "LOC: Port\nLOC: Port Morgar" in shown

    def test_numbers_that_are_written_as_0_make_no_span_uncertain(self) -> None:
        layer = (Soft(("B-PER", "O"), (0.999, 0.001)), ("O",))
        shown = Sentence(("Ida", "left"), {"ner": layer})._repr_html_()
        assert text(shown) == "ner: Ida PER left"
        assert "dashed" not in shown.split("</style>")[1]

    def test_a_layer_that_is_read_as_spans_stays_so_beside_one_that_is_not(self) -> None:
        layers = {"s": (("O",), ("I-X",)), "ner": (("B-X",), ("O",))}
        shown = text(Sentence(("a", "b"), layers)._repr_html_())
        assert shown == "ner: a X b s a O b I-X"


def test_heads_are_numbers_with_their_relations() -> None:
    arcs = ((Arc(2, "nsubj"),), (Arc(0, "root"),), (Arc(2, "obj"), Arc(1, None)), (Arc(None, "x"),), None)
    sentence = Sentence(WORDS, {"pos": (None,) * 5}, heads={"gold": arcs, "pos": arcs})
    shown = text(sentence._repr_html_())
    row = "gold pos (heads) Ida 2 nsubj 2 nsubj left 0 root 0 root Port 2 obj | 1 2 obj | 1 Morgar ? x ? x . ? ?"
    assert shown == f"{row} nothing known: pos"


def test_marginals_are_coloured_and_improbable_labels_left_out() -> None:
    shown = heat_map(["a", "b"], ["X", "Y", "Z"], [[0.9, 0.1, 0.0], [0.996, 0.001, 0.003]])
    assert text(shown) == "a b X .90 1.00 Y .10 not shown: 1 improbable labels"
    assert "rgba(0,114,178,0.585)" in shown


@pytest.mark.parametrize("length", [100_000])
def test_a_huge_sentence_is_cut_in_no_time(length: int) -> None:
    sentence = Sentence(("w",) * length, {"g": (("N",),) * length, "s": (("O",),) * length})
    sentence = replace(sentence, heads={"h": (None,) * length})
    begin = time.perf_counter()
    shown = sentence._repr_html_()
    assert time.perf_counter() - begin < 5
    assert len(shown) < 200_000
    assert "99,800 more tokens" in shown


_PAGES = {"light": (255, 0.87, 0), "JupyterLab dark": (17, 0.87, 255), "site dark": (30, 0.82, 226)}
"""The grey of the page, how opaque its text is, and the grey of the text."""


def _luminance(colour: list[float]) -> float:
    linear = [(c / 255 / 12.92) if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _over(ground: list[float], colour: list[float], alpha: float) -> list[float]:
    return [alpha * c + (1 - alpha) * g for c, g in zip(colour, ground, strict=True)]


def _contrast(tint: str, page: str) -> float:
    grey, opaque, text = _PAGES[page]
    *colour, alpha = map(float, re.findall(r"[\d.]+", tint))
    ground = _over([grey] * 3, colour, alpha)
    one, other = _luminance(ground), _luminance(_over(ground, [text] * 3, opaque))
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)


@pytest.mark.parametrize("page", _PAGES)
def test_text_on_tints(page: str) -> None:
    tints = [*of_types("ABCDEFG").values(), *(heat(share / 10) for share in range(11))]
    assert {tint: _contrast(tint, page) for tint in tints if _contrast(tint, page) < 4.5} == {}


ABC = ("a", "b", "c")
A = Corpus((Sentence(ABC, {"g": (("N",), ("V",), ("N",))}),) * 3, "g", path="a.txt")
B = Corpus((Sentence(ABC, {"h": (("n",), ("v",), ("n",))}),) * 3, "h", path="b.txt")


def _trained(*corpora: Any, **named: Any) -> Any:
    return train(*corpora, iterations=2, callback=Silence(), **named)


@pytest.fixture(scope="module")
def coupled() -> Any:
    return _trained(A, [B], method="coupled", guided=0)


def test_marginals_are_those_of_the_tokens_alone_or_under_a_layer(coupled: Any) -> None:
    sentence = Sentence(ABC, {"h": (("v",), None, None), "hint": (None, ("N",), None)})
    alone = coupled.marginals(sentence)
    assert (alone.forms, alone.labels) == (ABC, ("N", "V"))
    np.testing.assert_allclose(alone.probabilities.sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_array_equal(alone.probabilities, coupled.probabilities(ABC))
    hinted = coupled.marginals(sentence, given="hint").probabilities
    assert hinted[1].tolist() == [1, 0]
    assert coupled.marginals(sentence, given="h")._repr_html_() != alone._repr_html_()
    assert coupled.marginals(sentence, given="h", to="h").labels == ("n", "v")
    assert coupled.marginals(sentence, given="h", to="h").probabilities[0].tolist() == [0, 1]


def test_a_guide_does_not_see_what_is_not_given() -> None:
    model = _trained(A, [B], method="coupled", guided=0.5)
    alone = model.marginals(Sentence(ABC, {"h": (("v",), None, None)}))
    np.testing.assert_array_equal(alone.probabilities, model.probabilities(ABC))


def test_marginals_refuse_what_is_not_there(coupled: Any) -> None:
    with pytest.raises(CorpusError, match="a layer 'x'"):
        coupled.marginals(Sentence(ABC), given="x")
    with pytest.raises(StreamError, match="guideline"):
        coupled.marginals(Sentence(ABC), to="x")
    with pytest.raises(CorpusError, match="'X'"):
        coupled.marginals(Sentence(ABC, {"hint": (("X",), None, None)}), given="hint")
