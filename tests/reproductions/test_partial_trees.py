"""The experiment on partial trees: what it takes away, its single decisions, its cells, and the page that it writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reproductions.lab.cache import Cache
from reproductions.lab.corpora import Parts
from reproductions.partial_trees import cells as of_cells
from reproductions.partial_trees import settings as of_settings
from reproductions.partial_trees import study
from reproductions.partial_trees.cells import Cells
from reproductions.partial_trees.local import LocalObjective
from reproductions.partial_trees.scores import NO_PUNCTUATION, measures
from reproductions.partial_trees.settings import (
    ARGMAX,
    DISCARD,
    LOCAL,
    MARGINAL,
    PERCEPTRON,
    Partial,
    Treebank,
    heads_of,
    keep,
    random_heads,
    uncertain_heads,
    without_relations,
)
from tagweave.corpus.corpus import Corpus
from tagweave.features.arc_templates import ArcTemplates
from tagweave.features.encoded_arcs import encode_arcs
from tagweave.learning.run import Run, Schedule
from tagweave.models.arc_scorer import ArcFeatures
from tagweave.training.fit import fit
from tagweave.training.recipe import Recipe
from tagweave.training.task import Task
from treebank import conllu, sentence, treebank


def bank_of(count: int = 40, iterations: int = 3) -> Treebank:
    """A treebank that is learnt in no time."""
    trees = [without_relations(Corpus(tuple(treebank(n, seed)), "head")) for seed, n in enumerate((count, 15, 15))]
    return Treebank("made up", Parts(*trees), Schedule(iterations, iterations))


@pytest.fixture(scope="module")
def bank() -> Treebank:
    """It."""
    return bank_of()


@pytest.fixture(autouse=True)
def few_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of a million rows take longer to clear than these trees take to learn."""
    monkeypatch.setattr(of_cells, "Recipe", lambda task, **settings: Recipe(task, bits=12, **settings), raising=True)


@pytest.fixture
def cells(tmp_path: Path) -> Cells:
    """Cells with an empty cache."""
    return Cells(Cache(tmp_path / "cache"))


# what is taken away


def test_what_is_kept_is_the_gold_head_and_the_rest_is_unknown(bank: Treebank) -> None:
    train = bank.parts.train
    kept = random_heads(train, 0.4, 0)
    left = heads_of(keep(train, kept, whole=3))
    for number, (own, gold, tokens) in enumerate(zip(left, heads_of(train), kept, strict=True)):
        if number < 3:
            assert own == gold
        else:
            assert own == [head if keep else -1 for head, keep in zip(gold, tokens, strict=True)]


def test_uncertain_heads_are_those_with_the_least_probability(bank: Treebank) -> None:
    corpus = bank.parts.train
    model = fit([corpus], Recipe(Task("parse"), bits=8), bank.parts.dev, Run(Schedule(1))).model
    for share in (0.0, 0.3, 0.5, 1.0):
        for each, kept in zip(corpus, uncertain_heads(model, corpus, share), strict=True):
            n = len(each)
            assert kept.sum() == round(share * n)
            alone = model.encode([each])
            best = model.marginals(alone)[0].reshape(n + 1, n + 1)[:, 1:].max(axis=0)
            if 0 < kept.sum() < n:
                assert best[kept].max() <= best[~kept].min() + 1e-5


# single decisions


def local(corpus: Corpus) -> LocalObjective:
    templates = ArcTemplates(("h.upos[0] m.upos[0]", "m.form[0]"))
    encoded = encode_arcs(corpus.sentences, templates, "head")
    return LocalObjective(ArcFeatures(templates, 64), encoded, dtype=np.float64)


def some_left(seed: int = 0) -> Corpus:
    corpus = bank_of(6).parts.train
    return keep(corpus, random_heads(corpus, 0.5, seed))


def test_the_local_loss_is_that_of_single_decisions() -> None:
    corpus = some_left()
    objective = local(corpus)
    weights = np.random.default_rng(0).normal(size=objective.size)
    encoded, expected = objective.encoded, 0.0
    for s in range(len(encoded)):
        n = int(encoded.lengths[s]) + 1
        scores = (
            objective.parameters.scoring(weights).scores(objective.parameters.batch(encoded, s, s + 1)).reshape(n, n)
        )
        heads = encoded.evidence.heads[encoded.position_ptr[s] : encoded.position_ptr[s + 1]]
        for m in range(1, n):
            if heads[m] >= 0:
                others = [np.exp(scores[h, m]) for h in range(n) if h != m]
                expected -= np.log(np.exp(scores[heads[m], m]) / sum(others))
    assert objective.loss_and_gradient(weights)[0] == pytest.approx(expected)


