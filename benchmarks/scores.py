"""The one score of a model on a test set that pages print."""

from __future__ import annotations

from tagweave.corpus.corpus import Corpus
from tagweave.evaluation.report import Report
from tagweave.front.model import Model


def score(model: Model, test: Corpus) -> float:
    """Return F of spans or words, the accuracy of tags, or LAS, in percent."""
    return percent(model.evaluate(test))


def percent(report: Report) -> float:
    """Return F of spans or words, the accuracy of tags, or LAS, of the one system of a report."""
    (scores,) = report.systems.values()
    measured = next(getattr(scores, name) for name in ("spans", "words", "tokens", "arcs") if hasattr(scores, name))
    return 100 * float(measured.f if hasattr(measured, "f") else measured.value)
