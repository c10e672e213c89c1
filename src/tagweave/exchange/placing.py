"""Sentences at the places in documents that they had before something forgot them, such as a store of answers."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import replace

from tagweave.corpus.errors import CorpusError
from tagweave.corpus.sentence import Sentence


def placed(sentences: Iterable[Sentence], texts: Iterable[Sentence]) -> Iterator[Sentence]:
    """The sentences of texts, each with the layers of the sentence of the same tokens; those without one know nothing.

    Of several with the same tokens, the first belongs to the first.

    Raises:
        CorpusError: a sentence that is not in the texts.
    """
    waiting: defaultdict[tuple[str, ...], deque[Sentence]] = defaultdict(deque)
    for each in sentences:
        waiting[each.forms].append(each)
    for text in texts:
        same = waiting[text.forms]
        yield replace(same.popleft() if same else Sentence(text.forms), comments=text.comments, location=text.location)
    for same in waiting.values():
        for each in same:
            raise CorpusError(f"the sentence {' '.join(each.forms)!r}", "one of the texts", *each.location)
