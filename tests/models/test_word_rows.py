"""Scores from rows of word forms against those of the features that rows add up."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from problems import Problem, bundles, plain
from tagweave.corpus.sentence import Sentence
from tagweave.features.encoder import TemplateEncoder
from tagweave.features.lookups import Lookups
from tagweave.features.templates import PRESETS, Templates
from tagweave.features.word_vectors import WordVectors
from tagweave.labels.space import LabelSpace
from tagweave.labels.transition_scheme import TransitionScheme
from tagweave.models import word_rows
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.linear_scorer import ChainParameters, Layout
from tagweave.models.word_rows import WordRows

WORDS = ["the", "The", "cat", "catty", "sat", "on", "3.14", "十月", "aabbc", "x", "", "a-b"]


@pytest.fixture(autouse=True)
def _rows_from_the_first_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_rows, "_BEFORE", 0)
    monkeypatch.setattr(word_rows, "_FEWEST", 1)


def texts(count: int, seed: int = 0) -> list[Sentence]:
    rng = np.random.default_rng(seed)
    lengths = [0, 1, 2, *rng.integers(0, 9, count - 3)]
    return [Sentence(tuple(rng.choice(WORDS, length).tolist())) for length in lengths]


def model_of(templates: Templates, space: LabelSpace, seed: int = 0) -> ChainModel:
    table = np.random.default_rng(seed).normal(size=(2, 3))
    vectors = WordVectors.scaled(("cat", "on"), table).clustered() if templates.cluster_columns else None
    encoder = TemplateEncoder(templates, lookups=Lookups(vectors=vectors))
    encoder.freeze(encoder.encode(texts(30, seed)))
    layouts = tuple(Layout.dense(encoder.windows, len(view.names)) for view in space.views)
    parameters = ChainParameters(space, layouts, TransitionScheme.free(len(space)))
    weights = np.random.default_rng(seed).normal(size=parameters.size).astype(np.float32)
    return ChainModel(parameters, encoder, weights)


def rows_of(model: ChainModel) -> WordRows:
    return WordRows.of(model) or pytest.fail("no rows")


def scores(model: ChainModel, sentences: list[Sentence], rows: WordRows | None = None) -> np.ndarray:
    encoded, (scoring,) = (rows and rows.encoded(sentences)) or (model.encoder.encode(sentences), [model.scoring])
    found = np.empty((encoded.tokens, len(model.space)), model.weights.dtype)
    scoring.prepared(encoded).write(encoded, 0, len(encoded), found)
    return found


@pytest.mark.parametrize("space", [plain(), bundles()])
@pytest.mark.parametrize(
    "preset", ["words", "li-2015", "spans", "characters", "tsuboi-2008", "jiang-2015", "vector-clusters"]
)
def test_scores_are_those_of_the_features(preset: str, space: LabelSpace) -> None:
    model = model_of(PRESETS[preset], space)
    rows = rows_of(model)
    for seed in range(3):  # with forms that are known, that are new, and that training has not seen
        sentences = [*texts(6, seed), Sentence((f"new{seed}", "cat"))]
        assert rows.encoded(sentences)
        np.testing.assert_allclose(scores(model, sentences, rows), scores(model, sentences), rtol=1e-4, atol=1e-4)


def test_observed_pairs_have_rows_too() -> None:
    problem = Problem([["a", "B"], ["abbc"]], bundles(), 1, observed=True)
    model = ChainModel(problem.parameters, problem.encoder, problem.weights)
    np.testing.assert_allclose(scores(model, problem.sentences, rows_of(model)), scores(model, problem.sentences))


def test_models_of_one_encoder_share_rows() -> None:
    first = model_of(PRESETS["words"], plain())
    layouts = (Layout.dense(first.encoder.windows, 3),)
    parameters = ChainParameters(LabelSpace.plain("other", "xyz"), layouts, TransitionScheme.free(3))
    second = ChainModel(parameters, first.encoder, np.random.default_rng(9).normal(size=parameters.size))
    rows, sentences = WordRows.of(first, second) or pytest.fail("no rows"), texts(8, 1)
    encoded, scorings = rows.encoded(sentences) or pytest.fail("no rows")
    for model, scoring in zip((first, second), scorings, strict=True):
        found = np.empty((encoded.tokens, len(model.space)), model.weights.dtype)
        scoring.write(encoded, 0, len(encoded), found)
        np.testing.assert_allclose(found, scores(model, sentences), rtol=1e-4, atol=1e-4)


def test_rows_start_over_when_they_are_full(monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of(PRESETS["words"], plain())
    monkeypatch.setattr(word_rows, "_BYTES", 9 * 3 * 4 * 4)  # nine rows, of which two are of positions outside
    rows = rows_of(model)
    for seed in range(20):
        sentences = [Sentence(tuple(np.random.default_rng(seed).permutation(WORDS)[: seed % 9].tolist()))]
        assert (rows.encoded(sentences) is None) == (seed % 9 > 7)
        np.testing.assert_allclose(scores(model, sentences, rows), scores(model, sentences), rtol=1e-4, atol=1e-4)


def test_scores_of_earlier_sentences_stay_when_rows_start_over(monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of(PRESETS["words"], plain())
    monkeypatch.setattr(word_rows, "_BYTES", 6 * 3 * 4 * 4)
    rows, first = rows_of(model), [Sentence(("the", "cat", "sat"))]
    encoded, (scoring,) = rows.encoded(first) or pytest.fail("no rows")
    assert rows.encoded([Sentence(("on", "x", "a-b"))])
    found = np.empty((3, 4), np.float32)
    scoring.write(encoded, 0, 1, found)
    np.testing.assert_allclose(found, scores(model, first), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("change", ["user", "labels", "growing"])
def test_models_that_rows_do_not_fit(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    templates = Templates(("form[0]", "user:x[0]")) if change == "user" else PRESETS["words"]
    encoder: Any = TemplateEncoder(templates)
    if change != "growing":
        encoder.freeze(encoder.encode([]))
    if change == "labels":
        monkeypatch.setattr(word_rows, "_BYTES", 40)
    space = plain()
    layouts = (Layout.dense(encoder.windows, len(space)),)
    parameters = ChainParameters(space, layouts, TransitionScheme.free(len(space)))
    assert WordRows.of(ChainModel(parameters, encoder, np.zeros(parameters.size, np.float32))) is None


def test_evidence_and_labels_are_as_without_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    model, sentences = model_of(PRESETS["spans"], plain()), texts(40, 1)
    given = [
        sentence.with_layer("tag", [("X", "Y") if n % 3 else None for n in range(len(sentence))])
        for sentence in texts(9)
    ]
    with_rows = ChainPredictor(model)
    found = [*with_rows.tag(sentences), *with_rows.tag(given)]
    monkeypatch.setattr(word_rows, "_BEFORE", 1 << 40)
    general = ChainPredictor(model)
    assert found == [*general.tag(sentences), *general.tag(given)]
    assert replace(given[3], layers={}) == replace(found[-6], layers={})
