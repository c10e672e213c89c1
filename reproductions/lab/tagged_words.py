"""What models say of a text, as the lengths of words with their tags, so that no text is stored: `2/NN 1/VV`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.evaluation.score import Counts
from tagweave.evaluation.words import Segmentation, word_scores
from tagweave.labels.coding import as_layer
from tagweave.models.cascades import labels_of
from tagweave.training.fit.task import Task

Labels = list[tuple[str, ...]]
"""Of every sentence one label a character."""


def answer(words: Sentence, guideline: str) -> str:
    """The lengths and tags of the words of a sentence."""
    pairs = zip(words.forms, labels_of(words, guideline) if len(words) else (), strict=True)
    return " ".join(f"{len(form)}/{tag}" for form, tag in pairs)


def answered_words(texts: Corpus, answers: Sequence[str], guideline: str) -> Corpus:
    """The text of a corpus in the words and tags of answers, under a guideline.

    Raises:
        ValueError: answers about another text.
    """
    found = (_words("".join(sentence.forms), line, guideline) for sentence, line in zip(texts, answers, strict=True))
    return Corpus(tuple(found), guideline, "word", None, texts.path)


def _words(text: str, line: str, guideline: str) -> Sentence:
    parts = [each.partition("/") for each in line.split(" ") if each]
    ends = np.cumsum([0, *(int(length) for length, _, _ in parts)]).tolist()
    if ends[-1] != len(text):
        raise ValueError(f"found words of {ends[-1]} characters, expected {len(text)}")
    forms = tuple(text[start:end] for start, end in pairwise(ends))
    return Sentence(forms, {guideline: as_layer(tag for _, _, tag in parts)})


def character_labels(words: Corpus, task: Task) -> Labels:
    """The labels of the characters of a corpus of words, which has one tag a word."""
    return [labels_of(sentence, words.guideline) for sentence in task.prepare(words)]


def without_tags(labels: Labels) -> Labels:
    """Labels with the letters of the coding alone."""
    return [tuple(label[:1] for label in sentence) for sentence in labels]


def tagged_counts(gold: Corpus, answers: Sequence[str]) -> Counts:
    """int64[S, 3]: right, gold and found words of every sentence; right are both the span and the tag.

    Raises:
        ValueError: answers about another text.
    """
    scores = word_scores(list(_segmented(gold)), list(_segmented(answered_words(gold, answers, gold.guideline))))
    if scores.tagged is None:
        raise ValueError("found words without tags, expected gold words and answers with tags")
    return scores.tagged.counts


def _segmented(corpus: Corpus) -> Iterator[Segmentation]:
    for sentence in corpus:
        yield Segmentation(sentence.forms, sentence.layers[corpus.guideline])
