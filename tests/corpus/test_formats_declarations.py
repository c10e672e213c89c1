"""What a format says that it holds is what its files hold."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats.registry import FORMATS, chosen_format, layer_names
from tagweave.corpus.load import load, save
from tagweave.corpus.sentence import Arc, Sentence
from tagweave.errors import CorpusError

if TYPE_CHECKING:
    from pathlib import Path

    from tagweave.corpus.formats.format import Format

WORDS = Sentence(("a", "b"), {"mine": (("S",), ("S",))})
KNOWN = (("S",), ("S",))
ALL = pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)


def again(sentence: Sentence, form: Format, folder: Path) -> Sentence:
    save(Corpus((sentence,), "mine"), str(folder / "corpus"), form.name)
    return load(str(folder / "corpus"), form.name)[0]


def test_extensions_are_of_one_format_each() -> None:
    counts = Counter(extension for form in FORMATS.values() for extension in form.extensions)
    assert set(counts.values()) == {1}
    assert all(extension == "." + extension.strip(".").lower() for extension in counts)


def test_a_name_counts_more_than_an_extension() -> None:
    assert chosen_format("raw", "x.seg") is FORMATS["raw"]
    with pytest.raises(CorpusError, match="found the format 'csv', expected one of tagged, "):
        chosen_format("csv", "x.seg")


def test_layers_of_files_that_do_not_name_them() -> None:
    assert layer_names() == {"tag", "segmentation", "upos", "xpos", "head"}


@ALL
def test_labels(form: Format, tmp_path: Path) -> None:
    if form.labels is None:
        with pytest.raises(CorpusError, match="found labels"):
            again(WORDS, form, tmp_path)
    else:
        assert KNOWN in again(WORDS, form, tmp_path).layers.values()


@ALL
def test_what_is_unknown_or_ambiguous(form: Format, tmp_path: Path) -> None:
    doubtful = replace(WORDS, layers={"mine": (("B", "S"), None)})
    if form.partial:
        found = again(doubtful, form, tmp_path).layers.values()
        assert any(None in layer or len(layer[0] or ()) > 1 for layer in found)
    else:
        with pytest.raises(CorpusError):
            again(doubtful, form, tmp_path)


@ALL
def test_several_layers(form: Format, tmp_path: Path) -> None:
    both = form.with_labels(WORDS, "other", (("X",), ("Y",)))
    assert len(both.layers) == (2 if form.holds_several else 1)
    if form.holds_several:
        found = again(both, form, tmp_path).layers.values()
        assert {layer for layer in found if any(layer)} == {KNOWN, (("X",), ("Y",))}


@ALL
def test_heads(form: Format, tmp_path: Path) -> None:
    tree = replace(WORDS, layers={}, heads={"head": ((Arc(2, "x"),), (Arc(0, "root"),))})
    found = again(tree, form, tmp_path).heads
    assert found == ({} if form.heads is None else {form.heads: tree.heads["head"]})


@ALL
def test_comments(form: Format, tmp_path: Path) -> None:
    corpus = Corpus((WORDS,), "mine", covered=("S",))
    if form.comments:
        save(corpus, str(tmp_path / "corpus"), form.name)
        found = load(str(tmp_path / "corpus"), form.name)
        assert (found.guideline, found.covered) == ("mine", ("S",))
    else:
        with pytest.raises(CorpusError, match="the format has no comments"):
            save(corpus, str(tmp_path / "corpus"), form.name)
