"""Incomplete annotation replaced before a fit by what a first model says, and what counts as complete."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tagweave.corpus.candidates import Soft
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Layer, Location, Sentence
from tagweave.errors import PlanError
from tagweave.learning.run import Run, Schedule
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.training.cascades import incomplete
from tagweave.training.cascades.incomplete import discard, is_complete, treated
from tagweave.training.fit.fit import fit
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import Task

SHORT = Schedule(iterations=4)


def layer_of(text: str) -> Layer:
    return tuple(None if tag == "?" else tuple(tag.split("/")) for tag in text.split())


def corpus(*layers: str, **more: Any) -> Corpus:
    """Sentences of the words w0, w1, ... under tags such as `N`, `N/V`, `?`."""
    rows = [layer_of(text) for text in layers]
    sentences = [Sentence(tuple(f"w{i}" for i in range(len(row))), {"g": row}) for row in rows]
    return Corpus(
        tuple(replace(s, location=Location("f", n)) for n, s in enumerate(sentences, 1)), "g", path="f", **more
    )


def layers(corpora: Any) -> list[str]:
    return [
        " ".join("?" if each is None else "/".join(each) for each in sentence.layers["g"])
        for corpus in corpora
        for sentence in corpus
    ]


def characters(letters: str, tags: str = "", line: int = 0) -> Sentence:
    rows = {"segmentation": layer_of(letters)} | ({"tag": layer_of(tags)} if tags else {})
    return Sentence(tuple("字" * len(rows["segmentation"])), rows, location=Location("k", line))


def test_posterior_is_what_the_first_model_believes_under_the_annotation() -> None:
    given, recipe = corpus("N V", "V N", "N/V ?", "? V"), Recipe(precision="float64")
    first = ChainPredictor(fit([discard(given)], recipe, run=Run(SHORT)).model)
    (found,), _ = treated("posterior", [given], recipe, run=Run(SHORT))
    assert found[0] == given[0] and found[1] == given[1]
    for sentence, table in zip(found, first.probabilities(given.sentences, "g"), strict=True):
        for candidates, row in zip(sentence.layers["g"], table, strict=True):
            own = candidates.numbered() if isinstance(candidates, Soft) else [(each, 1.0) for each in candidates or ()]
            expected = {name: p for name, p in zip(first.labels, row.tolist(), strict=True) if p > 5e-5}
            assert dict(own) == pytest.approx(expected, abs=1e-4)


def test_few_complete_sentences_among_very_many_are_enough_if_they_are_long() -> None:
    """The raw sentences in which a list was found may be a hundred times as many as the annotated ones."""
    known, marked = corpus(*["N V V D"] * 150), corpus(*["N ? ? N"] * 3000)
    recipe = Recipe(precision="float64")
    first = ChainPredictor(fit([known], recipe, run=Run(SHORT)).model)
    _, found = treated("posterior", [known, marked], recipe, run=Run(SHORT))[0]
    (table,) = first.probabilities(marked.sentences[:1], "g")
    unknown = found[0].layers["g"][1]
    assert isinstance(unknown, Soft)
    expected = {name: p for name, p in zip(first.labels, table[1].tolist(), strict=True) if p > 5e-5}
    assert dict(unknown.numbered()) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("coding", ["BMES", "BI", "boundary"])
def test_posterior_of_characters(coding: str) -> None:
    rows = [characters("B E S"), characters("S B E"), characters("B/S M/E S"), characters("B/S B/M/E/S E/S")]
    recipe = Recipe(Task("segment", coding))
    given = Corpus(tuple(rows), "segmentation", "character", weight=2.0)
    (found,), _ = treated("posterior", [given], recipe, run=Run(SHORT))
    assert found.weight == 2.0
    assert any(isinstance(each, Soft) for each in recipe.task.prepare(found)[3].layers["segmentation"])
    before, after = (recipe.task.prepare(each) for each in (given, found))
    assert before.sentences[:2] == after.sentences[:2]
    for old, new in zip(before, after, strict=True):
        for a, b in zip(old.layers["segmentation"], new.layers["segmentation"], strict=True):
            assert b and (a is None or {*b} <= {*a})
    assert np.isfinite(fit([found], recipe, run=Run(SHORT)).model.weights).all()


@pytest.mark.parametrize("recipe", [Recipe(Task("segtag")), Recipe(soft_labels="likelihood")])
def test_posterior_is_refused_where_its_numbers_would_not_be_read_so(recipe: Recipe) -> None:
    with pytest.raises(PlanError, match="found `incomplete=posterior` with"):
        treated("posterior", [corpus("N V", "N ?")], recipe)


def test_the_first_model_leaves_the_checkpoint_alone(tmp_path: Any) -> None:
    treated("posterior", [corpus("N V", "N ?")], Recipe(), run=Run(Schedule(2, checkpoint=tmp_path / "state")))
    assert not list(tmp_path.iterdir())


def test_an_interrupt_of_the_first_model_ends_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    real = incomplete.fit_problem

    def stopped(*arguments: Any) -> Any:
        fitted = real(*arguments)
        return replace(fitted, outcome=replace(fitted.outcome, interrupted=True))

    monkeypatch.setattr(incomplete, "fit_problem", stopped)
    with pytest.raises(KeyboardInterrupt):
        treated("posterior", [corpus("N V", "N ?")], Recipe(), run=Run(SHORT))


@pytest.mark.parametrize(
    ("text", "covered", "expected"),
    [
        ("N V", None, True),
        ("N ?", None, False),
        ("N N/V", None, False),
        ("N !V", None, False),
        ("B-* N", None, False),
        ("O N", None, True),
        ("O N", ("N",), False),
        ("V N", ("N",), True),
        ("", None, True),
    ],
)
def test_complete(text: str, covered: Any, expected: bool) -> None:
    sentence = corpus(text)[0]
    assert is_complete(sentence, "g", covered) == expected
    assert len(discard(corpus(text, covered=covered))) == expected


def test_no_layer_is_not_complete() -> None:
    assert not is_complete(Sentence(("a",)), "g")


def test_words_are_a_complete_segmentation_whatever_their_tags() -> None:
    given = corpus("N ?", "? ?", "N V")
    assert [len(discard(given, Task(name))) for name in ("tag", "segment", "segtag")] == [1, 3, 1]
    assert discard(given, Task("segment")).sentences == given.sentences


def test_characters_are_complete_by_boundaries_and_tags() -> None:
    rows = (characters("B E", "N N"), characters("B E", "N/V N/V"), characters("B/S M/E"), characters("S S"))
    given = Corpus(rows, "segmentation", "character")
    assert discard(given, Task("segment")).sentences == (rows[0], rows[1], rows[3])
    assert discard(given, Task("segtag")).sentences == (rows[0],)


def test_an_unknown_strategy() -> None:
    with pytest.raises(ValueError, match="unknown strategy 'guess', expected marginal"):
        treated("guess", [corpus("N")], Recipe())
