"""Heads: contributions add up to differences of trees, and the runner-up is the best tree with another head."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import naive_trees
from benchmarks.fuzz_bases import MODELS, corpus
from tagweave.corpus.sentence import Sentence
from tagweave.explanation.explanation import ExplanationError
from tagweave.explanation.heads import explain_heads
from tagweave.models.scorer import temperature_in
from tagweave.models.storage import load_model
from tagweave.models.tree import TreePredictor

_LONGEST = 5


@pytest.fixture(scope="module", params=[kind for kind in MODELS if "parser" in kind])
def predictor(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> TreePredictor:
    path: Path = tmp_path_factory.mktemp("models") / "model"
    MODELS[request.param].build(path)
    return TreePredictor(load_model(path))


def test_the_runner_up_is_the_best_tree_with_another_head(predictor: TreePredictor) -> None:
    model, compared = predictor.model, 0
    for sentence in corpus("other", heads=True, seed=4):
        if len(sentence) > _LONGEST:
            continue
        encoded = predictor.encode([sentence])
        trees = np.array(naive_trees.trees(len(sentence), True, model.single_root), np.int32)
        scores = np.array([model.tree_scores(encoded, heads)[0] for heads in trees]) * temperature_in(model.about)
        best = model.best(encoded)
        for token in range(len(sentence)):
            others = scores[trees[:, token] != best[token]]
            [explanation] = explain_heads(predictor, sentence, token)
            assert explanation.score == pytest.approx(scores.max() - others.max(), abs=2e-5)
            compared += 1
    assert compared > 10


def test_names_say_what_templates_see(predictor: TreePredictor) -> None:
    sentence = corpus("other", heads=True, seed=4)[0]
    [explanation] = explain_heads(predictor, sentence, 1)
    seen = {one.name for one in explanation.contributions if one.token == 1}
    form, [tag] = sentence.forms[1], sentence.layers["upos"][1] or [""]
    assert seen & {f'm.form[0] m.upos[0] = "{form} {tag}"', f'm.upos[0] = "{tag}"', f'm.form[0] = "{form}"'}


def test_refusals(predictor: TreePredictor) -> None:
    sentence = corpus("other", heads=True, seed=4)[0]
    for token in (-1, len(sentence)):
        with pytest.raises(ExplanationError, match="beyond the sentence"):
            explain_heads(predictor, sentence, token)
    one = Sentence(sentence.forms[:1], {"upos": sentence.layers["upos"][:1]})
    with pytest.raises(ExplanationError, match="one head alone"):
        explain_heads(predictor, one)
