"""What rounds of annotation bring, measured on segmented text."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from tagweave.active.rounds import Rounds
from tagweave.corpus.corpus import Corpus
from tagweave.evaluation.segmentation import Segmentation, segmentations
from tagweave.evaluation.words import word_scores
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.training.task import Task


class SegmentationScorer:
    """Scores segmenters on a test corpus.

    Args:
        test: segmented text.
        known: the words of the source domain; others are the unknown ones.
        threads: how many threads share the work.
    """

    def __init__(self, test: Corpus, known: Collection[str], threads: int = 1) -> None:
        self._threads, self._known = threads, frozenset(known)
        self._gold = segmentations(test.sentences, test.guideline, test.unit)
        self._characters = Task("segment").prepare(test).sentences

    def scores(self, model: ChainModel) -> dict[str, float]:
        """F, and the recall of words that the source corpus does not have, as percentages."""
        tagger = ChainPredictor(model, self._threads)
        system = [Segmentation(tagger.words(sentence).forms) for sentence in tagger.tag(self._characters)]
        scores = word_scores(self._gold, system, self._known)
        recall = scores.oov.value if scores.oov else float("nan")
        return {"f": 100 * scores.words.f, "oov_recall": 100 * recall}


def score_rows(
    rounds: Rounds, cells: Sequence[tuple[str, str, int]], scorer: SegmentationScorer
) -> Iterator[dict[str, Any]]:
    """The scores of the model of the rounds, and then of one trained for each cell.

    Args:
        rounds: of annotation.
        cells: query strategy, treatment, and how many words are marked.
        scorer: of the models.

    Yields:
        `strategy`, `treatment`, `words` that were marked, `questions` that it took, `f`, `oov_recall`.
    """
    yield {"strategy": None, "treatment": None, "words": 0, "questions": 0, **scorer.scores(rounds.model)}
    for strategy, treatment, number in cells:
        questions, marked = rounds.questions(strategy, number)
        trained = rounds.trained(strategy, treatment, number)
        row = {"strategy": strategy, "treatment": treatment, "words": marked, "questions": questions}
        yield {**row, **scorer.scores(trained)}
