"""Contributions add up to differences of scores, and the runner-up is the best other answer, in models of all kinds."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.fuzz_bases import MODELS, text
from tagweave.explanation.contrast import Contrast
from tagweave.explanation.explanation import ExplanationError
from tagweave.explanation.labels import LabelExplainer
from tagweave.features.feature_names import FeatureNames
from tagweave.labels.spans import SpanRules
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.scorer import temperature_in
from tagweave.models.storage import load_model

KINDS = [kind for kind in MODELS if "parser" not in kind and kind not in ("attributes", "layers")]
_LONGEST = 4
_TOLERANCE = 2e-5


@pytest.fixture(scope="module", params=KINDS)
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ChainModel:
    path: Path = tmp_path_factory.mktemp("models") / "model"
    MODELS[request.param].build(path)
    loaded: ChainModel = load_model(path)
    return loaded


def contrasts(model: ChainModel) -> list[Contrast]:
    sentences = [sentence for sentence in text(model.of_characters) if len(sentence)]
    encoder, seen = model.encoder.plain(ChainPredictor(model).tokens(sentences))
    plain = replace(model, encoder=encoder)
    return [Contrast(plain, FeatureNames(encoder, sentence)) for sentence in seen]


def scores(contrast: Contrast, labels: Any) -> Any:
    """The scores of label sequences [n, L]."""
    labels = np.array(labels, np.int32)
    copies = contrast.encoded.take(np.zeros(len(labels), np.int64))
    return contrast.model.sequence_scores(copies, labels.reshape(-1)) * temperature_in(contrast.model.about)


def possible(contrast: Contrast) -> Any:
    """All label sequences that the coding allows."""
    scheme, size = contrast.model.parameters.scheme, len(contrast.model.space)
    sequences = np.array(list(product(range(size), repeat=len(contrast.best))), np.int32)
    is_allowed = scheme.start[sequences[:, 0]] & scheme.end[sequences[:, -1]]
    return sequences[is_allowed & scheme.transition[sequences[:, :-1], sequences[:, 1:]].all(axis=1)]


def test_contributions_add_up_to_the_difference(model: ChainModel) -> None:
    random = np.random.default_rng(0)
    for contrast in contrasts(model):
        for _ in range(5):
            other = random.integers(len(model.space), size=len(contrast.best)).astype(np.int32)
            contributions, by_view = contrast.difference(contrast.best, other)
            expected = np.subtract(*scores(contrast, [contrast.best, other]))
            if not np.isfinite(expected):  # of a sequence that the coding excludes
                continue
            assert sum(one.score for one in contributions) == pytest.approx(expected, abs=_TOLERANCE)
            if by_view:
                assert sum(by_view.values()) == pytest.approx(expected, abs=_TOLERANCE)
            assert {one.token for one in contributions} <= {*np.flatnonzero(contrast.best != other).tolist()}


def test_the_runner_up_of_a_label_is_the_best_sequence_with_another_one(model: ChainModel) -> None:
    for contrast in contrasts(model):
        if len(contrast.best) > _LONGEST or len(model.space) ** len(contrast.best) > 1e5:
            continue
        for view in model.space.views:
            tags = view.projection
            for token in range(len(contrast.best)):
                others = [labels for labels in possible(contrast) if tags[labels[token]] != tags[contrast.best[token]]]
                if others:
                    other = contrast.runner_up(view, token, token + 1, False)
                    assert tags[other[token]] != tags[contrast.best[token]]
                    assert scores(contrast, [other])[0] == pytest.approx(scores(contrast, others).max(), abs=_TOLERANCE)
                else:
                    with pytest.raises(ExplanationError):
                        contrast.runner_up(view, token, token + 1, False)


def test_the_runner_up_of_a_span_is_the_best_sequence_without_it(tmp_path: Path) -> None:
    MODELS["documents"].build(tmp_path / "model")
    model = load_model(tmp_path / "model")
    rules, compared = SpanRules(model.space.names), 0

    def spans(labels: Any) -> set[tuple[int, ...]]:
        begins = np.zeros(len(labels) + 1, bool)
        begins[[0, -1]] = True
        return {*zip(*(part.tolist() for part in rules.spans(np.array(labels), begins)), strict=True)}

    for contrast in contrasts(model):
        for seed in range(3):  # the weights of a model that hesitates, whose best spans are longer
            noise = np.random.default_rng(seed).normal(size=len(model.weights)).astype(model.weights.dtype)
            hesitant = Contrast(replace(contrast.model, weights=noise), contrast.names)
            every = possible(hesitant)
            for span in spans(hesitant.best):
                others = [labels for labels in every if span not in spans(labels)]
                other = hesitant.runner_up(model.space.views[0], span[0], span[1], True)
                assert span not in spans(other)
                assert scores(hesitant, [other])[0] == pytest.approx(scores(hesitant, others).max(), abs=1e-3)
                compared += 1
    assert compared > 5


def test_words_are_explained_by_all_models(model: ChainModel) -> None:
    sentence = ChainPredictor(model).tokens(text(model.of_characters)[:1])
    explanations = LabelExplainer(model, model.space.guidelines[0], sentence).explain(0, 0)
    [explanation] = explanations
    assert explanation.start == 0 and explanation.score >= -_TOLERANCE
    assert explanation.answer in str(explanations) and explanation.other in str(explanations)
    assert bool(explanation.occlusions) == (model.encoder.subwords is not None)
    assert all(one.feature < 0 for one in explanation.contributions if one.name.startswith("vector = "))
