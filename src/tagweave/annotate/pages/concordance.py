"""Words of a list in their contexts: each occurrence is a word, or not, or is skipped (tsuboi-2008, Figure 2)."""

from __future__ import annotations

from typing import NamedTuple

from starlette.responses import Response

from tagweave.annotate.aggregation import Status
from tagweave.annotate.forms import FieldError, Fields
from tagweave.annotate.kwic import ORDERS, Occurrence
from tagweave.annotate.questions import Asked
from tagweave.annotate.site import WordList
from tagweave.annotate.task import CANNOT_TELL, WORD, Answer, Purpose, Task
from tagweave.annotate.visit import Visit
from tagweave.corpus.sentence import Place, Sentence

_SIZE = 25
_CONTEXT = 20


class Row(NamedTuple):
    """An occurrence, and what stands of it."""

    occurrence: Occurrence
    answer: Answer | None


def show(visit: Visit, message: str = "", status: int = 200) -> Response:
    """One page of the occurrences of one word."""
    listed, word, order, first = _listed(visit), *_chosen(visit)
    page = listed.concordance.page(word, order, first, _SIZE, _CONTEXT)
    known = visit.site.store.found([_task(listed, each) for each in page.occurrences])
    rows = [Row(each, _answer(found)) for each, found in zip(page.occurrences, known, strict=True)]
    counts = dict(zip(listed.words, listed.concordance.counts(listed.words).tolist(), strict=True))
    where = {"word": word, "order": order, "first": first, "size": _SIZE, "total": page.total}
    return visit.page("concordance", status, message, rows=rows, counts=counts, orders=ORDERS, **where)


def mark(visit: Visit) -> Response:
    """Mark one occurrence, or all that are visible and have no mark yet."""
    listed, word, order, first = _listed(visit), *_chosen(visit)
    if visit.fields["all"]:
        page = listed.concordance.page(word, order, first, _SIZE, 0)
        every = [_task(listed, each) for each in page.occurrences]
        known = visit.site.store.found(every)
        tasks = [task for task, found in zip(every, known, strict=True) if _answer(found) is None]
        said = WORD
    else:
        said, tasks = visit.fields.answer(), [_task(listed, _occurrence(listed, visit.fields, word))]
    took = visit.site.store.mark(visit.me.id, tasks, said) if tasks else []
    lost = len(took) - sum(took)
    told = f"{sum(took)} marked: {said}." + (f" {lost} had been marked by somebody else." if lost else "")
    return show(visit, told)


def _listed(visit: Visit) -> WordList:
    assert visit.site.words is not None  # noqa: S101  # else there is no such page
    return visit.site.words


def _chosen(visit: Visit) -> tuple[str, str, int]:
    """Word, order, and the number of the first occurrence of the page."""
    words = _listed(visit).words
    word, order = visit.fields["word"] or words[0], visit.fields["order"] or ORDERS[0]
    if word not in words or order not in ORDERS:
        raise FieldError("found a word or an order that is not listed")
    return word, order, visit.fields.number("first", 0)


def _occurrence(listed: WordList, fields: Fields, word: str) -> Occurrence:
    """The occurrence that a form names.

    Raises:
        FieldError: the word is not there.
    """
    sentence, start = fields.number("sentence"), fields.number("start")
    stop = start + len(word)
    if sentence >= len(listed.concordance) or listed.concordance.sentence(sentence)[start:stop] != word:
        raise FieldError(f"found no {word!r} at this place")
    return Occurrence(sentence, start, stop, "", "")


def _answer(found: Asked | None) -> Answer | None:
    """What stands of an occurrence; who skips it drops it."""
    return CANNOT_TELL if found and found.status is Status.DROPPED else found and found.outcome


def _task(listed: WordList, at: Occurrence) -> Task:
    """The task of an occurrence; lines of the text are counted from 1."""
    text = listed.concordance.sentence(at.sentence)
    sentence = Sentence(tuple(text), place=Place(listed.path, at.sentence + 1))
    return Task(sentence, at.start, at.stop, listed.guideline, purpose=Purpose.CONCORDANCE)
