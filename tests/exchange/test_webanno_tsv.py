"""WebAnno TSV 3.3: escapes, stacked spans, spans of several tokens and of parts, and what is left out."""

from __future__ import annotations

from pathlib import Path

import pytest

import tagweave as tw
from tagweave.errors import CorpusError
from tagweave.exchange.document import Document, Mark
from tagweave.exchange.webanno_tsv import TOOL

HEADER = "#FORMAT=WebAnno TSV 3.3\n#T_SP=de.x.NamedEntity|value\n"
EXAMPLE = """\
#FORMAT=WebAnno TSV 3.3
#T_SP=webanno.custom.Empty|
#T_SP=de.x.NamedEntity|identifier|value
#T_SP=webanno.custom.Frame|ROLE_webanno.custom.Frame:Roles_webanno.custom.Link|uima.tcas.Annotation
#T_CH=de.x.CoreferenceLink|referenceType|referenceRelation
#T_RL=webanno.custom.Relation|label|BT_de.x.NamedEntity


#Sentence.id=s1
#Text=😀 Ann Bell-Ray \\\\ left
#Text=Graz.
1-1\t0-2\t😀\t*\t_\t_\t_\t_\t_\t_\t_\t_\t
1-2\t3-6\tAnn\t_\t*[1]|Q1[2]\tPER[1]|A\\|B\\_\\[\\][2]\tseller;*\t1-1;1-3\t*[1]\tcoref->1-1\tr\t1-1[0_1]
1-3\t7-15\tBell-Ray\t_\t*[1]\tPER[1]\t_\t_\t_\t_\t_\t_
1-3.1\t12-15\tRay\t_\t*\tLAST\t_\t_\t_\t_\t_\t_
1-3.2\t15-15\t\t_\t*\tEND\t_\t_\t_\t_\t_\t_
1-4\t16-17\t\\\t_\t*\t*\t_\t_\t_\t_\t_\t_
1-5\t18-22\tleft\t_\t_\t_\t_\t_\t_\t_\t_\t_
1-6\t23-28\tGraz.\t_\t_\t_\t_\t_\t_\t_\t_\t_

#Text=Bob.
2-1\t30-34\tBob.\t_\t*\tPER\t_\t_\t_\t_\t_\t_
"""


def file(folder: Path, content: str) -> str:
    (folder / "a.tsv").write_text(content, "utf-8")
    return str(folder / "a.tsv")


def test_the_format(tmp_path: Path) -> None:
    (found,) = TOOL.read(file(tmp_path, EXAMPLE) + "#value")
    assert found.text == "😀 Ann Bell-Ray \\ left\nGraz.\n\nBob."
    assert found.sentences == ((0, 27), (29, 33)) and found.tokens is not None and found.tokens[1] == (2, 5)
    marks = (Mark(2, 14, "PER"), Mark(2, 5, "A|B_[]"), Mark(11, 14, "LAST"), Mark(29, 33, "PER"))
    assert found.marks == {"annotator": marks}
    others = ("relations", "chains", "slots", "spans without characters", "spans without NamedEntity.value")
    assert [found.left_out.get(name) for name in others] == [1] * len(others)
    (other,) = TOOL.read(f"{tmp_path / 'a.tsv'}#Empty")
    assert other.marks == {"annotator": (Mark(0, 1, "Empty"),)}


def test_as_a_corpus_and_back(tmp_path: Path) -> None:
    rows = "#Text=Ann left.\n1-1\t0-3\tAnn\tPER\t\n1-2\t4-8\tleft\t_\t\n1-3\t8-9\t.\t_\t\n"
    corpus = tw.read_documents("webanno-tsv", file(tmp_path, f"{HEADER}\n\n{rows}"))
    assert corpus[0].layers["tag"] == (("B-PER",), ("O",), ("O",))
    tw.write_documents("webanno-tsv", corpus, tmp_path / "b.zip")
    for tool in ("webanno-tsv", "inception"):
        (again,) = tw.read_documents(tool, tmp_path / "b.zip")
        assert (again.layers, again.comments) == (corpus[0].layers, corpus[0].comments)


def test_a_span_without_tokens_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "b.zip").open("wb") as stream, pytest.raises(CorpusError, match="found the span 1 to 2 without"):
        TOOL.write([Document("a b", {"x": (Mark(1, 2, "X"),)})], stream)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("x", r":1: found 'x', expected '#FORMAT=WebAnno TSV 3.3'"),
        ("#FORMAT=WebAnno TSV 3.1\n", ":1: found '#FORMAT=WebAnno TSV 3.1'"),
        (f"{HEADER}\n\n#Text=a\n1-1\t0-1\ta\n", ":6: found '1-1.*, expected an ID, offsets, a token, and 1 columns"),
        (f"{HEADER}\n\n#Text=a\nx\t0-1\ta\t_\n", ":6: found 'x"),
        (f"{HEADER}\n\n#Text=a\n1-1\t0\ta\t_\n", ":6: found the offsets '0', expected START-STOP"),
        (f"{HEADER}\n\n#Text=a\n1-1\t0-1\tb\t_\n", ":6: found the token 'b' from 0 to 1, expected what the text has"),
        (f"{HEADER}\n\n#Text=a\n1-1\t0-0\t\t_\n", ":6: found the token '' from 0 to 0, expected what the text has"),
        (f"{HEADER}\n\n#Text=😀\n1-1\t0-1\t😀\t_\n", ":6: found the token '😀' from 0 to 1"),
        (f"{HEADER}\n\n#Text=a\n1-1\t999999999-1000000000\ta\t_\n", ":6: found a sentence from 999999999 after 0"),
        (f"{HEADER}\n\n#Text=a b\n1-1\t0-1\ta\tX[1]\n1-2\t2-3\tb\tY[1]\n", ":7: found the value 'Y' of the span"),
    ],
)
def test_mistakes_are_named_with_their_line(tmp_path: Path, content: str, told: str) -> None:
    with pytest.raises(CorpusError, match=told):
        list(TOOL.read(file(tmp_path, content)))
