"""Taggers of what labelling functions say, hard and soft, and of what the method `sources` makes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from reproductions.lab.cache import Cache, Result
from reproductions.sources.aggregation import labelled
from reproductions.sources.weak_text import Outcome, Text, only_gold
from tagweave.corpus.candidates import Soft
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Candidates, Sentence
from tagweave.evaluation.score import Score
from tagweave.evaluation.spans import span_scores
from tagweave.learning.run import Run, Schedule
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.guide import labels_of
from tagweave.sources.posterior import best_sequences
from tagweave.training.fit import fit
from tagweave.training.recipe import Recipe
from tagweave.training.source_rounds import SourceRounds
from tagweave.training.task import Task

ITERATIONS = 6
"""Of every training, since development data would be gold labels."""
ROUNDS = 3
"""Of the method `sources`, at most."""
MAJORITY, BELIEVED, SKWEAK, GOLD = "majority", "HMM, silence, believed", "skweak, HMM", "gold labels"
BY_TURNS = {"sources, by turns": False, "sources, by turns, silence": True}
"""The method `sources`, and whether silence is evidence."""
_BATCH = 16
_LEAST = 0.01  # of the probability of a candidate
FORMS = {
    "hard": (False, True),
    "hard, nothing where no function answers": (False, False),
    "soft": (True, True),
    "soft, nothing where no function answers": (True, False),
}
"""What taggers learn from: whether labels have probabilities, and whether all tokens have labels."""
TRAINED = {
    MAJORITY: tuple(FORMS),
    BELIEVED: tuple(FORMS),
    SKWEAK: ("hard", "soft"),
    **dict.fromkeys(BY_TURNS, ("soft",)),
    GOLD: ("hard",),
}
"""What taggers are trained from."""


def rows(
    text: Text, test: Corpus, outcomes: Mapping[str, Outcome], seeds: int, cache: Cache, say: Callable[[str], None]
) -> Iterator[Result]:
    """The rows of the table: taggers of a text, scored on another one."""
    about = {"sentences": [len(text.corpus), len(test)], "tokens": text.corpus.tokens()}
    for name, forms in TRAINED.items():
        for form in forms:
            results = []
            for seed in range(seeds):
                description = {**about, "name": name, "form": form, "seed": seed, "iterations": ITERATIONS}
                compute = partial(_result, text, test, outcomes.get(name), name, form, seed)
                results.append(cache.result(f"weak {name} {form} {seed}", description, compute))
            scores = [percentages(span_scores(test, _with_lines(test, each["test"])).spans) for each in results]
            row = {key: float(np.mean([each[key] for each in scores])) for key in scores[0]}
            say(f"tagger, {name}, {form}: {row['f']:.2f}")
            labels = None if results[0]["labels"] is None else float(np.mean([each["labels"] for each in results]))
            yield {"name": name, "form": form, **row, "values": [each["f"] for each in scores], "labels": labels}


def _result(text: Text, test: Corpus, own: Outcome | None, name: str, form: str, seed: int) -> Result:
    recipe = Recipe(Task("spans"), settings={"seed": seed, "batch": _BATCH})
    run = Run(Schedule(iterations=ITERATIONS))
    gold = only_gold(text.corpus)
    labels = None
    if own is not None:
        train, labels = training_text(text, own, form), _labels_f(gold, own.labels, own.best)
    elif name in BY_TURNS:
        train, labels = by_turns(text, recipe, run, BY_TURNS[name], seed)
    else:
        train = gold
    tagger = ChainPredictor(fit([train], recipe, run=run).model)
    tagged = tagger.tag([Sentence(each.forms) for each in test])
    return {"test": [" ".join(labels_of(each, tagger.guideline)) for each in tagged], "labels": labels}


def by_turns(text: Text, recipe: Recipe, run: Run, silence: bool, seed: int) -> tuple[Corpus, float]:
    """The text as the method `sources` believes it to be annotated, and the F of its best labels."""
    gold, answers = only_gold(text.corpus), text.answers
    bare = replace(gold, layer="").map(lambda each: replace(each, layers={}))
    rounds = SourceRounds(bare, answers, recipe, {}, seed=seed, run=run, speaks=silence)
    believed = rounds.best(ROUNDS)
    best = best_sequences(answers, believed.labels)
    return rounds.evidence(believed), _labels_f(gold, answers.labels, best)


def _labels_f(gold: Corpus, labels: tuple[str, ...], best: NDArray[np.integer]) -> float:
    return 100 * span_scores(gold, labelled(gold, labels, best)).spans.f


def training_text(text: Text, own: Outcome, form: str) -> Corpus:
    """The text with what a way makes of it as its labels."""
    soft, everywhere = FORMS[form]
    answered = np.zeros(len(own.best), bool)
    answered[text.answers.position] = True
    rows = zip(own.best.tolist(), own.probabilities.tolist(), answered.tolist(), strict=True)
    gold = only_gold(text.corpus)

    def layer(sentence: Sentence) -> Iterator[Candidates]:
        before: Candidates = ("O",)
        for best, row, is_answered in islice(rows, len(sentence)):
            if not (everywhere or is_answered):
                before = None
            else:
                before = _probable(own.labels, row, before) if soft else (own.labels[best],)
            yield before

    return gold.with_sentences(each.with_layer(gold.guideline, layer(each)) for each in gold.sentences)


def percentages(scores: Score) -> dict[str, float]:
    """F, precision and recall."""
    return {
        name: 100 * float(np.nan_to_num(getattr(scores, name)))  # without any span, precision is 0
        for name in ("f", "precision", "recall")
    }


def _with_lines(corpus: Corpus, lines: list[str]) -> Corpus:
    pairs = zip(corpus, lines, strict=True)
    return corpus.with_sentences(each.with_layer(corpus.guideline, [(y,) for y in own.split()]) for each, own in pairs)


def _probable(labels: tuple[str, ...], row: list[float], before: Candidates) -> Candidates:
    """The probable labels that can follow those before, with their probabilities, the most probable first."""
    possible = {"O", *(name for name in labels if name[0] == "B"), *(f"I{name[1:]}" for name in before or labels)}
    pairs = [(p, label) for p, label in zip(row, labels, strict=True) if p >= _LEAST and label in possible]
    if len(pairs) < 2:
        return (pairs[0][1],) if pairs else ("O",)
    total = sum(p for p, _ in pairs)
    ordered = sorted(pairs, reverse=True)
    return Soft((label for _, label in ordered), (round(p / total, 6) for p, _ in ordered))
