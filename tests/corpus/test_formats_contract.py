"""What holds for every format: evidence survives or is refused, mutations never crash, bad files are explained."""

from __future__ import annotations

import io
import random
import time
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.files import decode_line
from tagweave.corpus.formats import FORMATS, chosen_format, formats, layer_names
from tagweave.corpus.load import load, save
from tagweave.corpus.sentence import Arc, Sentence
from tagweave.corpus.spans import Span
from tagweave.errors import CorpusError

EVIDENCE = {
    "full": (("B",), ("E",), ("S",)),
    "partial": (("B",), ("E",), None),
    "ambiguous": (("B", "S"), ("E", "S"), ("S", "E")),
    "unknown": (None, None, None),
    "labels with marks": (("|",), ("a/b_c:d", "x|y"), ("\\",)),
    "several layers of doubt": (("B", "M", "E"), None, ("O",)),
}
BOUNDARIES_ONLY = ("labels with marks", "several layers of doubt")  # what kytea cannot hold
NAMES = pytest.mark.parametrize("name", formats())


@NAMES
@pytest.mark.parametrize("kind", EVIDENCE)
def test_evidence_survives_or_is_refused(tmp_path, name, kind):
    path, form = str(tmp_path / "file"), FORMATS[name]
    corpus = Corpus((Sentence(("a", "b", "c"), {"mine": EVIDENCE[kind]}),), "mine")
    has_labels = form.labels is not None and (form.partial or kind == "full")
    if (not has_labels and kind != "unknown") or (name == "kytea" and kind in BOUNDARIES_ONLY):
        with pytest.raises(CorpusError):
            save(corpus, path, name)
        assert list(tmp_path.iterdir()) == []
        return
    save(corpus, path, name)
    (again,) = load(f"mine={path}", name)
    assert again.forms == ("a", "b", "c")
    if name == "kytea":  # what boundaries say of the next character, and the ends of the line, are spelled out
        spelled_out = {
            "partial": (("B",), ("E",), ("S",)),
            "ambiguous": (("B", "S"), ("E", "S"), ("S",)),
            "unknown": (("B", "S"), None, ("E", "S")),
        }
        assert again.layers["mine"] == spelled_out.get(kind, EVIDENCE[kind])
    else:
        assert again.layers.get("mine") == (EVIDENCE[kind] if has_labels else None)
        assert bool(again.layers) == has_labels


@NAMES
def test_what_a_format_says_that_it_holds(tmp_path, name):
    """Layers beside others, heads, and comments on the corpus."""
    path, form, known, tree = str(tmp_path / "file"), FORMATS[name], (("S",), ("S",)), ((Arc(2, "x"),), (Arc(0, "y"),))
    words = Sentence(("a", "b"), {"mine": known} if form.labels else {})
    both = form.with_labels(words, "other", (("X",), ("Y",)))
    assert len(both.layers) == (2 if form.holds_several else 1)
    if form.holds_several:
        save(Corpus((both,), "mine"), path, name)
        assert {layer for layer in load(path, name)[0].layers.values() if any(layer)} == {known, (("X",), ("Y",))}
    save(Corpus((Sentence(("a", "b"), heads={"head": tree}),), "mine"), path, name)
    assert load(path, name)[0].heads == ({} if form.heads is None else {form.heads: tree})
    if form.comments:
        save(Corpus((words,), "mine", covered=("S",)), path, name)
        assert (load(path, name).guideline, load(path, name).covered) == ("mine", ("S",))
    else:
        with pytest.raises(CorpusError, match="the format has no comments"):
            save(Corpus((words,), "mine", covered=("S",)), path, name)


def test_names_and_extensions_are_of_one_format_each():
    counts = Counter(extension for form in FORMATS.values() for extension in form.extensions)
    assert set(counts.values()) == {1}
    assert all(extension == "." + extension.strip(".").lower() for extension in counts)
    assert layer_names() == {"tag", "segmentation", "upos", "xpos", "head"}
    assert chosen_format("raw", "x.seg") is FORMATS["raw"]
    with pytest.raises(CorpusError, match="found the format 'xls', expected one of attributes, "):
        chosen_format("xls", "x.seg")


