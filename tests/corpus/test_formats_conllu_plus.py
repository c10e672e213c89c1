"""CoNLL-U Plus: the columns that a file names, those of other projects among them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tagweave.corpus.candidates import Soft
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load, save
from tagweave.corpus.sentence import Arc, Sentence
from tagweave.errors import CorpusError

WORDS = """\
# global.columns = ID FORM UPOS HEAD DEPREL PARSEME:MWE
# text = Ann gave it up.
1\tAnn\tPROPN\t2\tnsubj\t*
2\tgave\tVERB\t0\troot\t1:VPC.full
3-4\titup\t_\t_\t_\t*
3\tit\tPRON\t2\tobj\t*
4\tup\tADP\t2\tcompound\t1

1\tNo\t_\t_\t_\t_
"""


def file(folder: Path, content: str) -> str:
    (folder / "a.conllup").write_text(content, "utf-8")
    return str(folder / "a.conllup")


def test_columns_of_the_file(tmp_path: Path) -> None:
    first, second = load(file(tmp_path, WORDS) + "#PARSEME:MWE")
    assert first.layers == {
        "upos": (("PROPN",), ("VERB",), ("PRON",), ("ADP",)),
        "PARSEME:MWE": (("*",), ("1:VPC.full",), ("*",), ("1",)),
    }
    assert first.heads["head"][0] == (Arc(2, "nsubj"),) and first.comments == ("# text = Ann gave it up.",)
    assert "lemma" not in first.columns
    assert second.layers == {"upos": (None,), "PARSEME:MWE": (None,)} and second.heads["head"] == (None,)


def test_multiword_tokens_keep_their_other_columns(tmp_path: Path) -> None:
    save(load(file(tmp_path, WORDS)), str(tmp_path / "b.conllup"))
    assert "3-4\titup\t_\t_\t_\t_\t*\n" in (tmp_path / "b.conllup").read_text()
    save(load(file(tmp_path, WORDS)), str(tmp_path / "b.conllu"))
    assert "\n3-4\titup\t_\t_\t_\t_\t_\t_\t_\t_\n" in (tmp_path / "b.conllu").read_text()


def test_a_file_without_ids_has_tokens_alone(tmp_path: Path) -> None:
    (sentence,) = load(file(tmp_path, "# global.columns = NE:IOB FORM\nB-PER\tAnn\nO\tleft\n"))
    assert sentence.forms == ("Ann", "left") and sentence.layers == {"NE:IOB": (("B-PER",), ("O",))}
    assert not sentence.heads


def test_entities_tags_and_trees_in_one_file(tmp_path: Path) -> None:
    """All that a sentence can hold, with candidates and what is unknown; the corpus's own layer is the usual one."""
    layers = {"ne": (Soft(("B-X", "O"), (0.75, 0.25)), None), "upos": (("X", "Y"), None), "xpos": (None, ("Z",))}
    given = Sentence(("a", "b"), layers, {"lemma": ("A", "B")}, {"head": ((Arc(0, None), Arc(2, "x")), None)})
    save(Corpus((given,), "ne"), str(tmp_path / "a.conllup"))
    found = load(str(tmp_path / "a.conllup"))
    assert found.guideline == "ne"
    assert (found[0].layers, found[0].heads) == (layers, given.heads) and found[0].columns["lemma"] == ("A", "B")


@pytest.mark.parametrize(
    ("layers", "told"),
    [
        ({"a b": (("X",),)}, "found the column name 'a b'"),
        ({"form": (("X",),)}, "found a layer 'form', expected a name that is no column"),
        ({"ne": (("_",),)}, "found the label '_', expected labels that do not mean unknown"),
    ],
)
def test_what_it_cannot_hold(tmp_path: Path, layers: dict, told: str) -> None:
    with pytest.raises(CorpusError, match=told):
        save(Corpus((Sentence(("a",), layers),), next(iter(layers))), str(tmp_path / "a.conllup"))


def test_a_sentence_with_more_columns_than_the_first(tmp_path: Path) -> None:
    sentences = (Sentence(("a",), {"ne": (("X",),)}), Sentence(("a",), {"ne": (("X",),), "upos": (("X",),)}))
    with pytest.raises(CorpusError, match="found a column 'UPOS', expected the columns of the sentences before"):
        save(Corpus(sentences, "ne"), str(tmp_path / "a.conllup"))


def test_a_comment_names_the_layer_where_there_are_several(tmp_path: Path) -> None:
    """Also in other formats; the usual layer is for files that say nothing."""
    path = tmp_path / "a.col"
    path.write_text("# columns = form upos xpos ne\n# guideline = ne\na\tX\tY\tZ\n")
    corpus = load(str(path))
    assert corpus.guideline == "ne" and corpus[0].layers["ne"] == (("Z",),)
