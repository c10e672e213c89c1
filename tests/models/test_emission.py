"""Emission scores against the twin, their gradient against their transpose, dense layouts against observed ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from pairing import named, pair, weight_numbers
from tagweave.corpus.sentence import Sentence
from tagweave.features.encoded import Encoded
from tagweave.features.encoder import TemplateEncoder
from tagweave.features.templates import Templates
from tagweave.labels.space import View
from tagweave.models.linear_scorer import Layout, ViewEmission

TEMPLATES = Templates(
    ("form[-1]", "form[0]", "form[1]", "form[-2] form[-1]", "form[2]", "form[0]==form[1]", "lower[0]", "inner[0]")
)
TEXTS = st.lists(st.lists(st.sampled_from(["a", "B", "abbc", "Aa", ""]), max_size=5), max_size=6)
PLAIN = View("plain", ("X", "Y", "Z"), np.arange(3, dtype=np.int32))
BUNDLED = View("side", ("X", "Y"), np.array([0, 1, 0, 1, 1], np.int32))
MASKS = np.array([[1, 1, 1, 1, 1], [1, 0, 0, 0, 0], [0, 1, 1, 0, 0], [0, 0, 1, 0, 1]], np.uint8)


class Setting:
    """Encoded random sentences with evidence, a layout, and weights."""

    def __init__(self, texts: list[list[str]], view: View, observed: bool, seed: int, dtype: Any = np.float64) -> None:
        self.rng = np.random.default_rng(seed)
        self.sentences = [Sentence(tuple(forms)) for forms in texts]
        self.view, self.tags, self.labels = view, len(view.names), len(view.projection)
        self.encoder = TemplateEncoder(TEMPLATES)
        encoded = self.encoder.encode(self.sentences)
        self.encoder.freeze(encoded)
        allow = self.rng.integers(0, len(MASKS), encoded.tokens).astype(np.int32)
        self.encoded: Encoded = encoded.with_evidence(allow)
        masks = MASKS[:, : self.tags]
        masks = np.where(masks.any(axis=1, keepdims=True), masks, 1).astype(np.uint8)
        self.layout = (
            Layout.observed(self.encoded, self.encoder.windows, masks)
            if observed
            else Layout.dense(self.encoder.windows, self.tags)
        )
        self.weights = self.rng.normal(size=self.layout.size).astype(dtype)

    def tokens(self, first: int, last: int) -> slice:
        return slice(int(self.encoded.sentence_ptr[first]), int(self.encoded.sentence_ptr[last]))

    def scores(self, first: int, last: int, with_table: bool) -> Any:
        emission = ViewEmission(self.view, self.layout, self.weights)
        emission = emission.with_table(self.encoded) if with_table else emission
        tokens = self.tokens(first, last)
        scores = np.zeros((tokens.stop - tokens.start, self.labels), self.weights.dtype)
        emission.add_scores(self.encoded, first, last, scores)
        return scores

    def gradient(self, first: int, last: int, difference: Any, with_table: bool) -> Any:
        gradient = np.zeros_like(self.weights)
        table = np.zeros((len(self.encoded.type_ptr) - 1, self.tags), gradient.dtype) if with_table else None
        emission = ViewEmission(self.view, self.layout, gradient, table)
        emission.add_gradient(self.encoded, first, last, difference)
        if with_table:
            emission.add_table_gradient(self.encoded)
        return gradient

    def naive_scores(self) -> Any:
        """[N, Y]: the sum over feature texts, of the tag that each label projects to."""
        numbers = weight_numbers(self.layout, pair(self.encoder, self.encoded, self.sentences), self.tags)
        texts = [features for s in self.sentences for features in naive.features(TEMPLATES.texts, s.forms)]
        by_tag = np.array(naive.scores(texts, named(self.weights, numbers), self.tags)).reshape(-1, self.tags)
        return by_tag[:, self.view.projection]


SETTINGS = st.builds(
    Setting, TEXTS, st.sampled_from([PLAIN, BUNDLED]), st.booleans(), st.integers(0, 1000), st.just(np.float64)
)


@settings(max_examples=60)
@given(SETTINGS, st.booleans())
def test_scores_are_the_sums_of_the_naive_twin(setting: Setting, with_table: bool) -> None:
    found = setting.scores(0, len(setting.encoded), with_table)
    np.testing.assert_allclose(found, setting.naive_scores(), rtol=1e-10, atol=1e-12)


@settings(max_examples=40)
@given(SETTINGS, st.booleans(), st.data())
def test_scores_of_some_sentences_are_a_part_of_those_of_all(
    setting: Setting, with_table: bool, data: st.DataObject
) -> None:
    last = data.draw(st.integers(0, len(setting.encoded)))
    first = data.draw(st.integers(0, last))
    part, whole = setting.scores(first, last, with_table), setting.scores(0, len(setting.encoded), not with_table)
    np.testing.assert_allclose(part, whole[setting.tokens(first, last)], rtol=1e-12, atol=1e-14)


@settings(max_examples=60)
@given(SETTINGS, st.booleans(), st.data())
def test_the_gradient_is_the_transpose_of_the_scores(setting: Setting, with_table: bool, data: st.DataObject) -> None:
    last = data.draw(st.integers(0, len(setting.encoded)))
    first = data.draw(st.integers(0, last))
    scores = setting.scores(first, last, with_table)
    difference = setting.rng.normal(size=scores.shape)
    gradient = setting.gradient(first, last, difference, with_table)
    assert (scores * difference).sum() == pytest.approx(setting.weights @ gradient, rel=1e-9, abs=1e-9)


@settings(max_examples=25)
@given(TEXTS, st.booleans(), st.booleans(), st.integers(0, 1000))
def test_single_precision(texts: list[list[str]], observed: bool, with_table: bool, seed: int) -> None:
    setting = Setting(texts, BUNDLED, observed, seed, np.float32)
    scores = setting.scores(0, len(texts), with_table)
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, setting.naive_scores(), rtol=1e-4, atol=1e-5)
    gradient = setting.gradient(0, len(texts), np.ones_like(scores), with_table)
    assert gradient.dtype == np.float32
    assert gradient @ setting.weights == pytest.approx(scores.sum(), rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("with_table", [True, False])
def test_a_layout_without_any_weight_scores_nothing(with_table: bool) -> None:
    setting = Setting([["a", "B", "a"], [], ["abbc"]], PLAIN, False, 1)
    unknown = setting.encoded.with_evidence(0 * setting.encoded.evidence.sets)
    setting.layout = Layout.observed(unknown, setting.encoder.windows, MASKS[:, :3])
    setting.weights = np.zeros(0)
    assert setting.layout.size == 0
    assert not setting.scores(0, 3, with_table).any()
    assert setting.gradient(0, 3, np.ones((4, 3)), with_table).shape == (0,)


def test_features_may_have_values() -> None:
    setting = Setting([["abbc", "a"], ["a"]], PLAIN, False, 2)
    once = setting.scores(0, 2, True)
    fields = {name: getattr(setting.encoded, name) for name in type(setting.encoded).__dataclass_fields__}
    setting.encoded = Encoded(**{**fields, "type_values": np.full(len(setting.encoded.type_features), 2.0)})
    table = ViewEmission(PLAIN, setting.layout, setting.weights).with_table(setting.encoded).table
    doubled = setting.scores(0, 2, True)
    np.testing.assert_allclose(doubled - once, table[setting.encoded.word_types] / 2, rtol=1e-10)
    difference = setting.rng.normal(size=doubled.shape)
    gradient = setting.gradient(0, 2, difference, True)
    assert gradient @ setting.weights == pytest.approx((doubled * difference).sum())


def test_pointers_and_cells_have_few_types() -> None:
    assert Layout.dense(np.array([3, 1]), 4).ptr.tolist() == [0, 12, 16]
    assert Layout.dense(np.array([3, 1]), 4).ptr.dtype == np.int32
    assert Layout.dense(np.full(3, 2**30), 1).ptr.dtype == np.int64
    for layout in (Setting([["a"]], PLAIN, True, 0).layout, Layout.dense(np.array([3]), 4)):
        assert layout.cell.dtype == np.uint16
