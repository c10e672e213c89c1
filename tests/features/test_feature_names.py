"""Features have names that say what the templates see: the twin's texts and the names stand for one another."""

from __future__ import annotations

import random
from collections import defaultdict

import numpy as np
import pytest

import naive
from tagweave.corpus.formats.attributes import ATTRIBUTES
from tagweave.corpus.gazetteer import parse
from tagweave.corpus.sentence import Sentence
from tagweave.features.attributes import AttributeEncoder
from tagweave.features.columns import LIST_COLUMNS, SCALAR_COLUMNS
from tagweave.features.encoder import Encoder, TemplateEncoder
from tagweave.features.feature_names import FeatureNames
from tagweave.features.lookups import Lookups
from tagweave.features.templates import TemplateError, Templates
from tagweave.features.word_vectors import WordVectors

OF_FORMS = tuple(f"{column}[0]" for column in (*SCALAR_COLUMNS, *LIST_COLUMNS) if column != "final")
AROUND = ("form[-1]", "form[1]", "shape[-2] shape[0]", "form[0]==form[2]", "final[0]", "user:x[0] user:x[1]")
TEMPLATES = (*OF_FORMS, *AROUND, "length[0] first[0]", "first[0] inner[0]")


def sentences(count: int) -> list[Sentence]:
    draw, drawn = random.Random(0), []
    for _ in range(count):
        lengths = [draw.choice([1, 1, 2, 3, 12]) for _ in range(draw.randint(1, 6))]
        forms = ["".join(draw.choices(naive.ALPHABET, k=length)) for length in lengths]
        drawn.append(Sentence(tuple(forms), columns={"x": tuple(draw.choices("AB", k=len(forms)))}))
    return drawn


def test_names_and_the_texts_of_the_twin_stand_for_one_another() -> None:
    encoder = TemplateEncoder(Templates(TEMPLATES))
    names_of, texts_of, features_of = (defaultdict[str, set[object]](set) for _ in range(3))
    for sentence in sentences(200):
        names = FeatureNames(encoder, sentence)
        for token in range(len(sentence)):
            by_template = defaultdict[str, list[str]](list)
            for named in names.at(token):
                by_template[named.name.partition(" = ")[0]].append(named.name)
                features_of[named.name].add((named.feature, named.position))
            for template in TEMPLATES:
                expected = naive.token_features(template, sentence.forms, token, sentence.columns)
                for text, name in zip(expected, by_template.pop(template, []), strict=True):
                    names_of[text].add(name)
                    texts_of[name].add(text)
            assert not by_template
    assert {len(several) for table in (names_of, texts_of, features_of) for several in table.values()} == {1}
    assert len(names_of) > 500


def test_attributes_are_their_own_names() -> None:
    encoder = AttributeEncoder()
    encoder.encode_attributes([[["a", "b"]]])
    encoder.index.freeze()
    names = FeatureNames(encoder, Sentence(("x", "y"), columns={ATTRIBUTES: ("b:2\tc", "a")}))
    assert [[named[::3] for named in names.at(token)] for token in (0, 1)] == [[("b", 2.0)], [("a", 1.0)]]


def test_features_of_another_kind_have_no_names() -> None:
    class Foreign(Encoder):
        kind = "foreign"
        encode = of_parts = None  # type: ignore[assignment]

    with pytest.raises(TemplateError, match="found features of the kind 'foreign'"):
        FeatureNames(Foreign(), Sentence(("x",)))


def test_what_is_looked_up_has_names() -> None:
    vectors = WordVectors.scaled(["Rome", "in"], np.eye(2))
    lookups = Lookups(gazetteer=parse(["LOC\tRome"]), clusters={"Rome": "0110"}, vectors=vectors)
    encoder = TemplateEncoder(
        Templates(("gazetteer[0]", "gazetteer[1]", "cluster_2[0]", "cluster[0]")), lookups=lookups
    )
    names = FeatureNames(encoder, Sentence(("in", "Rome")))
    assert [named.name for named in names.at(0)] == ['vector = "in"'] * 2 + ['gazetteer[1] = "S-LOC"']
    assert {*(named.name for named in names.at(1))} == {
        'vector = "Rome"',
        'cluster_2[0] = "01"',
        'cluster[0] = "0110"',
        'gazetteer[0] = "S-LOC"',
        'gazetteer[1] = "(end)"',
    }
    assert [named.value for named in names.at(0)][:2] == vectors.of_forms(["in"])[1][0].tolist()