@NAMES
def test_rejected_spans_survive_or_are_refused(tmp_path, name):
    path = str(tmp_path / "file")
    rejected = {"mine": (Span(0, 2, "PER"), Span(2, 3, "art work")), "other": ()}
    sentence = Sentence(("a", "b", "c"), {"mine": (None, None, None)}, comments=("# id = 1",), rejected=rejected)
    corpus = Corpus((sentence,), "mine")
    if not FORMATS[name].comments:
        with pytest.raises(CorpusError, match="has no comments to hold them"):
            save(corpus, path, name)
        assert list(tmp_path.iterdir()) == []
        return
    save(corpus, path, name)
    (again,) = load(f"mine={path}", name)
    assert again.rejected == {"mine": rejected["mine"]}
    assert "# id = 1" in again.comments
    assert not [each for each in again.comments if "rejected" in each]


@pytest.mark.parametrize("comment", ["tag 0-1 X", "tag 2-1 X", "tag 1-3 X", "tag 1 X", "tag 1-2", "1-2 X", ""])
def test_a_rejected_span_of_another_form_is_refused(tmp_path, comment):
    file = tmp_path / "a.conll"
    file.write_text(f"a\t_\n\n# rejected = {comment}\na\t_\nb\t_\n", encoding="utf-8")
    with pytest.raises(CorpusError, match=r":4: found the (comment|rejected span)"):
        load(str(file))


@NAMES
def test_a_layer_that_is_not_there_is_refused_or_nothing_is_known(tmp_path, name):
    """A corpus whose sentences have another layer only is never written as unlabelled."""
    corpus = Corpus((Sentence(("a",), {"other": (("S",),)}),), "mine")
    with pytest.raises(CorpusError):
        save(corpus, str(tmp_path / "file"), name)


UD_ROW = "{}\t{}\t_\tNOUN\tNN\tCase=Nom\t{}\tx\t_\t{}\n"
SEEDS = {
    "tagged": "the/DT 1\\/2/CD cat/NN|VB x\n\n//SYM |/| 山/n　/w\n",
    "tagged-underscore": "the_DT 1\\_2_CD cat_NN|VB x\n__SYM a/b_X\n",
    "segmented": "山 上　有\nthe cat\n\n",
    "raw": "山上 有\n\nthe cat\n",
    "kytea": "a-b/N/x|c?d e/V&N|\\-|\\\\\n\n山|上-有\n",
    "conllu": "# newpar\n# guideline = x\n# rejected = xpos 1-2 X\n"
    + "1-2\tab\t_\t_\t_\t_\t_\t_\t_\t_\n"
    + UD_ROW.format(1, "a", 2, "AltUpos=VERB/ADJ|Gloss=x|AltHead=0:root/2:y")
    + UD_ROW.format(2, "b", 0, "AltXpos=VV")
    + "2.1\tx\t_\t_\t_\t_\t_\t_\t1:x\t_\n\n"
    + UD_ROW.format(1, "c", "_", "_")
    + "\n",
    "columns": "# columns = form lemma ctb pd\n"
    "-DOCSTART-\t_\t_\t_\n\n# rejected = pd 1-2 X\na\tA\tX|Y\t_\nb\tB\t?\tO\n\nc\t\t\tZ\n",
    "csv": 'Sentence #,Word,lemma,POS,Tag\nS 1,"a,""b",A,X|Y,_\n,b,B,?,O\n\nS 2,c,,,Z\n',
    "attributes": "b|s\tw=a\\:b\tn:2.5\n?\tw=x\\\\\n\te\n\nB\n",
}
PIECES = [
    *("\t", "\n", "\n\n", " ", "/", "_", "|", "-", "?", "\\", "&", ":", "=", "#", "0", "9", "1-2", "1.1", "é", "山"),
    *("AltUpos=", "AltHead=", "-DOCSTART-", "# columns = a b", "# columns =", "\r", "\0", "\u3000", "\u2028", "\ufeff"),
]


def mutated(text, rng):
    data = bytearray(text.encode())
    for _ in range(rng.randint(1, 4)):
        at, kind = rng.randrange(len(data) + 1), rng.randrange(5)
        if kind == 0:
            data[at:at] = rng.choice(PIECES).encode()
        elif kind == 1:
            del data[at : at + rng.randint(1, 6)]
        elif kind == 2 and at < len(data):
            data[at] = rng.randrange(256) if rng.random() < 0.3 else rng.randrange(32, 127)
        elif kind == 3:
            data[at:at] = data[at : at + rng.randint(1, 12)]
        else:
            data[at : at + 1] = rng.choice(PIECES).encode()
    return bytes(data)


