"""How far labels are believed, and labels that annotators looked for: from files and into them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats import FORMATS
from tagweave.corpus.load import load, save
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError
from tagweave.training.fit.fit import prepare
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import Task

ROW = "{}\t{}\t_\tNN\t_\t_\t_\t_\t_\t{}\n"


def test_a_column_of_a_column_file(tmp_path: Path) -> None:
    file = tmp_path / "a.col"
    file.write_text("# columns = form confidence pd ctb\n研究\t0.25\tvn\tNN\n问题\t1\tn\tNN\n\n", encoding="utf-8")
    corpus = load(str(file))
    assert corpus.guideline == "ctb"
    assert corpus[0].confidence == (0.25, 1.0)
    assert sorted(corpus[0].layers) == ["ctb", "pd"]


def test_a_position_without_a_number_is_believed(tmp_path: Path) -> None:
    file = tmp_path / "a.col"
    file.write_text("# columns = form confidence tag\na\t_\tX\nb\t0.5\tY\n\nc\t_\tX\n\n", encoding="utf-8")
    assert [s.confidence for s in load(str(file))] == [(1.0, 0.5), None]


def test_a_key_of_misc(tmp_path: Path) -> None:
    file = tmp_path / "a.conllu"
    rows = ROW.format(1, "a", "Confidence=0.5|SpaceAfter=No") + ROW.format(2, "b", "_") + "\n"
    file.write_text(rows, encoding="utf-8")
    sentence = load(str(file))[0]
    assert sentence.confidence == (0.5, 1.0)
    assert sentence.columns["misc"] == ("Confidence=0.5|SpaceAfter=No", "_")


@pytest.mark.parametrize("field", ["x", "-0.1", "1.5", "nan", "inf", "0,5", "0.5|0.6"])
def test_what_is_no_confidence_is_refused(field: str, tmp_path: Path) -> None:
    file = tmp_path / "a.col"
    file.write_text(f"# columns = form confidence tag\na\t0.5\tX\n\nb\t{field}\tX\n\n", encoding="utf-8")
    with pytest.raises(CorpusError, match="expected a number from 0 to 1") as error:
        load(str(file))
    assert str(file) in str(error.value)
    assert ":4" in str(error.value)


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=5),
    st.sampled_from([name for name, form in FORMATS.items() if form.confidence]),
)
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, values: list[float], form: str) -> None:
    sentence = Sentence(("w",) * len(values), {"upos": (("X",),) * len(values)})
    confidence = FORMATS[form].confidence
    assert confidence is not None
    twice = confidence.written(confidence.written(sentence, [0.0] * len(values)), values)
    file = tmp_path_factory.mktemp("files") / f"a{FORMATS[form].extensions[0]}"
    save(Corpus((twice,), "upos"), str(file))
    found = load(str(file))[0]
    assert found.confidence == pytest.approx(values, abs=1e-6)
    assert found.layers["upos"] == sentence.layers["upos"]


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


def test_covered_labels_that_no_label_has_are_refused(path: Path) -> None:
    path.write_text(TEXT.replace("LOC PER", "LOC PRE"), encoding="utf-8")
    with pytest.raises(CorpusError, match="the covered type 'PRE'"):
        prepare([load(str(path))], Recipe(Task("tag")))
