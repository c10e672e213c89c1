"""Sentences drawn at random with features of every form, whose labels depend on the word and on the label before."""

from __future__ import annotations

import random
from typing import Any

LABELS = "ABCDE"
Sentences = list[list[dict[str, Any]]]


def sentences(count: int, seed: int = 0, words: int = 60, longest: int = 8) -> tuple[Sentences, list[list[str]]]:
    """`count` sentences of 1 to `longest` tokens, and their labels."""
    rng = random.Random(seed)
    drawn = [_sentence(rng, words, rng.randint(1, longest)) for _ in range(count)]
    return [tokens for tokens, _ in drawn], [labels for _, labels in drawn]


def _sentence(rng: random.Random, words: int, length: int) -> tuple[list[dict[str, Any]], list[str]]:
    tokens: list[dict[str, Any]] = []
    labels: list[str] = []
    for _ in range(length):
        word = rng.randrange(words)
        before = LABELS.index(labels[-1]) if labels and rng.random() < 0.2 else 0
        label = LABELS[(word + before) % len(LABELS)] if rng.random() < 0.9 else rng.choice(LABELS)
        nested = {"rest": f"r{word % 7}", "list": ["all", f"third{word % 3}"]}
        tokens.append({"word": str(word), "even": word % 2 == 0, "size": 2 * rng.random(), "nested": nested})
        labels.append(label)
    return tokens, labels


def with_gaps(y: list[list[str]], seed: int = 0) -> list[list[Any]]:
    """Labels of which a third are unknown, and a third ambiguous, in one form or another."""
    rng = random.Random(seed)

    def position(label: str) -> Any:
        other = rng.choice(LABELS)
        return rng.choice([label, label, None, None, {label, other}, (label, other), [other, label], {label}])

    return [[position(label) for label in row] for row in y]
