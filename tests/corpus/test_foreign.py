"""Files of other programs are named, and never read as text."""

from __future__ import annotations

import pytest

from tagweave.corpus.formats.registry import foreign
from tagweave.corpus.load import iterate, load
from tagweave.errors import CorpusError

LABEL_STUDIO = '[{"id": 1, "annotations": [{"id": 2, "result": [{"value": {"start": 0, "labels": ["PER"]}}]}]}]'
FILES = {
    "doccano": ('{"id": 1, "text": "Ann left", "label": [[0, 3, "PER"]]}', "a JSONL export of doccano"),
    "doccano, newer": ('{"text": "Ann left", "labels": [[0, 3, "PER"]]}', "a JSONL export of doccano"),
    "Label Studio": (LABEL_STUDIO, "a JSON export of Label Studio, expected what .* import label-studio"),
    "Prodigy": ('{"text": "Ann", "_input_hash": 1, "spans": [], "answer": "accept"}', "a JSONL export of Prodigy"),
    "spaCy": ('{"text": "Ann", "ents": [{"start": 0, "end": 3, "label": "PER"}]}', "JSON of spaCy"),
    "spaCy 2": ('[["Ann left", {"entities": [[0, 3, "PER"]]}]]', "JSON training data of spaCy"),
    "spaCy 2, documents": ('[{"paragraphs": [{"sentences": [{"tokens": []}]}]}]', "JSON training data of spaCy"),
    "judgements": ('{"id": 1, "outcome": null, "annotator": "ann", "revision": 0}', "judgements of tagweave annotate"),
    "JSON lines": ('{"tokens": ["a"], "tags": ["N"]}\n{"tokens": ["b"], "tags": ["N"]}', "found JSON, expected"),
    "JSON": ('[\n  {\n    "word": "a"\n  }\n]', "found JSON, expected rows of"),
    "TEI": ('<?xml version="1.0"?>\n<TEI xmlns="http://www.tei-c.org/ns/1.0">\n<w>a</w>', r"found TEI \(XML\)"),
    "XML": ("\n<corpus>\n<s><w pos='N'>a</w></s>", "found XML, expected rows of `token TAB label`"),
    "HTML": ("<!DOCTYPE html>\n<p>a</p>", "found HTML, expected text, or what tagweave harvest markup makes of it"),
    "brat": ("T1\tPerson 0 12\tBarack Obama\nR1\tBorn Arg1:T1 Arg2:T2\nT2\tCity 20 25\tParis", "standoff .* of brat"),
    "CSV": ("token,tag\nthe,DT\nword,NN\n.,.", "found comma-separated values, expected rows of"),
    "WebAnno": (
        "#FORMAT=WebAnno TSV 3.3\n\n#Text=a b",
        "a TSV export of WebAnno .* import webanno-tsv",
    ),
}
TEXT = [
    "",
    "[1] a b",
    "{ a b }",
    '" a " [ b ]',
    "[ a , b ]",
    "the word, he said\nand there, he said\nand I,he said",
    "他,我\n你,他\n我,你",
    "< 3 a",
    "<unk> a b",
    "<s> a </s>",
    "T1 a",
    "a <b> c",
    "[[a]]/N",
]


@pytest.mark.parametrize("name", FILES)
def test_files_of_other_programs_are_named(tmp_path, name):
    text, told = FILES[name]
    path = tmp_path / "x.txt"
    path.write_text(text + "\n", "utf-8")
    for read in (load, iterate):
        with pytest.raises(CorpusError, match=told) as error:
            list(read(str(path)))
        assert str(error.value).startswith(f"{path}: found ") and "`format" in str(error.value)
    assert len(load(str(path), "segmented")) > 0


@pytest.mark.parametrize("text", TEXT)
def test_text_is_text(text):
    assert foreign(text.split("\n")) is None
