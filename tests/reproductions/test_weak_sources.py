"""The labelling functions of the study on sentences made up for it, and what becomes of what they say."""

from __future__ import annotations

import pytest

import tagweave as tw
from reproductions.lab.cache import Cache
from reproductions.sources import weak, weak_training
from reproductions.sources.rules import rules
from reproductions.sources.weak_page import weak_lines
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence

LISTS = {"first_names": ["Ann", "Bob", "May"], "countries": ["Norway", "Peru"], "cities": ["Oslo", "Lima"]}


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("cities_alone", "LIMA 1999-01-02", {"LIMA": "B-LOC"}),
        ("cities_alone", "In Oslo it rains", {"Oslo": "B-LOC"}),
        ("cities_alone", "The Oslo Times says so", {}),
        ("cities_alone", "Lima 3 Oslo 2", {}),
        ("first_names", "Bob met Norway", {}),
        ("first_names", "now Ann Bell met Bob", {"Ann": "B-PER", "Bell": "I-PER"}),
        ("person_contexts", "striker Olsen scored", {"Olsen": "B-PER"}),
        ("person_contexts", "1. Nils Olsen ( Norway ) 3:02", {"Nils": "B-PER", "Olsen": "I-PER"}),
        (
            "companies",
            "The Acme & Bell Co Ltd grew",
            dict(zip(["Acme", "&", "Bell", "Co", "Ltd"], "BIIII", strict=True)),
        ),
        ("institutions", "the Ministry of Fish at NATO", {"Ministry": "B", "of": "I", "Fish": "I", "NATO": "B-ORG"}),
        ("demonyms", "two Danes , a Danish boat and Russians", {"Danish": "B-MISC", "Russians": "B-MISC"}),
        ("events", "The Fish Cup of 1990", {"Fish": "B-MISC", "Cup": "I-MISC"}),
        ("scores", "Oslo Eagles 3 2 1", {"Oslo": "B-ORG", "Eagles": "I-ORG"}),
        ("scores", "In 1990 Oslo grew", {}),
        ("plain", "The boats of June sank", {"The": "O", "boats": "O", "of": "O", "June": "O", "sank": "O"}),
        ("plain", "Bank of Norway", {}),
    ],
)
def test_what_functions_find(name, text, found):
    (function,) = [each for each in rules(LISTS) if each.name == name]
    sentence = Sentence(tuple(text.split()))
    (layer,) = function.layers([sentence])
    said = {form: each[0] for form, each in zip(sentence.forms, layer, strict=True) if each}
    assert said.keys() == found.keys()
    assert all(said[form].startswith(label) for form, label in found.items())


def test_a_study_from_functions_to_taggers(tmp_path, monkeypatch):
    rows = [
        "Ann Bell lives in Norway .",
        "Bob Olsen left Peru .",
        "Oslo beat nobody .",
        "Ann Bell saw Bob Olsen in Oslo .",
    ]
    gold = {"Ann": "B-PER", "Bob": "B-PER", "Bell": "I-PER", "Olsen": "I-PER", "Oslo": "B-LOC"}
    gold |= {"Norway": "B-LOC", "Peru": "B-LOC"}
    sentences = [
        Sentence(f, {"tag": tuple((gold.get(form, "O"),) for form in f)}) for f in map(tuple, map(str.split, rows))
    ]
    monkeypatch.setattr(tw, "load", lambda path: Corpus(tuple(sentences) * 5))
    monkeypatch.setattr(weak, "word_lists", lambda python: LISTS)
    monkeypatch.setattr(weak, "WAYS", [each for each in weak.WAYS if each.name in (weak.MAJORITY, weak.BELIEVED)])
    trained = {weak.BELIEVED: tuple(weak_training.FORMS), "sources, by turns, silence": ("soft",)}
    monkeypatch.setattr(weak_training, "TRAINED", {**trained, weak_training.GOLD: ("hard",)})
    found = weak.study(tmp_path, 1, None, Cache(tmp_path / "cache"), lambda line: None)
    assert found["parts"]["test"]["functions"]["countries"]["precision"] == 1
    assert [row["name"] for row in found["parts"]["train"]["rows"]] == [weak.MAJORITY, weak.BELIEVED]
    assert all(row["f"] > 90 for row in found["parts"]["train"]["rows"])
    assert [row["name"] for row in found["taggers"]] == [*[weak.BELIEVED] * 4, *list(trained)[1:], "gold labels"]
    assert all(row["labels"] > 90 for row in found["taggers"][:5])
    page = "\n".join(weak_lines({"command": "it", **found}))
    assert "`countries`: A lexicon" in page
    assert "### Test: 20 sentences" in page
