"""A simulated annotator of words in context (KWIC; tsuboi-2008, sections 2.1 and 5.1).

Shown a span of raw text, the annotator says whether it is a word there. If it is, there is a boundary at both its
ends and none inside: the span is settled, the character before it may only end a word, the one after it only begin one.
If it is not, nothing is marked, as in Figure 2 of the paper: that a span is *not* a word says of no single place
whether a word ends there, so it cannot be said in sets of labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tagweave.active.strategies import Occurrences
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.errors import CorpusError
from tagweave.corpus.formats.kytea import SEGMENTATION, segmentation_layer
from tagweave.corpus.sentence import Candidates, Sentence
from tagweave.harvest.annotation import word_marks
from tagweave.training.task import Task

_ENDS: dict[Candidates, bool] = {("B",): False, ("M",): False, ("E",): True, ("S",): True}


@dataclass(frozen=True)
class Annotator:
    """Answers from text that is fully segmented.

    Attributes:
        sentences: of characters, what an annotator is shown: nothing of the segmentation is in them.
        ends: bool[N], whether a word ends after each of the N characters of all sentences.
        begins: int64[S + 1], the first character of each sentence.
    """

    sentences: tuple[Sentence, ...]
    ends: NDArray[np.bool_]
    begins: NDArray[np.int64]

    @classmethod
    def of(cls, gold: Corpus) -> Annotator:
        """From a corpus of words, or of characters each with one label B, M, E, S.

        Raises:
            CorpusError: a character without one label.
        """
        coded = Task("segment").prepare(gold)
        ends: list[bool] = []
        for sentence in coded:
            layer = sentence.layers[coded.guideline]
            if (unknown := next((each for each in layer if each not in _ENDS), layer)) is not layer:
                raise CorpusError(f"the labels {unknown} of a character", "one of B, M, E, S", *sentence.location)
            ends += [_ENDS[each] for each in layer]
        shown = tuple(Sentence(sentence.forms, location=sentence.location) for sentence in coded)
        begins = np.cumsum([0, *map(len, shown)], dtype=np.int64)
        return cls(shown, np.array(ends, np.bool_), begins)

    def answers(self, found: Occurrences) -> NDArray[np.bool_]:
        """bool[K]: whether each occurrence is a word."""
        before = np.cumsum(np.concatenate([[False], self.ends]))  # words that end before each character
        begins = np.concatenate([[True], self.ends])  # every sentence ends with a word
        return np.asarray(begins[found.start] & begins[found.stop] & (before[found.stop] - before[found.start] == 1))

    def annotated(self, found: Occurrences, guideline: str = SEGMENTATION) -> Corpus:
        """What is known after questions about these occurrences: a corpus of characters, of the sentences with a word.

        Evidence is in the layer `segmentation`; `guideline` is what the corpus calls its guideline.
        """
        words = found.only(self.answers(found))
        marks, begins = word_marks(len(self.ends), words.start, words.stop), self.begins.tolist()
        sentences = (
            self.sentences[i].with_layer(SEGMENTATION, segmentation_layer(marks[begins[i] : begins[i + 1] - 1]))
            for i in np.unique(words.sentence).tolist()
        )
        return Corpus(tuple(sentences), guideline, "character")


def until_words(answers: Sequence[bool] | NDArray[np.bool_], words: int) -> int:
    """How many questions it takes until so many words are marked; all of them where there are fewer words."""
    found = np.flatnonzero(answers)
    if words == 0:
        return 0
    return int(found[words - 1]) + 1 if words <= len(found) else len(answers)
