"""Treebanks with phrases moved, and the page of parsers of trees whose arcs cross."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reproductions.free_trees import study
from reproductions.free_trees.extraposition import extraposed
from reproductions.free_trees.treebanks import Treebank
from reproductions.lab.corpora import Parts
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Arc, Sentence
from tagweave.training.tree_problem import crossing
from treebank import sentence, treebank

RELATIONS = ("det", "nsubj:pass", "case", "nmod", "aux", "root", "advmod", "punct")
TALK = Sentence(
    ("a", "talk", "on", "trees", "was", "given", "today", "."),
    {"upos": tuple((tag,) for tag in ("DET", "NOUN", "ADP", "NOUN", "AUX", "VERB", "ADV", "PUNCT"))},
    heads={"head": tuple((Arc(h, r),) for h, r in zip((2, 6, 4, 2, 6, 0, 6, 6), RELATIONS, strict=True))},
)


def test_a_modifier_goes_to_the_end_of_the_phrase_above() -> None:
    (moved,) = extraposed(Corpus((TALK,), "head"), 1.0)
    assert " ".join(moved.forms) == "a talk was given today on trees ."
    assert [arc[0].head for arc in moved.heads["head"] if arc] == [2, 4, 4, 0, 4, 7, 2, 4]
    assert [tag for (tag,) in moved.layers["upos"]] == ["DET", "NOUN", "AUX", "VERB", "ADV", "ADP", "NOUN", "PUNCT"]
    assert crossing([moved], "head") == 1
    assert extraposed(Corpus((TALK,), "head"), 0.0)[0].forms == TALK.forms


def test_an_object_below_two_verbs_goes_to_the_front() -> None:
    arcs = zip((2, 0, 4, 2, 4), ("nsubj", "root", "mark", "xcomp", "obj"), strict=True)
    given = Sentence(("I", "want", "to", "see", "trees"), heads={"head": tuple((Arc(h, r),) for h, r in arcs)})
    (moved,) = extraposed(Corpus((given,), "head"), 1.0)
    assert " ".join(moved.forms) == "trees I want to see"
    assert [arc[0].head for arc in moved.heads["head"] if arc] == [5, 3, 0, 5, 3]


def test_the_command_writes_a_page_and_keeps_its_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    crossed = sentence("NVDN", [3, 4, 0, 3])
    corpora = (Corpus((*treebank(count, seed), crossed), "head") for seed, count in enumerate((30, 10, 10)))
    bank = Treebank("invented", "Invented trees", Parts(*corpora))
    monkeypatch.setattr(study, "treebanks", lambda folder, quick: iter([bank]))
    words = ["--quick", "--seeds", "1", "--cache", str(tmp_path / "cache"), "--out", str(tmp_path)]
    study.main(words)
    told = json.loads((tmp_path / "data" / "parsing-free-trees.json").read_text("utf-8"))
    (found,) = told["treebanks"]
    assert found["crossing"] == {"train": 1, "dev": 1, "test": 1}
    assert found["systems"]["projective"]["crossing"] == [0]
    page = (tmp_path / "parsing-free-trees.md").read_text("utf-8")
    assert "Invented trees. Sentences whose arcs cross: train 1 of 31, dev 1 of 11, test 1 of 11." in page
    assert "nan" not in page
    monkeypatch.setattr("reproductions.free_trees.cells.fit", lambda *_: pytest.fail("trained again"))
    study.main(words)
    assert (tmp_path / "parsing-free-trees.md").read_text("utf-8") == page
