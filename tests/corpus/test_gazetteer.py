"""Files of typed phrases."""

from __future__ import annotations

import pytest

from tagweave.corpus.gazetteer import Gazetteer, joined, parse, read
from tagweave.errors import CorpusError


def test_entries_of_all_forms() -> None:
    lines = ["Disease\theart failure", "", "Chemical|Drug\tlithium", "lithium", "new phrase ", "Disease\tlithium"]
    gazetteer = parse(lines)
    assert gazetteer.phrases == ("heart failure", "lithium", "new phrase")
    assert gazetteer.types == (("Disease",), ("Chemical", "Drug", "Disease"), None)
    assert gazetteer.names == ("Chemical", "Disease", "Drug")
    assert parse(gazetteer.lines()) == gazetteer


def test_entries_of_several_files() -> None:
    assert joined([parse(["a", "X\tb"]), parse(["Y\tb", "X\ta"])]) == Gazetteer(("a", "b"), (("X",), ("X", "Y")))
    assert joined([]) == Gazetteer()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("X\ta\tb", "the entry"),
        ("X\t ", "the entry"),
        ("\ta", "an empty label"),
        ("X Y\ta", "the type 'X Y', expected types without blanks"),
        ("X|X\ta", "a repeated alternative"),
    ],
)
def test_bad_lines_have_a_location(line: str, message: str, tmp_path) -> None:
    path = tmp_path / "gazetteer.tsv"
    path.write_text(f"X\tgood\n{line}\n")
    with pytest.raises(CorpusError, match=rf"gazetteer\.tsv:2: found {message}"):
        read(str(path))


def test_a_file_without_entries_is_refused(tmp_path) -> None:
    path = tmp_path / "empty.tsv"
    path.write_text("\n \n")
    with pytest.raises(CorpusError, match="no entry"):
        read(str(path))
