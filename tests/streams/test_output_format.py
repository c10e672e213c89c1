"""What formats of output can hold, and what they are asked for."""

from __future__ import annotations

import pytest

from tagweave.corpus.formats.registry import FORMATS
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError, StreamError
from tagweave.streams.stream import check_can_hold, check_holds_heads, with_layers


def test_fields_of_conllu_that_are_free() -> None:
    sentence = Sentence(("a",), {"upos": (None,), "xpos": (None,)})
    both = with_layers(sentence, {"one": (("A",),), "two": (("B",),)}, FORMATS["conllu"])
    assert both.layers == {"upos": (("B",),), "xpos": (("A",),)}
    assert with_layers(both, {"upos": (("C",),)}, FORMATS["conllu"]).layers["upos"] == (("C",),)
    with pytest.raises(CorpusError, match="expected one of them empty, for the labels of three"):
        with_layers(both, {"three": (("C",),)}, FORMATS["conllu"])
    assert list(with_layers(sentence, {"one": (("A",),)}, FORMATS["columns"]).layers) == ["upos", "xpos", "one"]


def test_a_format_that_cannot_hold_something_is_told_with_those_that_can() -> None:
    check_can_hold(FORMATS["conllu"], "several `to`", lambda each: each.holds_several)
    with pytest.raises(StreamError, match="found several `to` and the format tagged, expected columns or conllu"):
        check_can_hold(FORMATS["tagged"], "several `to`", lambda each: each.holds_several)
    check_holds_heads(FORMATS["conllu"])
    with pytest.raises(StreamError, match="expected conllu or conllu-plus: it can hold heads"):
        check_holds_heads(FORMATS["columns"])