def read(name, data):
    lines = (decode_line(line, "x", number) for number, line in enumerate(io.BytesIO(data), 1))
    return [sentence for sentence in FORMATS[name].read(lines, "x") if sentence.forms or sentence.comments]


def content(sentence):
    """All but the place; string columns that are layers, too, are written from the layer (`?` becomes `_`)."""
    columns = {name: column for name, column in sentence.columns.items() if name not in sentence.layers}
    beside = sentence.comments, sentence.extra_rows, sentence.rejected
    return (sentence.forms, sentence.layers, columns, sentence.heads, *beside)


def rewritten(name, sentences):
    stream = io.StringIO()
    layer = FORMATS[name].layer or next((each for s in sentences for each in reversed([*s.layers])), "tag")
    FORMATS[name].write(sentences, stream, layer)
    return stream.getvalue().encode()


@NAMES
def test_seeds_are_read(name):
    sentences = read(name, SEEDS[name].encode())
    assert len(sentences) == 2
    assert list(map(content, read(name, rewritten(name, sentences)))) == list(map(content, sentences))


@NAMES
def test_mutated_files_are_read_or_explained(name):
    """300 mutations: a `CorpusError` that names the place, or sentences that survive being written and read again."""
    rng = random.Random(name)
    outcomes = {"read": 0, "refused": 0, "unwritable": 0}
    for _ in range(300):
        data = mutated(SEEDS[name], rng)
        try:
            sentences = read(name, data)
        except CorpusError as error:
            assert error.path == "x" and 1 <= error.line <= data.count(b"\n") + 1, (data, str(error))
            outcomes["refused"] += 1
            continue
        try:
            again = rewritten(name, sentences)
        except CorpusError:
            outcomes["unwritable"] += 1
            continue
        assert list(map(content, read(name, again))) == list(map(content, sentences)), data
        outcomes["read"] += 1
    assert outcomes["read"] > 30 and outcomes["unwritable"] < 60, outcomes


TEXT = st.text("ab|/\\:?_-&", min_size=1, max_size=4)
LABEL = TEXT.filter(lambda label: label not in ("_", "?"))
CANDIDATES = st.none() | st.lists(LABEL, min_size=1, max_size=3, unique=True).map(tuple)


@pytest.mark.parametrize("name", [name for name, form in FORMATS.items() if form.labels == "word"])
@given(st.lists(st.tuples(TEXT, CANDIDATES), min_size=1, max_size=4))
def test_whatever_is_written_is_read_again(name, tokens):
    forms, labels = zip(*tokens, strict=True)
    layer = FORMATS[name].layer or "tag"
    (again,) = read(name, rewritten(name, [Sentence(forms, {layer: labels})]))
    assert (again.forms, again.layers[layer]) == (forms, labels)


