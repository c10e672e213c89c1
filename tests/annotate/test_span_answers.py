"""Answers that mark spans: what they may be, who agrees with whom, and what comes of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_spans import (
    ADA,
    ADA_ONLY,
    BABBAGE,
    FORMS,
    GUIDELINE,
    LONDON,
    LONDON_ORG,
    all_of,
    answered,
    furnished,
    make_task,
    some,
)
from made_tasks import NN, OpenStore

from tagweave.annotate.assignment import RefusedError
from tagweave.annotate.dashboard import of_all, span_f
from tagweave.annotate.export import judgements, labelled, said_by_each, write, write_by_annotator
from tagweave.annotate.rules import Rule, aggregate, span_votes
from tagweave.annotate.task import CANNOT_TELL, NOT_A_WORD, Answer, Asks, Kind, Status, answer_of, marked
from tagweave.corpus.chunk_schemes import validate
from tagweave.corpus.load import load
from tagweave.corpus.spans import Span

PER = ("B-PER",), ("I-PER",)
OUT = ("O",)


class TestAnswer:
    @pytest.mark.parametrize(
        "spans",
        [(), (Span(0, 2, "A"), Span(1, 3, "A")), (Span(0, 0, "A"),), (Span(0, None, "A"),), (Span(0, 1, None),)],
    )
    def test_what_is_none(self, spans: tuple[Span, ...]) -> None:
        with pytest.raises(ValueError, match="found"):
            marked(spans, is_complete=False)

    def test_order_does_not_matter_and_the_text_leads_back(self) -> None:
        answer = some(LONDON, ADA)
        assert answer == some(ADA, LONDON) != all_of(ADA, LONDON)
        assert answer_of("spans", answer.text) == answer
        assert str(all_of()) == "0 spans"

    def test_a_task_takes_only_candidates_of_its_kind(self) -> None:
        with pytest.raises(ValueError, match="expected a span in the focus"):
            make_task(0, (make_task(0).candidates[0]._replace(stop=99),))


class TestRefused:
    @pytest.mark.parametrize(
        ("answer", "why"),
        [
            (NN, "this task asks for spans"),
            (NOT_A_WORD, "this task asks for spans"),
            (all_of(Span(6, 8, "PER")), "7 to 8 is not inside"),
            (all_of(Span(0, 1, "NAME")), "no such label"),
            (all_of(Span(0, 1, "PER\0")), "no such label"),
        ],
    )
    def test_an_answer_that_does_not_fit(self, open_store: OpenStore, answer: Answer, why: str) -> None:
        store = furnished(open_store())
        with pytest.raises(RefusedError, match=why):
            answered(store, answer)
        assert [*store.judgements()] == []


class TestAggregation:
    @pytest.mark.parametrize(
        ("answers", "expected"),
        [
            ((all_of(ADA), all_of(ADA)), (Status.AGREED, all_of(ADA))),
            ((all_of(ADA), all_of(ADA_ONLY)), (Status.OPEN, None)),
            # agreed on by span, though no two answers are the same
            ((all_of(ADA, LONDON), all_of(ADA), all_of(ADA, BABBAGE), all_of(ADA)), (Status.AGREED, all_of(ADA))),
            ((all_of(ADA), all_of(ADA_ONLY), all_of(ADA), all_of(ADA_ONLY)), (Status.DROPPED, None)),
            ((some(ADA), some(ADA, LONDON), all_of(ADA), some(ADA)), (Status.AGREED, some(ADA))),
            ((CANNOT_TELL, all_of(ADA), CANNOT_TELL, CANNOT_TELL), (Status.DROPPED, None)),
            ((all_of(ADA), CANNOT_TELL, all_of(ADA), all_of(ADA, LONDON)), (Status.AGREED, all_of(ADA))),
            ((some(ADA), some(LONDON), CANNOT_TELL, some(BABBAGE)), (Status.DROPPED, None)),
            # what is rejected needs all of the first two, or a majority; who marked everything has rejected the rest
            ((some(ADA, rejected=[LONDON]), some(ADA)), (Status.AGREED, some(ADA))),
            (
                (some(ADA, rejected=[LONDON, BABBAGE]), some(ADA, rejected=[LONDON])),
                (Status.AGREED, some(ADA, rejected=[LONDON])),
            ),
            ((some(rejected=[LONDON]), some(rejected=[BABBAGE])), (Status.DROPPED, None)),
            ((some(rejected=[LONDON]), some(rejected=[LONDON])), (Status.AGREED, some(rejected=[LONDON]))),
            (
                (some(ADA, rejected=[LONDON]), all_of(ADA), some(rejected=[LONDON]), some(ADA)),
                (Status.AGREED, some(ADA, rejected=[LONDON])),
            ),
            ((some(LONDON), all_of(ADA), some(ADA, rejected=[LONDON]), some(ADA)), (Status.AGREED, some(ADA))),
        ],
    )
    def test_of_two_and_two(self, answers: tuple[Answer, ...], expected: tuple[Status, Answer | None]) -> None:
        assert aggregate(answers, Rule())[:2] == expected

    @given(st.lists(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 3))), min_size=4, max_size=4))
    def test_what_is_agreed_on_overlaps_nothing(self, drawn: list[list[tuple[int, int]]]) -> None:
        answers = []
        for each in drawn:
            spans: list[Span] = []
            for start, length in each:
                if all(start + length <= one.start or start >= (one.stop or 0) for one in spans):
                    spans.append(Span(start, start + length, "A"))
            answers.append(marked(spans))
        votes = span_votes(answers, 3)
        marked(votes.agreed)
        for one in votes.disputed:
            marked([*votes.agreed, one])


class TestAgreement:
    def test_f_of_all(self, open_store: OpenStore) -> None:
        store = answered(furnished(open_store()), all_of(ADA, LONDON), all_of(ADA, LONDON_ORG))
        votes = store.votes(asks=Asks.SPANS)
        assert of_all(votes, span_f) == 0.5
        assert store.votes() == []  # of labels

    def test_who_left_something_open_is_not_compared(self, open_store: OpenStore) -> None:
        store = answered(furnished(open_store()), all_of(ADA, LONDON), some(ADA))
        assert of_all(store.votes(asks=Asks.SPANS), span_f) is None


class TestExport:
    @pytest.mark.parametrize(
        ("answers", "expected"),
        [
            ([all_of(ADA, LONDON)] * 2, (*PER, OUT, OUT, OUT, ("B-LOC",), OUT)),
            ([some(ADA)] * 2, (*PER, None, None, None, None, None)),
            ([all_of()] * 2, (OUT,) * 7),
            # London or not: the people are agreed on
            ([all_of(ADA, LONDON), all_of(ADA)] * 2, (*PER, OUT, OUT, OUT, None, OUT)),
        ],
    )
    def test_labels(self, open_store: OpenStore, answers: list[Answer], expected: tuple[object, ...]) -> None:
        store = answered(furnished(open_store()), *answers)
        (sentence,) = labelled(store, GUIDELINE)
        assert (sentence.forms, sentence.layers) == (FORMS, {GUIDELINE: expected})
        validate(sentence, GUIDELINE, "IOB2")

    def test_rejected_proposals_are_rejected_spans(self, open_store: OpenStore, tmp_path: Path) -> None:
        """What an answer says replaces what was rejected before."""
        store = furnished(open_store(), 0)
        sentence = make_task(0).sentence.rejecting(GUIDELINE, [BABBAGE]).rejecting("other", [ADA])
        store.add_labels(GUIDELINE, {"PER": ""})
        store.add_tasks([replace(make_task(0), sentence=sentence)])
        assert store.tasks(Status.OPEN, after=0, limit=1)[0].task.sentence == sentence
        answered(store, *[some(ADA, rejected=[LONDON])] * 2)
        (found,) = labelled(store, GUIDELINE)
        assert found.rejected == {GUIDELINE: (LONDON,), "other": (ADA,)}
        (each,) = said_by_each(store.judgements(), GUIDELINE)
        assert each.rejected == {"annotator_0": (LONDON,), "annotator_1": (LONDON,)}
        for form in ("columns", "conllu"):
            write(store, str(tmp_path / form), form, GUIDELINE)
            (again,) = load(f"{GUIDELINE}={tmp_path / form}", form)
            assert again.rejected == {GUIDELINE: (LONDON,)}
        write_by_annotator(store, str(tmp_path / "all"), GUIDELINE)
        assert load(str(tmp_path / "all"), "columns")[0].rejected == each.rejected
        assert json.loads(next(judgements(store.judgements())))["rejected"] == [LONDON._asdict()]
        assert "1 span, 1 rejected, the rest left open" in str(some(ADA, rejected=[LONDON]))

    def test_disputes_as_candidates(self, open_store: OpenStore) -> None:
        answers = all_of(ADA, LONDON), all_of(ADA_ONLY, LONDON_ORG), all_of(ADA, LONDON), all_of(ADA_ONLY, LONDON_ORG)
        store = answered(furnished(open_store()), *answers)
        (sentence,) = labelled(store, GUIDELINE, ambiguous=True)
        ada = ("B-PER",), ("I-PER", "O")
        assert sentence.layers[GUIDELINE] == (*ada, OUT, OUT, OUT, ("B-LOC", "B-ORG"), OUT)

    def test_what_somebody_left_open_is_no_candidate(self, open_store: OpenStore) -> None:
        store = answered(furnished(open_store()), *[some(ADA), all_of(ADA, LONDON)] * 2)
        (sentence,) = labelled(store, GUIDELINE, ambiguous=True)
        assert sentence.layers[GUIDELINE] == (*PER, *[None] * 5)

    def test_nothing_agreed_on_is_no_sentence(self, open_store: OpenStore) -> None:
        store = answered(furnished(open_store()), CANNOT_TELL, CANNOT_TELL)
        assert len(labelled(store, GUIDELINE, ambiguous=True)) == 0

    def test_judgements(self, open_store: OpenStore) -> None:
        store = answered(furnished(open_store()), all_of(LONDON))
        line = json.loads(next(judgements(store.judgements())))
        assert (line["asks"], line["kind"], line["complete"]) == ("spans", Kind.SPANS, True)
        assert line["spans"] == [{"start": 5, "stop": 6, "label": "LOC"}]
        assert line["candidates"][0] == {"label": "PER", "probability": 0.9, "start": 0, "stop": 2}
