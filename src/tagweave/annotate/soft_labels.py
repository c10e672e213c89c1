"""What is probably right by all answers to a task, as soft labels: each label with its probability.

How reliable annotators are is learned from all answers, whichever rule asked for them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tagweave.annotate.aggregation import Status
from tagweave.annotate.export import add_known, in_sentences, settled_labels, write_columns, write_words
from tagweave.annotate.store import Store
from tagweave.annotate.task import NOT_A_WORD, Asks, Kind
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats import columns, conllu
from tagweave.corpus.sentence import Candidates, Sentence
from tagweave.corpus.soft import with_probabilities

WRITERS: dict[str, Callable[[Corpus, str, str], int]] = {
    conllu.FORMAT.name: write_words,
    columns.FORMAT.name: write_columns,
}
"""The formats that can hold them."""


def probable(store: Store, guideline: str) -> Corpus:
    """Sentences of words, with probabilities of labels wherever somebody gave one, agreed on or not.

    What a curator decided is certain, and so are spans that were agreed on. A word that is probably none has no label.
    """
    by_sentence: dict[Any, tuple[Sentence, dict[int, Candidates]]] = {}
    for asked, found in store.posteriors(guideline):
        labels = [(str(answer.label), p) for answer, p in found.ranked() if answer.kind is Kind.LABEL]
        is_word = asked.task.stop == asked.task.start + 1 and found.best[0] != NOT_A_WORD
        if labels and is_word and asked.status is not Status.ADJUDICATED:
            known = by_sentence.setdefault(asked.sentence_key, (asked.task.sentence, {}))[1]
            known[asked.task.start] = with_probabilities([name for name, _ in labels], [p for _, p in labels])
    for asked, layer, rejected in settled_labels(store, guideline):
        if asked.status is Status.ADJUDICATED or asked.task.asks is Asks.SPANS:
            add_known(by_sentence, asked, layer, rejected)
    return in_sentences(by_sentence, guideline)


def write_soft(store: Store, path: str, form: str, guideline: str) -> int:
    """Write a file in one of the formats `WRITERS`; its number of sentences. No file if it is 0. Raises as `write`."""
    return WRITERS[form](probable(store, guideline), path, guideline)
