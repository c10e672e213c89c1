from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagweave.corpus.formats import attributes
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError


def read(text, **options):
    return list(attributes.read(text.removesuffix("\n").split("\n"), "made-up.crfsuite", **options))


def written(*sentences, **options):
    stream = io.StringIO()
    attributes.write(sentences, stream, **options)
    return stream.getvalue()


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


LABEL = st.text(st.sampled_from("ab|:\\?"), min_size=1, max_size=4)
CANDIDATES = st.none() | st.lists(LABEL, min_size=1, max_size=3, unique=True).map(tuple)


@given(st.lists(st.tuples(LABEL, CANDIDATES.filter(lambda each: each != ("?",))), min_size=1, max_size=4))
def test_whatever_is_written_is_read_again(tokens):
    forms, labels = zip(*tokens, strict=True)
    (again,) = read(written(Sentence(forms, {"tag": labels})))
    assert (again.forms, again.layers) == (forms, {"tag": labels})


@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        (Sentence(("a",), {"tag": (("?",),)}), "the label '\\?'"),
        (Sentence(("a",), {"tag": (("",),)}), "the form or label ''"),
        (Sentence(("a",), {"tag": (("X\tY",),)}), "non-empty text without tabs"),
        (Sentence(("",), {"tag": (("X",),)}), "the form or label ''"),
        (Sentence(("a",), {"ctb": (("X",),)}), "expected a layer 'tag' to write"),
        (Sentence(("a",), {"tag": (None,)}, {"attributes": ("x\ny",)}), "the character '\\\\n' in a token"),
        (Sentence(("a",), {"tag": (None,)}, {"attributes": ("x:y",)}), "the weight 'y' of 'x:y'"),
        (Sentence(("a",), {"tag": (None,)}, {"attributes": ("x\t\ty",)}), "an empty attribute"),
    ],
)
def test_what_cannot_be_written(sentence, message):
    with pytest.raises(CorpusError, match=message):
        written(sentence)
