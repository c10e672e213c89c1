"""Copies of sentences whose tags and columns are unknown."""

from __future__ import annotations

from tagweave.corpus.sentence import Sentence
from tagweave.features.arc_templates import with_copies

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
