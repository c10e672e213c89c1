"""The task spans: legal sequences in every coding, spans in IOB2 in and out, partial spans as evidence."""

from __future__ import annotations

from dataclasses import replace

import pytest

import tagweave as tw
from tagweave.corpus.chunk_schemes import SCHEMES, convert, validate
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.corpus.spans import Span
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.training.fit import fit, prepare
from tagweave.training.recipe import Recipe
from tagweave.training.task import Task

FORMS = ["we", "met", "Anna", "Bell", "in", "Paris", ",", "near", "Acme", "Corp", "of", "Nice", "."]
SPANS = [(Span(2, 4, "PER"),), (Span(5, 6, "LOC"),), (Span(8, 10, "ORG"),), (Span(11, 12, "LOC"),)]
FULL = Corpus((Sentence(tuple(FORMS)).with_spans("tag", SPANS),) * 3)
PARTIAL = Corpus((Sentence(tuple(FORMS)).with_spans("tag", SPANS[:2], None),) * 3)


@pytest.mark.parametrize("coding", SCHEMES)
@pytest.mark.parametrize("given", SCHEMES)
def test_spans_come_back_in_iob2_from_every_coding(coding: str, given: str) -> None:
    recipe = Recipe(Task("spans", coding))
    model = fit([convert(FULL, given)], recipe, dev=FULL).model
    [labelled] = ChainPredictor(model).tag([Sentence(tuple(FORMS))])
    assert labelled.spans("tag") == tuple(SPANS)
    assert model.about["dev_score"] == 1
    tables = ChainPredictor(model).probabilities([labelled])
    assert tables[0].sum(axis=1) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("coding", SCHEMES)
def test_only_legal_sequences_are_decoded(coding: str) -> None:
    problem = prepare([PARTIAL], Recipe(Task("spans", coding)))
    model = replace(problem.model, weights=problem.model.weights + 1)
    [labelled] = ChainPredictor(model).complete(PARTIAL.with_sentences(PARTIAL.sentences[:1]))
    validate(labelled, "tag", "IOB2")
    assert set(SPANS[:2]) <= set(labelled.spans("tag"))


def test_a_marked_span_ends_before_an_unknown_token() -> None:
    problem = prepare([PARTIAL], Recipe(Task("spans")))
    allow, names = problem.objective.encoded.allow, problem.model.space.names
    own = [{names[label] for label in problem.sets.labels(number)} for number in allow[: len(FORMS)]]
    assert own[2:4] == [{"B-PER"}, {"E-PER"}]
    assert own[5] == {"S-LOC"}
    assert own[0] == own[6] == set(names)


def test_covered_types_leave_others_possible_outside() -> None:
    corpus = replace(FULL, covered=("PER", "LOC", "O"))
    problem = prepare([corpus], Recipe(Task("spans")), names=("B-MISC",))
    first = problem.sets.labels(int(problem.objective.encoded.allow[0]))
    names = {problem.model.space.names[label] for label in first}
    assert {"O", "B-MISC", "S-MISC", "B-ORG"} <= names
    assert not {"B-PER", "S-LOC"} & names


def test_the_front_door_trains_spans() -> None:
    model = tw.train(FULL, task="spans", iterations=3, callback=_Silent())
    assert model.chain.task == "spans"


class _Silent:
    def iteration(self, iteration: object, limit: int) -> None:
        """Print nothing."""
