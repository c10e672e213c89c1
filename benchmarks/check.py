"""How well `check` finds wrong labels: `python -m benchmarks.check`.

NoiseBench has one text under six real noises and clean labels, which tell the wrong tokens. They are ranked by the
suspicion of `check`, and by scores of cleanlab on probabilities of the same models, trained without beliefs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import chain
from statistics import mean
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tagweave as tw
from benchmarks.characters import corpora_folder
from benchmarks.processes import by_seeds
from tagweave.corpus.corpus import Corpus
from tagweave.front.check import ROUNDS
from tagweave.learning.run import Silence
from tagweave.training.cascades.label_errors import LabelJudge, suspicions
from tagweave.training.fit.recipe import Recipe
from tagweave.training.plan import Plan

NOISES = ("expert", "crowdbest", "llm", "crowd", "distant", "weak")
FIRST = 100
"""Suspects looked at."""
OPEN = 0.5
"""Suspects from this suspicion on are left open in training."""
SCORES = {
    "self-confidence": ("self_confidence", False),
    "self-confidence, adjusted": ("self_confidence", True),
    "normalized margin": ("normalized_margin", False),
    "normalized margin, adjusted": ("normalized_margin", True),
    "confidence-weighted entropy": ("confidence_weighted_entropy", False),
}
"""Methods of cleanlab, and whether probabilities are adjusted to the classes."""

Floats = NDArray[Any]


class Plain(LabelJudge):
    """Models that believe all labels, and the means of their probabilities of labels after each round."""

    def __init__(self, corpus: Corpus, recipe: Recipe) -> None:
        super().__init__(corpus, recipe)
        self.tables: list[Floats] = []
        self.labels = (np.concatenate(self._masks) @ self._projection).argmax(axis=1)

    def doubts(self, said: Sequence[Sequence[Any]]) -> tuple[Floats, Floats]:
        """Keep what was said; doubt nothing."""
        self.tables.append(np.concatenate([np.mean([table for table, _ in each], axis=0) for each in said]))
        return np.zeros(len(self.labels)), np.zeros(len(self.labels))


def average_precision(scores: Floats, is_wrong: NDArray[np.bool_]) -> float:
    """Return the mean precision at the wrong tokens, by descending scores; equal scores count as one step."""
    order = np.argsort(-scores, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(scores[order])), len(order) - 1)
    found = np.cumsum(is_wrong[order])[ends]
    return float((np.diff(found, prepend=0) * found / (ends + 1)).sum() / found[-1])


def of_cleanlab(labels: NDArray[Any], tables: Floats, is_wrong: NDArray[np.bool_]) -> dict[str, float]:
    """Return the average precision of each score of cleanlab; {} where it is not installed."""
    try:
        from cleanlab.rank import get_label_quality_scores
    except ImportError:
        return {}
    tables = np.maximum(tables, 1e-12)
    tables /= tables.sum(axis=1, keepdims=True)
    return {
        name: average_precision(
            1 - get_label_quality_scores(labels, tables, method=method, adjust_pred_probs=adjusted), is_wrong
        )
        for name, (method, adjusted) in SCORES.items()
    }


def read(name: str) -> Corpus:
    """Return a file of NoiseBench."""
    return tw.load(corpora_folder() / "en/noisebench" / f"{name}.txt")


def labels_of(corpus: Corpus) -> list[Any]:
    """Return the labels of all tokens."""
    return list(chain.from_iterable(each.layers[corpus.guideline] for each in corpus))


@cache
def f_of_clean(seed: int) -> float:
    """Return F of a tagger of the clean labels."""
    return f_of(read("clean.train"), seed)


def f_of(corpus: Corpus, seed: int) -> float:
    """Return F of spans on the clean test set, in percent, of a tagger trained by defaults."""
    model: Any = tw.train(corpus, seed=seed, callback=Silence())
    (scores,) = model.evaluate(read("clean.test")).systems.values()
    return 100 * float(scores.spans.f)


def measured(noise: str, seeds: int) -> list[dict[str, Any]]:
    """Return for each seed average precisions, the precision of the first suspects, and F of taggers."""
    return [_measured(noise, number * ROUNDS) for number in range(seeds)]


def _measured(noise: str, seed: int) -> dict[str, Any]:
    corpus = read(f"noise_{noise}.train")
    given, clean = labels_of(corpus), labels_of(read("clean.train"))
    is_wrong = np.array([one != other for one, other in zip(given, clean, strict=True)])
    recipe = Recipe.of_plan(Plan((), task="spans"))
    found: dict[str, Any] = {"wrong": float(is_wrong.mean())}
    judge = Plain(corpus, recipe)
    suspicions(corpus, recipe, judge, rounds=ROUNDS, seed=seed)
    for rounds in (1, ROUNDS):
        table = judge.tables[rounds - 1]
        own = table[np.arange(len(table)), judge.labels]
        found[f"self-confidence, {rounds}"] = average_precision(1 - own, is_wrong)
        found[f"cleanlab, {rounds}"] = of_cleanlab(judge.labels, table, is_wrong)
    checked = tw.check(corpus, seed=seed, tell=lambda line: None)
    tokens = checked.found.tokens
    found["check"] = average_precision(np.concatenate(tokens), is_wrong)
    by_sentence = np.split(is_wrong, np.cumsum([*map(len, corpus)])[:-1])
    first = checked.suspects(FIRST)
    found["first"] = mean(bool(by_sentence[each.sentence][each.start : each.stop].any()) for each in first)
    name, layers = corpus.guideline, [list(each.layers[corpus.guideline]) for each in corpus]
    for each in checked.suspects():
        if each.suspicion >= OPEN:
            layers[each.sentence][each.start : each.stop] = [None] * (each.stop - each.start)
    pairs = zip(corpus, layers, strict=True)
    opened = corpus.with_sentences(each.with_layer(name, layer) for each, layer in pairs)
    ways = {"as it is": corpus, "suspects open": opened, "believed less": checked.believed()}
    return {**found, "f": {**{way: f_of(each, seed) for way, each in ways.items()}, "clean": f_of_clean(seed)}}


def _best(found: list[dict[str, Any]], key: str) -> tuple[float, str]:
    """Return the best of cleanlab's scores on average, and its name; 0 where it is not installed."""
    by_name = {mean(each[key][name] for each in found): name for name in SCORES if found[0][key]}
    return max(by_name.items(), default=(0.0, "not installed"))


