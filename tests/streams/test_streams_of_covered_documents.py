"""Labels that were looked for differ between the documents of a stream."""

from __future__ import annotations

from pathlib import Path

from tagweave.corpus.formats import columns
from tagweave.corpus.load import load
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.streams.labelling import WordLabelling
from tagweave.training.fit import prepare
from tagweave.training.recipe import Recipe
from tagweave.training.task import Task

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
