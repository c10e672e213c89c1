"""Layers of spans that may overlap: which can be one, and what one layer says for several."""

from __future__ import annotations

from itertools import product

import pytest

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.overlapping import are_of_types, by_types, groups, joined, layer_types, of_group, refuse_overlap
from tagweave.corpus.sentence import Candidates, Layer, Sentence
from tagweave.corpus.spans import Span
from tagweave.errors import CorpusError

TYPES = {"A": ("A",), "B": ("B", "C")}
EVERY = ("O", "B-A", "I-A", "B-B", "I-B", "B-C", "I-C")


def layer(labels: str) -> Layer:
    return tuple(None if label == "_" else tuple(label.split("|")) for label in labels.split())


def corpus(*sentences: dict[str, str]) -> Corpus:
    rows = [{name: layer(labels) for name, labels in layers.items()} for layers in sentences]
    forms = [("a",) * len(next(iter(layers.values()))) for layers in rows]
    return Corpus(tuple(map(Sentence, forms, rows)), "A")


def test_layers_that_code_spans_have_types() -> None:
    given = corpus({"A": "B-A I-A", "pos": "N V", "B": "O !B-C", "none": "O O"}, {"B": "B-B|B-* O"})
    assert layer_types([given]) == {"A": ("A",), "B": ("B", "C")}


CASES: list[tuple[str, list[dict[str, str]], list[tuple[str, ...]]]] = [
    ("spans never overlap", [{"A": "B-A O O", "B": "O B-B O", "C": "O O B-C"}], [("A", "B", "C")]),
    ("nested spans", [{"A": "B-A I-A O", "B": "B-B O O", "C": "O O B-C"}], [("A", "C"), ("B",)]),
    ("crossing spans", [{"A": "B-A I-A O", "B": "O B-B I-B", "C": "O O O"}], [("A",), ("B",)]),
    ("of other text", [{"A": "B-A"}, {"B": "B-B"}], [("A",), ("B",)]),
    ("both unknown in a sentence", [{"A": "B-A O", "B": "O B-B"}, {"A": "_", "B": "_"}], [("A", "B")]),
    ("incomplete", [{"A": "B-A O", "B": "O B-B"}, {"A": "_ O", "B": "O O"}], [("A",), ("B",)]),
    ("uncertain", [{"A": "B-A O", "B": "O B-B|O"}], [("A",), ("B",)]),
    ("a type in common", [{"A": "B-X O", "B": "O B-X"}], [("A",), ("B",)]),
]


@pytest.mark.parametrize(("sentences", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_groups(sentences: list[dict[str, str]], expected: list[tuple[str, ...]]) -> None:
    given = [corpus(*sentences)]
    assert groups(given, layer_types(given)) == expected


def test_a_layer_with_rejected_spans_stays_alone() -> None:
    sentence = corpus({"A": "B-A O", "B": "O B-B"})[0].rejecting("B", [Span(0, 1, "B")])
    given = [Corpus((sentence,), "A")]
    assert groups(given, layer_types(given)) == [("A",), ("B",)]


def test_layers_of_types_that_overlap_are_seen() -> None:
    assert are_of_types([corpus({"A": "B-A", "B": "B-B"})])
    assert not are_of_types([corpus({"A": "B-A O", "B": "O B-B"})])
    assert not are_of_types([corpus({"ann": "B-A", "bob": "B-A"})])  # annotators


CANDIDATES: tuple[tuple[Candidates, ...], tuple[Candidates, ...]] = (
    (None, ("O",), ("B-A",), ("O", "I-A"), ("B-*",), ("!B-A",)),
    (None, ("O",), ("B-B",), ("B-B", "I-C"), ("O", "B-*"), ("!O",), ("B-*",)),
)


def allows(candidates: Candidates, label: str) -> bool:
    """Whether candidates of a layer allow a label, or what it is outside of the layer."""
    return candidates is None or any(
        label == candidate or (candidate[2:] == "*" and candidate[:2] == label[:2]) or candidate == label
        if candidate[0] != "!"
        else candidate[1:] != label
        for candidate in candidates
    )


@pytest.mark.parametrize("pair", list(product(*CANDIDATES)))
def test_a_joint_layer_allows_what_all_layers_allow(pair: tuple[Candidates, Candidates]) -> None:
    sentence = Sentence(("a",), {name: (candidates,) for name, candidates in zip(TYPES, pair, strict=True)})
    allowed = {
        label
        for label in EVERY
        if all(
            allows(candidates, label if label[2:] in kinds else "O")
            for candidates, kinds in zip(pair, TYPES.values(), strict=True)
        )
    }
    (found,) = joined(sentence, ["A", "B"], TYPES)
    assert (set(found) if found else set(EVERY) if pair == (None, None) else set()) == allowed


def test_what_a_corpus_covers_of_a_group() -> None:
    given = corpus({"A": "B-A O", "B": "O B-B"})
    both = ("A", "B")
    for covered, expected in ((both, both), (("A", "B-C"), ("A", "C")), (("A", "B", "C"), None), (("X",), ())):
        (sentence,) = of_group(given.covering(covered), ("A", "B"), TYPES)
        assert sentence.covered == expected
        assert sentence.layers == {"A+B": layer("_ _" if expected == () else "B-A B-B")}


def test_a_layer_of_several_types_becomes_layers_of_types() -> None:
    given = corpus({"tag": "B-A B-B I-B B-A|B-B _"})
    own = Corpus(given.sentences, "tag")
    (sentence,) = by_types(own, ["A", "B", "C"])
    rest = "B-*|O"  # whatever follows a span that is whole
    assert sentence.layers == {"A": layer(f"B-A O O B-A|O {rest}"), "B": layer(f"O B-B I-B O|B-B {rest}")}
    assert by_types(own, ["A"]) is own
    named = Corpus(tuple(sentence.renamed({"tag": "ner"}) for sentence in given), "ner")
    assert by_types(named, ["A", "B", "C"]) is named


def test_overlap_within_a_group_is_refused_by_its_place() -> None:
    with pytest.raises(CorpusError, match="found spans of A and B that overlap at token 2, 'a', expected none"):
        refuse_overlap(corpus({"A": "B-A I-A", "B": "O B-B"})[0], ["A", "B"])
