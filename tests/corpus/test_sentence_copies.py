from __future__ import annotations

from dataclasses import fields, replace

from tagweave.corpus.sentence import Arc, Location, Sentence
from tagweave.corpus.spans import Span


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
