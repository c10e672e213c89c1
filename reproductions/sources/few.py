"""Few sources that label everything, and lists: NoiseBench, whose six noises are real, in all combinations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, permutations
from typing import Any

import numpy as np

import tagweave as tw
from reproductions.lab.corpora import all_corpora
from reproductions.lab.page import opening, table
from reproductions.sources.aggregation import labelled
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load
from tagweave.corpus.sentence import Sentence
from tagweave.corpus.spans import OUTSIDE
from tagweave.evaluation.score import Counts, Measure, f_of_counts
from tagweave.evaluation.spans import span_scores
from tagweave.sources.answers import Answers
from tagweave.sources.methods import AGGREGATIONS, DEFAULT
from tagweave.sources.posterior import aggregate

NOISES = ("expert", "crowdbest", "crowd", "distant", "weak", "llm")
FEW = ("crowd", "distant", "weak", "llm")
_LIST = "-list"
_PARTS = (slice(None), slice(1, None, 2))  # all sentences, and those that do not choose a method


def combined() -> dict[str, list[tuple[str, ...]]]:
    """Combinations of sources under their titles; a list has the spans of a noise, and says nothing elsewhere."""
    found: dict[str, list[tuple[str, ...]]] = {
        f"{count} of six": list(combinations(NOISES, count)) for count in range(2, len(NOISES) + 1)
    }
    found[" ".join(FEW)] = [FEW]
    found["one, and another as a list"] = [(one, other + _LIST) for one, other in permutations(NOISES, 2)]
    return found


def study(sentences: int | None, say: Callable[[str], None]) -> dict[str, Any]:
    """F of every method on every combination, also in half of the text, and the method that the other half chooses."""
    gold, many = _read(sentences)
    text, half = gold.with_sentences(many), gold.with_sentences(gold.sentences[::2])
    rows = []
    for title, chosen in combined().items():
        for sources in chosen:
            answers = Answers.of_sentences(many, sources)
            counts = {method: _counts(gold, answers, method) for method in AGGREGATIONS}
            scores, others = ({method: _f(each[part]) for method, each in counts.items()} for part in _PARTS)
            say(f"{' '.join(sources)}: {scores[DEFAULT]:.2f}")
            kept = tw.aggregate(text, sources, dev=half).method
            rows.append({"title": title, "sources": sources, "f": scores, "other_half": others, "kept": kept})
    return {"rows": rows, "sentences": len(gold), "tokens": gold.tokens()}


def answers_and_gold(sentences: int | None) -> tuple[Answers, Corpus]:
    """The answers of the cheap noises, and clean labels."""
    gold, many = _read(sentences)
    return Answers.of_sentences(many, FEW), gold


def _read(sentences: int | None) -> tuple[Corpus, list[Sentence]]:
    """Clean labels, and the text with a layer for each noise, and for each as a list."""
    folder = all_corpora() / "en/noisebench"
    gold = load(str(folder / "clean.train.txt"))
    texts = {name: load(str(folder / f"noise_{name}.train.txt")) for name in NOISES}
    read = zip(*(text.sentences[:sentences] for text in texts.values()), strict=True)
    return gold.with_sentences(gold.sentences[:sentences]), [_with_sources(each, texts) for each in read]


def _with_sources(sentences: Sequence[Sentence], texts: dict[str, Corpus]) -> Sentence:
    layers = {}
    for (name, text), sentence in zip(texts.items(), sentences, strict=True):
        layers[name] = sentence.layers[text.guideline]
        layers[name + _LIST] = tuple(None if each == (OUTSIDE,) else each for each in layers[name])
    return Sentence(sentences[0].forms, layers)


def _counts(gold: Corpus, answers: Answers, method: str) -> Counts:
    """Counts of exact spans by sentence, where nothing is marked that nobody answers."""
    best = np.where(answers.answered > 0, aggregate(answers, method).best, answers.labels.index(OUTSIDE))
    return span_scores(gold, labelled(gold, answers.labels, best)).counts


def _f(counts: Counts) -> float:
    return 100 * Measure(counts, f_of_counts).score


def few_lines(found: dict[str, Any]) -> Iterator[str]:
    """The page."""
    methods = [*found["rows"][0]["f"]]
    yield from opening("Few sources, and lists", found["command"])
    yield f"The training files of `en/noisebench` (Merdjanovska et al. 2024), {found['sentences']:,} sentences,"
    yield f"{found['tokens']:,} tokens: six real noises ({', '.join(NOISES)}) are the sources, clean labels score. All"
    yield f"options are the defaults. Those of `{DEFAULT}` were chosen on the development files, and on half a crowd,"
    yield "simulated crowds, taggers and rules, never by scores of these.\n"
    yield "F of exact spans in percent, means over the combinations of sources.\n"
    yield from table(["sources", "combinations", *methods], _means(found["rows"], methods))
    yield f"\nHow far a method is below the best one but `{DEFAULT}`, over all {len(found['rows'])} combinations.\n"
    yield from table(["below the best", *methods], _losses(found["rows"], methods))
    yield "\nEvery second sentence has gold labels, by which `aggregate --dev` chooses the method. How many points of F"
    yield f"`{DEFAULT}` and the chosen method are below the best one in the other half: the mean, the largest, and how"
    yield f"often more than 0.3; *other* counts choices other than `{DEFAULT}`.\n"
    head = ["sources", "combinations", "other", f"`{DEFAULT}`", "largest", "> 0.3", "chosen", "largest", "> 0.3"]
    yield from table(head, _choices(found["rows"]))


def _means(rows: list[dict[str, Any]], methods: list[str]) -> Iterator[list[str]]:
    for title in dict.fromkeys(row["title"] for row in rows):
        own = [row["f"] for row in rows if row["title"] == title]
        yield [title, str(len(own)), *(f"{np.mean([each[method] for each in own]):.2f}" for method in methods)]


def _losses(rows: list[dict[str, Any]], methods: list[str]) -> Iterator[list[str]]:
    best = np.array([max(f for method, f in row["f"].items() if method != DEFAULT) for row in rows])
    losses = best[:, None] - np.array([[row["f"][method] for method in methods] for row in rows])
    yield ["mean", *(f"{each:.2f}" for each in losses.mean(axis=0))]
    yield ["largest", *(f"{each:.2f}" for each in losses.max(axis=0))]
    yield ["combinations more than a point below", *(str(each) for each in (losses > 1).sum(axis=0))]


def _choices(rows: list[dict[str, Any]]) -> Iterator[list[str]]:
    for title in [*dict.fromkeys(row["title"] for row in rows), "all"]:
        own = [row for row in rows if title in (row["title"], "all")]
        cells = [title, str(len(own)), str(sum(row["kept"] != DEFAULT for row in own))]
        for methods in ([DEFAULT] * len(own), [row["kept"] for row in own]):
            halves = zip(methods, (row["other_half"] for row in own), strict=True)
            below = np.array([max(f.values()) - f[method] for method, f in halves])
            cells += [f"{below.mean():.2f}", f"{below.max():.2f}", str((below > 0.3).sum())]
        yield cells
