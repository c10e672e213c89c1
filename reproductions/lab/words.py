"""What segmenters find, kept as the lengths of words so that no text is stored, and what of it is right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.evaluation.score import Counts
from tagweave.evaluation.words import Segmentation, word_scores
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.training.fit.task import Task


def segmented(model: ChainModel, gold: Corpus, threads: int = 1, whole_runs: bool = False) -> list[str]:
    """The words that a model finds in the text of a corpus of words: of every sentence their lengths, as one string.

    With `whole_runs` none begins inside a Latin word or a number, as in `ChainPredictor.tag`.
    """
    tagger, coded = ChainPredictor(model, threads), Task("segment").prepare(gold)
    found = tagger.tag([Sentence(sentence.forms) for sentence in coded], whole_runs)
    return [" ".join(str(len(form)) for form in tagger.words(sentence).forms) for sentence in found]


def word_counts(gold: Corpus, output: Sequence[str]) -> Counts:
    """int64[S, 3]: right, gold and found words of every sentence.

    Args:
        gold: S sentences of words.
        output: of each the lengths of the words that were found, as `segmented` gives them.

    Raises:
        ValueError: lengths of other sentences.
    """
    return word_scores([Segmentation(sentence.forms) for sentence in gold], cut_words(gold, output)).counts


def unknown_counts(gold: Corpus, output: Sequence[str], known: frozenset[str]) -> Counts:
    """int64[S, 2]: right and gold words of every sentence among those that are not known: their ratio is OOV recall."""
    unknown = [
        Segmentation(sentence.forms, certain=tuple(form not in known for form in sentence.forms)) for sentence in gold
    ]  # what is not certain is not scored
    counts: NDArray[np.int64] = word_scores(unknown, cut_words(gold, output)).counts
    return counts[:, :2]


def cut_words(gold: Iterable[Sentence | Segmentation], output: Sequence[str]) -> list[Segmentation]:
    """The text of the gold standard in words of these lengths."""
    return [Segmentation(_words("".join(sentence.forms), line)) for sentence, line in zip(gold, output, strict=True)]


def _words(text: str, line: str) -> tuple[str, ...]:
    ends = [0, *accumulate(map(int, line.split()))]
    if ends[-1] != len(text):
        raise ValueError(f"found words of {ends[-1]} characters, expected {len(text)}")
    return tuple(text[start:stop] for start, stop in pairwise(ends))
