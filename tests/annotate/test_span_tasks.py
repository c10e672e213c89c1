"""Sentences become tasks of spans, by a model or by what a corpus tells."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from made_spans import ADA, FORMS, GUIDELINE, LONDON, furnished
from made_tasks import OpenStore

from tagweave.annotate import retraining, selection
from tagweave.annotate.intake import put_known, put_known_spans, put_spans, put_uncertain
from tagweave.annotate.retraining import Retraining
from tagweave.annotate.rules import Settings
from tagweave.annotate.selection import ranked
from tagweave.annotate.store import Store
from tagweave.annotate.task import CANNOT_TELL, AnnotationTask, Asks, Candidate, Purpose, Status
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Location, Sentence
from tagweave.corpus.spans import Span, span_labels
from tagweave.errors import CorpusError
from tagweave.labels.transition_scheme import codes_spans
from tagweave.learning.run import Run, Schedule
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.training.fit.fit import fit
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import Task
from tagweave.training.plan import Plan

WORDS = ("Ada", "Babbage", "Paris", "London", "met", "saw", "in", "today")


def toy(seed: int, size: int) -> Corpus:
    """Names of people and places between other words, at random."""
    random = np.random.default_rng(seed)
    sentences = []
    for number in range(size):
        forms = [WORDS[i] for i in random.integers(len(WORDS), size=6)]
        groups = [(Span(t, t + 1, "PER" if w in WORDS[:2] else "LOC"),) for t, w in enumerate(forms) if w in WORDS[:4]]
        layer = {GUIDELINE: span_labels(groups, 6)}
        sentences.append(Sentence(tuple(forms), layer, location=Location("toy.txt", number + 1)))
    return Corpus(tuple(sentences), GUIDELINE)


def raw(sentence: Sentence) -> Sentence:
    return Sentence(sentence.forms, location=sentence.location)


GOLD = toy(1, 30)
RAW = GOLD.map(raw)


@pytest.fixture(scope="module")
def tagger() -> ChainPredictor:
    return trained(Task("spans"))


def trained(task: Task) -> ChainPredictor:
    return ChainPredictor(fit([toy(0, 6)], Recipe(task), run=Run(Schedule(2))).model)


def asked(store: Store, purpose: Purpose = Purpose.REAL) -> list[AnnotationTask]:
    return [each.task for each in store.tasks(Status.OPEN, purpose, limit=1000)]


class TestByAModel:
    def test_the_list_for_other_tools_has_the_order_of_the_server(self, tagger: ChainPredictor, tmp_path: Path) -> None:
        of_words = toy(0, 6).map(
            lambda each: each.with_layer(GUIDELINE, [(x[-3:],) for (x,) in each.layers[GUIDELINE]])
        )
        words = ChainPredictor(fit([of_words], Recipe(), run=Run(Schedule(2))).model)
        for number, model in enumerate((tagger, words)):
            store = Store.open(f"sqlite:///{tmp_path}/{number}.db", Settings(window=1, gold_share=0))
            put_uncertain(store, RAW, model, 0.5)
            person, served = store.add_annotator("ada").id, []
            while (lease := store.claim(person)) is not None:
                store.answer(person, lease.task_id, CANNOT_TELL)
                served.append(lease.task)
            store.close()
            listed = ranked(model, RAW, 0.5)
            assert [(each.sentence.location.line, each.start, each.uncertainty) for each in listed] == [
                (each.sentence.location.line, each.start, each.uncertainty) for each in served
            ]
            assert len(listed) == (15 if model is tagger else 90)

    def test_the_least_certain_fifth_with_probable_spans(self, store: Store, tagger: ChainPredictor) -> None:
        assert put_uncertain(store, RAW, tagger) == 6
        found = asked(store)
        assert all((task.asks, task.start, task.stop) == (Asks.SPANS, 0, 6) for task in found)
        chances = [[each.probability for each in task.candidates] for task in found]
        assert all(each == sorted(each, reverse=True) for each in chances)
        assert min(map(min, filter(None, chances))) >= 0.2
        for task in found:
            tokens = [at for each in task.candidates for at in range(each.start, each.stop)]
            assert len(tokens) == len({*tokens})
        assert store.labels(GUIDELINE) == {"LOC": "", "PER": ""}

    @pytest.mark.parametrize("task", [Task("tag"), *(Task("spans", coding) for coding in ("IOB1", "IOB2", "BIOES"))])
    def test_probabilities_are_those_of_all_sequences(self, task: Task) -> None:
        tagger = trained(task)
        sentence = Sentence(("Ada", "London", "x"))
        ranked = tagger.k_best(sentence, 5**3)
        exact: dict[tuple[int, int, str], float] = {}
        for each in ranked:
            for span in chunks(each.labels):
                exact[span] = exact.get(span, 0.0) + each.probability
        (found,) = tagger.spans([sentence], 1e-3)
        assert {(each.start, each.stop, each.label): each.probability for each in found} == pytest.approx(
            {span: p for span, p in exact.items() if p >= 1e-3}, abs=1e-5
        )

    def test_a_type_that_the_model_does_not_know_is_no_evidence(self, store: Store, tagger: ChainPredictor) -> None:
        told = span_labels([(Span(0, 1, "WORK"),)], 3, None)
        corpus = Corpus((Sentence(("Ada", "London", "x"), {GUIDELINE: told}),), GUIDELINE)
        assert put_uncertain(store, corpus, tagger, 1.0) == 1
        assert asked(store)[0].candidates == next(selection.span_tasks(tagger, [raw(corpus[0])], 1.0)).candidates

    def test_a_newer_model_proposes_other_spans(self, open_store: OpenStore, tagger: ChainPredictor) -> None:
        store = furnished(open_store())
        version = store.add_model("m", 0, 0.0)
        plan = Retraining("", "m", GUIDELINE, Plan(), "")
        retraining.rank(store, plan, tagger.model, version)
        (task,) = asked(store)
        assert (task.model, len(task.candidates) > 0) == (version, True)
        assert task.candidates != furnished(open_store()).tasks(Status.OPEN)[0].task.candidates


def chunks(labels: tuple[str, ...]) -> list[tuple[int, int, str]]:
    """Chunks of labels of a model without transitions: an I that continues nothing begins one."""
    found: list[tuple[int, int, str]] = []
    for t, (name, before) in enumerate(zip(labels, ("O", *labels), strict=False)):
        if name == "O":
            continue
        if name[0] == "I" and before[2:] == name[2:]:
            found[-1] = (found[-1][0], t + 1, name[2:])
        else:
            found.append((t, t + 1, name[2:]))
    return found


class TestByACorpus:
    PARTIAL = Sentence(FORMS, {GUIDELINE: span_labels([(ADA,), (LONDON, Span(5, 6, "ORG"))], 7, None)})

    def test_what_it_tells_is_proposed(self, store: Store) -> None:
        known = Sentence(("a",), {GUIDELINE: (("O",),)})
        assert put_spans(store, Corpus((self.PARTIAL, known, Sentence(("b", "c"))), GUIDELINE)) == 2
        first, second = asked(store)
        assert first.candidates == (
            Candidate("PER", 1.0, 0, 2),
            Candidate("LOC", 0.5, 5, 6),
            Candidate("ORG", 0.5, 5, 6),
        )
        assert (second.sentence.forms, second.candidates) == (("b", "c"), ())
        assert list(store.labels(GUIDELINE)) == ["LOC", "ORG", "PER"]

    def test_a_span_of_unknown_type_is_proposed(self, store: Store) -> None:
        sentence = Sentence(FORMS, {GUIDELINE: span_labels([(Span(0, 2, None),)], 7, None)})
        put_spans(store, Corpus((sentence,), GUIDELINE))
        assert asked(store)[0].candidates == (Candidate("*", 1.0, 0, 2),)

    def test_o_of_covered_types_alone_is_open(self, store: Store) -> None:
        known = Sentence(FORMS, {GUIDELINE: span_labels([(ADA,)], 7)})
        assert put_spans(store, Corpus((known,), GUIDELINE, covered=("B-PER", "I-PER", "O"))) == 1
        assert put_known_spans(store, Corpus((known,), GUIDELINE, covered=("B-PER", "O")), Purpose.GOLD, 9) == 0
        assert asked(store)[0].candidates == (Candidate("PER", 1.0, 0, 2),)

    def test_other_codings_are_read(self, store: Store) -> None:
        sentence = Sentence(("a", "b", "c"), {GUIDELINE: (("B-X",), ("E-X",), None)})
        put_spans(store, Corpus((sentence,), GUIDELINE))
        assert asked(store)[0].candidates == (Candidate("X", 1.0, 0, 2),)

    def test_labels_that_code_none_are_refused(self, open_store: OpenStore) -> None:
        with pytest.raises(CorpusError, match="the label 'NN'"):
            put_spans(open_store(), Corpus((Sentence(("a", "b"), {GUIDELINE: (("NN",), None)}),), GUIDELINE))


class TestKnown:
    @pytest.mark.parametrize("by_model", [True, False])
    def test_gold_is_planted_and_hidden(self, store: Store, tagger: ChainPredictor, by_model: bool) -> None:
        put = put_known if by_model else put_known_spans
        assert put(store, GOLD, Purpose.GOLD, 5, tagger if by_model else None) == 5
        for task in asked(store, Purpose.GOLD):
            assert task.gold is not None
            assert set(task.sentence.layers.get(GUIDELINE, (None,))) == {None}
            right = next(each for each in GOLD if each.location == task.sentence.location)
            assert span_labels([(span,) for span in task.gold.spans], 6) == right.layers[GUIDELINE]
            assert bool(task.candidates) == by_model


@pytest.mark.parametrize(
    ("labels", "expected"),
    [(("O", "B-X", "I-X"), True), (("O",), False), (("B-X", "NN"), False), (("B", "M", "E", "S"), False)],
)
def test_which_labels_code_spans(labels: tuple[str, ...], expected: bool) -> None:
    assert codes_spans(labels) == expected


def test_every_type_of_every_coding() -> None:
    names = ["O", *(f"{letter}-{kind}" for letter, kind in product("BIES", ("LOC", "PER-X")))]
    assert selection.types_of(names) == ["LOC", "PER-X"]
