"""Encoded sentences against the naive twin: every token has exactly the features of its templates."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from pairing import form_features, pair, token_features
from tagweave.corpus.sentence import Location, Sentence
from tagweave.errors import CorpusError
from tagweave.features.columns import LIST_COLUMNS, SCALAR_COLUMNS
from tagweave.features.encoder import TemplateEncoder
from tagweave.features.templates import PRESETS, Template, Templates, Term

LETTERS = "aA1中国.-あ𠀀"
FORMS = st.lists(st.text(LETTERS, max_size=3), max_size=5)
SENTENCES = st.lists(
    FORMS.flatmap(
        lambda forms: st.lists(st.sampled_from(["", "x", "y"]), min_size=len(forms), max_size=len(forms)).map(
            lambda column: Sentence(tuple(forms), columns={"a": tuple(column)})
        )
    ),
    max_size=5,
)
TERM = st.builds(
    Term,
    st.sampled_from(["form", "form", "form", "type", "user:a", "single", "final"]),
    st.integers(-3, 3),
    st.sampled_from([0, 0, 0, 1, 2, -1]),
)
INSIDE = st.sampled_from(sorted({*SCALAR_COLUMNS, *LIST_COLUMNS})).map(lambda name: Template((Term(name, 0),)))
TEMPLATE = st.lists(TERM, min_size=1, max_size=3).map(lambda terms: Template(tuple(terms))) | INSIDE
TEMPLATES = st.lists(TEMPLATE.map(str), max_size=8).map(lambda texts: Templates(tuple(texts)))


@settings(max_examples=60)
@given(TEMPLATES, SENTENCES)
def test_random_templates(templates: Templates, sentences: list[Sentence]) -> None:
    encoder = TemplateEncoder(templates)
    encoded = encoder.encode(sentences)
    features = pair(encoder, encoded, sentences)
    assert encoded.tokens == sum(map(len, sentences))
    assert encoded.lengths.tolist() == [len(sentence) for sentence in sentences]
    assert {feature.number for feature in features.values()} <= set(range(len(encoder.index)))
    assert len(encoder.windows) == len(encoder.index)
    for template, feature in (
        found
        for s, sentence in enumerate(sentences)
        for t in range(len(sentence))
        for found in token_features(encoder, encoded, s, t)
    ):
        family = next(f for f in templates.families if f.terms == template.shape and f.low <= template.shift <= f.high)
        assert feature.number < 0 or encoder.windows[feature.number] == family.window
    assert len(encoder.index) == _grams_seen(encoder, encoded, sentences)


def _grams_seen(encoder: TemplateEncoder, encoded: object, sentences: list[Sentence]) -> int:
    """How many different grams and features of forms some token sees: there is no other in the index."""
    seen = set()
    for s, sentence in enumerate(sentences):
        for t in range(len(sentence)):
            seen |= {feature.number for _, feature in token_features(encoder, encoded, s, t) if feature.number >= 0}
            seen |= {feature.number for feature in form_features(encoded, s, t)}
    return len(seen)


@settings(max_examples=60)
@given(TEMPLATES, SENTENCES, st.integers(0, 5))
def test_a_frozen_index_gives_the_same_ids_and_counts_in_one_call_and_in_several(
    templates: Templates, sentences: list[Sentence], cut: int
) -> None:
    encoder = TemplateEncoder(templates)
    whole = encoder.encode(sentences)
    counts = encoder.freeze(whole)
    cut = min(cut, len(sentences))
    parts = [part for part in (sentences[:cut], sentences[cut:]) if part]
    encoded = [encoder.encode(part) for part in parts]
    again = encoder.encode(sentences)
    assert (again.grams == whole.grams).all()
    assert (again.type_features == whole.type_features).all()
    np.testing.assert_array_equal(encoder.freeze(again), counts)
    if parts:
        assert (np.concatenate([part.grams for part in encoded]) == whole.grams).all()
    features = pair(encoder, whole, sentences)
    for part, of_part in zip(encoded, parts, strict=True):
        assert pair(encoder, part, of_part).items() <= features.items()


@settings(max_examples=40)
@given(TEMPLATES, SENTENCES, st.integers(1, 4))
def test_growing_in_several_calls_finds_the_same_features(
    templates: Templates, sentences: list[Sentence], cut: int
) -> None:
    once, grown = TemplateEncoder(templates), TemplateEncoder(templates)
    features = pair(once, once.encode(sentences), sentences)
    pairs = {}
    for part in (sentences[:cut], sentences[cut:]):
        pairs |= pair(grown, grown.encode(part), part)
    assert pairs.keys() == features.keys()
    renumbered = {(features[text].number, pairs[text].number) for text in features}
    assert len(renumbered) == len(once.index) == len(grown.index)
    assert all(features[text].place == pairs[text].place for text in features)
    for old, new in renumbered:
        assert once.windows[old] == grown.windows[new]
        assert once.index.counts[old] == grown.index.counts[new]


@settings(max_examples=40)
@given(SENTENCES, st.integers(1, 3))
def test_rare_features_are_dropped_by_the_number_of_tokens_that_have_them(
    sentences: list[Sentence], minimum: int
) -> None:
    templates = ("form[0] user:a[0]", "suffix_1[0]", "inner[0]", "final[0]", "lower[0]")
    encoder = TemplateEncoder(Templates(templates))
    encoded = encoder.encode(sentences)
    encoder.freeze(encoded, minimum)
    counts = Counter(
        text for s in sentences for texts in naive.features(templates, s.forms, s.columns) for text in texts
    )
    kept = {text for text, feature in pair(encoder, encoded, sentences).items() if feature.number >= 0}
    assert kept == {text for text, count in counts.items() if count >= minimum}
    assert len(encoder.index) == len(encoder.windows) == len(kept)


@settings(max_examples=40)
@given(TEMPLATES, SENTENCES, st.data())
def test_taking_sentences_is_the_same_as_encoding_them(
    templates: Templates, sentences: list[Sentence], data: st.DataObject
) -> None:
    encoder = TemplateEncoder(templates)
    encoded = encoder.encode(sentences)
    order = data.draw(st.lists(st.integers(0, len(sentences) - 1), max_size=6)) if sentences else []
    allow = np.arange(encoded.tokens, dtype=np.int32)
    taken = encoded.with_evidence(allow).take(np.array(order, np.int64))
    chosen = [sentences[i] for i in order]
    assert len(taken) == len(order)
    assert taken.evidence.weights.tolist() == [sentence.weight for sentence in chosen]
    assert taken.grams.shape == (
        taken.tokens + len(order) * (encoder.reach.lead + encoder.reach.trail),
        len(templates.families),
    )
    tokens = [t for i in order for t in range(encoded.sentence_ptr[i], encoded.sentence_ptr[i + 1])]
    assert taken.evidence.sets.tolist() == tokens
    features = pair(encoder, encoded, sentences)
    assert pair(encoder, taken, chosen).items() <= features.items()


def test_take_keeps_noise_and_weights() -> None:
    sentences = [Sentence(("a", "b"), weight=2.0), Sentence(()), Sentence(("c",), weight=0.5)]
    encoded = TemplateEncoder(Templates(("form[1]",))).encode(sentences)
    noisy = encoded.with_evidence(encoded.evidence.sets, noise=np.array([0.1, 0.2, 0.3]))
    taken = noisy.take(np.array([2, 1, 0]))
    assert taken.evidence.noise.tolist() == [0.3, 0.1, 0.2]
    assert taken.evidence.weights.tolist() == [0.5, 1.0, 2.0]
    assert taken.sentence_ptr.tolist() == [0, 1, 1, 3]


def test_a_sentence_is_informative_if_its_evidence_excludes_a_label() -> None:
    encoded = TemplateEncoder(Templates(("form[0]",))).encode([Sentence(("a", "b")), Sentence(()), Sentence(("c",))])
    assert encoded.evidence.informative().tolist() == [False, False, False]
    assert encoded.with_evidence(np.array([0, 3, 0], np.int32)).evidence.informative().tolist() == [True, False, False]
    assert encoded.with_evidence(np.array([0, 0, 1], np.int32)).evidence.informative().tolist() == [False, False, True]


@pytest.mark.parametrize(
    "preset", sorted(name for name in PRESETS if not name.endswith(("lexicon", "gazetteer", "clusters")))
)
@pytest.mark.parametrize("sentences", [[], [()], [(), ()], [("",)], [("a",)], [(), ("a", "", "b"), ()]])
def test_empty_corpora_sentences_and_forms(preset: str, sentences: list[tuple[str, ...]]) -> None:
    encoder = TemplateEncoder(PRESETS[preset])
    corpus = [Sentence(forms) for forms in sentences]
    encoded = encoder.encode(corpus)
    pair(encoder, encoded, corpus)
    encoder.freeze(encoded, 2)
    assert (encoded.grams < len(encoder.index)).all()


def test_a_missing_column_is_an_error_with_a_location() -> None:
    sentences = [
        Sentence(("a",), columns={"lemma": ("a",)}),
        Sentence(("b",), columns={"x": ("b",)}, location=Location("f.txt", 3)),
    ]
    with pytest.raises(CorpusError, match=r"f\.txt:3: found columns x, expected a column 'lemma'"):
        TemplateEncoder(Templates(("user:lemma[0]",))).encode(sentences)


def test_unknown_features_of_new_sentences_are_absent() -> None:
    encoder = TemplateEncoder(Templates(("form[-1]", "form[0]", "form[0] form[1]", "suffix_1[0]")))
    train = encoder.encode([Sentence(("a", "b"))])
    encoder.freeze(train)
    size = len(encoder.index)
    fresh = [Sentence(("x", "b", "c"))]
    features = pair(encoder, encoder.encode(fresh), fresh)
    assert len(encoder.index) == size
    known = {text for text, feature in features.items() if feature.number >= 0}
    assert known == {"form[0]=b", "form[-1]=b", "suffix_1[0]=b", "form[-1]=1 before the sentence"}
