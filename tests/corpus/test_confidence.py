"""How far labels are believed, from files and into them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats.registry import FORMATS
from tagweave.corpus.load import load, save
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError

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
