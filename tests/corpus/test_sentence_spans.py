from __future__ import annotations

from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tagweave as tw
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Arc, Location, Sentence
from tagweave.corpus.spans import Span, span_labels, spans_of
from tagweave.errors import CorpusError
from tagweave.estimators import ChainCRF

ANY = ("B-*", "O")


@pytest.mark.parametrize(
    ("group", "labels"),
    [
        ([Span(0, 2, "X")], [("B-X",), ("I-X",), None, None]),
        ([Span(0, 2, "X"), Span(0, 2, "Y")], [("B-X", "B-Y"), ("I-X", "I-Y"), None, None]),
        ([Span(1, 3, None)], [None, ("B-*",), ("I-*",), None]),
        ([Span(0, None, "X")], [("B-X",), ("B-*", "I-X", "O"), None, None]),
        ([Span(0, 1, "X"), Span(0, 2, "X")], [("B-X",), ("B-*", "I-X", "O"), ANY, None]),
        ([Span(0, 2, "X"), Span(0, 2, "O")], [("B-X", "O"), ("I-X", "O"), ANY, None]),
        ([Span(0, 2, "O")], [("O",), ("O",), None, None]),
    ],
)
def test_spans_as_evidence_where_all_else_is_unknown(group, labels):
    assert span_labels([tuple(group)], 4, None) == tuple(labels)


def test_spans_as_evidence_where_all_else_is_outside():
    groups = [(Span(0, 1, "X"),), (Span(1, 2, "X"),), (Span(2, None, "Y"),)]
    assert span_labels(groups, 5) == (("B-X",), ("B-X",), ("B-Y",), ("I-Y", "O"), ("I-Y", "O"))


@st.composite
def layers(draw):
    """Spans, one after the other, in 7 tokens, with alternatives of label and boundary."""
    groups, at, length = [], 0, 7
    while (start := at + draw(st.integers(0, 2))) < length:
        stops = st.lists(st.integers(start + 1, length), min_size=1, max_size=2, unique=True)
        names = draw(st.sampled_from([["X"], ["X", "Y"], [None], ["O"]]))
        ends = draw(stops) if len(names) == 1 and names != ["O"] else draw(stops)[:1]
        groups.append(tuple(Span(start, stop, name) for name in names for stop in sorted(ends)))
        at = max(ends)
    return groups, length, draw(st.sampled_from([("O",), None]))


@given(layers())
def test_labels_and_spans_are_two_views_of_one_thing(drawn):
    groups, length, elsewhere = drawn
    labels = span_labels(groups, length, elsewhere)
    back = spans_of(labels)
    partial = any(each is None or {*ANY} <= {*each} for each in labels)
    assert span_labels(back, length, elsewhere if partial else ("O",)) == labels
    if all(len(group) == 1 and group[0].label != "O" for group in groups):
        assert list(back) == groups


def test_perhaps_no_span() -> None:
    assert spans_of((("B-X", "O"), ("O",))) == ((Span(0, 1, "X"), Span(0, 1, "O")),)


def test_a_sentence_has_both_views():
    sentence = Sentence(("a", "b", "c")).with_spans("entity", [(Span(0, 2, "PER"),)])
    assert sentence.layers["entity"] == (("B-PER",), ("I-PER",), ("O",))
    assert sentence.spans("entity") == ((Span(0, 2, "PER"),),)


@pytest.mark.parametrize(
    ("groups", "found"),
    [
        ([(Span(0, 3, "X"),), (Span(1, 2, "Y"),)], "overlaps"),
        ([(Span(0, 4, "X"),)], "the span 0:4"),
        ([(Span(2, 2, "X"),)], "the span 2:2"),
        ([()], "without alternatives"),
    ],
)
def test_spans_that_labels_cannot_hold_are_refused(groups, found):
    with pytest.raises(CorpusError, match=found):
        span_labels(groups, 3)


@pytest.mark.parametrize(
    ("layer", "found", "expected"),
    [
        ([None, ("I-X",)], "'I-X' at token 2", "O or B-TYPE"),
        ([("B-X",), ("I-Y",)], "'I-Y' at token 2 after 'B-X'", "I- with the type"),  # was a bare ValueError
        ([("B-X", "O"), ("I-Y", "I-Z")], "'I-Y|I-Z' at token 2 after 'B-X|O'", "I- with the type"),
        ([("B-X",), ("",)], "'' at token 2", "O or B-TYPE"),  # was an IndexError
    ],
)
def test_labels_that_are_not_in_iob2_are_refused(layer, found, expected):
    with pytest.raises(CorpusError) as error:
        Sentence(("a", "b"), {"x": tuple(layer)}, location=Location("f.conll", 7)).spans("x")
    assert str(error.value).startswith("f.conll:7: ")
    assert found in error.value.found and expected in error.value.expected


def test_with_valid_layers_keeps_all_else() -> None:
    sentence = Sentence(
        ("a", "b"),
        {"x": (("X",), None)},
        {"lemma": ("a", "b")},
        {"ud": ((Arc(0, "root"),), None)},
        ("# a comment",),
        ((1, "1-2\tab"),),
        ("X",),
        (0.5, 1.0),
        {"x": (Span(0, 1, "X"),)},
        2.0,
        Location("file", 3),
    )
    layers = {"y": (("Y",), ("Z",))}
    found, default = sentence.with_valid_layers(layers), Sentence(())
    assert found == replace(sentence, layers=layers)
    assert all(getattr(found, field.name) != getattr(default, field.name) for field in fields(Sentence))


@pytest.mark.parametrize("half", ["\ud800", "B-\udfff", "a\ud83d"])
def test_a_label_that_no_file_can_hold_is_refused_when_it_is_read(half):
    for labels in (["O", half], [None, ("O", half)], [{half}, "O"]):
        with pytest.raises(CorpusError, match="found half of a surrogate pair in layer 'tag'"):
            Corpus([(["a", "b"], labels)])
    with pytest.raises(CorpusError, match="half of a surrogate pair in head layer"):
        Sentence(("a",), heads={"head": ((Arc(0, half),),)})
    with pytest.raises(CorpusError, match="half of a surrogate pair in the guideline"):
        Corpus([(["a"], ["N"])], half)
    for X, y in (([[["a"]], [["b"]]], [["A"], [half]]), ([[[half]], [["b"]]], [["A"], ["B"]])):
        with pytest.raises(ValueError, match="half of a surrogate pair"):
            ChainCRF().fit(X, y)


def test_a_model_of_a_file_whose_name_is_no_text_is_saved(tmp_path):
    corpus = tmp_path / "\udcff.col"
    corpus.write_text("a\tN\nb\tV\n\n", encoding="utf-8")
    model = tw.train(corpus, iterations=1)
    model.save(tmp_path / "model")
    assert tw.load_model(tmp_path / "model").tag([["a"]])
