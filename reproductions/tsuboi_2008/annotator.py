"""A simulated annotator of words in context (KWIC; tsuboi-2008, sections 2.1 and 5.1).

Shown a span of raw text, the annotator says whether it is a word. If it is, there are boundaries at both ends and none
inside: the labels of the span are settled, the character before it can only end a word, and the one after it can only
begin one. If it is not, nothing is marked, as in Figure 2 of the paper: that a span is *not* a word decides no single
boundary, so sets of labels cannot express it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tagweave.annotate.selection import Occurrences
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats.kytea import SEGMENTATION, segmentation_layer
from tagweave.corpus.sentence import Candidates, Sentence
from tagweave.errors import CorpusError
from tagweave.harvest.matching import word_marks
from tagweave.training.fit.task import Task

_ENDS: dict[Candidates, bool] = {("B",): False, ("M",): False, ("E",): True, ("S",): True}


@dataclass(frozen=True)
class Annotator:
    """Answers from text that is fully segmented.

    Attributes:
        sentences: what an annotator is shown: sentences of characters, without their segmentation.
        ends: bool[N], whether a word ends after each of the N characters of all sentences.
        begins: int64[S + 1], the first character of each sentence.
    """

    sentences: tuple[Sentence, ...]
    ends: NDArray[np.bool_]
    begins: NDArray[np.int64]

    @classmethod
    def of(cls, gold: Corpus) -> Annotator:
        """An annotator from a corpus of words, or of characters each with one of the labels B, M, E, S.

        Raises:
            CorpusError: a character without exactly one of these labels.
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
        """The annotation after questions about these occurrences: a corpus of characters, of the sentences with a word.

        The evidence is in the layer `segmentation`; `guideline` names the guideline of the corpus.
        """
        words = found.only(self.answers(found))
        marks, begins = word_marks(len(self.ends), words.start, words.stop), self.begins.tolist()
        sentences = (
            self.sentences[i].with_layer(SEGMENTATION, segmentation_layer(marks[begins[i] : begins[i + 1] - 1]))
            for i in np.unique(words.sentence).tolist()
        )
        return Corpus(tuple(sentences), guideline, "character")


def until_words(answers: Sequence[bool] | NDArray[np.bool_], words: int) -> int:
    """How many questions it takes to mark so many words; all questions if there are fewer words."""
    marked = np.flatnonzero(answers)
    if words == 0:
        return 0
    return int(marked[words - 1]) + 1 if words <= len(marked) else len(answers)
