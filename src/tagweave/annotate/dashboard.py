"""The curator's dashboard: people, agreement, progress and models; invitations and notes of labels.

Agreement on labels is corrected for chance. How many spans there might have been is unknown, so agreement on spans is
the F measure of one annotator against the other (Hripcsak and Rothschild 2005). Tasks on which two annotators differ
get more answers, so votes are restricted to the first annotators (`of_first`).
"""

from __future__ import annotations

import math
import secrets
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, combinations
from typing import NamedTuple

from starlette.responses import Response

from tagweave.annotate.page_request import FieldError, PageRequest
from tagweave.annotate.rules import Rule
from tagweave.annotate.store import ModelVersion, Vote
from tagweave.annotate.task import Answer, Asks, Purpose, Status
from tagweave.models.versions import is_correction
from tagweave.sources.agreement import nominal_alpha

AnswerPair = tuple[Answer, Answer]
Measure = Callable[[Sequence[AnswerPair]], float | None]


def of_first(votes: Iterable[Vote], rule: Rule) -> list[Vote]:
    """Return the answers of the annotators who were asked first."""
    return [vote for vote in votes if vote.slot is not None and vote.slot < rule.first]


def of_all(votes: Iterable[Vote], measure: Measure) -> float | None:
    """Return the measure of all pairs of answers to the same task."""
    return measure([*_pairs(votes)])


def raw_agreement(pairs: Sequence[AnswerPair]) -> float | None:
    """Return the share of equal pairs; `None` without pairs."""
    return sum(one == other for one, other in pairs) / len(pairs) if pairs else None


def krippendorffs_alpha(votes: Iterable[Vote]) -> float | None:
    """Return the agreement of any number of annotators corrected for chance (Krippendorff 1970), at nominal level.

    Answers may be missing. `None` if no task has two answers, or all answers are the same.
    """
    by_task: dict[int, Counter[Answer]] = defaultdict(Counter)
    for vote in votes:
        by_task[vote.task][vote.answer] += 1
    compared = [counts for counts in by_task.values() if counts.total() > 1]
    agreeing = sum(sum(n * (n - 1) for n in counts.values()) / (counts.total() - 1) for counts in compared)
    return nominal_alpha(agreeing, Counter(answer for counts in compared for answer in counts.elements()).values())


def span_f(pairs: Sequence[AnswerPair]) -> float | None:
    """Return F of spans, boundaries and type, over pairs of answers that both say that everything is marked.

    F = 2 * spans of both / (spans of one + spans of the other); `None` without spans.
    """
    compared = [({*one.spans}, {*other.spans}) for one, other in pairs if one.is_complete and other.is_complete]
    total = sum(len(one) + len(other) for one, other in compared)
    return 2 * sum(len(one & other) for one, other in compared) / total if total else None


def _pairs(votes: Iterable[Vote]) -> Iterator[AnswerPair]:
    """Yield the answers of every two annotators to a task."""
    by_task: dict[int, list[Answer]] = defaultdict(list)
    for vote in votes:
        by_task[vote.task].append(vote.answer)
    return (pair for answers in by_task.values() for pair in combinations(answers, 2))


WIDTH, HEIGHT = 460, 230
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 30, 30, 44  # room for numbers of seven characters, and for what they are
_TICKS = 6  # at most, plus one where the ends are rounded
_STEPS = (1.0, 2.0, 5.0, 10.0)
_SHORTEST = 0.01  # length of an axis, in per cent or minutes


Ticks = tuple[tuple[float, str], ...]
"""Places on an axis, and the numbers there."""


class Plot(NamedTuple):
    """The frame, the models with their coordinates x and y, and the ticks of both axes (accuracies in per cent)."""

    left: float
    right: float
    top: float
    bottom: float
    points: tuple[tuple[float, float, ModelVersion], ...]
    minutes: Ticks
    accuracies: Ticks


