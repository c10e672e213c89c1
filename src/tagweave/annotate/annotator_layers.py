"""What each annotator said, as a layer of labels for each, by name: sources of annotation, agreed on or not.

An answer that stands is evidence for its focus alone; the rest of the layer is unknown. Spans become labels in IOB2:
tokens outside of them are `O` if everything was marked, and unknown otherwise. The answers of planted gold are a layer
`gold`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from tagweave.annotate.export import span_labels, with_common_columns
from tagweave.annotate.record import Judgement
from tagweave.annotate.store import Store
from tagweave.annotate.task import AnnotationTask, Answer, Kind
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.errors import CorpusError
from tagweave.corpus.formats import columns
from tagweave.corpus.sentence import Candidates, Layer, Location, Sentence
from tagweave.corpus.spans import Span
from tagweave.corpus.text_file import written

GOLD = "gold"
"""The layer of planted gold."""


def said_by_each(judged: Iterable[Judgement], guideline: str) -> Corpus:
    """The sentences of which somebody said something, with a layer for each annotator.

    Blanks in names become underscores.

    Args:
        judged: judgements by number, withdrawn ones included.
        guideline: that of the tasks.

    Raises:
        CorpusError: two annotators, or one and the planted gold, would get the same name.
    """
    last = {(each.task.id, each.annotator): each for each in judged if each.task.task.guideline == guideline}
    sentences: dict[tuple[Location, tuple[str, ...]], tuple[Sentence, dict[str, list[Candidates]]]] = {}
    rejected: dict[tuple[Location, tuple[str, ...]], dict[str, tuple[Span, ...]]] = defaultdict(dict)
    names: dict[str, str] = {}
    for each in (each for each in last.values() if not each.withdrawn):
        task = each.task.task
        layers = sentences.setdefault(each.task.sentence_key, (task.sentence, {}))[1]
        for annotator, answer in ((each.annotator, each.answer), *([(GOLD, task.gold)] if task.gold else [])):
            name = "_".join(annotator.split())
            if names.setdefault(name, annotator) != annotator or (name == GOLD and each.annotator == annotator):
                raise CorpusError(f"an annotator {annotator!r}", f"a name that is not written {name!r} for another")
            layer = layers.setdefault(name, [None] * len(task.sentence))
            for position, candidates in enumerate(_labels(task, answer), task.start):
                layer[position] = candidates or layer[position]
            own = rejected[each.task.sentence_key]
            own[name] = (*own.get(name, ()), *answer.rejected)
    ordered = sorted(sentences.items(), key=lambda each: each[1][0].location)
    found = (_with_all(sentence, layers, sorted(names), rejected[key]) for key, (sentence, layers) in ordered)
    return Corpus(tuple(found), guideline)


def _labels(task: AnnotationTask, answer: Answer) -> Layer:
    """What an answer says of the tokens of its focus; nothing if it is no label."""
    if answer.kind is Kind.SPANS:
        return span_labels(task, answer.spans, answer.is_complete)
    return ((answer.label,),) if answer.label and task.stop == task.start + 1 else ()


def _with_all(
    sentence: Sentence,
    layers: dict[str, list[Candidates]],
    names: Iterable[str],
    rejected: dict[str, tuple[Span, ...]],
) -> Sentence:
    unknown: list[Candidates] = [None] * len(sentence)
    every = {name: tuple(layers.get(name, unknown)) for name in names}
    return replace(sentence, layers=every, rejected={name: spans for name, spans in rejected.items() if spans})


def write_by_annotator(store: Store, path: str, guideline: str) -> int:
    """Write a column file with a column for each annotator, and return its number of sentences; no file if it is 0.

    Raises:
        CorpusError: names or labels that column files cannot hold.
        OSError: the file cannot be written.
    """
    corpus = said_by_each(store.judgements(), guideline)
    if len(corpus):
        with written(path) as stream:
            columns.write(with_common_columns(corpus.sentences, [*corpus[0].layers]), stream)
    return len(corpus)
