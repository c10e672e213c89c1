"""Models of spans that overlap: from documents or layers to a file, and from text to all layers."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tagweave as tw
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError, PipelineError, PlanError, RequestError, StreamError
from tagweave.front.card import model_card
from tagweave.front.description import describe_model, model_lines
from tagweave.front.layered_tagger import LayeredTagger
from tagweave.learning.run import Silence
from tagweave.models.assembly import check
from tagweave.models.selective import selection
from tagweave.serve.served_models import Tagging

GENES, DISEASES, CHEMICALS = ("p53", "brca1", "myc"), ("cancer", "asthma", "gout"), ("zinc", "iron")
NAMES = ("Gene", "Disease", "Chemical")
TEXT = "the myc gout needs iron."
SPANS = [("Disease", "myc gout"), ("Gene", "myc"), ("Chemical", "iron")]
OPTIONS: dict[str, Any] = {"iterations": 4, "average_seeds": 1, "callback": Silence()}


def document(draw: random.Random, number: int) -> dict[str, Any]:
    """A text in which a gene is part of a disease, and a chemical stands apart."""
    gene, disease, chemical = map(draw.choice, (GENES, DISEASES, CHEMICALS))
    text = f"the {gene} {disease} needs {chemical}."
    whole = f"{gene} {disease}"
    marks = [(gene, "Gene"), (whole, "Disease"), (chemical, "Chemical")]
    label = [[text.index(quoted), text.index(quoted) + len(quoted), kind] for quoted, kind in marks]
    return {"id": number, "text": text, "label": label}


def export(path: Path, size: int, seed: int) -> Path:
    draw = random.Random(seed)
    path.write_text("".join(json.dumps(document(draw, number)) + "\n" for number in range(size)), "utf-8")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("overlap")
    export(folder / "train.jsonl", 40, 0)
    export(folder / "dev.jsonl", 12, 1)
    return folder


@pytest.fixture(scope="module")
def model(folder: Path) -> LayeredTagger:
    trained = tw.train(folder / "train.jsonl", dev=folder / "dev.jsonl", **OPTIONS)
    trained.save(folder / "model")
    loaded = tw.load_model(folder / "model")
    assert isinstance(trained, LayeredTagger) and isinstance(loaded, LayeredTagger)
    return loaded


def train_corpus(folder: Path) -> Corpus:
    return tw.load(str(folder / "train.jsonl"))


def test_documents_whose_spans_overlap_are_layers_that_share_a_chain_if_they_can(model: LayeredTagger) -> None:
    assert model.guidelines == NAMES and model.score == 1
    assert [[*types] for types in model.layered.types] == [["Gene"], ["Disease", "Chemical"]]
    assert model.plan.overlap and model.plan.method == "overlap"


def test_all_layers_come_out(model: LayeredTagger, folder: Path) -> None:
    assert [(span.label, TEXT[span.start : span.end]) for span in model.spans(TEXT)] == SPANS
    words = TEXT.replace(".", " .").split()
    labels = model.tag(words)
    assert labels["Gene"] == ["O", "B-Gene", "O", "O", "O", "O"]
    assert labels["Disease"] == ["O", "B-Disease", "I-Disease", "O", "O", "O"]
    assert labels["Chemical"] == ["O", "O", "O", "O", "B-Chemical", "O"]
    sentence = model.tag(Sentence(tuple(words)))
    assert {name: [label for (label,) in layer] for name, layer in sentence.layers.items()} == labels
    assert model.under(["Gene"]).labels == ("B-Gene", "I-Gene", "O")
    assert model.under(["Disease"]).labels == ("O", "B-Disease", "I-Disease")
    (only,) = model.under(["Chemical"]).tag([Sentence(tuple(words))])
    assert [*only.layers] == ["Chemical"] and only.layers["Chemical"] == sentence.layers["Chemical"]


def test_files_and_scores_have_all_layers(model: LayeredTagger, folder: Path) -> None:
    (folder / "text.raw").write_text(TEXT + "\n", "utf-8")
    model.label_file(folder / "text.raw", folder / "out.conll")
    assert {*tw.load(str(folder / "out.conll"))[0].layers} == {*NAMES}
    model.label_file(folder / "dev.jsonl", folder / "dev.conll", retag=True)
    tw.write_documents("doccano", tw.load(str(folder / "dev.conll")), folder / "back.jsonl")
    gold = [json.loads(line) for line in (folder / "dev.jsonl").read_text().splitlines()]
    back = [json.loads(line) for line in (folder / "back.jsonl").read_text().splitlines()]
    assert [sorted(document["label"]) for document in back] == [sorted(document["label"]) for document in gold]
    report = model.evaluate(folder / "dev.jsonl")
    assert {*report.reports} == {*NAMES} and report.spans_together()[model.name].f == 1
    assert "F of the spans of all layers 100.00" in str(report)
    assert any(line.startswith("  5 labels of Gene") for line in model_lines(describe_model(str(folder / "model"))))


def test_one_annotation_without_overlap_is_of_the_same_layers(model: LayeredTagger, folder: Path) -> None:
    line = {"text": "cancer and myc.", "label": [[0, 6, "Disease"], [11, 14, "Gene"]]}
    (folder / "flat.jsonl").write_text(json.dumps(line) + "\n", "utf-8")
    assert {*model.evaluate(folder / "flat.jsonl").reports} == {"Disease", "Gene"}
    (folder / "other.jsonl").write_text(json.dumps({"text": "gout", "label": [[0, 4, "Disease"]]}) + "\n", "utf-8")
    corpora = [folder / "train.jsonl", folder / "flat.jsonl"]
    assert tw.train(corpora, dev=folder / "other.jsonl", **OPTIONS | {"iterations": 1}).guidelines == NAMES


def test_known_labels_stay_and_the_rest_is_filled_in(model: LayeredTagger) -> None:
    words = ("the", "myc", "gout")
    given = Sentence(words, {"Disease": (None, ("O",), None), "Gene": (("B-Gene",), None, None)})
    (filled,) = model.complete(Corpus((given,), "Gene"))
    assert filled.layers["Gene"][0] == ("B-Gene",) and filled.layers["Disease"][1] == ("O",)
    assert all(len(candidates or ()) == 1 for layer in filled.layers.values() for candidates in layer)
    contradiction = replace(given, layers={"Disease": (("B-Disease",),) * 3, "Chemical": (("B-Chemical",),) * 3})
    with pytest.raises(CorpusError, match="spans of Disease and Chemical that overlap at token 1, 'the'"):
        model.complete(Corpus((contradiction,), "Disease"))


def test_served_results_have_the_spans_of_all_layers(model: LayeredTagger) -> None:
    operation = Tagging(model, lambda lines: [[(0, 3), (4, 7), (8, 12)] for _ in lines])
    (result,) = operation.results(["the myc gout"], True)
    assert result.labels is None and [span.label for span in result.spans or ()] == ["Disease", "Gene"]
    with pytest.raises(RequestError, match='found "all"'):
        operation.results(["the myc gout"], "all")


def test_weights_are_those_of_a_model_of_one_layer(folder: Path) -> None:
    """Each chain of corpora of one text is bit for bit the model of its layer alone."""
    corpus = train_corpus(folder)
    files = [replace(corpus.map(lambda s, name=name: s.with_layers_of({name})), guideline=name) for name in NAMES]
    together = tw.train(files, overlap=True, **OPTIONS)
    assert len(together.trained.chains) == len(NAMES)  # of separate corpora, nothing tells which exclude one another
    for name, file, chain in zip(NAMES, files, together.trained.chains, strict=True):
        alone = tw.train(file, task="spans", **OPTIONS).chain
        assert chain.space.guidelines == (name,)
        np.testing.assert_array_equal(chain.encoder.index.codes(), alone.encoder.index.codes())
        np.testing.assert_array_equal(chain.weights, alone.weights)
        np.testing.assert_array_equal(chain.linear.occurrences, alone.linear.occurrences)


def test_a_layer_learns_only_where_it_is_known(folder: Path) -> None:
    """Sentences without a layer change nothing but the index."""
    sentences = train_corpus(folder).sentences
    both = [sentence.with_layers_of({"Gene", "Disease"}) for sentence in sentences[:20]]
    partial = [*both, *(sentence.with_layers_of({"Gene"}) for sentence in sentences[20:])]
    unknown = [s if "Disease" in s.layers else s.with_layer("Disease", (None,) * len(s)) for s in partial]
    together = tw.train(Corpus(tuple(unknown), "Gene"), **OPTIONS).trained
    chain = next(chain for chain in together.chains if chain.space.guidelines == ("Disease",))
    known = Corpus(tuple(sentence.with_layers_of({"Disease"}) for sentence in sentences[:20]), "Disease")
    alone = tw.train(known, task="spans", **OPTIONS).chain
    tags = len(chain.space)
    windows = alone.encoder.windows
    assert len(together.encoder.windows) > len(windows)
    own = alone.linear.split(alone.weights)[0].emission
    layout = chain.linear.layouts[0]
    shared = chain.linear.split(chain.weights)[0].emission
    ids = together.encoder.index.ids(alone.encoder.index.codes())
    at = np.concatenate([np.arange(layout.ptr[feature], layout.ptr[feature + 1]) for feature in ids])
    assert len(at) == windows.sum() * tags
    np.testing.assert_array_equal(shared[at], own)
    assert not np.delete(shared, at).any()


def test_a_correction_changes_the_chains_of_its_layers_alone(model: Any) -> None:
    model = tw.load_model(model.name)
    words, chains = ["the", "zinc", "gout"], model.layered.chains
    model.trained = scored = replace(model.layered, about={**model.about, "dev_score": 0.5})
    model.correct(words, {"Gene": [None] * 3})
    assert model.trained is scored
    model.correct(words, {"Gene": [None, "B-Gene", "I-Gene"]})
    assert model.score is None
    assert model.tag(words)["Gene"] == ["O", "B-Gene", "I-Gene"] and model.layered.chains[1] is chains[1]
    model.correct(words, {"Disease": ["O", "B-Disease", None], "Chemical": ["O"] * 3})
    labels = model.tag(words)
    assert labels["Disease"][1] == "B-Disease" and labels["Chemical"] == ["O"] * 3
    assert labels["Gene"] == ["O", "B-Gene", "I-Gene"]
    with pytest.raises(CorpusError, match="spans of Disease and Chemical that overlap at token 2, 'zinc'"):
        model.correct(words, {"Disease": [None, "B-Disease", None], "Chemical": [None, "B-Chemical", None]})


def test_layers_do_not_go_on_learning(model: LayeredTagger, folder: Path) -> None:
    with pytest.raises(PlanError, match="found a model of layers of spans to go on from"):
        model.update(folder / "train.jsonl")


def test_the_layers_that_say_a_span_explain_it(model: LayeredTagger, folder: Path) -> None:
    words = TEXT.replace(".", " .").split()
    everything = model.why(words)
    assert [(one.answer, one.start, one.stop) for one in everything] == [
        ("Disease", 1, 3),
        ("Gene", 1, 2),
        ("Chemical", 4, 5),
    ]
    (outer,) = [one for one in everything if one.answer == "Disease"]
    chain = model.layered.chains[1]
    encoded = chain.encoder.encode([Sentence(tuple(words))])
    best, names = chain.best(encoded), list(chain.space.names)
    other = best.copy()
    for form_and_label in outer.other.split():
        form, _, label = form_and_label.rpartition("/")
        other[words.index(form)] = names.index(label)
    one, two = (chain.sequence_scores(encoded, labels)[0] for labels in (best, other))
    temperature = chain.about["calibration"]["temperature"]
    assert outer.score == pytest.approx((one - two) * temperature, rel=1e-4)
    assert [one.answer for one in model.why(words, 2, folder / "train.jsonl")] == ["Disease"]
    (no_span,) = model.why(words, 3)
    assert no_span.answer == "O" and no_span.other.startswith("needs/")
    (example, *_) = model.why(words, 1, folder / "train.jsonl").explanations[1].examples
    assert example.label == "B-Gene" and "train.jsonl" in example.place
    assert [one.answer for one in model.why(["needs", "."])] == ["O"] * 3


def test_every_chain_says_what_it_is_sure_of(folder: Path) -> None:
    export(folder / "many.jsonl", 200, 2)
    told: list[str] = []
    model: Any = tw.train(folder / "train.jsonl", dev=folder / "many.jsonl", **OPTIONS)
    model.tell = told.append
    words, gold = TEXT.replace(".", " .").split(), model.tag(TEXT.replace(".", " .").split())
    assert model.tag(words, precision=0.95) == model.tag(words, recall=0.95) == gold
    assert [span.label for span in model.spans(TEXT, recall=0.95)] == [label for label, _ in SPANS]
    assert not told
    assert model.tag(words, precision=0.98) == {**gold, "Gene": [None] * 6}  # of fewer spans than Disease and Chemical
    assert told == ["development data promise no precision of 0.98 for Gene, which stay unknown"]
    assert [span.label for span in model.spans(TEXT, precision=0.98)] == ["Disease", "Chemical"]
    given = Sentence(tuple(words), {"Gene": (("B-Gene",), *(None,) * 5), "Disease": (*(None,) * 5, ("O",))})
    columns = tw.Corpus((given,), "Gene")
    tw.save(columns, folder / "given.conll")
    model.complete_file(folder / "given.conll", folder / "sure.conll", precision=0.98)
    (sure,) = tw.load(str(folder / "sure.conll"))
    assert sure.layers["Gene"][:2] == (("B-Gene",), None) and sure.layers["Disease"][1] == ("B-Disease",)
    model.save(folder / "sure.model")
    costs = [line for line in model_lines(describe_model(str(folder / "sure.model"))) if " said at a precision" in line]
    assert [line.split(":")[0].strip() for line in costs] == ["Gene", "Disease+Chemical"]
    assert "Probabilities of Disease+Chemical are calibrated" in model_card(folder / "sure.model")
    for level in ({"precision": 0.99}, {"recall": 0.98}):
        with pytest.raises(StreamError, match="development data promise no more"):
            model.tag(words, **level)


REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"method": "single"}, PlanError, "found `overlap` with the method single, expected overlap"),
    ({"task": "tag"}, PlanError, "found the task tag with the method overlap, expected spans"),
    ({"dev": Corpus((Sentence(("a",), {"X": (("B-X",),)}),), "X")}, CorpusError, "found the layers of spans X"),
]


@pytest.mark.parametrize(("options", "error", "message"), REFUSED)
def test_what_does_not_go_together_is_refused(
    folder: Path, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        tw.train(train_corpus(folder), overlap=True, **{**OPTIONS, **options})


def test_what_is_not_of_layers_is_refused(model: LayeredTagger) -> None:
    for labels, found in ((["O"], "list"), (None, "None"), ({"X": ["O"]}, "labels of X")):
        with pytest.raises(TypeError, match=f"found {found}, expected a dict of labels by layer: Gene, Disease"):
            model.correct(["a"], labels)
    for ask in (model.probabilities, model.marginals):
        with pytest.raises(StreamError, match="found the layers Gene, Disease, Chemical, expected one"):
            ask(["a"])
    assert model.marginals(["a"], to="Gene").probabilities.shape == (1, 3)
    with pytest.raises(StreamError, match="found `to=X`, expected one of Gene, Disease, Chemical"):
        model.under(["X"])
    with pytest.raises(TypeError, match=r"found a text for tag\(\)"):
        model.tag("a text")


def _without_a_type(description: dict[str, Any]) -> None:
    del description["types"][1]["Chemical"]


def _twice(description: dict[str, Any]) -> None:
    description["types"][0] = {"Disease": ["Gene"]}


def _more_chains(description: dict[str, Any]) -> None:
    description["types"].append({"X": ["X"]})


def _other_coding(description: dict[str, Any]) -> None:
    description["coding"] = "IOB2"


def _other_encoder(description: dict[str, Any]) -> None:
    description["encoder"] = {"kind": "attributes"}


def _nested(description: dict[str, Any]) -> None:
    description["chains"][0] = json.loads(json.dumps(description))


@pytest.mark.parametrize(
    "change", [_without_a_type, _twice, _more_chains, _other_coding, _other_encoder, _nested], ids=lambda c: c.__name__
)
def test_files_whose_layers_do_not_fit_are_refused(
    model: LayeredTagger, change: Callable[[dict[str, Any]], None]
) -> None:
    description = json.loads(json.dumps(model.layered.to_json()))
    check(description)
    change(description)
    with pytest.raises(ValueError, match=r"found|Expected"):
        check(description)


def test_layers_of_one_type_keep_apart_what_is_promised() -> None:
    """Two layers with spans of the same type: one chain promises a level, the other one does not."""

    def chain(least: float | None) -> Any:
        rows = [{"level": 0.9, "least": {"X": least, "O": None}, "said": 1.0}]
        return SimpleNamespace(about={"selective": {"of": "spans", "precision": rows, "recall": rows}})

    model = SimpleNamespace(kind="layers", chains=[chain(0.5), chain(None)], types=[{"X": ("X",)}, {"Y": ("X",)}])
    selected = selection(model, 0.9, None, "m")
    assert selected is not None and selected.unpromised == ["X of Y"]
    with pytest.raises(StreamError, match="expected it without: its development data promise no more"):
        selection(model, None, 0.9, "m")


def test_a_component_of_spacy_takes_one_layer(model: LayeredTagger) -> None:
    spacy = pytest.importorskip("spacy")
    nlp = spacy.blank("en")
    with pytest.raises(PipelineError, match="found the layers Gene, Disease, Chemical, expected one of them"):
        nlp.add_pipe("tagweave", config={"model": model.name})
    nlp.add_pipe("tagweave", config={"model": model.name, "guideline": "Disease"})
    assert [(entity.text, entity.label_) for entity in nlp("the myc gout").ents] == [("myc gout", "Disease")]
