"""Steps in marking spans, and the spans that they leave marked."""

from __future__ import annotations

import pytest
from made_spans import ADA, ADA_ONLY, BABBAGE, LONDON, LONDON_ORG, all_of, make_task, some

from tagweave.annotate.assignment import RefusedError
from tagweave.annotate.draft import Draft, SpanStep, read_steps, steps_to
from tagweave.annotate.page_request import FieldError
from tagweave.annotate.task import Candidate
from tagweave.corpus.spans import Span

TASK = make_task(0)


def mark(span: Span) -> SpanStep:
    return SpanStep("mark", span)


def reject(span: Span) -> SpanStep:
    return SpanStep("reject", span)


def states(draft: Draft) -> dict[Span, str]:
    return {row.span: row.state.value for row in draft.rows}


def test_proposals_come_first_and_in_their_order() -> None:
    draft = Draft(TASK, steps=(mark(BABBAGE), mark(LONDON)))
    assert states(draft) == {ADA: "proposed", LONDON: "marked", LONDON_ORG: "rejected", BABBAGE: "marked"}
    assert [row.probability for row in draft.rows] == [0.9, 0.6, 0.3, None]


@pytest.mark.parametrize(
    ("steps", "spans"),
    [
        ((mark(ADA), reject(ADA)), ()),
        ((mark(LONDON), mark(LONDON_ORG)), (LONDON_ORG,)),  # another type
        ((reject(ADA), mark(ADA_ONLY)), (ADA_ONLY,)),
        ((reject(ADA), mark(ADA)), (ADA,)),
        ((reject(BABBAGE),), ()),
    ],
)
def test_what_is_left(steps: tuple[SpanStep, ...], spans: tuple[Span, ...]) -> None:
    draft = Draft(TASK, steps=steps)
    assert draft.spans == spans
    assert read_steps(draft.written) == steps


@pytest.mark.parametrize(
    ("step", "why"),
    [
        (mark(ADA_ONLY), "“Ada” overlaps “Ada Lovelace”"),
        (mark(Span(6, 8, "PER")), "not in the text"),
        (reject(Span(3, 3, "PER")), "not in the text"),
        (mark(Span(3, 4, "O")), "cannot have the type O"),
        (mark(Span(3, 4, "*")), r"cannot have the type \*"),
    ],
)
def test_what_is_refused(step: SpanStep, why: str) -> None:
    with pytest.raises(RefusedError, match=why):
        Draft(TASK, first=(ADA,)).then(step)


def test_an_answer_decides_on_every_proposal() -> None:
    draft = Draft(TASK, steps=(mark(ADA),))
    assert draft.answer(is_complete=True) == all_of(ADA)  # what was not accepted is rejected
    assert draft.answer(is_complete=False) == some(ADA)
    assert draft.then(mark(LONDON)).answer(is_complete=True) == all_of(ADA, LONDON)
    with pytest.raises(RefusedError, match="nothing is marked"):
        Draft(TASK).answer(is_complete=False)


def test_rejected_proposals_are_part_of_an_answer_that_leaves_the_rest_open() -> None:
    """Where a marked span leaves no place, nothing needs to be rejected; a span marked by mistake is no proposal."""
    steps = reject(ADA), mark(LONDON), mark(BABBAGE), reject(BABBAGE)
    draft = Draft(TASK, steps=steps)
    assert draft.answer(is_complete=False) == some(LONDON, rejected=[ADA])
    assert draft.then(mark(ADA)).answer(is_complete=False) == some(ADA, LONDON)
    assert Draft(TASK, steps=steps[:1]).answer(is_complete=False) == some(rejected=[ADA])
    assert draft.then(reject(LONDON)).answer(is_complete=False) == some(rejected=[ADA, LONDON])
    rejections = some(BABBAGE, rejected=[ADA, LONDON])
    again = Draft(TASK, steps=tuple(steps_to(TASK, rejections)))
    assert again.answer(is_complete=False) == rejections


def test_a_proposal_of_unknown_type_gets_one_or_is_rejected() -> None:
    draft = Draft(make_task(0, (Candidate("*", 1.0, 3, 4),)))
    (row,) = draft.rows
    assert (row.type, row.state.value) == ("", "proposed")
    assert draft.then(mark(BABBAGE)).answer(is_complete=True) == all_of(BABBAGE)
    assert draft.then(reject(row.span)).answer(is_complete=True) == all_of()


@pytest.mark.parametrize("answer", [all_of(ADA, BABBAGE), all_of(), some(LONDON_ORG)])
def test_steps_to_an_answer(answer: object) -> None:
    draft = Draft(TASK, steps=tuple(steps_to(TASK, answer)))  # type: ignore[arg-type]
    assert draft.answer(answer.is_complete) == answer  # type: ignore[attr-defined]


def test_a_sentence_in_pieces() -> None:
    pieces = Draft(TASK, steps=(mark(LONDON_ORG),)).pieces
    found = [
        (" ".join(inner.token[1] for inner in each.pieces or [each]), each.row and each.row.span.label)
        for each in pieces
    ]
    assert found == [
        ("Ada Lovelace", "PER"),
        ("met", None),
        ("Babbage", None),
        ("in", None),
        ("London", "ORG"),
        ("today", None),
    ]


@pytest.mark.parametrize(
    "text",
    [
        *("mark", "mark 0 1", "mark 0 1 ", "mark a 1 X", "mark 0 -1 X", "erase 0 1 X", "mark 0 1 X\n", "\nmark 0 1 X"),
        "\n".join(["mark 0 1 X"] * 1001),
    ],
)
def test_steps_of_other_pages(text: str) -> None:
    with pytest.raises(FieldError):
        read_steps(text)
