"""Export of answers: as corpora to train on, and as single judgements to study.

An answer that was agreed on or decided is evidence for its own position; the rest of the sentence stays unknown, or as
it was when the sentence was imported. If annotators never agreed, all labels that they chose may become candidates.

Spans become labels in IOB2, and replace what was known of the focus of their task: tokens outside of them are `O` if
everything was marked, and unknown otherwise. Of a task that was dropped, spans that were agreed on are exported, and
only the tokens of disputed ones stay open. Where not everything was marked, rejected proposals are rejected spans of
the sentence.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain, groupby
from typing import IO, Any

import numpy as np

from tagweave.annotate.aggregation import Status, span_votes
from tagweave.annotate.questions import Asked
from tagweave.annotate.record import Judgement, standing
from tagweave.annotate.settings import Rule
from tagweave.annotate.store import Store
from tagweave.annotate.task import AnnotationTask, Answer, Asks, Candidate, Kind
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats import columns, conllu, kytea
from tagweave.corpus.formats.kytea import SEGMENTATION, segmentation_layer
from tagweave.corpus.sentence import Candidates, Layer, Sentence
from tagweave.corpus.spans import OUTSIDE, Span, labels_of
from tagweave.corpus.text_file import written
from tagweave.harvest.annotation import word_marks


def labelled(store: Store, guideline: str, ambiguous: bool = False) -> Corpus:
    """Sentences of words with the labels or spans that were agreed on, in the layer of the guideline.

    Args:
        store: the answers.
        guideline: that of the tasks.
        ambiguous: whether dropped tasks allow the labels that annotators chose, two or more.
    """
    by_sentence: dict[Any, tuple[Sentence, dict[int, Candidates]]] = {}
    for asked, labels, rejected in chain(
        _dropped_labels(store, guideline, ambiguous), settled_labels(store, guideline)
    ):
        add_known(by_sentence, asked, labels, rejected)
    return in_sentences(by_sentence, guideline)


def add_known(
    by_sentence: dict[Any, tuple[Sentence, dict[int, Candidates]]],
    asked: Asked,
    labels: Layer,
    rejected: tuple[Span, ...],
) -> None:
    """Add what an answer says to what is known of its sentence; spans that were rejected before it no longer are."""
    task = asked.task
    sentence, known = by_sentence.get(asked.sentence_key, (task.sentence, {}))
    if task.asks is Asks.SPANS:
        sentence = replace(sentence, rejected={**sentence.rejected, task.guideline: rejected})
    by_sentence[asked.sentence_key] = sentence, known | dict(enumerate(labels, task.start))


def in_sentences(by_sentence: Mapping[Any, tuple[Sentence, dict[int, Candidates]]], guideline: str) -> Corpus:
    """Sentences with what is known of their positions, by location."""
    ordered = sorted(by_sentence.values(), key=lambda each: each[0].location)
    return Corpus(tuple(_with_labels(sentence, guideline, known) for sentence, known in ordered), guideline)


def segmented(store: Store, guideline: str) -> Corpus:
    """Sentences of characters with the words that were marked, and with tags if labels were asked for.

    Overlapping words are left out. So are spans that are not words: boundaries cannot express them.
    """
    words = [
        each for each in store.outcomes(guideline) if each.outcome and each.outcome.kind in (Kind.WORD, Kind.LABEL)
    ]
    groups = groupby(words, key=lambda each: each.sentence_key)  # they come in the order of sentences
    return Corpus(tuple(_with_words(list(group)) for _, group in groups), guideline, "character")


def judgements(judged: Iterable[Judgement]) -> Iterator[str]:
    """Judgements as lines of JSON: sentence, span, annotator, answer, times, and the candidates shown."""
    for each in judged:
        task, answer = each.task.task, each.answer
        line = {
            "id": each.id,
            "task": each.task.id,
            "path": task.sentence.location.path,
            "line": task.sentence.location.line,
            "forms": task.sentence.forms,
            "start": task.start,
            "stop": task.stop,
            "guideline": task.guideline,
            "purpose": task.purpose,
            "asks": task.asks,
            "gold": task.gold and _answer_fields(task.gold),
            "status": each.task.status,
            "outcome": each.task.outcome and _answer_fields(each.task.outcome),
            "annotator": each.annotator,
            "slot": each.slot,
            "revision": each.revision,
            "withdrawn": each.withdrawn,
            **_answer_fields(answer),
            "candidates": [_candidate_fields(shown) for shown in each.candidates],
            "model": each.model,
            "started": _time(each.started),
            "ended": _time(each.ended),
        }
        yield json.dumps(line, ensure_ascii=False)


def _answer_fields(answer: Answer) -> dict[str, Any]:
    if answer.kind is not Kind.SPANS:
        return {"kind": answer.kind, "label": answer.label}
    spans, rejected = ([each._asdict() for each in some] for some in (answer.spans, answer.rejected))
    known = {"kind": answer.kind, "spans": spans, "complete": answer.is_complete}
    return {**known, "rejected": rejected} if rejected else known


def _candidate_fields(shown: Candidate) -> dict[str, Any]:
    return {name: value for name, value in shown._asdict().items() if value is not None}


def write(store: Store, path: str, form: str, guideline: str, ambiguous: bool = False) -> int:
    """Write a file, completely or not at all, and return its number of sentences or judgements; no file if it is 0.

    Args:
        store: the answers.
        path: `-` is standard output.
        form: one of `FORMATS`; judgements are those of all guidelines.
        guideline: that of the tasks.
        ambiguous: as for `labelled`.

    Raises:
        ValueError: an unknown format.
        CorpusError: KyTea's format for sentences of words, or labels that the format cannot express.
        OSError: the file cannot be written.
    """
    if form not in FORMATS:
        raise ValueError(f"unknown format {form!r}, expected one of {', '.join(FORMATS)}")
    return FORMATS[form](store, path, guideline, ambiguous)


def _write_words(store: Store, path: str, guideline: str, ambiguous: bool) -> int:
    return write_words(labelled(store, guideline, ambiguous), path, guideline)


def write_words(corpus: Corpus, path: str, guideline: str) -> int:
    """Write CoNLL-U; the number of sentences. No file if it is 0. Raises as `write`."""
    xpos = conllu.XPOS if guideline == conllu.UPOS else guideline
    kept = corpus.map(lambda each: each.with_layers_of([conllu.UPOS, xpos]))
    return _write_corpus(kept, path, lambda stream: conllu.write(_commented(kept), stream, xpos=xpos))


def _write_columns(store: Store, path: str, guideline: str, ambiguous: bool) -> int:
    return write_columns(labelled(store, guideline, ambiguous), path, guideline)


def write_columns(corpus: Corpus, path: str, guideline: str) -> int:
    """Write columns; the number of sentences. No file if it is 0. Raises as `write`."""
    return _write_corpus(
        corpus, path, lambda stream: columns.write(with_common_columns(corpus.sentences, [guideline]), stream)
    )


def with_common_columns(sentences: Sequence[Sentence], layers: Sequence[str]) -> Iterator[Sentence]:
    """The sentences with these layers of labels alone, and with the columns that all of them have."""
    every = [sentence.columns for sentence in sentences]
    common = [name for name in every[0] if all(name in each for each in every) and name not in layers]
    for sentence in sentences:
        kept = {name: sentence.columns[name] for name in common}
        yield replace(sentence.with_layers_of(layers), columns=kept, comments=())


def _write_characters(store: Store, path: str, guideline: str, ambiguous: bool) -> int:
    corpus = segmented(store, guideline)
    return _write_corpus(corpus, path, lambda stream: kytea.write(corpus, stream))


def _write_corpus(corpus: Corpus, path: str, write_to: Callable[[IO[str]], None]) -> int:
    if len(corpus):
        with written(path) as stream:
            write_to(stream)
    return len(corpus)


def _write_judgements(store: Store, path: str, guideline: str, ambiguous: bool) -> int:
    lines = judgements(store.judgements())
    first = next(lines, None)
    if first is None:
        return 0
    with written(path) as stream:
        return sum(stream.write(line + "\n") > 0 for line in chain([first], lines))


FORMATS = {
    conllu.FORMAT.name: _write_words,
    columns.FORMAT.name: _write_columns,
    kytea.FORMAT.name: _write_characters,
    "jsonl": _write_judgements,
}
"""Words with labels (CoNLL-U has candidates as `AltXpos`), characters with boundaries, single judgements."""


def _commented(corpus: Corpus) -> Iterator[Sentence]:
    """The sentences, the first with a comment that names the guideline for `tagweave.corpus.load`.

    There is none if the sentences also have UPOS, whose guideline the comment would name.
    """
    has_upos = any(conllu.UPOS in sentence.layers for sentence in corpus)
    for number, sentence in enumerate(corpus):
        is_first = number == 0 and not has_upos and corpus.guideline not in conllu.FORMAT.layers
        yield replace(sentence, comments=(f"# guideline = {corpus.guideline}",)) if is_first else sentence


def settled_labels(store: Store, guideline: str) -> Iterator[tuple[Asked, Layer, tuple[Span, ...]]]:
    """Tasks whose answer is known, the labels of the tokens of their focus, and the spans that it rejects."""
    for asked in store.outcomes(guideline):
        task, outcome = asked.task, asked.outcome
        if outcome and outcome.kind is Kind.SPANS:
            yield asked, span_labels(task, outcome.spans, outcome.is_complete), outcome.rejected
        elif outcome and outcome.label and task.stop == task.start + 1:
            yield asked, ((outcome.label,),), ()


def _dropped_labels(store: Store, guideline: str, ambiguous: bool) -> Iterator[tuple[Asked, Layer, tuple[Span, ...]]]:
    """Dropped tasks that tell something, the labels of the tokens of their focus, and the spans that most reject."""
    for asked in chain.from_iterable(store.task_pages(Status.DROPPED)):
        task = asked.task
        if task.guideline != guideline:
            continue
        if task.asks is Asks.SPANS:
            judged = standing(store.judgements_of(asked.id))
            labels, rejected = _voted_labels(task, judged, store.settings.rule, ambiguous)
            if labels or rejected:
                yield asked, labels, rejected
        elif ambiguous and task.stop == task.start + 1 and len(names := _labels(store, asked.id)) > 1:
            yield asked, (names,), ()


def _voted_labels(
    task: AnnotationTask, judged: Iterable[Judgement], rule: Rule, ambiguous: bool
) -> tuple[Layer, tuple[Span, ...]]:
    """The labels of a dropped task of spans: what is agreed on, and in place of disputed spans what people said there.

    No labels if nothing is agreed on and disputes are not exported. Beside them, unless all is marked, the spans that
    most reject.
    """
    answers = [each.answer for each in judged]
    votes = span_votes(answers, rule.majority)
    labels = [*span_labels(task, votes.agreed, votes.is_complete)]
    given = [span_labels(task, each.spans, each.is_complete) for each in answers if each.kind is Kind.SPANS]
    for span in votes.disputed:
        for at in range(span.start - task.start, (span.stop or 0) - task.start):
            labels[at] = _union(each[at] for each in given) if ambiguous else None
    return tuple(labels) if any(labels) else (), () if votes.is_complete else votes.rejected


def span_labels(task: AnnotationTask, spans: Iterable[Span], is_complete: bool) -> Layer:
    """The labels in IOB2 of the tokens of a focus."""
    layer = labels_of([(span,) for span in spans], len(task.sentence), (OUTSIDE,) if is_complete else None)
    return layer[task.start : task.stop]


def _union(positions: Iterable[Candidates]) -> Candidates:
    """All candidates of a position; unknown if one of them is."""
    names: dict[str, None] = {}
    for candidates in positions:
        if candidates is None:
            return None
        names |= dict.fromkeys(candidates)
    return tuple(names)


def _labels(store: Store, task: int) -> tuple[str, ...]:
    """The different labels that annotators gave, in order; none if somebody gave another kind of answer."""
    answers = [each.answer for each in standing(store.judgements_of(task))]
    labels = tuple(dict.fromkeys(answer.label for answer in answers if answer.label))
    return labels if all(answer.kind is Kind.LABEL for answer in answers) else ()


def _with_labels(sentence: Sentence, guideline: str, known: dict[int, Candidates]) -> Sentence:
    before = sentence.layers.get(guideline, (None,) * len(sentence))
    return sentence.with_layer(guideline, (known.get(t, candidates) for t, candidates in enumerate(before)))


def _with_words(words: list[Asked]) -> Sentence:
    sentence, size = words[0].task.sentence, len(words[0].task.sentence)
    covered = np.zeros(size, np.int64)
    for each in words:
        covered[each.task.start : each.task.stop] += 1
    alone = [each for each in words if covered[each.task.start : each.task.stop].max() == 1]
    start, stop = (np.array([bound(each) for each in alone], np.int64) for bound in (_start, _stop))
    layers = {**sentence.layers, SEGMENTATION: segmentation_layer(word_marks(size, start, stop)[:-1])}
    tags: dict[int, Candidates] = defaultdict(lambda: None)
    for each in alone:
        if each.outcome and each.outcome.label:
            tags.update(dict.fromkeys(range(each.task.start, each.task.stop), (each.outcome.label,)))
    if tags:
        layers[kytea.TAG] = tuple(tags[t] for t in range(size))
    return replace(sentence, layers=layers)


def _start(asked: Asked) -> int:
    return asked.task.start


def _stop(asked: Asked) -> int:
    return asked.task.stop


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
