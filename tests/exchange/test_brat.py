"""brat's folders of texts with annotation beside them."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

import tagweave as tw
from tagweave.errors import CorpusError
from tagweave.exchange.brat import TOOL
from tagweave.exchange.document import Document, Mark

TEXT = "Ann and Bob Bell\nleft St Pölten."
MARKED = """\
T1\tPER 0 3;12 16\tAnn Bell
T2\tPER 8 16\tBob Bell
E1\tLeave:T9 Who:T1
T9\tLeave 17 21\tleft
R1\tSibling Arg1:T1 Arg2:T2
A1\tNegated E1
*\tAlias T1 T2
N1\tReference T1 Wikidata:Q1\tAnn
#1\tAnnotatorNotes T1\tunsure

"""


def pair(folder: Path, name: str, marked: str | None, text: str = TEXT) -> Path:
    folder.mkdir(exist_ok=True, parents=True)
    (folder / f"{name}.txt").write_text(text, "utf-8")
    if marked is not None:
        (folder / f"{name}.ann").write_text(marked, "utf-8")
    return folder


def test_a_folder_is_an_annotator(tmp_path: Path) -> None:
    """A text without annotation has not been seen, one with an empty file has; what is no span is counted."""
    pair(tmp_path / "ann", "a", MARKED)
    pair(tmp_path / "ann", "b", "")
    pair(tmp_path / "ann" / "more", "c", None)
    first, second, third = TOOL.read(str(tmp_path / "ann"))
    assert first.marks == {"ann": (Mark(0, 16, "PER", gaps=True, line=1), Mark(8, 16, "PER"), Mark(17, 21, "Leave"))}
    others = ("events", "relations", "attributes", "equivalences", "normalisations", "notes")
    assert first.left_out == dict.fromkeys(others, 1)
    assert (second.marks, third.marks, third.name) == ({"ann": ()}, {}, "more/c")


def test_folders_of_the_same_texts_are_annotators(tmp_path: Path) -> None:
    pair(tmp_path / "ann", "a", "T1\tPER 0 3\tAnn\n")
    pair(tmp_path / "bob", "a", "T1\tLOC 22 31\tSt Pölten\n")
    told: list[str] = []
    corpus = tw.read_documents("brat", tmp_path, tell=told.append)
    assert list(corpus[0].layers) == ["ann", "bob"] and corpus[1].forms == ("left", "St", "Pölten", ".")
    assert corpus[1].layers["bob"] == (("O",), ("B-LOC",), ("I-LOC",), ("O",)) and not told


def test_either_file_of_a_pair(tmp_path: Path) -> None:
    pair(tmp_path, "a", "T1\tPER 0 3\tAnn\r\nT2\tLOC 22 24;25 31\tSt Pölten\n")
    for name in ("a.txt", "a.ann"):
        (found,) = TOOL.read(str(tmp_path / name))
        assert found.marks == {"annotator": (Mark(0, 3, "PER"), Mark(22, 31, "LOC"))} and found.name == "a"


@pytest.mark.parametrize(
    ("marked", "told"),
    [
        ("x\n", "a.ann:1: found 'x', expected T1<TAB>TYPE START END<TAB>TEXT"),
        ("\nT1\tPER 0 99\tAnn\n", "a.ann:2: found the span 0 99, expected characters of the text, 0 to 32"),
        ("T1\tPER 3 3\t\n", "a.ann:1: found the span 3 3"),
        (f"T1\tPER 0 {'9' * 5000}\tAnn\n", "a.ann:1: found the span 0 999"),
        ("T1\tPER 1 4\tAnn\n", "a.ann:1: found the span 1 4 of 'Ann', expected 'nn ', as the text has it there"),
        ("T1\tPER 8 16;0 3\tx\n", "a.ann:1: found the span 8 16;0 3"),
    ],
)
def test_mistakes_are_named_with_their_place(tmp_path: Path, marked: str, told: str) -> None:
    pair(tmp_path, "a", marked)
    with pytest.raises(CorpusError) as error:
        list(TOOL.read(str(tmp_path)))
    assert told in str(error.value)


def test_an_annotation_without_its_text(tmp_path: Path) -> None:
    (tmp_path / "a.ann").write_text("")
    with pytest.raises(CorpusError, match=r"found no a.txt, expected the text beside its annotation"):
        list(TOOL.read(str(tmp_path)))
    (tmp_path / "b.txt").write_bytes(b"a\nb\xff")
    with pytest.raises(CorpusError, match=r"b.txt:2: found the byte 0xff, expected UTF-8"):
        list(TOOL.read(str(tmp_path / "b.txt")))


def test_layers_are_folders_of_a_zip(tmp_path: Path) -> None:
    """Names of documents are names of files only as far as these may be any."""
    given = [Document("a b", {"x/../y": (Mark(0, 1, "X"),), "z": ()}, name) for name in ("../n", ".._n", "")]
    with (tmp_path / "w.zip").open("wb") as stream:
        TOOL.write(given, stream)
    names = zipfile.ZipFile(tmp_path / "w.zip").namelist()
    assert len(names) == len({*names}) == 12 and not any(".." in name.split("/") for name in names)
    found = list(TOOL.read(str(tmp_path / "w.zip")))
    assert [{*each.marks} for each in found] == [{"x_.._y"}] * 3 + [{"z"}] * 3
    with (tmp_path / "w.zip").open("wb") as stream, pytest.raises(CorpusError, match="found the label 'a b'"):
        TOOL.write([Document("a", {"x": (Mark(0, 1, "a b"),)})], stream)


def test_a_discontinuous_span_is_refused_by_its_line(tmp_path: Path) -> None:
    pair(tmp_path / "ann", "a", MARKED)
    for misaligned in ("error", "widen"):
        with pytest.raises(CorpusError, match=r"a\.ann:1: found the discontinuous span .*type PER"):
            tw.read_documents("brat", tmp_path / "ann", misaligned=misaligned)
