"""Words of a list in their contexts: each occurrence is a word, or not, or is skipped (tsuboi-2008, Figure 2)."""

from __future__ import annotations

from starlette.responses import Response

from tagweave.annotate.forms import FieldError, Fields
from tagweave.annotate.kwic import ORDERS, Occurrence
from tagweave.annotate.pages import doubtful, marking
from tagweave.annotate.pages.marking import CONTEXT, NOTHING, SIZE, Marked, Row
from tagweave.annotate.site import WordList
from tagweave.annotate.task import Purpose, Task
from tagweave.annotate.visit import Visit
from tagweave.corpus.sentence import Location, Sentence

_NEIGHBOURS = 100  # words of the list that are offered on either side of one
_SAID = dict(zip(ORDERS, ("what follows", "what precedes", "the text"), strict=True))


def show(visit: Visit, marked: Marked = NOTHING) -> Response:
    """One page of the occurrences of one word."""
    listed, word, order, first = _listed(visit), *_chosen(visit)
    page = listed.concordance.page(word, order, first, SIZE, CONTEXT)
    known = visit.site.store.found([_task(listed, each) for each in page.occurrences])
    rows = [
        Row(each.before, word, each.after, marking.answer_of(found), {"sentence": each.sentence, "start": each.start})
        for each, found in zip(page.occurrences, known, strict=True)
    ]
    number = listed.words.index(word)
    near = listed.words[max(0, number - _NEIGHBOURS) : number + _NEIGHBOURS + 1]
    return marking.page(
        visit,
        "concordance",
        rows,
        marked,
        {"word": word, "order": order, "first": first},
        counts=dict(zip(near, listed.concordance.counts(near).tolist(), strict=True)),
        is_whole=len(near) == len(listed.words),
        before=listed.words[number - 1] if number else None,
        after=listed.words[number + 1] if number + 1 < len(listed.words) else None,
        orders=_SAID,
        total=page.total,
        doubtful=doubtful.is_any(visit),
    )


def mark(visit: Visit) -> Response:
    """Mark one occurrence, or all that are visible and have no mark yet."""
    listed, word, order, first = _listed(visit), *_chosen(visit)
    if visit.fields["all"]:
        occurrences = listed.concordance.page(word, order, first, SIZE, 0).occurrences
    else:
        occurrences = (_occurrence(listed, visit.fields, word),)
    return show(visit, marking.mark(visit, [_task(listed, each) for each in occurrences]))


def undo(visit: Visit) -> Response:
    """Take the last step back."""
    _chosen(visit)  # what is no form of ours is refused before anything is taken back
    return show(visit, marking.undo(visit))


def start(visit: Visit) -> Response:
    """To the page."""
    return show(visit)


def _listed(visit: Visit) -> WordList:
    assert visit.site.words is not None  # noqa: S101  # else there is no such page
    return visit.site.words


def _chosen(visit: Visit) -> tuple[str, str, int]:
    """Word, order, and the number of the first occurrence of the page."""
    words = _listed(visit).words
    word, order = visit.fields["find"].strip() or visit.fields["word"] or words[0], visit.fields["order"] or ORDERS[0]
    if word not in words or order not in ORDERS:
        raise FieldError(f"found the word {word[:50]!r} in the order {order[:50]!r}, expected those that are listed")
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


def _task(listed: WordList, at: Occurrence) -> Task:
    """The task of an occurrence; lines of the text are counted from 1."""
    text = listed.concordance.sentence(at.sentence)
    sentence = Sentence(tuple(text), location=Location(listed.path, at.sentence + 1))
    return Task(sentence, at.start, at.stop, listed.guideline, purpose=Purpose.CONCORDANCE)