FIRST = UD_ROW.format(1, "a", 0, "_")
BAD_FILES = [  # what is found, and in which line
    ("tagged", "a/X\nb/ c/Y\n", 2, "nothing after the '/' of 'b/'"),
    ("tagged", "/X\n", 1, "nothing before the '/' of '/X'"),
    ("tagged", "a/X|Y|X\n", 1, "a repeated alternative in 'X|Y|X'"),
    ("tagged-underscore", "_\n", 1, "nothing before the '_' of '_'"),
    ("kytea", "ab\n", 1, "'ab' at character 1"),
    ("kytea", "a|b|\n", 1, "'b|' at character 3"),
    ("kytea", "a||b\n", 1, "'|b' at character 3"),
    ("kytea", "a/N-b\n", 1, "the tag '/N' at character 2 without a boundary after it"),
    ("kytea", "a/N b\n", 1, "the tag '/N' at character 2 without a boundary after it"),
    ("kytea", "a/N&\n", 1, "an empty alternative in the tag 'N&'"),
    ("kytea", "a/N&N\n", 1, "a repeated alternative in the tag 'N&N'"),
    ("conllu", "1\ta\n", 1, "2 fields"),
    ("conllu", "1\ta\t_\t_\t_\t_\t_\t_\t\t_\n", 1, "an empty field"),
    ("conllu", "# x\n" + FIRST + UD_ROW.format(3, "b", 1, "_"), 3, "the ID '3'"),
    ("conllu", UD_ROW.format("1-0", "a", 0, "_"), 1, "the ID '1-0'"),
    ("conllu", UD_ROW.format(1, "a", 2, "_"), 1, "the head 2 of token 1"),
    ("conllu", UD_ROW.format(1, "a", 1, "_"), 1, "the head 1 of token 1"),
    ("conllu", UD_ROW.format(1, "a", -1, "_"), 1, "the head '-1'"),
    ("conllu", UD_ROW.format(1, "a", "x", "_"), 1, "the head 'x'"),
    ("conllu", UD_ROW.format(1, "a", 0, "AltUpos=X//Y"), 1, "the alternatives ('X', '', 'Y')"),
    ("conllu", UD_ROW.format(1, "a", 0, "AltHead=9:x"), 1, "the head 9 of token 1"),
    ("conllu", "# only\n\n", 1, "no tokens"),
    ("conllu", FIRST + "# late\n", 2, "1 fields"),
    ("columns", "a X\nb\n", 2, "1 columns"),
    ("columns", "a\tX\n\nb\tY\tZ\n", 3, "3 columns"),
    ("columns", "a\tX\n\tY\n", 2, "an empty form"),
    ("columns", "a\tX\nb\tY|Y\n", 2, "a repeated alternative in 'Y|Y'"),
    ("columns", "# columns = form\na\n", 1, "the header '# columns = form'"),
    ("columns", "\n# columns = a b b\n# y = z\na\n", 2, "the header '# columns = a b b'"),
    ("csv", "a,X\nb,Y\n", 1, "the first row 'a,X'"),
    ("csv", "word,token,tag\n", 1, "the first row 'word,token,tag'"),
    ("csv", "sentence,text,labels\n1,a b,X\n2,c,X,Y\n", 3, "4 values"),
    ("csv", "word;tag\na;X\nb;Y\n", 1, "the columns word, tag"),
    ("csv", "id,word,tag,tag\n", 1, "two columns 'tag'"),
    ("csv", "sentence,word,tag\n1,a,X\n2,b,Y\n1,c,X\n", 4, "rows of the sentence '1' in two places"),
    ("csv", 'sentence,word,tag\n1,"a,X\n', 2, "a quotation mark that is not closed"),
    ("csv", "sentence,word,tag\n1,a,X\n1,,Y\n", 3, "an empty token"),
    ("csv", "sentence,word,tag\n1,a,X\n1,b,Y|Y\n", 3, "a repeated alternative in 'Y|Y'"),
    ("attributes", "X\ta:b\n", 1, "the weight 'b' of 'a:b'"),
    ("attributes", "X\ta:nan\n", 1, "the weight 'nan' of 'a:nan'"),
    ("attributes", "X\ta\n\nX\ta\t\tb\n", 3, "an empty attribute"),
    ("attributes", "X|\ta\n", 1, "the label 'X|'"),
    ("attributes", "X|X\ta\n", 1, "the label 'X|X'"),
]


@pytest.mark.parametrize(("name", "text", "line", "found"), BAD_FILES)
def test_bad_files_are_explained(name, text, line, found):
    with pytest.raises(CorpusError) as caught:
        read(name, text.encode())
    assert (caught.value.path, caught.value.line, caught.value.found) == ("x", line, found)
    assert caught.value.expected


def in_kytea(segmentation, tags=(None, None)):
    return Sentence(("a", "b"), {"segmentation": segmentation, "tag": tags})


