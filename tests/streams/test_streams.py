"""What formats of output can hold, and labels that were looked for in documents of a stream."""

from __future__ import annotations

from pathlib import Path

import pytest

from tagweave.corpus.formats import FORMATS, columns
from tagweave.corpus.load import load
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError, StreamError
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.streams.labelling import WordLabelling
from tagweave.streams.stream import Pipeline, check_can_hold, with_layers
from tagweave.training.fit.fit import prepare
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import Task


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
    trees = Pipeline(iter(()))
    trees.check_format(FORMATS["conllu"])
    with pytest.raises(StreamError, match="found trees and the format columns, expected conllu"):
        trees.check_format(FORMATS["columns"])


TEXT = """\
# labels_covered = PER
Anna\tB-PER
Graz\tO

# labels_covered = LOC
# id = 2
Anna\tO
Graz\tB-LOC

Anna\tO
"""


def test_each_document_covers_its_own_labels(tmp_path: Path) -> None:
    file = tmp_path / "documents.conll"
    file.write_text(TEXT, encoding="utf-8")
    tagger = ChainPredictor(prepare([load(str(file))], Recipe(Task("spans", "IOB2"))).model)
    [block] = WordLabelling(tagger, str(file)).blocks()
    tables = tagger.probabilities(block.evidence.sentences, tagger.guideline, block.evidence.covered)
    possible = [{name for name, p in zip(tagger.labels, table[-1], strict=True) if p > 1e-9} for table in tables]
    assert possible == [{"B-LOC", "O"}, {"B-LOC"}, {"B-PER", "O"}]


def test_complete_annotation_says_nothing_of_covered_labels(tmp_path: Path) -> None:
    file = tmp_path / "documents.conll"
    file.write_text(TEXT, encoding="utf-8")
    tagger = ChainPredictor(prepare([load(str(file))], Recipe(Task("spans"))).model)
    done = list(WordLabelling(tagger, str(file)).sentences(columns.FORMAT))
    assert [each.comments for each in done] == [(), ("# id = 2",), ()]
    assert all(each.covered is None for each in done)
