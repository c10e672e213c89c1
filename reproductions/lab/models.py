"""Models of studies: what is told of them, and one that decides token by token."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import tagweave as tw
from tagweave.corpus.corpus import Corpus
from tagweave.features.templates import Templates
from tagweave.learning.run import SILENCE, Run, Schedule
from tagweave.models.storage import save_model
from tagweave.training.fit.fit import fit
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import Task


def trained(target: Any, sources: Any = (), **options: Any) -> Any:
    """Train as `tw.train` does, and say nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return tw.train(target, sources, callback=SILENCE, **options)


def size(model: Any) -> dict[str, int]:
    """Return how many labels and weights a model of labels has."""
    return {"labels": len(model.chain.space), "weights": len(model.chain.weights)}


def pointwise(
    corpora: Sequence[Corpus],
    dev: Corpus,
    task: str,
    templates: Sequence[str],
    settings: dict[str, float],
    schedule: Schedule,
) -> Any:
    """Train a model whose labels do not depend on their neighbours, so that unknown positions are ignored."""
    recipe = Recipe(Task(task), Templates(tuple(templates)), settings=settings, transitions=False, edges=False)
    fitted = fit(corpora, recipe, dev, Run(schedule, SILENCE))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        save_model(fitted.model, path)
        return tw.load_model(path)
