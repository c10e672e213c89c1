"""One training of the comparison of defaults: a part of a corpus, by the defaults, those of before, or a regression."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproductions.lab.cache import Result
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load
from tagweave.features.encoded import Encoded
from tagweave.features.encoder import TemplateEncoder
from tagweave.features.templates import PRESETS
from tagweave.labels.coding import WordCounter
from tagweave.learning.run import Run, Schedule
from tagweave.training.chain_problem import dev_score
from tagweave.training.fit import fit, prepare
from tagweave.training.recipe import Recipe
from tagweave.training.task import Task

NOW, BEFORE, REGRESSION = "defaults", "before", "regression"
"""What is trained: the defaults, those of before, and scikit-learn's logistic regression over the same features."""
BEFORE_PASSES = 12
SUBSETS = 3
"""How many parts of one size are taken of a corpus, from as many places in it."""
_DEV_TOKENS = 8000
_STEPS = 300


@dataclass(frozen=True)
class Text:
    """A corpus: what it is called, its training file and layer, and its development file; without one the last fifth
    of the sentences."""

    name: str
    train: str
    dev: str | None = None

    def load(self, folder: Path) -> tuple[Corpus, Corpus]:
        """All training and development data that there are."""
        train = _load(folder, self.train)
        if self.dev is not None:
            return train, _load(folder, self.dev)
        cut = len(train) * 4 // 5
        return train.with_sentences(train.sentences[:cut]), train.with_sentences(train.sentences[cut:])


@lru_cache(maxsize=2)
def _load(folder: Path, argument: str) -> Corpus:
    return load(f"own={folder / argument}")


@dataclass(frozen=True)
class Cell:
    """A training run.

    Attributes:
        folder: of all corpora.
        text: the corpus.
        task: `tag`, `segment` or `segtag`.
        tokens: how many words of the training data, whole sentences; 0 for all.
        subset: from which of `SUBSETS` places on.
        trained: `NOW`, `BEFORE` or `REGRESSION`.
        passes: over the data; `None` for as many as usual.
    """

    folder: Path
    text: Text
    task: str
    tokens: int
    subset: int
    trained: str
    passes: int | None = None

    def description(self) -> dict[str, Any]:
        """What the result depends on."""
        names = {"text": self.text.name, "task": self.task, "tokens": self.tokens, "subset": self.subset}
        return {**names, "trained": self.trained, "passes": self.passes}

    def run(self) -> Result:
        """The `score` on development data in percent, accuracy or F of words, the `tokens`, and processor `seconds`."""
        train, dev = self.text.load(self.folder)
        train, dev = part(train, self.tokens, self.subset), spread(dev, _DEV_TOKENS)
        begin = time.process_time()
        score = regression(train, dev, self.task) if self.trained == REGRESSION else self._chain(train, dev)
        words = sum(map(len, train))
        return {"score": 100 * score, "tokens": words, "seconds": round(time.process_time() - begin, 2)}

    def _chain(self, train: Corpus, dev: Corpus) -> float:
        recipe, passes = Recipe(Task(self.task)), self.passes
        if self.trained == BEFORE:
            preset = "liu-2014" if recipe.task.of_characters else "li-2015"
            recipe = Recipe(recipe.task, PRESETS[preset], settings={"initial": 1e-8, "batch": 16})
            passes = passes or BEFORE_PASSES
        model = fit([train], recipe, run=Run(Schedule(passes))).model
        return dev_score(model, recipe.task.prepare(dev))(model.weights)


def part(corpus: Corpus, tokens: int, subset: int) -> Corpus:
    """Sentences of at least so many tokens from a place in the corpus on, begun again at its end; 0 for all."""
    if not tokens:
        return corpus
    at = len(corpus) * subset // SUBSETS
    turned = corpus.sentences[at:] + corpus.sentences[:at]
    sizes = [0, *accumulate(map(len, turned))]
    return corpus.with_sentences(turned[: int(np.searchsorted(sizes, tokens))])


def spread(corpus: Corpus, tokens: int) -> Corpus:
    """Every so manieth sentence, of about so many tokens in all."""
    return corpus.with_sentences(corpus.sentences[:: max(1, sum(map(len, corpus)) // tokens)])


def regression(train: Corpus, dev: Corpus, task: str) -> float:
    """The score of a logistic regression of single tokens over the features of the defaults."""
    from sklearn.linear_model import LogisticRegression

    recipe = Recipe(Task(task))
    problem = prepare([train], recipe)
    encoded, encoder = problem.objective.encoded, problem.model.encoder
    assert isinstance(encoder, TemplateEncoder)
    own = features(encoded, encoder.windows)
    known = np.unique(own.indices)
    labels = problem.sets.masks.argmax(axis=1)[encoded.evidence.sets]
    model = LogisticRegression(max_iter=_STEPS).fit(own[:, known], labels)
    text = recipe.task.prepare(dev)
    seen = encoder.encode(text.sentences)
    found = np.asarray(model.predict(features(seen, encoder.windows)[:, known]), np.int32)
    return scored(found, text, problem.model.space.names, seen, bool(problem.model.coding))


def features(encoded: Encoded, windows: NDArray[np.int64]) -> Any:
    """A sparse matrix [tokens, features x widest window]: 1 for every feature of a token, one column a place in its
    window."""
    from scipy.sparse import csr_matrix

    e, width = encoded, int(windows.max(initial=1))
    counts = np.diff(e.type_ptr)[e.word_types]
    own = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    rows = [np.repeat(np.arange(e.tokens), counts)]
    columns = [e.type_features[np.repeat(e.type_ptr[e.word_types], counts) + own].astype(np.int64) * width]
    anchors = np.arange(e.tokens) + np.repeat(np.arange(len(e)), e.lengths) * e.outer_anchors + e.lead
    for family, (low, high) in enumerate(zip(e.low, e.high, strict=True)):
        for offset in range(low, high + 1):
            rows.append(np.arange(e.tokens))
            columns.append(e.grams[anchors + offset, family].astype(np.int64) * width + (offset - low))
            rows[-1], columns[-1] = rows[-1][columns[-1] >= 0], columns[-1][columns[-1] >= 0]
    row, column = np.concatenate(rows), np.concatenate(columns)
    kept = column >= 0
    shape = e.tokens, len(windows) * width
    return csr_matrix((np.ones(int(kept.sum())), (row[kept], column[kept])), shape=shape)


def scored(found: NDArray[np.int32], text: Corpus, names: Sequence[str], encoded: Encoded, of_words: bool) -> float:
    """The share of labels that are right or, where they code words, F of words."""
    numbers = {name: number for number, name in enumerate(names)}
    layers = [sentence.layers[text.guideline] for sentence in text]
    labels = [candidates[0] for layer in layers for candidates in layer if candidates]
    gold = np.array([numbers.setdefault(label, len(numbers)) for label in labels], np.int32)
    if of_words:
        return WordCounter(tuple(numbers), encoded.sentence_ptr).f_score(gold, found)
    return float((gold == found).mean())
