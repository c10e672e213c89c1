"""Tasks, rules and posteriors: what is refused, and outcomes by examples and by counting all cases."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_tasks import CANDIDATES, GUIDELINE, JJ, NN, VV, make_task

from tagweave.annotate.reliability import (
    SHOWN,
    Answered,
    Confusions,
    GivenAnswer,
    average,
    confusions,
    expected_gain,
    posterior,
)
from tagweave.annotate.rules import PosteriorRule, Rule, TaskOutcome, aggregate
from tagweave.annotate.task import (
    CANNOT_TELL,
    NOT_A_WORD,
    AnnotationTask,
    Answer,
    Candidate,
    Kind,
    Purpose,
    Status,
    label,
)
from tagweave.corpus.sentence import Sentence

_PAPER = Rule()
_ANSWERS = st.sampled_from([NN, VV, JJ, NOT_A_WORD, CANNOT_TELL])


@pytest.mark.parametrize(
    ("answers", "status", "agreed", "wanted"),
    [
        ([], Status.OPEN, None, 2),
        ([NN], Status.OPEN, None, 2),
        ([None, NN], Status.OPEN, None, 2),
        ([NN, NN], Status.AGREED, NN, 2),
        ([NOT_A_WORD, NOT_A_WORD], Status.AGREED, NOT_A_WORD, 2),
        ([CANNOT_TELL, CANNOT_TELL], Status.DROPPED, None, 2),
        ([NN, VV], Status.OPEN, None, 4),
        ([NN, VV, VV], Status.OPEN, None, 4),
        ([NN, VV, None, VV], Status.OPEN, None, 4),
        ([NN, VV, VV, VV], Status.AGREED, VV, 4),
        ([NN, VV, NN, NN], Status.AGREED, NN, 4),
        ([NN, VV, NN, VV], Status.DROPPED, None, 4),
        ([NN, VV, JJ, NN], Status.DROPPED, None, 4),
        ([NN, CANNOT_TELL, CANNOT_TELL, CANNOT_TELL], Status.DROPPED, None, 4),
        ([NN, NN, VV, VV], Status.AGREED, NN, 2),
    ],
)
def test_the_rule_of_the_paper(answers: list[Answer | None], status: Status, agreed: Answer, wanted: int) -> None:
    assert aggregate(answers, _PAPER) == TaskOutcome(status, agreed, wanted)


@st.composite
def _rules(draw: st.DrawFn) -> Rule:
    first, more = draw(st.integers(1, 4)), draw(st.integers(0, 3))
    everybody = first + more
    return Rule(first, more, draw(st.integers(everybody // 2 + 1, everybody)))


@given(_rules(), st.lists(_ANSWERS, min_size=7, max_size=7))
def test_any_rule_by_counting(rule: Rule, answers: list[Answer]) -> None:
    """A twin that is told in other words: who was needed, and what most of them say."""
    first, everybody = answers[: rule.first], answers[: rule.first + rule.more]
    needed = first if all(each == first[0] for each in first) else everybody
    most = max(set(needed), key=needed.count)
    is_agreed = needed is first or needed.count(most) >= rule.majority
    found = aggregate(needed, rule)
    assert found.wanted == len(needed) or not rule.more
    assert (found.status is Status.AGREED) == (is_agreed and most != CANNOT_TELL)
    assert found.answer == (most if found.status is Status.AGREED else None)
    assert found.status is not Status.OPEN
    assert found == aggregate(answers, rule)  # what nobody was asked for changes nothing


@given(_rules(), st.lists(st.none() | _ANSWERS, max_size=7))
def test_a_task_is_open_until_all_who_are_wanted_have_answered(rule: Rule, answers: list[Answer | None]) -> None:
    found = aggregate(answers, rule)
    missing = found.wanted - sum(each is not None for each in answers[: found.wanted])
    assert (found.status is Status.OPEN) == (missing > 0)
    assert found.wanted in {rule.first, rule.first + rule.more}


_SENTENCE = Sentence(("一", "天", "早上"))


@pytest.mark.parametrize(("start", "stop"), [(0, 0), (2, 1), (-1, 1), (2, 4), (3, 4)])
def test_a_focus_is_inside_its_sentence(start: int, stop: int) -> None:
    with pytest.raises(ValueError, match=f"the span {start} .. {stop}, expected one inside a sentence of 3 tokens"):
        AnnotationTask(_SENTENCE, start, stop, "ctb", CANDIDATES)


@pytest.mark.parametrize("purpose", Purpose)
def test_gold_is_there_exactly_where_the_answer_is_known(purpose: Purpose) -> None:
    knows = purpose in {Purpose.GOLD, Purpose.TRAINING}
    assert make_task(0, purpose, NN if knows else None).gold == (NN if knows else None)
    with pytest.raises(ValueError, match="found gold"):
        make_task(0, purpose, None if knows else NN)


@pytest.mark.parametrize(
    ("kind", "name"), [(Kind.LABEL, None), (Kind.LABEL, ""), (Kind.WORD, "NN"), (Kind.CANNOT_TELL, "x")]
)
def test_a_label_is_there_exactly_where_the_answer_is_one(kind: Kind, name: str | None) -> None:
    with pytest.raises(ValueError, match="found the label"):
        Answer(kind, name)


@pytest.mark.parametrize("numbers", [(0, 2, 2), (2, -1, 2), (2, 2, 2), (2, 2, 5), (1, 0, 0)])
def test_a_rule_that_two_answers_could_meet_or_none_is_refused(numbers: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="more than half of all"):
        Rule(*numbers)


ADA, BOB, NEW = 7, 3, 9
PR = {NN: 0.5, VV: 0.3, JJ: 0.2}
SAID = {
    ADA: {NN: {NN: 0.9, VV: 0.04, JJ: 0.06}, VV: {NN: 0.2, VV: 0.7, JJ: 0.1}, JJ: {NN: 0.1, VV: 0.1, JJ: 0.8}},
    BOB: {NN: {NN: 0.6, VV: 0.3, JJ: 0.1}, VV: {NN: 0.3, VV: 0.5, JJ: 0.2}, JJ: {NN: 0.4, VV: 0.1, JJ: 0.5}},
}
ACCURACY = {ADA: 0.85, BOB: 0.55}


def people() -> Confusions:
    """Ada and Bob; the average one is Ada."""
    matrices = [[[SAID[who][right][said] for said in PR] for right in PR] for who in (ADA, BOB, ADA)]
    numbers = {answer: number for number, answer in enumerate(PR)}
    return Confusions(numbers, {ADA: 0, BOB: 1}, np.array(matrices), np.array([0.85, 0.55, 0.85]))


def chance(who: int, right: Answer | None, said: Answer | None) -> float:
    """P(said | right), spelled out; `None`: anything that is not shown."""
    who = ADA if who == NEW else who
    if right is not None and said == right:
        return SAID[who][right][right]
    if said is None:
        return 1 - sum(chance(who, right, each) for each in PR)
    others = {each: (SAID[who][right][each] if right else 1.0) * prior(each) for each in PR if each != right}
    wrong = 1 - (SAID[who][right][right] if right else ACCURACY[who])
    return wrong * SHOWN * others[said] / sum(others.values())


def prior(answer: Answer | None) -> float:
    return (0.01 if answer is None else PR[answer]) / 1.01


def joint(given: list[GivenAnswer]) -> dict[Answer | None, float]:
    every = [*PR, None]
    return {y: prior(y) * float(np.prod([chance(k, y, said) for k, said in given])) for y in every}


@pytest.mark.parametrize(
    "given",
    [
        [],
        [GivenAnswer(ADA, NN)],
        [GivenAnswer(BOB, VV), GivenAnswer(ADA, JJ)],
        [GivenAnswer(NEW, JJ), GivenAnswer(BOB, JJ), GivenAnswer(ADA, NN)],
    ],
)
@pytest.mark.parametrize("asked", [None, BOB])
def test_the_posterior_and_what_an_answer_gains_by_counting(given: list[GivenAnswer], asked: int | None) -> None:
    weights = joint(given)
    found = posterior(CANDIDATES, given, people())
    assert found.answers == (NN, VV, JJ)
    assert found.probabilities == pytest.approx([weight / sum(weights.values()) for weight in weights.values()])

    def uncertainty(answers: list[GivenAnswer]) -> float:
        every = np.array([*joint(answers).values()])
        return -float(every @ np.log(every / every.sum()))  # times P(answers)

    ways = [joint([*given, GivenAnswer(asked or NEW, said)]) for said in PR]  # type: ignore[list-item]
    rest = {y: weights[y] * chance(asked or NEW, y, None) for y in weights}
    after = sum(-float((each := np.array([*way.values()])) @ np.log(each / each.sum())) for way in [*ways, rest])
    gain = (uncertainty(given) - after) / sum(weights.values())
    assert expected_gain(found, people(), asked) == pytest.approx(gain)


def test_answers_that_were_not_shown_and_those_that_say_nothing() -> None:
    known = people()
    found = posterior(
        CANDIDATES, [GivenAnswer(ADA, CANNOT_TELL), GivenAnswer(ADA, label("AD")), GivenAnswer(NEW, label("AD"))], known
    )
    assert found.answers == (NN, VV, JJ, label("AD"))
    assert found.best[0] == label("AD")
    nothing_known = posterior((), [GivenAnswer(ADA, NOT_A_WORD)], Confusions())
    assert nothing_known.best == (NOT_A_WORD, pytest.approx(0.9, abs=0.01))


def test_when_a_task_is_agreed_on_dropped_or_open() -> None:
    rule = PosteriorRule(0.95, 3, {GUIDELINE: people()})

    def judged(*given: GivenAnswer) -> tuple[Status, Answer | None, int]:
        return rule.judged(GUIDELINE, CANDIDATES, given)[:3]

    assert judged() == (Status.OPEN, None, 1)
    assert judged(GivenAnswer(ADA, NN)) == (Status.OPEN, None, 2)
    assert judged(GivenAnswer(ADA, NN), GivenAnswer(NEW, NN)) == (Status.AGREED, NN, 2)
    assert judged(GivenAnswer(BOB, NN), GivenAnswer(BOB, VV), GivenAnswer(ADA, JJ)) == (Status.DROPPED, None, 3)
    assert judged(GivenAnswer(BOB, CANNOT_TELL), GivenAnswer(ADA, CANNOT_TELL)) == (Status.DROPPED, None, 2)
    assert judged(GivenAnswer(BOB, CANNOT_TELL)) == (Status.OPEN, None, 2)
    sure = (Candidate("NN", 0.97), Candidate("VV", 0.03))
    assert rule.judged(GUIDELINE, sure, [GivenAnswer(ADA, NN)])[:3] == (Status.AGREED, NN, 1)
    assert rule.judged(GUIDELINE, sure, []).status is Status.OPEN  # somebody has to look
    assert rule.gain(GUIDELINE, CANDIDATES) > rule.gain(GUIDELINE, sure)


@pytest.mark.parametrize(("sure", "most"), [(0.5, 2), (1.0, 2), (0.9, 0)])
def test_rules_that_cannot_be(sure: float, most: int) -> None:
    with pytest.raises(ValueError, match="expected a probability"):
        PosteriorRule(sure, most)


def crowd(accuracies: dict[int, float], tasks: int, of_gold: int = 0) -> list[Answered]:
    """Two people answer each task, by chance; some tasks are planted gold."""
    random, answered = Random(0), []
    for number in range(tasks):
        right = random.choices([*PR], [*PR.values()])[0]
        given = []
        for who in random.sample([*accuracies], 2):
            others = [each for each in PR if each != right]
            said = right if random.random() < accuracies[who] else random.choice(others)
            given.append(GivenAnswer(who, said))
        answered.append(Answered(GUIDELINE, CANDIDATES, given, right if number < of_gold else None))
    return answered


def test_reliability_is_learned_from_answers_alone_and_better_from_gold() -> None:
    accuracies = {1: 0.95, 2: 0.9, 3: 0.7, 4: 0.55}
    learned = confusions(crowd(accuracies, 1_500))[GUIDELINE]
    informed = confusions(crowd(accuracies, 1_500, of_gold=1_500))[GUIDELINE]
    found = {who: float(learned.accuracies[k]) for who, k in learned.annotators.items()}
    assert found == pytest.approx(accuracies, abs=0.08)
    exact = {who: float(informed.accuracies[k]) for who, k in informed.annotators.items()}
    assert exact == pytest.approx(accuracies, abs=0.03)


def test_gold_tells_who_is_wrong_together() -> None:
    """Two who always agree on what is wrong, against one: only gold can say who is right."""
    answered = [
        Answered(GUIDELINE, CANDIDATES, [GivenAnswer(1, NN), GivenAnswer(2, NN), GivenAnswer(3, VV)]) for _ in range(40)
    ]
    gold = [each._replace(right=VV) for each in answered[:20]]
    without, informed = (confusions(each)[GUIDELINE] for each in (answered, [*gold, *answered[20:]]))
    assert without.accuracies[without.annotators[1]] > 0.8
    assert informed.accuracies[informed.annotators[1]] < 0.4
    assert posterior(CANDIDATES, answered[0].answers, informed).best[0] == VV


def test_matrices_have_rows_that_sum_to_1() -> None:
    counts = np.random.default_rng(0).integers(0, 5, (2, 3, 3)).astype(np.float64)
    matrices, accuracies = average(counts)
    assert matrices.sum(2) == pytest.approx(np.ones((3, 3)))
    known = Confusions({answer: k for k, answer in enumerate(PR)}, {ADA: 0, BOB: 1}, matrices, accuracies)
    restricted = known.restricted([ADA, None], [NN, JJ, label("AD")], np.array([0.5, 0.2, 0.2, 0.1]))
    assert restricted.sum(2) == pytest.approx(np.ones((2, 4)))
    assert (restricted >= 0).all()