def plot(models: Sequence[ModelVersion]) -> Plot | None:
    """Lay out a plot of the models that have an accuracy, in units of an SVG's view box; `None` if none has."""
    measured = sorted(
        ((model.minutes, 100 * model.accuracy, model) for model in models if model.accuracy is not None),
        key=lambda point: (point[0], point[2].version),
    )
    if not measured:
        return None
    left, right, top, bottom = _LEFT, WIDTH - _RIGHT, _TOP, HEIGHT - _BOTTOM
    across, minutes = _axis(0.0, max(x for x, _, _ in measured), left, right)
    up, accuracies = _axis(min(y for _, y, _ in measured), max(y for _, y, _ in measured), bottom, top)
    points = tuple((across(x), up(y), model) for x, y, model in measured)
    return Plot(left, right, top, bottom, points, minutes, accuracies)


def _axis(low: float, high: float, begin: float, end: float) -> tuple[Callable[[float], float], Ticks]:
    """Return where numbers are drawn between `begin` and `end`, and ticks in round steps around `low` .. `high`."""
    if high - low < _SHORTEST:  # one model, or several of the same accuracy
        low, high = max(0.0, low - 0.5), high + 0.5
    rough = (high - low) / _TICKS
    unit = 10.0 ** math.floor(math.log10(rough))
    step = unit * next(multiple for multiple in _STEPS if multiple * unit >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step

    def at(value: float) -> float:
        return round(begin + (value - first) / (last - first) * (end - begin), 1)

    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    values = (first + k * step for k in range(round((last - first) / step) + 1))
    return at, tuple((at(value), f"{value:.{decimals}f}") for value in values)


_INVITATION = 7 * 24 * 3600.0  # seconds


def show(request: PageRequest, message: str = "", link: str = "", noted: str = "") -> Response:
    """Show the dashboard, computed from the store; the notes of the guideline `noted` are unfolded."""
    store = request.site.store
    # the first model learned from no judgement, whatever numbers its name ends with
    models = [
        model
        for model in store.models()
        if model.accuracy is not None or not model.judgement or not is_correction(model.path)
    ]
    counts = store.counts()
    votes, *of_spans = (of_first(store.votes(Purpose.REAL, asks), store.settings.rule) for asks in Asks)
    return request.page(
        "dashboard",
        message=message,
        link=link,
        people=[(annotator, store.progress(annotator.id)) for annotator in store.annotators()],
        counts=counts,
        purposes=[purpose for purpose in Purpose if any(purpose is counted for counted, _ in counts)],
        statuses=list(Status),
        models=models,
        plot=plot(models),
        progress=request.site.progress,
        width=WIDTH,
        height=HEIGHT,
        guidelines={name: store.labels(name) for name in store.guidelines()},
        noted=noted,
        span_f=of_all(chain(*of_spans), span_f),
        raw=of_all(votes, raw_agreement),
        alpha=krippendorffs_alpha(votes),
    )


def invite(request: PageRequest) -> Response:
    """Show a one-time link, for a new person or, with the field `again`, for one who has forgotten their password."""
    token = secrets.token_urlsafe(24)
    store = request.site.store
    fields = request.fields
    if not fields["again"]:
        try:
            person = store.add_annotator(fields["name"], fields["role"])
        except ValueError as error:
            raise FieldError(str(error)) from error
    elif (annotator := store.annotator(fields.number("again"))) is None:
        raise FieldError("found nobody of this number")
    else:
        person = annotator
    store.invite(person.id, token, _INVITATION)
    link = f"{request.site.address}/invited?token={token}"
    return show(request, f"{person.name} can use the link below once, within a week.", link)


def note(request: PageRequest) -> Response:
    """Change the note of a label."""
    guideline, label = request.fields["guideline"], request.fields["label"]
    if label not in request.site.store.labels(guideline):
        raise FieldError("found a label that the guideline does not have")
    request.site.store.change_note(guideline, label, request.fields["note"])
    return show(request, f"The note of {label} was changed.", noted=guideline)
