"""Which method wins a race, by the scores of all."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import tagweave as tw
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.errors import TagweaveError
from tagweave.training import race
from tagweave.training.fit.task import Task


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ((0.6, 0.59), "stacked"),
        ((0.6, 0.5), "single"),
        ((0.6, 0.7), "stacked"),
        ((0.6, 0.56), "single"),
        ((0.5, 0.6, 0.59), "coupled"),
        ((0.5, 0.6, 0.56), "stacked"),
        ((0.6, 0.59, 0.5), "stacked"),
        ((0.6,), "single"),
    ],
)
def test_the_last_method_wins_of_those_that_are_level(scores: tuple[float, ...], expected: str) -> None:
    """The standard error of 0.6 is 0.024 with 400 spans, of which half are of one token."""
    labels = (("B-PER",), ("I-PER",), ("O",), ("B-LOC",))
    dev = Corpus((Sentence(("a", "b", "c", "d"), {"tag": labels}),) * 200, "tag")
    small: Any = SimpleNamespace(
        dev=dev, plan=SimpleNamespace(task="spans"), recipe=SimpleNamespace(task=Task("spans"))
    )
    assert race._best(dict(zip(("single", "stacked", "coupled"), scores, strict=False)), small) == expected


def test_sentences_that_judge_a_race_do_not_train_its_entrants(monkeypatch: pytest.MonkeyPatch) -> None:
    races = list[Any]()

    def seen(job: Any) -> None:
        races.append(job)
        raise TagweaveError("seen")

    monkeypatch.setattr(race, "_fitted", seen)
    train, source = (
        Corpus(tuple(Sentence((f"w{at}",), {name: (("NV"[at % 2],),)}) for at in range(23)), name)
        for name in ("tag", "theirs")
    )
    with pytest.raises(TagweaveError, match="seen"):
        tw.train(train, [source], task="tag", method="auto")
    for job in races:
        held_out, target = ([each.forms[0] for each in corpus] for corpus in (job.dev, *job.data.targets))
        assert held_out == ["w0", "w5", "w10", "w15", "w20"] and not {*held_out} & {*target} and len(target) == 18
    assert [len(corpus) for job in races for corpus in job.data.sources] == [23, 23]
