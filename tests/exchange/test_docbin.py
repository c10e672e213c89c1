"""spaCy's training data: what is missing is unknown, and files are only data. spaCy itself makes them."""

from __future__ import annotations

import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import tagweave as tw
from tagweave.cli.main import application
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load
from tagweave.corpus.sentence import Arc, Sentence
from tagweave.corpus.spans import Span
from tagweave.errors import CorpusError, ExchangeError

spacy = pytest.importorskip("spacy", reason="the extra spacy is not installed")


def written(folder: Path, *docs: Any, **options: Any) -> Path:
    from spacy.tokens import DocBin

    DocBin(docs=docs, **options).to_disk(folder / "a.spacy")
    return folder / "a.spacy"


def doc(words: str, **values: Any) -> Any:
    from spacy.tokens import Doc
    from spacy.vocab import Vocab

    return Doc(Vocab(), words=words.split(" "), **values)


def test_what_is_missing_is_unknown(tmp_path: Path) -> None:
    values = {"tags": ["NNP", "", "VBD"], "pos": ["PROPN", "PROPN", ""], "lemmas": ["Ann", "", "leave"]}
    (found,) = tw.read_documents(
        "spacy", written(tmp_path, doc("Ann Bell left", ents=["B-PER", "I-PER", ""], **values))
    )
    assert found.layers == {
        "upos": (("PROPN",), ("PROPN",), None),
        "xpos": (("NNP",), None, ("VBD",)),
        "entities": (("B-PER",), ("I-PER",), None),
    }
    assert found.columns == {"lemma": ("Ann", "_", "leave")} and not found.heads


def test_incorrect_spans_are_rejected_spans(tmp_path: Path) -> None:
    """One that begins with a blank token, or has no label, says nothing of the tokens that are kept."""
    from spacy.tokens import Span as Marked

    given = doc("Ann Bell \n left", ents=["B-ORG", "I-ORG", "", ""])
    places = ((0, 1, "PER"), (1, 4, "PER"), (2, 4, "PER"), (0, 2, ""))
    given.spans["incorrect_spans"] = [Marked(given, *place) for place in places]
    given.spans["sc"] = [Marked(given, 0, 2, "X")]
    told: list[str] = []
    corpus = tw.read_documents("spacy", written(tmp_path, given, doc("only")), tell=told.append)
    assert corpus[0].rejected == {"entities": (Span(0, 1, "PER"), Span(1, 3, "PER"))}
    assert told == ["not kept: 1 span groups sc"]
    tw.write_documents("spacy", corpus, tmp_path / "b.spacy")
    assert [each.rejected for each in tw.read_documents("spacy", tmp_path / "b.spacy")] == [corpus[0].rejected, {}]
    renamed = corpus.map(lambda each: replace(each, layers={"ne": each.layers["entities"]}, rejected={"ne": ()}))
    rejecting = renamed.map(lambda each: each.rejecting("ne", [Span(0, 1, "LOC")]))
    tw.write_documents("spacy", replace(rejecting, guideline="ne"), tmp_path / "b.spacy")
    again = tw.read_documents("spacy", tmp_path / "b.spacy")
    assert [each.rejected for each in again] == [{"entities": (Span(0, 1, "LOC"),)}] * 2


@pytest.mark.parametrize("group", [b"\x91\xc4\x01\x80", b"\xc1", b"\x01", b"\x91\x01"])
def test_damaged_span_groups_are_told(tmp_path: Path, group: bytes) -> None:
    import srsly

    path = written(tmp_path, doc("a b"))
    message = srsly.msgpack_loads(zlib.decompress(path.read_bytes()))
    path.write_bytes(zlib.compress(srsly.msgpack_dumps({**message, "span_groups": [group]})))
    with pytest.raises(CorpusError, match="found no DocBin"):
        tw.read_documents("spacy", path)


def test_trees_and_sentences_of_a_document(tmp_path: Path) -> None:
    """A line break is no token; whoever hangs on it has no head."""
    given = doc(
        "Ann left \n Bob stays again",
        heads=[1, 1, 4, 4, 4, 2],
        deps=["nsubj", "ROOT", "dep", "nsubj", "ROOT", "advmod"],
        spaces=[True, False, False, True, False, False],
    )
    first, second = tw.read_documents("spacy", written(tmp_path, given))
    assert (first.forms, first.heads["head"]) == (("Ann", "left"), ((Arc(2, "nsubj"),), (Arc(0, "ROOT"),)))
    assert second.forms == ("Bob", "stays", "again")
    assert second.heads["head"] == ((Arc(2, "nsubj"),), (Arc(0, "ROOT"),), None)


def test_several_sentences(tmp_path: Path) -> None:
    labels = ["B-P"] * 3 + ["I-P", "O", "O"]
    given = doc("Ann left . Bob stays .", sent_starts=[True, False, False] * 2, ents=labels)
    told: list[str] = []
    given.cats["x"], given.user_data["y"] = 1.0, 2
    first, second = tw.read_documents("spacy", written(tmp_path, given, store_user_data=True), tell=told.append)
    assert first.comments[0] == "# document = 1"
    assert second.comments == ("# text = Bob stays .", "# start = 11", '# before = " "')
    assert second.layers["entities"] == (("B-P",), ("O",), ("O",))
    assert told == ["not kept: 1 categories of documents, 1 user data of documents"]


