"""Export of answers: as corpora to train on, by annotator, and as single judgements to study.

An answer that was agreed on or decided is evidence for its own focus; the rest of the sentence stays unknown, or as it
was when the sentence was imported. Spans become labels in IOB2: tokens outside of them are `O` if everything was
marked, and unknown otherwise. Where spans may overlap, each of their types is a layer. Of a dropped task, spans that
were agreed on are exported, and disputed ones stay open.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain, groupby
from typing import IO, Any

import numpy as np

from tagweave.annotate.questions import Asked
from tagweave.annotate.rules import Rule, span_votes
from tagweave.annotate.store import Judgement, Store, standing
from tagweave.annotate.task import AnnotationTask, Answer, Asks, Kind, Status
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.files import written
from tagweave.corpus.formats import columns, conllu, kytea
from tagweave.corpus.formats.kytea import SEGMENTATION, segmentation_layer
from tagweave.corpus.sentence import Candidates, Layer, Location, Sentence
from tagweave.corpus.spans import OUTSIDE, Span, span_labels
from tagweave.errors import CorpusError
from tagweave.harvest.matching import word_marks
from tagweave.labels import OF_CHARACTERS

Told = tuple[Asked, str, Layer, tuple[Span, ...]]
"""A task, a layer, its labels of the tokens of the focus, and the spans that are rejected there."""
SentenceKey = tuple[Location, tuple[str, ...]]


def labelled(store: Store, guideline: str, ambiguous: bool = False) -> Corpus:
    """Return sentences of words with the labels or spans that were agreed on, in the layer of the guideline.

    Spans that may overlap are in layers of their types. With `ambiguous`, dropped tasks allow the labels that
    annotators chose, two or more.
    """
    told = [*_dropped_labels(store, guideline, ambiguous), *_settled_labels(store, guideline)]
    names = [guideline] if all(layer == guideline for _, layer, *_ in told) else [*store.labels(guideline)]
    return _known(names, told)


def _known(names: Sequence[str], told: Iterable[Told]) -> Corpus:
    """Return the sentences of tasks with the labels that their positions got, by location; the last one counts."""
    sentences: dict[SentenceKey, Sentence] = {}
    known_labels: dict[SentenceKey, dict[tuple[str, int], Candidates]] = defaultdict(dict)
    for asked, layer, labels, rejected in told:
        task = asked.task
        key = asked.sentence_key
        sentence = sentences.get(key, task.sentence)
        if task.of_spans:  # spans that were rejected before no longer are
            sentence = replace(sentence, rejected={**sentence.rejected, layer: rejected})
        sentences[key] = sentence
        known_labels[key] |= {(layer, at): candidates for at, candidates in enumerate(labels, task.start)}
    labelled_sentences = []
    for key, sentence in sorted(sentences.items(), key=lambda item: item[1].location):
        layers = {}
        for name in names:
            before = sentence.layers.get(name, (None,) * len(sentence))
            layers[name] = tuple(known_labels[key].get((name, t), candidates) for t, candidates in enumerate(before))
        labelled_sentences.append(replace(sentence, layers={**sentence.layers, **layers}))
    return Corpus(tuple(labelled_sentences), names[0])


def _layers(task: AnnotationTask, types: Iterable[str]) -> dict[str, str | None]:
    """Return the layers that answers to a task are in, with the type of the spans of each; `None`: any label."""
    return {kind: kind for kind in types} if task.asks is Asks.LAYERS else {task.guideline: None}


def _settled_labels(store: Store, guideline: str) -> Iterator[Told]:
    types = store.labels(guideline)
    for asked in store.outcomes(guideline):
        assert asked.outcome is not None  # noqa: S101
        for layer, kind in _layers(asked.task, types).items():
            labels = _labels(asked.task, asked.outcome, kind)
            if labels or asked.outcome.kind is Kind.SPANS:
                yield asked, layer, labels, _of_type(asked.outcome.rejected, kind)


def _dropped_labels(store: Store, guideline: str, ambiguous: bool) -> Iterator[Told]:
    types = store.labels(guideline)
    for asked in chain.from_iterable(store.task_pages(Status.DROPPED)):
        task = asked.task
        if task.guideline != guideline:
            continue
        answers = [judgement.answer for judgement in standing(store.judgements_of(asked.id))]
        if task.of_spans:
            for layer, kind in _layers(task, types).items():
                labels, rejected = _voted_labels(task, answers, store.settings.rule, ambiguous, kind)
                if labels or rejected:
                    yield asked, layer, labels, rejected
        elif ambiguous and task.stop == task.start + 1 and all(answer.kind is Kind.LABEL for answer in answers):
            names = tuple(dict.fromkeys(answer.label for answer in answers if answer.label))
            if len(names) > 1:
                yield asked, guideline, (names,), ()


def _voted_labels(
    task: AnnotationTask, answers: Sequence[Answer], rule: Rule, ambiguous: bool, kind: str | None
) -> tuple[Layer, tuple[Span, ...]]:
    """Return the labels of a dropped task of spans: those agreed on, and for disputed spans all that were given.

    With `kind`, only spans of this type count.

    There are no labels if nothing is agreed on and disputes are not exported. The spans that most annotators reject are
    returned too, unless everything is marked.
    """
    votes = span_votes(answers, rule.majority)
    labels = [*_span_labels(task, _of_type(votes.agreed, kind), votes.is_complete)]
    layers = [_labels(task, answer, kind) for answer in answers if answer.kind is Kind.SPANS]
    for span in _of_type(votes.disputed, kind):
        for at in range(span.start - task.start, (span.stop or 0) - task.start):
            candidates = [layer[at] for layer in layers]
            is_known = ambiguous and None not in candidates
            labels[at] = tuple(dict.fromkeys(name for some in candidates for name in some or ())) if is_known else None
    return tuple(labels) if any(labels) else (), () if votes.is_complete else _of_type(votes.rejected, kind)


def _of_type(spans: tuple[Span, ...], kind: str | None) -> tuple[Span, ...]:
    return tuple(span for span in spans if kind in (None, span.label))


def _labels(task: AnnotationTask, answer: Answer, kind: str | None = None) -> Layer:
    """Return the labels that an answer, as far as spans of a type, gives to the tokens of its focus; none if none."""
    if answer.kind is Kind.SPANS:
        return _span_labels(task, _of_type(answer.spans, kind), answer.is_complete)
    return ((answer.label,),) if answer.label and task.stop == task.start + 1 else ()


def _span_labels(task: AnnotationTask, spans: Iterable[Span], is_complete: bool) -> Layer:
    layer = span_labels([(span,) for span in spans], len(task.sentence), (OUTSIDE,) if is_complete else None)
    return layer[task.start : task.stop]


def evidence(store: Store, guideline: str, task: str | None) -> Corpus:
    """Return what was agreed on or decided, as a model of a task of training learns from it: in one layer of labels.

    Words keep the columns that all sentences have, since features may look at them; characters keep tags of words.
    """
    if task in OF_CHARACTERS:
        characters = segmented(store, guideline)
        layers = (SEGMENTATION, kytea.TAG)
        return characters.map(lambda one: one.with_layers_of(layers).renamed({SEGMENTATION: guideline}))
    words = labelled(store, guideline)
    return words.with_sentences(_with_common_columns(words.sentences, _names(store, words, guideline)))


def _names(store: Store, corpus: Corpus, guideline: str) -> list[str]:
    """Return the layers of a corpus of answers: that of their guideline, or one for each of its types."""
    return [guideline] if corpus.guideline == guideline else [*store.labels(guideline)]


def segmented(store: Store, guideline: str) -> Corpus:
    """Return sentences of characters with the words that were marked, and with tags if labels were asked for.

    Overlapping words are left out. So are spans that are not words: boundaries cannot express them.
    """
    words = [
        question
        for question in store.outcomes(guideline)
        if question.outcome and question.outcome.kind in (Kind.WORD, Kind.LABEL)
    ]
    groups = groupby(words, key=lambda question: question.sentence_key)  # they come in the order of sentences
    return Corpus(tuple(_with_words(list(group)) for _, group in groups), guideline, "character")


def _with_words(words: list[Asked]) -> Sentence:
    sentence = words[0].task.sentence
    size = len(sentence)
    covered = np.zeros(size, np.int64)
    for question in words:
        covered[question.task.start : question.task.stop] += 1
    alone = [question for question in words if covered[question.task.start : question.task.stop].max() == 1]
    start = np.array([question.task.start for question in alone], np.int64)
    stop = np.array([question.task.stop for question in alone], np.int64)
    layers = {**sentence.layers, SEGMENTATION: segmentation_layer(word_marks(size, start, stop)[:-1])}
    tags: list[Candidates] = [None] * size
    for question in alone:
        if question.outcome and question.outcome.label:
            tags[question.task.start : question.task.stop] = [(question.outcome.label,)] * (
                question.task.stop - question.task.start
            )
    if any(tags):
        layers[kytea.TAG] = tuple(tags)
    return replace(sentence, layers=layers)


GOLD = "gold"
"""The layer of planted gold."""


def said_by_each(judged: Iterable[Judgement], guideline: str, types: Iterable[str] = ()) -> Corpus:
    """Return the sentences with answers, with a layer for each annotator, and a layer `gold` of planted gold.

    Where spans may overlap, each of their types has a layer `ANNOTATOR:TYPE`. Blanks in names become underscores.
    Judgements come by number, withdrawn ones included.
    """
    of_guideline = (judgement for judgement in judged if judgement.task.task.guideline == guideline)
    last = {(judgement.task.id, judgement.annotator): judgement for judgement in of_guideline}
    sentences: dict[SentenceKey, Sentence] = {}
    layers: dict[SentenceKey, dict[str, list[Candidates]]] = defaultdict(dict)
    rejected: dict[SentenceKey, dict[str, tuple[Span, ...]]] = defaultdict(dict)
    names: dict[str, str] = {}
    for judgement in (judgement for judgement in last.values() if not judgement.withdrawn):
        task = judgement.task.task
        key = judgement.task.sentence_key
        sentences.setdefault(key, task.sentence)
        for annotator, answer in ((judgement.annotator, judgement.answer), *([(GOLD, task.gold)] if task.gold else [])):
            name = "_".join(annotator.split())
            if names.setdefault(name, annotator) != annotator or (name == GOLD and judgement.annotator == annotator):
                raise CorpusError(f"an annotator {annotator!r}", f"a name that is not written {name!r} for another")
            for kind in _layers(task, types).values():
                called = f"{name}:{kind}" if kind else name
                layer = layers[key].setdefault(called, [None] * len(task.sentence))
                for position, candidates in enumerate(_labels(task, answer, kind), task.start):
                    layer[position] = candidates or layer[position]
                if wrong := _of_type(answer.rejected, kind):
                    rejected[key][called] = (*rejected[key].get(called, ()), *wrong)
    annotated = []
    called_layers = sorted({name for of_sentence in layers.values() for name in of_sentence})
    for key, sentence in sorted(sentences.items(), key=lambda item: item[1].location):
        unknown: list[Candidates] = [None] * len(sentence)
        every = {name: tuple(layers[key].get(name, unknown)) for name in called_layers}
        annotated.append(replace(sentence, layers=every, rejected=rejected[key]))
    return Corpus(tuple(annotated), guideline)


def judgements(judged: Iterable[Judgement]) -> Iterator[str]:
    """Yield judgements as lines of JSON: sentence, span, annotator, answer, times, and the candidates shown."""
    for judgement in judged:
        task = judgement.task.task
        line = {
            "id": judgement.id,
            "task": judgement.task.id,
            "path": task.sentence.location.path,
            "line": task.sentence.location.line,
            "forms": task.sentence.forms,
            "start": task.start,
            "stop": task.stop,
            "guideline": task.guideline,
            "purpose": task.purpose,
            "asks": task.asks,
            "gold": task.gold and _answer_fields(task.gold),
            "status": judgement.task.status,
            "outcome": judgement.task.outcome and _answer_fields(judgement.task.outcome),
            "annotator": judgement.annotator,
            "slot": judgement.slot,
            "revision": judgement.revision,
            "withdrawn": judgement.withdrawn,
            **_answer_fields(judgement.answer),
            "candidates": [{k: v for k, v in one._asdict().items() if v is not None} for one in judgement.candidates],
            "model": judgement.model,
            "started": _time(judgement.started),
            "ended": _time(judgement.ended),
        }
        yield json.dumps(line, ensure_ascii=False)


def _answer_fields(answer: Answer) -> dict[str, Any]:
    if answer.kind is not Kind.SPANS:
        return {"kind": answer.kind, "label": answer.label}
    spans, rejected = ([span._asdict() for span in some] for some in (answer.spans, answer.rejected))
    fields = {"kind": answer.kind, "spans": spans, "complete": answer.is_complete}
    return {**fields, "rejected": rejected} if rejected else fields


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


FORMATS = (conllu.FORMAT.name, columns.FORMAT.name, kytea.FORMAT.name, "jsonl")
"""Words with labels (CoNLL-U has candidates as `AltXpos`), characters with boundaries, and single judgements."""


def write(store: Store, path: str, form: str, guideline: str, ambiguous: bool = False) -> int:
    """Write a file, completely or not at all, and return its number of sentences or judgements; no file if it is 0.

    `form` is one of `FORMATS`; judgements are of all guidelines. The path `-` is standard output.
    """
    if form not in FORMATS:
        raise ValueError(f"unknown format {form!r}, expected one of {', '.join(FORMATS)}")
    if form == "jsonl":
        lines = judgements(store.judgements())
        first = next(lines, None)
        if first is None:
            return 0
        with written(path) as stream:
            return sum(stream.write(line + "\n") > 0 for line in chain([first], lines))
    if form == kytea.FORMAT.name:
        corpus = segmented(store, guideline)
        return _write(corpus, path, lambda stream: kytea.write(corpus, stream))
    corpus = labelled(store, guideline, ambiguous)
    return _write_labels(corpus, path, form, _names(store, corpus, guideline))


def write_by_annotator(store: Store, path: str, guideline: str) -> int:
    """Write a column file with a column for each annotator; return the number of sentences."""
    corpus = said_by_each(store.judgements(), guideline, store.labels(guideline))
    layers = [*corpus[0].layers] if len(corpus) else []
    return _write(corpus, path, lambda stream: columns.write(_with_common_columns(corpus.sentences, layers), stream))


def _write_labels(corpus: Corpus, path: str, form: str, layers: Sequence[str]) -> int:
    if form == columns.FORMAT.name:
        sentences = corpus.sentences
        return _write(corpus, path, lambda stream: columns.write(_with_common_columns(sentences, layers), stream))
    guideline, *other_layers = layers
    if other_layers:
        raise ValueError(f"found spans that may overlap, in the layers {', '.join(layers)}, expected columns")
    xpos = conllu.XPOS if guideline == conllu.UPOS else guideline
    kept = corpus.map(lambda sentence: sentence.with_layers_of([conllu.UPOS, xpos]))
    has_upos = any(conllu.UPOS in sentence.layers for sentence in kept)
    if len(kept) and not has_upos and guideline not in conllu.FORMAT.layers:
        # for `tagweave.corpus.load`; with UPOS, the comment would name its guideline
        first = replace(kept[0], comments=(f"# guideline = {guideline}",))
        kept = kept.with_sentences([first, *kept.sentences[1:]])
    return _write(kept, path, lambda stream: conllu.write(kept.sentences, stream, xpos=xpos))


def _write(corpus: Corpus, path: str, write_to: Callable[[IO[str]], None]) -> int:
    if len(corpus):
        with written(path) as stream:
            write_to(stream)
    return len(corpus)


def _with_common_columns(sentences: Sequence[Sentence], layers: Sequence[str]) -> Iterator[Sentence]:
    """Yield the sentences with these layers of labels alone, and with the columns that all of them have."""
    common = set.intersection(*({*sentence.columns} for sentence in sentences)) - {*layers} if sentences else set()
    for sentence in sentences:
        kept = {name: column for name, column in sentence.columns.items() if name in common}
        yield replace(sentence.with_layers_of(layers), columns=kept, comments=())
