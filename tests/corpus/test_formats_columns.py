"""Files of rows: columns, and attributes as CRFsuite has them."""

from __future__ import annotations

from functools import partial

import pytest

import texts
from tagweave.corpus.formats import attributes, columns
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError

read, written = partial(texts.read, columns), partial(texts.written, columns)
CHUNKS = "She PRP B-NP\nsings VBZ B-VP\n. . O\n\nYes UH O\n\n"


def test_first_is_the_form_last_the_tag():
    first, second = read(CHUNKS)
    assert first.forms == ("She", "sings", ".")
    assert first.layers == {"tag": (("B-NP",), ("B-VP",), ("O",))}
    assert first.columns == {"column2": ("PRP", "VBZ", ".")}
    assert (first.location.line, second.location.line) == (1, 5)
    assert written(first, second) == CHUNKS.replace(" ", "\t")


@pytest.mark.parametrize("field", ["_", "?", "-X-", ""])
def test_unknown_is_never_o(field):
    (sentence,) = read(f"a\tx\t{field}\nb\ty\tO\n")
    assert sentence.layers["tag"] == (None, ("O",))
    assert written(sentence) == "a\tx\t_\nb\ty\tO\n\n"


def test_alternatives():
    (sentence,) = read("a B-X|O\n| |\n")
    assert sentence.layers["tag"] == (("B-X", "O"), ("|",))
    assert written(sentence) == "a\tB-X|O\n|\t|\n\n"


def test_one_column_has_no_labels():
    (sentence,) = read("a\nb\n")
    assert sentence.forms == ("a", "b") and sentence.layers == {}
    assert written(sentence) == "a\t_\nb\t_\n\n"


HEADED = "# columns = form lemma ctb pd\na\tA\tNN|VV\tn\nb\tB\t_\tv\n\n"


def test_header_names_layers():
    (sentence,) = read(HEADED)
    assert sentence.layers == {
        "lemma": (("A",), ("B",)),
        "ctb": (("NN", "VV"), None),
        "pd": (("n",), ("v",)),
    }
    assert sentence.columns == {"lemma": ("A", "B"), "ctb": ("NN|VV", "_"), "pd": ("n", "v")}
    assert sentence.comments == ()
    assert written(sentence) == HEADED


def test_layer_is_written_last_and_a_layer_wins_over_its_column():
    (sentence,) = read(HEADED)
    changed = sentence.with_layer("ctb", (("X",), ("Y",)))
    assert written(changed, layer="ctb") == "# columns = form lemma pd ctb\na\tA\tn\tX\nb\tB\tv\tY\n\n"


def test_two_headers_in_one_file():
    first, second = read("# columns = form a\nx 1\n\n# columns = form a b\ny 2 3\n")
    assert list(first.layers) == ["a"] and list(second.layers) == ["a", "b"]


DOCUMENTS = "-DOCSTART-\t-X-\tO\n\na\tx\tO\n\nb\tx\tO\n\n-DOCSTART-\t-X-\tO\n\n# id = 7\nc\tx\tO\n\n"


def test_document_rows_and_comments_survive():
    first, second, third = read(DOCUMENTS)
    assert first.comments == ("-DOCSTART-\t-X-\tO",)
    assert second.comments == ()
    assert third.comments == ("-DOCSTART-\t-X-\tO", "# id = 7")
    assert [sentence.location.line for sentence in (first, second, third)] == [3, 5, 10]
    assert written(first, second, third) == DOCUMENTS


def test_document_row_at_the_end_is_an_empty_sentence():
    text = "a\tO\n\n-DOCSTART-\tO\n\n"
    assert [len(sentence) for sentence in read(text)] == [1, 0]
    assert written(*read(text)) == text


def test_a_number_sign_may_be_a_token():
    (sentence,) = read("# # B-NP\n5 CD I-NP\n")
    assert sentence.forms == ("#", "5")
    assert read(written(sentence))[0].layers == sentence.layers


def test_sentences_may_lack_a_layer_of_the_first():
    first = Sentence(("a",), {"x": (("1",),), "y": (("2",),)})
    second = Sentence(("b",), {"y": (("3",),)})
    assert written(first, second) == "# columns = form x y\na\t1\t2\n\nb\t_\t3\n\n"
    with pytest.raises(CorpusError, match="a layer 'x', expected the layers of the sentences before"):
        written(second, first)


def test_foreign_comments_are_left_out():
    assert written(Sentence(("a",), comments=("# newpar", "# id = 1"))) == "# id = 1\na\t_\n\n"


read_attributes, written_attributes = partial(texts.read, attributes), partial(texts.written, attributes)
TEXT = "b|s\tw=the\tn:2\ne\tw=a\\:b:0.5\tx\\\\y\n?\tw=end\n\ns\n\n"


def test_labels_attributes_and_forms():
    first, second = read_attributes(TEXT)
    assert first.layers == {"tag": (("b", "s"), ("e",), None)}
    assert first.columns == {"attributes": ("w=the\tn:2", "w=a\\:b:0.5\tx\\\\y", "w=end")}
    assert first.forms == ("w=the", "w=a:b", "w=end")
    assert second.forms == ("1",) and second.columns == {"attributes": ("",)}
    assert (first.location.line, second.location.line) == (1, 5)
    assert written_attributes(first, second) == TEXT


def test_empty_label_is_unknown():
    (sentence,) = read_attributes("\tw=a\n")
    assert sentence.layers["tag"] == (None,)
    assert written_attributes(sentence) == "?\tw=a\n\n"


def test_escapes_in_labels():
    (sentence,) = read_attributes("\\:\tx\na\\|b|c\tx\n:\tx\n")
    assert sentence.layers["tag"] == ((":",), ("a|b", "c"), (":",))


def test_forms_are_attributes_where_there_are_none():
    sentence = Sentence(("a:b", "c\\d"), {"tag": (("X",), None)})
    assert written_attributes(sentence) == "X\ta\\:b\n?\tc\\\\d\n\n"
    (again,) = read_attributes(written_attributes(sentence))
    assert (again.forms, again.layers) == (sentence.forms, sentence.layers)


def test_a_sentence_is_read_no_farther_than_its_blank_line() -> None:
    """A pipe is answered sentence by sentence, also where blank lines have blanks; else time is quadratic, too."""
    for blank in ("", " ", "\t "):
        lines = iter(["a\tX", blank, "b\tY", blank, "c\tZ"])
        assert next(columns.read(lines)).forms == ("a",)
        assert next(lines) == "b\tY"
