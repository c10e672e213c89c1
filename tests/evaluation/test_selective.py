"""Thresholds of precision and recall: what they promise holds in new texts, and they are as low as data allow."""

from __future__ import annotations

from dataclasses import replace
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.evaluation.selective import (
    LEVELS,
    Answers,
    answers,
    binomial_tail,
    confidence,
    covering,
    precise,
    reach,
    selective,
    units_of,
)
from tagweave.front.training import train


@given(st.integers(0, 40), st.integers(0, 40), st.floats(0.01, 0.5))
def test_the_tail_is_the_sum_of_its_terms(wrong: int, count: int, share: float) -> None:
    terms = (comb(count, k) * share**k * (1 - share) ** (count - k) for k in range(min(wrong, count) + 1))
    assert binomial_tail(wrong, count, share) == pytest.approx(min(1, sum(terms)))


def made(seed: int, units: int, boast: float = 1.0, cluster: float = 0.0, types: int = 1) -> Answers:
    """Answers that are right with a probability p, and have p ** (1 / boast); a share of units has twice the mistakes.

    Type 1, if there is one, is rarer and worse. A third of what is right is not the best, and has a small p.
    """
    draw = np.random.default_rng(seed)
    sizes = draw.integers(1, 12, units)
    unit = np.repeat(np.arange(units), sizes)
    kind = (draw.random(len(unit)) < 0.2) * (types - 1)
    p = draw.beta(np.where(kind == 0, 9, 3), 1)
    bad = (draw.random(units) < cluster)[unit]
    right = draw.random(len(unit)) < np.where(bad, np.maximum(1 - 2 * (1 - p), 0), p)
    missing = draw.random(len(unit)) < 0.1
    said = np.where(missing, 0.3 * draw.random(len(unit)), p ** (1 / boast))
    return Answers(np.array([f"T{k}" for k in kind]), said, ~missing, right | missing, unit)


@pytest.mark.parametrize(
    ("level", "boast", "cluster", "types"), [(0.95, 1, 0, 1), (0.9, 3, 0, 2), (0.8, 0.5, 0.2, 1), (0.95, 2, 0.2, 2)]
)
def test_a_level_holds_in_its_share_of_new_texts(level: float, boast: float, cluster: float, types: int) -> None:
    """Precision and recall, also of models that are too sure or not sure enough, and of mistakes that cluster."""
    runs = 100
    holds = dict.fromkeys(("precision", "recall"), 0)
    said = []
    for seed in range(runs):
        seen, new = (made(1000 * part + seed, 300, boast, cluster, types) for part in (1, 2))
        sure = new.is_best & reach(new, precise(seen, level))
        said.append(sure.sum() / new.is_best.sum())
        holds["precision"] += bool(not sure.any() or new.is_right[sure].mean() >= level)
        wide = new.is_best | reach(new, covering(seen, level))
        holds["recall"] += bool(wide[new.is_right].mean() >= level)
    slack = 2 * (runs * level * (1 - level)) ** 0.5  # two standard deviations of the count
    assert min(holds.values()) >= runs * level - slack, holds
    assert np.mean(said) > {0.8: 0.7, 0.9: 0.4, 0.95: 0.1}[level], "a threshold that says nothing keeps every promise"


def test_the_order_of_answers_does_not_matter() -> None:
    seen = made(0, 200, types=2)
    mixed = seen.of(np.random.default_rng(1).permutation(len(seen.unit)))
    for level in LEVELS:
        assert precise(seen, level) == pytest.approx(precise(mixed, level))
        assert covering(seen, level) == pytest.approx(covering(mixed, level))