def test_back_to_spacy(tmp_path: Path) -> None:
    """Partial trees stay one sentence, and spaCy calls missing what is unknown."""
    heads = ((Arc(2, "nsubj"),), (Arc(0, "root"),), None, (Arc(3, "x"),))
    layers = {"upos": (("PROPN",), None, ("X",), None), "ne": (("B-PER",), ("O",), None, ("O",))}
    text = ("# text = Ann left;x y",)
    given = Sentence(
        ("Ann", "left", ";x", "y"), layers, {"feats": ("Number=Sing", "_", "_", "_")}, {"head": heads}, text
    )
    assert tw.write_documents("spacy", Corpus((given,), "ne"), tmp_path / "b.spacy") == 1
    from spacy.tokens import DocBin

    (made,) = DocBin().from_disk(tmp_path / "b.spacy").get_docs(spacy.blank("en").vocab)
    assert made.text == "Ann left;x y" and len(list(made.sents)) == 1
    assert [each.text for each in made.ents] == ["Ann"] and [each.ent_iob for each in made] == [3, 2, 0, 2]
    assert [each.has_dep() for each in made] == [True, True, False, True]
    (found,) = tw.read_documents("spacy", tmp_path / "b.spacy")
    assert found.layers == {"upos": layers["upos"], "entities": layers["ne"]}
    assert found.heads["head"] == heads and found.columns["feats"][0] == "Number=Sing"


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        (Sentence(("a",), {"ne": (("B-X", "O"),)}), "found the candidates B-X O, expected one label or none"),
        (Sentence(("a",), {"ne": (("X",),)}), "found what spaCy refuses"),
        (Sentence(("a",), {"upos": (("NN",),)}), "found what spaCy refuses"),
        (Sentence(("a", "b"), heads={"head": ((Arc(None, "x"),), None)}), "found 1 candidates of a head, or half of"),
    ],
)
def test_what_it_cannot_hold(tmp_path: Path, sentence: Sentence, told: str) -> None:
    with pytest.raises(CorpusError, match=told):
        tw.write_documents("spacy", Corpus((sentence,), next(iter(sentence.layers), "head")), tmp_path / "b.spacy")
    both = Sentence(("a",), {"x": (("O",),), "y": (("O",),)})
    with pytest.raises(ExchangeError, match="found the layers x, y, expected one of them"):
        tw.write_documents("spacy", Corpus((both,), "x"), tmp_path / "b.spacy")
    assert not (tmp_path / "b.spacy").exists()


def test_user_data_are_never_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor are documents made of a file, whose heads and hashes may be any."""
    from spacy.tokens import DocBin

    path = written(tmp_path, doc("a b"), store_user_data=True)
    monkeypatch.setattr(DocBin, "get_docs", lambda *_: pytest.fail("made documents"))
    assert len(tw.read_documents("spacy", path, tell=lambda _: None)) == 1


def test_heads_beyond_the_sentence(tmp_path: Path) -> None:
    import srsly

    path = written(tmp_path, doc("a b", heads=[1, 1], deps=["x", "ROOT"]))
    message = srsly.msgpack_loads(zlib.decompress(path.read_bytes()))
    at = message["attrs"].index(spacy.attrs.IDS["HEAD"])
    tokens = bytearray(message["tokens"])
    tokens[8 * at : 8 * at + 8] = (10**15).to_bytes(8, "little")
    path.write_bytes(zlib.compress(srsly.msgpack_dumps({**message, "tokens": bytes(tokens)})))
    with pytest.raises(CorpusError, match=r"found the head \+1000000000000000 of 'a', expected a token"):
        tw.read_documents("spacy", path)


@pytest.mark.slow
def test_a_large_corpus_is_no_bomb(tmp_path: Path) -> None:
    """Its tokens are an array of many bytes; lists of as many would be refused."""
    import srsly

    doc_bin, tokens = spacy.tokens.DocBin(attrs=["ORTH"]), 1_600_000
    doc_bin.add(doc("a"))
    message = srsly.msgpack_loads(zlib.decompress(doc_bin.to_bytes()))
    message["tokens"] = message["tokens"][:8] * tokens
    message["spaces"], message["lengths"] = bytes(tokens), tokens.to_bytes(4, "little")
    (tmp_path / "a.spacy").write_bytes(zlib.compress(srsly.msgpack_dumps(message), 0))
    (sentence,) = tw.read_documents("spacy", tmp_path / "a.spacy")
    assert len(sentence) == tokens


def test_by_the_command(tmp_path: Path) -> None:
    """A layer for which a format has no place is told."""
    given = doc("a b", heads=[1, 1], deps=["x", "ROOT"], ents=["B-X", "O"], pos=["X", "X"])
    path, runner = str(written(tmp_path, given)), CliRunner()
    for name, told in (("a.col", "not kept in {}: head"), ("a.conllu", "")):
        output = str(tmp_path / name)
        done = runner.invoke(application(["import", "export"]), ["import", "spacy", path, "-o", output])
        assert done.exit_code == 0, done.output
        assert told.format(output) in done.output and ("not kept" in done.output) == bool(told)
    assert any(load(str(tmp_path / "a.conllu"))[0].heads["head"])