@given(st.integers(0, 20))
def test_the_local_gradient_is_that_of_the_loss(seed: int) -> None:
    rng = np.random.default_rng(seed)
    objective = local(some_left(seed))
    weights = rng.normal(size=objective.size)
    gradient = objective.loss_and_gradient(weights)[1]
    direction = rng.normal(size=objective.size)
    after, before = (objective.loss_and_gradient(weights + step * direction)[0] for step in (1e-5, -1e-5))
    assert (after - before) / 2e-5 == pytest.approx(float(gradient @ direction), rel=1e-4, abs=1e-6)


# cells


def partial_of(bank: Treebank, **others: Any) -> Partial:
    return Partial(bank, **{"share": 0.3, "whole": 2, **others})


@pytest.mark.parametrize("method", [MARGINAL, DISCARD, ARGMAX, LOCAL, PERCEPTRON], ids=lambda m: m.name)
def test_every_kind_of_method_gives_trees(method: Any, bank: Treebank, cells: Cells) -> None:
    result = cells(partial_of(bank), method, 0)
    assert [len(line.split()) for line in result["test"]] == [len(s) for s in bank.parts.test]
    assert all(line.split().count("0") == 1 for line in result["dev"])
    scores = measures(partial_of(bank), [result])
    assert scores["dev"].values == pytest.approx([100 * max(result["history"])])
    assert scores["dev"].values[0] > 40
    assert (result["filled"] is None) == (method.first is None)


def test_filling_in_keeps_what_is_known(bank: Treebank, cells: Cells) -> None:
    known = heads_of(cells.evidence(partial_of(bank), 0))
    filled = heads_of(cells.trained(partial_of(bank), ARGMAX, 0).corpus)
    assert any(head < 0 for heads in known for head in heads)
    for old, new in zip(known, filled, strict=True):
        assert min(new) >= 0
        assert all(head in (-1, found) for head, found in zip(old, new, strict=True))


# scores


def test_punctuation_is_counted_and_left_out() -> None:
    gold = without_relations(Corpus((sentence("NVP", [2, 0, 2]),), "head"))
    parts = Parts(gold, gold, gold)
    found = measures(Partial(Treebank("", parts, Schedule(1))), [{"dev": ["2 0 2"], "test": ["2 0 1"]}])
    assert {name: each.values for name, each in found.items()} == {
        "dev": [100.0],
        "test": [pytest.approx(200 / 3)],
        NO_PUNCTUATION: [100.0],
    }


# the command


def test_the_command_writes_a_page_and_trains_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "corpora" / "en" / "wsj-dep"
    folder.mkdir(parents=True)
    for seed, (part, count) in enumerate({"train": 30, "dev": 8, "test": 8}.items()):
        (folder / f"{part}.conllu").write_text(conllu(treebank(count, seed)), encoding="utf-8")
    monkeypatch.setattr(of_settings, "_ALONE", (MARGINAL, PERCEPTRON))
    monkeypatch.setattr(of_settings, "_RANDOM", (MARGINAL, DISCARD, ARGMAX))
    monkeypatch.setattr(of_settings, "SHARES", (0.3, 0.5))
    monkeypatch.setenv("TAGWEAVE_CORPORA", str(tmp_path / "corpora"))
    out, cache = tmp_path / "out", tmp_path / "cache"
    words = ["--quick", "--seeds", "2", "--cache", str(cache), "--out", str(out)]
    study.main(words)
    text = (out / "partial-trees.md").read_text(encoding="utf-8")
    summary = json.loads((out / "data" / "partial-trees.json").read_text(encoding="utf-8"))
    assert "    python -m reproductions partial-trees --quick --seeds 2" in text
    for setting in summary["settings"]:
        for found in setting["methods"].values():
            assert f"**{found['scores']['test']['mean']:.2f}**" in text
            assert len(found["scores"]["test"]["values"]) == 2
    assert {path.name for path in (out / "pictures").glob("*.png")} == {
        f"partial-trees-{way}.png" for way in ("random", "uncertain", "alone")
    }
    kept = "".join(path.read_text(encoding="utf-8") for path in cache.iterdir())
    assert not any(form in kept for s in treebank(8, 2) for form in s.forms if len(form) > 1)
    monkeypatch.setattr(Cells, "_run", lambda *_: pytest.fail("ran again"))
    study.main(words)
    assert (out / "partial-trees.md").read_text(encoding="utf-8") == text
