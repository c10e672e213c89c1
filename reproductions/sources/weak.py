"""Ten labelling functions on CoNLL-2003: what each is worth, what aggregation makes of them, and taggers from that."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import tagweave as tw
from reproductions.lab.cache import Cache, Result
from reproductions.sources import weak_training
from reproductions.sources.aggregation import labelled
from reproductions.sources.calibration import calibration_error
from reproductions.sources.rivals import rival_result
from reproductions.sources.weak_text import Outcome, Text, only_gold, text_of, word_lists
from reproductions.sources.weak_training import BELIEVED, MAJORITY, SKWEAK, percentages
from tagweave.evaluation.spans import span_scores
from tagweave.sources.methods import DEFAULT
from tagweave.sources.posterior import aggregate

BELIEF = 0.9
"""How far every function is believed, where its reliability is given and not estimated: nobody measured it."""


@dataclass(frozen=True)
class Way:
    """How what functions say becomes one layer.

    Attributes:
        name: in tables.
        method: of `tagweave.sources`; "" is skweak.
        options: of the method.
        believed: whether every function has the reliability `BELIEF`.
    """

    name: str
    method: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    believed: bool = False


_SILENCE = {"silence": True}
WAYS = (
    Way(MAJORITY, "majority"),
    Way("Dawid-Skene", "dawid-skene"),
    Way("HMM", "hmm"),
    Way("BSC-seq", "bsc"),
    Way(DEFAULT, DEFAULT),
    Way("Dawid-Skene, silence", "dawid-skene", _SILENCE),
    Way("HMM, silence", "hmm", _SILENCE),
    Way("BSC-seq, silence", "bsc", _SILENCE),
    Way("Dawid-Skene, silence, believed", "dawid-skene", _SILENCE, believed=True),
    Way(BELIEVED, "hmm", _SILENCE, believed=True),
    Way("BSC-seq, silence, believed", "bsc", _SILENCE, believed=True),
    Way(SKWEAK),
)


def outcome(way: Way, text: Text, python: Path) -> Outcome:
    """What a way makes of a text."""
    if not way.method:
        answers = text.marked_everywhere
        rival = rival_result(python, "skweak", answers)
        return Outcome(answers.labels, rival.probabilities.argmax(axis=1), rival.probabilities, rival.seconds)
    answers, begin = text.answers, time.process_time()
    known = dict.fromkeys(text.functions, BELIEF) if way.believed else None
    found = aggregate(answers, way.method, way.options, known)
    return Outcome(found.labels, found.best, found.probabilities, time.process_time() - begin)


def aggregated(way: Way, text: Text, own: Outcome) -> Result:
    """The row of a way on a text."""
    corpus, number = text.corpus, {label: y for y, label in enumerate(own.labels)}
    gold = [number.get(each[0], -1) for sentence in corpus for each in sentence.layers[corpus.guideline] if each]
    scores = span_scores(only_gold(corpus), labelled(only_gold(corpus), own.labels, own.best))
    error = calibration_error(own.probabilities, np.array(gold))
    return {"name": way.name, **percentages(scores.spans), "calibration": error, "seconds": own.seconds}


def study(python: Path, seeds: int, sentences: int | None, cache: Cache, say: Callable[[str], None]) -> dict[str, Any]:
    """All numbers of the page."""
    lists = word_lists(python)
    texts = {part: text_of(part, lists, sentences) for part in ("train", "test")}
    outcomes: dict[str, Outcome] = {}
    parts: dict[str, Any] = {}
    for part, text in texts.items():
        rows = []
        for way in WAYS:
            own = outcome(way, text, python)
            rows.append(aggregated(way, text, own))
            say(f"{part}, {way.name}: {rows[-1]['f']:.2f}")
            if part == "train":
                outcomes[way.name] = own
        compared = tw.compare_sources(text.corpus, text.functions, text.corpus.guideline)
        parts[part] = {
            "sentences": len(text.corpus),
            "tokens": text.corpus.tokens(),
            "all": compared["all"],
            "functions": compared["sources"],
            "rows": rows,
        }
    taggers = weak_training.rows(texts["train"], only_gold(texts["test"].corpus), outcomes, seeds, cache, say)
    return {"parts": parts, "taggers": list(taggers)}
