from __future__ import annotations

from functools import partial

import texts
from tagweave.corpus.formats import attributes
from tagweave.corpus.sentence import Sentence

read, written = partial(texts.read, attributes), partial(texts.written, attributes)
TEXT = "b|s\tw=the\tn:2\ne\tw=a\\:b:0.5\tx\\\\y\n?\tw=end\n\ns\n\n"


def test_labels_attributes_and_forms():
    first, second = read(TEXT)
    assert first.layers == {"tag": (("b", "s"), ("e",), None)}
    assert first.columns == {"attributes": ("w=the\tn:2", "w=a\\:b:0.5\tx\\\\y", "w=end")}
    assert first.forms == ("w=the", "w=a:b", "w=end")
    assert second.forms == ("1",) and second.columns == {"attributes": ("",)}
    assert (first.location.line, second.location.line) == (1, 5)
    assert written(first, second) == TEXT


def test_empty_label_is_unknown():
    (sentence,) = read("\tw=a\n")
    assert sentence.layers["tag"] == (None,)
    assert written(sentence) == "?\tw=a\n\n"


def test_escapes_in_labels():
    (sentence,) = read("\\:\tx\na\\|b|c\tx\n:\tx\n")
    assert sentence.layers["tag"] == ((":",), ("a|b", "c"), (":",))


def test_forms_are_attributes_where_there_are_none():
    sentence = Sentence(("a:b", "c\\d"), {"tag": (("X",), None)})
    assert written(sentence) == "X\ta\\:b\n?\tc\\\\d\n\n"
    (again,) = read(written(sentence))
    assert (again.forms, again.layers) == (sentence.forms, sentence.layers)
