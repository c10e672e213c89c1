"""What the markup of pages tells that a model without it does not know, and where that bears upon a test set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np

from reproductions.lab.cache import Result
from reproductions.lab.words import word_counts
from reproductions.liu_2014.domain import Domain
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Candidates, Sentence
from tagweave.evaluation.score import f_of_counts
from tagweave.harvest.markup import is_chinese
from tagweave.harvest.selection import marked_spans

Numbers = dict[str, Any]
Place = tuple[str, str, bool]
"""The characters on either side of a place, and whether a word ends there."""


class Marks(NamedTuple):
    """What the markup of pages tells of places between two Chinese characters, and which the baseline has wrong."""

    known: list[Place]
    wrong: list[Place]


def of_markup(domain: Domain, results: Sequence[Result]) -> Numbers:
    """How much of the markup the baseline knows already, and how many of its mistakes it bears upon: means over seeds.

    Returns:
        `known` and `wrong`, each by `True` (a boundary) and `False` (none) as a pair; by the name of a test set,
        `mistakes`: the baseline's at places; `alike`: of these at a place of the same two characters as one that is
        marked and that it has wrong; `edges`: at the edge of what a span of the pages marks; and the F that it would
        have without these.
    """
    found: Numbers = _means([_of_markup(domain, result) for result in results])
    return found


def _of_markup(domain: Domain, result: Result) -> Numbers:
    marks = _marks(domain.natural.corpus, result["marked pages"])
    alike = frozenset(marks.wrong)
    spans = frozenset(span for each in domain.natural.corpus for span in marked_spans(each))
    found = {name: [_count(each, True), _count(each, False)] for name, each in marks._asdict().items()}
    return {**found, "gold": {part: _bounds(gold, result[part], alike, spans) for part, gold in domain.gold.items()}}


def _count(places: Sequence[Place], boundary: bool) -> int:
    return sum(each[2] == boundary for each in places)


def _marks(pages: Corpus, lines: Sequence[str]) -> Marks:
    known, wrong = list[Place](), list[Place]()
    for sentence, line in zip(pages, lines, strict=True):
        ends = _ends(line)
        for at, boundary in _known(sentence):
            place = (sentence.forms[at - 1], sentence.forms[at], boundary)
            known.append(place)
            wrong += [place] if (at in ends) != boundary else []
    return Marks(known, wrong)


def _known(sentence: Sentence) -> Iterator[tuple[int, bool]]:
    """The places between two Chinese characters of which something is known."""
    layer = next(iter(sentence.layers.values()))
    for at, (before, after) in enumerate(pairwise(layer), 1):
        if is_chinese(sentence.forms[at - 1]) and is_chinese(sentence.forms[at]):
            if _are(before, "ES") or _are(after, "BS"):
                yield at, True
            elif _are(before, "BM") or _are(after, "ME"):
                yield at, False


def _are(candidates: Candidates, expected: str) -> bool:
    return candidates is not None and set(candidates) <= set(expected)


def _bounds(gold: Corpus, lines: Sequence[str], alike: frozenset[Place], spans: frozenset[str]) -> Numbers:
    mistakes = [_mistakes(sentence, line) for sentence, line in zip(gold, lines, strict=True)]
    texts = ["".join(sentence.forms) for sentence in gold]
    near = [_edges(text, spans) for text in texts]
    has = {
        "alike": [
            {at for at, end in own.items() if (text[at - 1], text[at], end) in alike}
            for text, own in zip(texts, mistakes, strict=True)
        ],
        "edges": [own.keys() & edges for own, edges in zip(mistakes, near, strict=True)],
    }
    found: Numbers = {"mistakes": sum(map(len, mistakes)), "F": _f(gold, lines)}
    for name, places in has.items():
        found[name] = [sum(map(len, places)), _f(gold, [_mended(*each) for each in zip(lines, places, strict=True)])]
    return found


def _mistakes(sentence: Sentence, line: str) -> dict[int, bool]:
    """The places that are wrong, and whether a word ends there in truth."""
    gold, found = set(accumulate(map(len, sentence.forms))), _ends(line)
    return {at: at in gold for at in gold ^ found}


def _edges(text: str, spans: frozenset[str]) -> set[int]:
    """The places where a span begins or ends that occurs in a text."""
    found = set[int]()
    for size in {len(span) for span in spans}:
        starts = (at for at in range(len(text) - size + 1) if text[at : at + size] in spans)
        found |= {place for at in starts for place in (at, at + size)}
    return found


def _mended(line: str, places: set[int]) -> str:
    ends = sorted(_ends(line) ^ places)
    return " ".join(str(b - a) for a, b in pairwise([0, *ends]))


def _ends(line: str) -> set[int]:
    return set(accumulate(map(int, line.split())))


def _f(gold: Corpus, lines: Sequence[str]) -> float:
    return 100 * float(f_of_counts(word_counts(gold, lines).sum(axis=0)))


def _means(found: Sequence[Any]) -> Any:
    """Of numbers of one shape."""
    if isinstance(found[0], dict):
        return {name: _means([each[name] for each in found]) for name in found[0]}
    if isinstance(found[0], list):
        return [_means(each) for each in zip(*found, strict=True)]
    return float(np.mean(found))
