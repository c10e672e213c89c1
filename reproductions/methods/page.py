"""The page of the methods: scores, what they cost, and how sure the best one is better."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reproductions.lab.cache import Result
from reproductions.lab.comparison import TRIALS, Measured, compare
from reproductions.lab.page import opening, table
from reproductions.lab.tagged_words import answered_words
from reproductions.methods.cell import TARGET, Files
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load
from tagweave.evaluation.score import Counts, f_of_counts
from tagweave.evaluation.words import segmentations, word_scores

Summary = dict[str, Any]

_COSTS = ("seconds", "processor", "megabytes", "megabytes of tagging", "size", "weights", "characters", "times")

_BOUNDS = (
    "`--rounds 1` and `--folds 2` keep what their rows cost in bounds: the usual values are greater, and these rows"
    " might score higher with them."
)
_LEFT_OUT = (
    "`coupled` is left out. Its labels are pairs, of tags and of places in words, thousands of them: by a trial on 400"
    " sentences of either corpus, training on all would take an hour of one processor, and with `--prune` and three"
    " iterations 20 minutes."
)
CHOICE = "test, words and tags"
"""The measure that says which method is best, and on which the others are tested against it."""


def counts(gold: Corpus, output: Sequence[str]) -> tuple[Counts, Counts]:
    """int64[S, 3] each, right, gold and found words of every sentence: of words, and of words with their tags.

    Args:
        gold: S sentences of tagged words.
        output: what was found of each, as `reproductions.methods.label` tells it.

    Raises:
        ValueError: output for another text, or no tags.
    """
    found = answered_words(gold, output, gold.guideline)
    own, system = (list(segmentations(each.sentences, each.guideline, each.unit)) for each in (gold, found))
    scores = word_scores(own, system)
    if scores.tagged is None:
        raise ValueError("found words without tags, expected a tag of every word")
    return scores.counts, scores.tagged.counts


def measured(files: Files, found: Mapping[str, Result]) -> dict[str, dict[str, Measured]]:
    """By method and measure the counts of the one run that there is."""
    gold = {part: load(f"{TARGET}={path}") for part, path in (("dev", files.dev), ("test", files.test))}
    measures: dict[str, dict[str, Measured]] = {}
    for name, result in found.items():
        for part, corpus in gold.items():
            words, tagged = counts(corpus, result[part])
            own = measures.setdefault(name, {})
            own[f"{part}, words"] = Measured(words[None], f_of_counts)
            own[f"{part}, words and tags"] = Measured(tagged[None], f_of_counts)
    return measures


def summary(
    files: Files, options: Mapping[str, Sequence[str]], found: Mapping[str, Result], trials: int = TRIALS
) -> Summary:
    """All numbers of the page."""
    whole = {name: result for name, result in found.items() if "failed" not in result}
    measures = measured(files, whole)
    best = max(whole, key=lambda name: measures[name][CHOICE].values[0], default=None)
    methods: dict[str, Any] = {}
    for name, result in found.items():
        methods[name] = {"options": " ".join(options[name])}
        if name not in whole:
            methods[name]["failed"] = result["failed"]
            continue
        scores = {measure: each.values[0] for measure, each in measures[name].items()}
        methods[name] |= {"scores": scores, **{key: result[key] for key in _COSTS}}
        if best and name != best:
            methods[name]["best"] = compare(measures[best][CHOICE], measures[name][CHOICE], trials)
    return {"corpora": files.name, "trials": trials, "best": best, "methods": methods}


def lines(told: Summary, command: str) -> Iterator[str]:
    """The lines of the page."""
    yield from opening("All methods on one task", command)
    yield f"Joint segmentation and tagging of {told['corpora']}: each method is `tagweave train --task segtag` with the"
    yield "options that it names and no others, and `--dev`, in a process of its own with one thread. F, x 100.\n"
    yield f"- to the best, p: the difference to {told['best']}, by F of words with their tags on test; two-sided,"
    yield f"  paired randomisation over sentences, {told['trials']:,} trials. One seed each."
    yield "- training, tagging: processor time; the machine had other work. Training is all from reading the corpora to"
    yield "  the model's file, the models that come first included. Tagging is from characters to tagged words, after"
    yield "  warming up; the same sentences for all (test), the fastest of some runs."
    yield "- memory: the most that the process had.\n"
    yield f"{_BOUNDS}\n"
    yield f"{_LEFT_OUT}\n"
    yield from table(
        ["method", "options", "dev, words", "dev, with tags", "test, words", "test, with tags", "to the best", "p"],
        [_scores(name, found, told["best"]) for name, found in told["methods"].items()],
    )
    yield from table(
        _COST_HEAD,
        [_costs(name, found) for name, found in told["methods"].items() if "failed" not in found],
    )
    for name, found in told["methods"].items():
        if "failed" in found:
            yield f"{name} failed: {found['failed']}\n"


def _scores(name: str, found: Mapping[str, Any], best: str | None) -> list[str]:
    options = f"`{found['options']}`" if found["options"] else ""
    if "failed" in found:
        return [name, options, *["-"] * 6]
    scores = [f"{found['scores'][measure]:.2f}" for measure in found["scores"]]
    if name == best:
        return [name, options, *scores, "best", "-"]
    return [name, options, *scores, f"{-found['best']['difference']:+.2f}", f"{found['best']['p_all']:.4f}"]


_COST_HEAD = [
    "method",
    "training, min",
    "characters a second",
    "weights, millions",
    "model, MB",
    "memory of training, MB",
    "memory of tagging, MB",
]


def _costs(name: str, found: Mapping[str, Any]) -> list[str]:
    speed = found["characters"] / min(found["times"])
    weights, size = f"{found['weights'] / 1e6:.1f}", f"{found['size'] / 2**20:.1f}"
    memory = [f"{found[key]:,.0f}" for key in ("megabytes", "megabytes of tagging")]
    return [name, f"{found['processor'] / 60:.1f}", f"{speed:,.0f}", weights, size, *memory]
