"""Tables with titles: which column is what, where a sentence ends, and quotes."""

from __future__ import annotations

import pytest

from tagweave.corpus.load import load
from tagweave.front.description import describe

ENTITIES = 'Sentence #,Word,POS,Tag\nSentence: 1,Vela,NNP,B-per\n,left,VBD,O\nSentence: 2,NA,NNP,B-geo\n,"a,b",NN,O\n'
FORMS = [("Vela", "left"), ("NA", "a,b")]
TABLES = {  # name of the file, its text, the layer of labels
    "blank fields": ("x.csv", ENTITIES, "Tag"),
    "by its shape alone": ("x.txt", ENTITIES, "Tag"),
    "a byte order mark and line ends of Windows": ("x.csv", "\ufeff" + ENTITIES.replace("\n", "\r\n"), "Tag"),
    "semicolons": ("x.csv", "sentence_id;token;ner\n1;Vela;B-per\n1;left;O\n2;NA;B-geo\n2;a,b;O\n", "ner"),
    "tabs": ("x.tsv", "sent\ttoken\tner\n1\tVela\tB-per\n1\tleft\tO\n2\tNA\tB-geo\n2\ta,b\tO\n", "ner"),
    "quoted": (
        "x.csv",
        '"Tag","Sentence","Word"\n"B-per","1","Vela"\n"O","1","left"\n"B-geo","2","NA"\n"O",2,"a,b"\n',
        "Tag",
    ),
    "blank rows": ("x.csv", 'word,tag\nVela,B-per\nleft,O\n\nNA,B-geo\n"a,b",O\n', "tag"),
    "rows of commas": ("x.csv", 'text,label\nVela,B-per\nleft,O\n,\nNA,B-geo\n"a,b",O\n', "label"),
    "a number a row, and documents": (
        "x.csv",
        ',doc_id,sentence_idx,word_id,word,lemma,tag\n0,d,1,1,Vela,,B-per\n1,d,1,2,left,,O\n2,e,1,1,NA,,B-geo\n3,e,1,2,"a,b",,O\n',
        "tag",
    ),
    "labels before tokens": (
        "x.csv",
        'tag,sentence,token,lemma\nB-per,1,Vela,x\nO,1,left,y\nB-geo,2,NA,z\nO,2,"a,b",z\n',
        "tag",
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_titles_say_what_the_columns_hold(tmp_path, name):
    file, text, layer = TABLES[name]
    path = tmp_path / file
    path.write_bytes(text.encode())
    corpus = load(str(path))
    assert [each.forms for each in corpus] == FORMS
    assert corpus.guideline == layer
    assert [each.layers[layer] for each in corpus] == [(("B-per",), ("O",)), (("B-geo",), ("O",))]
    assert "read as csv" in describe(str(path))["reading"]


def test_another_column_is_chosen_by_its_title(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(ENTITIES, encoding="utf-8")
    assert load(f"{path}#POS")[0].layers["POS"] == (("NNP",), ("VBD",))
    assert load(str(path))[0].columns == {"POS": ("NNP", "VBD")}


def test_a_quotation_mark_is_a_token_between_tabs(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text('token\ttag\n"\tO\nVela\tB-per\n\n""""\tO\n', encoding="utf-8")
    assert [each.forms for each in load(str(path))] == [('"', "Vela"), ('"',)]
