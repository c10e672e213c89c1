from __future__ import annotations

from itertools import product

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tagweave.corpus.chunk_schemes import SCHEMES, coded, convert, detect, gaps_in, readable, strays, validate
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError

LETTERS = {"IOB1": "BI", "IOB2": "BI", "BIOES": "BIES"}


def codings(length, types, scheme):
    """The naive twin: every chunking of so many tokens, as {its labels in the scheme: its chunks}."""
    found = {}
    for chunking in chunkings(0, length, types):
        labels = ["O"] * length
        for start, end, kind in chunking:
            beside = any(e == start and k == kind for _, e, k in chunking)
            for position in range(start, end):
                first, last = position == start, position == end - 1
                letter = {
                    "IOB1": "B" if first and beside else "I",
                    "IOB2": "B" if first else "I",
                    "BIOES": {(1, 1): "S", (1, 0): "B", (0, 0): "I", (0, 1): "E"}[first, last],
                }[scheme]
                labels[position] = f"{letter}-{kind}"
        found[tuple(labels)] = chunking
    return found


def chunkings(start, length, types):
    if start == length:
        yield ()
        return
    for rest in chunkings(start + 1, length, types):
        yield rest
    for end in range(start + 1, length + 1):
        for kind, rest in product(types, chunkings(end, length, types)):
            yield ((start, end, kind), *rest)


def corpus(*layers, covered=None):
    sentences = (Sentence(tuple("abcdef"[: len(layer)]), {"tag": tuple(layer)}) for layer in layers)
    return Corpus(tuple(sentences), covered=covered)


def gold(text):
    return tuple((label,) for label in text.split())


@pytest.mark.parametrize(("source", "target"), list(product(SCHEMES, SCHEMES)))
def test_every_chunking_is_converted(source, target):
    for length in (1, 2, 3, 4):
        target_of = {chunks: labels for labels, chunks in codings(length, "XY", target).items()}
        for labels, chunks in codings(length, "XY", source).items():
            (converted,) = convert(corpus([(label,) for label in labels]), target, source)
            assert converted.layers["tag"] == tuple((label,) for label in target_of[chunks])


@st.composite
def evidence(draw):
    scheme, target = draw(st.sampled_from(SCHEMES)), draw(st.sampled_from(SCHEMES))
    labels = ["O", *(f"{letter}-{kind}" for letter in LETTERS[scheme] for kind in "XY")]
    candidates = st.none() | st.lists(st.sampled_from(labels), min_size=1, max_size=3, unique=True).map(tuple)
    return scheme, target, draw(st.lists(candidates, min_size=1, max_size=4))


def ends_at_unknown(chunks, layer, scheme):
    """Whether no chunk goes on at an unknown position after a label that is certainly in a chunk."""
    closed = [t for t in range(1, len(layer)) if layer[t] is None and layer[t - 1] and "O" not in layer[t - 1]]
    return scheme == "BIOES" or not any(start < t < end for start, end, _ in chunks for t in closed)


def expanded(candidates, types):
    return {name.replace("*", kind) for name in candidates for kind in types}


@given(evidence(), st.sampled_from(["spans", "tokens"]))
@example(("IOB1", "BIOES", [None, ("B-X", "B-Y"), None]), "spans")
@settings(max_examples=80, deadline=None)
def test_candidates_are_as_narrow_as_sets_can_be(drawn, gaps):
    """Against all chunkings with the types named and two others, which stand for the open list of types."""
    source, target, layer = drawn
    named = {label[2:] for candidates in layer for label in candidates or () if label != "O"}
    types = [*sorted(named), "other", "another"]
    target_of = {chunks: labels for labels, chunks in codings(len(layer), types, target).items()}
    results = [
        target_of[chunks]
        for labels, chunks in codings(len(layer), types, source).items()
        if all(c is None or label in c for label, c in zip(labels, layer, strict=True))
        and (gaps == "tokens" or ends_at_unknown(chunks, layer, source))
    ]
    if not results:
        with pytest.raises(CorpusError):
            convert(corpus(layer), target, source, gaps=gaps)
        return
    (converted,) = convert(corpus(layer), target, source, gaps=gaps)
    for position, candidates in enumerate(converted.layers["tag"]):
        possible = {labels[position] for labels in results}
        if candidates is None:
            assert layer[position] is None
            assert any(label.endswith("other") for label in possible)
        else:
            assert expanded(candidates, types) >= possible
            if not any("*" in label for label in candidates):  # a wildcard of a letter covers the types that are named
                assert set(candidates) == possible


