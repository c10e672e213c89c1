"""Import of tasks: uncertain, ambiguous and known tokens and spans; and import of labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from tagweave.annotate import selection
from tagweave.annotate.store import Store
from tagweave.annotate.task import AnnotationTask, Answer, Candidate, Kind, Purpose
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.files import in_blocks, read_lines
from tagweave.corpus.overlapping import joint_name
from tagweave.errors import CorpusError
from tagweave.labels.space import collect_names, is_wildcard
from tagweave.labels.transition_scheme import codes_spans
from tagweave.models.layered import LayeredPredictor

_MANY = 200  # tasks of one transaction: annotators should not wait for a longer one


def read_notes(path: str) -> dict[str, str]:
    """Read a file of labels and their notes, a line `LABEL` or `LABEL TAB NOTE` each. Empty lines are skipped."""
    notes: dict[str, str] = {}
    for number, line in enumerate(read_lines(path), 1):
        label, _, note = line.partition("\t")
        if not line.strip():
            continue
        if not label or label.split() != [label]:
            raise CorpusError(f"the label {label!r}", "one without blanks, then a tab and a note", path, number)
        if label in notes:
            raise CorpusError(f"the label {label!r} twice", "every label once", path, number)
        notes[label] = note.strip()
    if not notes:
        raise CorpusError("no labels", "one a line, each with a tab and a note", path)
    return notes


def put_notes(store: Store, guideline: str, notes: dict[str, str]) -> int:
    """Add the labels that are new and change the notes of the others; return how many are new."""
    new = store.add_labels(guideline, notes)
    for label, note in notes.items():
        store.change_note(guideline, label, note)
    return new


def put_uncertain(
    store: Store,
    corpus: Corpus,
    tagger: selection.SpanTagger,
    share: float = 0.2,
    model: int | None = None,
    seed: int = 0,
) -> int:
    """Add tasks for what a tagger is uncertain about (`selection.uncertain_tasks`); return how many are new.

    Its labels, or types of spans, become labels of its guideline. `model` is the version of the model.
    """
    asked = selection.uncertain_tasks(tagger, corpus.sentences, share, model, seed)
    names = selection.types_of(tagger.labels) if codes_spans(tagger.labels) else tagger.labels
    store.add_labels(selection.guideline_of(tagger), dict.fromkeys(names, ""))
    return _put(store, asked)


def put_ambiguous(store: Store, corpus: Corpus) -> int:
    """Ask for the tokens of a corpus of words that have several labels, which are the candidates; return the number."""
    _put_labels(store, corpus)
    tasks = []
    for sentence in corpus:
        for t, allowed in enumerate(sentence.layers.get(corpus.guideline, ())):
            if allowed is not None and len(allowed) > 1:
                candidates = tuple(Candidate(name, round(1 / len(allowed), 4)) for name in allowed)
                tasks.append(AnnotationTask(sentence, t, t + 1, corpus.guideline, candidates, 1 - 1 / len(allowed)))
    return _put(store, tasks)


def put_known(
    store: Store,
    corpus: Corpus,
    purpose: Purpose,
    number: int,
    tagger: selection.SpanTagger | None = None,
    share: float = 0.2,
    model: int | None = None,
    seed: int = 0,
) -> int:
    """Ask for tokens of words that have one label, as planted gold or for the training phase; return how many are new.

    A `number` of them are drawn at random. A tagger provides candidates, and narrows the draw to the share of the
    known tokens that it is least certain about, as for real tasks.
    """
    if isinstance(tagger, LayeredPredictor) or (tagger is not None and codes_spans(tagger.labels)):
        return put_known_spans(store, corpus, purpose, number, tagger, model, seed)
    guideline = corpus.guideline
    raw = [sentence.with_layers_of(sentence.layers.keys() - {guideline}) for sentence in corpus]
    gold = [
        labels[0] if labels and len(labels) == 1 and not is_wildcard(labels[0]) else None
        for sentence in corpus
        for labels in sentence.layers.get(guideline, (None,) * len(sentence))
    ]
    is_known = np.array([label is not None for label in gold], np.bool_)
    random = np.random.default_rng(seed)
    begins = np.cumsum([0, *map(len, raw)])
    asked: Iterable[AnnotationTask]
    if tagger is None:
        numbers = random.permutation(np.flatnonzero(is_known))[:number]
        sentence = np.searchsorted(begins, numbers, side="right") - 1
        positions = zip(sentence.tolist(), (numbers - begins[sentence]).tolist(), strict=True)
        asked = (AnnotationTask(raw[s], t, t + 1, guideline) for s, t in positions)
    else:
        tokens = selection.least_certain(tagger, raw, 1.0)
        tokens = tokens.only(is_known[begins[tokens.sentence] + tokens.position])
        tokens = tokens.only(slice(max(number, round(share * len(tokens.sentence)))))
        tokens = tokens.only(random.permutation(len(tokens.sentence))[:number])
        numbers = begins[tokens.sentence] + tokens.position
        asked = selection.token_tasks(tokens, raw, tagger, model)
    _put_labels(store, corpus)
    answered = (
        (task, Answer(Kind.LABEL, str(gold[token]))) for task, token in zip(asked, numbers.tolist(), strict=True)
    )
    return _put(store, (replace(task, guideline=guideline, purpose=purpose, gold=answer) for task, answer in answered))


def put_spans(store: Store, corpus: Corpus) -> int:
    """Ask for the spans of the sentences of a corpus that are not known entirely; return how many tasks are new.

    Its spans are candidates, and their types become labels of its guideline.
    """
    layers = selection.span_layers(corpus)
    _put_labels(store, corpus, layers, of_spans=True)
    return _put(store, selection.corpus_span_tasks(corpus, layers))


def put_known_spans(
    store: Store,
    corpus: Corpus,
    purpose: Purpose,
    number: int,
    tagger: selection.SpanTagger | None = None,
    model: int | None = None,
    seed: int = 0,
) -> int:
    """Ask for the spans of sentences that are known entirely; otherwise like `put_known`."""
    layers = selection.span_layers(corpus) if tagger is None else (corpus.guideline,)
    layers = tagger.guidelines if isinstance(tagger, LayeredPredictor) else layers
    gold = selection.known_spans(corpus, layers)
    chosen = np.random.default_rng(seed).permutation(len(gold))[:number].tolist()
    answers = {(gold[i][0].location, gold[i][0].forms): gold[i][1] for i in chosen}
    drawn = corpus.with_sentences([gold[i][0] for i in chosen])
    if tagger is None:
        asked = selection.corpus_span_tasks(drawn, layers)
    else:
        asked = selection.span_tasks(tagger, drawn.sentences, 1.0, model)
    _put_labels(store, corpus, layers, of_spans=True)
    rows = ((task, answers[task.sentence.location, task.sentence.forms]) for task in asked)
    of_gold = ((replace(task, guideline=joint_name(layers), purpose=purpose, gold=answer)) for task, answer in rows)
    return _put(store, of_gold)


def version_of(
    store: Store, path: str, accuracy: Callable[[], float | None] = lambda: None, minutes: float = 0.0
) -> int:
    """Return the last version of a model file. A new file is added as a model trained on no judgement.

    `accuracy` is called for a model that has none yet.
    """
    versions = [model for model in store.models() if model.path == path]
    if not versions:
        return store.add_model(path, 0, minutes, accuracy())
    last = versions[-1]
    if last.accuracy is None and (measured := accuracy()) is not None:
        store.measured(last.version, last.judgement, last.minutes, measured)
    return last.version


def _put_labels(store: Store, corpus: Corpus, layers: Sequence[str] = (), of_spans: bool = False) -> None:
    layers = layers or (corpus.guideline,)
    names = collect_names([sentence.layers[name] for name in layers for sentence in corpus if name in sentence.layers])
    store.add_labels(joint_name(layers), dict.fromkeys(selection.types_of(names) if of_spans else names, ""))


def _put(store: Store, tasks: Iterable[AnnotationTask]) -> int:
    return sum(map(store.add_tasks, in_blocks(tasks, _MANY)))