def page(found: dict[str, list[dict[str, Any]]], command: str, seeds: int) -> list[str]:
    """Return the lines of the page."""
    ways = list(next(iter(found.values()))[0]["f"])
    above = sum(mean(one["check"] for one in each) > _best(each, f"cleanlab, {ROUNDS}")[0] for each in found.values())
    every = [one["f"] for each in found.values() for one in each]
    gains = {way: mean(each[way] - each[ways[0]] for each in every) for way in ways[1:3]}
    of_plain = f"self-confidence | cleanlab | self-confidence, {ROUNDS} | cleanlab, {ROUNDS}"
    lines = [
        "# Labels that are wrong",
        "",
        "Written by",
        "",
        f"    {command}",
        "",
        "The first half of the training text of NoiseBench (Merdjanovska et al. 2024) under six noises. A token is",
        f"wrong if its label is not the clean one. {'One seed' if seeds == 1 else f'Means of {seeds} seeds'}.",
        "",
        "## Average precision by token",
        "",
        f"*Self-confidence* is 1 - the probability of the given label, by one cross-validation and by {ROUNDS}.",
        "*cleanlab* is the best of its scores on the same probabilities, chosen for each noise by this very number.",
        f"`check` trains as many models as {ROUNDS} cross-validations. *first {FIRST}*: the percentage of its first",
        "suspects that have a wrong token.",
        "",
        f"`check` is above the best score of cleanlab for {above} of {len(found)} noises. The number of rounds,",
        "and how far each believes the ones before, were chosen on these noises.",
        "",
        f"| noise | wrong, % | {of_plain} | `check` | first {FIRST} |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for noise, each in found.items():
        cells = [f"{100 * mean(one['wrong'] for one in each):.1f}"]
        for rounds in (1, ROUNDS):
            cells.append(f"{mean(one[f'self-confidence, {rounds}'] for one in each):.3f}")
            cells.append("{:.3f} ({})".format(*_best(each, f"cleanlab, {rounds}")))
        cells += [f"{mean(one['check'] for one in each):.3f}", f"{100 * mean(one['first'] for one in each):.0f}"]
        lines.append(f"| {noise} | {' | '.join(cells)} |")
    lines += [
        "",
        "## Training without what is believed wrong",
        "",
        "F of taggers on the clean test set, in percent. *suspects open*: the tokens of suspects with a suspicion of",
        f"{OPEN} or more are unknown. *believed less*: the confidence in each label is 1 - suspicion (`--believed`).",
        "",
        f"Gains over the corpus as it is: {', '.join(f'{way} {gain:+.1f}' for way, gain in gains.items())} on average.",
        "",
        f"| noise | {' | '.join(ways)} |",
        "|---|" + "---|" * len(ways),
    ]
    for noise, each in found.items():
        scores = (f"{mean(one['f'][way] for one in each):.1f}" for way in ways)
        lines.append(f"| {noise} | {' | '.join(scores)} |")
    return [*lines, ""]


def main(words: Sequence[str] | None = None) -> None:
    """The command."""
    by_seeds("check", __doc__, NOISES, measured, page, words, seeds=1)


if __name__ == "__main__":
    main()
