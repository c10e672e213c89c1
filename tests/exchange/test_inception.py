"""INCEpTION: CAS in XMI and JSON as its exports pack them, and the way back. Files are made by dkpro-cassis itself."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

import tagweave as tw
from tagweave.corpus.candidates import Soft
from tagweave.errors import CorpusError
from tagweave.exchange.document import Document, Mark
from tagweave.exchange.exports import tool as named
from tagweave.exchange.inception import TOOL

cassis = pytest.importorskip("cassis", reason="the extra inception is not installed")

TEXT = "😀 Ann left Graz. Bob\nstays."
DKPRO = "de.tudarmstadt.ukp.dkpro.core.api."
FEATURES = {
    f"{DKPRO}segmentation.type.Token": {},
    f"{DKPRO}segmentation.type.Sentence": {},
    f"{DKPRO}ner.type.NamedEntity": {"value": "uima.cas.String", "identifier": "uima.cas.String"},
    f"{DKPRO}metadata.type.TagsetDescription": {"name": "uima.cas.String"},
    "webanno.custom.Scored": {"label": "uima.cas.String", "score": "uima.cas.Float"},
    "webanno.custom.Plain": {},
    "webanno.custom.Relation": {"Governor": "uima.tcas.Annotation", "kind": "uima.cas.String"},
}
ENTITIES = [("ner.type.NamedEntity", 2, 5, {"value": "PER"}), ("ner.type.NamedEntity", 11, 15, {"value": "LOC"})]
SEGMENTS = [
    *(("segmentation.type.Sentence", *each, {}) for each in ((0, 16), (17, 27))),
    *(("segmentation.type.Token", *each, {}) for each in ((0, 1), (2, 5), (6, 10), (11, 15), (15, 16))),
    *(("segmentation.type.Token", *each, {}) for each in ((17, 20), (21, 26), (26, 27))),
]


def cas(*annotations: tuple[str, int, int, dict[str, Any]], text: str = TEXT) -> Any:
    types = cassis.TypeSystem()
    for name, features in FEATURES.items():
        types.create_type(name, supertypeName="uima.tcas.Annotation")
        for feature, kind in features.items():
            types.create_feature(types.get_type(name), feature, kind)
    made = cassis.Cas(typesystem=types)
    made.sofa_string = text
    for name, start, stop, values in annotations:
        whole = DKPRO + name if DKPRO + name in FEATURES else name
        made.add(types.get_type(whole)(begin=start, end=stop, **values))
    return made


def zipped(path: Path, files: dict[str, str | bytes]) -> str:
    with zipfile.ZipFile(path, "w") as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return str(path)


def packed(made: Any) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as inner:
        inner.writestr("admin.xmi", made.to_xmi())
        inner.writestr("TypeSystem.xml", made.typesystem.to_xml())
    return stream.getvalue()


def test_an_export_of_a_document(tmp_path: Path) -> None:
    """Offsets are units of UTF-16 in the file; sentences and tokens are those of the tool."""
    (tmp_path / "a.zip").write_bytes(packed(cas(*SEGMENTS, *ENTITIES)))
    corpus = tw.read_documents("inception", tmp_path / "a.zip")
    assert [each.forms for each in corpus] == [("😀", "Ann", "left", "Graz", "."), ("Bob", "stays", ".")]
    assert corpus[0].layers["tag"] == (("O",), ("B-PER",), ("O",), ("B-LOC",), ("O",))


@pytest.mark.parametrize("kind", ["zips", "xmi", "json"])
def test_an_export_of_a_project(tmp_path: Path, kind: str) -> None:
    """Annotators by the names of files; sources, settings, and what nobody has opened are no annotation."""
    people = {"ann": cas(*SEGMENTS, *ENTITIES), "bob.b": cas(*SEGMENTS, ENTITIES[0]), "INITIAL_CAS": cas(*SEGMENTS)}
    files: dict[str, str | bytes] = {"exportedproject.json": '{"name": "x"}', "source/doc.txt": TEXT}
    for name, made in people.items():
        if kind == "zips":
            files[f"annotation/doc.txt/{name}.zip"] = packed(made)
        elif kind == "json":
            files[f"annotation/doc.txt/{name}.json"] = made.to_json()
        else:
            files[f"annotation/doc.txt/{name}.xmi"] = made.to_xmi()
            files["TypeSystem.xml"] = made.typesystem.to_xml()
    corpus = tw.read_documents("inception", zipped(tmp_path / "project.zip", files))
    assert list(corpus[0].layers) == ["ann", "bob.b"] and len(corpus) == 2
    assert corpus[0].layers["bob.b"] == (("O",), ("B-PER",), ("O",), ("O",), ("O",))
    assert corpus[0].comments[0] == "# document = doc.txt"


def test_a_file_with_its_type_system_beside(tmp_path: Path) -> None:
    made = cas(*ENTITIES)
    (tmp_path / "a.xmi").write_text(made.to_xmi(), "utf-8")
    with pytest.raises(CorpusError, match=r"found no TypeSystem.xml, expected the type system beside the XMI"):
        list(TOOL.read(str(tmp_path / "a.xmi")))
    (tmp_path / "TypeSystem.xml").write_text(made.typesystem.to_xml(), "utf-8")
    (found,) = TOOL.read(str(tmp_path / "a.xmi"))
    assert found.marks == {"annotator": (Mark(2, 5, "PER"), Mark(11, 15, "LOC"))} and found.tokens is None


def test_one_of_several_layers(tmp_path: Path) -> None:
    more = [
        ("ner.type.NamedEntity", 17, 20, {"value": "PER", "identifier": "Q1"}),
        ("ner.type.NamedEntity", 6, 6, {"value": "PER"}),
        ("ner.type.NamedEntity", 6, 10, {}),
        ("webanno.custom.Scored", 6, 10, {"label": "GO", "score": 0.75}),
        ("webanno.custom.Scored", 21, 26, {"label": "STAY", "score": 7.0}),
        ("webanno.custom.Plain", 6, 10, {}),
        ("webanno.custom.Relation", 6, 10, {"kind": "r"}),
        ("metadata.type.TagsetDescription", 0, 1, {"name": "tags"}),
    ]
    path = tmp_path / "a.json"
    path.write_text(cas(*ENTITIES, *more).to_json(), "utf-8")
    names = "NamedEntity.identifier, NamedEntity.value, Plain, Scored.label"
    with pytest.raises(CorpusError, match=f"found the layers {names}, expected one of them: {path}#NamedEntity.ident"):
        list(TOOL.read(str(path)))
    with pytest.raises(CorpusError, match=f"found no layer x, expected one of {names}"):
        list(TOOL.read(f"{path}#x"))
    (found,) = TOOL.read(f"{path}#Scored")
    assert found.marks["annotator"] == (Mark(6, 10, "GO", 0.75), Mark(21, 26, "STAY"))
    assert found.left_out["relations Relation"] == 1 and found.left_out["spans without characters"] == 1
    assert found.left_out["spans of NamedEntity.value"] == 3
    assert found.left_out["spans of NamedEntity without a value"] == 1
    assert [mark.label for mark in next(TOOL.read(f"{path}#value")).marks["annotator"]] == ["PER", "LOC", "PER"]
    assert next(TOOL.read(f"{path}#Plain")).marks["annotator"] == (Mark(6, 10, "Plain"),)


def test_the_way_back_has_tokens_sentences_and_scores(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(packed(cas(*SEGMENTS, *ENTITIES)))
    corpus = tw.read_documents("inception", tmp_path / "a.zip")
    soft = corpus.map(lambda s: s.with_layer("tag", (Soft(("B-X", "O"), (0.75, 0.25)), *s.layers["tag"][1:])))
    assert tw.write_documents("inception", soft, tmp_path / "b.zip") == 1
    with zipfile.ZipFile(tmp_path / "b.zip") as packed_back:
        (name,) = (each for each in packed_back.namelist() if each.endswith(".xmi"))
        system = cassis.load_typesystem(packed_back.open("TypeSystem.xml"))
        made = cassis.load_cas_from_xmi(packed_back.open(name), typesystem=system)
    assert len(made.select(f"{DKPRO}segmentation.type.Sentence")) == 2
    assert [each.get_covered_text() for each in made.select(f"{DKPRO}segmentation.type.Token")][:2] == ["😀", "Ann"]
    entities = made.select(f"{DKPRO}ner.type.NamedEntity")
    assert [(each.value, each.score) for each in entities][:2] == [("X", 0.75), ("PER", 1.0)]
    again = tw.read_documents("inception", tmp_path / "b.zip")
    assert [(each.layers, each.comments[-1]) for each in again] == [(each.layers, each.comments[-1]) for each in soft]


def test_several_layers_are_annotators_of_a_project(tmp_path: Path) -> None:
    given = Document("a b", {"x": (Mark(0, 1, "A"),), "y": (Mark(2, 3, "B", 0.5),)}, "doc")
    for tool in map(named, ("inception", "webanno-tsv")):
        with (tmp_path / "w.zip").open("wb") as stream:
            tool.write([given], stream)
        pairs = [pair for each in tool.read(str(tmp_path / "w.zip")) for pair in each.marks.items()]
        assert {name: [mark.label for mark in marks or ()] for name, marks in pairs} == {"x": ["A"], "y": ["B"]}


def test_text_that_xml_cannot_hold(tmp_path: Path) -> None:
    with (tmp_path / "w.zip").open("wb") as stream, pytest.raises(CorpusError, match="found a text that XML cannot"):
        TOOL.write([Document("a\x01", {"x": ()})], stream)


@pytest.mark.parametrize("name", ["x=print(1)", "x, y=[open('/tmp/x','w')]", "x\ny", "class", "é b"])
def test_names_of_features_are_never_code(tmp_path: Path, name: str) -> None:
    """dkpro-cassis builds classes from them, by Python source."""
    made = cas(*ENTITIES)
    content = json.loads(made.to_json())
    content["%TYPES"][f"{DKPRO}ner.type.NamedEntity"][name] = {"%NAME": name, "%RANGE": "uima.cas.String"}
    (tmp_path / "a.json").write_text(json.dumps(content))
    with pytest.raises(CorpusError, match="of a type or feature, expected letters"):
        list(TOOL.read(str(tmp_path / "a.json")))
    system = made.typesystem.to_xml().replace("<name>identifier</name>", f"<name>{name}</name>")
    path = zipped(tmp_path / "a.zip", {"a.xmi": made.to_xmi(), "TypeSystem.xml": system})
    with pytest.raises(CorpusError, match="of a type or feature, expected letters"):
        list(TOOL.read(path))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", r"a.json: found no JSON"),
        ("{}", r"a.json: found no CAS, expected an object with"),
        ('{"%FEATURE_STRUCTURES": 3}', r"a.json: found no CAS \("),
        ('{"%TYPES": {}, "%FEATURE_STRUCTURES": [], "%VIEWS": {}}', r"a.json: found no text"),
    ],
)
def test_mistakes(tmp_path: Path, content: str, told: str) -> None:
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(CorpusError, match=told):
        list(TOOL.read(str(tmp_path / "a.json")))


def test_entities_of_xml_are_no_files(tmp_path: Path) -> None:
    made = cas(*ENTITIES)
    (tmp_path / "secret").write_text("secret")
    doctype = f'<!DOCTYPE x [<!ENTITY e SYSTEM "file://{tmp_path}/secret">]>'
    xmi = made.to_xmi().replace("<xmi:XMI", f"{doctype}<xmi:XMI", 1).replace("</xmi:XMI>", "<a>&e;</a></xmi:XMI>")
    path = zipped(tmp_path / "a.zip", {"a.xmi": xmi, "TypeSystem.xml": made.typesystem.to_xml()})
    with pytest.raises(CorpusError, match=r"a.xmi: found <!DOCTYPE, expected XML without"):
        list(TOOL.read(path))
