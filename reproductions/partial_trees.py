"""Zhang et al. (2017), Dependency Parsing with Partial Annotations: parsers from trees with some of their heads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproductions.lab import page
from reproductions.lab.comparison import Finding, counts_of
from reproductions.lab.corpora import Parts, read_parts, without_relations
from reproductions.lab.models import trained
from reproductions.lab.study import Numbers, Result, Setting, Study
from tagweave.corpus.corpus import Corpus
from tagweave.evidence.trees import only_head
from tagweave.learning.run import Schedule

MARGINAL, DISCARD, ARGMAX, ITSELF, PERCEPTRON = "marginal", "discard", "argmax", "argmax of marginal", "perceptron"
COMPLETED_BY = {ARGMAX: DISCARD, ITSELF: MARGINAL}
"""The method whose parser fills in the unknown heads, under those that are known."""
WHOLE = 0.05
"""The share of sentences, from the first, that keep all heads."""
SHARES = (0.15, 0.5)
"""Of the heads of all other sentences."""


@dataclass(frozen=True, eq=False)
class Treebank:
    """Trees in three parts, how models of them are trained, and what is kept of the first part.

    Attributes:
        share: of the heads that are kept, beside those of the whole sentences.
        is_uncertain: of every sentence those heads are kept of which the parser of the whole sentences is least
            certain, not random ones.
    """

    parts: Parts
    schedule: Schedule
    share: float
    is_uncertain: bool

    @property
    def whole(self) -> int:
        """How many sentences, the first, keep all of their heads."""
        return max(1, round(WHOLE * len(self.parts.train)))

    def about(self) -> Numbers:
        """Return what the page tells of it."""
        budget = [self.schedule.iterations, self.schedule.patience]
        return {"sizes": self.parts.sizes(), "budget": budget, "whole": self.whole, "share": self.share}


def settings(quick: bool) -> list[Setting]:
    """English newspaper text, without relations, whole and with shares of the heads."""
    parts, schedule = read_parts("en/wsj-dep", "head", "head").map(without_relations), Schedule(20, 3)
    if quick:
        parts, schedule = parts.first(100, 20), Schedule(1, 1)
    rivals = {
        "random": (
            "A random {:.0%} of the heads, and whole sentences",
            (MARGINAL, DISCARD, ARGMAX, ITSELF, PERCEPTRON),
        ),
        "uncertain": ("The least certain {:.0%} of the heads, and whole sentences", (MARGINAL, DISCARD, ARGMAX)),
    }
    given = Treebank(parts, schedule, 1.0, False)
    found = [Setting("full", "All heads", lambda _: given, (MARGINAL, PERCEPTRON), Treebank.about)]
    for share in SHARES:
        for way, (title, methods) in rivals.items():
            bank = Treebank(parts, schedule, share, way == "uncertain")
            name = f"{way}-{100 * share:.0f}"
            found.append(Setting(name, title.format(share), lambda _, own=bank: own, methods, Treebank.about))  # type: ignore[misc]
    return found


def train(bank: Treebank, method: str, seed: int) -> Result:
    """Train a parser, and score its heads."""
    corpus, evidence = _corpus(bank, method, seed), _evidence(bank, seed)
    golds = {"dev": bank.parts.dev, "test": bank.parts.test}
    model = _parser(bank, method, seed)
    right = None
    if method in COMPLETED_BY:
        sides = zip(evidence, corpus, bank.parts.train, strict=True)
        pairs = [
            (head, gold)
            for known, filled, whole in sides
            for old, head, gold in zip(*(each.heads["head"] for each in (known, filled, whole)), strict=True)
            if old is None
        ]
        right = float(np.mean([only_head(head) == only_head(gold) for head, gold in pairs])) if pairs else None
    known = sum(arc is not None for sentence in evidence for arc in sentence.heads["head"])
    counts = {name: counts_of(gold, model) for name, gold in golds.items()}
    return {"counts": counts, "sentences": len(corpus), "known": known, "right": right}


@lru_cache(maxsize=4)
def _parser(bank: Treebank, method: str, seed: int) -> Any:
    return trained(
        _corpus(bank, method, seed),
        dev=bank.parts.dev,
        task="parse",
        method="single",
        drop_columns=0,
        learner="perceptron" if method == PERCEPTRON else "adagrad",
        seed=seed,
        iterations=bank.schedule.iterations,
        patience=bank.schedule.patience,
    )


@lru_cache(maxsize=4)
def _corpus(bank: Treebank, method: str, seed: int) -> Corpus:
    """Return what a method trains on."""
    if method == DISCARD:
        return bank.parts.train.with_sentences(bank.parts.train.sentences[: bank.whole])
    evidence = _evidence(bank, seed)
    if method not in COMPLETED_BY:
        return evidence
    completed: Corpus = _parser(bank, COMPLETED_BY[method], seed).complete(evidence)
    return completed


@lru_cache(maxsize=2)
def _evidence(bank: Treebank, seed: int) -> Corpus:
    """Return the training sentences with the heads that are kept."""
    train = bank.parts.train
    if bank.is_uncertain:
        kept = _least_certain(_parser(bank, DISCARD, seed).trained, train, bank.share)
    else:
        rng = np.random.default_rng(seed)
        kept = [rng.random(len(sentence)) < bank.share for sentence in train]
    return train.with_sentences(
        sentence
        if number < bank.whole
        else replace(
            sentence,
            heads={
                "head": tuple(
                    arc if keep else None for arc, keep in zip(sentence.heads["head"], own.tolist(), strict=True)
                )
            },
        )
        for number, (sentence, own) in enumerate(zip(train, kept, strict=True))
    )


def _least_certain(model: Any, corpus: Corpus, share: float) -> list[NDArray[np.bool_]]:
    """Return the share of the tokens of each sentence (rounded) whose likeliest head has the least probability."""
    encoded = model.encode(corpus.sentences)
    probabilities, _ = model.marginals(encoded)
    kept = []
    for cells, length in zip(
        np.split(probabilities, encoded.evidence.cells[1:-1]), encoded.lengths.tolist(), strict=True
    ):
        best = cells.reshape(length + 1, length + 1)[:, 1:].max(axis=0)
        rank = np.empty(length, np.int64)
        rank[np.argsort(best, kind="stable")] = np.arange(length)
        kept.append(rank < round(share * length))
    return kept


def lines(numbers: Numbers) -> Iterator[str]:
    """Yield the lines of the page."""
    first = numbers["settings"][0]
    iterations, patience = first["budget"]
    yield from page.opening("Partial trees", numbers["command"])
    yield "After Zhang, Li, Lang, Xia and Zhang (2017), Dependency Parsing with Partial Annotations.\n"
    yield (
        f"- Data: en/wsj-dep: {page.sizes(first['sizes'])}. Heads are taken away in training alone; relations are not"
        " looked at."
    )
    yield (
        f"- Whole sentences are the first {first['whole']:,} of the training part, with every seed. The share of heads"
        " is that of the tokens of all other sentences. The least certain ones are, sentence by sentence, those whose"
        " likeliest head has the least probability by the parser of `discard`."
    )
    yield (
        "- Methods: `marginal` learns from the known heads alone, by the likelihood of all projective trees that have"
        " them. `discard` learns from the whole sentences alone. `argmax` learns from trees whose unknown heads the"
        " parser of `discard` has filled in, `argmax of marginal` from those that the parser of `marginal` has. All of"
        " these learn by AdaGrad. `perceptron` is the averaged one: its target is the best tree with the known heads."
    )
    yield (
        f"- Every training: at most {iterations} iterations, the one that is best on dev, stopped after {patience}"
        " without a better one; the learner's settings are the parser's defaults for all."
    )
    yield (
        "- Scores are UAS with punctuation, x 100, means over the seeds; in brackets each seed. A seed draws the heads"
        " that are kept and the order of sentences."
    )
    yield page.significance(numbers["trials"])
    yield "- `right`: of the heads that were filled in, those that are right, in percent."
    for setting in numbers["settings"]:
        yield f"\n## {setting['title']}\n"
        methods = setting["methods"]
        yield f"Known heads: {page.number_range(methods[MARGINAL]['known'])}.\n"
        yield from page.table(
            ["method", "sentences", "dev", "test", "test to `marginal`", "p", "right", "CPU s"],
            (_row(name, own) for name, own in methods.items()),
        )
        rows: Sequence[Sequence[str]] = [
            [each["text"], f"{each['difference']:+.2f}", f"{each['p_all']:.4f}", each["here"]]
            for each in setting["findings"]
            if setting["share"] < 1
        ]
        if rows:
            yield from page.table(["expected", "difference on test", "p", "so here"], rows)


def _row(name: str, own: Numbers) -> list[str]:
    scores, test = own["scores"], own["against"].get(MARGINAL, {}).get("test")
    right = "-" if own["right"][0] is None else f"{100 * np.mean(own['right']):.2f}"
    row = [name, page.number_range(own["sentences"]), f"{scores['dev']['mean']:.2f}", page.score(scores["test"])]
    return [*row, *page.difference(test), right, f"{np.mean(own['seconds']):.0f}"]


FINDINGS = (
    Finding("partial trees are worth having", MARGINAL, DISCARD, 1),
    Finding("marginal likelihood is better than filling in by a first parser", MARGINAL, ARGMAX, 1),
    Finding("it is better than filling in by itself", MARGINAL, ITSELF, 1),
    Finding("of what learns from partial trees as they are it is the best", MARGINAL, PERCEPTRON, 1),
)
"""The last is that of Zhang et al. (2017) in their abstract, the others what one would expect."""
STUDIES = [Study("partial-trees", 2, settings, train, lines, (MARGINAL,), FINDINGS)]