def test_few_or_bad_answers_promise_nothing_and_rare_types_share() -> None:
    def perfect(label: str, count: int) -> list[tuple[str, float, bool, bool]]:
        return [(label, 0.9 + at / 1e4, True, True) for at in range(count)]

    def judged(rows: list[tuple[str, float, bool, bool]]) -> Answers:
        label, p, best, right = map(np.array, zip(*rows, strict=True))
        return Answers(label, p, best, right, np.arange(len(rows)))

    fewest = int(np.ceil(np.log(1 - confidence(0.95)) / np.log(0.95)))
    assert precise(judged(perfect("A", fewest)), 0.95) == {"A": 0}
    assert precise(judged(perfect("A", fewest - 1)), 0.95) == {"A": None}
    together = perfect("A", fewest // 2 + 1) + perfect("B", fewest // 2 + 1)
    assert precise(judged(together), 0.95) == {"A": 0, "B": 0}
    assert precise(judged([*together, *perfect("O", 10)]), 0.95) == {"A": 0, "B": 0, "O": None}
    bad = [("C", 0.99, True, at % 2 == 0) for at in range(400)]
    assert precise(judged(perfect("A", 400) + bad), 0.95) == {"A": 0, "C": None}
    unthought = [("C", 0.0, False, True)] * 200
    assert covering(judged(perfect("A", 400) + unthought), 0.95) == {"A": None, "C": None}
    assert covering(judged(perfect("A", 400)), 0.95) == {"A": 1.0}


def test_mistakes_that_cluster_count_as_fewer_answers() -> None:
    """400 answers, 5 mistakes: in five documents they allow a level that they do not allow in one."""
    right = np.arange(400) >= 5
    spread, clustered = (np.arange(400) % 40, np.arange(400) // 10)
    seen = Answers(np.array(["A"] * 400), np.full(400, 0.9), np.full(400, True), right, spread)
    assert precise(seen, 0.95) == {"A": 0}
    assert precise(seen._replace(unit=clustered), 0.95) == {"A": None}


def test_what_is_kept_tells_what_levels_cost() -> None:
    facts = selective(made(0, 300), "tokens", "documents")
    assert (facts["of"], facts["units"], facts["count"]) == ("tokens", "documents", 300)
    for kind in ("precision", "recall"):
        assert [row["level"] for row in facts[kind]] == list(LEVELS)
    said, cost = ([row["said"] for row in facts[kind]] for kind in ("precision", "recall"))
    assert sorted(said, reverse=True) == said and said[0] > 0.9 and sorted(cost) == cost
    assert selective(made(0, 30), "words", "sentences", recall=False)["recall"] == []


def test_documents_are_units_where_there_are_any() -> None:
    words = [Sentence(("a",)) for _ in range(5)]
    assert units_of(words).tolist() == [0, 1, 2, 3, 4]
    words[2] = replace(words[2], comments=("# newdoc id = 1",))
    words[4] = replace(words[4], comments=("# newdoc id = 2",))
    assert units_of(words).tolist() == [0, 0, 1, 1, 2]


def corpus(*sentences: Any) -> Corpus:
    return Corpus(sentences)


def test_answers_are_compared_with_what_is_known() -> None:
    """Of tags single positions, of spans whole sentences; what the model does not think of is missed."""
    tags = corpus(*[(["a", "b"], ["X", "Y"]), (["b", "a"], ["Y", "X"])] * 20)
    model = train(tags, task="tag", iterations=5).trained
    gold = corpus(Sentence(("a", "b", "a"), {"tag": (("X",), None, ("new",))}))
    found = answers(model, gold, gold)
    rows = [*zip(found.label, found.is_best, found.is_right, strict=True)]
    assert [row for row in rows if row[1]] == [("*", True, True), ("*", True, False)]
    assert rows.count(("*", False, True)) == 1, "the new label"
    spans = corpus(*[(["a", "b"], ["B-P", "I-P"]), (["c", "c"], ["O", "O"])] * 20)
    model = train(spans, task="spans", iterations=5).trained
    partial = Sentence(("a", "b"), {"tag": (("B-P",), None)})
    found = answers(model, corpus(*spans.sentences[:2], partial), spans)
    best = found.of(found.is_best)
    assert best.label.tolist() == ["P", "O", "O"] and best.is_right.all() and best.unit.tolist() == [0, 1, 1]
