"""Small corpora from texts, and a user who stops a training."""

from __future__ import annotations

from typing import Any

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Layer, Sentence
from tagweave.learning.run import Iteration


def tagged(guideline: str, *texts: str, **more: Any) -> Corpus:
    """`form/TAG`s: `?` is unknown, `N|V` a choice."""
    pairs = [[token.rsplit("/", 1) for token in text.split()] for text in texts]
    layers: list[Layer] = [tuple(None if tag == "?" else tuple(tag.split("|")) for _, tag in row) for row in pairs]
    forms = [tuple(form for form, _ in row) for row in pairs]
    sentences = tuple(Sentence(f, {guideline: each}) for f, each in zip(forms, layers, strict=True))
    return Corpus(sentences, guideline, **{"path": guideline, **more})


class Impatient:
    """Presses Ctrl-C, or kills the process, when told of so many iterations."""

    def __init__(self, patience: int, how: type[BaseException] = KeyboardInterrupt) -> None:
        self.patience, self.how, self.told = patience, how, 0

    def iteration(self, iteration: Iteration, limit: int) -> None:
        self.told += 1
        if self.told == self.patience:
            raise self.how
