"""What each baseline makes of incomplete annotation, by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from reproductions.lab.baselines import choose_tags, treated
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Layer, Location, Sentence
from tagweave.learning.run import Run, Schedule
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.training.fit import fit
from tagweave.training.incomplete import discard, is_complete
from tagweave.training.recipe import Recipe
from tagweave.training.task import Task

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


GIVEN = ("N V", "N/V ?", "V/N/D N", "D/V V/D", "? ?", "N")


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ("marginal", list(GIVEN)),
        ("pointwise", list(GIVEN)),
        ("first", ["N V", "N ?", "V N", "D V", "? ?", "N"]),
        ("frequent", ["N V", "N ?", "N N", "V V", "? ?", "N"]),  # N 3 times, V once, D never
        ("discard", ["N V", "N"]),
    ],
)
def test_by_hand(strategy: str, expected: list[str]) -> None:
    corpora, recipe = treated(strategy, [corpus(*GIVEN)], Recipe())
    assert layers(corpora) == expected
    assert (recipe.transitions, recipe.edges) == ((False, False) if strategy == "pointwise" else (True, True))


def test_frequencies_are_those_of_each_corpus() -> None:
    found, _ = treated("frequent", [corpus("N N", "N/V"), corpus("V V", "N/V")], Recipe())
    assert layers(found) == ["N N", "N", "V V", "V"]


# What is complete


def characters(letters: str, tags: str = "", line: int = 0) -> Sentence:
    rows = {"segmentation": layer_of(letters)} | ({"tag": layer_of(tags)} if tags else {})
    return Sentence(tuple("字" * len(rows["segmentation"])), rows, location=Location("k", line))


# Tags of characters


def chosen(*sentences: Sentence) -> list[Layer]:
    given = Corpus(sentences, "segmentation", "character")
    rng = np.random.default_rng(0)
    found = choose_tags(given, lambda candidates: sorted(candidates)[int(rng.integers(len(candidates)))])
    assert [s.layers["segmentation"] for s in found] == [s.layers["segmentation"] for s in sentences]
    return [s.layers.get("tag", ()) for s in found]


def test_a_word_gets_one_tag() -> None:
    (found,) = chosen(characters("B M E " * 30, "N/V " * 90))
    tags = [each[0] for each in found if each]
    assert all(len(set(tags[at : at + 3])) == 1 for at in range(0, 90, 3))
    assert len({tuple(tags[at : at + 3]) for at in range(0, 90, 3)}) == 2
    assert any(a != b for a, b in pairwise(tags))


@pytest.mark.parametrize("strategy", ["random", "first", "frequent"])
def test_boundaries_are_no_choice(strategy: str) -> None:
    """A choice of letter by letter would contradict itself; a fit shows that it does not."""
    rows = [
        characters("B/S B/M/E/S M/E S", "? ? N/V N"),
        characters("B/S M/E S", "? N/V V"),
        characters("B E S", "N N V"),
    ]
    given = Corpus((*rows,) * 20, "segmentation", "character")
    for task in ("segment", "segtag"):
        run = Run(SHORT)
        fitted = fit(*treated(strategy, [given], Recipe(Task(task)), run=run, seed=3), run=run)
        assert np.isfinite(fitted.model.weights).all()


# Argmax


@pytest.mark.parametrize("rows", [("N V", "N/V ?", "V/N N", "? ?"), ("N/V ?", "V/N N/?".replace("/?", "/V"), "? V")])
def test_argmax_is_the_best_sequence_of_the_first_model(rows: tuple[str, ...]) -> None:
    given, recipe = corpus(*rows), Recipe(precision="float64")
    full = discard(given)
    plain = replace(recipe, transitions=False, edges=False)
    first = fit([full], recipe, run=Run(SHORT)) if len(full) else fit([given], plain, run=Run(SHORT))
    expected = ChainPredictor(first.model).complete(given)
    (found,) = treated("argmax", [given], recipe, run=Run(SHORT))[0]
    assert layers([found]) == layers([expected])
    assert all(is_complete(sentence, "g") for sentence in found)


@pytest.mark.parametrize("coding", ["BMES", "BI", "boundary"])
@pytest.mark.parametrize("task", ["segment", "segtag"])
@pytest.mark.parametrize("complete", [True, False])
def test_argmax_on_characters(task: str, coding: str, complete: bool) -> None:
    rows = [
        characters("B E S", "N N V"),
        characters("S B E", "N V V"),
        characters("B/S M/E S", "? N/V V"),
        characters("B/S B/M/E/S E/S"),
    ]
    confident = replace(rows[2], confidence=(1.0, 0.5, 0.25), weight=3.0)
    given = Corpus((*rows[not complete : 2], confident, rows[3]), "segmentation", "character", weight=2.0)
    recipe = Recipe(Task(task, coding))
    (found,), _ = treated("argmax", [given], recipe, run=Run(SHORT))
    assert found.weight == 2.0
    for old, new in zip(given, recipe.task.prepare(found), strict=True):
        assert is_complete(new, "segmentation")
        assert (new.weight, new.confidence, new.forms) == (old.weight, old.confidence, old.forms)
    before, after = (recipe.task.prepare(each) for each in (given, found))
    for old, new in zip(before, after, strict=True):
        for a, b in zip(old.layers["segmentation"], new.layers["segmentation"], strict=True):
            assert b is not None
            assert a is None or b[0] in a or f"{b[0].partition('-')[0]}-*" in a
    assert np.isfinite(fit(*treated("argmax", [given], recipe, run=Run(SHORT)), run=Run(SHORT)).model.weights).all()
