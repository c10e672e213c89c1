from __future__ import annotations

from functools import partial

import conllu as library
import pytest
from hypothesis import given
from hypothesis import strategies as st

import texts
from tagweave.corpus.formats import conllu
from tagweave.corpus.sentence import Arc, Sentence
from tagweave.errors import CorpusError

TEXT = """\
# newpar
# sent_id = 1
# text = du pain  !
1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_
1\tde\tde\tADP\tP\t_\t3\tcase\t3:case\t_
2\tle\tle\tDET\tD\tDefinite=Def|Gender=Masc\t3\tdet\t3:det\tGloss=the
3\tpain\tpain\tNOUN\t_\t_\t0\troot\t0:root\tSpaceAfter=No|Odd|Odd
3.1\tmange\tmanger\tVERB\t_\t_\t_\t_\t0:root\tCopyOf=-1
4\t!  x\t!\tPUNCT\t_\t_\t3\tpunct\t3:punct\t_

"""


read, written = partial(texts.read, conllu), partial(texts.written, conllu)


def row(number=1, *, upos="_", xpos="_", head="_", relation="_", misc="_"):
    return f"{number}\tw{number}\t_\t{upos}\t{xpos}\t_\t{head}\t{relation}\t_\t{misc}\n"


def test_reads_layers_columns_heads_and_extra_rows():
    (sentence,) = read(TEXT)
    assert sentence.forms == ("de", "le", "pain", "!  x")
    assert sentence.layers["upos"] == (("ADP",), ("DET",), ("NOUN",), ("PUNCT",))
    assert sentence.layers["xpos"] == (("P",), ("D",), None, None)
    assert sentence.columns["lemma"] == ("de", "le", "pain", "!")
    assert sentence.columns["feats"][1] == "Definite=Def|Gender=Masc"
    assert sentence.columns["deps"] == ("3:case", "3:det", "0:root", "3:punct")
    assert sentence.columns["misc"] == ("_", "Gloss=the", "SpaceAfter=No|Odd|Odd", "_")
    assert sentence.heads["head"][0] == (Arc(3, "case"),)
    assert sentence.heads["head"][2] == (Arc(0, "root"),)
    assert sentence.comments == ("# newpar", "# sent_id = 1", "# text = du pain  !")
    assert [count for count, _ in sentence.extra_rows] == [0, 3]
    assert sentence.location == ("made-up", 5)


def test_round_trip_keeps_every_byte():
    assert written(*read((TEXT * 2).rstrip("\n"))) == TEXT * 2


def test_several_extra_rows_at_one_place_keep_their_order():
    text = "0.1" + row()[1:] + "0.2" + row()[1:] + "1-2" + row()[1:] + row() + row(2) + "2.1" + row()[1:] + "\n"
    assert written(*read(text)) == text


@pytest.mark.parametrize(
    ("head", "relation", "arcs"),
    [
        ("_", "_", None),
        ("0", "root", (Arc(0, "root"),)),
        ("2", "_", (Arc(2, None),)),
        ("_", "obj", (Arc(None, "obj"),)),
    ],
)
def test_unknown_heads_and_relations(head, relation, arcs):
    text = row(1, head=head, relation=relation) + row(2) + "\n"
    (sentence,) = read(text)
    assert sentence.heads["head"] == (arcs, None)
    assert sentence.layers == {"upos": (None, None), "xpos": (None, None)}
    assert written(sentence) == text


