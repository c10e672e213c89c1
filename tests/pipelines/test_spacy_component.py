"""Models as components of spaCy's pipelines: what they set, beside what is there, in batches, and on disk."""

from __future__ import annotations

import shutil
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import tagweave as tw
from tagweave.errors import PipelineError
from tagweave.models.storage import ModelFileError

spacy = pytest.importorskip("spacy", reason="the extra spacy is not installed")
import_module("tagweave.pipelines.spacy")  # as the entry points do

TEXT = "Ann Bell left Graz.\n\nBob stays in Graz . "


def pipeline(folder: Path, *names: str, **config: Any) -> Any:
    nlp = spacy.blank("en")
    for name in names:
        nlp.add_pipe("tagweave", name=name, config={"model": str(folder / f"{name}.model"), **config})
    return nlp


def ents(doc: Any) -> list[tuple[str, str]]:
    return [(each.text, each.label_) for each in doc.ents]


def test_entry_points_name_what_is_registered() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))["project"]
    points = project["entry-points"]
    assert {*points} == {"spacy_factories", "spacy_tokenizers"}
    for group, registry in (("spacy_factories", "factories"), ("spacy_tokenizers", "tokenizers")):
        for name, value in points[group].items():
            module, _, attribute = value.partition(":")
            assert spacy.util.registry.get(registry, name)
            assert callable(getattr(import_module(module), attribute))


def test_entities_of_lines(piped: Path) -> None:
    nlp = pipeline(piped, "names")
    assert ents(nlp(TEXT)) == [("Ann Bell", "PER"), ("Graz", "LOC"), ("Bob", "PER"), ("Graz", "LOC")]
    assert nlp.pipe_labels["names"] == ["LOC", "PER"]
    assert not nlp("").ents and not nlp(" \n ").ents


def test_entities_are_those_of_the_model(piped: Path) -> None:
    """No entity goes on into the next sentence, and one across a blank token has it inside."""
    nlp = pipeline(piped, "names")
    assert ents(nlp("Ann  Bell left Graz.")) == [("Ann  Bell", "PER"), ("Graz", "LOC")]
    doc = spacy.tokens.Doc(nlp.vocab, words=["left", "Graz", "Bob", "stays"], sent_starts=[True, False, True, False])
    model = tw.load_model(piped / "names.model")
    parts = [model.tag(["left", "Graz"]), model.tag(["Bob", "stays"])]
    iob = [f"{each.ent_iob_}-{each.ent_type_}" if each.ent_type_ else "O" for each in nlp(doc)]
    assert iob == [label for part in parts for label in part]


def test_annotation_that_is_there_stays(piped: Path) -> None:
    for overwrite, spans, tags in (
        (False, [("Bell left", "MINE"), ("Graz", "LOC")], ["X", "VBZ"]),
        (True, [("Ann Bell", "PER"), ("Graz", "LOC")], ["PRP", "VBZ"]),
    ):
        names, xpos = (pipeline(piped, each, overwrite=overwrite) for each in ("names", "xpos"))
        doc = names.make_doc("Ann Bell left Graz.")
        doc.set_ents([spacy.tokens.Span(doc, 1, 3, label="MINE")])
        assert ents(names(doc)) == spans
        doc = spacy.tokens.Doc(xpos.vocab, words=["She", "sees"], tags=["X", ""])
        assert [each.tag_ for each in xpos(doc)] == tags


def test_tags_and_parts_of_speech(piped: Path) -> None:
    doc = pipeline(piped, "upos", "xpos")("Ann  sees Bob")
    assert [each.pos_ for each in doc] == ["PROPN", "SPACE", "VERB", "PROPN"]
    assert [each.tag_ for each in doc] == ["NNP", "_SP", "VBZ", "NNP"]


def test_the_attribute_of_tags(piped: Path, tmp_path: Path) -> None:
    """A tagger of XPOS sets tags whatever its labels are."""
    text = (piped / "trees.conllu").read_text().replace("\tPRP\t", "\tPRON\t")
    (tmp_path / "x.conllu").write_text(text.replace("NNP", "PROPN").replace("VBZ", "VERB"))
    tw.train(f"PTB={tmp_path / 'x.conllu'}#xpos", iterations=4).save(tmp_path / "x.model")
    for nlp in (pipeline(piped, "upos", attribute="tag"), pipeline(tmp_path, "x")):
        (doc,) = nlp.pipe(["She sees Bob"])
        assert [each.tag_ for each in doc] == ["PRON", "VERB", "PROPN"] and not doc.has_annotation("POS")


def test_trees_and_sentences(piped: Path) -> None:
    doc = pipeline(piped, "upos", "xpos", "trees")("She sees Bob \n\nAnn sleeps")
    assert [each.head.text for each in doc] == ["sees", "sees", "sees", "Bob", "sleeps", "sleeps"]
    assert [each.dep_ for each in doc] == ["nsubj", "ROOT", "obj", "dep", "nsubj", "ROOT"]
    assert [each.text.strip() for each in doc.sents] == ["She sees Bob", "Ann sleeps"]


def test_sentences_that_are_there_are_parsed_each(piped: Path) -> None:
    nlp = pipeline(piped, "upos", "xpos", "trees")
    words, starts = ["Ann", "sleeps", "She", "sees", "Bob"], [True, False, True, False, False]
    doc = nlp(spacy.tokens.Doc(nlp.vocab, words=words, sent_starts=starts))
    assert [each.head.i for each in doc] == [1, 1, 3, 3, 3]
    assert [each.is_sent_start for each in doc] == starts
    before = doc.to_bytes()
    assert nlp(doc).to_bytes() == before


