"""INCEpTION's external recommender. Requests are made by dkpro-cassis, as INCEpTION makes them by UIMA."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from clients import Connect
from starlette.testclient import TestClient

cassis = pytest.importorskip("cassis", reason="the extra inception is not installed")

DKPRO = "de.tudarmstadt.ukp.dkpro.core.api."
TOKEN, SENTENCE = (f"{DKPRO}segmentation.type.{name}" for name in ("Token", "Sentence"))
LAYER = f"{DKPRO}ner.type.NamedEntity"
PREDICTED = "inception_internal_predicted"
TEXT = "😀 Ann Bell left Graz."
METADATA = {"layer": LAYER, "feature": "value", "projectId": 7, "anchoringMode": "tokens", "crossSentence": False}


def types(*features: tuple[str, str]) -> Any:
    found = cassis.TypeSystem()
    for name in (TOKEN, SENTENCE, LAYER):
        found.create_type(name, supertypeName="uima.tcas.Annotation")
    for feature, kind in features or (("value", "String"), (PREDICTED, "Boolean"), ("value_score", "Double")):
        found.create_feature(found.get_type(LAYER), feature, f"uima.cas.{kind}")
    return found


def cas(system: Any, text: str = TEXT, names: Any = (), sentences: Any = ((0, 21),)) -> Any:
    """A text with tokens between blanks, and named entities: begin, end, value, whether it is predicted."""
    made = cassis.Cas(typesystem=system)
    made.sofa_string, made.sofa_mime = text, "text/plain"
    for start, end in sentences:
        made.add(system.get_type(SENTENCE)(begin=start, end=end))
    at = 0
    for word in text.split():
        at = text.index(word, at)
        made.add(system.get_type(TOKEN)(begin=at, end=at + len(word)))
        at += len(word)
    for start, end, value, predicted in names:
        made.add(system.get_type(LAYER)(begin=start, end=end, value=value, **{PREDICTED: predicted}))
    return made


def sent(made: Any, **more: Any) -> dict[str, Any]:
    document = {"xmi": made.to_xmi(), "documentId": 3, "userId": "ann"}
    return {"metadata": METADATA, "document": document, "typeSystem": made.typesystem.to_xml(), **more}


def found(answer: Any, system: Any) -> list[tuple[str, str, bool, float]]:
    made = cassis.load_cas_from_xmi(answer.json()["document"], typesystem=system)
    return [(each.get_covered_text(), each.value, each[PREDICTED], each.value_score) for each in made.select(LAYER)]


def test_predictions_stand_beside_what_is_annotated(connect: Connect) -> None:
    system = types()
    given = cas(system, names=[(2, 5, "PER", False)])
    answer = connect("ner", "seg", tokens="words").post("/ner/predict", json=sent(given))
    assert answer.status_code == 200, answer.text
    (old, *new) = sorted(found(answer, system), key=lambda each: bool(each[2]))
    assert old == ("Ann", "PER", False, None)
    assert ("Ann Bell", "PER") in [each[:2] for each in new] and all(
        each[2] is True and 0 < each[3] <= 1 for each in new
    )


def test_a_text_without_tokens_is_cut_here(connect: Connect) -> None:
    system = types(("value", "String"), (PREDICTED, "Boolean"))
    made = cassis.Cas(typesystem=system)
    made.sofa_string = "Ann Bell left Graz."
    answer = connect("ner", "seg", tokens="words").post("/ner/predict", json=sent(made))
    again = cassis.load_cas_from_xmi(answer.json()["document"], typesystem=system)
    assert [(each.get_covered_text(), each.value) for each in again.select(LAYER)] == [
        ("Ann Bell", "PER"),
        ("Graz", "LOC"),
    ]


EVIL = "x=__import__('pathlib').Path('evil').touch()"


@pytest.mark.parametrize(
    ("change", "status", "reason"),
    [
        ({"metadata": {}}, 422, "Object missing required field `layer` - at `$.metadata`"),
        ({"metadata": {**METADATA, "layer": "no.Such"}}, 422, "found no layer 'no.Such'"),
        ({"metadata": {**METADATA, "feature": "none"}}, 422, "found no feature 'none' of text"),
        ({"metadata": {**METADATA, "feature": PREDICTED}}, 422, f"found no feature '{PREDICTED}' of text"),
        ({"document": {"xmi": "<x>"}}, 422, "the document of the request: found no CAS"),
        ({"document": {"xmi": ""}}, 422, "the document of the request: found no CAS"),
        ({"document": {"xmi": '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'}}, 422, "found a document type declaration"),
        ({"typeSystem": "<!ENTITY"}, 422, "found a document type declaration in the type system"),
        ({"typeSystem": "no XML"}, 422, "the type system of the request: found no CAS"),
        ({"typeSystem": types().to_xml().replace(">value_score<", f">{EVIL}<")}, 422, "expected letters, digits and"),
        ({"typeSystem": types(("value", "String")).to_xml()}, 422, f"found no feature {PREDICTED} of the layer"),
    ],
)
def test_requests_that_cannot_be_answered(
    connect: Connect, change: dict[str, Any], status: int, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = cas(types(), names=())
    answer = connect("ner", "seg", tokens="words").post("/ner/predict", json={**sent(made), **change})
    assert (answer.status_code, reason in answer.json()["error"]) == (status, True), answer.text
    assert not list(tmp_path.iterdir())


def test_models_that_do_not_predict_or_train(connect: Connect) -> None:
    client, request = connect("ner", "seg", tokens="words"), sent(cas(types()))
    assert client.post("/none/predict", json=request).status_code == 404
    assert client.post("/seg/predict", json=request).status_code == 422
    train = {**request, "documents": []}
    del train["document"]
    answer = client.post("/ner/train", json=train)
    assert (answer.status_code, "tagweave serve --models" in answer.json()["error"]) == (422, True)


def test_annotations_beyond_the_text(connect: Connect) -> None:
    request = sent(cas(types()))
    xmi = request["document"]["xmi"]
    assert xmi.count('end="22"') == 2  # UTF-16 has a unit more
    request["document"]["xmi"] = xmi.replace('end="22"', 'end="99"')
    answer = connect("ner", "seg", tokens="words").post("/ner/predict", json=request)
    assert (answer.status_code, "beyond the text" in answer.json()["error"]) == (422, True)


def test_a_model_learns_from_the_documents_of_a_user(
    training: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tagweave.serve.served_models._PAUSE", 0.0)
    system, text = types(), "😀 Kim Lee met Kim . Nobody has come here ."
    bounds = ((0, 19), (20, 42))
    names = [(2, 9, "HUM", False), (14, 17, "HUM", False), (20, 26, "PER", True)]
    made = cas(system, text, names, bounds)
    documents = [{**sent(made)["document"], "documentId": number} for number in (1, 2)]
    request = {"metadata": METADATA, "documents": documents, "typeSystem": system.to_xml()}
    assert training.post("/ner/train", json=request).status_code == 204
    assert training.post("/ner/train", json=request).status_code == 429
    ask, end = sent(cas(system, text, (), bounds)), time.monotonic() + 60
    while training.get("/health").json()["models"][0]["version"] == "ner":
        training.post("/tag", json={"text": "a"})
        assert time.monotonic() < end
        time.sleep(0.05)
    marked = [(each[0], each[1]) for each in found(training.post("/ner/predict", json=ask), system)]
    assert marked[:2] == [("Kim Lee", "HUM"), ("Kim", "HUM")]
    corpus = (tmp_path / "new" / "ner-1.col").read_text()
    assert corpus.count("Kim\tB-HUM\nLee\tI-HUM\nmet\tO") == 2 and "Nobody" not in corpus
