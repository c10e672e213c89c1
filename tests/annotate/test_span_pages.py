"""The pages on which spans are marked and decided, by plain forms and as the script asks for them."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from browsing import Browser, signed_in
from made_spans import ADA, ADA_ONLY, BABBAGE, GUIDELINE, LONDON, all_of, answered, make_task, some
from made_tasks import GUIDELINE as TAGS
from made_tasks import make_task as make_label_task

from tagweave.annotate.rules import Admission, Settings
from tagweave.annotate.store import Store
from tagweave.annotate.task import CANNOT_TELL, AnnotationTask, Answer, Asks, Purpose, Status, marked
from tagweave.corpus.sentence import Location, Sentence
from tagweave.corpus.spans import Span


@pytest.fixture
def ada(span_store: Store) -> Browser:
    browser = signed_in(span_store, "ada")
    browser.task()
    return browser


def steps(page: str) -> str:
    found = re.search(r'name=\\?"steps\\?" value=\\?"([^"\\]*(?:\\n[^"\\]*)*)', page)
    assert found
    return unescape(found[1]).replace("\\n", "\n")


def answers(span_store: Store) -> list[Answer]:
    return [each.answer for each in span_store.judgements()]


def test_all_that_is_shown(span_store: Store, ada: Browser) -> None:
    page = ada.look("/task")
    assert re.findall(r'name="step" value="([^"]*)"', page) == [
        f"{action} {span}" for span in ("0 2 PER", "5 6 LOC", "5 6 ORG") for action in ("mark", "reject")
    ]
    assert re.findall(r'name="type" value="(\w+)" data-key="(\d)"', page) == [
        ("PER", "1"),
        ("LOC", "2"),
        ("ORG", "3"),
        ("MISC", "4"),
    ]
    assert "&lt;b&gt;the rest&lt;/b&gt;" in page
    assert "90%" in page


def test_steps_change_the_form_alone_and_done_is_an_answer(span_store: Store, ada: Browser) -> None:
    number = ada.task()
    page = ada.fill("/task", task=number, steps="", step="mark 0 2 PER")
    page = ada.fill("/task", task=number, steps=steps(page), type="PER", first=3, last=3)
    assert steps(page) == "mark 0 2 PER\nmark 3 4 PER"
    assert "Marked: Babbage, PER." in page
    page = ada.fill("/task", task=number, steps=steps(page), back=1)
    page = ada.fill("/task", task=number, steps=steps(page), type="LOC", first=5, last=5)
    assert answers(span_store) == []
    assert "Saved: 2 spans." in ada.fill("/task", task=number, steps=steps(page), answer="all marked")
    assert answers(span_store) == [all_of(ADA, LONDON)]
    assert ada.task() != number


@pytest.mark.parametrize(("answer", "expected"), [("some marked", some(ADA)), ("can't tell", CANNOT_TELL)])
def test_other_answers(span_store: Store, ada: Browser, answer: str, expected: Answer) -> None:
    ada.fill("/task", task=ada.task(), steps="mark 0 2 PER", answer=answer)
    assert answers(span_store) == [expected]


def test_what_is_refused_leaves_the_draft(span_store: Store, ada: Browser) -> None:
    table: list[tuple[dict[str, Any], str]] = [
        ({"step": "mark 0 1 PER"}, "“Ada” overlaps “Ada Lovelace”, which is marked"),
        ({"step": "mark 6 9 PER"}, "not in the text"),
        ({"step": "mark 6 7 NAME"}, "no such label"),
        ({"type": "<b>", "first": 6, "last": 6}, "no such label"),
        ({"type": "PER"}, "no words are selected"),
        ({"type": "PER", "first": 3, "last": 300}, "not in the text"),
        ({"answer": "nothing here"}, "1 span is marked, expected none"),
    ]
    for fields, why in table:
        page = ada.fill("/task", 409, task=ada.task(), steps="mark 0 2 PER", **fields)
        assert why in unescape(page)
        assert steps(page) == "mark 0 2 PER"
    assert answers(span_store) == []


@pytest.mark.parametrize(
    ("sent", "spans"),
    [(("mark 0 2 PER", "all marked"), (Span(0, 2, "PER"),)), (("", "all marked"), ()), (("", "nothing here"), ())],
)
def test_done_rejects_all_that_was_not_accepted(
    span_store: Store, ada: Browser, sent: tuple[str, str], spans: tuple[Span, ...]
) -> None:
    page = ada.look("/task")
    assert 'value="nothing here" data-key="0"' in page
    ada.fill("/task", task=ada.task(), steps=sent[0], answer=sent[1])
    assert answers(span_store) == [marked(spans)]


def test_what_no_page_sends(span_store: Store, ada: Browser) -> None:
    table: list[tuple[dict[str, Any], int]] = [
        ({"steps": "mark 0 2 PER\nmark 1 3 PER", "step": "mark 5 6 LOC"}, 409),
        ({"steps": "mark 0 2", "step": "mark 5 6 LOC"}, 400),
        ({"steps": "", "step": "[[0,2]]"}, 400),
        ({"steps": "", "answer": "spans"}, 400),
        ({"steps": "", "answer": "label PER"}, 400),
        ({"steps": "mark 0 2 NAME", "answer": "some marked"}, 409),
        ({"answer": "spans"}, 400),
        ({"answer": "label PER"}, 409),
        ({"answer": "not a word"}, 409),
        ({"task": 2, "steps": "", "step": "mark 5 6 LOC"}, 409),
        ({"task": 99, "steps": "", "step": "mark 5 6 LOC"}, 409),
    ]
    number = ada.task()
    assert number != 2
    for fields, status in table:
        ada.fill("/task", status, **{"task": number, **fields})
        assert answers(span_store) == [], fields
        assert ada.task() == number, fields


def test_spans_are_no_answer_to_a_label(span_store: Store) -> None:
    span_store.add_tasks([make_label_task(9, uncertainty=9.0)])
    browser = signed_in(span_store, "bob")
    while f">{TAGS}<" not in browser.look("/task"):
        browser.fill("/task", task=browser.task(), steps="", answer="can't tell")
    browser.fill("/task", 400, task=browser.task(), steps="mark 0 1 NN", answer="all marked")


def test_undo_brings_the_marks_back(span_store: Store, ada: Browser) -> None:
    number = ada.task()
    ada.fill("/task", task=number, steps="mark 0 2 PER\nreject 5 6 LOC\nreject 5 6 ORG", answer="all marked")
    reply = ada.ask("/task/undo")
    assert f'name="task" value="{number}"' in reply["main"]
    assert steps(reply["main"]) == "mark 0 2 PER\nreject 5 6 LOC\nreject 5 6 ORG"


def test_training_tells_the_right_spans(tmp_path: Path) -> None:
    span_store = Store.open(f"sqlite:///{tmp_path / 'answers.db'}", Settings(admission=Admission(2, 1.0)))
    span_store.add_labels(GUIDELINE, {"PER": "", "LOC": ""})
    task = make_task(0)
    named = [AnnotationTask(task.sentence, 0, 7, GUIDELINE, (), 0.0, Purpose.TRAINING, all_of(ADA), asks=Asks.SPANS)]
    span_store.add_tasks(named)
    browser = signed_in(span_store, "ada")
    reply = browser.ask("/task", task=browser.task(), steps="mark 0 1 PER", answer="all marked")
    assert reply["message"] == "You answered Ada (PER); the right answer is Ada Lovelace (PER)."
    assert span_store.training_results(1) == [False]
    span_store.close()


class TestCurator:
    @pytest.fixture
    def edith(self, span_store: Store) -> Browser:
        """People disagree on London; all have marked Ada, one Babbage."""
        answered(span_store, all_of(ADA, LONDON), all_of(ADA, BABBAGE), all_of(ADA), all_of(ADA, LONDON))
        return signed_in(span_store, "edith", "curator")

    def test_decides_on_disputed_spans(self, span_store: Store, edith: Browser) -> None:
        (dropped,) = span_store.tasks(Status.DROPPED)
        page = edith.look("/adjudication")
        rows = re.findall(
            r'<li class="row (\w+)".*?<b dir="auto">(.*?)</b>.*?class="names" dir="auto">(.*?)<', page, re.S
        )
        everybody = ", ".join(f"annotator {n}" for n in range(4))
        assert rows == [
            ("marked", "Ada Lovelace", everybody),
            ("proposed", "London", "annotator 0, annotator 3"),
            ("rejected", "Babbage", "annotator 1"),  # three of four are against it
        ]
        page = edith.fill("/adjudication", task=dropped.id, steps="", step="mark 5 6 LOC")
        assert "Marked: London, LOC." in page
        page = edith.fill("/adjudication", task=dropped.id, steps=steps(page), answer="all marked")
        assert "Decided: there are Ada Lovelace (PER), London (LOC)." in page
        found = span_store.task(dropped.id)
        assert (found.status, found.outcome) == (Status.ADJUDICATED, all_of(ADA, LONDON))
        assert "Ada Lovelace (PER), London (LOC)" in edith.look(f"/adjudication?again={dropped.id}")


def test_characters_and_a_part_of_a_sentence(span_store: Store) -> None:
    sentence = Sentence(tuple("李明去北京"), location=Location("x", 1))
    span_store.add_tasks([AnnotationTask(sentence, 2, 5, GUIDELINE, uncertainty=9.0, asks=Asks.SPANS)])
    browser = signed_in(span_store, "eve")
    page = browser.look("/task")
    assert page.count('class="outside"') == 2
    assert re.findall(r'data-token="(\d)">(.)<', page) == [("2", "去"), ("3", "北"), ("4", "京")]
    browser.fill("/task", 409, task=browser.task(), steps="", type="PER", first=0, last=1)
    page = browser.fill("/task", task=browser.task(), steps="", type="LOC", first=4, last=3)
    assert "Marked: 北京, LOC." in page


def test_text_is_escaped(span_store: Store) -> None:
    forms = ("<script>alert(1)</script>", '"', "x")
    task = AnnotationTask(Sentence(forms, location=Location("x", 1)), 0, 3, GUIDELINE, (), 9.0, asks=Asks.SPANS)
    span_store.add_tasks([task])
    browser = signed_in(span_store, "eve")
    while "alert" not in (page := browser.look("/task")):
        browser.fill("/task", task=browser.task(), steps="", answer="can't tell")
    assert "<script>alert" not in page
    page = browser.fill("/task", task=browser.task(), steps="", type="PER", first=0, last=1)
    assert "<script>alert" not in page
    assert ADA_ONLY.label in page
