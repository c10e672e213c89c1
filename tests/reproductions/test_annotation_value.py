"""Rounds of annotation on the bundled sample, and their page."""

from __future__ import annotations

import json

import numpy as np
import pytest

from reproductions.annotation_value import study
from reproductions.annotation_value.rounds import CHOICES, Pool, rounds
from reproductions.annotation_value.study import main, read_data


@pytest.fixture(scope="module")
def pool():
    return Pool.of(read_data(0, True), 0)


def known_of(pool, *tokens):
    known = np.zeros(int(pool.begins[-1]), np.bool_)
    known[list(tokens)] = True
    return known


def ask(pool, choice, model, known, number):
    return pool.asked(choice, model, known, number, np.random.default_rng(0))


def test_answers_are_gold_and_all_else_is_unknown(pool):
    first = len(pool.raw[0])
    told = pool.told(known_of(pool, 2, first), pool.raw)
    layers = [sentence.layers["ctb"] for sentence in told]
    assert layers[0] == tuple(c if t == 2 else None for t, c in enumerate(pool.data.target[0].layers["ctb"]))
    assert layers[1][0] == pool.data.target[1].layers["ctb"][0]
    assert all(c is None for layer in (layers[1][1:], *layers[2:]) for c in layer)


@pytest.mark.parametrize("choice", CHOICES)
def test_what_is_known_is_not_asked_again(pool, choice):
    known = known_of(pool, *ask(pool, choice, None, known_of(pool), 60).tolist())
    model = pool.trained("two-stage", known, 0)
    chosen = ask(pool, choice, model, known, 100)
    assert len({*chosen.tolist()}) == 100
    assert not known[chosen].any()


@pytest.mark.parametrize("choice", CHOICES)
def test_every_round_knows_so_many_more(pool, choice, monkeypatch):
    seen = []
    train = Pool.trained
    monkeypatch.setattr(Pool, "trained", lambda self, method, known, seed: (
        seen.append(known.copy()), train(self, method, known, seed))[1])  # fmt: skip
    rows = list(rounds(pool, "two-stage", choice, (50, 120), 0))
    assert [(row["answers"], int(known.sum())) for row, known in zip(rows, seen, strict=True)] == [(50, 50), (120, 120)]
    assert not (seen[0] & ~seen[1]).any()
    assert all(len(row["right"]) == len(pool.data.test) for row in rows)


def test_the_command(tmp_path, monkeypatch):
    monkeypatch.setattr(study, "SIZES", (60, 120))
    main(["--quick", "--seeds", "1", "--methods", "two-stage", "--out", str(tmp_path)])
    summary = json.loads((tmp_path / "data" / "annotation-value.json").read_text(encoding="utf-8"))
    page = (tmp_path / "annotation-value.md").read_text(encoding="utf-8")
    assert [cell["answers"] for cell in summary["cells"]] == [60, 120]
    assert all(f"{cell['scores'][choice]['mean']:.2f}" in page for cell in summary["cells"] for choice in CHOICES)
    assert "--quick --seeds 1" in page
    assert "`two-stage` has" in page
    assert "coupled" not in page
    assert (tmp_path / "pictures" / "annotation-value.png").stat().st_size > 1000
