"""Completion by models of other folds, and the baselines that take what is unknown for O."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tagweave as tw
from tagweave.corpus.candidates import Soft
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.files import digest
from tagweave.corpus.load import save
from tagweave.corpus.sentence import Sentence
from tagweave.corpus.spans import Span
from tagweave.errors import CorpusError, PlanError
from tagweave.learning.run import Silence
from tagweave.training.cascades.incomplete import (
    FoldCompletion,
    believed,
    completed,
    leaves_out_spans,
    outside_elsewhere,
    ratio_from,
    ratio_of,
)
from tagweave.training.fit.recipe import SPAN_SETTINGS, EntityRatio, Recipe
from tagweave.training.fit.task import Task

PLACES = ["Bonn", "Lyon", "Turin", "Porto", "Graz", "Bern"]
RECIPE = Recipe(Task("spans"))


def corpus(marked: int, elsewhere: tuple[str, ...] | None) -> Corpus:
    """A sentence for each of two places, of which only some are marked."""
    sentences = []
    for number, place in enumerate(PLACES * 2):
        spans = [(Span(3, 4, "LOC"),)] if number % len(PLACES) < marked else []
        sentences.append(Sentence(("they", "live", "in", place, "now")).with_spans("tag", spans, elsewhere))
    return Corpus(tuple(sentences))


GOLD = corpus(len(PLACES), ("O",))


@pytest.mark.parametrize("soft", [False, True])
def test_models_of_other_folds_complete_what_is_unknown(soft: bool) -> None:
    recipe = replace(RECIPE, ratio=EntityRatio(0.2, 0.02, 2.0))
    [done] = completed([corpus(4, None)], recipe, FoldCompletion(folds=2, rounds=2, soft=soft))
    assert [sentence.layers["tag"] for sentence in done] == [sentence.layers["tag"] for sentence in GOLD]
    believed = [sentence.confidence for sentence in done]
    assert all(each is not None and all(0 < p <= 1 for p in each) for each in believed) if soft else not any(believed)


def test_given_spans_stay() -> None:
    odd = corpus(0, None)
    first = odd[0].with_spans("tag", [(Span(0, 1, "PER"),)], None)
    odd = odd.with_sentences((first, *odd.sentences[1:]))
    [done] = completed([odd], RECIPE, FoldCompletion(rounds=1))
    assert done[0].spans("tag") == ((Span(0, 1, "PER"),),)


@pytest.mark.parametrize("document", [False, True])
def test_types_that_were_not_looked_for_are_completed_too(document: bool) -> None:
    """Each sentence has a place; half of them were read for persons alone, so their O may be a place."""
    full = corpus(6, ("O",)).sentences[:6]
    persons = [Sentence(each.forms).with_spans("tag", [(Span(0, 1, "PER"),)]) for each in full]
    if document:
        mixed = Corpus((*full, *(replace(each, covered=("PER",)) for each in persons)))
        given = [mixed]
    else:
        given = [Corpus(full), Corpus(tuple(persons), covered=("PER",))]
    done = completed(given, RECIPE, FoldCompletion(rounds=1, folds=6))
    assert all(each.covered_in(sentence) is None for each in done for sentence in each)
    spans = [span for sentence in done[-1].sentences[-6:] for (span,) in sentence.spans("tag")]
    assert spans.count(Span(0, 1, "PER")) == 6
    assert Span(3, 4, "LOC") in spans


def test_unknown_as_outside_with_a_confidence() -> None:
    [sure] = outside_elsewhere(corpus(6, None)).sentences[:1]
    assert sure.layers["tag"] == GOLD[0].layers["tag"]
    assert sure.confidence is None
    [doubtful] = outside_elsewhere(corpus(6, None), 0.4).sentences[:1]
    assert doubtful.confidence == (0.4, 0.4, 0.4, 1.0, 0.4)


def test_labels_of_spans_and_outside_are_believed_apart() -> None:
    [doubted] = believed([corpus(6, ("O",))], 0.9, 0.2)
    assert doubted[0].confidence == (0.2, 0.2, 0.2, 0.9, 0.2)
    [unknown] = believed([corpus(6, None)], 0.9, 0.2)
    assert unknown[0].confidence == (1, 1, 1, 0.9, 1)


@pytest.mark.parametrize(
    "options",
    [
        {"incomplete": "outside"},
        {"incomplete": "outside", "outside_confidence": 0.5},
        {"incomplete": "folds", "soft": True},
        {"incomplete": "outside", "outside_confidence": 0.1, "span_confidence": 0.9, "entity_ratio": "0.2"},
        {"entity_ratio": 0.2},
        {"entity_ratio": "0.2", "incomplete": "folds"},
    ],
)
def test_every_way_to_learn_from_what_is_missing(options: dict[str, Any]) -> None:
    model = tw.train(corpus(6, None), task="spans", callback=Silence(), **options)
    [labelled] = model.tag([("we", "live", "in", "Bern", "now")])
    assert labelled == ["O", "O", "O", "B-LOC", "O"]


def test_a_ratio_makes_steps_smaller_unless_a_rate_is_given() -> None:
    def weights(**options: Any) -> Any:
        quick = {"iterations": 2, "callback": Silence(), "average_seeds": 1}
        return tw.train(corpus(6, None), task="spans", entity_ratio=0.2, **quick, **options).trained.weights

    usual = weights()
    assert np.array_equal(usual, weights(settings={"rate": 0.3 * SPAN_SETTINGS["rate"]}))
    assert not np.array_equal(usual, weights(settings=SPAN_SETTINGS))


def test_a_ratio_is_counted_in_a_corpus(tmp_path: Path) -> None:
    counted, lines = tmp_path / "gold.conll", []
    save(GOLD, str(counted), "columns")
    assert ratio_from(str(counted), 0.1, 2.0, lines.append) == EntityRatio(0.2, 0.1, 2.0)
    assert "20.0 % of the tokens" in lines[0]
    with pytest.raises(CorpusError, match="complete annotation"):
        ratio_of(replace(GOLD, covered=("LOC",)))
    for wrong in ("1.5", "40%"):
        with pytest.raises(PlanError, match="expected a share from 0 to 1"):
            ratio_from(wrong, 0.1, 2.0)


def test_the_corpus_of_a_ratio_is_in_the_plan(tmp_path: Path) -> None:
    counted = tmp_path / "gold.conll"
    save(GOLD, str(counted), "columns")
    model = tw.train(GOLD, task="spans", callback=Silence(), entity_ratio=str(counted), iterations=1)
    expected = {"path": counted.name, "sha256": digest(str(counted)), "size": len(GOLD)}
    assert model.chain.about["plan"]["ratio_corpus"] == expected


def test_spans_alone_are_noticed_beside_complete_sentences() -> None:
    name, soft = GOLD.guideline, Soft(("O", "B-X"), (0.9, 0.1))
    assert leaves_out_spans([(corpus(4, None), name)])
    assert leaves_out_spans([(each, name) for each in (corpus(4, None), GOLD)])
    assert not leaves_out_spans([(GOLD, name)])
    for outside in (("O",), soft):
        assert not leaves_out_spans([([Sentence(("a", "b", "c"), {name: (("B-X",), outside, None)})], name)])


def test_the_ratio_of_spans_alone_is_that_of_complete_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    """Of the development data if they are complete, else of TRAIN; without any, the ratio has to be given."""
    alone, mixed = corpus(4, None), GOLD.with_sentences([*corpus(4, None), *GOLD])
    dev = GOLD.with_sentences(Sentence(("so", *each.forms), {"tag": (("O",), *each.layers["tag"])}) for each in GOLD)

    def told(train: Corpus, dev: Corpus | None = None) -> str:
        tw.train(train, dev=dev, task="spans", iterations=1)
        return capsys.readouterr().err

    assert f"the development data: {100 * ratio_of(dev):.1f} % of the tokens" in told(alone, dev)
    assert f"the {len(GOLD)} complete sentences of TRAIN with an O: {100 * ratio_of(GOLD):.1f} % of the tokens" in told(
        mixed
    )
    assert "inside spans" not in told(GOLD)
    for incomplete in (None, corpus(3, None)):
        with pytest.raises(PlanError, match="entity_ratio"):
            told(alone, incomplete)


@pytest.mark.parametrize(
    ("task", "options", "message"),
    [
        ("tag", {"incomplete": "folds"}, "expected the task spans"),
        ("tag", {"entity_ratio": "0.2"}, "expected the task spans"),
        ("spans", {"entity_ratio": "0.2", "learner": "perceptron"}, "a learner that follows a gradient"),
        ("spans", {"soft": True}, "found `soft` with `incomplete=marginal`, expected `incomplete=folds`"),
        ("spans", {"completion_rounds": 3, "incomplete": "outside"}, "found `completion_rounds` with"),
    ],
)
def test_what_does_not_go_together_is_refused(task: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(PlanError, match=message):
        tw.train(GOLD, task=task, callback=Silence(), **options)
