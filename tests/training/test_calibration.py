"""Temperatures: probabilities that are as often right as they say."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tagged import tagged

import tagweave as tw
from tagweave.corpus.corpus import Corpus
from tagweave.evaluation.calibration import calibration
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.scorer import calibrated_spans
from tagweave.training.fit.calibration import calibrated, fitted_line
from tagweave.training.fit.recipe import Recipe
from treebank import treebank


def test_the_error_is_the_mean_distance_of_bins_from_what_is_right() -> None:
    """Of two answers at 0.95 one is right, of four at 0.3 one, and 1 belongs to the last bin."""
    found = calibration("tokens", [0.95, 0.95, 0.3, 0.3, 0.3, 0.3, 1.0], [True, False, True, False, False, False, True])
    assert found.count == 7 and found.bins[3].count == 4 and found.bins[9].count == 3
    assert (found.bins[3].probability, found.bins[3].right) == (pytest.approx(0.3), 0.25)
    assert found.error == pytest.approx((4 * 0.05 + 3 * (2.9 / 3 - 2 / 3)) / 7)
    assert np.isnan(calibration("spans", [], []).error)


def noisy(seed: int, size: int, share: float, labels: str = "NV") -> Corpus:
    """Words `n` and `v` of two letters each, some with the other label."""
    draw = random.Random(seed)
    texts = []
    for _ in range(size):
        words = [draw.choice("nv") for _ in range(8)]
        pairs = zip(words, (draw.random() < share for _ in words), strict=True)
        texts.append(
            " ".join(f"{word}{draw.choice('ab')}/{labels[(word == 'v') != is_wrong]}" for word, is_wrong in pairs)
        )
    return tagged("tag", *texts)


def test_a_temperature_makes_a_model_as_sure_as_it_is_right(tmp_path: Any) -> None:
    """Labels do not change, all probabilities agree, and the file keeps them."""
    train, dev = noisy(0, 30, 0.0), noisy(1, 60, 0.2)
    model = tw.train(train, dev=dev, iterations=8)
    facts = model.about["calibration"]
    assert facts["temperature"] > 1.5 and facts["tokens"] == 480 and facts["after"] < 0.05 < facts["before"]
    test = noisy(2, 60, 0.2)
    (found,) = model.evaluate(test).calibrations["the model"]
    assert found.of == "tokens" and found.count == 480 and found.error < 0.06
    trained = model.trained
    cooled = replace(trained, weights=trained.weights / np.float32(facts["temperature"]))
    again = calibrated(cooled, [(cooled, test)], Recipe()).about["calibration"]
    assert again["temperature"] == pytest.approx(1.0, abs=0.1)
    encoded = trained.encoder.encode(list(test), 1)
    gamma, log_z = trained.marginals(encoded)
    plain = type(trained)(trained.parameters, trained.encoder, trained.weights)
    assert_allclose(trained.best(encoded), plain.best(encoded))
    assert gamma.max() < plain.marginals(encoded)[0].max()
    assert_allclose(gamma[:8], trained.pair_marginals(encoded, 0)[0], rtol=1e-4)
    _, scores = trained.k_best(encoded, 0, 1)
    assert_allclose(trained.sequence_scores(encoded, trained.best(encoded))[0], scores[0], rtol=1e-5)
    best = model.k_best(test[0], 1)[0]
    assert best.probability == pytest.approx(float(np.exp(scores[0] - log_z[0])), rel=1e-3)
    model.save(tmp_path / "model")
    assert_allclose(tw.load_model(tmp_path / "model").probabilities(test[0]), model.probabilities(test[0]), rtol=1e-4)


def test_evaluation_of_development_data_tells_what_calibration_made_of_them() -> None:
    """In all codings of spans, whose tokens are in IOB2."""
    train, dev = (noisy(seed, 40, 0.2, labels="OB") for seed in (4, 5))
    train, dev = (
        corpus.map(lambda each: each.with_layer("tag", [("B-X",) if c == ("B",) else c for c in each.layers["tag"]]))
        for corpus in (train, dev)
    )
    for coding in ("BIOES", "IOB2", "IOB1"):
        model = tw.train(train, dev=dev, task="spans", coding=coding, iterations=2, span_confidence=1.0)
        facts = model.about["calibration"]
        tokens, spans = model.evaluate(dev).calibrations["the model"]
        assert (tokens.of, tokens.count, spans.of, spans.count) == ("tokens", 320, "spans", facts["spans"]["count"])
        assert spans.count > 50, coding
        assert [tokens.error, spans.error] == pytest.approx([facts["after"], facts["spans"]["after"]], abs=1e-3), coding


def test_segmenters_and_parsers_have_temperatures() -> None:
    """Also words with tags, and spans, with the errors of spans; where tokens are few, there is none."""
    words = noisy(3, 30, 0.0)
    chinese = str.maketrans("nvab", "甲乙丙丁")
    words = words.map(lambda each: replace(each, forms=tuple(form.translate(chinese) for form in each.forms)))
    trees = Corpus(tuple(treebank(40)), "head", path="trees")
    spans = noisy(4, 40, 0.1, labels="OB")
    spans = spans.map(lambda each: each.with_layer("tag", [("B-X",) if c == ("B",) else c for c in each.layers["tag"]]))
    for corpus, task, kind in (
        (words, "segment", "words"),
        (words, "segtag", "words"),
        (trees, "parse", "heads"),
        (spans, "spans", "spans"),
    ):
        options: dict[str, Any] = {"method": "single"} if task == "segtag" else {}
        model = tw.train(corpus, dev=corpus.with_sentences(corpus[1:]), task=task, iterations=1, **options)
        facts = model.about["calibration"]
        assert facts["after"] <= facts["before"] + 0.02, task
        assert ("spans" in facts) == (task == "spans")
        found = model.evaluate(corpus).calibrations["the model"]
        assert found[-1].of == kind and found[-1].count > 100, task
    few = tw.train(words, dev=words.with_sentences(words[:2]), iterations=1)
    assert "calibration" not in few.about


def test_spans_as_wholes_follow_a_line_of_their_own() -> None:
    """The line of made answers comes back, few answers turn it about small probabilities, and the order stays."""
    draw = np.random.default_rng(0)
    said = draw.uniform(0.01, 0.99, 20_000)
    right = draw.random(len(said)) < calibrated_spans(said, 0.5, -1.0)
    assert fitted_line(said.tolist(), right.tolist()) == pytest.approx((0.5, -1.0), abs=0.06)
    slope, offset = fitted_line([0.9], [False])
    assert 0.5 < slope < 0.7, "a sure answer that is wrong turns the line"
    doubtful, sure = calibrated_spans(np.array([0.18, 0.9]), slope, offset)
    assert 0.15 < doubtful < 0.18 and sure < 0.7, "and leaves small probabilities"
    mapped = calibrated_spans(np.array([0.0, 1e-6, 0.3, 0.9, 1.0]), slope, offset)
    assert (np.diff(mapped) > 0).all() and (mapped[0], mapped[-1]) == (0, 1)
    train = tagged("tag", "Ann/B-PER Lee/I-PER met/O Bo/B-PER in/O York/B-LOC", "in/O Rome/B-LOC Ann/B-PER Lee/I-PER")
    plain = tw.train(train, task="spans", iterations=3).trained
    facts = {"temperature": 1, "spans": {"slope": 0.5, "offset": -1.0}}
    models = plain, replace(plain, about={**plain.about, "calibration": facts})
    before, after = (list(ChainPredictor(each).spans(train.sentences, 1e-4)) for each in models)
    least = after[0][3].probability
    for some, others in zip(before, after, strict=True):
        want = calibrated_spans(np.array([each.probability for each in some]), 0.5, -1.0)
        assert [each[:3] for each in others[: len(some)]] == [each[:3] for each in some]
        assert_allclose([each.probability for each in others[: len(some)]], want)
        exact = {each[:3]: probability for each, probability in zip(some, want, strict=True)}
    assert [len(some) for some in ChainPredictor(models[1]).spans(train.sentences[:1], least - 1e-9)] == [4]
    [(_, spans)] = ChainPredictor(models[1]).tag_spans(train.sentences[1:])
    assert len(spans) == 2
    assert_allclose([each[3] for each in spans], [exact[each[:3]] for each in spans], rtol=1e-3, atol=1e-5)
