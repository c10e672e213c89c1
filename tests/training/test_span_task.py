"""The task spans: legal sequences in every coding, spans in IOB2 in and out, partial spans as evidence."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import tagweave as tw
from tagweave.corpus.chunk_schemes import SCHEMES, convert, validate
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Location, Sentence
from tagweave.corpus.spans import Span
from tagweave.errors import CorpusError, PlanError
from tagweave.models.assembly import check
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.training.fit.fit import fit, prepare
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import Task

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


@pytest.mark.parametrize("coding", SCHEMES)
def test_a_marked_span_ends_before_an_unknown_token(coding: str) -> None:
    assert Task("spans", coding).prepare(PARTIAL).sentences[0].layers["tag"][:2] == (None, None)
    spans = set()
    for each in untrained(coding).k_best(PARTIAL.sentences[0], 50, "tag"):
        spans |= set(PARTIAL.sentences[0].with_layer("tag", [(label,) for label in each.labels]).spans("tag"))
    assert {span.stop for (span,) in spans if span.start == 2} == {4}
    assert {span.stop for (span,) in spans if span.start == 5} == {6}


def test_covered_types_leave_others_possible_outside() -> None:
    corpus = replace(FULL, covered=("PER", "LOC", "O"))
    problem = prepare([corpus], Recipe(Task("spans")), names=("B-MISC",))
    first = problem.sets.labels(int(problem.objective.encoded.evidence.sets[0]))
    names = {problem.model.space.names[label] for label in first}
    assert {"O", "B-MISC", "S-MISC", "B-ORG"} <= names
    assert not {"B-PER", "S-LOC"} & names


def untrained(coding: str, names: tuple[str, ...] = ()) -> ChainPredictor:
    """A predictor of random weights."""
    model = prepare([FULL], Recipe(Task("spans", coding)), names=names).model
    return ChainPredictor(replace(model, weights=np.random.default_rng(0).normal(size=len(model.weights))))


@pytest.mark.parametrize("coding", SCHEMES)
def test_a_corpus_is_read_by_one_coding(coding: str) -> None:
    """One sentence alone could be of another one: an unknown word before `I-LOC`, or after `B-LOC`."""
    forms = ("in", "Porto", "Alegre", ".")
    ends = Sentence(forms[:2], {"tag": (("O",), ("S-LOC",))})
    open_end = Sentence(forms, {"tag": (None, ("B-LOC",), None, None)})
    marked = untrained(coding).complete(Corpus((open_end, ends))).sentences[0].layers["tag"]
    assert marked[2] == ("I-LOC",)
    assert marked[1] == ("B-LOC",) or coding == "IOB1"  # which cannot say where the span begins
    begins = Sentence(forms[1:2], {"tag": (("I-LOC",),)})
    alone = Sentence(forms, {"tag": (None, ("I-LOC",), None, None)})
    tables = untrained(coding).probabilities([alone, begins], "tag")
    number = untrained(coding).labels.index("I-LOC")
    assert tables[0][2, number] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("covered", [("B-PER", "I-PER", "O"), ("PER",)])
@pytest.mark.parametrize("coding", SCHEMES)
def test_covered_labels_are_those_of_any_coding(coding: str, covered: tuple[str, ...]) -> None:
    tagger = untrained(coding)
    [table] = tagger.probabilities([Sentence(("Anna", "Bell"), {"tag": (("O",), ("O",))})], "tag", covered)
    excluded = [name.endswith("-PER") for name in tagger.labels]
    assert table[:, excluded].max() < 1e-9
    assert table[:, ~np.array(excluded)].min(axis=1)[1] > 0


@pytest.mark.parametrize("coding", SCHEMES)
def test_probabilities_are_of_labels_in_iob2(coding: str) -> None:
    tagger, number = untrained(coding), {name: at for at, name in enumerate(untrained(coding).labels)}
    for layer in ({}, {"tag": (None, ("O", "B-PER", "I-PER"), None)}):
        sentence = Sentence(("Anna", "met", "Bell"), layer)
        [table], expected = tagger.probabilities([sentence], "tag"), np.zeros((3, len(number)))
        every = tagger.k_best(sentence, 1000, "tag")
        assert sum(each.probability for each in every) == pytest.approx(1, abs=1e-6)
        for each in every:
            validate(sentence.with_layer("tag", [(label,) for label in each.labels]), "tag", "IOB2")
            expected[np.arange(3), [number[label] for label in each.labels]] += each.probability
        assert table == pytest.approx(expected, abs=1e-5)


def test_a_label_without_meaning_is_named_with_its_line() -> None:
    sentence = Sentence(("a", "b"), {"tag": (("O",), ("B-X", "b"))}, location=Location("file", 7))
    with pytest.raises(CorpusError, match="file:7: found the label 'b'"):
        Task("spans").prepare(Corpus((sentence,)))


@pytest.mark.parametrize("other", ["B-", "O-X", "B-*", "I-MORE"])
def test_a_model_file_has_all_labels_of_its_coding_and_no_others(other: str) -> None:
    described = json.dumps(prepare([FULL], Recipe(Task("spans", "IOB1"))).model.to_json())
    check(json.loads(described))
    with pytest.raises(ValueError, match="found"):
        check(json.loads(described.replace('"B-PER"', f'"{other}"')))


def test_more_folds_than_sentences_are_an_error_of_the_plan() -> None:
    few = FULL.with_sentences(FULL.sentences[:1])
    with pytest.raises(PlanError, match="expected 2 to 1, the number of sentences"):
        tw.train(few, task="spans", incomplete="folds", callback=_Silent())


class _Silent:
    def iteration(self, iteration: object, limit: int) -> None:
        """Print nothing."""