def test_an_open_right_end_survives_conversion():
    open_ended = corpus([("B-X",), ("B-*", "I-X", "O"), None])
    (bioes,) = convert(open_ended, "BIOES", "IOB2")
    assert set(bioes.layers["tag"][0]) == {"S-X", "B-X"}
    (back,) = convert(corpus(bioes.layers["tag"]), "IOB2", "BIOES")
    assert set(back.layers["tag"][1]) == {"B-*", "I-X", "O"}
    (closed,) = convert(corpus([("B-X",), None]), "BIOES", "IOB2")
    assert closed.layers["tag"] == (("S-X",), None)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_validation_accepts_exactly_the_codings(scheme):
    labels = ["O", *(f"{letter}-{kind}" for letter in LETTERS[scheme] for kind in "XY")]
    right = codings(3, "XY", scheme)
    for sequence in product(labels, repeat=3):
        (sentence,) = corpus([(label,) for label in sequence])
        if sequence in right:
            validate(sentence, "tag", scheme)
        else:
            with pytest.raises(CorpusError):
                validate(sentence, "tag", scheme)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_unknown_stays_unknown(scheme):
    for target in SCHEMES:
        (converted,) = convert(corpus([None, None, None]), target, scheme)
        assert converted.layers["tag"] == (None, None, None)


@pytest.mark.parametrize(
    ("layers", "scheme"),
    [
        (["B-X I-X O"], "IOB2"),
        (["I-X I-X O"], "IOB1"),
        (["I-X B-X O"], "IOB1"),
        (["B-X E-X S-X"], "BIOES"),
        (["S-X O"], "BIOES"),
        (["O O"], "IOB2"),
        (["O", "I-X", "I-X B-X"], "IOB1"),
    ],
)
def test_detection(layers, scheme):
    assert detect(corpus(*map(gold, layers)), "tag") == scheme


def test_an_empty_sentence_has_no_labels():
    (converted,) = convert(corpus([]), "BIOES", "IOB2")
    assert converted.layers["tag"] == ()


def test_labels_of_no_scheme_are_read_as_conlleval_does():
    broken = corpus(gold("I-X O I-Y B-Y"), gold("B-X I-Y"))
    assert readable(broken, "tag") == "IOB"
    assert strays(broken, "tag") == 3
    first, second = convert(broken, "BIOES", "IOB")
    assert first.layers["tag"] == gold("S-X O S-Y S-Y")
    assert second.layers["tag"] == gold("S-X S-Y")
    with pytest.raises(CorpusError):
        readable(corpus(gold("E-X B-X")), "tag")


def test_detection_under_candidates():
    assert detect(corpus([("I-X", "O"), ("I-X",)]), "tag") == "IOB1"
    assert detect(corpus([("B-X", "O"), None, ("I-X",)]), "tag") == "IOB2"


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        (["B-X I-X", "E-X O"], "the label 'E-X' at token 1, expected O or B I with -TYPE in the scheme IOB2"),
        (["NN"], "the label 'NN', expected O, or one of B I E S with or without -TYPE"),
        (["B-"], "the label 'B-'"),
        (["B-X I-X", "I-X B-X"], "I-X at token 1 after the start, expected labels that can follow each other"),
    ],
)
def test_no_scheme(layers, message):
    with pytest.raises(CorpusError, match=message):
        detect(corpus(*map(gold, layers)), "tag")


