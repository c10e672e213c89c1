"""A model and the reliability of its sources, learned by turns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

import tagweave as tw
from tagweave.corpus.candidates import Soft
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Layer, Sentence
from tagweave.errors import PlanError
from tagweave.learning.run import Run, Schedule
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.sources.answers import Answers
from tagweave.training.cascades.source_rounds import SourceRounds
from tagweave.training.fit.fit import fit
from tagweave.training.fit.recipe import Recipe

TAGS = {"a": "N", "b": "V", "c": "N", "d": "O", "e": "V"}
RIGHT = {"good": 0.95, "fair": 0.75, "poor": 0.4}
SHORT = Run(Schedule(iterations=4))


def crowd(sentences: int, seed: int = 0, seen: float = 1.0) -> Corpus:
    """Random words with one tag each, and what sources say of them; `gold` says what is right."""
    rng = np.random.default_rng(seed)

    def sentence() -> Sentence:
        forms = tuple(rng.choice(list(TAGS), 6).tolist())
        gold = [TAGS[form] for form in forms]
        layers = {name: _answers(rng, gold, right) for name, right in RIGHT.items() if rng.random() < seen}
        return Sentence(forms, {**layers, "gold": tuple((tag,) for tag in gold)})

    return Corpus(tuple(sentence() for _ in range(sentences)), "g")


def _answers(rng: np.random.Generator, gold: Sequence[str], right: float) -> Layer:
    wrong = {tag: sorted({*TAGS.values()} - {tag}) for tag in gold}
    return tuple((tag if rng.random() < right else str(rng.choice(wrong[tag])),) for tag in gold)


def rounds_of(corpus: Corpus, sources: tuple[str, ...] = tuple(RIGHT), **known: float) -> SourceRounds:
    names = (*sources, *known)
    recipe = Recipe(precision="float64")
    return SourceRounds(corpus, Answers.of_sentences(corpus, names), recipe, known, folds=2, run=SHORT)


def test_the_text_tells_who_is_right() -> None:
    corpus = crowd(60)
    rounds = rounds_of(corpus)
    first, best = rounds.first(), rounds.best(2)
    gold = np.array([c[0] for sentence in corpus for c in sentence.layers["gold"] if c])
    right = [(np.array(rounds.answers.labels)[each.labels.argmax(axis=1)] == gold).mean() for each in (first, best)]
    assert right[1] > 0.98 and right[1] > right[0]
    found = dict(zip(rounds.answers.sources, best.reliability.accuracy()[:, 0], strict=True))
    assert found == pytest.approx(RIGHT, abs=0.08)


def test_where_sources_hardly_meet_votes_come_first() -> None:
    corpus = crowd(6)
    alone = [each.with_layers_of([name]) for each, name in zip(corpus, tuple(RIGHT) * 2, strict=True)]
    rounds = rounds_of(corpus.with_sentences(alone))
    said = [c[0] for each in alone for layer in each.layers.values() for c in layer if c]
    first = rounds.first()
    assert [rounds.answers.labels[at] for at in first.labels.argmax(axis=1)] == said
    assert first.silence is None


def test_the_silence_of_functions_is_evidence() -> None:
    """Functions with a single tag each, one of which misses half of the words `c`: the text tells these."""
    rng = np.random.default_rng(5)

    def marked(sentence: Sentence) -> Sentence:
        gold = [c[0] for c in sentence.layers["gold"] if c]
        missed = [form == "c" and rng.random() < 0.5 for form in sentence.forms]
        layers = {
            tag: tuple((tag,) if own == tag and not out else None for own, out in zip(gold, missed, strict=True))
            for tag in TAGS.values()
        }
        return replace(sentence, layers={**layers, "gold": sentence.layers["gold"]})

    corpus = crowd(40).map(marked)
    rounds = replace(rounds_of(corpus, ("N", "O", "V")), speaks=True)
    first = rounds.first()
    believed = rounds.after(first)
    gold = [c[0] for sentence in corpus for c in sentence.layers["gold"] if c]
    assert [rounds.answers.labels[at] for at in believed.labels.argmax(axis=1)] == gold
    assert not first.known.all() and believed.known.all() and believed.silence is not None
    rates = believed.silence.rates[0]
    assert rates[rounds.answers.labels.index("N")] == pytest.approx(0.75, abs=0.1)
    assert rates[rounds.answers.labels.index("V")] < 0.1


def test_it_is_repeatable() -> None:
    corpus = crowd(12, seen=0.7)
    one, other = (rounds_of(corpus).best(1) for _ in range(2))
    np.testing.assert_array_equal(one.labels, other.labels)
    assert one.log_likelihood == other.log_likelihood is not None


def test_what_nobody_answered_stays_unknown() -> None:
    silent = Sentence(("a", "b"), {"good": (None, ("V",))})
    corpus = Corpus((*crowd(8).sentences, silent, Sentence(("c",))), "g")
    rounds = rounds_of(corpus)
    evidence = rounds.evidence(rounds.best(1))
    assert evidence[8].layers["g"][0] is None and isinstance(evidence[8].layers["g"][1], Soft)
    assert evidence[9].layers["g"] == (None,)


def test_gold_is_a_source_that_is_right() -> None:
    corpus = crowd(20)
    rounds = rounds_of(corpus, ("poor",), gold=1.0)
    believed = rounds.after(rounds.first())
    gold = [c[0] for sentence in corpus for c in sentence.layers["gold"] if c]
    assert [rounds.answers.labels[at] for at in believed.labels.argmax(axis=1)] == gold
    assert believed.reliability.is_known.tolist() == [False, True]


def test_the_log_probability_of_a_likelihood() -> None:
    """By the probabilities of labels, where the model sees one token."""
    model = fit([crowd(10).map(lambda each: each.with_layer("g", each.layers["gold"]))], Recipe(), run=SHORT).model
    tagger, likelihood = ChainPredictor(model), {"N": 1.0, "V": 0.25}
    (table,) = tagger.probabilities([Sentence(("a",))])
    expected = math.log(sum(likelihood.get(name, 0) * p for name, p in zip(tagger.labels, table[0], strict=True)))
    asked = Sentence(("a",), {"g": (Soft(likelihood, likelihood.values()),)})
    assert tagger.log_probabilities([asked, Sentence(("a",))], "g") == pytest.approx([expected, 0], abs=1e-5)


def test_corpora_in_memory_are_parts_of_one_text(capsys: pytest.CaptureFixture[str]) -> None:
    parts, how = [crowd(20), crowd(10, 1)], {"task": "tag", "iterations": 1, "source_folds": 2, "rounds": 1}
    found = tw.train(parts, method="sources", source_columns="good,fair", **how)
    assert [*found.about["reliability"]] == ["good", "fair"]
    assert "30 sentences with evidence" in capsys.readouterr().err
    with pytest.raises(PlanError, match="found no layer 'files', expected the names of layers, fair, "):
        tw.train(parts, method="sources", source_columns="files", **how)
    with pytest.raises(PlanError, match="found `sources` with the method sources, expected all text in TRAIN"):
        tw.train(parts[0], parts[1], method="sources", source_columns="good,fair", **how)
