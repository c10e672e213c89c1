"""One noisy source alone: taggers of each noise of NoiseBench, of clean and of distant labels, with clean dev data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import tagweave as tw
from reproductions.lab.cache import Cache, Result
from reproductions.lab.corpora import all_corpora
from reproductions.lab.page import opening, table
from reproductions.sources.few import NOISES
from tagweave.corpus.load import load
from tagweave.evaluation.spans import span_scores
from tagweave.models.chain_predictor import ChainPredictor

_NOISY, _CLEAN = "noisebench/noise_{}.train.txt", "noisebench/clean."
_TEXTS = {
    **{_NOISY.format(name): _CLEAN for name in NOISES},
    f"{_CLEAN}train.txt": _CLEAN,
    "wikigold/distant.txt": "wikigold/",
}
_WAYS: dict[str, dict[str, Any]] = {"believed": {"span_confidence": 1.0}, "default": {}}


def study(seeds: int, cache: Cache, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """F on development and test data of both ways, a number for each seed."""
    rows = []
    for train, clean in _TEXTS.items():
        row: dict[str, Any] = {"train": train}
        for way in _WAYS:
            scores = [
                cache.result(f"{train} {way} {seed}", {"train": train, "way": way, "seed": seed}, score)
                for seed in range(seeds)
                for score in (partial(_score, train, clean, way, seed),)
            ]
            row[way] = {part: [each[part] for each in scores] for part in ("dev", "test")}
            say(f"{train}, {way}: dev {np.mean(row[way]['dev']):.2f}")
        rows.append(row)
    return rows


def _score(train: str, clean: str, way: str, seed: int) -> Result:
    train, dev, test = (str(all_corpora() / "en" / name) for name in (train, f"{clean}dev.txt", f"{clean}test.txt"))
    model = tw.train(train, dev=dev, task="spans", seed=seed, callback=lambda _: None, **_WAYS[way])
    gold, tagger = load(test), ChainPredictor(model.trained)
    pairs = zip(gold, tagger.tag(gold.sentences), strict=True)
    found = gold.with_sentences(each.with_layer(gold.guideline, own.layers[tagger.guideline]) for each, own in pairs)
    return {"dev": 100 * model.about["dev_score"], "test": 100 * span_scores(gold, found).spans.f}


def lines(found: dict[str, Any]) -> Iterator[str]:
    """The page."""
    yield from opening("One noisy source alone", found["command"])
    yield "Taggers of one source, with clean development data. `believed`: its labels are taken as they are. `default`:"
    yield "where the first model misses more than 12 % of the tokens inside spans of the development data, a second one"
    yield "learns from them how far labels are wrong, and the better one on development data is kept."
    yield f"F of exact spans in percent, means of {len(found['rows'][0]['default']['test'])} seeds.\n"
    head = ["trained on", *(f"{part}, {way}" for part in ("dev", "test") for way in _WAYS), "gain on test"]
    yield from table(head, map(_line, found["rows"]))
    gains = [_gain(row) for row in found["rows"][: len(NOISES)]]
    yield f"\nThe mean gain of the six noises is {np.mean(gains):+.2f}, the least {min(gains):+.2f}."


def _line(row: dict[str, Any]) -> list[str]:
    means = [f"{np.mean(row[way][part]):.2f}" for part in ("dev", "test") for way in _WAYS]
    return [f"`en/{row['train']}`", *means, f"{_gain(row):+.2f}"]


def _gain(row: dict[str, Any]) -> float:
    return float(np.mean(row["default"]["test"]) - np.mean(row["believed"]["test"]))