def test_a_parser_without_tags_warns_once(piped: Path) -> None:
    nlp = pipeline(piped, "trees")
    with pytest.warns(UserWarning, match=r"no upos, xpos, which .*trees.model looks at"):
        nlp("She sees Bob")
    assert nlp("She sees Bob").has_annotation("DEP")


def test_batches_are_what_single_texts_are(piped: Path) -> None:
    nlp = pipeline(piped, "upos", "xpos", "names", "trees")
    texts = [TEXT, "", "Ann left", " ", "She sees Bob"] * 3
    singles = [nlp(each).to_bytes() for each in texts]
    for size in (1, 4, 100):
        assert [each.to_bytes() for each in nlp.pipe(texts, batch_size=size)] == singles


def test_a_document_that_fails_is_handled_alone(piped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nlp = pipeline(piped, "names")
    annotation = nlp.get_pipe("names").annotation
    real, failed = annotation.set, []

    def fails(docs: Any) -> None:
        if any(each.text == "bad" for each in docs):
            raise ValueError("bad")
        real(docs)

    monkeypatch.setattr(annotation, "set", fails)
    with pytest.raises(ValueError, match="bad"):
        list(nlp.pipe(["Ann left Graz.", "bad"]))
    nlp.set_error_handler(lambda name, _proc, docs, _error: failed.append((name, docs[0].text)))
    assert [each.text for each in nlp.pipe(["Ann left Graz.", "bad", "Bob"])] == ["Ann left Graz.", "Bob"]
    assert failed == [("names", "bad")]


@pytest.fixture
def moved(piped: Path, tmp_path: Path) -> Path:
    """A folder of models that a test may remove."""
    return Path(shutil.copytree(piped, tmp_path / "models"))


def test_a_saved_pipeline_needs_no_other_file(moved: Path, tmp_path: Path) -> None:
    nlp = pipeline(moved, "xpos", "names")
    found = nlp(TEXT).to_bytes()
    nlp.to_disk(tmp_path / "saved")
    assert [each.name for each in (tmp_path / "saved" / "names").iterdir()] == ["tagweave.model"]  # nothing is pickled
    data, config, meta = nlp.to_bytes(), nlp.config, nlp.meta
    shutil.rmtree(moved)
    shutil.move(tmp_path / "saved", tmp_path / "elsewhere")
    again = spacy.load(tmp_path / "elsewhere")
    assert again(TEXT).to_bytes() == found and again.pipe_labels == nlp.pipe_labels
    again.to_disk(tmp_path / "third")
    assert spacy.load(tmp_path / "third")(TEXT).to_bytes() == found
    assert type(nlp).from_config(config, meta=meta).from_bytes(data)(TEXT).to_bytes() == found


def test_a_component_of_another_pipeline(moved: Path, tmp_path: Path) -> None:
    """Its path is known to the configuration alone, where it can be taken out."""
    nlp, source = spacy.blank("en"), pipeline(moved, "names")
    nlp.add_pipe("names", source=source)
    nlp.to_disk(tmp_path / "saved")
    shutil.rmtree(moved)
    with pytest.raises(FileNotFoundError, match=r"names\.model"):
        spacy.load(tmp_path / "saved")
    again = spacy.load(tmp_path / "saved", config={"components.names.model": None})
    assert ents(again(TEXT)) == ents(source(TEXT))


class TestErrors:
    def test_no_model(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError, match=r"names\.model: no such model file"):
            pipeline(tmp_path, "names")
        nlp = spacy.blank("en")
        nlp.add_pipe("tagweave")
        with pytest.raises(PipelineError, match="found no model"):
            nlp("Ann")

    def test_a_segmenter(self, piped: Path) -> None:
        with pytest.raises(PipelineError, match=r"words\.model: found a segmenter, expected a tagger or a parser"):
            pipeline(piped, "words")

    @pytest.mark.parametrize(
        ("model", "config", "told"),
        [
            ("xpos", {"attribute": "pos"}, "found the labels NNP, .* expected parts of speech of UD"),
            ("xpos", {"attribute": "lemma"}, "found attribute 'lemma', expected tag or pos"),
            ("names", {"attribute": "tag"}, "found attribute with a model of entities"),
            ("trees", {"attribute": "tag"}, "found attribute with a parser"),
            ("trees", {"guideline": "other"}, "found guideline 'other'"),
            ("upos", {"guideline": "other"}, "other"),
        ],
    )
    def test_options_that_do_not_fit(self, piped: Path, model: str, config: dict[str, Any], told: str) -> None:
        with pytest.raises(ValueError, match=told):
            pipeline(piped, model, **config)

    def test_a_damaged_pipeline(self, piped: Path, tmp_path: Path) -> None:
        nlp = pipeline(piped, "names")
        nlp.to_disk(tmp_path / "saved")
        file = tmp_path / "saved" / "names" / "tagweave.model"
        file.write_bytes(file.read_bytes()[:-9])
        with pytest.raises(ModelFileError, match=r"tagweave\.model: found a damaged file"):
            spacy.load(tmp_path / "saved")
        file.unlink()
        with pytest.raises(FileNotFoundError, match=r"tagweave\.model: no such model file"):
            spacy.load(tmp_path / "saved")
        with pytest.raises(ModelFileError, match=r"^bytes of a pipeline: found a damaged file"):
            nlp.get_pipe("names").from_bytes(b"no model")
