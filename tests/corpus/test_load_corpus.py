"""Corpora by argument, formats by name and by content, files of other programs, and the way back."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats import foreign, format_of_name, recognise
from tagweave.corpus.formats.format import ModelLabels
from tagweave.corpus.load import formats, iterate, load, parse_argument, save
from tagweave.corpus.sentence import Arc, Sentence
from tagweave.errors import CorpusError

UD = "1\ta\t_\tNOUN\tNN\t_\t2\tx\t_\t_\n2\tb\t_\tVERB\tVV\t_\t0\troot\t_\t_\n\n"
ONLY_XPOS = UD.replace("NOUN", "_").replace("VERB", "_")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def file(name, text):
    Path(name).write_text(text, encoding="utf-8")
    return name


@pytest.mark.parametrize(
    ("name", "argument", "parts"),
    [
        (None, "x.txt", ("x.txt", None, None)),
        (None, "ctb=x.txt", ("x.txt", "ctb", None)),
        (None, "x.txt#pd", ("x.txt", None, "pd")),
        (None, "ctb=x.txt#xpos", ("x.txt", "ctb", "xpos")),
        (None, "ctb=-", ("-", "ctb", None)),
        (None, "-#pd", ("-", None, "pd")),
        (None, "a=b=c", ("b=c", "a", None)),
        (None, "a#b#c", ("a#b", None, "c")),
        (None, "x#a=b", ("x", None, "a=b")),
        (None, "=x", ("=x", None, None)),
        (None, "#x", ("#x", None, None)),
        (None, "x#", ("x", None, None)),
        ("a=b", "a=b", ("a=b", None, None)),
        ("a#b", "a#b", ("a#b", None, None)),
        ("b#c", "a=b#c", ("b#c", "a", None)),
        ("a=b", "a=b#c", ("a=b", None, "c")),
        ("a=b#c", "g=a=b#c#l", ("a=b#c", "g", "l")),
        ("b", "a=b#c", ("b", "a", "c")),
    ],
)
def test_a_file_that_exists_decides(here, name, argument, parts):
    if name is not None:
        file(name, "")
    assert parse_argument(argument) == parts


def test_tagged(here):
    corpus = load(file("x.txt", "a/X b\n\nc/Y|Z\n"))
    assert corpus.guideline == "tag" and corpus.unit == "word" and corpus.covered is None and corpus.path == "x.txt"
    assert [sentence.layers["tag"] for sentence in corpus] == [(("X",), None), (("Y", "Z"),)]
    assert [sentence.location.line for sentence in corpus] == [1, 3]


def test_conllu_defaults_to_upos_unless_only_xpos_is_known(here):
    assert load(file("x.conllu", UD)).guideline == "upos"
    assert load(file("y.conllu", ONLY_XPOS)).guideline == "xpos"
    named = load("ptb=y.conllu")
    assert list(named[0].layers) == ["upos", "ptb"] and named.guideline == "ptb"


def test_a_file_that_knows_the_layer_of_the_name_for_unnamed_ones(here):
    assert load(file("x.conllu", UD), unnamed="xpos")[0].layers["xpos"] == (("NN",), ("VV",))
    assert load("x.conllu", unnamed="head")[0].heads == {"head": ((Arc(2, "x"),), (Arc(0, "root"),))}
    assert load("x.conllu", unnamed="ctb")[0].layers["ctb"] == (("NOUN",), ("VERB",))
    assert load("ctb=x.conllu", unnamed="xpos").guideline == "ctb"


def test_layer_and_guideline_together(here):
    file("x.conllu", UD)
    corpus = load("ptb=x.conllu#xpos")
    assert corpus[0].layers == {"upos": (("NOUN",), ("VERB",)), "ptb": (("NN",), ("VV",))}
    with pytest.raises(CorpusError, match=r"x.conllu: found a layer 'upos' beside 'xpos', expected another name"):
        load("upos=x.conllu#xpos")
    assert load("sud=x.conllu#head").guideline == "sud"
    assert load("sud=x.conllu#head")[0].heads == {"sud": ((Arc(2, "x"),), (Arc(0, "root"),))}


def test_unknown_layer_lists_what_there_is(here):
    file("x.conllu", UD)
    with pytest.raises(CorpusError) as caught:
        load("x.conllu#tag")
    assert str(caught.value) == "x.conllu: found the layers upos, xpos, head, expected a layer 'tag'"
    file("x.seg", "a b\n")
    with pytest.raises(CorpusError, match=r"x.seg: found no layers, expected a layer 'tag'"):
        load("x.seg#tag")


def test_a_layer_of_some_sentences_is_unknown_in_the_others(here):
    corpus = load(file("x.kytea", "a/N/p|b\nc|d\n") + "#tag2")
    assert [sentence.layers["tag2"] for sentence in corpus] == [(("p",), None), (None, None)]


def test_comments_name_guideline_and_covered_labels(here):
    comments = "# guideline = gsd\n# labels_covered = NOUN VERB\n"
    corpus = load(file("x.conllu", comments + UD + UD))
    assert corpus.guideline == "gsd" and corpus.covered == ("NOUN", "VERB")
    assert all("gsd" in sentence.layers for sentence in corpus)
    assert load("other=x.conllu").guideline == "other"
    with pytest.raises(CorpusError) as caught:
        load(file("y.conllu", comments + UD + "# guideline = sud\n" + UD))
    assert str(caught.value) == "y.conllu:7: found guideline = sud, expected guideline = gsd as before"


def test_the_guideline_is_no_string_column_that_a_template_could_read(here):
    file("x.conll", "# columns = form pos ctb pd\na\tP\tX\tx\n")
    assert load("x.conll").guideline == "pd" and load("x.conll#ctb").guideline == "ctb"
    assert load("x.conll")[0].columns == {"pos": ("P",), "ctb": ("X",)}
    assert load("gold=x.conll#ctb")[0].columns == {"pos": ("P",), "pd": ("x",)}
    save(load("gold=x.conll#ctb"), "y.conll")
    assert (here / "y.conll").read_text() == "# columns = form pos pd gold\n# guideline = gold\na\tP\tx\tX\n\n"


@pytest.mark.parametrize("covered", [(), None])
def test_nothing_covered_is_not_everything_covered(here, covered):
    save(made_up(covered=covered), "x.conll")
    assert load("x.conll").covered == covered


def test_units(here):
    assert load(file("x.raw", "ab\n")).unit == "character"
    corpus = load(file("x.part", "a-b|c\n"))
    assert corpus.unit == "character" and corpus.guideline == "segmentation"
    assert load(file("x.seg", "ab c\n"))[0].layers == {}


def test_format_overrides_what_the_file_looks_like(here):
    assert load(file("x.txt", "a/X b_Y\n"), format="raw")[0].forms == tuple("a/X b_Y")
    with pytest.raises(CorpusError, match="found the format 'xls', expected one of attributes, columns"):
        load("x.txt", format="xls")


def test_empty_files(here):
    for name in formats():
        corpus = load(file("x.txt", ""), format=name)
        assert len(corpus) == 0 and corpus.tokens() == 0


def test_standard_input(here, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a_X b_Y\n")))
    corpus = load("pd=-")
    assert corpus[0].layers == {"pd": (("X",), ("Y",))}


def test_iterate_streams_and_keeps_empty_sentences(here):
    file("x.txt", "a b\n\nc d\n")
    assert [sentence.forms for sentence in iterate("x.txt")] == [("a", "b"), (), ("c", "d")]


def test_iterate_does_not_read_ahead_of_what_detection_needs(here, monkeypatch):
    class Endless(io.RawIOBase):
        def readable(self):
            return True

        def readinto(self, buffer):
            buffer[:] = (b"ab c\n" * len(buffer))[: len(buffer)]
            return len(buffer)

    monkeypatch.setattr(sys, "stdin", type("Input", (), {"buffer": io.BufferedReader(Endless())}))
    sentences = iterate("-")
    assert [next(sentences).forms for _ in range(3)] == [("ab", "c")] * 3


LOOKS = {
    "tagged": [
        *("a/X b/Y", "a b c/X d/Y", "a b c d e f g h i j/X", "''/'' //SYM", "a/n b/n c/v d/v e/n f/v g h i"),
    ],
    "tagged-underscore": ["a_X b_Y", "http://x.y/a_NN b_VV c_VV"],
    "segmented": [
        *("a b c d e f g h i j k/X", "山 上 有 水", "a - b", "a b c", "a b\n\nc d", "he/she said and/or 3/4 km/h"),
        "the user_name and the file_name of max_value",
    ],
    "raw": ["山上有水", "", "well-known"],
    "kytea": ["a-b|c", "山-上/N|有 水", "a|b", "a b\na|b"],
    "conllu": [UD, "# newpar\n# text = x\n" + UD],
    "columns": [
        *("# columns = form pos ner\na X O\n", "a X O\nb Y O\n\nc Z O", "a\tX\nb\tY\n", "a\tX\nb\tNN\tX\nc\tY\n"),
        *("# columns = form ctb pd\na\tX\tY\n\nb\tX\tY", "# columns = form pd\na\tX\n\nb\tX\n"),
        *("-DOCSTART- -X- O\n\na X O\nb Y O\n\n", "a\tCase=Nom\nb\tCase=Acc\n"),
        "a X\n\n" + "b Y\n" * 20 + "c NN Y\n",
    ],
    "attributes": ["X\tw=a\tp=b:2\nY\tw=a", "X\tw=a\tp=b\nY\tw=b\tp=b"],
}


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in LOOKS.items() for text in texts])
def test_detection_by_content(text, name):
    assert recognise(text.split("\n")).format.name == name


LOOKS_FOR_A_MODEL = {  # by the share of words with a label that the model asks for
    (0.1, "tagged"): ["at 50 km/h", "a_n b/n c/n"],
    (0.5, "tagged"): ["go/v 50/n km/h", "a/N b c d e f g", "a/x b/x c/x d/x e/y f/y g/y h/x i/x j/x"],
    (0.5, "segmented"): ["at 50 km/h"],
    (0.1, "segmented"): [
        *("a/N b/or c/d", "a\tb\n\nc\td", "n\ta\tb\nv\tc", "good day\nbad day\n\nno day", "a|b", "word", "山上有水"),
        "a/b b/c c/d d/e e/f f/g g/m h/i i/j j/k",
    ],
    (0.1, "columns"): ["a\tn\n\nb\tv", "a\tn\nb\tn\tv\nc\tv", "good n\nbad _\n\nno v"],
    (0.1, "attributes"): ["n\tw=a\tp=b\nv\tw=c"],
    (0.1, "raw"): ["山上有水了"],
}


@pytest.mark.parametrize(
    ("share", "name", "text"), [(*key, text) for key, texts in LOOKS_FOR_A_MODEL.items() for text in texts]
)
def test_detection_for_a_model(text, share, name):
    assert recognise(text.split("\n"), ModelLabels({"n", "v", "h", "N"}.__contains__, share)).format.name == name


def test_detection_by_name():
    names = {"x.conllu": "conllu", "x.CONLLU.GZ": "conllu", "a.b/x.part": "kytea", "x.conll": "columns"}
    names |= {"x.crfsuite": "attributes", "x.raw": "raw", "x.seg": "segmented"}
    assert {path: format_of_name(path) for path in (*names, "x.txt", "-")} == names | {"x.txt": None, "-": None}


def made_up(**options):
    layers = {"tag": (("X",), ("Y", "Z"), None)}
    return Corpus((Sentence(("a", "b", "c"), layers), Sentence(("d",), {"tag": (None,)})), **options)


@pytest.mark.parametrize("name", ["tagged", "tagged-underscore", "columns", "attributes", "conllu"])
def test_save_and_load(here, name):
    for path in ("x.file", "x.file.gz"):
        save(made_up(), path, name)
        again = load(("tag=" if name == "conllu" else "") + path, name)
        assert again.guideline == "tag"
        assert [(s.forms, s.layers["tag"]) for s in again] == [(s.forms, s.layers["tag"]) for s in made_up()]


@pytest.mark.parametrize("name", ["columns", "conllu"])
def test_guideline_and_covered_labels_survive(here, name):
    corpus = load("ctb=" + file("y.txt", "a/X b/Y|Z\nc/X d\n"), "tagged")
    corpus = Corpus(corpus.sentences, corpus.guideline, covered=("X", "Y"))
    save(corpus, "x.file", name)
    again = load("x.file", name)
    assert (again.guideline, again.covered) == ("ctb", ("X", "Y"))
    assert [s.layers["ctb"] for s in again] == [s.layers["ctb"] for s in corpus]
    save(again, "z.file", name)
    assert (here / "z.file").read_bytes() == (here / "x.file").read_bytes()


def test_saving_under_another_name_replaces_the_comment(here):
    file("x.conllu", "# guideline = a\n" + UD.replace("NN", "_").replace("VV", "_"))
    corpus = load("b=x.conllu")
    save(Corpus((corpus[0].with_layer("b", (None, None)),), "b"), "y.conllu")
    assert load("y.conllu").guideline in ("a", "b")
    alone = Corpus((Sentence(corpus[0].forms, {"b": corpus[0].layers["b"]}, comments=corpus[0].comments),), "b")
    save(alone, "z.conllu")
    assert load("z.conllu").guideline == "b"


def test_both_layers_of_conllu_survive_with_the_guideline_in_xpos(here):
    file("x.conllu", UD)
    save(load("ptb=x.conllu#xpos"), "y.conllu")
    assert (here / "y.conllu").read_text() == UD


def test_what_is_refused_leaves_no_file(here):
    three = Sentence(("a",), {"upos": (("X",),), "xpos": (("Y",),), "pd": (("Z",),)})
    refused = [
        (made_up(covered=("X",)), "x", "tagged", "labels_covered = X, expected no such restriction"),
        (Corpus((three,), "pd"), "x.conllu", None, "found the layers upos, xpos and pd, expected two layers at most"),
        (Corpus((Sentence(("a",)), Sentence(("b c",)))), "x.txt", "tagged", "the form 'b c'"),
        (made_up(), "x.txt", None, r"found the file name 'x\.txt' without a format, expected a format: attributes"),
    ]
    for corpus, path, name, message in refused:
        with pytest.raises(CorpusError, match=message):
            save(corpus, path, name)
        assert list(here.iterdir()) == []


OF_OTHERS = {
    "doccano": ('{"text": "Ann left", "labels": [[0, 3, "PER"]]}', "found JSON, expected rows of .* tagweave import"),
    "spaCy 2": ('[["Ann left", {"entities": [[0, 3, "PER"]]}]]', "found JSON"),
    "judgements": ('{"id": 1, "outcome": null, "annotator": "ann", "revision": 0}', "judgements of tagweave annotate"),
    "JSON": ('[\n  {\n    "word": "a"\n  }\n]', "found JSON, expected rows of"),
    "TEI": ('<?xml version="1.0"?>\n<TEI xmlns="http://www.tei-c.org/ns/1.0">\n<w>a</w>', "found XML or HTML"),
    "XML": ("\n<corpus>\n<s><w pos='N'>a</w></s>", "found XML or HTML, expected rows of `token TAB label`"),
    "HTML": ("<!DOCTYPE html>\n<p>a</p>", "what tagweave harvest markup makes of pages"),
    "brat": ("T1\tPerson 0 12\tBarack Obama\nR1\tBorn Arg1:T1 Arg2:T2\nT2\tCity 20 25\tParis", "standoff .* of brat"),
    "CSV": ("Ann,NN\nthe,DT\nword,NN\n.,.", "found comma-separated values without titles, expected titles in"),
    "CSV, quoted": ('"Ann","NN"\n"the","DT"\n"word","NN"\n', "found comma-separated values without titles"),
    "CSV, blank fields": ("S 1,Ann,B-PER\n,left,O\n,Bay,B-LOC\n,.,O", "found comma-separated values without titles"),
    "WebAnno": ("#FORMAT=WebAnno TSV 3.3\n\n#Text=a b", "TSV export of WebAnno .*, expected its export as CoNLL-U"),
}
PLAIN = [
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


@pytest.mark.parametrize("name", OF_OTHERS)
def test_files_of_other_programs_are_named(tmp_path, name):
    text, told = OF_OTHERS[name]
    path = tmp_path / "x.txt"
    path.write_text(text + "\n", "utf-8")
    for read in (load, iterate):
        with pytest.raises(CorpusError, match=told) as error:
            list(read(str(path)))
        assert str(error.value).startswith(f"{path}: found ") and "`format" in str(error.value)
    assert len(load(str(path), "segmented")) > 0


@pytest.mark.parametrize("text", PLAIN)
def test_text_is_text(text):
    assert foreign(text.split("\n")) is None
