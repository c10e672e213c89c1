"""What python-crfsuite gets in benchmarks: the features of the preset as strings, and the measures of words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.characters import (
    attributes,
    bmes,
    f_score,
    words_of,
)
from pairing import Feature, form_features, token_features
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.evaluation.report import evaluate
from tagweave.evaluation.words import WordScores
from tagweave.features.encoder import TemplateEncoder
from tagweave.features.templates import PRESETS

PRESET = PRESETS["liu-2014"]
texts = st.text("天地人1２.。aＢ/<", min_size=1, max_size=9)
lines = st.lists(st.text("天地人", min_size=1, max_size=4), min_size=1, max_size=6)


@given(st.lists(texts, min_size=1, max_size=5))
def test_attributes_are_the_features_of_the_preset(some: list[str]) -> None:
    sentences = [Sentence(tuple(text)) for text in some]
    encoder = TemplateEncoder(PRESET)
    encoded = encoder.encode(sentences)
    place = {template: k for k, template in enumerate(PRESET.parsed)}
    of_string: dict[str, Feature] = {}
    for s, text in enumerate(some):
        for t, strings in enumerate(attributes(text)):
            features = token_features(encoder, encoded, s, t)
            features += zip(encoder.templates.inside, form_features(encoded, s, t), strict=True)
            assert len(features) == len(strings) == len(set(strings)) == 20
            for template, feature in features:
                assert of_string.setdefault(strings[place[template]], feature) == feature
    assert len(set(of_string.values())) == len(of_string), "one string for every feature that a token sees"


@given(lines)
def test_letters_spell_words(words: list[str]) -> None:
    letters = bmes(words)
    assert set(letters) <= set("BMES")
    assert words_of("".join(words), letters) == words
    assert bmes(["天", "天地", "天地人人"]) == list("SBEBMME")


@given(st.data())
def test_measures_are_those_of_the_evaluation(data: st.DataObject) -> None:
    gold = data.draw(st.lists(lines, min_size=1, max_size=4))
    cuts = [data.draw(st.lists(st.booleans(), min_size=n, max_size=n)) for n in map(len, map("".join, gold))]
    found = [_cut("".join(words), cut) for words, cut in zip(gold, cuts, strict=True)]
    scores = evaluate(_corpus(gold), {"system": _corpus(found)}).systems["system"]
    assert isinstance(scores, WordScores)
    assert f_score(gold, found) == pytest.approx(scores.words.f)


def _cut(text: str, cut: list[bool]) -> list[str]:
    words = [text[0]]
    for character, begins in zip(text[1:], cut[1:], strict=True):
        if begins:
            words.append(character)
        else:
            words[-1] += character
    return words


def _corpus(sentences: list[list[str]]) -> Corpus:
    return Corpus(tuple(Sentence(tuple(words)) for words in sentences), "pd", "word")
