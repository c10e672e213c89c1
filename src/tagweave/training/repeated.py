"""Drops sentences of partial sources that TRAIN annotates in full: they can only repeat it or contradict it."""

from __future__ import annotations

from dataclasses import replace

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.training.corpora import CorpusFile
from tagweave.training.data import TrainingData
from tagweave.training.incomplete import is_complete
from tagweave.training.task import TASKS


def without_repeated(data: TrainingData, task: str) -> TrainingData:
    """The data without sentences of partly annotated sources of the target guideline that TRAIN annotates in full.

    Without this, words of a list marked in the training text cost 0.6 to 0.8 points of F (ZX and UD Chinese, 1,500
    sentences, development data).
    """
    if task not in TASKS or not data.has_sources:
        return data
    own = [file.corpus for file in data.files[: data.own]]
    known = {_text(sentence) for corpus in own for sentence in corpus if _tells_all(sentence, corpus, task)}
    files = [*data.files[: data.own], *(_left(file, known, data.target, task) for file in data.files[data.own :])]
    notes = (
        f"{new.corpus.path}: {count:,} sentences left out: TRAIN has the same text with all its labels"
        for old, new in zip(data.files, files, strict=True)
        if (count := len(old.corpus) - len(new.corpus))
    )
    return replace(data, files=tuple(files), notes=(*data.notes, *notes))


def _left(file: CorpusFile, known: set[str], target: str, task: str) -> CorpusFile:
    corpus = file.corpus
    if corpus.guideline != target or all(_tells_all(sentence, corpus, task) for sentence in corpus):
        return file
    return replace(file, corpus=corpus.with_sentences(each for each in corpus if _text(each) not in known))


def _tells_all(sentence: Sentence, corpus: Corpus, task: str) -> bool:
    """Whether the annotation is complete; words are complete for the task segment."""
    if task == "segment" and corpus.unit == "word":
        return True
    return is_complete(sentence, corpus.guideline, corpus.covered_in(sentence))


def _text(sentence: Sentence) -> str:
    return "".join(sentence.forms)
