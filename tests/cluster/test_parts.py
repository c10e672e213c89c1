"""Parts of a work on executors: folds, tests of significance, cells of studies. Results are those of one process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reproductions.lab.cell_task import cell_tasks, fill
from reproductions.liu_2014.study import STUDY
from tagweave.cluster.executor import AUTO, LOCAL, Executor, executor_at, results
from tagweave.corpus import sample
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load
from tagweave.evaluation.report import evaluate
from tagweave.learning.run import Run, Schedule
from tagweave.training.jackknife import jackknifed
from tagweave.training.pruning import fit_pruning, with_proposals
from tagweave.training.recipe import Recipe
from tagweave.training.task import Task


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    whole = load(str(sample.path("ctb.txt")))
    return whole.with_sentences(whole.sentences[:24])


@pytest.fixture(scope="module")
def workers(ray: Any) -> Iterator[list[Executor]]:
    """Executors of both kinds, with one worker each: starting it takes longer than all that it does here."""
    with ExitStack() as stack:
        yield [stack.enter_context(executor_at(address, workers=1)) for address in (LOCAL, AUTO)]


def test_folds(corpus: Corpus, workers: list[Executor]) -> None:
    here, recipe = Run(Schedule(2), cancel=lambda: False), Recipe(Task("segtag"))
    expected = jackknifed([corpus], recipe, 3, run=here)
    for executor in workers:
        lines: list[str] = []
        there = replace(here, executor=executor, tell=lines.append)
        assert jackknifed([corpus], recipe, 3, run=there) == expected
        assert [line[-12:] for line in lines] == [f"{n} of 3 folds" for n in (1, 2, 3)]


def test_a_fold_that_fails_raises_what_it_raised(corpus: Corpus, workers: list[Executor]) -> None:
    for executor in workers:
        with pytest.raises(TypeError, match="'colour'"):
            jackknifed([corpus], Recipe(settings={"colour": 1}), 2, run=Run(executor=executor))


def test_proposals_of_pruning(corpus: Corpus, workers: list[Executor]) -> None:
    pruning = fit_pruning([corpus], Recipe(), 0.05, Run(Schedule(1)))
    there = with_proposals([corpus], Recipe(), pruning, Run(executor=workers[0]))
    assert there == with_proposals([corpus], Recipe(), pruning)


def test_tests_of_significance(corpus: Corpus, workers: list[Executor]) -> None:
    other = corpus.map(lambda sentence: sentence.with_layer("tag", [("NN",)] * len(sentence)))
    systems = {"one": other, "two": corpus, "three": corpus}
    for executor in workers:
        assert evaluate(corpus, systems, executor=executor).comparisons == evaluate(corpus, systems).comparisons


def test_cells_of_a_study(tmp_path: Path, workers: list[Executor]) -> None:
    tasks = cell_tasks(STUDY, list(STUDY.parts)[:1], None, 1, tmp_path, 1)
    assert len(list(results(workers[0], fill, tasks[:1]))) == 1
    assert len(list(tmp_path.iterdir())) == 1
