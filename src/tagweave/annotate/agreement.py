"""Measures of agreement between annotators: on labels corrected for chance, on spans their F.

How many spans there might have been is unknown, so agreement on spans cannot be corrected for chance; the F measure of
one annotator against the other is the same in both directions (Hripcsak and Rothschild 2005).

Tasks on which two annotators differ get more answers, so agreement over all answers would count such tasks several
times. Restrict the votes by `of_first` first.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations

from tagweave.annotate.record import Vote
from tagweave.annotate.settings import Rule
from tagweave.annotate.task import Answer
from tagweave.sources.agreement import nominal_alpha

Pair = tuple[str, str]


def of_first(votes: Iterable[Vote], rule: Rule) -> list[Vote]:
    """The answers of the annotators who were asked first."""
    return [vote for vote in votes if vote.slot is not None and vote.slot < rule.first]


def raw_agreement(votes: Iterable[Vote]) -> float | None:
    """The share of equal answers among all pairs of answers to the same task; `None` if there are no pairs."""
    pairs = [pair for each in _pairs(votes).values() for pair in each]
    return sum(one == other for one, other in pairs) / len(pairs) if pairs else None


def cohens_kappas(votes: Iterable[Vote]) -> dict[Pair, float | None]:
    """Cohen's kappa of every two annotators with a task in common, by their names in order; see `cohens_kappa`."""
    return {names: cohens_kappa(pairs) for names, pairs in sorted(_pairs(votes).items())}


def cohens_kappa(pairs: Sequence[tuple[Answer, Answer]]) -> float | None:
    """Agreement of two annotators corrected for chance, given each one's own distribution of answers (Cohen 1960).

    kappa = (observed - expected) / (1 - expected); `None` if both give the same single answer to everything, or there
    are no answers.
    """
    if not pairs:
        return None
    observed = sum(one == other for one, other in pairs) / len(pairs)
    first, second = (Counter(answers) for answers in zip(*pairs, strict=True))
    expected = sum(number * second[answer] for answer, number in first.items()) / len(pairs) ** 2
    return (observed - expected) / (1 - expected) if expected < 1 else None


def krippendorffs_alpha(votes: Iterable[Vote]) -> float | None:
    """Agreement of any number of annotators corrected for chance; answers may be missing (Krippendorff 1970).

    The level of measurement is nominal. `None` if no task has two answers, or all answers are the same.
    """
    by_task: dict[int, Counter[Answer]] = defaultdict(Counter)
    for vote in votes:
        by_task[vote.task][vote.answer] += 1
    compared = [counts for counts in by_task.values() if counts.total() > 1]
    agreeing = sum(sum(n * (n - 1) for n in counts.values()) / (counts.total() - 1) for counts in compared)
    return nominal_alpha(agreeing, Counter(answer for counts in compared for answer in counts.elements()).values())


def span_f(pairs: Iterable[tuple[Answer, Answer]]) -> float | None:
    """F of spans, boundaries and type, over pairs of answers that both say that everything is marked.

    F = 2 * spans of both / (spans of one + spans of the other); `None` without spans.
    """
    compared = [({*one.spans}, {*other.spans}) for one, other in pairs if one.is_complete and other.is_complete]
    total = sum(len(one) + len(other) for one, other in compared)
    return 2 * sum(len(one & other) for one, other in compared) / total if total else None


def span_fs(votes: Iterable[Vote]) -> dict[Pair, float | None]:
    """F of spans of every two annotators with a task in common, by their names in order; see `span_f`."""
    return {names: span_f(pairs) for names, pairs in sorted(_pairs(votes).items())}


def all_span_f(votes: Iterable[Vote]) -> float | None:
    """F of spans over all pairs of answers to the same task; see `span_f`."""
    return span_f(pair for pairs in _pairs(votes).values() for pair in pairs)


def _pairs(votes: Iterable[Vote]) -> dict[Pair, list[tuple[Answer, Answer]]]:
    """The answers of every two annotators to the tasks they have in common."""
    by_task: dict[int, list[tuple[str, Answer]]] = defaultdict(list)
    for vote in votes:
        by_task[vote.task].append((vote.annotator, vote.answer))
    pairs: dict[Pair, list[tuple[Answer, Answer]]] = defaultdict(list)
    for answers in by_task.values():
        for (one, first), (other, second) in combinations(sorted(answers, key=lambda answer: answer[0]), 2):
            pairs[one, other].append((first, second))
    return pairs
