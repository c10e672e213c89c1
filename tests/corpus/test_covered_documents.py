"""Labels that annotators looked for, which may differ between the documents of a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tagweave.corpus.load import load, load_outline, save
from tagweave.errors import CorpusError
from tagweave.training.fit import prepare
from tagweave.training.recipe import Recipe
from tagweave.training.task import Task

TEXT = """\
Anna\tB-PER
sat\tO

# labels_covered = PER
Bell\tB-PER
sat\tO

Bell\tB-PER
ran\tO

# labels_covered = LOC PER
in\tO
Graz\tB-LOC
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "two.conll"
    file.write_text(TEXT, encoding="utf-8")
    return file


def test_a_comment_holds_until_the_next(path: Path) -> None:
    corpus = load(str(path))
    assert corpus.covered is None
    assert [corpus.covered_in(each) for each in corpus] == [None, ("PER",), ("PER",), ("LOC", "PER")]


@pytest.mark.parametrize("task", ["spans", "tag"])
def test_o_says_nothing_of_types_that_a_document_does_not_cover(path: Path, task: str) -> None:
    problem = prepare([load(str(path))], Recipe(Task(task)))
    encoded, names = problem.objective.encoded, problem.model.space.names
    allowed = [{names[label] for label in problem.sets.labels(number)} for number in encoded.evidence.sets]
    assert allowed[1] == {"O"}
    assert allowed[3] == allowed[5] == {name for name in names if "PER" not in name}
    assert allowed[6] == {"O"}


def test_comments_are_written_again(path: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.conll"
    save(load(str(path)), str(again), "columns")
    first, second = load(str(path)), load(str(again))
    assert [second.covered_in(each) for each in second] == [first.covered_in(each) for each in first]
    turned = second.with_sentences(reversed(second.sentences))
    save(turned, str(again), "columns")
    third = load(str(again))
    assert [third.covered_in(each) for each in third] == [turned.covered_in(each) for each in turned]


def test_a_file_that_is_read_in_parts_has_one_comment(path: Path) -> None:
    with pytest.raises(CorpusError, match="several comments labels_covered"):
        load_outline(str(path))


def test_covered_labels_that_no_label_has_are_refused(path: Path) -> None:
    path.write_text(TEXT.replace("LOC PER", "LOC PRE"), encoding="utf-8")
    with pytest.raises(CorpusError, match="the covered label 'PRE'"):
        prepare([load(str(path))], Recipe(Task("tag")))
