"""Notes of labels from a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from fixture_types import OpenStore
from made_tasks import GUIDELINE

from tagweave.annotate.intake import put_notes, read_notes
from tagweave.errors import CorpusError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "notes.tsv"
    path.write_text("NN\ta thing\n\nVV\n«X»\t <b>odd</b>\ttab \n", "utf-8")
    return path


def test_labels_and_notes_in_order(file: Path) -> None:
    assert list(read_notes(str(file)).items()) == [("NN", "a thing"), ("VV", ""), ("«X»", "<b>odd</b>\ttab")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("NN\ta\n\tb\n", "2: found the label '', expected one without blanks"),
        ("a thing\n", "1: found the label 'a thing'"),
        ("NN\na\nNN\tb\n", "3: found the label 'NN' twice"),
        ("\n", "found no labels"),
    ],
)
def test_what_is_no_list_of_labels(file: Path, text: str, message: str) -> None:
    file.write_text(text, "utf-8")
    with pytest.raises(CorpusError, match=message):
        read_notes(str(file))


def test_old_labels_keep_their_place_and_get_the_new_note(open_store: OpenStore, file: Path) -> None:
    store = open_store()
    store.add_labels(GUIDELINE, {"VV": "old", "AD": "stays"})
    assert put_notes(store, GUIDELINE, read_notes(str(file))) == 2
    assert list(store.labels(GUIDELINE)) == ["VV", "AD", "NN", "«X»"]
    assert store.labels(GUIDELINE) == {"VV": "", "AD": "stays", "NN": "a thing", "«X»": "<b>odd</b>\ttab"}
    assert put_notes(store, GUIDELINE, read_notes(str(file))) == 0
    assert store.labels("other") == {}