UNWRITABLE = [
    *(("raw", Sentence(("a", form)), "expected forms of one character in raw text") for form in ("", "ab")),
    *(("segmented", Sentence(("a", form)), "neither empty nor has blanks") for form in ("", "a b", "a\u3000b", "a\tb")),
    ("csv", Sentence((" a",), {"tag": (("X",),)}), "the value ' a', expected values without blanks around them"),
    ("csv", Sentence(("a",), {"lemma": (("X",),)}), "the columns lemma"),
    ("csv", Sentence(("a\nb",), {"tag": (("X",),)}), "the character '\\\\n' in a token"),
    ("columns", Sentence(("a",), {"tag": (("_",),)}), "the label '_', expected labels that do not mean unknown"),
    ("columns", Sentence(("a",), {"tag": (("-X-",),)}), "the label '-X-'"),
    ("columns", Sentence(("a",), {"tag": (("",),)}), "an empty label"),
    ("columns", Sentence(("",), {"tag": (("X",),)}), "an empty form"),
    ("columns", Sentence(("a\tb",), {"tag": (("X",),)}), "an empty form or a tab"),
    ("columns", Sentence(("a",), {"tag": (("X\nY",),)}), "the character '\\\\n' in a token"),
    ("columns", Sentence(("a",), {"my tag": (("X",),)}), "the column name 'my tag'"),
    ("columns", Sentence(("a",), {"form": (("X",),)}), "named 'form'"),
    ("columns", Sentence(("-DOCSTART-",), {"tag": (("X",),)}), "expected no row like a comment"),
    ("columns", Sentence(("# a = b",), {"tag": (("X",),)}), "expected no row like a comment"),
    ("columns", Sentence((" ",), {"one": ((" ",),), "two": (("  ",),)}), "nothing but blanks"),
    ("conllu", Sentence(("a",), {"upos": (("X", ""),)}), "the label ''"),
    ("conllu", Sentence(("a\tb",)), "an empty field or a tab"),
    ("conllu", Sentence(("",)), "an empty field or a tab"),
    ("conllu", Sentence(("a\nb",)), "the character '\\\\n' in a token"),
    ("conllu", Sentence(("a",), comments=("x",)), "the comment 'x', expected comments that begin with #"),
    ("conllu", Sentence(("a",), heads={"head": ((Arc(0, "_"),),)}), "the relation '_'"),
    ("conllu", Sentence(("a",), heads={"head": ((Arc(0, ""),),)}), "the relation ''"),
    ("conllu", Sentence(("a",), heads={"head": ((Arc(7, "x"),),)}), "the head 7 of token 1"),
    ("conllu", Sentence(("a",), columns={"misc": ("AltUpos=X",)}), "the key AltUpos in the column misc"),
    ("attributes", Sentence(("a",), {"tag": (("?",),)}), "the label '\\?'"),
    ("attributes", Sentence(("a",), {"tag": (("",),)}), "the form or label ''"),
    ("attributes", Sentence(("a",), {"tag": (("X\tY",),)}), "non-empty text without tabs"),
    ("attributes", Sentence(("",), {"tag": (("X",),)}), "the form or label ''"),
    ("attributes", Sentence(("a",), {"ctb": (("X",),)}), "expected a layer 'tag' to write"),
    ("attributes", Sentence(("a",), {"tag": (None,)}, {"attributes": ("x\ny",)}), "the character '\\\\n' in a token"),
    ("attributes", Sentence(("a",), {"tag": (None,)}, {"attributes": ("x:y",)}), "the weight 'y' of 'x:y'"),
    ("attributes", Sentence(("a",), {"tag": (None,)}, {"attributes": ("x\t\ty",)}), "an empty attribute"),
    ("kytea", Sentence(("ab",)), "forms of one character in KyTea's format"),
    ("kytea", in_kytea((("B", "E"), None)), "the segmentation \\('B', 'E'\\), expected candidates that boundaries"),
    ("kytea", in_kytea((("N",), None)), "the segmentation \\('N',\\), expected labels B, M, E, S"),
    ("kytea", in_kytea((("S",), ("E",))), "contradicting labels at character 1"),
    ("kytea", in_kytea((("M",), ("E",))), "contradicting labels at character 1"),
    ("kytea", in_kytea((("B",), ("M",))), "contradicting labels at character 2"),
    ("kytea", in_kytea((None, None), (("N",), None)), "tags in layer 'tag' that are not tags of words"),
    ("kytea", in_kytea((("B",), ("E",)), (("N",), ("V",))), "that are not tags of words"),
    ("kytea", in_kytea((("B",), ("E",)), (None, ("V",))), "that are not tags of words"),
    ("kytea", in_kytea((("S",), ("S",)), (("",), None)), "an empty label"),
]


@pytest.mark.parametrize(("name", "sentence", "message"), UNWRITABLE)
def test_what_cannot_be_written(name, sentence, message):
    layer = FORMATS[name].layer or next(reversed(sentence.layers), "tag")
    with pytest.raises(CorpusError, match=message):
        FORMATS[name].write([sentence], io.StringIO(), layer)


@pytest.mark.parametrize("name", ["tagged", "segmented", "raw", "kytea", "columns", "attributes"])
def test_long_lines_take_time_in_proportion(name):
    """No pattern of any reader backtracks, no list is searched again for each token."""
    texts = {"kytea": "a-" * 100_000 + "a\n", "columns": "a\tX\n" * 50_000, "attributes": "X\ta\n" * 50_000}
    data = texts.get(name, "a\\\\/ab " * 50_000 + "\\" * 50_000 + "x/X" + "\n").encode()
    start = time.process_time()
    (sentence,) = read(name, data)
    assert len(sentence) > 40_000
    assert time.process_time() - start < 5.0
