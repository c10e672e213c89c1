"""Words of a list in their contexts: each occurrence is marked as a word or not, or skipped (tsuboi-2008, Figure 2)."""

from __future__ import annotations

from starlette.responses import Response

from tagweave.annotate.forms import FieldError, Fields
from tagweave.annotate.kwic import ORDERS, Occurrence
from tagweave.annotate.page_request import PageRequest
from tagweave.annotate.pages import marking, uncertain
from tagweave.annotate.pages.marking import CONTEXT, NOTHING, SIZE, Marked, Row
from tagweave.annotate.site import WordList
from tagweave.annotate.task import AnnotationTask, Purpose
from tagweave.corpus.sentence import Location, Sentence

_NEIGHBOURS = 100  # words of the list offered before and after the current one
_ORDER_NAMES = dict(zip(ORDERS, ("what follows", "what precedes", "the text"), strict=True))


def show(request: PageRequest, marked: Marked = NOTHING) -> Response:
    """A page of the occurrences of a word."""
    listed, word, order, first = _listed(request), *_chosen(request)
    page = listed.concordance.page(word, order, first, SIZE, CONTEXT)
    known = request.site.store.look_up([_task(listed, each) for each in page.occurrences])
    rows = [
        Row(each.before, word, each.after, marking.answer_of(asked), {"sentence": each.sentence, "start": each.start})
        for each, asked in zip(page.occurrences, known, strict=True)
    ]
    number = listed.words.index(word)
    near = listed.words[max(0, number - _NEIGHBOURS) : number + _NEIGHBOURS + 1]
    return marking.page(
        request,
        "concordance",
        rows,
        marked,
        {"word": word, "order": order, "first": first},
        counts=dict(zip(near, listed.concordance.counts(near).tolist(), strict=True)),
        is_whole=len(near) == len(listed.words),
        before=listed.words[number - 1] if number else None,
        after=listed.words[number + 1] if number + 1 < len(listed.words) else None,
        orders=_ORDER_NAMES,
        total=page.total,
        uncertain=uncertain.is_any(request),
    )


def mark(request: PageRequest) -> Response:
    """Mark one occurrence, or all on the page that have no mark yet."""
    listed, word, order, first = _listed(request), *_chosen(request)
    if request.fields["all"]:
        occurrences = listed.concordance.page(word, order, first, SIZE, 0).occurrences
    else:
        occurrences = (_occurrence(listed, request.fields, word),)
    return show(request, marking.mark(request, [_task(listed, each) for each in occurrences]))


def undo(request: PageRequest) -> Response:
    """Undo the last step."""
    _chosen(request)  # refuses a form that is not ours before anything is undone
    return show(request, marking.undo(request))


def start(request: PageRequest) -> Response:
    """Show the page."""
    return show(request)


def _listed(request: PageRequest) -> WordList:
    assert request.site.words is not None  # noqa: S101  # otherwise there is no such page
    return request.site.words


def _chosen(request: PageRequest) -> tuple[str, str, int]:
    """The word, the order, and the number of the first occurrence on the page."""
    words = _listed(request).words
    word, order = (
        request.fields["find"].strip() or request.fields["word"] or words[0],
        request.fields["order"] or ORDERS[0],
    )
    if word not in words or order not in ORDERS:
        raise FieldError(f"found the word {word[:50]!r} in the order {order[:50]!r}, expected those that are listed")
    return word, order, request.fields.number("first", 0)


def _occurrence(listed: WordList, fields: Fields, word: str) -> Occurrence:
    """The occurrence that a form names.

    Raises:
        FieldError: the word does not occur there.
    """
    sentence, start = fields.number("sentence"), fields.number("start")
    stop = start + len(word)
    if sentence >= len(listed.concordance) or listed.concordance.sentence(sentence)[start:stop] != word:
        raise FieldError(f"found no {word!r} at this place")
    return Occurrence(sentence, start, stop, "", "")


def _task(listed: WordList, at: Occurrence) -> AnnotationTask:
    """The task of an occurrence; lines of the text are numbered from 1."""
    text = listed.concordance.sentence(at.sentence)
    sentence = Sentence(tuple(text), location=Location(listed.path, at.sentence + 1))
    return AnnotationTask(sentence, at.start, at.stop, listed.guideline, purpose=Purpose.CONCORDANCE)