@pytest.mark.parametrize(
    ("layer", "scheme", "message"),
    [
        ("O I-X", "IOB2", "I-X at token 2 after O"),
        ("B-Y I-X", "IOB2", "I-X at token 2 after B-Y"),
        ("O B-X", "IOB1", "B-X at token 2 after O"),
        ("O B-X", "BIOES", "B-X at the last token"),
        ("B-X O", "BIOES", "O at token 2 after B-X"),
    ],
)
def test_the_message_says_where(layer, scheme, message):
    sentence = Sentence(("a", "b"), {"tag": gold(layer)}, location=("x.conll", 7))
    with pytest.raises(CorpusError, match=f"x.conll:7: found {message}, expected"):
        validate(sentence, "tag", scheme)


def test_chunks_without_types():
    (converted,) = convert(corpus(gold("B I O B")), "BIOES")
    assert converted.layers["tag"] == gold("B E O S")


def test_covered_labels_are_converted():
    converted = convert(corpus(gold("B-X O"), covered=("B-X", "I-X", "O")), "BIOES")
    assert converted.covered == ("B-X", "I-X", "E-X", "S-X", "O")
    assert convert(corpus(gold("B-X O")), "BIOES").covered is None


PARTS = {
    "I after a gap": ("_ I-X _ O", "tokens"),
    "O beside a gap, no I": ("_ O B-X _", "tokens"),
    "spans alone": ("_ B-X I-X _", "spans"),
    "O in complete sentences": ("O O B-X I-X", "spans"),
}


@pytest.mark.parametrize(("text", "expected"), PARTS.values(), ids=PARTS)
def test_labels_tell_what_was_left_out(text, expected):
    layer = [None if label == "_" else (label,) for label in text.split()]
    whole = [[("B-X",), ("I-X",), None]] * 60
    assert gaps_in(corpus(layer, *[[("B-X",), None, None]] * 60), "tag") == expected
    assert gaps_in(corpus(*whole, layer), "tag") == ("tokens" if text[:3] == "_ I" else "spans")


def test_many_spans_without_a_broken_one_are_whole():
    """Some tokens are known to be outside, but no I follows a gap."""
    layer = [("B-X",), ("I-X",), None, ("O",)]
    assert gaps_in(corpus(*[layer] * 10), "tag") == "tokens"
    assert gaps_in(corpus(*[layer] * 60), "tag") == "spans"


@pytest.mark.parametrize(
    ("gaps", "target", "expected"),
    [
        ("spans", "BIOES", ["S-X", "_", "_"]),
        ("tokens", "BIOES", ["B-X|S-X", "_", "_"]),
        ("spans", "IOB2", ["B-X", "B-*|O", "_"]),
        ("tokens", "IOB2", ["B-X", "B-*|I-X|O", "_"]),
    ],
)
def test_a_span_ends_before_a_gap_only_where_whole_spans_are_marked(gaps, target, expected):
    (sentence,) = coded(corpus([("B-X",), None, None]), target, gaps=gaps)
    assert ["_" if each is None else "|".join(sorted(each)) for each in sentence.layers["tag"]] == expected


def test_certain_and_unknown_layers_need_no_search(monkeypatch):
    certain = Sentence(("a", "b", "c"), {"tag": (("B-X",), ("I-X",), ("B-X",))})
    unknown = Sentence(("a", "b"), {"tag": (None, None)})
    corpus = Corpus((certain, unknown))
    monkeypatch.setattr("tagweave.corpus.chunk_schemes._feasible", None)
    assert detect(corpus, "tag") == "IOB2"
    fast = coded(corpus, "BIOES")
    assert fast[0].layers["tag"] == (("B-X",), ("E-X",), ("S-X",))
    assert fast[1].layers["tag"] == (None, None)
