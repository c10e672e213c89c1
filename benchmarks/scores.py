"""The one score of a model on a test set that pages print."""

from __future__ import annotations

from tagweave.corpus.corpus import Corpus
from tagweave.evaluation.report import Report
from tagweave.front.label_model import LabelModel


def score(model: LabelModel, test: Corpus) -> float:
    """Return F of spans or words, or the accuracy of tags, in percent."""
    return percent(model.evaluate(test))


def percent(report: Report) -> float:
    """Return F of spans or words, or the accuracy of tags, of the one system of a report."""
    (scores,) = report.systems.values()
    measured = next(getattr(scores, name) for name in ("spans", "words", "tokens") if hasattr(scores, name))
    return 100 * float(measured.f if hasattr(measured, "f") else measured.value)