def test_alternatives_are_appended_to_the_field_and_leave_misc():
    misc = "Gloss=x|AltUpos=PROPN|AltXpos=VBG/JJ|AltHead=3:obl/_:dep/2:_|Known=1"
    (sentence,) = read(row(1, upos="NOUN", head="2", relation="obj", misc=misc) + row(2) + row(3) + "\n")
    assert sentence.layers["upos"][0] == ("NOUN", "PROPN")
    assert sentence.layers["xpos"][0] == ("VBG", "JJ")
    assert sentence.heads["head"][0] == (Arc(2, "obj"), Arc(3, "obl"), Arc(None, "dep"), Arc(2, None))
    assert sentence.columns["misc"][0] == "Gloss=x|Known=1"
    first = written(sentence).split("\n")[0].split("\t")
    assert (first[3], first[4], first[6], first[7]) == ("_", "_", "_", "_")
    assert first[9] == "Gloss=x|Known=1|AltUpos=NOUN/PROPN|AltXpos=VBG/JJ|AltHead=2:obj/3:obl/_:dep/2:_"
    (again,) = read(written(sentence))
    assert again == sentence


def test_alternatives_may_repeat_the_field_and_relations_have_subtypes():
    (sentence,) = read(row(upos="NOUN", misc="AltUpos=VERB/NOUN|AltHead=2:nsubj:pass/0:root") + row(2) + "\n")
    assert sentence.layers["upos"] == (("NOUN", "VERB"), None)
    assert sentence.heads["head"][0] == (Arc(2, "nsubj:pass"), Arc(0, "root"))


LABEL = st.text(st.sampled_from("ab/|\\p:_"), min_size=1, max_size=4)
CANDIDATES = st.none() | st.lists(LABEL, min_size=1, max_size=3, unique=True).map(tuple)
RELATION = LABEL.filter(lambda relation: relation != "_")
ARC = st.builds(Arc, st.none() | st.sampled_from([0, 3]), st.none() | RELATION).filter(lambda arc: arc != (None, None))
ARCS = st.none() | st.lists(ARC, min_size=1, max_size=3, unique=True).map(tuple)


@given(st.lists(st.tuples(CANDIDATES, CANDIDATES, ARCS), min_size=2, max_size=2))
def test_candidates_survive(tokens):
    upos, xpos, arcs = zip(*tokens, (None, None, None), strict=True)
    forms = tuple(f"w{number}" for number in range(len(upos)))
    sentence = Sentence(forms, {"upos": upos, "xpos": xpos}, heads={"head": arcs})
    (again,) = read(written(sentence))
    assert again.layers == sentence.layers
    assert again.heads == sentence.heads


def test_a_label_that_is_called_as_what_is_unknown():
    sentence = Sentence(("a", "b"), {"upos": (None, ("_",)), "xpos": (("_",), ("X", "_"))})
    text = written(sentence)
    assert [line.split("\t")[9] for line in text.split("\n")[:2]] == ["AltXpos=_", "AltUpos=_|AltXpos=X/_"]
    (again,) = read(text)
    assert again.layers == sentence.layers


def test_layers_by_other_names():
    sentence = Sentence(("a",), {"ctb": (("NN",),), "pd": (("n",),)}, heads={"sud": ((Arc(0, "root"),),)})
    text = written(sentence, upos="ctb", xpos="pd", head="sud")
    assert text == "1\ta\t_\tNN\tn\t_\t0\troot\t_\t_\n\n"
    with pytest.raises(CorpusError, match="found the layers ctb, pd, expected a layer 'upos' to write"):
        written(sentence)


def test_empty_sentences_have_no_rows():
    assert written(Sentence(())) == ""


def test_agrees_with_the_library(real_corpora):
    """An independent reader finds the same forms, tags and heads in real files."""
    for name in ("fr/gsd-ud/test", "zh/udc/test"):
        path = real_corpora / f"{name}.conllu"
        text = path.read_text(encoding="utf-8")
        theirs = [[token for token in sentence if isinstance(token["id"], int)] for sentence in library.parse(text)]
        ours = read(text.rstrip("\n"))
        assert [[token["form"] for token in sentence] for sentence in theirs] == [list(each.forms) for each in ours]
        for mine, other in zip(ours, theirs, strict=True):
            assert [token["upos"] for token in other] == [c[0] if c else "_" for c in mine.layers["upos"]]
            assert [token["head"] for token in other] == [arcs and arcs[0].head for arcs in mine.heads["head"]]
